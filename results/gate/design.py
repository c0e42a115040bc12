#!/usr/bin/env python3
"""Draws the sample of the gate's product, and writes points.csv: python3 results/gate/design.py

The product has 27,648 points. Each half is a fraction of it in which every pair of levels occurs about as often as the
weights below ask for: of 300 draws the one is taken whose pairs are rarest so far. Halves differ in their draws, radio, drives
and seeds.
"""

import argparse
import itertools
import random

import points

SIZE = 120
DRAWS = 300

# Levels of a factor with their weights. Reports: with each transmission (0), or by the clock, as shipped gNBs have it every 5 ms.
FACTORS = {
    "cell": {(20, 1): 1, (20, 4): 1, (40, 1): 1, (40, 4): 1, (100, 1): 1, (100, 4): 1},
    "ues": {1: 1, 4: 1, 16: 1, 64: 1},
    "placement": {"alone": 1, "other": 1, "shared": 1},
    "channel": {"static": 1, "pedestrian": 1, "vehicular": 1, "trace": 1},
    "sender": {"prague": 3, "udp-prague": 2, "scream": 1.5, "cubic": 1.5, "reno": 1, "bbr-v3": 1},
    "trip": {"10": 1, "38": 1, "106": 1, "mixed": 1},
    "report_ms": {0: 3, 0.5: 1, 5: 3, 50: 1},
}
# Radio of a half: SNR in dB and speed in km/h of each model, files of drives, round trips of the sender and of CUBIC that are
# mixed in one DRB.
HALVES = {
    "choosing": {
        "static": (22, ""),
        "pedestrian": (22, 3),
        "vehicular": (22, 70),
        "drives": ("ie-5g-driving-1.csv:dl_kbps", "drp_munich_autobahn.csv", "ie-5g-static-1.csv:dl_kbps"),
        "mixed": (("10", "106"), ("38", "10")),
    },
    "reporting": {
        "static": (16, ""),
        "pedestrian": (18, 5),
        "vehicular": (18, 40),
        "drives": ("us-5g-driving-handover.csv:throughput_mbps", "drp_munich_village.csv", "ATT-LTE-driving-2016.down"),
        "mixed": (("106", "10"), ("10", "38")),
    },
}


def is_possible(levels):
    """True for a point that means something: CUBIC stands beside others, and a trace is the rate of a few UEs in whatever cell."""
    if levels["sender"] == points.BESIDE and levels["placement"] != "alone":
        return False
    if levels["channel"] == "trace" and (levels["ues"] > 4 or levels["cell"] != (20, 1)):
        return False
    return levels["trip"] != "mixed" or levels["placement"] != "alone" or levels["ues"] > 1


def pairs(levels):
    """Pairs of levels of two factors."""
    return list(itertools.combinations(levels.items(), 2))


def share(pair):
    """Share of the points that a pair should have, if every combination were possible."""
    product = 1
    for factor, level in pair:
        product *= FACTORS[factor][level] / sum(FACTORS[factor].values())
    return product


def draw(stream):
    """Levels of one possible point."""
    while True:
        levels = {factor: stream.choices(list(weights), weights.values())[0] for factor, weights in FACTORS.items()}
        if is_possible(levels):
            return levels


def sample(stream):
    """Levels of the points of a half."""
    counts, chosen = {}, []
    while len(chosen) < SIZE:
        candidates = [levels for levels in (draw(stream) for _ in range(DRAWS)) if levels not in chosen]
        crowding = lambda levels: sum((counts.get(pair, 0) + 1) / share(pair) for pair in pairs(levels))
        best = min(candidates, key=crowding)
        chosen.append(best)
        for pair in pairs(best):
            counts[pair] = counts.get(pair, 0) + 1
    return chosen


def time(levels):
    """Seconds of a run and of its start that does not count.

    Short round trips have settled after 4 s. Over 106 ms a sender takes some 60 round trips to get there, mixed ones too.
    Drives last a minute, so that outages are in it.
    """
    if levels["channel"] == "trace":
        return 60, 10
    return (24, 10) if levels["trip"] in ("106", "mixed") else (12, 4)


def point(half, number, levels, drives, mixed):
    """Point of levels, with the radio of its half and the next of its drives and mixed round trips."""
    channel, placement, trip = levels["channel"], levels["placement"], levels["trip"]
    drive = next(drives) if channel == "trace" else ""
    snr, speed = ("", "") if drive else HALVES[half][channel]
    own, beside = (trip, "") if trip != "mixed" else ("10+38+106", "")
    if trip == "mixed" and placement == "shared":
        own, beside = next(mixed)
    ues = max(levels["ues"], 2) if placement == "other" else levels["ues"]
    if trip == "mixed" and placement == "other" and ues < 6:
        # Each side of a few UEs has one or two turns: whole ranges apart.
        own, beside = ("10+106", "106+10") if ues > 2 else ("10", "106")
    cell = levels["cell"]
    id = f"{half[0]}{number + 1:03}"
    seconds, warmup = time(levels)
    radio = channel, str(snr), str(speed), drive
    return points.Point(half, id, *cell, ues, placement, *radio, levels["sender"], own, beside, levels["report_ms"], seconds, warmup)


def main():
    """Writes both halves."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    both = []
    for half, radio in HALVES.items():
        turns = itertools.cycle(radio["drives"]), itertools.cycle(radio["mixed"])
        chosen = sample(random.Random(f"gate {half}"))
        both += [point(half, number, levels, *turns) for number, levels in enumerate(chosen)]
    points.save(both)


if __name__ == "__main__":
    main()
