#!/usr/bin/env python3
"""Runs scenarios live and simulated, with our own endpoints: the table of docs/measured/live.md.

Run as root: unshare --net -- tests/live/agreement.py [--runs N] [CASE ...]. Each case is one scenario, which `tidemark run` simulates and
`tidemark shell` plays with `tidemark net send` and `tidemark net receive` in namespaces, N times with the seeds 1 to N. What is compared is counted by
the cell after the warm-up: the means of all runs. The exit code is 1 where they differ by more than they may: throughput 5 %, median
queue delay 1 ms or 15 %, marks 25 %.

Live, the sender begins when the receiver's first word reaches it, which came up in an uplink slot: always at the same place of the TDD
pattern, which frames at 60 a second keep. Each seed is simulated with several beginnings there, since one of them alone is as much a
matter of chance as one seed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = pathlib.Path(os.environ.get("TIDEMARK", ROOT / "target/release/tidemark"))
ROUND_TRIP, SECONDS, WARMUP = "20 ms", 30, 8
FIGURES = "throughput", "median queue delay", "marks"
# When the simulated senders begin, in microseconds. The TDD pattern has 5 ms, of which uplink packets leave the cell after 4.5; the wired
# path of 10 ms changes nothing of that, and the sender's process wakes about 0.1 ms later.
BEGINNINGS = [104_600 + 5_010 * step for step in range(8)]
BULK, VIDEO = '{ app = "bulk" }', '{ app = "video" }'
CL4S = '{ controller = "al4s", marking = { low = "5 ms", high = "10 ms" } }'

# Name: channel, law, sender, application.
CASES = {
    "UDP Prague, still, l4span": ('{ model = "static" }', "l4span", '{ controller = "udp-prague" }', BULK),
    "UDP Prague, still, ramp": ('{ model = "static" }', "ramp", '{ controller = "udp-prague" }', BULK),
    "UDP Prague, walking, l4span": ('{ model = "pedestrian" }', "l4span", '{ controller = "udp-prague" }', BULK),
    "UDP Prague, still, step": ('{ model = "static" }', "step", '{ controller = "udp-prague" }', BULK),
    "SCReAM, still, l4span": ('{ model = "static" }', "l4span", '{ controller = "scream" }', VIDEO),
    "SCReAM, walking, ramp": ('{ model = "pedestrian" }', "ramp", '{ controller = "scream" }', VIDEO),
    "sL4S, still, ramp": ('{ model = "static" }', "ramp", '{ controller = "al4s" }', VIDEO),
    "cL4S, still, ramp": ('{ model = "static" }', "ramp", CL4S, VIDEO),
}


def scenario(file, seed, channel, law, sender, app):
    end = f'--scenario "{file}" --patience "20 s" --time "{SECONDS} s"'
    file.write_text(f"""
name = "agreement"
seed = {seed}
duration = "{SECONDS} s"
warmup = "{WARMUP} s"
marker = {{ law = "{law}" }}
[[ue]]
name = "ue"
channel = {channel}
command = 'exec "{TIDEMARK}" net receive {end} $TIDEMARK_SERVER:4000'
[[server]]
name = "server"
command = 'exec "{TIDEMARK}" net send {end} --listen 4000'
[[flow]]
name = "flow"
ue = "ue"
round_trip = "{ROUND_TRIP}"
sender = {sender}
app = {app}
""")


def figures(folder):
    summary = json.loads((folder / "summary.json").read_text())
    ue = summary["ues"][0]
    return (ue["throughput_mbps"], ue["queue_ms"]["p50"], ue["marked"]), summary.get("live")


def run(*command):
    done = subprocess.run([TIDEMARK, *command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")


def simulate(case, seed):
    """Gives the cell's counts of the simulated runs with this seed."""
    simulated = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        scenario(folder / "agreement.toml", seed, *CASES[case])
        for start in BEGINNINGS:
            begins = f'flow.0.app.start="{start} us"'
            run("run", folder / "agreement.toml", "--set", begins, "--out", folder / "run", "--force")
            simulated.append(figures(folder / "run")[0])
    return simulated


def play(case, seed):
    """Gives the cell's counts of the live run with this seed, and the driver's lateness."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        scenario(folder / "agreement.toml", seed, *CASES[case])
        run("shell", folder / "agreement.toml", "--round-trip", ROUND_TRIP, "--out", folder / "live")
        return figures(folder / "live")


def disagreements(simulated, live):
    """Lists the means that differ by more than the tolerance."""
    means = [[statistics.mean(column) for column in zip(*runs)] for runs in (simulated, live)]
    allowed = [(0.05, 0), (0.15, 1), (0.25, 0)]
    compared = zip(FIGURES, allowed, *means)
    return [name for name, (share, least), here, there in compared if abs(there - here) > max(least, share * here)]


def cell(form, values):
    """Mean, minimum and maximum."""
    return f"{form} ({form} to {form})".format(statistics.mean(values), min(values), max(values))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--runs", type=int, default=1, help="live runs of each case")
    arguments.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    options = arguments.parse_args()
    if unknown := set(options.cases) - set(CASES):
        sys.exit(f"no such case: {', '.join(unknown)}")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    print("| scenario | Mbit/s simulated | live | queue delay p50, ms | live | marks | live | slots late p99, us |")
    print("| --- " * 8 + "|")
    failed = []
    for case in options.cases or CASES:
        seeds = range(1, options.runs + 1)
        simulated = [figures for seed in seeds for figures in simulate(case, seed)]
        live, drivers = zip(*(play(case, seed) for seed in seeds))
        late = max(driver["lateness_us"]["p99"] for driver in drivers)
        pairs = zip(("{:.2f}", "{:.2f}", "{:.0f}"), zip(*simulated), zip(*live))
        cells = [cell(form, values) for form, *sides in pairs for values in sides]
        print("| " + " | ".join([case, *cells, f"{late:.0f}"]) + " |", flush=True)
        failed += [f"{case}: {what}" for what in disagreements(simulated, live)]
    sys.exit("\n".join(failed) or 0)


if __name__ == "__main__":
    main()
