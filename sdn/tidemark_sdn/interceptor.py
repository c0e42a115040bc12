"""Packet interceptor: takes PACKET_INs, the first packets of flows, and classifies them."""

import struct
from collections.abc import Callable
from typing import Any

from tidemark_sdn import parser
from tidemark_sdn.discovery import Discovery, send_packet
from tidemark_sdn.lldp import LldpError
from tidemark_sdn.openflow import SwitchChannel
from tidemark_sdn.parser import Packet, PacketError
from tidemark_sdn.statistics import StatisticsStore
from tidemark_sdn.topology import Attachment, Topology


class PacketInterceptor:
    """Handler of packets that switches send to the controller."""

    def __init__(
        self,
        topology: Topology,
        discovery: Discovery,
        statistics: StatisticsStore,
        edges: set[Attachment],
        on_link: Callable[[Attachment, Attachment], None],
        on_group: Callable[[Attachment, bytes], None],
        on_packet: Callable[[SwitchChannel, Attachment, Packet, bytes], None],
    ) -> None:
        self._topology = topology
        self._discovery = discovery
        self._statistics = statistics
        self._edges = edges
        self._on_link = on_link
        self._on_group = on_group
        self._on_packet = on_packet

    def intercept(self, switch: SwitchChannel, message: Any) -> None:
        """Takes a PACKET_IN."""
        self._statistics.count("packet_in")
        arrival = Attachment(switch.datapath_id, message.match["in_port"])
        try:
            packet = parser.parse(message.data)
            if packet.ethertype == parser.LLDP:
                self._hear(arrival, packet)
            elif self._admit(arrival, packet):
                if packet.group:
                    self._on_group(arrival, message.data)
                else:
                    self._on_packet(switch, arrival, packet, message.data)
        except PacketError:
            self._statistics.count("malformed_packet")

    def _hear(self, arrival: Attachment, packet: Packet) -> None:
        try:
            if arrival in self._edges:
                raise LldpError("at a port for hosts only")
            other, new = self._discovery.hear(arrival, packet.payload)
        except LldpError as error:
            self._statistics.count("lldp_refused")
            if self._statistics.counters["lldp_refused"] <= 10:
                self._statistics.event(f"LLDP refused at {arrival.datapath_id:016x}:{arrival.port}: {error}")
            return
        if new:
            self._on_link(other, arrival)

    def _admit(self, arrival: Attachment, packet: Packet) -> bool:
        """Learns hosts; false for a packet whose place is not known yet."""
        if self._topology.is_link(arrival):
            # Broadcasts never cross links by rules: the controller itself sends them out at every edge port.
            return not packet.group
        if arrival not in self._edges and not self._discovery.is_decided(arrival):
            return False
        if int(packet.source[:2], 16) & 1:
            raise PacketError("the source is a group address")
        if self._topology.learn(packet.source, arrival):
            self._statistics.event(f"host {packet.source} moved to {arrival.datapath_id:016x}:{arrival.port}")
        return True


def arp_request(packet: Packet) -> bytes | None:
    """Makes an ARP request for a packet's destination on behalf of its sender; None if ARP can't ask."""
    if packet.ip is None or packet.ip.source.version != 4 or packet.vlan:
        return None
    source, everyone = bytes.fromhex(packet.source.replace(":", "")), b"\xff" * 6
    # RFC 826: Ethernet, IPv4, lengths, request.
    head = struct.pack("!HHBBH", 1, parser.IPV4, 6, 4, 1)
    body = source + packet.ip.source.packed + bytes(6) + packet.ip.destination.packed
    return everyone + source + struct.pack("!H", parser.ARP) + head + body


def flood(switches: dict[int, SwitchChannel], ports: list[Attachment], frame: bytes) -> None:
    """Sends a frame out of ports across the network."""
    for datapath_id, switch in switches.items():
        numbers = [port.port for port in ports if port.datapath_id == datapath_id]
        if numbers:
            send_packet(switch, frame, *numbers)
