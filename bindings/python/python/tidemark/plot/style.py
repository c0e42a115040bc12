"""Style of the pictures: sizes of a paper's column, colours for colour-blind readers, lines that work in greyscale."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours of Okabe and Ito, which colour-blind readers can tell apart, without yellow, which is too pale on paper."""
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (7, 2)), (0, (1, 1)))
"""Lines in the same order, distinct without colour."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Markers in the same order."""
HATCHES = ("", "////", "||||", "\\\\\\\\", "xxxx", "----", "++++")
"""Hatches in the same order, made only of lines: each dot of a hatch would be a separate path in an SVG."""

WIDTH_INCHES = 3.5
"""Width of a column of IEEE's and ACM's papers."""
FORM: dict[Any, Any] = {
    "figure.figsize": (WIDTH_INCHES, 2.3),
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    # Text stays text, as publishers require: TrueType in PDF, characters in SVG.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    # Equal pictures have equal bytes.
    "svg.hashsalt": "tidemark",
}
"""Settings of matplotlib for all pictures."""


@contextmanager
def drawing(axes: Axes | None) -> Iterator[Axes]:
    """Gives the axes to draw in, by default of a new figure, with the style active meanwhile."""
    with mpl.rc_context(FORM):
        if axes is None:
            _, axes = pyplot.subplots()
        yield axes


def styles() -> Iterator[dict[str, Any]]:
    """Gives colour, line and marker of each curve in turn."""
    for colour, line, marker in zip(cycle(COLOURS), cycle(LINES), cycle(MARKERS)):
        yield {"color": colour, "linestyle": line, "marker": marker}


def start_at_zero(axes: Axes, *, x: bool = False, y: bool = False) -> None:
    """Lets linear axes begin at zero. An axis that becomes logarithmic begins at its data."""
    axes.update_datalim([(0, 0)], updatex=x, updatey=y)
    for artist in (*axes.lines, *axes.patches):
        # No margin goes beyond a sticky edge.
        artist.sticky_edges.x.extend([0] * x)
        artist.sticky_edges.y.extend([0] * y)
    axes.autoscale_view(scalex=x, scaley=y)


def save(axes: Axes, file: str | os.PathLike[str]) -> None:
    """Writes the figure of the axes as PDF, SVG or PNG, by the file's extension; PNG has 300 dots per inch.

    Equal pictures have equal bytes, because no time of writing is stored.
    """
    ending = Path(file).suffix
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(ending)
    figure = axes.get_figure(root=True)
    if figure is None:
        raise ValueError("axes: their figure was closed")
    with mpl.rc_context(FORM):
        picture = io.BytesIO()
        figure.savefig(picture, format=ending.removeprefix("."), dpi=300, metadata=undated)
    _replace(Path(file), picture.getvalue())


def _replace(file: Path, content: bytes) -> None:
    """Writes a file beside its place and renames it, so that an old one stays whole if the disk is full.

    The engine does the same for results, but the project's documentation draws without the engine.
    """
    part = file.with_name(f".part-{os.getpid()}-{file.name}")
    try:
        part.write_bytes(content)
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, os.fspath(file)) from error
