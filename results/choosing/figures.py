"""Prints the figures behind docs/measured/choosing.md, worked out from choosing.csv, the table of the study scenarios/studies/choosing.toml:

    python3 results/choosing/figures.py

The runs of one seed have the same radio and the same background under every mechanism, so a difference between two mechanisms is
taken seed by seed, and only then over the seeds.
"""

import argparse
import csv
import math
import pathlib
import statistics

HERE = pathlib.Path(__file__).parent
# Half-width of a 95 % confidence interval in standard errors, of five values (Student's t with four degrees of freedom).
SURE = 2.776
SETTINGS = ("alone", "light", "heavy", "driving")
MEAN, P99, FRAME_P99, RATE = "owd_ms.mean", "owd_ms.p99", "media.delay_ms.p99", "sum(throughput_mbps)"


def parameter(row):
    """Parameter of a row as one text: what a recommendation aims at, its window, or the thresholds of the marks."""
    for key in ("ue.glasses.anbr.queue_target", "ue.glasses.anbr.window"):
        if row[key]:
            return row[key]
    low, high = row["marker.low"] or row["marker.ramp.low"], row["marker.high"] or row["marker.ramp.high"]
    return f"{low.removesuffix(' ms')}-{high}"


def read():
    """Gives by setting, mechanism and parameter, in the file's order, the figures of each seed."""
    points = {}
    with open(HERE / "choosing.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            curve = points.setdefault(row["setting"], {}).setdefault(row["mechanism"], {})
            point = curve.setdefault(parameter(row), {})
            for figure in (MEAN, P99, FRAME_P99, RATE):
                point.setdefault(figure, []).append(float(row[figure]))
    return points


def error(values):
    """The standard error of their mean."""
    return statistics.stdev(values) / math.sqrt(len(values))


def at(curve, figure, most):
    """The throughputs, seed by seed, where the mean over seeds of a curve's delay passes `most`; None if it nowhere does."""
    found = []
    points = list(curve.values())
    for one, other in zip(points, points[1:]):
        low, high = (math.log(statistics.mean(point[figure])) for point in (one, other))
        if min(low, high) <= math.log(most) <= max(low, high):
            part = (math.log(most) - low) / (high - low)
            found.append([a + part * (b - a) for a, b in zip(one[RATE], other[RATE])])
    return max(found, key=statistics.mean, default=None)


def difference(ours, theirs, unit=""):
    """`ours` less `theirs`, seed by seed: mean and confidence, a tie in brackets; in percent of `theirs` if the unit says so."""
    scale = 100.0 / statistics.mean(theirs) if unit == "%" else 1.0
    differences = [scale * (a - b) for a, b in zip(ours, theirs)]
    mean, sure = statistics.mean(differences), SURE * error(differences)
    text = f"{mean:+.2f} ± {sure:.2f}" if unit != "%" else f"{mean:+.1f} ± {sure:.1f}"
    return text if abs(mean) > sure else f"({text})"


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def absolute(values, digits=1):
    return f"{statistics.mean(values):.{digits}f} ± {error(values):.{digits}f}"


def at_the_same_delay(points, figure, delays, name):
    for setting, curves in points.items():
        print(f"{setting.capitalize()}, Mbit/s at {name} of\n")
        rows = []
        base = {delay: at(curves["L4S"], figure, delay) for delay in delays}
        rows.append(["L4S"] + [absolute(base[delay]) if base[delay] else "–" for delay in delays])
        for mechanism, curve in curves.items():
            if mechanism in ("L4S", "ANBR", "L4S at the UPF"):
                continue
            row = [f"{mechanism}, beside L4S"]
            for delay in delays:
                ours = at(curve, figure, delay)
                row.append(difference(ours, base[delay]) if ours and base[delay] else "–")
            rows.append(row)
        table([""] + [f"{delay} ms" for delay in delays], rows)


def at_the_same_thresholds(points, mechanism):
    rows = []
    for setting, curves in points.items():
        for parameter, point in curves[mechanism].items():
            base = curves["L4S"][parameter]
            row = [f"{setting}, {parameter}", difference(point[MEAN], base[MEAN]), difference(point[P99], base[P99])]
            rows.append([*row, difference(point[RATE], base[RATE], "%")])
    table(["", "mean delay, ms", "99th percentile, ms", "throughput, %"], rows)


def what_is_left(points):
    rows = []
    for mechanism in ("L4S", "hybrid (larger rate)", "queue-aware ANBR"):
        for parameter in points["alone"][mechanism]:
            row = [f"{mechanism}, {parameter}"]
            for curves in points.values():
                row.append(difference(curves[mechanism][parameter][RATE], curves["ANBR"]["20 ms"][RATE], "%"))
            rows.append(row)
    table(["", *points], rows)


def every_point(points, mechanisms):
    rows = []
    for setting, curves in points.items():
        for mechanism in mechanisms:
            for parameter, point in curves[mechanism].items():
                rows.append([f"{setting}, {mechanism}, {parameter}", *(absolute(point[f]) for f in (MEAN, P99, FRAME_P99)), absolute(point[RATE], 2)])
    table(["", "mean delay, ms", "99th percentile, ms", "frames' 99th, ms", "Mbit/s"], rows)


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    points = read()
    print("# Which should I deploy: the figures\n")
    print("A figure has its standard error over five seeds. A difference is taken seed by seed, has its 95 % confidence interval, and is in brackets if that includes none: a tie.\n")
    print("## Throughput at the same mean delay\n\nBetween points of a curve the throughput follows the logarithm of the delay; – where a curve does not get there.\n")
    at_the_same_delay(points, MEAN, (21, 25, 35, 60, 100), "a mean delay")
    print("## Throughput at the same 99th percentile\n")
    at_the_same_delay(points, P99, (60, 90, 120, 160, 200), "a 99th percentile")
    print("## Throughput at the same 99th percentile of frames\n\nFrom capture to the last packet's arrival, the wait at the sender included.\n")
    at_the_same_delay(points, FRAME_P99, (90, 120, 150, 180, 240), "a 99th percentile of frames")
    print("## What a mechanism leaves of what fits\n\nBeside ANBR with a window of 20 ms, whose queue never empties: throughput, %.\n")
    what_is_left(points)
    for mechanism in ("hybrid (larger rate)", "hybrid (gradual)", "L4S at the UPF"):
        print(f"## {mechanism} beside L4S at the same thresholds\n")
        at_the_same_thresholds(points, mechanism)
    print("## Every point of L4S and of what follows recommendations\n")
    every_point(points, ("L4S", "ANBR", "queue-aware ANBR"))


if __name__ == "__main__":
    main()
