"""Form of the pictures: sizes of a paper's column, colours for everybody, lines and markers for greyscale."""

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
"""Colours of Okabe and Ito, which colour-blind readers tell apart, without the yellow that is too pale for paper."""
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (7, 2)), (0, (1, 1)))
"""Lines in the same order: print without colour tells them apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Markers in the same order."""
HATCHES = ("", "////", "||||", "\\\\\\\\", "xxxx", "----", "++++")
"""Fillings in the same order: of lines alone, since each dot of a filling is a path of its own in an SVG."""

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
    # Text stays text, which publishers ask for: TrueType in PDF, characters in SVG.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    # The same picture has the same bytes.
    "svg.hashsalt": "tidemark",
}
"""Settings of matplotlib for every picture."""


@contextmanager
def drawing(axes: Axes | None) -> Iterator[Axes]:
    """Gives the axes to draw in, by default of a new figure, with the form set meanwhile."""
    with mpl.rc_context(FORM):
        if axes is None:
            _, axes = pyplot.subplots()
        yield axes


def styles() -> Iterator[dict[str, Any]]:
    """Gives colour, line and marker of one curve after the other."""
    for colour, line, marker in zip(cycle(COLOURS), cycle(LINES), cycle(MARKERS)):
        yield {"color": colour, "linestyle": line, "marker": marker}


def start_at_zero(axes: Axes, *, x: bool = False, y: bool = False) -> None:
    """Lets axes begin at zero while they are linear. One that is made logarithmic begins at its data."""
    axes.update_datalim([(0, 0)], updatex=x, updatey=y)
    for artist in (*axes.lines, *axes.patches):
        # No margin goes beyond a sticky edge.
        artist.sticky_edges.x.extend([0] * x)
        artist.sticky_edges.y.extend([0] * y)
    axes.autoscale_view(scalex=x, scaley=y)


def save(axes: Axes, file: str | os.PathLike[str]) -> None:
    """Writes the figure of the axes as PDF, SVG or PNG, by the file's ending; PNG with 300 dots an inch.

    The same picture has the same bytes: no time of writing is in it.
    """
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(Path(file).suffix)
    figure = axes.get_figure(root=True)
    if figure is None:
        raise ValueError("axes: they are in no figure: it was closed")
    with mpl.rc_context(FORM):
        figure.savefig(file, dpi=300, metadata=undated)
