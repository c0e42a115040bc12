#!/usr/bin/env python3
"""Prints what overload.csv and loss.csv have as tables, medians over the seeds, without protection and with it:

    python3 results/overload/tables.py
"""

import argparse
import csv
import pathlib
import statistics

HERE = pathlib.Path(__file__).resolve().parent


def rows(name, first, second):
    """Rows of a file's runs, by two of its columns and protection."""
    runs = {}
    with open(HERE / name, newline="") as file:
        for row in csv.DictReader(file):
            runs.setdefault((row[first], row[second], row["protection"] == "true"), []).append(row)
    return runs


def median(runs, column):
    """Median of a column over the seeds."""
    return statistics.median(float(row[column]) for row in runs)


def pair(runs, first, second, column, form):
    """Medians of a column without and with protection, as text."""
    return " → ".join(form.format(median(runs[first, second, protection], column)) for protection in (False, True))


def table(runs, beside):
    """Table of every law beside one sender."""
    lines = [
        "| law | queue, median ms | queue, p99 ms | flood Mbit/s | beside Mbit/s | other UE Mbit/s |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for law in dict.fromkeys(law for law, _, _ in runs):
        cells = [
            pair(runs, law, beside, "flood_queue_p50_ms", "{:.0f}"),
            pair(runs, law, beside, "flood_queue_p99_ms", "{:.0f}"),
            pair(runs, law, beside, "flood_mbps", "{:.1f}"),
            pair(runs, law, beside, "beside_mbps", "{:.2f}"),
            pair(runs, law, beside, "elsewhere_mbps", "{:.1f}"),
        ]
        lines.append(f"| `{law}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def loss():
    """Table of senders whose radio loses nearly all of its rate."""
    runs = rows("loss.csv", "sender", "round_trip")
    lines = [
        "| sender | round trip | queue, median ms | queue, p99 ms | packets dropped | Mbit/s |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for sender, round_trip in dict.fromkeys((sender, round_trip) for sender, round_trip, _ in runs):
        cells = [
            pair(runs, sender, round_trip, "queue_p50_ms", "{:.0f}"),
            pair(runs, sender, round_trip, "queue_p99_ms", "{:.0f}"),
            pair(runs, sender, round_trip, "dropped", "{:.0f}"),
            pair(runs, sender, round_trip, "mbps", "{:.2f}"),
        ]
        lines.append(f"| {sender} | {round_trip} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    """Prints a table for each sender beside the flood, and the one of lost capacity."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    runs = rows("overload.csv", "law", "beside")
    for beside in dict.fromkeys(beside for _, beside, _ in runs):
        print(f"Beside {beside}\n\n{table(runs, beside)}\n")
    print(f"Loss of capacity\n\n{loss()}")


if __name__ == "__main__":
    main()
