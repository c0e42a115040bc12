"""Packet filters on real packets: which bearer of the live cell IPv4 and IPv6 take, and its record in the run's folder."""

import csv
import socket
import time

import pytest

from conftest import UE
from test_shell import wait_for

UE6 = "fd74:6d61:726b::2"
SCENARIO = """
name = "qos"
duration = "30 s"
marker = { law = "none" }
[[ue]]
name = "ue"
channel = { model = "static" }
[[ue.drb]]
qos_flow = [{ qfi = 2, five_qi = 80, filter = [{ remote_address = "100.96.0.0/24", remote_port = "6000-6099", protocol = "udp" }] }]
[[ue.drb]]
qos_flow = [{ qfi = 3, five_qi = 7, filter = [{ remote_address = "fd74:6d61:726b::/64", dscp = [46], precedence = 10 }] }]
[[ue.drb]]
marker = { law = "ramp", low = "5 ms", high = "10 ms" }
qos_flow = [{ qfi = 4, filter = [{ ecn = ["ect1", "ce"] }] }]
"""


def datagrams(count, family, to, port=0, octet=0):
    """Sends this many packets, from this port with this type of service or traffic class."""
    end = socket.socket(family, socket.SOCK_DGRAM)
    end.setsockopt(*((0, 1) if family == socket.AF_INET else (41, 67)), octet)
    end.bind(("", port))
    for _ in range(count):
        end.sendto(bytes(972 if family == socket.AF_INET else 952), (to, 9))
        time.sleep(0.001)


@pytest.mark.brief
def test_real_packets_take_the_bearers_of_their_filters(shell, tmp_path, nothing_left):
    scenario, ready = tmp_path / "qos.toml", tmp_path / "ready"
    scenario.write_text(SCENARIO)
    sink = "import socket, sys, time; ends = [socket.socket(f, socket.SOCK_DGRAM) for f in (2, 10)]; " \
        "[end.bind(('', 9)) for end in ends[:1]]; ends[1].setsockopt(41, 26, 1); ends[1].bind(('', 9)); " \
        "open(sys.argv[1], 'w').close(); time.sleep(4)"  # fmt: skip
    cell = shell(scenario, command=["python3", "-c", sink, ready], out=tmp_path / "out")
    wait_for(ready.exists, "no UE")
    datagrams(100, socket.AF_INET, UE, port=6050)
    datagrams(200, socket.AF_INET6, UE6, octet=46 << 2 | 1)
    datagrams(400, socket.AF_INET6, UE6, octet=1)
    datagrams(50, socket.AF_INET, UE, port=6100)
    assert cell.finish() == 0, cell.stderr
    summary = cell.summary()
    span = summary["duration_s"]
    # 1000 bytes each; what the host says to its own link enters no bearer.
    bearers = [bearer for bearer in summary["bearers"] if bearer["direction"] == "downlink"]
    packets = [bearer["throughput_mbps"] * span / 0.008 for bearer in bearers]
    assert packets[1:] == [pytest.approx(count, abs=0.1) for count in (100, 200, 400)], packets
    assert packets[0] == pytest.approx(50, abs=0.1), packets
    assert [bearer["five_qi"] for bearer in bearers] == [[9], [80], [7], [9]]
    assert bearers[1]["in_budget"] > 0.5
    rows = [row for row in csv.DictReader((tmp_path / "out/bearers.csv").open()) if row["direction"] == "downlink"]
    assert [(row["drb"], row["qfi"], row["law"]) for row in rows] == [("1", "[1]", "none"), ("2", "[2]", "none"), ("3", "[3]", "none"), ("4", "[4]", "ramp")]
