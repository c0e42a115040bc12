"""Figures of a run for each kind of traffic, as a table and as JSON."""

import statistics
from dataclasses import asdict
from pathlib import Path

from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.lab.experiment import Outcome

_NAMES = {Kind.L4S: "L4S", Kind.CLASSIC: "classic"}


def quantile(values: list[float], share: float) -> float:
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def summarize(outcome: Outcome) -> dict[str, dict[str, float | None]]:
    """Figures for each kind of traffic; what could not be measured is absent."""
    summary: dict[str, dict[str, float | None]] = {}
    for kind in Kind:
        flows = [flow for flow in outcome.flows if flow.kind is kind]
        if not flows:
            continue
        rates = [flow.mbps for flow in flows]
        figures: dict[str, float | None] = {
            "flows": len(flows),
            "mbps": sum(rates),
            "least_mbps": min(rates),
            "most_mbps": max(rates),
        }
        # Receivers count arrivals; iperf3's senders count first transmissions.
        if sent := sum(flow.packets + flow.lost for flow in flows):
            figures["lost_percent"] = sum(flow.lost for flow in flows) / sent * 100
        if sent := sum(flow.later.sent for flow in flows):
            figures["lost_later_percent"] = sum(flow.later.lost for flow in flows) / sent * 100
        if probe := outcome.probes.get(kind):
            delays = [delay for _, delay in probe.delays]
            if delays:
                figures["delay_mean_ms"] = statistics.fmean(delays) * 1e3
                figures["delay_median_ms"] = statistics.median(delays) * 1e3
                figures["delay_p99_ms"] = quantile(delays, 0.99) * 1e3
                figures["delay_min_ms"] = min(delays) * 1e3
                figures["delay_max_ms"] = max(delays) * 1e3
        rows = [row for row in outcome.series if row["queue"] == kind.name.lower()]
        if len(rows) > 1:
            moved = {name: int(rows[-1][name]) - int(rows[0][name]) for name in rows[0] if name in _COUNTERS}
            # Rate of the queue while all flows ran. The ends measure their rates over their own running times.
            took = float(rows[-1]["at"]) - float(rows[0]["at"])
            figures["line_mbps"] = moved["sent_bytes"] * 8 / took / 1e6
            arrived = moved["arrived_packets"]
            if arrived:
                # Marks on arriving packets were set by a rule of the same switch.
                figures["marked_percent"] = (
                    (moved["came_marked"] + moved["ramp_marked"] + moved["coupled_marked"]) / arrived * 100
                )
                figures["queue_lost_percent"] = (moved["dropped"] + moved["overflowed"]) / arrived * 100
        if kind in outcome.hop_mbps:
            figures["line_mbps"] = outcome.hop_mbps[kind]
            # Marks counted by the receivers; the kernel's receivers do not count.
            if kind is Kind.L4S and (packets := sum(flow.packets for flow in flows)):
                figures["marked_percent"] = sum(flow.marked for flow in flows) / packets * 100
        summary[kind.name.lower()] = figures
    return summary


_COUNTERS = ("sent_bytes", "arrived_packets", "came_marked", "ramp_marked", "coupled_marked", "dropped", "overflowed")

_COLUMNS = (
    ("traffic", None),
    ("flows", "flows"),
    ("Mbit/s", "line_mbps"),
    ("least", "least_mbps"),
    ("most", "most_mbps"),
    ("median ms", "delay_median_ms"),
    ("p99 ms", "delay_p99_ms"),
    ("marked %", "marked_percent"),
    ("lost %", "lost_percent"),
)


def table(outcome: Outcome) -> str:
    """The printed table: one-way delays of probes, marks at the line, losses counted by the flows' ends."""
    rows = [[name for name, _ in _COLUMNS]]
    for kind in Kind:
        figures = summarize(outcome).get(kind.name.lower())
        if figures is None:
            continue
        row = [_NAMES[kind]]
        for _, name in _COLUMNS[1:]:
            value = figures.get(name or "")
            row.append("" if value is None else f"{value:.0f}" if name == "flows" else f"{value:.2f}")
        rows.append(row)
    widths = [max(len(row[index]) for row in rows) for index in range(len(_COLUMNS))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def conditions(load: float, processors: int) -> str:
    """Sentence on the machine of a table: which figures depend on it, and how busy it was."""
    busy = ": it was busy with other work, so run again" if load > processors / 2 else ""
    return (
        f"load average before {load:.1f} on {processors} processors{busy}; "
        "tails, losses and shares depend on the machine; the order of the medians does not"
    )


def as_json(outcome: Outcome) -> dict[str, object]:
    """`summary.json` of a run."""
    experiment = asdict(outcome.experiment)
    return {
        "experiment": {name: str(value) if isinstance(value, Path) else value for name, value in experiment.items()},
        "load_before": outcome.load_before,
        "summary": summarize(outcome),
        "flows": [asdict(flow) | {"kind": flow.kind.name.lower()} for flow in outcome.flows],
        "controller": outcome.status,
    }
