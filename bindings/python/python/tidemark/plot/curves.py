"""Curves: series over time, and distributions."""

from collections.abc import Iterable, Mapping
from typing import Literal

import polars as pl
from matplotlib.axes import Axes

from tidemark.labels import label
from tidemark.plot.style import drawing, start_at_zero, styles
from tidemark.result import Delay, Result

MARKS_A_CURVE = 8
"""Markers on a curve: enough to tell curves apart, few enough to see their shape."""


def series(
    result: Result,
    value: str = "throughput_mbps",
    *,
    of: Literal["flows", "ues", "uplinks", "routers", "cells"] = "flows",
    names: Iterable[str] | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draws a column of a series over time, with a curve for each flow, UE, router or cell.

    `names` names those to draw; by default all.

    >>> import tidemark
    >>> result = tidemark.run("scenarios/first-look.toml", set={"duration": "3 s", "warmup": "1 s"})
    >>> tidemark.plot.series(result, "rtt_ms").get_ylabel()
    'round-trip time (ms)'
    """
    frame: pl.DataFrame = getattr(result.series, of)
    noun = frame.columns[1]
    if value not in frame.columns:
        raise ValueError(f"value: series of {of} have no `{value}`: use one of {', '.join(frame.columns[2:])}")
    if names is not None:
        frame = frame.filter(pl.col(noun).is_in(list(names)))
    curves = {group[noun][0]: (group["t_s"], group[value]) for group in frame.partition_by(noun, maintain_order=True)}
    axes = _curves(curves, axes)
    axes.set(xlabel="time (s)", ylabel=label(value))
    axes.set_xlim(0, result.series.end_s)
    start_at_zero(axes, y=True)
    return axes


def cdf(
    results: Result | Mapping[str, Result],
    delay: Delay = "owd",
    *,
    flows: Iterable[str] | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draws the cumulative distribution of a delay, with a curve for each flow, of one run or of several runs by label.

    `flows` names those to draw; by default all that measured the delay.
    """
    several = results if isinstance(results, Mapping) else {"": results}
    curves = {}
    for name, result in several.items():
        for group in result.cdf(delay).partition_by("flow", maintain_order=True):
            flow = group["flow"][0]
            if flows is None or flow in flows:
                curves[" ".join(part for part in (flow, name) if part)] = (group["ms"], group["share"])
    axes = _curves(curves, axes)
    axes.set(xlabel=label(f"{delay}_ms"), ylabel="share of samples")
    start_at_zero(axes, x=True)
    axes.set_ylim(0, 1)
    return axes


def _curves(curves: Mapping[str, tuple[pl.Series, pl.Series]], axes: Axes | None) -> Axes:
    """Draws curves by name, with a legend if there are several."""
    with drawing(axes) as drawn:
        for index, ((name, (x, y)), style) in enumerate(zip(curves.items(), styles(), strict=False)):
            every = max(1, len(x) // MARKS_A_CURVE)
            # Markers of close curves are staggered.
            drawn.plot(x, y, label=name, markevery=(every * index // len(curves), every), **style)
        if len(curves) > 1:
            drawn.legend()
        return drawn
