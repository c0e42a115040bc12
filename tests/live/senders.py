#!/usr/bin/env python3
"""Measures how much rate real senders keep with marks, walking and driving: results/interop/senders.csv and the table of docs/measured/senders.md.

Run as root, with the senders' programs on PATH: target/live-venv/bin/python tests/live/senders.py [--out FILE] [--runs N] [--set KEY=VALUE ...] [SENDER ...].
Each pair, a run without marks and one with them, has the same radio, and a simulated twin. Each run has a network namespace of its own; two run at a time.
The machine should have nothing else to do: an encoder without a processor sends less, whatever is marked.
A sender whose programs are missing is skipped, and so are runs that FILE has. `--table FILE` prints the table of runs that were measured before.
"""

import argparse
import concurrent.futures
import contextlib
import csv
import dataclasses
import itertools
import json
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from agreement import ROOT, TIDEMARK

ROUND_TRIP, SECONDS, WARMUP = "20 ms", 40, 10
# Laws are chosen on the radios of lower seeds.
FIRST_SEED = 101
CHANNELS = {"walking": "5g-walking", "driving": "5g-driving"}
GATEWAY, UE = "100.96.0.1", "100.96.0.2"
# Code with which `timeout` ends what it ended.
TIMED_OUT = 124
COLUMNS = "sender", "channel", "seed", "ends", "law", "mbps", "rate_kept", "mean_ms", "p50_ms", "p95_ms", "p99_ms", "ce_share", "late_p99_us"
VIDEO = 'sender = { controller = "scream" }\napp = { app = "video" }'


@dataclasses.dataclass(frozen=True)
class Sender:
    """Programs of a sender, and the keys of a simulated flow that stands for it."""

    programs: tuple
    twin: str
    server: str = ""
    client: str = ""
    # What its namespace needs before.
    prepare: str = ""
    # What its UE needs before.
    at_ue: str = ""
    cell: tuple = ()


SENDERS = {
    "udp_prague": Sender(
        programs=("udp_prague_sender", "udp_prague_receiver"),
        server="udp_prague_sender -q",
        client=f"udp_prague_receiver -q -c -a {GATEWAY}",
        twin='sender = { controller = "udp-prague" }',
    ),
    "SCReAM": Sender(
        programs=("scream_bw_test_tx", "scream_bw_test_rx"),
        server=f"scream_bw_test_tx -ect 1 -nosummary {UE} 4000",
        client="scream_bw_test_rx 4000",
        twin=VIDEO,
    ),
    "picoquic": Sender(
        programs=("picoquicdemo", "openssl"),
        prepare="openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=cell -keyout key.pem -out certificate.pem",
        server="picoquicdemo -p 4433 -G prague -c certificate.pem -k key.pem",
        client=f"picoquicdemo -D -G prague -n cell {GATEWAY} 4433 /10000000000",
        twin='sender = { controller = "prague" }',
    ),
    "CUBIC": Sender(
        programs=("iperf3",),
        # A connection that is born under BBR stays paced.
        prepare="echo reno > /proc/sys/net/ipv4/tcp_congestion_control",
        at_ue="echo 1 > /proc/sys/net/ipv4/tcp_ecn",
        server="iperf3 --server --one-off",
        client=f"iperf3 --client {GATEWAY} --reverse --time {2 * SECONDS} --congestion cubic",
        twin='sender = { controller = "cubic", tcp = { ecn = "classic" } }',
    ),
    # A call sends less than the whole cell carries.
    "Chromium": Sender(programs=("chromium",), twin=VIDEO, cell=("cell.prbs=10",)),
}


def settings(sender, law, seed):
    assignments = *SENDERS[sender].cell, f"seed={seed}", f"warmup={WARMUP} s", *law
    return [word for assignment in assignments for word in ("--set", assignment)]


def figures(summary):
    ue = summary["ues"][0]
    return {
        "law": summary["bearers"][0]["law"],
        "mbps": ue["throughput_mbps"],
        **{f"{name}_ms": ue["queue_ms"][name] for name in ("mean", "p50", "p95", "p99")},
        "ce_share": ue["marked"] / sum(flow["sent_packets"] for flow in summary["flows"]),
        "late_p99_us": summary.get("live", {}).get("lateness_us", {}).get("p99"),
    }


def download(sender, folder, options):
    """Gives the summary of a cell with a sender's client behind it, which receives from the server."""
    end, ready = SENDERS[sender], folder / "ready"
    subprocess.run(["sh", "-ec", end.prepare], check=True, capture_output=True)
    client = f"{end.at_ue or ':'}; until [ -e {ready} ]; do sleep 0.1; done; exec timeout {SECONDS} {end.client} > client.log 2>&1"
    command = [TIDEMARK, "shell", *options, "--round-trip", ROUND_TRIP, "--out", folder / "out", "--", "sh", "-c", client]
    cell = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while GATEWAY not in subprocess.run(["ip", "-brief", "address"], capture_output=True, text=True).stdout:
        if cell.poll() is not None or time.monotonic() > deadline:
            cell.terminate()
            sys.exit(f"the cell does not start: {cell.communicate()[1]}")
        time.sleep(0.1)
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(shlex.split(end.server), stdout=log, stderr=log)
    try:
        time.sleep(0.5)
        ready.touch()
        _, errors = cell.communicate(timeout=SECONDS + 40)
    finally:
        server.kill()
        server.wait()
    if cell.returncode != TIMED_OUT:
        sys.exit(f"the client ended by itself: {errors}{(folder / 'client.log').read_text()}")
    return json.loads((folder / "out/summary.json").read_text())


def call(folder, preset, options):
    """Gives the summary of a cell with a browser behind it, which receives a call with a noisy picture."""
    import test_chromium
    from conftest import Shell

    test_chromium.SECONDS = SECONDS
    summary, sent, _ = test_chromium.call(Shell, folder, "1280,720,30,noise", *options, preset=preset)
    if test_chromium.of_type(sent, "remote-inbound-rtp")["packetsWithBleachedEct1Marking"]:
        sys.exit("ECT(1) was bleached on the way")
    return summary


def here(sender, channel, law, seed):
    """Prints the figures of a live run in this network namespace."""
    preset, options = CHANNELS[channel], settings(sender, law, seed)
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = pathlib.Path(name)
        summary = call(folder, preset, options) if sender == "Chromium" else download(sender, folder, ["--cell", preset, *options])
    print(json.dumps(figures(summary)))


def live(*run):
    itself = shlex.join([sys.executable, __file__, "--here", json.dumps(run)])
    # The numbers of live cells are counted in a folder of its own, so that this one is the first.
    inside = f"mount -t tmpfs -o mode=700 tmpfs /run/tidemark && ip link set lo up && exec {itself}"
    done = subprocess.run(["unshare", "--net", "--mount", "--", "sh", "-c", inside], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{run}: {done.stderr}{done.stdout}")
    return json.loads(done.stdout)


def simulated(sender, channel, law, seed):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        preset = (ROOT / f"scenarios/live/{CHANNELS[channel]}.toml").read_text()
        flow = f'[[flow]]\nname = "flow"\nue = "ue"\nround_trip = "{ROUND_TRIP}"\n{SENDERS[sender].twin}\n'
        (folder / "twin.toml").write_text(f"{preset}\n{flow}")
        length = "--set", f"duration={SECONDS} s"
        command = [TIDEMARK, "run", folder / "twin.toml", *settings(sender, law, seed), *length, "--out", folder / "out"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr}")
        return figures(json.loads((folder / "out/summary.json").read_text()))


def pair(known, law, seed, channel, sender):
    """Gives the rows of a run without and a run with marks, live and simulated, except known ones; fewer if a run failed."""
    rows = []
    for ends in live, simulated:
        named = {"sender": sender, "channel": channel, "seed": str(seed), "ends": ends.__name__}
        by_marks = {row["law"] != "none": row for row in known if named.items() <= row.items()}
        try:
            for marks, assignments in (False, ["marker.law=none"]), (True, law):
                if marks in by_marks:
                    continue
                run = ends(sender, channel, assignments, seed)
                unmarked = float(by_marks[False]["mbps"]) if marks else run["mbps"]
                by_marks[marks] = {**named, **run, "rate_kept": run["mbps"] / unmarked}
                rows.append(by_marks[marks])
        except RuntimeError as error:
            print(f"FAILED: {error}", file=sys.stderr)
    return rows


def shown(rows, column, form="{:.1f}", scale=1):
    """Gives the mean over the seeds, and in brackets the minimum and maximum."""
    values = [scale * float(row[column]) for row in rows]
    low, high = form.format(min(values)), form.format(max(values))
    return form.format(statistics.mean(values)) + ("" if low == high else f" ({low} to {high})")


def table(rows):
    print("| sender | channel | Mbit/s, unmarked | marked | rate kept, % | simulated, % | mean queue, ms | p99, ms | unmarked mean, ms | CE, % |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for sender, channel in itertools.product(SENDERS, CHANNELS):
        own = [row for row in rows if (row["sender"], row["channel"]) == (sender, channel)]
        if not own:
            continue
        twins = [row for row in own if row["ends"] == "simulated" and row["law"] != "none"]
        unmarked = [row for row in own if row["ends"] == "live" and row["law"] == "none"]
        marked = [row for row in own if row["ends"] == "live" and row["law"] != "none"]
        cells = [
            shown(unmarked, "mbps"), shown(marked, "mbps"), shown(marked, "rate_kept", "{:.0f}", 100), shown(twins, "rate_kept", "{:.0f}", 100),
            shown(marked, "mean_ms"), shown(marked, "p99_ms"), shown(unmarked, "mean_ms"), shown(marked, "ce_share", "{:.2f}", 100),
        ]  # fmt: skip
        print("| " + " | ".join([sender, channel, *cells]) + " |")


def read(file):
    return list(csv.DictReader(file.open())) if file.exists() else []


def measure(out, runs, law, senders):
    """Measures pair after pair, and adds each pair's rows to the file."""
    known = read(out)
    with out.open("a", newline="") as file, concurrent.futures.ThreadPoolExecutor(2) as pool:
        lines = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not known:
            lines.writeheader()
        pairs = itertools.product(range(FIRST_SEED, FIRST_SEED + runs), CHANNELS, senders)
        for rows in pool.map(lambda run: pair(known, law, *run), pairs):
            lines.writerows({name: f"{value:.4g}" if isinstance(value, float) else value for name, value in row.items()} for row in rows)
            file.flush()


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=pathlib.Path, default=ROOT / "results/interop/senders.csv")
    arguments.add_argument("--runs", type=int, default=5, help="pairs of each sender and channel, with the seeds 101 to 100 + N")
    arguments.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="law", help="of the runs with marks: marker.law=l4span")
    arguments.add_argument("--table", type=pathlib.Path, metavar="FILE")
    arguments.add_argument("--here", help=argparse.SUPPRESS)
    arguments.add_argument("senders", nargs="*", metavar="SENDER", help=", ".join(SENDERS))
    options = arguments.parse_args()
    if options.here:
        return here(*json.loads(options.here))
    if options.table:
        return table(read(options.table))
    if unknown := set(options.senders) - set(SENDERS):
        sys.exit(f"no such sender: {', '.join(unknown)}")
    present = []
    for sender in options.senders or SENDERS:
        missing = [program for program in SENDERS[sender].programs if shutil.which(program) is None]
        if missing:
            print(f"{sender}: SKIPPED: not on PATH: {', '.join(missing)}", file=sys.stderr)
        else:
            present.append(sender)
    pathlib.Path("/run/tidemark").mkdir(mode=0o700, exist_ok=True)
    measure(options.out, options.runs, options.law, present)
    table(read(options.out))


if __name__ == "__main__":
    main()
