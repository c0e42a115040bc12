"""The report of a run: one file that needs no network."""

import json
from html import escape
from pathlib import Path

from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.chart import COLOURS, bar_chart, line_chart
from tidemark_sdn.lab.experiment import Outcome
from tidemark_sdn.lab.figures import as_json, table

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
body { color: #222; background: #fff }
svg { display: block; width: 100%; margin: 1.2rem 0; font-size: 12px }
svg text { fill: #222 } svg .title { font-weight: 600; font-size: 13px } svg .grid { stroke: #ddd }
pre { overflow-x: auto; background: #f4f4f4; padding: .8rem }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #181818 } pre { background: #262626 }
  svg text { fill: #ddd } svg .grid { stroke: #444 }
}
"""


def write_report(outcome: Outcome) -> Path:
    """Writes `summary.json` and `report.html` into the run's folder."""
    out = outcome.experiment.out
    (out / "summary.json").write_text(json.dumps(as_json(outcome), indent=1) + "\n", encoding="utf-8")
    events = "\n".join(f"{event['at']:9.3f}  {event['what']}" for event in outcome.status["events"])
    body = "\n".join(
        [
            "<h1>SDN-L4S: two switches in line</h1>",
            f"<p>Mode {escape(outcome.experiment.mode)}. Delays are one-way, of small packets among the traffic;"
            " marks are those of the line between the switches, losses as the ends of the flows count them.</p>",
            f"<pre>{escape(table(outcome))}</pre>",
            _delays(outcome),
            _queues(outcome),
            _marks(outcome),
            _rates(outcome),
            "<h2>Events</h2>",
            f"<pre>{escape(events)}</pre>",
        ]
    )
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>SDN-L4S</title><style>{_STYLE}</style>{body}</html>\n"
    )
    report = out / "report.html"
    report.write_text(page, encoding="utf-8")
    return report


def _delays(outcome: Outcome) -> str:
    lines = {
        kind.name.lower(): [(sent_at, delay * 1e3) for sent_at, delay in probe.delays]
        for kind, probe in outcome.probes.items()
    }
    return line_chart("One-way delay", "s", "ms", lines)


def _queues(outcome: Outcome) -> str:
    lines = {
        kind.name.lower(): [
            (float(row["at"]), float(row["delay"]) * 1e3) for row in outcome.series if row["queue"] == kind.name.lower()
        ]
        for kind in Kind
    }
    return line_chart("Queue of the line, as its agent reads it", "s", "ms", lines)


def _marks(outcome: Outcome) -> str:
    rows = [row for row in outcome.series if row["queue"] == "l4s"] or outcome.series
    lines = {
        name: [(float(row["at"]), float(row[column]) * 100) for row in rows]
        for name, column in (("coupled, L4S", "coupled"), ("classic", "classic"))
    }
    return line_chart("Probabilities of PI2", "s", "%", lines)


def _rates(outcome: Outcome) -> str:
    colours = {Kind.L4S: COLOURS[0], Kind.CLASSIC: COLOURS[1]}
    return bar_chart("Rates of flows", "Mbit/s", [(flow.name, flow.mbps, colours[flow.kind]) for flow in outcome.flows])
