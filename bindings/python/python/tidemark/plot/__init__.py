"""Pictures for papers, with matplotlib.

Each function takes one result or several, draws into `axes` or into a figure of its own, and gives the axes. `save`
writes PDF, SVG or PNG by the file's ending. Curves differ by colour, by line and by marker, so that greyscale print
keeps them apart.
"""

from tidemark.plot.curves import cdf, series
from tidemark.plot.groups import boxes, delay_boxes, front, means, split, unbeaten
from tidemark.plot.style import save

__all__ = ["boxes", "cdf", "delay_boxes", "front", "means", "save", "series", "split", "unbeaten"]
