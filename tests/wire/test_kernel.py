"""The kernel's TCP works through a hop that marks its packets and rewrites its acknowledgements.

Two network namespaces, each with a TUN device whose other end is here. Packets between them pass the example `rewrite`.
"""

import fcntl
import hashlib
import itertools
import os
import select
import shutil
import socket
import struct
import subprocess
import sys

import pytest
from conftest import example

TUNSETIFF, IFF_TUN_WITHOUT_INFO = 0x400454CA, 0x1001
# Of this run alone: a run that was killed leaves its namespaces. An interface's name has 15 characters at the most.
NAMES = tuple(f"tidemark{os.getpid() % 100_000}{end}" for end in "ab")
SIZE = 2_000_000

if os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK) or not shutil.which("ip"):
    pytest.skip("needs root, /dev/net/tun and ip: run tests/install-packages.sh", allow_module_level=True)

SERVER = """
import socket, struct, sys
address, size = sys.argv[1], int(sys.argv[2])
family = socket.AF_INET6 if ":" in address else socket.AF_INET
with socket.create_server((address, 8000), family=family) as listener:
    print("listening", flush=True)
    connection, _ = listener.accept()
    connection.sendall(bytes(at * 7 % 251 for at in range(size)))
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    print(struct.unpack_from("=II", info, 192)[1])  # tcpi_delivered_ce (linux/tcp.h)
"""

CLIENT = """
import hashlib, socket, sys
with socket.create_connection((sys.argv[1], 8000)) as connection:
    digest = hashlib.sha256()
    while part := connection.recv(65536):
        digest.update(part)
    connection.sendall(b".")
    print(digest.hexdigest())
"""


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def inside(name, *command):
    return ["ip", "netns", "exec", name, *command]


@pytest.fixture
def tunnels():
    """Two namespaces with addresses, and the file descriptors of the far ends of their TUN devices."""
    descriptors = []
    try:
        for name, host in zip(NAMES, (1, 2), strict=True):
            ip("netns", "add", name)
            descriptor = os.open("/dev/net/tun", os.O_RDWR)
            descriptors.append(descriptor)
            fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN_WITHOUT_INFO))
            ip("link", "set", name, "netns", name)
            ip("-n", name, "address", "add", f"10.77.0.{host}/24", "dev", name)
            ip("-n", name, "address", "add", f"fd77::{host}/64", "dev", name, "nodad")
            ip("-n", name, "link", "set", name, "up")
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
        for name in NAMES:
            subprocess.run(["ip", "netns", "delete", name], check=False)


def counters(name):
    """SNMP counters of a namespace, such as `Tcp.InCsumErrors`."""
    text = subprocess.run(
        inside(name, "cat", "/proc/net/snmp", "/proc/net/netstat", "/proc/net/snmp6"),
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    lines = text.splitlines()
    found = {}
    for heads, values in itertools.pairwise(lines):
        group, _, names = heads.partition(": ")
        if values.startswith(f"{group}: ") and not names[0].isdigit():
            found |= {f"{group}.{key}": int(value) for key, value in zip(names.split(), values.split()[1:])}
    found |= {line.split()[0]: int(line.split()[1]) for line in lines if line.startswith(("Ip6", "Udp6"))}
    return found


def forward(hop, descriptors, until):
    """Passes packets between the tunnels through the hop until a process ends, and gives the packets after the hop."""
    a, b = descriptors
    passed = []
    while until.poll() is None:
        for descriptor in select.select(descriptors, [], [], 0.1)[0]:
            hop.stdin.write(os.read(descriptor, 65536).hex() + "\n")
            hop.stdin.flush()
            packet = bytes.fromhex(hop.stdout.readline())
            passed.append((descriptor == a, packet))
            os.write(b if descriptor == a else a, packet)
    return passed


def tcp_flags(packets):
    """The low eight flags of the TCP segments among packets; router solicitations pass here, too."""
    for packet in packets:
        protocol, header = (packet[9], packet[20:]) if packet[0] >> 4 == 4 else (packet[6], packet[40:])
        if protocol == socket.IPPROTO_TCP:
            yield header[13]


@pytest.mark.parametrize("address", ["10.77.0.1", "fd77::1"])
@pytest.mark.parametrize(("mode", "tcp_ecn"), [("classic", "1"), ("accecn", "3")])
def test_a_connection_goes_on(tunnels, address, mode, tcp_ecn):
    for name in NAMES:
        set_ecn = inside(name, "sh", "-c", f"echo {tcp_ecn} > /proc/sys/net/ipv4/tcp_ecn")
        if subprocess.run(set_ecn, capture_output=True, check=False).returncode != 0:
            pytest.skip(f"this kernel does not know tcp_ecn={tcp_ecn}")

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    before = {name: counters(name) for name in NAMES}
    hop = subprocess.Popen([example("tidemark-wire", "rewrite"), mode], **pipes)
    server = subprocess.Popen(inside(NAMES[0], sys.executable, "-c", SERVER, address, str(SIZE)), **pipes)
    try:
        assert server.stdout.readline() == "listening\n"
        client = subprocess.Popen(inside(NAMES[1], sys.executable, "-c", CLIENT, address), **pipes)
        passed = forward(hop, tunnels, client)
        passed += forward(hop, tunnels, server)
    finally:
        hop.kill()
        server.kill()
    content = bytes(at * 7 % 251 for at in range(SIZE))
    assert client.stdout.read().strip() == hashlib.sha256(content).hexdigest()
    delivered_ce = int(server.stdout.read())

    after = {name: counters(name) for name in NAMES}
    grown = {name: {key: after[name][key] - before[name].get(key, 0) for key in after[name]} for name in NAMES}
    for name in NAMES:
        for counter in ("Tcp.InCsumErrors", "Tcp.InErrs", "Ip.InHdrErrors", "Ip6InHdrErrors"):
            assert grown[name][counter] == 0, (name, counter)
    down = [packet for from_server, packet in passed if from_server]
    up = [packet for from_server, packet in passed if not from_server]
    marked = sum((packet[1] if packet[0] >> 4 == 4 else packet[1] >> 4) & 3 == 3 for packet in down)
    assert marked > SIZE / 1500 / 20
    received = grown[NAMES[1]]["IpExt.InCEPkts" if "." in address else "Ip6InCEPkts"]
    assert received == marked
    if mode == "classic":
        # The sender answers the rewritten ECE with CWR.
        assert any(flags & 0x42 == 0x40 for flags in tcp_flags(up))
        assert any(flags & 0x82 == 0x80 for flags in tcp_flags(down))
    else:
        # The sender counts the marks that the receiver saw, and the one that was added on the way.
        assert delivered_ce >= marked
