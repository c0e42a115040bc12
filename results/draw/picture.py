"""A picture: panels, their figures as rows, and how they are drawn."""

import csv
import dataclasses
import importlib.util
import pathlib
import re
import types
from collections.abc import Callable, Iterable

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator, StrMethodFormatter

ROOT = pathlib.Path(__file__).parents[2]
TABLES = ROOT / "results/papers/pictures"


def load_style() -> types.ModuleType:
    """Loads `tidemark.plot.style` from its file: alone it needs no engine, which the package would load."""
    file = ROOT / "bindings/python/python/tidemark/plot/style.py"
    spec = importlib.util.spec_from_file_location("style", file)
    style = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(style)
    return style


style = load_style()
COLOURS, FORM, WIDTH_INCHES, save, styles = style.COLOURS, style.FORM, style.WIDTH_INCHES, style.save, style.styles
PUBLISHED = "published"
"""Word before the name of a curve that others' figures make: a paper's, or a program's."""
MEASURED = "points: measured"
"""Name of a curve that is points beside lines of laws."""
HEIGHT_INCHES = 1.9
"""Height of a panel."""
MARKS_A_CURVE = 8
MANY_DECADES = 2000
"""Ratio of the ends of a logarithmic axis from which on only powers of ten are named."""
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

    `kind` is `line`, `points`, `bars`, `stack` (bars on each other), `boxes`, whose rows are the quantiles of one box in their order,
    `against` (points beside the line of the first curve), or `map`, whose curves are its lines from top to bottom. Curves that differ behind a `|` look alike and have one entry in the legend.
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
    """Picture of a page: its panels, side by side in `columns`, and what gives their rows. `name` is its file below docs/, without the ending."""

    name: str
    rows: Measure
    panels: tuple[Panel, ...]
    columns: int = 2
    height: float = HEIGHT_INCHES
    width: float = WIDTH_INCHES

    def draw(self, folder: pathlib.Path) -> pathlib.Path:
        """Draws the rows into a file below a folder."""
        rows = list(self.rows())
        with mpl.rc_context(FORM):
            lines = -(-len(self.panels) // self.columns)
            size = (self.width * self.columns, self.height * lines)
            _, grid = pyplot.subplots(lines, self.columns, figsize=size, squeeze=False)
            for panel, axes in zip(self.panels, grid.flat, strict=False):
                of_panel: Curves = {}
                for title, curve, x, y in rows:
                    if title == panel.title:
                        of_panel.setdefault(curve, []).append((str(x), float(y)))
                DRAWN[panel.kind](axes, of_panel)
                finish(axes, panel)
            for axes in grid.flat[len(self.panels) :]:
                axes.set_axis_off()
            drawn = folder / f"{self.name}.svg"
            drawn.parent.mkdir(parents=True, exist_ok=True)
            save(grid.flat[0], drawn)
            pyplot.close()
            drawn.write_text(compact(drawn.read_text()))
        return drawn


def figure(name: str, measure: Measure, panels: tuple[Panel, ...], columns: int = 2) -> "Figure":
    """Gives the picture of a paper's figure."""
    return Figure(f"reproduction/pictures/{name}", lambda: read(TABLES / f"{name}.csv"), panels, columns, measure=measure)


@dataclasses.dataclass(frozen=True)
class Figure(Picture):
    """Picture of a published figure: what runs `measure` are kept as a table of its rows."""

    measure: Measure = tuple

    def run(self) -> None:
        """Runs what the picture shows, and then writes its rows."""
        rows = list(self.measure())
        with (TABLES / f"{pathlib.Path(self.name).name}.csv").open("w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(("panel", "curve", "x", "y"))
            for panel, curve, x, y in rows:
                out.writerow((panel, curve, f"{x:.6g}" if isinstance(x, float) else x, f"{y:.5g}"))


def read(table: pathlib.Path) -> Iterable[Row]:
    """Gives the rows of a table."""
    with table.open(newline="") as file:
        for row in csv.DictReader(file):
            yield row["panel"], row["curve"], row["x"], float(row["y"])


def compact(drawn: str) -> str:
    """Gives an SVG without metadata, with a line an element and coordinates of a hundredth of a point."""
    drawn = re.sub(r"<\?xml.*?>\s*|<!DOCTYPE.*?>\s*|\s*<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)

    def short(attribute: re.Match[str]) -> str:
        return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), " ".join(attribute[0].split()))

    drawn = re.sub(r'"[^"]*"', short, drawn)
    return re.sub(r"\n\s+", "\n", drawn)


Curves = dict[str, list[tuple[str, float]]]


def is_published(curve: str) -> bool:
    """Tells whether a curve is points that others are held against."""
    return curve.startswith((PUBLISHED, MEASURED))


def finish(axes: Axes, panel: Panel) -> None:
    """Sets titles, scales and the legend."""
    axes.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.kind == "map":
        return
    if panel.log_x:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high / low < MANY_DECADES else (1.0,)))
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
    """Draws others' figures: white diamonds with a black edge."""
    form = {"linestyle": "", "marker": "D", "markersize": 4.5, "markerfacecolor": "white", "color": "black"}
    axes.plot(x, y, label=label, zorder=5, **form)


def line(axes: Axes, curves: Curves) -> None:
    """Draws curves over numbers."""
    free, looks = styles(), {}
    for index, (curve, points) in enumerate(curves.items()):
        x, y = [float(x) for x, _ in points], [y for _, y in points]
        name = curve.partition("|")[0]
        label = None if name in looks else name
        if is_published(name):
            theirs(axes, x, y, label)
            looks[name] = {}
            continue
        looks[name] = looks.get(name) or next(free)
        every = max(1, len(x) // MARKS_A_CURVE)
        axes.plot(x, y, label=label, markevery=(every * index // max(1, len(curves)), every), **looks[name])


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


def cells(axes: Axes, curves: Curves) -> None:
    """Draws a map of numbers: a line for each curve, with its numbers in cells that are the darker the further they are from the middle one."""
    names = places(curves)
    values = np.array([[dict(of_curve).get(name, np.nan) for name in names] for of_curve in curves.values()])
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    axes.imshow(values, cmap="PuOr", aspect="auto")
    for (down, across), value in np.ndenumerate(values):
        if not np.isnan(value):
            is_dark = abs(value - middle) > (np.nanmax(values) - middle) * 0.7
            axes.text(across, down, f"{value:.0f}", ha="center", va="center", fontsize=5, color="white" if is_dark else "black")
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=6)
    axes.set_yticks(range(len(curves)), list(curves), fontsize=6)
    axes.grid(visible=False)


def against(axes: Axes, curves: Curves) -> None:
    """Draws points beside the line of the first curve."""
    (name, ends), *others = curves.items()
    axes.plot(*zip(*((float(x), y) for x, y in ends), strict=True), color="black", linewidth=0.8, label=name)
    points(axes, dict(others))


DRAWN = {"line": line, "points": points, "bars": bars, "stack": stack, "boxes": boxes, "map": cells, "against": against}
