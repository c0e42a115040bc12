#!/usr/bin/env python3
"""`al4s.live`: the single flow of aL4S-CC's paper as real streams, beside the simulator's figures for the same link.

Run as root, with Chromium, after `make build stream`: python3 tests/live/paper_streams.py [--out FILE] [--runs N] [CONTROLLER ...].
The link is that of scenarios/papers/al4s.toml (`tidemark net hop`), between a server of streams and headless Chromium in namespaces of
their own, one run at a time. Its rates, and the bounds of the controllers, are 0.15 of the paper's: what one processor encodes. The machine
should be idle. A simulated run has the frame rate of the stream, and begins when the browser has connected. `tidemark-papers` compares with
published figures, and there are none at this scale.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from agreement import ROOT, TIDEMARK
from capacity import PAPER, PAPER_SCALE, scaled

STREAM = pathlib.Path(TIDEMARK).with_name("tidemark-stream")
SERVER, CLIENT, PORT = "10.77.0.1", "10.77.0.2", 8089
CONTROLLERS = {
    "sl4s": 'controller = "al4s"',
    "cl4s": 'controller = "al4s", marking = { low = "5 ms", high = "20 ms" }',
    "l4s-cc": 'controller = "l4s-cc"',
    "scream": 'controller = "scream"',
    "gcc": 'controller = "gcc"',
}
# The server has both kinds of aL4S-CC by one name.
KINDS = {"sl4s": "al4s", "cl4s": "al4s"}
MIN, INITIAL, MAX = (f"{PAPER_SCALE * rate} Mbit/s" for rate in (2, 10, 70))
# The browser needs these seconds to connect; statistics begin later.
BEGIN_S, WARMUP_S = 2.5, 5
COLUMNS = (
    "source", "controller", "run", "utilisation_percent", "tdq_20_ms_s", "tdq_55_ms_s", "tdq_145_ms_s", "queue_p95_ms", "queue_p99_ms",
    "frame_p50_ms", "frame_p95_ms", "frames", "discarded", "marked", "dropped",
)  # fmt: skip
# Differences to the simulator that count as agreement: relative, and in ms.
MOST_UTILISATION, MOST_QUEUE_MS = 0.10, 5
# 97.5th percentile of Student's t for three runs.
STUDENT = 4.303

NAMESPACES = f"""
    set -e
    mount -t tmpfs -o mode=700 tmpfs /run/tidemark; mkdir -p /run/netns; mount -t tmpfs tmpfs /run/netns; ip link set lo up
    for end in left,{SERVER} right,{CLIENT}; do
        name=${{end%,*}}
        ip netns add $name; ip link add to-$name type veth peer name end netns $name; ip link set to-$name up
        ip -n $name link set lo up; ip -n $name link set end up; ip -n $name addr add ${{end#*,}}/24 dev end
    done
"""


def link():
    """Overrides for the link of streams."""
    return [f"warmup={WARMUP_S} s", *scaled()]


def words(overrides):
    return [word for override in overrides for word in ("--set", override)]


def shell_words(overrides):
    return " ".join(f"--set '{override}'" for override in overrides)


def figures(source, controller, number, router, delays, counts):
    """The row of a run, from its link, the quantiles of its frames' delays, and its numbers of frames."""
    tdq = dict(router["tdq_s"])
    values = (
        source, controller, number, 100 * router["utilisation"], *(tdq[over] for over in (20, 55, 145)), *(router["queue_ms"][key] for key in ("p95", "p99")),
        delays["p50"], delays["p95"], *counts, router["marked"], router["dropped"],
    )  # fmt: skip
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in zip(COLUMNS, values, strict=True)}


def live(controller, number):
    """Gives the row of one stream."""
    with tempfile.TemporaryDirectory() as folder:
        page = f"http://{SERVER}:{PORT}/?controller={KINDS.get(controller, controller)}&l4s=1"
        known = "--low '5 ms' --high '20 ms'" if controller == "cl4s" else ""
        script = f"""
            {NAMESPACES}
            {TIDEMARK} net hop {PAPER} --left to-left --right to-right {shell_words(link())} --out {folder}/hop & hop=$!
            ip netns exec left {STREAM} serve --listen {SERVER}:{PORT} --min '{MIN}' --initial '{INITIAL}' --max '{MAX}' \
                {known} --out {folder}/stream & server=$!
            sleep 0.5
            ip netns exec right {STREAM} open --headless --time 120 '{page}' &
            wait $hop; kill $server; wait $server
        """
        os.makedirs("/run/tidemark", mode=0o700, exist_ok=True)
        command = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": {**os.environ, "TMPDIR": folder}}
        subprocess.run(command, check=True, timeout=240, **quiet)
        router = json.loads(pathlib.Path(folder, "hop/summary.json").read_text())["routers"][0]
        stream = json.loads(pathlib.Path(folder, "stream/viewer-1/summary.json").read_text())
    return figures("live", controller, number, router, stream["frame_delay_ms"], (stream["frames_shown"], stream["frames_discarded"]))


def simulated(controller, number):
    """Gives the row of one simulated flow."""
    rates = f'{{ min = "{MIN}", initial = "{INITIAL}", max = "{MAX}" }}'
    sender = f"flow.video.sender={{ {CONTROLLERS[controller]}, rates = {rates} }}"
    overrides = [*link(), sender, f"flow.video.app.start={BEGIN_S} s", "flow.video.app.frame_rate=30", f"seed={number}"]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([TIDEMARK, "run", PAPER, *words(overrides), "--out", folder, "--force"], check=True, stdout=subprocess.DEVNULL)
        summary = json.loads(pathlib.Path(folder, "summary.json").read_text())
    media = summary["flows"][0]["media"]
    return figures("simulated", controller, number, summary["routers"][0], media["delay_ms"], (media["frames_received"], media["frames_discarded"]))


def table(rows):
    """Prints each controller's mean with the half-width of its 95 % confidence interval, live and simulated, and whether they agree."""
    shown = COLUMNS[3:11]
    print("controller source " + " ".join(shown))
    for controller in dict.fromkeys(row["controller"] for row in rows):
        means = {}
        for source in ("live", "simulated"):
            of = [row for row in rows if (row["controller"], row["source"]) == (controller, source)]
            values = {key: [row[key] for row in of] for key in shown}
            means[source] = {key: statistics.mean(column) for key, column in values.items()}
            half = {key: STUDENT * statistics.stdev(column) / len(column) ** 0.5 if len(column) > 1 else 0 for key, column in values.items()}
            print(controller, source, *(f"{means[source][key]:.2f}±{half[key]:.2f}" for key in shown))
        used, queue = (abs(means["live"][key] - means["simulated"][key]) for key in ("utilisation_percent", "queue_p95_ms"))
        agrees = used <= MOST_UTILISATION * means["simulated"]["utilisation_percent"] and queue <= MOST_QUEUE_MS
        print(controller, "agrees" if agrees else f"differs: utilisation by {used:.1f} %, p95 by {queue:.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", default=list(CONTROLLERS), metavar="CONTROLLER")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/al4s-live.csv")
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(1, arguments.runs + 1):
        for controller in arguments.controllers:
            for measure in (live, simulated):
                rows.append(measure(controller, number))
                print(rows[-1], flush=True)
            with arguments.out.open("w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    table(rows)


if __name__ == "__main__":
    main()
