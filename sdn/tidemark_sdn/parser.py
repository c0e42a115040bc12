"""Packet parser: reads the needed fields of a frame from untrusted bytes."""

import ipaddress
import struct
from dataclasses import dataclass
from enum import IntEnum

IPV4 = 0x0800
ARP = 0x0806
IPV6 = 0x86DD
LLDP = 0x88CC

TCP = 6
UDP = 17

_VLAN = (0x8100, 0x88A8)
_VLAN_PRESENT = 0x1000
# IPv6 extension headers that are skipped: hop-by-hop, routing, destination options.
_EXTENSIONS = (0, 43, 60)
_FRAGMENT = 44
_MAX_EXTENSIONS = 8

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Ecn(IntEnum):
    """Codepoints of the ECN field (RFC 3168, RFC 9331)."""

    NOT_ECT = 0
    ECT_1 = 1
    ECT_0 = 2
    CE = 3


class PacketError(Exception):
    """A truncated or malformed frame."""


@dataclass(frozen=True)
class Ip:
    """An IP packet's fields. Ports are 0 where there are none, as in later fragments."""

    source: Address
    destination: Address
    protocol: int
    # The paper's mu: DSCP and ECN.
    tos: int
    source_port: int = 0
    destination_port: int = 0

    @property
    def ecn(self) -> Ecn:
        """The lower two bits of the ToS."""
        return Ecn(self.tos & 3)

    @property
    def dscp(self) -> int:
        """The upper six bits of the ToS."""
        return self.tos >> 2


@dataclass(frozen=True)
class Packet:
    """A frame."""

    source: str
    destination: str
    ethertype: int
    # The outer VLAN tag as OpenFlow matches it: 0x1000 and the number, or 0 for none.
    vlan: int
    payload: bytes
    ip: Ip | None = None

    @property
    def group(self) -> bool:
        """Broadcast or multicast."""
        return bool(int(self.destination[:2], 16) & 1)


def format_mac(mac: bytes) -> str:
    """Six bytes as text."""
    return mac.hex(":")


def parse(frame: bytes) -> Packet:
    """Fields of a frame."""
    if len(frame) < 14:
        raise PacketError("shorter than an Ethernet header")
    offset, vlan = 14, 0
    (ethertype,) = struct.unpack_from("!H", frame, 12)
    # One tag is skipped, as Open vSwitch does by default; a frame with two tags is not IP.
    if ethertype in _VLAN:
        if len(frame) < 18:
            raise PacketError("cut in its VLAN tag")
        tag, ethertype = struct.unpack_from("!HH", frame, 14)
        offset, vlan = 18, _VLAN_PRESENT | tag & 0xFFF
    payload = frame[offset:]
    ip = None
    if ethertype == IPV4:
        ip = _parse_ipv4(payload)
    elif ethertype == IPV6:
        ip = _parse_ipv6(payload)
    return Packet(format_mac(frame[6:12]), format_mac(frame[:6]), ethertype, vlan, payload, ip)


def _parse_ipv4(data: bytes) -> Ip:
    if len(data) < 20 or data[0] >> 4 != 4:
        raise PacketError("not an IPv4 header")
    length = (data[0] & 15) * 4
    if length < 20 or len(data) < length:
        raise PacketError("IPv4 header with a wrong length")
    fragment = struct.unpack_from("!H", data, 6)[0] & 0x1FFF
    ports = (0, 0) if fragment else _ports(data[9], data[length:])
    return Ip(ipaddress.IPv4Address(data[12:16]), ipaddress.IPv4Address(data[16:20]), data[9], data[1], *ports)


def _parse_ipv6(data: bytes) -> Ip:
    if len(data) < 40 or data[0] >> 4 != 6:
        raise PacketError("not an IPv6 header")
    tos = (data[0] & 15) << 4 | data[1] >> 4
    following, offset, fragment = data[6], 40, 0
    for _ in range(_MAX_EXTENSIONS):
        if following not in (*_EXTENSIONS, _FRAGMENT):
            break
        if len(data) < offset + 8:
            raise PacketError("cut in an IPv6 extension header")
        if following == _FRAGMENT:
            fragment = struct.unpack_from("!H", data, offset + 2)[0] >> 3
            length = 8
        else:
            length = (data[offset + 1] + 1) * 8
        following, offset = data[offset], offset + length
    ports = (0, 0) if fragment else _ports(following, data[offset:])
    return Ip(ipaddress.IPv6Address(data[8:24]), ipaddress.IPv6Address(data[24:40]), following, tos, *ports)


def _ports(protocol: int, data: bytes) -> tuple[int, int]:
    if protocol not in (TCP, UDP):
        return 0, 0
    if len(data) < 4:
        raise PacketError("cut in its ports")
    return struct.unpack_from("!HH", data)
