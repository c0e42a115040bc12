"""Pages with the drawings of Tidemark's report: the page from `make web`, filled with content and data."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

Points = Sequence[tuple[float, float]]

PLOTS = '<h2>Over time</h2><div id="plots"></div>'
"""Place of the plots in a page's content."""
TOPOLOGY = '<div id="topology"></div>'
"""Place of the drawing of switches and links."""
# Digits of drawn values; more would only enlarge the file.
_DIGITS = 6
_WITHOUT = (
    "<p>There are no drawings: this package was installed from a folder in which <code>make web</code> had not run.</p>"
)


@dataclass(frozen=True)
class Picture:
    """A plot over time in seconds: points of each queue."""

    title: str
    unit: str
    queues: Mapping[str, Points]


@dataclass(frozen=True)
class Topology:
    """Switches by name, and whether each is connected with its agent; loads of the links between two of them."""

    switches: Mapping[str, bool]
    loads: Mapping[tuple[str, str], float]


def page(title: str, content: str, pictures: Sequence[Picture] = (), topology: Topology | None = None) -> str:
    """The page with its content, the pictures at `PLOTS` in it, and the topology at `TOPOLOGY`."""
    built = files("tidemark_sdn") / "network.html"
    if not built.is_file():
        template = '<!doctype html><html lang="en"><meta charset="utf-8"><title>{{title}}</title>{{content}}</html>\n'
        content = content.replace(PLOTS if PLOTS in content else TOPOLOGY, _WITHOUT)
    else:
        template = built.read_text(encoding="utf-8")
    queues = list(dict.fromkeys(queue for picture in pictures for queue in picture.queues))
    drawn = {
        "queues": queues,
        "pictures": [_drawn(picture, queues) for picture in pictures],
        "topology": topology and _joined(topology),
    }
    # A switch's name must not end the script.
    panels = json.dumps(drawn, separators=(",", ":")).replace("<", "\\u003c")
    parts = {"title": escape(title), "content": content, "panels": panels}
    # In one pass, so that inserted texts are not searched.
    return re.sub(r"\{\{(title|content|panels)\}\}", lambda place: parts[place[1]], template)


def _drawn(picture: Picture, queues: Sequence[str]) -> dict[str, object]:
    """The picture as rows over the times of all its queues; each queue keeps its last value."""
    times = sorted({at for points in picture.queues.values() for at, _ in points})
    rows = []
    for queue in queues:
        points, last = dict(picture.queues.get(queue, ())), None
        row: list[float | None] = []
        for at in times:
            last = points.get(at, last)
            row.append(None if last is None else float(f"{last:.{_DIGITS}g}"))
        rows.append(row)
    return {"title": picture.title, "unit": picture.unit, "t_s": [round(at, _DIGITS) for at in times], "rows": rows}


def _joined(topology: Topology) -> dict[str, object]:
    """The topology with its links as pairs of places in the list of switches."""
    places = {name: place for place, name in enumerate(topology.switches)}
    return {
        "switches": [{"name": name, "connected": connected} for name, connected in topology.switches.items()],
        "links": [
            {"ends": [places[first], places[second]], "load": load}
            for (first, second), load in sorted(topology.loads.items())
            if first in places and second in places
        ],
    }
