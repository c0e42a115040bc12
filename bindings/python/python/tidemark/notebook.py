"""Results in a notebook: a table of the most important figures, and four small pictures."""

import html
import io
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

from tidemark.labels import label
from tidemark.result import Result
from tidemark.study import Table

OF_FLOWS = ("throughput_mbps", "owd_p50_ms", "owd_p99_ms", "rtt_p50_ms", "media_in_budget", "marked", "dropped")
"""Figures of a flow."""
MAX_ROWS = 24
"""Rows of a table."""
MAX_CURVES = 6
"""Most flows in a picture, those with the highest rates: more could not be told apart."""
PICTURES = 4
SIZE_INCHES = (7.0, 4.2)
"""Total size of the pictures."""

Draw = Callable[[ModuleType, Any], object]
"""Draws with `tidemark.plot` into axes."""


def result(of: Result) -> str:
    """Gives the HTML of a run."""
    flows = of.flows.sort("throughput_mbps", descending=True, nulls_last=True, maintain_order=True)
    shown = flows if flows.height > MAX_ROWS else of.flows
    figures = [name for name in OF_FLOWS if of.flows[name].null_count() < of.flows.height]
    columns = {"flow": "flow", "controller": "controller", "law": "law", **{name: label(name) for name in figures}}
    rows = ([_text(row[name]) for name in columns] for row in shown.head(MAX_ROWS).iter_rows(named=True))
    names = flows["flow"].head(MAX_CURVES).to_list()
    ues = of.ues["ue"].head(MAX_CURVES).to_list()
    draw: list[Draw] = [
        lambda plot, axes: plot.series(of, "throughput_mbps", names=names, axes=axes),
        lambda plot, axes: plot.cdf(of, "owd", flows=names, axes=axes),
    ]
    if ues:
        draw.append(lambda plot, axes: plot.series(of, "queue_ms", of="ues", names=ues, axes=axes))
        # Names of flows are long compared with the bars of a small picture.
        draw.append(lambda plot, axes: plot.split(of, flows=names, axes=axes).tick_params("x", rotation=20))
    else:
        draw.append(lambda plot, axes: plot.series(of, "rtt_ms", names=names, axes=axes))
        draw.append(lambda plot, axes: plot.series(of, "queue_ms", of="routers", axes=axes))
    title = f"{of.summary.name}, seed {of.summary.seed}, {of.summary.duration_s:g} s"
    return _title(title) + _table(columns.values(), rows, "flows", of.flows.height) + _pictures(draw)


def table(of: Table) -> str:
    """Gives the HTML of a study: means over seeds, each with the half-width of its 95 % confidence interval."""
    metrics = of.metrics[:PICTURES]
    by = [*of.varied, *(["flow"] if "flow" in of.frame.columns else [])]
    cells: dict[tuple[object, ...], dict[str, str]] = {}
    for row in of.means.iter_rows(named=True):
        half = "" if row["half"] is None else f" ± {_text(row['half'])}"
        cells.setdefault(tuple(row[key] for key in by), {})[row["metric"]] = _text(row["mean"]) + half
    headings = [f"{label(key)} ({of.units[key]})" if key in of.units else label(key) for key in by]
    rows = ([*map(_text, key), *(of_key.get(metric, "-") for metric in metrics)] for key, of_key in cells.items())
    seeds = of.frame["seed"].n_unique()
    title = f"{of.name}: means over {seeds} seeds, ± half-width of their 95 % confidence intervals"
    flows = _first_flows(of)

    def means(metric: str) -> Draw:
        return lambda plot, axes: plot.means(of, metric, flows=flows, axes=axes)

    draw = [means(metric) for metric in metrics]
    return (
        _title(title)
        + _table([*headings, *map(label, metrics)], list(rows)[:MAX_ROWS], "rows", len(cells))
        + _pictures(draw)
    )


def _first_flows(of: Table) -> list[str] | None:
    """Groups of flows that fit a picture; None for a table of runs."""
    if "flow" not in of.frame.columns:
        return None
    return of.frame["flow"].unique(maintain_order=True).head(MAX_CURVES).to_list()


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
    return "-" if value is None else str(value)


def _title(text: str) -> str:
    return f"<p><b>{html.escape(text)}</b></p>"


def _table(headings: Iterable[str], rows: Iterable[Sequence[str]], noun: str, total: int) -> str:
    head = "".join(f"<th>{html.escape(heading)}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    more = f"<p>{total - MAX_ROWS} more {noun}</p>" if total > MAX_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _pictures(draw: Sequence[Draw]) -> str:
    """Draws pictures side by side, as one SVG; gives nothing if matplotlib is not installed."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure

        from tidemark import plot
        from tidemark.plot.style import FORM
    except ModuleNotFoundError:
        return ""
    with mpl.rc_context(FORM):
        # A separate figure: notebooks would show pyplot's figures a second time.
        figure = Figure(figsize=SIZE_INCHES)
        axes = list(figure.subplots(2, 2).flat)
        for ax, into in zip(axes, draw, strict=False):
            into(plot, ax)
        for ax in axes[len(draw) :]:
            ax.remove()
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    return svg[svg.index("<svg") :]
