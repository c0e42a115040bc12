"""A picture: panels, their figures as rows of a table, and how they are drawn."""

import csv
import dataclasses
import pathlib
import re
from collections.abc import Callable, Iterable

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter
from tidemark.plot.style import COLOURS, FORM, WIDTH_INCHES, save, styles

TABLES = pathlib.Path(__file__).parents[1] / "pictures"
PICTURES = TABLES.parents[2] / "docs/reproduction/pictures"
PUBLISHED = "published"
"""Word before the name of a curve that the paper's own figures make."""
HEIGHT_INCHES = 1.9
"""Height of a panel."""
MARKS_A_CURVE = 8
HATCHES = ("", "//", "\\\\", "xx", "--", "||", "++")
"""Fillings; dots would make a file of an SVG's pattern ten times as large."""
WIDTH = 0.8
"""Part of the axis between two places that boxes or bars fill."""

Row = tuple[str, str, object, float]
"""Panel, curve, place on the axis below, and height."""
Measure = Callable[[], Iterable[Row]]


@dataclasses.dataclass(frozen=True)
class Panel:
    """Part of a picture with axes of its own.

    `kind` is `line`, `points`, `bars`, `stack` (bars on each other) or `boxes`, whose rows are the quantiles of one box in their order.
    """

    title: str
    x: str
    y: str
    kind: str = "line"
    log_x: bool = False
    log_y: bool = False
    span: tuple[float | None, float | None] = (None, None)
    """Ends of the axis below."""
    bottom: float = 0.0
    top: float | None = None


@dataclasses.dataclass(frozen=True)
class Picture:
    """Picture of one published figure: its panels, side by side in `columns`, and what finds out the rows."""

    name: str
    measure: Measure
    panels: tuple[Panel, ...]
    columns: int = 2

    @property
    def table(self) -> pathlib.Path:
        """File of the rows."""
        return TABLES / f"{self.name}.csv"

    def run(self) -> None:
        """Finds out the rows, and then writes them."""
        rows = list(self.measure())
        with self.table.open("w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(("panel", "curve", "x", "y"))
            for panel, curve, x, y in rows:
                out.writerow((panel, curve, f"{x:.6g}" if isinstance(x, float) else x, f"{y:.5g}"))

    def draw(self) -> None:
        """Draws the rows."""
        with self.table.open(newline="") as file:
            rows = list(csv.DictReader(file))
        with mpl.rc_context(FORM):
            lines = -(-len(self.panels) // self.columns)
            size = (WIDTH_INCHES * self.columns, HEIGHT_INCHES * lines)
            _, grid = pyplot.subplots(lines, self.columns, figsize=size, squeeze=False)
            for panel, axes in zip(self.panels, grid.flat, strict=False):
                of_panel: dict[str, list[tuple[str, float]]] = {}
                for row in rows:
                    if row["panel"] == panel.title:
                        of_panel.setdefault(row["curve"], []).append((row["x"], float(row["y"])))
                DRAWN[panel.kind](axes, of_panel)
                finish(axes, panel)
            for axes in grid.flat[len(self.panels) :]:
                axes.set_axis_off()
            drawn = PICTURES / f"{self.name}.svg"
            save(grid.flat[0], drawn)
            pyplot.close()
            drawn.write_text(compact(drawn.read_text()))


def compact(drawn: str) -> str:
    """Gives an SVG without metadata, with a line an element and coordinates of a hundredth of a point."""
    drawn = re.sub(r"<\?xml.*?>\s*|<!DOCTYPE.*?>\s*|\s*<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'"[^"]*"', lambda text: " ".join(text[0].split()), drawn)
    drawn = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), drawn)
    return re.sub(r"\n\s+", "\n", drawn)


Curves = dict[str, list[tuple[str, float]]]


def is_published(curve: str) -> bool:
    """Tells whether a curve is the paper's."""
    return curve.split()[0] == PUBLISHED


def finish(axes: Axes, panel: Panel) -> None:
    """Sets titles, scales and the legend."""
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.log_x:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    if panel.span != (None, None):
        axes.set_xlim(*panel.span)
    if panel.log_y:
        axes.set_yscale("log")
        # They would be a third of the file of a picture with eight panels.
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_ylim(bottom=panel.bottom or None, top=panel.top)
    else:
        # Bars leave room for the legend.
        top = axes.get_ylim()[1] * (1.3 if panel.kind in ("bars", "stack") else 1.0)
        axes.set_ylim(bottom=panel.bottom, top=panel.top or top)
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend(fontsize=6, handlelength=2.5, labelspacing=0.3, frameon=True, framealpha=0.8, edgecolor="none")


def theirs(axes: Axes, x: list[float], y: list[float], label: str | None) -> None:
    """Draws the paper's figures: white diamonds with a black edge."""
    form = {"linestyle": "", "marker": "D", "markersize": 4.5, "markerfacecolor": "white", "color": "black"}
    axes.plot(x, y, label=label, zorder=5, **form)


def line(axes: Axes, curves: Curves) -> None:
    """Draws curves over numbers."""
    looks = styles()
    for index, (name, points) in enumerate(curves.items()):
        x, y = [float(x) for x, _ in points], [y for _, y in points]
        if is_published(name):
            theirs(axes, x, y, name)
            continue
        every = max(1, len(x) // MARKS_A_CURVE)
        axes.plot(x, y, label=name, markevery=(every * index // max(1, len(curves)), every), **next(looks))


def points(axes: Axes, curves: Curves) -> None:
    """Draws points, each series in its colour and marker."""
    looks = styles()
    for name, of_curve in curves.items():
        x, y = [float(x) for x, _ in of_curve], [y for _, y in of_curve]
        if is_published(name):
            theirs(axes, x, y, name)
        else:
            axes.plot(x, y, label=name, **{**next(looks), "linestyle": ""})


def places(curves: Curves) -> list[str]:
    """Gives the places on the axis below, in the order of the rows."""
    return list(dict.fromkeys(x for points in curves.values() for x, _ in points))


def label_places(axes: Axes, names: list[str]) -> None:
    """Names the places."""
    # Two lines where one would not fit.
    axes.set_xticks(range(len(names)), [name.replace(", ", "\n") for name in names] if len(names) > 6 else names)
    axes.grid(visible=False, axis="x")


def groups(curves: Curves) -> tuple[list[str], dict[str, float], float]:
    """Gives our curves, the shift of each curve's bars, published ones on those of their name, and a bar's width."""
    ours = [name for name in curves if not is_published(name)]
    width = WIDTH / max(1, len(ours))
    shift = {name: (index - (len(ours) - 1) / 2) * width for index, name in enumerate(ours)}
    for name in curves:
        if is_published(name):
            shift[name] = shift.get(name.removeprefix(PUBLISHED).strip(), 0.0)
    return ours, shift, width


def published_in_groups(axes: Axes, curves: Curves, names: list[str], shift: dict[str, float]) -> None:
    """Draws the paper's figures over bars or boxes, with one entry in the legend."""
    label: str | None = PUBLISHED
    for name, of_curve in curves.items():
        if is_published(name):
            theirs(axes, [names.index(x) + shift[name] for x, _ in of_curve], [y for _, y in of_curve], label)
            label = None


def bars(axes: Axes, curves: Curves) -> None:
    """Draws bars side by side."""
    names = places(curves)
    ours, shift, width = groups(curves)
    for index, name in enumerate(ours):
        at = [names.index(x) + shift[name] for x, _ in curves[name]]
        form = {"color": COLOURS[index % len(COLOURS)], "hatch": HATCHES[index % len(HATCHES)], "edgecolor": "white"}
        axes.bar(at, [y for _, y in curves[name]], width * 0.9, label=name, **form)
    published_in_groups(axes, curves, names, shift)
    label_places(axes, names)


def stack(axes: Axes, curves: Curves) -> None:
    """Draws bars on each other."""
    names = places(curves)
    below = [0.0] * len(names)
    for index, (name, of_curve) in enumerate(curves.items()):
        heights = dict(of_curve)
        form = {"color": COLOURS[index % len(COLOURS)], "hatch": HATCHES[index % len(HATCHES)], "edgecolor": "white"}
        axes.bar(range(len(names)), [heights.get(x, 0.0) for x in names], WIDTH, bottom=below, label=name, **form)
        below = [low + heights.get(x, 0.0) for low, x in zip(below, names, strict=True)]
    label_places(axes, names)


def boxes(axes: Axes, curves: Curves) -> None:
    """Draws boxes of five quantiles, or of three without whiskers."""
    names = places(curves)
    ours, shift, width = groups(curves)
    for index, name in enumerate(ours):
        stats, at = [], []
        for place, of_place in enumerate(names):
            quantiles = [y for x, y in curves[name] if x == of_place]
            if not quantiles:
                continue
            low, q1, median, q3, high = quantiles if len(quantiles) == 5 else (quantiles[0], *quantiles, quantiles[-1])
            stats.append({"whislo": low, "q1": q1, "med": median, "q3": q3, "whishi": high})
            at.append(place + shift[name])
        form = {"showfliers": False, "patch_artist": True, "manage_ticks": False}
        drawn = axes.bxp(stats, positions=at, widths=width * 0.8, **form)
        for box in drawn["boxes"]:
            box.set(facecolor=COLOURS[index % len(COLOURS)], hatch=HATCHES[index % len(HATCHES)], alpha=0.75)
        for median in drawn["medians"]:
            median.set(color="black", linewidth=1.5)
        if drawn["boxes"]:
            drawn["boxes"][0].set_label(name)
    published_in_groups(axes, curves, names, shift)
    label_places(axes, names)


DRAWN = {"line": line, "points": points, "bars": bars, "stack": stack, "boxes": boxes}
