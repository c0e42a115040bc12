"""Comparisons: grouped boxes, the parts of a delay, and trade-offs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from tidemark.labels import label
from tidemark.plot.style import COLOURS, HATCHES, MARKERS, drawing, start_at_zero, styles
from tidemark.result import Delay, Result
from tidemark.study import Table

WIDTH = 0.8
"""Share of the space between two labels that boxes or bars fill."""
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
    """Draws boxes of each flow's delay, side by side for several runs by label, like `boxes`."""
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


def split(
    results: Result | Mapping[str, Result], *, flows: Iterable[str] | None = None, axes: Axes | None = None
) -> Axes:
    """Draws the mean one-way delay of each flow as a bar of its parts, of one run or of several runs by label.

    `flows` names the flows to draw. Parts that are everywhere below a hundredth of the longest bar are left out.
    """
    several = results if isinstance(results, Mapping) else {"": results}
    bars = {}
    for name, result in several.items():
        for flow in result.summary.flows:
            if flow.split_ms is not None and (flows is None or flow.name in flows):
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


def means(
    tables: Table | Mapping[str, Table],
    metric: str,
    *,
    x: str | None = None,
    flows: Iterable[str] | None = None,
    axes: Axes | None = None,
) -> Axes:
    """Draws the mean of a metric over seeds with its 95 % confidence interval, of one study or of several by label.

    `x` is a varied key, by default the first, or `flow`. Numbers are joined by lines, names stand side by side. What
    else is varied has curves of its own. `flows` names those to draw.
    """
    several = tables if isinstance(tables, Mapping) else {"": tables}
    first = next(iter(several.values()))
    x = x or next(iter(first.varied), "flow")
    curves: dict[str, pl.DataFrame] = {}
    for name, table in several.items():
        frame = table.means.filter(pl.col("metric") == metric)
        if frame.is_empty():
            raise ValueError(f"metric: {table.name} has no `{metric}`: use one of {', '.join(table.metrics)}")
        if flows is not None:
            frame = frame.filter(pl.col("flow").is_in(list(flows)))
        if x not in frame.columns:
            raise ValueError(f"x: {table.name} does not vary `{x}`: use one of {', '.join([*table.varied, 'flow'])}")
        others = [key for key in ("flow", *table.varied) if key != x and frame[key].n_unique() > 1]
        for part in frame.partition_by(others, maintain_order=True) if others else [frame]:
            values = [str(part[key][0]) for key in others if part[key][0] is not None]
            curves[" ".join([*values, *([name] if name else [])])] = part
    places = list(dict.fromkeys(place for part in curves.values() for place in part[x].to_list()))
    is_number = all(part[x].dtype.is_numeric() for part in curves.values())
    with drawing(axes) as ax:
        for index, ((name, part), style) in enumerate(zip(curves.items(), styles(), strict=False)):
            if is_number:
                part = part.sort(x)
                at = part[x].to_list()
            else:
                style["linestyle"] = ""
                shift = (index - (len(curves) - 1) / 2) * WIDTH / len(curves)
                at = [places.index(place) + shift for place in part[x]]
            ax.errorbar(at, part["mean"], yerr=part["half"].fill_null(float("nan")), capsize=2, label=name, **style)
        if is_number:
            unit = first.units.get(x)
            ax.set(xlabel=f"{label(x)} ({unit})" if unit else label(x))
            start_at_zero(ax, y=True)
        else:
            ax.set(xlabel=label(x))
            _label_places(ax, [str(place) for place in places])
            # Half a label's space at either end: the points of a single label stay together.
            ax.set_xlim(-0.5, len(places) - 0.5)
        ax.set(ylabel=label(metric))
        if len(curves) > 1:
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
    """Draws a trade-off: a point for each row, and a line through the points that no other beats in both values.

    Less of `x` and more of `y` is better. With `group`, each group of points has its own front.
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
    """Gives the rows that no other row beats with as little `x` and more `y`, in the order of `x`.

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
