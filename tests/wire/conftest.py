"""Runs the examples of crates/wire, which emit and inspect frames, so that these decoders can check them."""

import functools
import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = pathlib.Path(os.environ.get("TIDEMARK", ROOT / "target/release/tidemark"))

SCENARIO = """
name = "capture"
duration = "2 s"

[cell.f1u]
report_period = "5 ms"

[marker]
law = "l4span"
short_circuit = true

[[ue]]
name = "ue"
handovers = ["1 s"]

[[flow]]
name = "l4s"
ue = "ue"
round_trip = "20 ms"
sender = { controller = "prague" }

[[flow]]
name = "classic"
ue = "ue"
round_trip = "20 ms"
sender = { controller = "cubic", tcp = { ecn = "classic" } }

[[flow]]
name = "video"
ue = "ue"
round_trip = "20 ms"
sender = { controller = "scream" }
app = { app = "video" }
"""


@functools.cache
def example(package, name):
    """Builds an example, and gives its path."""
    # Its dependencies are compiled already if it is built with the packages of `make test`.
    packages = os.environ.get("TOGETHER", "").split() or ["--package", package]
    command = ["cargo", "build", "--quiet", "--profile", os.environ.get("PROFILE", "dev"), *packages, "--example", name, "--message-format=json"]
    messages = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    built = (json.loads(line) for line in messages.splitlines())
    (path,) = (target["executable"] for target in built if target.get("target", {}).get("kind") == ["example"] and target["target"]["name"] == name)
    return pathlib.Path(path)


def run_example(name, *arguments, stdin=None):
    command = [example("tidemark-wire", name), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, check=True, text=True).stdout


@pytest.fixture(scope="session")
def capture(tmp_path_factory):
    """A capture with one frame of every kind that we emit; each frame's comment is its name."""
    path = tmp_path_factory.mktemp("wire") / "frames.pcapng"
    run_example("frames", path)
    return path


@pytest.fixture(scope="session")
def captures(tmp_path_factory):
    """The folder of `tidemark run --pcap`, with the results in `out`."""
    folder = tmp_path_factory.mktemp("capture")
    (folder / "scenario.toml").write_text(SCENARIO)
    command = [TIDEMARK, "run", folder / "scenario.toml"]
    subprocess.run([*command, "--out", folder / "out", "--pcap", folder], cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def tables():
    """Our tables of TS 38.321."""
    return json.loads(run_example("inspect", "tables"))


@pytest.fixture(scope="session")
def inspect():
    """Gives our reading of packets; with mode "mark", after marking them."""

    def inspect(packets, mode="read"):
        lines = "".join(bytes(packet).hex() + "\n" for packet in packets)
        return [json.loads(line) for line in run_example("inspect", mode, stdin=lines).splitlines()]

    return inspect
