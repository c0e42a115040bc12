#!/usr/bin/env python3
"""Compares real streams with marks and without: controllers of `tidemark-stream` in headless Chromium behind the live cell.

Run as root, with Chromium, after `make build stream`: python3 tests/live/stream_comparison.py [--out FILE] [--runs N] [CONTROLLER ...].
Each run has a network namespace of its own, one at a time. The machine should be idle, because its processors determine picture and frame delay.
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

STREAM = pathlib.Path(TIDEMARK).with_name("tidemark-stream")
GATEWAY, PORT = "100.96.0.1", 8089
# Controllers by their names in the table, with the server's options.
CONTROLLERS = {
    "scream": "--controller scream",
    "prague": "--controller prague-video",
    "sl4s": "--controller al4s",
    "cl4s": "--controller al4s --low '5 ms' --high '10 ms'",
    "l4s-cc": "--controller l4s-cc",
    "gcc": "--controller gcc",
}
COLUMNS = (
    "controller", "l4s", "run", "rate_mbps", "queue_p50_ms", "queue_p95_ms", "queue_p99_ms", "frame_p50_ms", "frame_p95_ms", "frame_p99_ms",
    "frames_shown", "freezes", "discarded", "marks_sender", "marks_browser", "late_p99_us",
)  # fmt: skip


def run(controller, l4s, seconds, number):
    """Gives the row of one stream."""
    with tempfile.TemporaryDirectory() as folder:
        page = f"http://{GATEWAY}:{PORT}/?seconds={seconds}&l4s={int(l4s)}"
        script = f"""
            mount -t tmpfs -o mode=700 tmpfs /run/tidemark && ip link set lo up
            {STREAM} serve --listen {GATEWAY}:{PORT} {CONTROLLERS[controller]} --initial '2 Mbit/s' --out {folder}/stream & server=$!
            {TIDEMARK} shell --cell 5g-static --round-trip '20 ms' --set cell.prbs=10 --set seed={number} --set 'warmup=8 s' --out {folder}/cell -- \
                {STREAM} open --headless --time {seconds + 8} '{page}'
            kill $server; wait $server
        """
        os.makedirs("/run/tidemark", mode=0o700, exist_ok=True)
        command = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", script]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cell = json.loads(pathlib.Path(folder, "cell/summary.json").read_text())
        stream = json.loads(pathlib.Path(folder, "stream/viewer-1/summary.json").read_text())
    ue, browser, frames = cell["ues"][0], stream["browser"], stream["frame_delay_ms"]
    values = (
        controller, int(l4s), number, stream["rate_mbps"], *(ue["queue_ms"][key] for key in ("p50", "p95", "p99")), *frames.values(),
        stream["frames_shown"], browser["freezeCount"], stream["frames_discarded"], stream["marks_reported"], browser.get("packetsReceivedWithCe"),
        cell["live"]["lateness_us"]["p99"],
    )  # fmt: skip
    return {key: round(value, 2) if isinstance(value, float) else value for key, value in zip(COLUMNS, values, strict=True)}


def table(rows):
    """Prints the mean of each pair's figures over its runs."""
    shown = ("rate_mbps", "queue_p50_ms", "queue_p95_ms", "frame_p50_ms", "frame_p95_ms", "frame_p99_ms", "freezes")
    print("controller l4s runs " + " ".join(shown))
    for name in dict.fromkeys((row["controller"], int(row["l4s"])) for row in rows):
        of = [row for row in rows if (row["controller"], int(row["l4s"])) == name]
        print(*name, len(of), *(f"{statistics.mean(float(row[key]) for row in of):.1f}" for key in shown))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", default=list(CONTROLLERS), metavar="CONTROLLER")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "out/stream-comparison.csv")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=30)
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(1, arguments.runs + 1):
        for controller in arguments.controllers:
            for l4s in (False, True):
                rows.append(run(controller, l4s, arguments.seconds, number))
                print(rows[-1], flush=True)
                with arguments.out.open("w", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows)
    table(rows)


if __name__ == "__main__":
    main()
