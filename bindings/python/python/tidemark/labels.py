"""Names of axes: a field's meaning with its unit."""

UNITS = {"mbps": "Mbit/s", "ms": "ms", "us": "µs", "kb": "kB", "db": "dB", "s": "s", "m": "m"}
"""Units by the suffix of a field's name."""
STATISTICS = ("mean", "p50", "p95", "p99", "p999")
"""Parts of a delay that are columns of their own."""
NAMES = {
    "owd": "one-way delay",
    "rtt": "round-trip time",
    "cwnd": "congestion window",
    "queue": "RLC queue delay",
    "router_queue": "router queue delay",
    "frame": "frame delay",
    "completion": "completion time",
    "sender_queue": "sender's queue delay",
    "mcs": "MCS index",
    "t": "time",
}
"""Words for fields whose name without the unit is not clear enough."""


def label(field: str) -> str:
    """Gives an axis's label, for a column of a frame or a metric of a study.

    >>> label("throughput_mbps"), label("owd_p95_ms"), label("owd_ms.p95"), label("marks")
    ('throughput (Mbit/s)', 'p95 one-way delay (ms)', 'p95 one-way delay (ms)', 'marks')
    """
    path, _, statistic = field.rpartition(".")
    if statistic in STATISTICS:
        stem, _, unit = path.rpartition("_")
        field = f"{stem}_{statistic}_{unit}"
    stem, _, ending = field.rpartition("_")
    unit = UNITS.get(ending, "") if stem else ""
    stem = stem if unit else field
    name, _, statistic = stem.rpartition("_")
    if name in NAMES and statistic in STATISTICS:
        words = f"{statistic.replace('p999', 'p99.9')} {NAMES[name]}"
    else:
        words = NAMES.get(stem, stem.replace("_", " "))
    return f"{words} ({unit})" if unit else words
