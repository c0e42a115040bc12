#!/usr/bin/env python3
"""Instructions that a simulated second takes, for each scenario that has a budget: they don't depend on the machine's load.

    cargo build --profile dist -p tidemark-sim --example once
    python3 results/performance/instructions.py target/dist/examples/once

Needs valgrind. Set-up is included, and the report is not.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).parents[2]

# As the bench `saturated` has it.
SATURATED = """name = "saturated"
duration = "{seconds} s"
sample_interval = "100 ms"
[marker]
law = "{law}"
[[ue]]
name = "ue"
count = {ues}
channel = {{ model = "{channel}" }}
[[flow]]
name = "flow"
ue = "ue"
round_trip = "38 ms"
sender = {{ controller = "{controller}" }}
"""


def instructions(command: str, *arguments: str) -> int:
    """Counts the instructions of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", command, *arguments]
        run = subprocess.run(valgrind, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("once", help="the example `once`, built")
    command = parser.parse_args().once
    print("| UEs | channel | controller, law | million instructions a simulated s |\n| --- | --- | --- | --- |")
    for ues in (1, 16, 64):
        for channel, controller, law in (("static", "prague", "tide"), ("vehicular", "prague", "tide")):
            seconds = 10
            with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                file.write(SATURATED.format(seconds=seconds, ues=ues, channel=channel, controller=controller, law=law))
                file.flush()
                count = instructions(command, file.name)
            print(f"| {ues} | {channel} | {controller}, {law} | {count / seconds / 1e6:.2f} |", flush=True)
    seconds = 4
    count = instructions(command, str(ROOT / "scenarios/network/21-cells.toml"), f"duration={seconds} s", "warmup=1 s")
    print(f"| 550 in 21 cells | deployed | scenarios/network/21-cells.toml | {count / seconds / 1e6:.1f} |")


if __name__ == "__main__":
    main()
