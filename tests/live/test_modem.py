"""Bit rate recommendations of the live cell: a modem with AT commands for programs at the UE, and our endpoints that follow them."""

import json
import subprocess

import pytest

from conftest import GATEWAY, TIDEMARK
from test_endpoints import finish, start

SCENARIO = """
name = "anbr"
duration = "30 s"
marker = { law = "none" }
[[ue]]
name = "ue"
channel = { model = "static" }
anbr = { direction = "both", query_prohibit = "400 ms" }
"""

# At the UE: sends for a while, and prints what the modem says meanwhile.
LISTENER = """
import socket, sys, time
modem = socket.socket(socket.AF_UNIX)
modem.connect("\\0tidemark-modem")
lines = modem.makefile("rw", newline="\\r\\n")
def command(line):
    print(">", line); lines.write(line + "\\r\\n"); lines.flush()
def answer():
    line = lines.readline().strip(); print(line); return line
command("AT+CGBRRREP?"); answer(); answer()
command("AT+CGBRRREP=1"); answer()
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
until = time.monotonic() + 1
while time.monotonic() < until:
    out.sendto(bytes(1200), (sys.argv[1], 9)); time.sleep(0.002)
command("AT+CGBRRREQ=1,0,1")
while answer() != "OK":
    pass
command("AT+CGBRRREQ=1,0,1")
while answer() != "OK":
    pass
command("AT+CGBRRREQ=1,0,1")
while not answer().startswith("+CME"):
    pass
"""


@pytest.fixture
def scenario(tmp_path):
    file = tmp_path / "anbr.toml"
    file.write_text(SCENARIO)
    return file


@pytest.mark.brief
def test_a_program_hears_the_modem_and_asks_it(shell, scenario, tmp_path, nothing_left):
    cell = shell(scenario, command=["python3", "-c", LISTENER, GATEWAY], out=tmp_path / "out")
    assert cell.finish() == 0, cell.stderr
    lines = cell.stdout.splitlines()
    assert lines[:5] == ["> AT+CGBRRREP?", "+CGBRRREP: 0", "OK", "> AT+CGBRRREP=1", "OK"]
    reports = [line.removeprefix("+CGBRRREP: ").split(",") for line in lines[5:] if line.startswith("+CGBRRREP: ")]
    # One each 40 ms of the second in which it sends. What it sends is 4.9 Mbit/s; what it could have is more: 11 Mbit/s.
    uplink = [int(kbps) for kbps, direction, _, _ in reports if direction == "1"]
    assert len(uplink) > 10 and 6_000 < sorted(uplink)[len(uplink) // 2] < 12_000, lines
    # The second question waits for the end of the prohibit timer, and nothing more waits beside it.
    assert lines[-1] == "+CME ERROR: 3"
    ue = cell.summary()["ues"][0]
    assert ue["uplink_anbr"]["recommendations"] >= len(uplink) and "queries" not in ue["uplink_anbr"]


def test_who_is_not_recommended_anything_has_no_modem(shell, nothing_left):
    cell = shell("--cell", "5g-static", command=[TIDEMARK, "net", "receive", f"{GATEWAY}:4100", "--controller", "anbr", "--modem"])
    assert cell.finish() == 2 and "anbr" in cell.stderr, cell.stderr


def test_a_download_follows_what_its_receiver_hears(shell, scenario, tmp_path, nothing_left):
    # Full at a tenth of what the cell can carry, unless more is recommended.
    options = ["--controller", "anbr", "--time", "6 s", "--set", "sender.rates.initial=4 Mbit/s", "--set", "sender.rates.max=60 Mbit/s"]
    server = start("send", "--listen", 4100, *options)
    receiver = [TIDEMARK, "net", "receive", f"{GATEWAY}:4100", "--modem", *options]
    cell = shell(scenario, "--set", "warmup=2 s", command=receiver, out=tmp_path / "out")
    assert cell.finish() == 0, cell.stderr
    received, sent = json.loads(cell.stdout.splitlines()[-1]), finish(server)[0][-1]
    ue = cell.summary()["ues"][0]
    print(received["recommended_mbps"], received["mbps"], sent["target_mbps"], ue["throughput_mbps"], ue["queue_ms"], ue["anbr"])
    assert 25 < ue["throughput_mbps"] < 41 and ue["anbr"]["mean_mbps"] > 25
    assert sent["target_mbps"] == pytest.approx(received["recommended_mbps"], rel=0.3)


def test_counters_and_status_tell_the_last_recommendation(shell, scenario, nothing_left):
    script = f"python3 -c '{LISTENER}' {GATEWAY} > /dev/null; {TIDEMARK} ctl status; {TIDEMARK} ctl metrics"
    cell = shell(scenario, command=["sh", "-c", script])
    assert cell.finish() == 0, cell.stderr
    status, metrics = cell.stdout.split("\n", 1)
    assert json.loads(status)["ues"][0]["recommended_up_mbps"] > 1
    assert 'tidemark_recommended_bits_per_second{ue="ue",direction="uplink"} ' in metrics
