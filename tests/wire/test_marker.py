"""The kernel's TCP works through the marker's packet path, and answers marks that only its acknowledgements carried."""

import hashlib
import subprocess
import sys

import pytest
from conftest import example
from test_kernel import CLIENT, NAMES, SERVER, SIZE, counters, forward, inside, tcp_flags, tunnels  # noqa: F401


# How the kernel's ends agree, and whether a receiver with AccECN sends the option with its byte counters.
ENDS = {"classic": {"tcp_ecn": 1}, "ace": {"tcp_ecn": 3, "tcp_ecn_option": 0}, "option": {"tcp_ecn": 3, "tcp_ecn_option": 2}}


@pytest.mark.parametrize("address", ["10.77.0.1", "fd77::1"])
@pytest.mark.parametrize("ends", ENDS)
def test_short_circuited_feedback_is_taken_for_the_receivers_own(tunnels, address, ends):  # noqa: F811
    for name in NAMES:
        for key, value in ENDS[ends].items():
            setting = inside(name, "sh", "-c", f"echo {value} > /proc/sys/net/ipv4/{key}")
            if subprocess.run(setting, capture_output=True, check=False).returncode != 0:
                pytest.skip(f"this kernel refuses {key}={value}: its TCP can't be asked for AccECN")

    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    before = {name: counters(name) for name in NAMES}
    hop = subprocess.Popen([example("tidemark-marker", "hop")], stderr=subprocess.PIPE, **pipes)
    server = subprocess.Popen(inside(NAMES[0], sys.executable, "-c", SERVER, address, str(SIZE)), **pipes)
    try:
        assert server.stdout.readline() == "listening\n"
        client = subprocess.Popen(inside(NAMES[1], sys.executable, "-c", CLIENT, address), **pipes)
        passed = forward(hop, tunnels, client)
        passed += forward(hop, tunnels, server)
        hop.stdin.close()
        short_circuited, rewritten = map(int, hop.stderr.read().split())
    finally:
        hop.kill()
        server.kill()
    delivered_ce = int(server.stdout.read())
    content = bytes(at * 7 % 251 for at in range(SIZE))
    assert client.stdout.read().strip() == hashlib.sha256(content).hexdigest()
    assert short_circuited > 20 and rewritten > 20

    after = {name: counters(name) for name in NAMES}
    for name in NAMES:
        for counter in ("Tcp.InCsumErrors", "Tcp.InErrs", "Ip.InHdrErrors", "Ip6InHdrErrors"):
            assert after[name][counter] == before[name].get(counter, 0), (name, counter)
    down = [packet for from_server, packet in passed if from_server]
    # No packet carried a mark.
    assert not any((packet[1] if packet[0] >> 4 == 4 else packet[1] >> 4) & 3 == 3 for packet in down)
    if ends == "classic":
        # The sender slowed down all the same, and said so with CWR.
        assert sum(flags & 0x82 == 0x80 for flags in tcp_flags(down)) > 5
    else:
        # The sender counted the marks that were written: never more, and all but those of the last packets.
        assert short_circuited - 10 <= delivered_ce <= short_circuited
