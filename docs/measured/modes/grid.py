#!/usr/bin/env python3
"""Runs senders behind the live presets, simulated, law by law: the table of docs/decisions/53.

python3 docs/measured/modes/grid.py [--seeds N]. A figure is the mean over the seeds from 1 on.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
TIDEMARK = os.environ.get("TIDEMARK", str(ROOT / "target/release/tidemark"))
SENDERS = ["cubic", "reno", "prague", "scream", "prague+cubic"]


def marker(*keys):
    return [f"marker.{key}" for key in keys]


LAWS = {"none": marker("law=none"), "l4span": marker("law=l4span"), "tide": marker("law=tide")}


def flows(senders):
    """Tables of a scenario for the senders, with + between them."""
    text = ""
    for sender in senders.split("+"):
        app = "video" if sender == "scream" else "bulk"
        text += f"""
[[flow]]
name = "{sender}"
ue = "ue"
round_trip = "20 ms"
sender = {{ controller = "{sender}" }}
app = {{ app = "{app}" }}
"""
    return text


def run(preset, senders, seeds, *assignments):
    """Rate, and mean and 95th percentile of the queue: means over seeds."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder, "scenario.toml")
        scenario.write_text((ROOT / f"scenarios/live/{preset}.toml").read_text() + flows(senders))
        for seed in range(1, seeds + 1):
            wanted = [word for assignment in (f"seed={seed}", *assignments) for word in ("--set", assignment)]
            done = subprocess.run([TIDEMARK, "run", scenario, "--out", f"{folder}/out", *wanted], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            ue = json.loads(pathlib.Path(folder, "out/summary.json").read_text())["ues"][0]
            figures.append((ue["throughput_mbps"], ue["queue_ms"]["mean"], ue["queue_ms"]["p95"]))
    return [statistics.mean(figure) for figure in zip(*figures)]


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def compare(columns, presets, seeds):
    """Prints a row for each preset and senders, with a column a law."""
    row("preset", "senders", *columns)
    row("---", "---", *["---" for _ in columns])
    for preset in presets:
        for senders in SENDERS:
            all_figures = [run(preset, senders, seeds, "duration=40 s", "warmup=15 s", *keys) for keys in columns.values()]
            row(preset, senders, *(f"{rate:.1f} at {mean:.1f} / {p95:.0f}" for rate, mean, p95 in all_figures))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seeds", type=int, default=3)
    options = arguments.parse_args()
    compare(LAWS, ["5g-static", "5g-walking", "5g-driving", "5g-wide", "lte-edge"], options.seeds)


if __name__ == "__main__":
    main()
