"""Writes docs/measured/estimate/reports.md, the tables of what laws leave of queue and rate by the DU's reports:

    cargo run --release -p tidemark-sim --example reports > docs/measured/estimate/reports.csv
    python3 docs/measured/estimate/tables.py

Python's own library is all it needs.
"""

import argparse
import csv
import pathlib

argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()

HERE = pathlib.Path(__file__).parent
PERIODS = {"0": "each transmission", "5": "5 ms", "10": "10 ms", "20": "20 ms"}

with open(HERE / "reports.csv", newline="") as file:
    rows = {(row["law"], row["ues"], row["channel"], row["period_ms"]): row for row in csv.DictReader(file)}

laws, ues, channels = (list(dict.fromkeys(key[place] for key in rows)) for place in range(3))
parts = [
    "# Queue and rate by how the DU reports\n",
    "Queue's mean / 99th percentile in ms, and the cell's throughput in Mbit/s: one Prague flow for each UE over 30 ms of wire, 20 s,"
    " means of five seeds. Written by `docs/measured/estimate/tables.py`; what it means is in [estimate.md](../estimate.md).\n",
]
for law in laws:
    parts.append(f"\n## {law}\n")
    parts.append("| UEs | channel | " + " | ".join(PERIODS.values()) + " |")
    parts.append("| ---: | --- |" + " --- |" * len(PERIODS))
    for count in ues:
        for channel in channels:
            cells = [rows[law, count, channel, period] for period in PERIODS]
            figures = (
                f"{float(row['queue_mean_ms']):.1f} / {float(row['queue_p99_ms']):.0f}, {float(row['throughput_mbps']):.1f}"
                for row in cells
            )
            parts.append(f"| {count} | {channel} | " + " | ".join(figures) + " |")
(HERE / "reports.md").write_text("\n".join(parts) + "\n")
