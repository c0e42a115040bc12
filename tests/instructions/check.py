#!/usr/bin/env python3
"""Compares instruction counts, which do not depend on the machine's load, with limits: of a marker call and of a simulated second.

`make instructions` runs it on the profile `ci`, as `make test` does, or on another by PROFILE=dist. A profile or a compiler that the limits
are not of makes another program: its counts are said, and held against nothing. Without valgrind it says so.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

COMPILER = "1.95"
PROFILES = ("ci", "dist")

MARKER = {
    ("downlink", "l4span"): (1_010, 790),
    ("downlink", "tide-l4s"): (1_020, 800),
    ("downlink", "tide-classic"): (1_065, 845),
    ("downlink", "tide-shared"): (1_075, 850),
    ("downlink-and-pdu", "l4span"): (1_295, 1_010),
    ("report", "l4span"): (1_575, 1_120),
    ("ack", "l4span"): (935, 650),
}
"""Instructions of a call under a law, at most, in each of the profiles. Those of `ci` have debug assertions, no optimisation
before LLVM's, since Clippy compiles them, and are a fiftieth above what was measured."""

QUEUED = (4, 16, 1_024)
"""SDUs queued at each UE. One limit covers all."""

CALLS = 1_000
"""Calls in one measurement of the marker's example."""

SIMULATOR = {
    (1, "static"): (54, 34),
    (1, "vehicular"): (53, 31),
    (16, "static"): (169, 99),
    (16, "vehicular"): (167, 94),
    (64, "static"): (390, 228),
    (64, "vehicular"): (409, 233),
}
"""Millions of instructions of a simulated second with so many UEs of a channel, from the scenario to the written results: a fiftieth above
what was measured."""

SCENARIO = """name = "saturated"
duration = "1 s"
warmup = "200 ms"
[marker]
law = "l4span"
[[ue]]
name = "ue"
count = {ues}
channel = {{ model = "{channel}" }}
[[flow]]
name = "flow"
ue = "ue"
round_trip = "38 ms"
sender = {{ controller = "prague" }}
"""


def calls(example: Path, call: str, law: str, queued: int) -> float:
    """Instructions of a call of the marker, without its setup."""
    # Only functions with names that begin like this are counted.
    valgrind = ["valgrind", "--tool=callgrind", "--toggle-collect=*measured_*", "--callgrind-out-file=/dev/null"]
    said = subprocess.run([*valgrind, example, call, law, str(queued)], check=True, capture_output=True, text=True).stderr
    counted = int(re.search(r"Collected : (\d+)", said)[1]) / CALLS
    # A function that callgrind did not find would be below every limit.
    if counted < 1:
        sys.exit("NOTHING COUNTED: callgrind didn't find the example's functions")
    return counted


def second(command: Path, ues: int, channel: str) -> float:
    """Millions of instructions of a simulated second."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder, "saturated.toml")
        scenario.write_text(SCENARIO.format(ues=ues, channel=channel), encoding="utf-8")
        valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
        run = [command, "run", scenario, "--out", Path(folder, "out"), "--quiet"]
        said = subprocess.run([*valgrind, *run], check=True, capture_output=True, text=True).stderr
    return int(re.search(r"I\s+refs:\s+([\d,]+)", said)[1].replace(",", "")) / 1e6


def counts(built: Path) -> Iterator[tuple[str, float, tuple[int, ...]]]:
    """Counted items, with their counts and limits."""
    for (call, law), limits in MARKER.items():
        for queued in QUEUED:
            yield f"{call}, {law}, {queued} queued", calls(built / "examples/instructions", call, law, queued), limits
    for (ues, channel), limits in SIMULATOR.items():
        yield f"million, {ues} UEs, {channel}", second(built / "tidemark", ues, channel), limits


def main() -> int:
    """Prints a row for each count; gives 1 if a count is above its limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("built", type=Path, metavar="FOLDER", help="Cargo's folder of the profile, with the command and the marker's example")
    built = parser.parse_args().built
    if shutil.which("valgrind") is None:
        print("instruction counts SKIPPED: valgrind is not installed", file=sys.stderr)
        return 0
    profile = os.environ.get("PROFILE", "")
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout
    holds = profile in PROFILES and f"rustc {COMPILER}." in compiler
    above = []
    for what, counted, limits in counts(built):
        limit = limits[PROFILES.index(profile)] if holds else None
        print(f"{counted:7.1f} {what}{f', {limit} at most' if limit else ''}", flush=True)
        if limit and counted > limit:
            above.append(what)
    if not holds:
        print(f"the limits are those of {' and '.join(PROFILES)} with rustc {COMPILER}: NOT CHECKED", file=sys.stderr)
    if above:
        print(f"above their limits: {'; '.join(above)}", file=sys.stderr)
    return int(bool(above))


if __name__ == "__main__":
    sys.exit(main())
