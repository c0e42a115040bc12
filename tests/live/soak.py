#!/usr/bin/env python3
"""One hour of traffic through the live cell, with the process's memory use.

Run as root: unshare --net -- tests/live/soak.py [--minutes 60] [--mbps 20] [--log FILE]

One download at a steady rate, and ten times a second a short one over a connection of its own: 36,000 flows in an hour, far
more than the cell has counters for. The resident memory is sampled each 10 s into the log, and judged at the end: it may not be larger
in the last tenth of the run than in the second tenth by more than 1 MB (the first tenth fills tables and buffers).
"""

import argparse
import json
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
GATEWAY, BULK, SHORT = "100.96.0.1", 5001, 5002
CHUNK, EVERY, GROWTH_KB = 20_000, 10, 1_000

# What runs behind the cell: asks for classic ECN, reads the steady download to its end, and short ones beside it.
CLIENT = f"""
import socket, threading, time
open("/proc/sys/net/ipv4/tcp_ecn", "w").write("1")
bulk = socket.create_connection(("{GATEWAY}", {BULK}))
done = threading.Event()
def shorts():
    while not done.wait(0.1):
        with socket.create_connection(("{GATEWAY}", {SHORT})) as short:
            while short.recv(65536):
                pass
threading.Thread(target=shorts).start()
while bulk.recv(65536):
    pass
done.set()
"""


def listening(port):
    listener = socket.create_server(("", port), backlog=64)
    listener.settimeout(20)
    return listener


def serve_bulk(listener, seconds, mbps):
    connection, _ = listener.accept()
    gap, started, sent = CHUNK * 8 / (mbps * 1e6), time.monotonic(), 0
    with connection:
        while time.monotonic() < started + seconds:
            connection.sendall(bytes(CHUNK))
            sent += 1
            time.sleep(max(0, started + sent * gap - time.monotonic()))


def serve_shorts(listener, counted):
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
        with connection:
            connection.sendall(bytes(CHUNK))
        counted.append(1)


def resident_kb(process):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text()).group(1))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--minutes", type=float, default=60)
    arguments.add_argument("--mbps", type=float, default=20)
    arguments.add_argument("--tidemark", default=ROOT / "target/release/tidemark")
    arguments.add_argument("--log", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()) / "tidemark-soak.jsonl")
    arguments = arguments.parse_args()
    seconds, flows = arguments.minutes * 60, []

    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    threading.Thread(target=serve_bulk, args=(listening(BULK), seconds, arguments.mbps), daemon=True).start()
    threading.Thread(target=serve_shorts, args=(listening(SHORT), flows), daemon=True).start()
    with tempfile.TemporaryDirectory() as out:
        command = [arguments.tidemark, "shell", "--cell", "5g-walking", "--out", out, "--", sys.executable, "-c", CLIENT]
        cell = subprocess.Popen(command)
        samples, started = [], time.monotonic()
        with arguments.log.open("w") as log:
            while cell.poll() is None:
                sample = {"t_s": round(time.monotonic() - started), "rss_kb": resident_kb(cell.pid), "flows": len(flows)}
                samples.append(sample)
                print(json.dumps(sample), file=log, flush=True)
                try:
                    cell.wait(EVERY)
                except subprocess.TimeoutExpired:
                    pass
        if cell.returncode != 0:
            sys.exit(f"the cell ended with {cell.returncode}")
        summary = json.loads((pathlib.Path(out) / "summary.json").read_text())
    tenth = max(1, len(samples) // 10)
    early = max(sample["rss_kb"] for sample in samples[tenth : 2 * tenth] or samples)
    late = max(sample["rss_kb"] for sample in samples[-tenth:])
    verdict = {
        "minutes": arguments.minutes, "flows": len(flows), "mbps": summary["ues"][0]["throughput_mbps"],
        "rss_kb": {"first": samples[0]["rss_kb"], "second_tenth": early, "last_tenth": late},
        "lateness_us": summary["live"]["lateness_us"], "overload": summary["live"]["overload"],
        "flat": late <= early + GROWTH_KB,
    }  # fmt: skip
    print(json.dumps(verdict))
    sys.exit(0 if verdict["flat"] else "memory grew")


main()
