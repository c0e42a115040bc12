#!/usr/bin/env python3
"""Measures the live cell's cost and capacity, and those of an empty forwarder: the figures of docs/measured/performance.md.

Run as root: unshare --net -- tests/live/performance.py. Prints a table; asserts nothing, since machines differ.
"""

import argparse
import json
import pathlib
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "target/dist"
UE, SECONDS = "100.96.0.2", 6
# What the preset carries; beyond it the same cell has a band of its own for the downlink (FDD).
MOST_TDD = 1500
# A socket that takes packets and is never read: the receiver costs nothing.
SINK = ["python3", "-c", "import socket, time; s = socket.socket(2, 2); s.bind(('', 9)); time.sleep(%d)" % (SECONDS + 2)]


def load(rate):
    time.sleep(1)
    done = subprocess.run([BUILT / "examples/load", UE, str(rate), str(SECONDS)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def through_cell(rate):
    with tempfile.TemporaryDirectory() as folder:
        # So good a channel that no block fails: what is lost, the machine lost.
        options = ["--cell", "5g-wide", "--set", "ue.0.channel.snr_db=50", "--set", "marker.law=l4span", "--out", folder]
        if rate > MOST_TDD:
            options += ["--set", "cell.duplex=fdd"]
        cell = subprocess.Popen([BUILT / "tidemark", "shell", *options, "--", *SINK], stderr=subprocess.PIPE)
        sent = load(rate)
        cell.communicate(timeout=30)
        summary = json.loads((pathlib.Path(folder) / "summary.json").read_text())
    live, flow = summary["live"], max(summary["flows"], key=lambda flow: flow["sent_packets"])
    late = live["lateness_us"]
    lost = sent["sent"] - flow["sent_packets"] + flow["dropped"]
    # The thread also waited before and after: its processor time over the seconds of load.
    busy = live["busy"] * summary["duration_s"] / sent["seconds"]
    return sent, lost, busy, [late[key] for key in ("p50", "p99", "p999", "max")]


def through_forwarder(rate):
    forwarder = subprocess.Popen(
        [BUILT / "examples/forward", str(SECONDS + 2), *SINK], stdout=subprocess.PIPE, text=True
    )
    sent = load(rate)
    seen = json.loads(forwarder.communicate(timeout=30)[0])
    return sent, max(0, sent["sent"] - seen["packets"]), seen["busy_s"] / sent["seconds"]


def pings():
    """Round trip through the forwarder: only two passages."""
    forwarder = subprocess.Popen([BUILT / "examples/forward", "4", "sleep", "4"], stdout=subprocess.PIPE)
    time.sleep(0.5)
    text = subprocess.run(["ping", "-q", "-i", "0.01", "-c", "200", UE], capture_output=True, text=True).stdout
    forwarder.communicate(timeout=30)
    return float(re.search(r"= ([\d.]+)/([\d.]+)/", text).group(2)) * 1e3


def rate(sent):
    return sent["sent"] * 1400 * 8e-6 / sent["seconds"]


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    print(f"forwarder that does nothing: mean ping {pings():.0f} us")
    print("| offered Mbit/s | packets/s | forwarder: lost | processor % | cell: lost | processor % | late p50 us | p99 | p99.9 | max |")
    print("| --- " * 10 + "|")
    for offered in (40, 200, 600, 1000, 1200, MOST_TDD, 1800, 2100):
        nothing = through_forwarder(offered)
        sent, lost, busy, late = through_cell(offered)
        row = [f"{rate(sent):.0f}", f"{sent['sent'] / sent['seconds']:.0f}", nothing[1], f"{nothing[2] * 100:.0f}",
               lost, f"{busy * 100:.0f}", *(f"{value:.0f}" for value in late)]  # fmt: skip
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


main()
