#!/usr/bin/env python3
"""Chooses what the thesis leaves open, jointly, on one half of the rows of its tables 5.1 and 5.2, and shows it on the other.

python3 results/papers/readings/anbr.py --seeds 8 > results/papers/readings/anbr.csv
python3 results/papers/readings/anbr.py --seeds 40 --only "wire 4 ms, at once, capacity, headers once, whole" > results/papers/readings/anbr-chosen.csv

A candidate is a wire, frames or a stream, what is recommended, how headers count, and whole slots or groups of resource blocks. Each has the mean of |ln(ours / published)|
over delays and rates of each half. Rows alternate between the halves in the order of the tables, the same in both of them.
"""

import argparse
import csv
import itertools
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[3]
SCENARIO = ROOT / "scenarios/papers/anbr.table5.toml"

THRESHOLDS = {"5-7": (5, 7), "7-15": (7, 15), "10-20": (10, 20), "15-20": (15, 20), "15-30": (15, 30), "30-50": (30, 50), "60-100": (60, 100)}
WINDOWS = (40, 100, 200)
# Delay in ms and rate of both streams in Mbit/s, low and high load.
PUBLISHED = {
    "l4s 5-7": ((13.3058, 45.3942), (13.8683, 41.0474)),
    "l4s 7-15": ((13.315, 45.3865), (13.91, 41.0684)),
    "l4s 10-20": ((14.2567, 47.3174), (14.4617, 41.6686)),
    "l4s 15-20": ((16.14, 50.3197), (16.425, 43.4287)),
    "l4s 15-30": ((17.5792, 51.7716), (18.7508, 44.8084)),
    "l4s 30-50": ((20.1592, 53.2228), (25.1492, 46.5883)),
    "l4s 60-100": ((20.9258, 53.5521), (29.995, 47.1761)),
    "hybrid 5-7": ((14.5692, 47.4894), (14.1808, 41.364)),
    "hybrid 7-15": ((14.6642, 47.6356), (14.2542, 41.5475)),
    "hybrid 10-20": ((15.4175, 48.7866), (14.8742, 42.3304)),
    "hybrid 15-20": ((17.4942, 51.1112), (17.0875, 44.4244)),
    "hybrid 15-30": ((18.9275, 52.2493), (19.53, 45.7337)),
    "hybrid 30-50": ((25.8458, 54.4932), (27.6842, 48.2587)),
    "anbr 40": ((47.2117, 56.6267), (49.5242, 49.5788)),
    "anbr 100": ((52.5983, 56.6751), (74.8183, 49.7104)),
    "anbr 200": ((67.8483, 56.8589), (104.2233, 49.7621)),
}
LOADS = {
    "low": ["flow.background.app.rate=30 Mbit/s"],
    "high": [
        'ue.*.channel={ model = "fixed", rate = "62.4 Mbit/s" }',
        'flow.background.app={ app = "on-off", rate = "16.5 Mbit/s", on = { law = "exponential", mean = "60 ms" }, '
        'off = { law = "exponential", mean = "30 ms" } }',
    ],
}
FRAMES = {
    "paced": ["flow.video.app.frame_rate=240", "flow.video.sender.pacing=1"],
    "at once": ["flow.video.app.frame_rate=60", "flow.video.sender.pacing=10"],
}
SLOTS = {"whole": "275", "groups": "4"}
METRICS = ("owd_ms.mean", "sum(throughput_mbps)")
WIRES = (3, 4, 5, 10)
ESTIMATES = ("delivered", "capacity")


def overrides(row, estimate, headers):
    """Settings of a row of the tables."""
    kind, name = row.split()
    anbr = f'estimate = "{estimate}", exact = true, segment_headers = {str(headers).lower()} }}'
    if kind == "anbr":
        return ['marker={ law = "none" }', "flow.video.sender.rule=follow", f'ue.video.anbr={{ window = "{name} ms", {anbr}']
    low, high = THRESHOLDS[name]
    marks = [f"marker.low={low} ms", f"marker.high={high} ms"]
    return marks if kind == "l4s" else [*marks, f'ue.video.anbr={{ window = "40 ms", {anbr}']


def run(tidemark, settings, seeds):
    """Mean delay in ms and rate of both streams in Mbit/s of a setting."""
    with tempfile.TemporaryDirectory() as folder:
        command = [tidemark, "run", SCENARIO, "--vary", "sample_interval=100 ms", "--seeds", str(seeds), "--flow", "video"]
        command += ["--out", f"{folder}/out"]
        for metric in METRICS:
            command += ["--metric", metric]
        for setting in settings:
            command += ["--set", setting]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        with open(f"{folder}/out/table.csv", newline="") as table:
            runs = list(csv.DictReader(table))
    return tuple(statistics.fmean(float(each[metric]) for each in runs) for metric in METRICS)


def main():
    """Writes a row a candidate and row of the tables, and the halves' means to standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--tidemark", default=ROOT / "target/release/tidemark")
    parser.add_argument("--only", default="", metavar="WORDS", help="candidates with these words alone")
    options = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["wire_ms", "frames", "estimate", "headers", "slots", "load", "row", "half", "owd_ms", "published_owd_ms", "mbps", "published_mbps"])
    for wire, frames, estimate, headers, slots in itertools.product(WIRES, FRAMES, ESTIMATES, (False, True), SLOTS):
        name = f"wire {wire} ms, {frames}, {estimate}, headers {'once' if headers else 'all'}, {slots}"
        if options.only not in name:
            continue
        distances = {"choosing": [], "reporting": []}
        for (number, (row, published)), (load, own) in itertools.product(enumerate(PUBLISHED.items()), enumerate(LOADS)):
            half = ("choosing", "reporting")[number % 2]
            settings = [*LOADS[own], *FRAMES[frames], f"flow.*.round_trip={2 * wire} ms", f"cell.rbg_size={SLOTS[slots]}", *overrides(row, estimate, headers)]
            ours = run(options.tidemark, settings, options.seeds)
            distances[half] += [abs(math.log(mine / theirs)) for mine, theirs in zip(ours, published[load], strict=True)]
            writer.writerow([wire, frames, estimate, headers, slots, own, row, half, f"{ours[0]:.2f}", published[load][0], f"{ours[1]:.2f}", published[load][1]])
        means = ", ".join(f"{half} {statistics.fmean(values):.3f}" for half, values in distances.items())
        print(f"{name}: {means}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
