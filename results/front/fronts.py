#!/usr/bin/env python3
"""Prints tables of fronts, which `tidemark run --front` wrote. Needs nothing but Python.

python3 results/front/fronts.py distances results/front/thresholds.csv
python3 results/front/fronts.py pairs results/front/downlink.csv results/front/acknowledgements.csv

Several files join into one table. `distances` takes the rates that Prague's thresholds have at the oracle's mean
queue, between two of them in a straight line over the logarithm of the queue; `pairs` compares the runs of a second file, and of those after it, with those of the first. Ratios are taken seed by seed, since runs of one seed have the same radio; ± is half of the interval of 95 %.
"""

import argparse
import csv
import math
import statistics
from pathlib import Path

# Quantiles 0.975 of Student's t, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
RATE, MEAN, P99 = "cell.throughput_mbps", "bearer.queue_ms.mean", "bearer.queue_ms.p99"


def load(files):
    """Runs by setting (channel, UEs, round trip), sender and law, then by seed. A later file wins."""
    runs = {}
    for file in files:
        for row in csv.DictReader(Path(file).read_text().splitlines()):
            setting = row["channel"], row["ues"], row["round_trip"]
            runs.setdefault(setting, {}).setdefault((row["senders"], row["law"]), {})[row["seed"]] = row
    return runs


def estimate(values):
    """Mean, and half-width of its 95 % confidence interval; None for that of a single value."""
    values = list(values)
    degrees = len(values) - 1
    half = STUDENT[degrees] * statistics.stdev(values) / math.sqrt(len(values)) if degrees else None
    return statistics.fmean(values), half


def shown(values, digits=1):
    mean, half = estimate(values)
    return f"{mean:.{digits}f}" if half is None else f"{mean:.{digits}f} ± {half:.{digits}f}"


def column(seeds, metric):
    return [float(row[metric]) for row in seeds.values()]


def cell(seeds):
    """Rate at mean / 99th percentile of the queue."""
    return f"{shown(column(seeds, RATE))} at {shown(column(seeds, MEAN))} / {estimate(column(seeds, P99))[0]:.0f}" if seeds else "–"


def ratio(ours, theirs, metric):
    """Ratio seed by seed, over the seeds that both have; a tie where its interval has 1."""
    values = [float(ours[seed][metric]) / float(theirs[seed][metric]) for seed in ours if seed in theirs]
    mean, half = estimate(values)
    tie = half is not None and abs(mean - 1) <= half
    return ("tie: " if tie else "") + shown(values, 3 if metric == RATE else 2)


def table(heading, rows):
    print("| " + " | ".join(heading) + " |")
    print("|" + " --- |" * len(heading))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def point_at(queue, front):
    """Queue and rate of a front, of pairs of both, at a queue; its nearest end beyond it."""
    front = sorted(front)
    queue = min(max(queue, front[0][0]), front[-1][0])
    for (low, below), (high, above) in zip(front, front[1:]):
        # Several thresholds may come to one point.
        if low < high and queue <= high:
            return queue, below + (above - below) * math.log(queue / low) / math.log(high / low)


def distances(files):
    """Gives a row a channel and round trip: the oracle, Prague's fronts at its queue, and what a hint closes."""
    for (channel, _, round_trip), points in load(files).items():
        means = {key: [estimate(column(seeds, metric))[0] for metric in (MEAN, RATE)] for key, seeds in points.items()}
        queue, rate = means["oracle", "none"]
        alone, hinted = (point_at(queue, [mean for (of, _), mean in means.items() if of == sender]) for sender in ("prague", "prague-hint"))
        share = f"{100 * (hinted[1] - alone[1]) / (rate - alone[1]):.0f} %" if rate > 1.01 * alone[1] else "none is there"
        # A front that begins beyond the oracle's queue says where.
        found = (f"{rate:.1f}" if at == queue else f"{rate:.1f} at {at:.1f}" for at, rate in (alone, hinted))
        yield channel, round_trip, cell(points["oracle", "none"]), *found, share


def pairs(files):
    """Gives a row a setting and sender: ratios of the runs of later files over those of the first."""
    first, *others = files
    theirs = load([first])
    for file in others:
        for setting, points in load([file]).items():
            for (sender, law), ours in points.items():
                if sender != "oracle":
                    base = theirs[setting][sender, law]
                    ratios = (ratio(ours, base, metric) for metric in (RATE, MEAN, P99))
                    yield Path(file).stem, setting[0], setting[2], sender, cell(base), cell(ours), *ratios


HEADINGS = {
    "distances": ["channel", "round trip", "oracle", "Prague's front there", "with a hint", "distance that the hint closes"],
    "pairs": ["runs", "channel", "round trip", "sender", "first file", "these runs", "rate", "mean", "p99"],
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=list(HEADINGS))
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    table(HEADINGS[arguments.table], {"distances": distances, "pairs": pairs}[arguments.table](arguments.files))
