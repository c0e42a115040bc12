#!/usr/bin/env python3
"""Simulated seconds a second of the processor, for each run of which goals.csv has a goal: speed.csv beside this file.

    make dist; python3 results/performance/speed.py target/dist/tidemark

A figure is the median of the runs, and covers the whole command: start, simulation, files and report. Nothing else should run.
"""

import argparse
import csv
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from instructions import ROOT, SATURATED

HERE = pathlib.Path(__file__).parent
RUNS = 5
OFFERED_KBPS = 120_000
"""Open-loop load of all UEs together: three times the capacity."""


def measured(command: list[str]) -> tuple[float, float, float]:
    """Seconds, seconds of processors and megabytes of one run."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        run = subprocess.Popen([*command, "--out", f"{folder}/out"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        if status != 0:
            raise SystemExit(f"{command} failed")
        return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def cases(folder: pathlib.Path) -> list[tuple[str, int, list[str]]]:
    """Name, simulated seconds and arguments of each run."""
    found = []
    for ues in (1, 16, 64):
        for channel in ("static", "vehicular"):
            file = folder / f"{ues}-{channel}.toml"
            file.write_text(SATURATED.format(seconds=60, ues=ues, channel=channel, controller="prague", law="tide"))
            found.append((f"{ues} {'UE' if ues == 1 else 'UEs'}, {channel}", 60, [str(file), "--threads", "1"]))
    for ues in (1, 16):
        app = f'flow.*.app={{ app = "constant", rate = "{OFFERED_KBPS // ues} kbit/s" }}'
        settings = ["--set", 'flow.*.sender={ controller = "udp" }', "--set", app]
        file = str(folder / f"{ues}-static.toml")
        found.append((f"{ues} {'UE' if ues == 1 else 'UEs'}, UDP at three times the capacity", 60, [file, "--threads", "1", *settings]))
    network = str(ROOT / "scenarios/network/21-cells.toml")
    more = ["--set", "network.sites=19", "--set", "ue.caller.count=136", "--set", "ue.reader.count=1364"]
    for threads in ("1", "2"):
        found.append((f"21 cells, 550 users, threads {threads}", 30, [network, "--threads", threads]))
        found.append((f"57 cells, 1500 users, threads {threads}", 6, [network, "--threads", threads, "--set", "duration=6 s", *more]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidemark", help="the command, of the profile dist")
    tidemark = parser.parse_args().tidemark
    with tempfile.TemporaryDirectory() as folder, open(HERE / "speed.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "simulated_s_a_second", "simulated_s_a_cpu_second", "least", "most", "memory_mb"])
        for name, seconds, arguments in cases(pathlib.Path(folder)):
            runs = [measured([tidemark, "run", *arguments]) for _ in range(RUNS)]
            took, used, memory = zip(*runs, strict=True)
            speeds = [seconds / cpu for cpu in used]
            figures = [seconds / statistics.median(took), statistics.median(speeds), min(speeds), max(speeds), max(memory)]
            writer.writerow([name, *(f"{figure:.3g}" for figure in figures)])
            file.flush()


if __name__ == "__main__":
    main()
