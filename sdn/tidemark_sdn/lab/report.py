"""The report of a run: one file that needs no network."""

import json
from html import escape
from pathlib import Path

from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.lab.experiment import Outcome
from tidemark_sdn.lab.figures import as_json, table
from tidemark_sdn.page import rows_of
from tidemark_sdn.panels import PLOTS, Picture, page


def write_report(outcome: Outcome) -> Path:
    """Writes `summary.json` and `report.html` into the run's folder."""
    out = outcome.experiment.out
    (out / "summary.json").write_text(json.dumps(as_json(outcome), indent=1) + "\n", encoding="utf-8")
    events = "\n".join(f"{event['at']:9.3f}  {event['what']}" for event in outcome.status["events"])
    body = "\n".join(
        [
            "<h1>SDN-L4S: two switches in line</h1>",
            f"<p>Mode {escape(outcome.experiment.mode)}. Delays are one-way, of small packets among the traffic;"
            " marks were made at the line between the switches; losses are counted by the flows' ends.</p>",
            f"<pre>{escape(table(outcome))}</pre>",
            PLOTS,
            "<h2>Rates of flows</h2>",
            rows_of(("flow", "Mbit/s"), ((flow.name, f"{flow.mbps:.2f}") for flow in outcome.flows)),
            "<h2>Events</h2>",
            f"<pre>{escape(events)}</pre>",
        ]
    )
    report = out / "report.html"
    report.write_text(page("SDN-L4S", body, _pictures(outcome)), encoding="utf-8")
    return report


def _pictures(outcome: Outcome) -> list[Picture]:
    rows = {kind: [row for row in outcome.series if row["queue"] == kind.name.lower()] for kind in Kind}
    delays = {
        kind.name.lower(): [(at, delay * 1e3) for at, delay in probe.delays] for kind, probe in outcome.probes.items()
    }
    queues = {
        kind.name.lower(): [(float(row["at"]), float(row["delay"]) * 1e3) for row in of] for kind, of in rows.items()
    }
    # L4S packets are marked with the coupled probability, classic ones with their own.
    marks = {
        kind.name.lower(): [
            (float(row["at"]), float(row["coupled" if kind is Kind.L4S else "classic"]) * 100) for row in of
        ]
        for kind, of in rows.items()
    }
    return [
        Picture("One-way delay", "delay (ms)", delays),
        Picture("Queue of the line, read by its agent", "delay (ms)", queues),
        Picture("Probabilities of PI2", "probability (%)", marks),
    ]
