"""Packets from anybody: fields are right, and nothing but PacketError comes out of malformed ones."""

import contextlib
import ipaddress
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark_sdn import parser
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.parser import Ecn, PacketError
from tidemark_sdn.rules import classify

ETHERNET = bytes.fromhex("020000000002 020000000001".replace(" ", ""))


def ipv4(tos: int = 0, protocol: int = 17, payload: bytes = b"", fragment: int = 0) -> bytes:
    header = struct.pack("!BBHHHBBH", 0x45, tos, 20 + len(payload), 0, fragment, 64, protocol, 0)
    return header + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + payload


def ethernet(ethertype: int, payload: bytes) -> bytes:
    return ETHERNET + struct.pack("!H", ethertype) + payload


UDP = struct.pack("!HHHH", 1000, 2000, 8, 0)


def test_a_udp_packet() -> None:
    packet = parser.parse(ethernet(parser.IPV4, ipv4(185, payload=UDP)))
    assert packet.source == "02:00:00:00:00:01"
    assert packet.destination == "02:00:00:00:00:02"
    assert not packet.group
    assert packet.ip == parser.Ip(
        ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("10.0.0.2"), 17, 185, 1000, 2000
    )
    assert packet.ip.dscp == 46
    assert packet.ip.ecn is Ecn.ECT_1


def test_tags_are_looked_through_once() -> None:
    inner = struct.pack("!HH", 5, parser.IPV4) + ipv4(1, payload=UDP)
    assert parser.parse(ethernet(0x8100, inner)).vlan == 0x1005
    assert parser.parse(ethernet(0x8100, inner)).ip is not None
    twice = parser.parse(ethernet(0x88A8, struct.pack("!HH", 6, 0x8100) + inner))
    assert twice.ip is None


def test_later_fragments_have_no_ports() -> None:
    packet = parser.parse(ethernet(parser.IPV4, ipv4(payload=UDP, fragment=100)))
    assert packet.ip is not None
    assert (packet.ip.source_port, packet.ip.destination_port) == (0, 0)


def test_ipv6_with_an_extension_header() -> None:
    extension = bytes([17, 0, 0, 0, 0, 0, 0, 0])
    header = struct.pack("!IHBB", 6 << 28 | 3 << 20, len(extension + UDP), 0, 64)
    addresses = ipaddress.IPv6Address("fd00::1").packed + ipaddress.IPv6Address("fd00::2").packed
    packet = parser.parse(ethernet(parser.IPV6, header + addresses + extension + UDP))
    assert packet.ip is not None
    assert packet.ip.ecn is Ecn.CE
    assert (packet.ip.protocol, packet.ip.source_port, packet.ip.destination_port) == (17, 1000, 2000)


@pytest.mark.parametrize(
    ("tos", "dscp", "kind"),
    [
        (185, None, Kind.L4S),
        (185, 46, Kind.L4S),
        # What the paper's switch makes of 185: read literally it would be L4S no more.
        (187, 46, Kind.L4S),
        (1, 46, Kind.CLASSIC),
        (1, None, Kind.L4S),
        (3, None, Kind.L4S),
        (2, None, Kind.CLASSIC),
        (184, 46, Kind.CLASSIC),
        (0, None, Kind.CLASSIC),
    ],
)
def test_what_is_l4s(tos: int, dscp: int | None, kind: Kind) -> None:
    packet = parser.parse(ethernet(parser.IPV4, ipv4(tos, payload=UDP)))
    assert packet.ip is not None
    assert classify(packet.ip, dscp) is kind


@given(st.binary(max_size=200))
def test_no_bytes_get_further_than_an_error(data: bytes) -> None:
    with contextlib.suppress(PacketError):
        parser.parse(data)


@given(st.sampled_from([parser.IPV4, parser.IPV6, 0x8100]), st.binary(max_size=120))
def test_no_payload_gets_further_than_an_error(ethertype: int, data: bytes) -> None:
    with contextlib.suppress(PacketError):
        parser.parse(ethernet(ethertype, data))


@given(st.integers(0, 60))
def test_cut_packets_are_refused_or_read(length: int) -> None:
    whole = ethernet(parser.IPV4, ipv4(1, payload=UDP))
    try:
        packet = parser.parse(whole[:length])
    except PacketError:
        return
    assert packet.ip is None or length >= len(whole) - 4
