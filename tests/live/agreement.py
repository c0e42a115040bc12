#!/usr/bin/env python3
"""The same scenarios live and simulated, with our own endpoints: the table of docs/live.md.

Run as root: unshare --net -- tests/live/agreement.py [CASE ...]. Each case is one scenario file, which `tidemark run` simulates and
`tidemark live` plays with `tidemark send` and `tidemark receive` in namespaces. What is compared is counted by the cell after the
warm-up. The exit code is 1 where a figure differs by more than it may: throughput 5 %, median queue delay 1 ms or 15 %, marks 25 %.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = pathlib.Path(os.environ.get("TIDEMARK", ROOT / "target/release/tidemark"))
ROUND_TRIP, SECONDS, WARMUP = "20 ms", 30, 8
BULK, VIDEO = '{ app = "bulk" }', '{ app = "video" }'
CL4S = '{ controller = "al4s", marking = { low = "5 ms", high = "10 ms" } }'

# Name: channel, law, sender, application.
CASES = {
    "UDP Prague, still, l4span": ('{ model = "static" }', "l4span", '{ controller = "udp-prague" }', BULK),
    "UDP Prague, still, ramp": ('{ model = "static" }', "ramp", '{ controller = "udp-prague" }', BULK),
    "UDP Prague, walking, l4span": ('{ model = "pedestrian" }', "l4span", '{ controller = "udp-prague" }', BULK),
    "SCReAM, still, l4span": ('{ model = "static" }', "l4span", '{ controller = "scream" }', VIDEO),
    "SCReAM, walking, ramp": ('{ model = "pedestrian" }', "ramp", '{ controller = "scream" }', VIDEO),
    "sL4S, still, ramp": ('{ model = "static" }', "ramp", '{ controller = "al4s" }', VIDEO),
    "cL4S, still, ramp": ('{ model = "static" }', "ramp", CL4S, VIDEO),
}


def scenario(file, channel, law, sender, app):
    end = f'--scenario "{file}" --patience "20 s" --time "{SECONDS} s"'
    file.write_text(f"""
name = "agreement"
duration = "{SECONDS} s"
warmup = "{WARMUP} s"
marker = {{ law = "{law}" }}
[[ue]]
name = "ue"
channel = {channel}
command = 'exec "{TIDEMARK}" receive {end} $TIDEMARK_SERVER:4000'
[[server]]
name = "server"
command = 'exec "{TIDEMARK}" send {end} --listen 4000'
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


def both(case):
    """What the cell counted, simulated and live, and how the live driver fared."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        scenario(folder / "agreement.toml", *CASES[case])
        run("run", folder / "agreement.toml", "--out", folder / "run")
        run("live", folder / "agreement.toml", "--round-trip", ROUND_TRIP, "--out", folder / "live")
        (live, driver), (simulated, _) = figures(folder / "live"), figures(folder / "run")
        return simulated, live, driver


def disagreements(simulated, live):
    """What differs by more than it may."""
    rate, delay, marks = zip(simulated, live)
    wrong = []
    if abs(rate[1] - rate[0]) > 0.05 * rate[0]:
        wrong.append("throughput")
    if abs(delay[1] - delay[0]) > max(1, 0.15 * delay[0]):
        wrong.append("median queue delay")
    if abs(marks[1] - marks[0]) > 0.25 * marks[0]:
        wrong.append("marks")
    return wrong


def main():
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    print("| scenario | Mbit/s simulated | live | queue delay p50, ms | live | marks | live | slots late p99, us |")
    print("| --- " * 8 + "|")
    failed = []
    for case in sys.argv[1:] or CASES:
        simulated, live, driver = both(case)
        pairs = zip(("{:.2f}", "{:.2f}", "{}"), simulated, live)
        cells = [form.format(value) for form, *values in pairs for value in values]
        print("| " + " | ".join([case, *cells, f"{driver['lateness_us']['p99']:.0f}"]) + " |", flush=True)
        failed += [f"{case}: {what}" for what in disagreements(simulated, live)]
    sys.exit("\n".join(failed) or 0)


if __name__ == "__main__":
    main()
