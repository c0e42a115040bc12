"""Rates of a `tidemark net hop` that is the line, from its results."""

import csv
import re
from pathlib import Path

from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.lab.isolation import LabError

# Names of flows towards the receiver. The second connection to a port, such as iperf3's data, has a number.
_DATA = {
    Kind.L4S: re.compile(r"udp 10\.0\.1\.\d+ to port 41\d\d"),
    Kind.CLASSIC: re.compile(r"tcp .* to port 52\d\d #2"),
}


def line_rates(series: Path, warm_up: float) -> dict[Kind, float]:
    """Output rate in Mbit/s of each kind of traffic while all flows ran, after a warm-up in seconds."""
    rows: dict[str, list[tuple[float, float]]] = {}
    with series.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if any(pattern.fullmatch(row["flow"]) for pattern in _DATA.values()):
                rows.setdefault(row["flow"], []).append((float(row["t_s"]), float(row["throughput_mbps"])))
    active = [times for flow in rows.values() if (times := [at for at, mbps in flow if mbps > 0])]
    began, ended = (
        max((times[0] for times in active), default=0.0) + warm_up,
        min((times[-1] for times in active), default=0.0),
    )
    if began >= ended:
        raise LabError(f"{series}: the flows did not run at the same time")
    rates = dict.fromkeys(_DATA, 0.0)
    for name, flow in rows.items():
        kind = next(kind for kind, pattern in _DATA.items() if pattern.fullmatch(name))
        inside = [mbps for at, mbps in flow if began < at <= ended]
        rates[kind] += sum(inside) / len(inside)
    return rates
