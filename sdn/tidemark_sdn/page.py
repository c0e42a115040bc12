"""A page of the network: topology with loads, queues with delay and marks, flows with paths, events.

A self-contained file: served while the controller runs, and written with plots into the folder of a run.
"""

import csv
import math
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from tidemark_sdn.panels import PLOTS, Picture
from tidemark_sdn.panels import page as page_of
from tidemark_sdn.units import format_rate, format_time

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
body { color: #222; background: #fff }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } }
"""
# Styles of the drawing and of tables, for both pages.
_PARTS = """
.topology { display: block; width: 100%; margin: 1.2rem 0; font-size: 12px } .topology text { fill: #222 }
.topology .load { stroke: #fff; stroke-width: 4px; paint-order: stroke }
.topology circle { fill: #fff; stroke: #222; stroke-width: 2 }
.topology circle.gone { stroke: #d55e00; stroke-dasharray: 4 }
.scroll { overflow-x: auto } .scroll table { border-collapse: collapse; width: 100% }
.scroll th, .scroll td { text-align: right; padding: .15rem .5rem }
.scroll th:first-child, .scroll td:first-child { text-align: left } .scroll tr + tr { border-top: 1px solid #ddd }
@media (prefers-color-scheme: dark) {
  .topology text { fill: #ddd } .topology circle { fill: #181818; stroke: #ddd } .topology .load { stroke: #181818 }
  .scroll tr + tr { border-color: #444 }
}
"""
_SIZE, _RADIUS = 420, 22
# Most rows of flows and events that are shown; more are counted.
_MAX_ROWS = 200


def page(status: dict[str, Any], refresh: float | None = None) -> str:
    """The page of a status; `refresh` in seconds makes a browser load it again and again."""
    again = "" if refresh is None else f'<meta http-equiv="refresh" content="{refresh:g}">'
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">{again}'
        '<meta name="viewport" content="width=device-width">'
        f"<title>SDN-L4S</title><style>{_STYLE}</style>{_content(status)}</html>\n"
    )


def _content(status: dict[str, Any], plots: str = "") -> str:
    """Content of a page for a status, with a place for plots."""
    return "".join(
        [
            f"<style>{_PARTS}</style>",
            "<h1>SDN-L4S</h1>",
            f"<p>Mode {escape(status['mode'])}, up {format_time(status['uptime'])}, {len(status['flows'])} flows.</p>",
            _topology(status),
            plots,
            "<h2>Switches</h2>",
            rows_of(("switch", "datapath", "connected", "agent"), map(_switch, status["switches"])),
            "<h2>Links</h2>",
            rows_of(("from", "to", "load"), map(_link, status["links"])),
            "<h2>Queues</h2>",
            rows_of(
                ("queue", "rate", "backlog, B", "delay", "packets", "marked", "dropped", "congested"),
                map(_queue, status["queues"]),
            ),
            "<h2>Flows</h2>",
            rows_of(("flow", "kind", "path"), map(_flow, status["flows"])),
            "<h2>Counters</h2>",
            rows_of(("what", "times"), ((name, str(count)) for name, count in sorted(status["counters"].items()))),
            "<h2>Events</h2>",
            rows_of(("what", "at, s"), ((event["what"], f"{event['at']:.3f}") for event in reversed(status["events"]))),
        ]
    )


def write_run_report(folder: Path, status: dict[str, Any]) -> Path:
    """Writes `report.html` of a run into its folder, from its last status and its series."""
    with (folder / "series.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    delays: dict[str, list[tuple[float, float]]] = {}
    marks: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        queue, at = f"{row['switch']} {row['port']} {row['queue']}", float(row["at"])
        delays.setdefault(queue, []).append((at, float(row["delay"]) * 1e3))
        # L4S packets are marked with the coupled probability, classic ones with their own.
        probability = row["coupled" if row["queue"] == "l4s" else "classic"]
        marks.setdefault(queue, []).append((at, float(probability) * 100))
    pictures = [Picture("Queues", "delay (ms)", delays), Picture("Probabilities of PI2", "probability (%)", marks)]
    report = folder / "report.html"
    report.write_text(page_of("SDN-L4S", _content(status, PLOTS), pictures), encoding="utf-8")
    return report


def rows_of(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table, with only the first rows if there are many."""
    cells = list(rows)
    if not cells:
        return "<p>None.</p>"
    more = f"<p>{len(cells) - _MAX_ROWS} more.</p>" if len(cells) > _MAX_ROWS else ""
    lines = ["".join(f"<th>{escape(name)}</th>" for name in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in cells[:_MAX_ROWS]]
    return f'<div class="scroll"><table>{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>{more}'


def _switch(switch: dict[str, Any]) -> tuple[str, ...]:
    states = ["yes" if switch[what] else "no" for what in ("connected", "agent")]
    return (switch["name"], switch["datapath_id"], *states)


def _link(link: dict[str, Any]) -> tuple[str, ...]:
    return link["from"], link["to"], "" if link["load"] is None else f"{link['load']:.0%}"


def _queue(queue: dict[str, Any]) -> tuple[str, ...]:
    name, congested = f"{queue['switch']} {queue['port']} {queue['queue']}", "yes" if queue["congested"] else "no"
    if "delay" not in queue:
        # Its agent has not reported yet.
        return name, "", "", "", "", "", "", congested
    traffic = queue["traffic"]
    marked = traffic["ramp_marked"] + traffic["coupled_marked"]
    return (
        name,
        format_rate(queue["rate"]),
        str(queue["backlog_bytes"]),
        format_time(queue["delay"]),
        str(traffic["packets"]),
        str(marked),
        str(traffic["dropped"] + queue["overflowed"]),
        congested,
    )


def _flow(flow: dict[str, Any]) -> tuple[str, ...]:
    return f"{flow['from']} to {flow['to']}, protocol {flow['protocol']}", flow["kind"], ", ".join(flow["path"])


def _topology(status: dict[str, Any]) -> str:
    """Switches in a ring with their links; fuller links are wider and redder."""
    names = [switch["name"] for switch in status["switches"]]
    middle, ring = _SIZE / 2, _SIZE / 2 - 3 * _RADIUS
    places = {
        name: (
            middle - ring * math.cos(2 * math.pi * index / len(names)),
            middle - ring * math.sin(2 * math.pi * index / len(names)),
        )
        for index, name in enumerate(names)
    }
    loads: dict[tuple[str, ...], float] = {}
    for link in status["links"]:
        ends = tuple(sorted(place.rsplit(" ", 1)[0] for place in (link["from"], link["to"])))
        loads[ends] = max(loads.get(ends, 0.0), link["load"] or 0.0)
    parts = []
    for (first, second), load in sorted(loads.items()):
        if first in places and second in places:
            (x1, y1), (x2, y2) = places[first], places[second]
            colour = "#d55e00" if load > 0.8 else "#e69f00" if load > 0.4 else "#0072b2"
            line = f'M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"'
            parts.append(f'<path d="{line} stroke="{colour}" stroke-width="{1.5 + 6 * min(load, 1.0):.1f}"/>')
            middle_x, middle_y = (x1 + x2) / 2, (y1 + y2) / 2
            parts.append(f'<text class="load" x="{middle_x + 8:.1f}" y="{middle_y - 8:.1f}">{load:.0%}</text>')
    for switch in status["switches"]:
        x, y = places[switch["name"]]
        state = "" if switch["connected"] and switch["agent"] else ' class="gone"'
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS}"{state}/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{escape(switch["name"])}</text>')
    form = f'class="topology" viewBox="0 0 {_SIZE} {_SIZE}" style="max-width:{_SIZE}px"'
    return f'<svg {form} role="img" aria-label="Switches and links">{"".join(parts)}</svg>'
