#!/usr/bin/env python3
"""Measures the simulator's cost by UEs, by cells and by rate: runs and a table.

    python3 results/performance/cost.py target/release/tidemark

Each point is the least processor time of some runs of the whole command, report included, on one thread, over the virtual time;
the least, since whatever else the machine does only adds. Writes cost.csv beside itself, of which
`make book` draws the picture, and prints the table.
"""

import argparse
import csv
import math
import os
import pathlib
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
RUNS = 2
SECONDS = 10

HEAD = """name = "cost"
duration = "{seconds} s"
sample_interval = "100 ms"
[marker]
law = "{law}"
[cell]
scheduler = {{ kind = "proportional-fair" }}
{cell}
"""
DOWNLOAD = """[[ue]]
name = "ue"
count = {count}
channel = {channel}
[[flow]]
name = "flow"
ue = "ue"
round_trip = "38 ms"
sender = {{ controller = "{controller}" }}
"""


def scenario(count: int, cell: str = "", network: str = "", full: bool = False) -> str:
    """Downloads under l4span; `full`: one without marks and fading, which fills any carrier within a second."""
    model, law, controller = ("static", "none", "cubic") if full else ("pedestrian", "l4span", "prague")
    model = "deployed" if network else model
    head = HEAD.format(seconds=SECONDS, cell=cell, law=law)
    return head + network + DOWNLOAD.format(count=count, channel=f'{{ model = "{model}" }}', controller=controller)


def grid(sites: int, sectors: int) -> str:
    return f"[network]\nsites = {sites}\nsectors = {sectors}\n"


def carrier(mhz: int, layers: int) -> str:
    return f'bandwidth_mhz = {mhz}\nlayers = {layers}\nmcs_table = "qam256"\ndmrs = 12\noverhead = 0\n'


# What grows, along which axis, and the scenario at each step.
SERIES = {
    "UEs in one cell, all downloading": [(n, scenario(n)) for n in (1, 4, 16, 64, 256)],
    "cells, four downloads each": [
        (sites * sectors, scenario(4 * sites * sectors, network=grid(sites, sectors)))
        for sites, sectors in ((1, 1), (1, 3), (7, 1), (7, 3), (19, 3))
    ],
    "Mbit/s of one download": [
        (None, scenario(1, carrier(mhz, layers), full=True))
        for mhz, layers in ((5, 1), (10, 1), (20, 1), (40, 1), (100, 1), (100, 2), (100, 4))
    ],
}


def measure(command: str, text: str) -> tuple[float, float, float]:
    """Processor seconds a virtual second, peak memory in MiB, Mbit/s delivered."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "cost.toml"
        file.write_text(text)
        best, memory = math.inf, 0.0
        for _ in range(RUNS):
            run = subprocess.Popen([command, "run", file, "--out", f"{folder}/out"], stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(run.pid, 0)
            if status != 0:
                raise SystemExit(f"the run failed:\n{text}")
            best = min(best, usage.ru_utime + usage.ru_stime)
            memory = max(memory, usage.ru_maxrss / 1024)
        summary = (pathlib.Path(folder) / "out" / "summary.json").read_text()
        mbps = float(summary.split('"throughput_mbps": ')[1].split(",")[0])
        return best / SECONDS, memory, mbps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidemark", help="the command, as `make build` leaves it")
    command = parser.parse_args().tidemark
    rows = []
    for title, steps in SERIES.items():
        print(f"\n| {title} | Mbit/s | CPU s a simulated s | simulated s a second | peak MiB |\n| --- | --- | --- | --- | --- |")
        for value, text in steps:
            cpu, memory, mbps = measure(command, text)
            value = mbps if value is None else value
            rows.append({"series": title, "value": value, "mbps": mbps, "cpu": cpu, "memory_mib": memory})
            print(f"| {value:.0f} | {mbps:.1f} | {cpu:.4f} | {1 / cpu:.0f} | {memory:.0f} |", flush=True)
    with open(HERE / "cost.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{x:.6g}" if isinstance(x, float) else x for key, x in row.items()} for row in rows)


if __name__ == "__main__":
    main()
