#!/usr/bin/env python3
"""Compares what `tidemark check` expects of a run with what the run takes: estimate.csv beside this file.

    python3 results/performance/estimate.py target/release/tidemark

A row has the processor's seconds, the largest memory and the size of all files, expected and measured. The constants in
crates/scenario/src/cost.rs are chosen so that both differ by a factor of three at most.
"""

import argparse
import csv
import os
import pathlib
import re
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
RUNS = [
    ("first-look", []),
    ("crowd", []),
    ("crowd", ["duration=600 s"]),
    ("choosing", []),
    ("overload", []),
    ("uplink-l4s", []),
    ("moving-bottleneck", []),
    ("network/drive", []),
    ("network/21-cells", []),
]
EXPECTED = re.compile(r"about (\S+) s of a processor, (\S+) MB of memory, (\S+) MB of files")


def expected(command: list[str]) -> list[float]:
    """Processor seconds, megabytes of memory and of files that `check` says."""
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = EXPECTED.search(said)
    if not found:
        raise SystemExit(f"no estimate in: {said}")
    return [float(value) for value in found.groups()]


def measured(command: list[str]) -> list[float]:
    """The same of the run itself."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen([*command, "--out", f"{folder}/out"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(run.pid, 0)
        if status != 0:
            raise SystemExit(f"{command} failed")
        size = sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*") if file.is_file())
        return [usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6, size / 1e6]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tidemark", help="the command, as `make build` leaves it")
    tidemark = parser.parse_args().tidemark
    with open(HERE / "estimate.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        kinds = ["processor_s", "memory_mb", "files_mb"]
        writer.writerow(["scenario", "set", *(f"{kind}_{of}" for kind in kinds for of in ("expected", "measured"))])
        for name, settings in RUNS:
            rest = [f"scenarios/{name}.toml", *(word for setting in settings for word in ("--set", setting))]
            pairs = zip(expected([tidemark, "check", *rest]), measured([tidemark, "run", *rest]), strict=True)
            writer.writerow([name, " ".join(settings), *(f"{value:.3g}" for pair in pairs for value in pair)])
            file.flush()


if __name__ == "__main__":
    main()
