#!/usr/bin/env python3
"""Runs senders behind the live presets, simulated: law by law, mode by mode, and a call in a narrow cell.

python3 docs/measured/modes/grid.py TABLE [--seeds N]. TABLE is `laws` (docs/decisions/53), `modes` or `call` (docs/measured/live.md). A figure is the mean over the seeds from 1 on.
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
CALL_THRESHOLDS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40]


def marker(*keys):
    return [f"marker.{key}" for key in keys]


LAWS = {"none": marker("law=none"), "l4span": marker("law=l4span"), "tide": marker("law=tide")}
MODES = {
    "none": marker("law=none"),
    "tide": marker("law=tide"),
    "delay first, 5QI 80": [*marker("law=tide", "mode=delay-first"), "ue.0.five_qi=80"],
    "throughput first": marker("law=tide", "mode=throughput-first"),
    "throughput_loss = 0.01": marker("law=tide", "throughput_loss=0.01"),
}


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
    """Prints a row for each preset and senders, with a column a law or mode."""
    row("preset", "senders", *columns)
    row("---", "---", *["---" for _ in columns])
    for preset in presets:
        for senders in SENDERS:
            all_figures = [run(preset, senders, seeds, "duration=40 s", "warmup=15 s", *keys) for keys in columns.values()]
            row(preset, senders, *(f"{rate:.1f} at {mean:.1f} / {p95:.0f}" for rate, mean, p95 in all_figures))


def call(seeds):
    """Prints what thresholds leave a call in a narrow cell, and what a sender has that is told the capacity."""
    row("preset", "sender", "law", "Mbit/s", "mean, ms", "p95, ms", "rate, % of unmarked", "p95, of unmarked")
    row(*["---"] * 8)
    for preset in ("5g-walking", "5g-driving"):
        thresholds = [("scream", f"tide, {ms} ms", marker("law=tide", f"tau_s={ms} ms")) for ms in CALL_THRESHOLDS]
        told = ("oracle", "none", [*marker("law=none"), 'ue.0.anbr={ exact = true, window = "5 ms" }'])
        unmarked = None
        for sender, law, keys in [("scream", "none", marker("law=none")), *thresholds, told]:
            figures = run(preset, sender, seeds, "duration=60 s", "warmup=20 s", "cell.prbs=10", *keys)
            unmarked = unmarked or figures
            rate, mean, p95 = figures
            shares = f"{100 * rate / unmarked[0]:.0f}", f"1/{unmarked[2] / p95:.1f}"
            row(preset, sender, law, f"{rate:.2f}", f"{mean:.1f}", f"{p95:.1f}", *shares)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("table", choices=["laws", "modes", "call"])
    arguments.add_argument("--seeds", type=int, default=3)
    options = arguments.parse_args()
    if options.table == "laws":
        compare(LAWS, ["5g-static", "5g-walking", "5g-driving", "5g-wide", "lte-edge"], options.seeds)
    elif options.table == "modes":
        compare(MODES, ["5g-walking", "5g-driving", "5g-static"], options.seeds)
    else:
        call(options.seeds)


if __name__ == "__main__":
    main()
