"""A hop that is the line between the switches: its rates, and its wire."""

import csv
from pathlib import Path

import pytest

from tests.lab import furnished, needs_lab, tidemark
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.lab.experiment import Experiment, Laboratory
from tidemark_sdn.lab.hop import line_rates
from tidemark_sdn.lab.isolation import LabError

HEAD = "t_s,flow,throughput_mbps\n"


def write(file: Path, rows: list[tuple[float, str, float]]) -> Path:
    file.write_text(HEAD + "".join(f"{at},{name},{mbps}\n" for at, name, mbps in rows), encoding="utf-8")
    return file


def test_rates_are_those_while_all_flows_ran(tmp_path: Path) -> None:
    prague, cubic = "udp 10.0.1.1 to port 4100", "tcp 10.0.2.1 to port 5200 #2"
    # CUBIC begins a second later and ends a second later; the probe and iperf3's first connection are no traffic.
    rows: list[tuple[float, str, float]] = [
        (at, prague, mbps) for at, mbps in enumerate([20.0, 15.0, 8.0, 8.0, 0.0], 1)
    ]
    rows += [(at, cubic, mbps) for at, mbps in enumerate([0.0, 5.0, 11.0, 13.0, 20.0], 1)]
    rows += [
        (at, name, 9.0) for at in range(1, 6) for name in ("udp 10.0.1.1 to port 6100", "tcp 10.0.2.1 to port 5200")
    ]
    found = line_rates(write(tmp_path / "series-flows.csv", rows), 0.5)
    assert found == {Kind.L4S: pytest.approx(8.0), Kind.CLASSIC: pytest.approx(12.0)}


def test_flows_that_did_not_meet_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="did not run at the same time"):
        line_rates(write(tmp_path / "series-flows.csv", []), 1.0)


@needs_lab
def test_the_wire_takes_half_of_the_round_trip_each_way(tmp_path: Path) -> None:
    with furnished():
        laboratory = Laboratory(Experiment(tidemark(), tmp_path, l4s=1, classic=0, round_trip=0.02))
        try:
            laboratory.wait_until_ready()
            file = laboratory.probe(Kind.L4S, 1.5)
            laboratory.probes[Kind.L4S].wait(10)
            with file.open(encoding="utf-8", newline="") as stream:
                delays = [float(row["delay"]) for row in csv.DictReader(stream)]
        finally:
            laboratory.close()
    # Nothing is faster than the wire; what waits for the machine is slower. Without it the fastest takes 0.3 ms.
    assert len(delays) > 10
    assert min(delays) >= 0.01
