"""Comparisons: grouped boxes, the parts of a delay, and trade-offs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from tidemark.plot.labels import label
from tidemark.plot.style import COLOURS, HATCHES, MARKERS, drawing, start_at_zero
from tidemark.result import Delay, Result

WIDTH = 0.8
"""Part of the axis between two labels that boxes or bars fill."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Lower whisker, box with its median, upper whisker."""
PARTS = ("propagation", "router", "cu", "queuing", "scheduling", "harq", "rlc", "reordering")
"""Parts of a one-way delay, in the order in which packets pass them."""


def boxes(frame: pl.DataFrame, value: str, *, x: str, group: str | None = None, axes: Axes | None = None) -> Axes:
    """Draws boxes of a column, side by side for each `group` at each value of `x`.

    A box is the half of the rows in the middle with their median; whiskers lead to the 5th and the 95th percentile.
    """
    places = frame[x].unique(maintain_order=True).to_list()
    names = frame[group].unique(maintain_order=True).to_list() if group else [""]
    drawn: dict[str, list[Sequence[float] | None]] = {}
    for name in names:
        of_group = frame.filter(pl.col(group) == name) if group else frame
        rows = [of_group.filter(pl.col(x) == place)[value].drop_nulls() for place in places]
        drawn[str(name)] = [None if row.is_empty() else list(np.quantile(row.to_numpy(), QUANTILES)) for row in rows]
    axes = _boxes(drawn, [str(place) for place in places], axes)
    axes.set(xlabel=label(x), ylabel=label(value))
    return axes


def delay_boxes(results: Result | Mapping[str, Result], delay: Delay = "owd", *, axes: Axes | None = None) -> Axes:
    """Draws boxes of a delay of each flow, side by side for several runs by their labels, as `boxes` does."""
    several = results if isinstance(results, Mapping) else {"": results}
    curves = {name: result.cdf(delay) for name, result in several.items()}
    flows = pl.concat([curve["flow"] for curve in curves.values()]).unique(maintain_order=True).to_list()
    drawn: dict[str, list[Sequence[float] | None]] = {}
    for name, curve in curves.items():
        of_flows = [curve.filter(pl.col("flow") == flow) for flow in flows]
        drawn[name] = [
            None if row.is_empty() else list(np.interp(QUANTILES, row["share"], row["ms"])) for row in of_flows
        ]
    axes = _boxes(drawn, flows, axes)
    axes.set(ylabel=label(f"{delay}_ms"))
    return axes


def _boxes(drawn: Mapping[str, Sequence[Sequence[float] | None]], labels: Sequence[str], axes: Axes | None) -> Axes:
    """Draws boxes of quantiles, by group and then by label."""
    width = WIDTH / len(drawn)
    with drawing(axes) as ax:
        for index, (name, quantiles) in enumerate(drawn.items()):
            at = [place + (index - (len(drawn) - 1) / 2) * width for place, box in enumerate(quantiles) if box]
            keys = ("whislo", "q1", "med", "q3", "whishi")
            stats: list[Any] = [dict(zip(keys, box, strict=True)) for box in quantiles if box]
            parts = ax.bxp(
                stats, positions=at, widths=width * 0.8, showfliers=False, patch_artist=True, manage_ticks=False
            )
            for box in parts["boxes"]:
                box.set(facecolor=COLOURS[index % len(COLOURS)], hatch=HATCHES[index % len(HATCHES)], alpha=0.75)
            for median in parts["medians"]:
                median.set(color="black", linewidth=1.5)
            if parts["boxes"]:
                parts["boxes"][0].set_label(name)
        _label_places(ax, labels)
        if len(drawn) > 1:
            ax.legend()
        return ax


def split(results: Result | Mapping[str, Result], *, axes: Axes | None = None) -> Axes:
    """Draws the mean one-way delay of each flow as a bar of its parts, of one run or of several by their labels.

    Parts that are nowhere as long as a hundredth of the longest bar are left out.
    """
    several = results if isinstance(results, Mapping) else {"": results}
    bars = {}
    for name, result in several.items():
        for flow in result.summary.flows:
            if flow.split_ms is not None:
                bars["\n".join(part for part in (flow.name, name) if part)] = flow.split_ms
    lengths = {part: [getattr(bar, part) or 0.0 for bar in bars.values()] for part in PARTS}
    longest = max((sum(bar) for bar in zip(*lengths.values(), strict=True)), default=0.0)
    with drawing(axes) as ax:
        below = np.zeros(len(bars))
        shown = {part: length for part, length in lengths.items() if max(length, default=0.0) > longest / 100}
        for index, (part, length) in enumerate(shown.items()):
            colour, hatch = COLOURS[index % len(COLOURS)], HATCHES[index % len(HATCHES)]
            form: dict[str, Any] = {"bottom": below, "label": part, "edgecolor": "white"}
            ax.bar(range(len(bars)), length, WIDTH, color=colour, hatch=hatch, **form)
            below += length
        _label_places(ax, list(bars))
        ax.set(ylabel="mean one-way delay (ms)")
        ax.legend()
        return ax


def front(
    frame: pl.DataFrame,
    *,
    x: str = "owd_p95_ms",
    y: str = "throughput_mbps",
    group: str | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draws what is traded for what: a point a row, and a line through those that no other beats in both.

    Less of `x` is better, and more of `y`. With `group` the points of each group have a front of their own.
    """
    groups = frame.partition_by(group, maintain_order=True) if group else [frame]
    with drawing(axes) as ax:
        for index, rows in enumerate(groups):
            rows = rows.drop_nulls([x, y])
            colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
            name = str(rows[group][0]) if group and not rows.is_empty() else None
            ax.plot(rows[x], rows[y], linestyle="", label=name, alpha=0.7, color=colour, marker=marker)
            best = unbeaten(rows, x, y)
            ax.plot(best[x], best[y], color=colour, drawstyle="steps-post", linewidth=1.0)
        ax.set(xlabel=label(x), ylabel=label(y))
        if group:
            ax.legend()
        return ax


def unbeaten(frame: pl.DataFrame, x: str, y: str) -> pl.DataFrame:
    """Gives the rows for which no other has as little `x` with more `y`, in the order of `x`.

    >>> rows = pl.DataFrame({"ms": [1.0, 2.0, 3.0], "mbps": [5.0, 4.0, 9.0]})
    >>> unbeaten(rows, "ms", "mbps")["ms"].to_list()
    [1.0, 3.0]
    """
    ordered = frame.sort([x, y], descending=[False, True])
    return ordered.filter(ordered[y] > ordered[y].cum_max().shift(1, fill_value=float("-inf")))


def _label_places(ax: Axes, labels: Sequence[str]) -> None:
    ax.set_xticks(range(len(labels)), labels)
    ax.grid(visible=False, axis="x")
    start_at_zero(ax, y=True)
