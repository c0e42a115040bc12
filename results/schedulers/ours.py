#!/usr/bin/env python3
"""Runs the cases of lena.csv in our cell and prints ours beside 5G-LENA's.

    python3 results/schedulers/ours.py target/release/tidemark
"""

import argparse
import csv
import pathlib
import random
import statistics
import subprocess
import tempfile

LENA = pathlib.Path(__file__).with_name("lena.csv")
SEEDS = range(1, 5)

CELL = """
name = "case"
duration = "2 s"
warmup = "500 ms"
seed = {seed}
[cell]
duplex = "fdd"
prbs = {prbs}
control_symbols = 1
dmrs = 24
overhead = 0
scheduling_lead = 2
ues_per_slot = 32
scheduler = {{ kind = "{scheduler}" }}
"""

UE = """
[[ue]]
name = "{name}"
channel = {{ model = "static", snr_db = 40 }}
rlc = {{ mode = "um", queue_sdus = 1000 }}
marker = {{ law = "none" }}
"""

FLOW = """
[[flow]]
name = "{name}"
ue = "{ue}"
round_trip = "0 ms"
sender = {{ controller = "udp" }}
app = {{ app = "constant", rate = "{rate:.0f} bit/s", chunk = "{chunk} B", start = "{start:.1f} us" }}
"""


def scenario(case, seed):
    """Scenario of a case: full queues are offered 1.3 times what they can have."""
    ues, load, prbs = int(case["ues"]), case["load"], int(case["prbs"])
    full = ues if load == "full" else ues // 2
    draws = random.Random(1000 * seed + ues)
    text = CELL.format(seed=seed, prbs=prbs, scheduler=case["scheduler"])
    for index in range(ues):
        ue = f"ue{index}"
        text += UE.format(name=ue)
        if index < full:
            text += FLOW.format(name=f"full{index}", ue=ue, rate=1.9e6 * prbs / full, chunk=1472, start=0)
        elif load == "sparse":
            # 200 bytes with their headers, a little slower than every 10 ms: they come anywhere in a slot.
            start = draws.uniform(0, 10_000)
            text += FLOW.format(name=f"short{index}", ue=ue, rate=172 * 8 / 0.0100371, chunk=172, start=start)
        else:
            # 20 kB with their headers; the delay of the last 38 bytes is that of the burst.
            start = draws.uniform(0, 20_000)
            text += FLOW.format(name=f"burst{index}", ue=ue, rate=19_570 * 400, chunk=19_570, start=start)
            text += FLOW.format(name=f"short{index}", ue=ue, rate=10 * 400, chunk=10, start=start + 0.2)
    return text


def outcome(tidemark, case):
    """Least and greatest share of a full queue, and the mean delay of short ones in ms."""
    shares, delays = [], []
    for seed in SEEDS:
        with tempfile.TemporaryDirectory() as folder:
            file, out = pathlib.Path(folder, "case.toml"), pathlib.Path(folder, "out")
            file.write_text(scenario(case, seed))
            subprocess.run([tidemark, "run", file, "--out", out], check=True, capture_output=True)
            with open(out / "flows.csv", newline="") as flows:
                rows = list(csv.DictReader(flows))
        cell = sum(float(row["throughput_mbps"]) for row in rows)
        shares += [float(row["throughput_mbps"]) / cell for row in rows if row["flow"].startswith("full")]
        delays += [float(row["owd_mean_ms"]) for row in rows if row["flow"].startswith("short")]
    return shares, statistics.mean(delays) if delays else None


def main():
    """Prints one line a case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tidemark", help="the command, as target/release/tidemark")
    tidemark = parser.parse_args().tidemark
    empty = {}
    with open(LENA, newline="") as file:
        cases = sorted(csv.DictReader(file), key=lambda case: int(case["ues"]))
    for case in cases:
        key = case["scheduler"], case["prbs"], case["load"]
        shares, delay = outcome(tidemark, case)
        lena = float(case["delay_mean_ms"] or 0)
        if case["ues"] == "1":
            empty[key] = delay, lena
            continue
        line = f"{' '.join(key)} {case['ues']}: share {min(shares):.4f} to {max(shares):.4f}, 5G-LENA {case['full_share_mean']}"
        if delay is not None:
            line += f"; beyond empty {delay - empty[key][0]:.3f} ms, 5G-LENA {lena - empty[key][1]:.3f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
