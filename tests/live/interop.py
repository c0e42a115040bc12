#!/usr/bin/env python3
"""Measures real senders behind the live cell, law by law, and the same cell simulated: the tables of docs/measured/live.md.

Run as root: unshare --net --mount -- target/live-venv/bin/python tests/live/interop.py [--runs N] [KIND ...]. KIND is `kernel`
(iperf3 over the kernel's CUBIC, Reno and BBR) or `pair` (`tidemark net send` and `receive`).
A figure is the mean over N live runs, and over the seeds 1 to N of the simulator, in brackets the least and the most. Simulated "timers" has a
wired path with the jitter of a host's timers.
"""

import argparse
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from agreement import ROOT, TIDEMARK

ROUND_TRIP, SECONDS, WARMUP = "20 ms", 14, 4
# Deviation of a wired path that stands for the host's timers, which move packets by some tenths of a millisecond.
TIMERS = "300 us"
CHANNELS = {"still": "5g-static", "walking": "5g-walking"}
# A step at 1 ms lies below what the TDD pattern alone makes packets wait (docs/concepts/life-of-a-report.md).
STEP = ["--set", "marker.threshold=10 ms"]
OPTIONS = {"none": [], "l4span": [], "ramp": ["--set", "marker.classic=true"], "step": STEP}
KERNEL = {"CUBIC": "cubic", "Reno": "reno", "BBR": "bbr"}
SIMULATED = {"CUBIC": "cubic", "Reno": "reno", "BBR": "bbr-v1", "UDP Prague": "udp-prague"}


def law_options(law):
    return ["--set", f"marker.law={law}", *OPTIONS[law]]


def figures(summary):
    """Rate, median and 95th percentile of the queue's delay, and the marked share of packets in percent."""
    ue, flow = summary["ues"][0], max(summary["flows"], key=lambda flow: flow["throughput_mbps"])
    return ue["throughput_mbps"], ue["queue_ms"]["p50"], ue["queue_ms"]["p95"], 100 * ue["marked"] / max(1, flow["sent_packets"])


def cell(law, channel, folder, command, *options):
    """Starts a `tidemark shell` that writes its results to `folder`."""
    # Late, as below: the tests' modules need pytest, which who asks for --help may not have.
    from conftest import Shell

    preset = ["--cell", CHANNELS[channel], "--round-trip", ROUND_TRIP, "--set", f"warmup={WARMUP} s", *law_options(law), *options]
    return Shell(*preset, command=command, out=folder)


def finish(cell, expected=0):
    if cell.finish(timeout=SECONDS + 40) != expected:
        sys.exit(f"the cell ended with {cell.process.returncode}: {cell.stdout}{cell.stderr}")
    return cell.summary()


def kernel(sender, law, channel, folder):
    """A download over the kernel's TCP with classic ECN."""
    from conftest import GATEWAY
    from test_iperf3 import serve

    server = serve()
    client = f"exec iperf3 --client {GATEWAY} --reverse --time {SECONDS} --congestion {KERNEL[sender]}"
    try:
        command = ["sh", "-c", f"echo 1 > /proc/sys/net/ipv4/tcp_ecn; {client} > /dev/null"]
        return figures(finish(cell(law, channel, folder, command)))
    finally:
        server.terminate()
        server.communicate(timeout=10)


def pair(sender, law, channel, folder):
    """A download between our own ends on real sockets."""
    from conftest import GATEWAY

    time = ["--time", f"{SECONDS} s", "--patience", "20 s"]
    command = [str(TIDEMARK), "net", "receive", f"{GATEWAY}:4000", "--controller", SIMULATED[sender], *time]
    started = cell(law, channel, folder, command)
    server = subprocess.Popen(
        [TIDEMARK, "net", "send", "--listen", "4000", "--controller", SIMULATED[sender], *time], stdout=subprocess.DEVNULL
    )
    try:
        return figures(finish(started))
    finally:
        server.terminate()
        server.wait(timeout=10)


def simulated(sender, law, channel, seed, jitter, folder):
    """Simulates cell, law and sender in virtual time, over a wired path with this jitter."""
    file = folder / "interop.toml"
    preset = ROOT / "scenarios/live" / f"{CHANNELS[channel]}.toml"
    ends = "" if sender == "UDP Prague" else ', tcp = { ecn = "classic" }'
    file.write_text(f"""{preset.read_text()}
[[flow]]
name = "flow"
ue = "ue"
round_trip = "{ROUND_TRIP}"
jitter = "{jitter}"
sender = {{ controller = "{SIMULATED[sender]}"{ends} }}
""")
    times = ["--set", f"seed={seed}", "--set", f"duration={SECONDS} s", "--set", f"warmup={WARMUP} s"]
    command = [TIDEMARK, "run", file, *times, *law_options(law), "--out", folder / "run"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}: {done.stderr}")
    return figures(json.loads((folder / "run/summary.json").read_text()))


def cells(runs):
    """A cell of the table for each figure: the mean and the range of the runs."""
    forms = "{:.1f}", "{:.1f}", "{:.1f}", "{:.2f}"

    def text(form, values):
        low, high = form.format(min(values)), form.format(max(values))
        return form.format(statistics.mean(values)) + ("" if low == high else f" ({low} to {high})")

    return [text(form, values) for form, values in zip(forms, zip(*runs))]


KINDS = {
    "kernel": (kernel, KERNEL, ("none", "l4span", "ramp")),
    "pair": (pair, ("UDP Prague",), ("none", "l4span", "ramp", "step")),
}
FIGURES = ["Mbit/s", "queue p50, ms", "p95, ms", "marked %"]


def row(*texts):
    print("| " + " | ".join(texts) + " |", flush=True)


def table(kind, runs):
    """Prints the rows of one kind of sender as they are measured."""
    live, senders, laws = KINDS[kind]
    heading = ["sender", "channel", "law", "ends", *FIGURES]
    row(*heading)
    row(*["---"] * len(heading))
    for sender, channel, law in itertools.product(senders, CHANNELS, laws):
        kinds = {"live": lambda folder, _: live(sender, law, channel, folder)}
        for name, jitter in (("simulated", "0 s"), ("simulated, timers", TIMERS)):
            kinds[name] = lambda folder, seed, jitter=jitter: simulated(sender, law, channel, seed, jitter, folder)
        for ends, measure in kinds.items():
            measured = []
            for seed in range(1, runs + 1):
                with tempfile.TemporaryDirectory() as folder:
                    measured.append(measure(pathlib.Path(folder), seed))
            row(sender, channel, law, ends, *cells(measured))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=3, help="live runs of each row, and seeds of the simulator")
    arguments.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    options = arguments.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        sys.exit(f"no such kind: {', '.join(unknown)}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for kind in options.kinds or KINDS:
        table(kind, options.runs)
        print()


if __name__ == "__main__":
    main()
