"""Round trips of QUIC, which the cell sees in the spin bit."""

import subprocess
import sys

from conftest import GATEWAY

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


def test_edges_of_the_spin_bit_are_a_flows_round_trips(shell, tmp_path):
    server = subprocess.Popen([sys.executable, "-c", SERVER])
    try:
        cell = shell("--cell", "5g-static", "--round-trip", "40 ms", command=[sys.executable, "-c", CLIENT], out=tmp_path / "out")
        assert cell.finish(timeout=40) == 0, cell.stderr
    finally:
        server.kill()
        server.wait()
    flow = next(flow for flow in cell.summary()["flows"] if flow["name"].endswith(":4433"))
    assert flow["rtt_ms"] is not None and 40 < flow["rtt_ms"]["p50"] < 100, flow
