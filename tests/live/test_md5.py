"""TCP that the kernel signs (TCP_MD5SIG) behind a cell that writes marks into acknowledgements: a rewritten one would be dropped."""

import contextlib
import pathlib
import socket
import struct
import sys
import threading

import pytest

from conftest import GATEWAY, UE

SECONDS = 6
TCP_MD5SIG = 14
"""Socket option of linux/tcp.h; Python has no name for it."""

CLIENT = """
import socket, struct, sys, time
address, port, seconds, option, key = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]), bytes.fromhex(sys.argv[5])
client = socket.socket()
if key:
    client.setsockopt(socket.IPPROTO_TCP, option, key)
client.settimeout(5)
client.connect((address, port))
end, received = time.monotonic() + seconds, 0
while time.monotonic() < end and (data := client.recv(1 << 16)):
    received += len(data)
print(received)
print(open("/proc/net/netstat").read())
"""


def key_for(peer):
    """`struct tcp_md5sig` of linux/tcp.h: the peer's address and the key that segments from and to it are signed with."""
    key = b"sixteen secrets!"
    address = struct.pack("=HH4s120x", socket.AF_INET, 0, socket.inet_aton(peer))
    return address + struct.pack("=BBHi80s", 0, 0, len(key), 0, key)


def failures(netstat):
    """Segments that came without the signature that they should have had, with a wrong one, or with one that nobody expected."""
    names, values = (line.split() for line in netstat.splitlines() if line.startswith("TcpExt:"))
    counters = dict(zip(names, values, strict=True))
    return [int(counters[name]) for name in ("TCPMD5NotFound", "TCPMD5Unexpected", "TCPMD5Failure")]


def serve(listener):
    """Sends to one client until it leaves or its cell is gone."""
    with contextlib.suppress(OSError):
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(2)
            while True:
                connection.sendall(bytes(1 << 16))


@pytest.mark.parametrize("is_signed", [pytest.param(False, id="plain"), pytest.param(True, id="md5")])
def test_signed_tcp_is_marked_in_its_packets_and_loses_no_acknowledgement(shell, tmp_path, is_signed):
    with socket.create_server(("0.0.0.0", 0)) as listener:
        listener.settimeout(20)
        if is_signed:
            try:
                listener.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, key_for(UE))
            except OSError as error:
                pytest.skip(f"this kernel does not sign TCP: {error}")
        pathlib.Path("/proc/sys/net/ipv4/tcp_congestion_control").write_text("reno")
        before = failures(pathlib.Path("/proc/net/netstat").read_text())
        server = threading.Thread(target=serve, args=(listener,))
        server.start()
        key = key_for(GATEWAY).hex() if is_signed else ""
        client = [sys.executable, "-c", CLIENT, GATEWAY, listener.getsockname()[1], SECONDS, TCP_MD5SIG, key]
        options = ["--cell", "5g-static", "--round-trip", "20 ms", "--set", "marker.law=l4span", "--set", "marker.short_circuit=true"]
        script = 'echo 1 > /proc/sys/net/ipv4/tcp_ecn; exec "$@"'
        cell = shell(*options, command=["sh", "-c", script, "sh", *map(str, client)], out=tmp_path / "out")
        code = cell.finish(timeout=SECONDS + 30)
        server.join(timeout=20)
    assert (code, server.is_alive()) == (0, False), cell.stdout + cell.stderr
    received, netstat = cell.stdout.split("\n", 1)
    marked = cell.summary()["ues"][0]["marked"]
    rate = 8e-6 * int(received) / SECONDS
    print(f"signed {is_signed}: {rate:.1f} Mbit/s, {marked} marks")
    # The cell carries some 39 Mbit/s, and one whose acknowledgements are dropped stands after its first window.
    assert rate > 20 and marked > 0
    after = failures(pathlib.Path("/proc/net/netstat").read_text())
    assert [after, failures(netstat)] == [before, [0, 0, 0]]
