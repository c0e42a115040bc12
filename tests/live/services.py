#!/usr/bin/env python3
"""Measures what marking leaves of the rate, and of the queue, of real senders that walk and drive: the table of modes in docs/measured/live.md.

Run as root: unshare --net --mount -- target/live-venv/bin/python tests/live/services.py [--runs N] [--seconds N] [--mode NAME=KEY=VALUE,... ...] [SENDER ...].
SENDER is `CUBIC` or `Reno` (iperf3 over the kernel's, with classic ECN) or `Chromium` (a call). A run without marks and one of each mode follow one another, N times;
the first third of each is left out. Shares are those of a run and of the one without marks before it.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile

import interop

CELLS = {"walking": "5g-walking", "driving": "5g-driving"}
MODES = {
    "l4span": ["law=l4span"],
    "tide": ["law=tide"],
    "throughput first": ["law=tide", "mode=throughput-first"],
}


def settings(keys):
    return [word for key in keys for word in ("--set", f"marker.{key}")]


def measure(sender, channel, keys, seed, seconds):
    """Rate, and median and 95th percentile of the queue, of one run."""
    options = [*settings(keys), "--set", f"seed={seed}", "--set", f"warmup={seconds // 3} s"]
    with tempfile.TemporaryDirectory() as folder:
        if sender == "Chromium":
            summary = call(pathlib.Path(folder), CELLS[channel], seconds, options)
        else:
            summary = download(interop.KERNEL[sender], pathlib.Path(folder), CELLS[channel], seconds, options)
    ue = summary["ues"][0]
    return ue["throughput_mbps"], ue["queue_ms"]["p50"], ue["queue_ms"]["p95"]


def download(controller, folder, preset, seconds, options):
    """Downloads over the kernel's TCP; gives the cell's summary."""
    from conftest import GATEWAY, Shell
    from test_iperf3 import serve

    server = serve()
    client = f"exec iperf3 --client {GATEWAY} --reverse --time {seconds} --congestion {controller} > /dev/null"
    try:
        started = Shell(
            "--cell", preset, "--round-trip", interop.ROUND_TRIP, *options,
            command=["sh", "-c", f"echo 1 > /proc/sys/net/ipv4/tcp_ecn; {client}"], out=folder,
        )  # fmt: skip
        if started.finish(timeout=seconds + 40) != 0:
            sys.exit(f"the cell ended with {started.process.returncode}: {started.stdout}{started.stderr}")
        return started.summary()
    finally:
        server.terminate()
        server.communicate(timeout=10)


def call(folder, preset, seconds, options):
    """Holds a call whose picture has noise; gives the cell's summary."""
    import test_chromium
    from conftest import Shell

    test_chromium.SECONDS = seconds
    summary, sent, _ = test_chromium.call(Shell, folder, "1280,720,30,noise", *options, preset=preset)
    if test_chromium.of_type(sent, "remote-inbound-rtp")["packetsWithBleachedEct1Marking"]:
        sys.exit("ECT(1) was bleached on the way")
    return summary


def shown(values, form="{:.1f}"):
    low, high = form.format(min(values)), form.format(max(values))
    return form.format(statistics.mean(values)) + ("" if low == high else f" ({low} to {high})")


def rows(sender, channel, modes, runs, seconds):
    """Prints a row without marks, and one a mode."""
    all_modes = {"none": ["law=none"], **modes}
    measured = {mode: [] for mode in all_modes}
    for seed in range(1, runs + 1):
        for mode, keys in all_modes.items():
            measured[mode].append(measure(sender, channel, keys, seed, seconds))
    unmarked = measured["none"]
    for mode, figures in measured.items():
        pairs = list(zip(figures, unmarked))
        rate = shown([100 * of[0] / by[0] for of, by in pairs], "{:.0f}")
        queue = shown([by[2] / of[2] for of, by in pairs])
        cells = [shown(values) for values in zip(*figures)]
        print("| " + " | ".join([sender, channel, mode, *cells, rate, f"1/{queue}"]) + " |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--seconds", type=int, default=45)
    arguments.add_argument("--mode", action="append", metavar="NAME=KEY=VALUE,...", help="keys of [marker], in place of the modes of the table")
    arguments.add_argument("--channel", action="append", choices=CELLS)
    arguments.add_argument("senders", nargs="*", metavar="SENDER", default=["CUBIC", "Chromium"])
    options = arguments.parse_args()
    modes = {name: keys.split(",") for name, keys in (mode.split("=", 1) for mode in options.mode)} if options.mode else MODES
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    print("| sender | channel | mode | Mbit/s | queue p50, ms | p95, ms | rate, % of unmarked | p95, of unmarked |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for sender in options.senders:
        for channel in options.channel or CELLS:
            rows(sender, channel, modes, options.runs, options.seconds)


if __name__ == "__main__":
    main()
