"""A page of the network: topology with loads, queues with delay and marks, flows with paths, events.

A self-contained file: served while the controller runs, and written with plots into the folder of a run.
"""

import csv
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from tidemark_sdn.panels import PLOTS, TOPOLOGY, Picture, Topology
from tidemark_sdn.panels import page as page_of
from tidemark_sdn.units import format_rate, format_time

# Most rows of flows and events that are shown; more are counted.
_MAX_ROWS = 200


def page(status: dict[str, Any]) -> str:
    """The page of a status."""
    return page_of("SDN-L4S", _content(status), topology=_topology(status))


def _content(status: dict[str, Any], plots: str = "") -> str:
    """Content of a page for a status, with a place for plots."""
    return "".join(
        [
            "<h1>SDN-L4S</h1>",
            f"<p>Mode {escape(status['mode'])}, up {format_time(status['uptime'])}, flows: {len(status['flows'])}.</p>",
            TOPOLOGY,
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
    report.write_text(page_of("SDN-L4S", _content(status, PLOTS), pictures, _topology(status)), encoding="utf-8")
    return report


def rows_of(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table, with only the first rows if there are many."""
    cells = list(rows)
    if not cells:
        return "<p>None.</p>"
    more = f"<p>{len(cells) - _MAX_ROWS} more.</p>" if len(cells) > _MAX_ROWS else ""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in cells[:_MAX_ROWS])
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<div class="table"><table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>{more}'


def _switch(switch: dict[str, Any]) -> tuple[str, ...]:
    states = ["yes" if switch[what] else "no" for what in ("connected", "agent")]
    return (switch["name"], switch["datapath_id"], *states)


def _link(link: dict[str, Any]) -> tuple[str, ...]:
    return link["from"], link["to"], "" if link["load"] is None else f"{link['load'] * 100:.0f} %"


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


def _topology(status: dict[str, Any]) -> Topology:
    """The switches, and the links between them, each with the load of its fuller direction."""
    loads: dict[tuple[str, str], float] = {}
    for link in status["links"]:
        first, second = sorted(link[end].rsplit(" ", 1)[0] for end in ("from", "to"))
        loads[first, second] = max(loads.get((first, second), 0.0), link["load"] or 0.0)
    return Topology({switch["name"]: switch["connected"] and switch["agent"] for switch in status["switches"]}, loads)
