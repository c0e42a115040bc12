"""LLDP proves itself: what another one made, or changed, is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark_sdn import lldp, parser
from tidemark_sdn.discovery import Discovery
from tidemark_sdn.lldp import Announcement, LldpError
from tidemark_sdn.topology import Attachment, Topology

SECRET, MAC = bytes(32), bytes.fromhex("020000000001")
ANNOUNCEMENT = Announcement(0x1234, 7, 42)


def payload(frame: bytes) -> bytes:
    packet = parser.parse(frame)
    assert packet.ethertype == parser.LLDP
    return packet.payload


def test_a_frame_says_who_sent_it() -> None:
    assert lldp.read(payload(lldp.build(ANNOUNCEMENT, MAC, SECRET, 5)), SECRET) == ANNOUNCEMENT


def test_another_secret_proves_nothing() -> None:
    with pytest.raises(LldpError, match="proof"):
        lldp.read(payload(lldp.build(ANNOUNCEMENT, MAC, b"guessed", 5)), SECRET)


@given(st.integers(14, 89), st.integers(0, 7))
def test_no_bit_can_be_changed_for_another_sender(position: int, bit: int) -> None:
    frame = bytearray(lldp.build(ANNOUNCEMENT, MAC, SECRET, 5))
    frame[position % len(frame)] ^= 1 << bit
    try:
        packet = parser.parse(bytes(frame))
        assert lldp.read(packet.payload, SECRET) == ANNOUNCEMENT
    except LldpError:
        pass


@given(st.binary(max_size=150))
def test_no_bytes_get_further_than_an_error(data: bytes) -> None:
    with pytest.raises(LldpError):
        lldp.read(data, SECRET)


def test_a_frame_of_an_earlier_round_is_refused() -> None:
    topology = Topology()
    discovery = Discovery(topology, 0.5, 5)
    old = payload(lldp.build(Announcement(1, 1, 0), MAC, discovery._secret, 5))
    here = Attachment(2, 1)
    discovery.announce([], set())
    assert discovery.hear(here, old) == (Attachment(1, 1), True)
    for _ in range(10):
        discovery.announce([], set())
    with pytest.raises(LldpError, match="an earlier round"):
        discovery.hear(here, old)


def test_a_frame_that_comes_back_makes_no_link() -> None:
    topology = Topology()
    discovery = Discovery(topology, 0.5, 5)
    with pytest.raises(LldpError, match="returned at its own port"):
        discovery.hear(Attachment(1, 1), payload(lldp.build(Announcement(1, 1, 0), MAC, discovery._secret, 5)))
    assert not topology.links
