"""Round trips that the cell measures in packets that it can't decode: QUIC's spin bit, reports on RTP, and STUN."""

import json
import subprocess
import sys

from conftest import GATEWAY, TIDEMARK

# Short headers with a fixed bit, and one long header of version 1 before them. The server gives the bit back, the client turns it.
LONG, SHORT, SPIN = b"\xc3\x00\x00\x00\x01" + bytes(40), 0x40, 0x20
SERVER = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('0.0.0.0', 4433))
while True:
    data, peer = s.recvfrom(2000)
    s.sendto(data, peer)
"""
CLIENT = f"""
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect(('{GATEWAY}', 4433))
s.settimeout(0.005)
s.send({LONG!r})
bit, end = 0, time.monotonic() + 4
while time.monotonic() < end:
    s.send(bytes([{SHORT} | bit]) + bytes(100))
    try:
        first = s.recv(2000)[0]
        if first & 0x80 == 0:
            bit = (first & {SPIN}) ^ {SPIN}
    except TimeoutError:
        pass
"""


# Asks every 100 ms whether the path is there, as the ends of an encrypted call do; the server answers and asks as well.
STUN = """
import os, socket, sys, threading, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
peer, cookie = None, bytes.fromhex('2112a442')
if sys.argv[1] == 'server':
    s.bind(('0.0.0.0', 3478))
    _, peer = s.recvfrom(2000)
else:
    peer = (sys.argv[1], 3478)

def ask():
    while True:
        s.sendto(b'\\0\\1\\0\\0' + cookie + os.urandom(12), peer)
        time.sleep(0.1)

threading.Thread(target=ask, daemon=True).start()
end = time.monotonic() + 6
while time.monotonic() < end:
    data = s.recv(2000)
    if data[:2] == b'\\0\\1':
        s.sendto(b'\\1\\1' + data[2:], peer)
"""


def flow_of(cell, port):
    return next(flow for flow in cell.summary()["flows"] if flow["name"].endswith(f":{port}"))


def test_edges_of_the_spin_bit_are_a_flows_round_trips(shell, tmp_path):
    server = subprocess.Popen([sys.executable, "-c", SERVER])
    try:
        cell = shell("--cell", "5g-static", "--round-trip", "40 ms", command=[sys.executable, "-c", CLIENT], out=tmp_path / "out")
        assert cell.finish(timeout=40) == 0, cell.stderr
    finally:
        server.kill()
        server.wait()
    flow = flow_of(cell, 4433)
    assert flow["rtt_ms"] is not None and 40 < flow["rtt_ms"]["p50"] < 100, flow


def test_both_ends_of_a_call_tell_its_round_trip_by_stun(shell, tmp_path):
    server = subprocess.Popen([sys.executable, "-c", STUN, "server"])
    try:
        client = ["timeout", "4", sys.executable, "-c", STUN, GATEWAY]
        cell = shell("--cell", "5g-static", "--round-trip", "40 ms", command=client, out=tmp_path / "out")
        assert cell.finish(timeout=40) == 124, cell.stderr
    finally:
        server.kill()
        server.wait()
    flow = flow_of(cell, 3478)
    assert flow["rtt_ms"] is not None and 40 < flow["rtt_ms"]["p50"] < 100, flow


def test_reports_on_rtp_tell_what_its_sender_measures(shell, tmp_path):
    options = ["--controller", "scream", "--time", "6 s"]
    server = subprocess.Popen([TIDEMARK, "net", "send", "--listen", "4100", *options], stdout=subprocess.PIPE, text=True)
    client = [TIDEMARK, "net", "receive", f"{GATEWAY}:4100", *options]
    cell = shell("--cell", "5g-static", "--round-trip", "40 ms", command=client, out=tmp_path / "out")
    assert cell.finish(timeout=40) == 0, cell.stderr
    sent = json.loads(server.communicate(timeout=20)[0].splitlines()[-1])
    flow = flow_of(cell, 4100)
    assert flow["rtt_ms"] is not None and abs(flow["rtt_ms"]["p50"] - sent["rtt_ms"]["p50"]) < 15, (flow, sent)
