"""The program of the ports on a real device: marks and drops, counted by the receiver, agree with the law."""

import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyroute2 import IPRoute

from tests.lab import furnished, needs_lab
from tests.test_parser import ipv4
from tidemark_sdn.agent.pi2 import Pi2, Pi2Settings
from tidemark_sdn.agent.program import Program, Settings, compile_program
from tidemark_sdn.agent.shaper import Kind, QueueSettings, Shaper
from tidemark_sdn.parser import Ecn

COUNT = 4000
# The module socket does not name it.
_SO_RCVBUFFORCE = 33
ALWAYS = 1e9


class Cable:
    """Two ends of a veth; packets go from the one with the program to the other."""

    def __init__(self, folder: Path) -> None:
        # Without IPv6, whose own packets would be counted with the test's.
        command = (
            "ip link add va type veth peer name vb;"
            " sysctl -qw net.ipv6.conf.va.disable_ipv6=1 net.ipv6.conf.vb.disable_ipv6=1;"
            " ip link set va up; ip link set vb up"
        )
        subprocess.run(command, shell=True, check=True)
        self.netlink = IPRoute()
        self.shaper = Shaper(self.netlink, "va")
        compile_program(folder / "port.o")
        self.program = Program(folder / "port.o")
        self.shaper.attach(self.program.fd)
        self.sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.sender.bind(("va", 0))
        self.receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.receiver.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 26)
        self.receiver.bind(("vb", 0))
        self.receiver.settimeout(0.3)

    def send(self, tos: int, count: int = COUNT, gap: float = 0.0, size: int = 60) -> Counter[int]:
        """Sends packets with a ToS, at least a gap apart, and counts what arrives by ToS."""
        frame = bytes.fromhex("020000000002020000000001") + b"\x08\x00" + ipv4(tos, payload=bytes(size - 20))
        for _ in range(count):
            if gap:
                # Never faster, where the machine has held one up.
                time.sleep(gap)
            # What the program drops is no error to who sends: Open vSwitch would drop the rest of its batch.
            self.sender.send(frame)
        arrived: Counter[int] = Counter()
        try:
            while True:
                packet = self.receiver.recv(2048)
                if packet[:6] == frame[:6]:
                    arrived[packet[15]] += 1
        except TimeoutError:
            return arrived

    def close(self) -> None:
        self.shaper.clear()
        self.program.close()
        subprocess.run(["ip", "link", "delete", "va"], check=True)


@pytest.fixture(scope="module")
def cable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cable]:
    with furnished():
        cable = Cable(tmp_path_factory.mktemp("program"))
        yield cable
        cable.close()


pytestmark = needs_lab


def share(part: int, whole: int, expected: float) -> bool:
    """Tells whether a count lies within four standard deviations of a binomial."""
    deviation: float = (expected * (1 - expected) / whole) ** 0.5
    return abs(part / whole - expected) < 4 * deviation + 1e-9


def settings(**changed: float) -> Settings:
    """Marks on, with a virtual queue that never builds up."""
    values = {"virtual_rate": 1e12, "ramp_low": 1.0, "ramp_high": 2.0, "lifetime": ALWAYS} | changed
    return Settings(marking=True, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("probability", [0.0, 0.1, 0.5, 1.0])
def test_l4s_packets_are_marked_with_the_coupled_probability(cable: Cable, probability: float) -> None:
    cable.program.write(settings(coupled=probability))
    arrived = cable.send(Ecn.ECT_1)
    assert arrived.total() == COUNT
    assert share(arrived[Ecn.CE], COUNT, probability)


@pytest.mark.parametrize("probability", [0.1, 0.5])
def test_classic_packets_are_marked_or_dropped_with_theirs(cable: Cable, probability: float) -> None:
    cable.program.write(settings(classic=probability, coupled=1.0))
    capable = cable.send(Ecn.ECT_0)
    assert capable.total() == COUNT
    assert share(capable[Ecn.CE], COUNT, probability)
    not_capable = cable.send(Ecn.NOT_ECT)
    assert share(COUNT - not_capable.total(), COUNT, probability)
    assert not_capable[Ecn.CE] == 0


def test_the_other_six_bits_stay(cable: Cable) -> None:
    cable.program.write(settings(coupled=1.0))
    # The paper's 185 becomes its 187.
    assert cable.send(185, 10) == {187: 10}


def test_probabilities_that_nobody_renews_are_not_used(cable: Cable) -> None:
    cable.program.write(settings(coupled=1.0, classic=1.0, lifetime=0.05))
    time.sleep(0.1)
    assert cable.send(Ecn.ECT_1, 100) == {Ecn.ECT_1: 100}
    assert cable.send(Ecn.NOT_ECT, 100) == {Ecn.NOT_ECT: 100}


def test_the_virtual_queue_marks_what_is_above_its_rate(cable: Cable) -> None:
    # A packet of 1014 bytes with its header takes 1 ms at 8 Mbit/s and 4 ms at 2. Every 2 ms the one builds no queue;
    # at once the other is above the ramp with the sixth packet.
    for rate, gap, least in ((8e6, 0.002, 0), (2e6, 0.0, 400)):
        cable.program.forget_reaction()
        cable.program.write(settings(virtual_rate=rate, ramp_low=0.01, ramp_high=0.02))
        arrived = cable.send(Ecn.ECT_1, 500, gap=gap, size=1000)
        assert arrived[Ecn.CE] >= least
        assert least or arrived[Ecn.CE] == 0
    reaction = cable.program.reaction()
    # The first mark comes on the ramp, not after a controller's round.
    assert 0 < reaction.first_over <= reaction.first_mark < reaction.first_over + 0.1e9


def test_each_kind_has_its_queue_and_what_is_not_ip_passes_both(cable: Cable) -> None:
    cable.shaper.set_rate(1e9)
    for kind in Kind:
        cable.shaper.set_queue(kind, QueueSettings(5e8, kind.value, 1_000_000))
    cable.program.write(Settings(l4s_class=Kind.L4S.class_id, classic_class=Kind.CLASSIC.class_id))
    before = cable.shaper.counters()
    for tos, count in ((Ecn.ECT_1, 5), (Ecn.CE, 7), (Ecn.NOT_ECT, 11), (Ecn.ECT_0, 13)):
        cable.send(tos, count)
    after = cable.shaper.counters()
    sent = {kind: after[kind].sent_packets - before[kind].sent_packets for kind in Kind}
    assert sent == {Kind.L4S: 12, Kind.CLASSIC: 24}
    cable.shaper.clear()
    cable.shaper.attach(cable.program.fd)


def test_pi2_finds_the_probability_that_holds_its_target() -> None:
    """A classic queue whose arrivals fall with the square root of the probability, as Reno's do."""
    pi2 = Pi2(Pi2Settings(0.015, 0.16, 3.2, 2.0))
    delay = 0.0
    for _ in range(4000):
        load = min(2.0, 0.1 / max(pi2.classic, 1e-4) ** 0.5)
        delay = max(0.0, delay + (load - 1.0) * 0.016)
        pi2.update(delay, 0.016)
    assert delay == pytest.approx(0.015, rel=0.05)
    assert pi2.classic == pytest.approx(0.01, rel=0.05)
    assert pi2.coupled == pytest.approx(2 * pi2.classic**0.5)


def test_pi2_is_held_at_what_marks_everything() -> None:
    pi2 = Pi2(Pi2Settings(0.015, 0.16, 3.2, 2.0))
    for _ in range(100):
        pi2.update(1.0, 0.016)
    assert (pi2.coupled, pi2.classic) == (1.0, 0.25)
    for _ in range(2000):
        pi2.update(0.0, 0.016)
    assert pi2.base == 0.0
