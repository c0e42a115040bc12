"""Flow-rule manager: xi = {[mu], [alpha], delta} of the paper (Eq. 1), on Open vSwitch.

Table 0 has the flows: a rule gives each flow's port and queue. Table 1 has the queues: a rule for each says what
happens to its packets. So one rule starts and stops a queue's marks, however many flows it has.
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidemark_sdn import parser
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.openflow import SwitchChannel, message, ofp, ofp_parser
from tidemark_sdn.parser import Ecn

FLOWS, QUEUES = 0, 1

# The upper 16 bits of our cookies.
COOKIE = 0x7D5D << 48
COOKIE_MASK = 0xFFFF << 48

# Meters: one for LLDP, and two per port, for packets of unknown flows and for ARP, so that none blocks the others.
_LLDP_METER = 1
_PORT_METERS = 16
# Most LLDP frames per switch and second.
_LLDP_LIMIT = 1000


@dataclass(frozen=True)
class SetEcn:
    """Writes the ECN field."""

    value: Ecn


@dataclass(frozen=True)
class Output:
    """Sends a packet out of a port, through one of its queues."""

    port: int
    queue_id: int


@dataclass(frozen=True)
class Drop:
    """Drops a packet."""


# alpha (Eq. 3).
Action = SetEcn | Output | Drop


@dataclass(frozen=True)
class FlowMatch:
    """mu (Eq. 2), for one flow. `dscp` is None if it does not matter."""

    destination_mac: str
    vlan: int
    source: parser.Address
    destination: parser.Address
    protocol: int
    source_port: int
    destination_port: int
    kind: Kind
    dscp: int | None

    @property
    def codepoints(self) -> tuple[Ecn, Ecn]:
        """Codepoints of its kind, because a switch on the path may have set CE."""
        return (Ecn.ECT_1, Ecn.CE) if self.kind is Kind.L4S else (Ecn.NOT_ECT, Ecn.ECT_0)

    def fields(self, ecn: Ecn) -> dict[str, Any]:
        """OpenFlow match fields of one codepoint; ip_ecn can't be masked."""
        version = "ipv4" if self.source.version == 4 else "ipv6"
        fields: dict[str, Any] = {
            "eth_dst": self.destination_mac,
            "vlan_vid": self.vlan,
            "eth_type": parser.IPV4 if version == "ipv4" else parser.IPV6,
            f"{version}_src": str(self.source),
            f"{version}_dst": str(self.destination),
            "ip_proto": self.protocol,
            "ip_ecn": int(ecn),
        }
        if self.dscp is not None:
            fields["ip_dscp"] = self.dscp
        if transport := {parser.TCP: "tcp", parser.UDP: "udp"}.get(self.protocol):
            fields[f"{transport}_src"] = self.source_port
            fields[f"{transport}_dst"] = self.destination_port
        return fields


def classify(ip: parser.Ip, dscp: int | None) -> Kind:
    """True for L4S: ECT(1) or CE (RFC 9331), with the paper's DSCP if required."""
    capable = ip.ecn in (Ecn.ECT_1, Ecn.CE)
    return Kind.L4S if capable and (dscp is None or ip.dscp == dscp) else Kind.CLASSIC


def _metadata(port: int, kind: Kind) -> int:
    return port << 8 | kind.queue_id


@dataclass(frozen=True)
class FlowRule:
    """A flow's rule, read back from a switch."""

    match: FlowMatch
    ecn: Ecn
    port: int
    cookie: int


def _read_rule(rule: Any) -> FlowRule:
    """A rule from OFPFlowStats; raises KeyError or ValueError for one that this class does not write."""
    metadata = next(item.metadata for item in rule.instructions if item.type == ofp.OFPIT_WRITE_METADATA)
    fields = rule.match
    version = "ipv4" if fields["eth_type"] == parser.IPV4 else "ipv6"
    transport = {parser.TCP: "tcp", parser.UDP: "udp"}.get(fields["ip_proto"])
    match = FlowMatch(
        destination_mac=fields["eth_dst"],
        vlan=fields["vlan_vid"],
        source=ipaddress.ip_address(fields[f"{version}_src"]),
        destination=ipaddress.ip_address(fields[f"{version}_dst"]),
        protocol=fields["ip_proto"],
        source_port=fields[f"{transport}_src"] if transport else 0,
        destination_port=fields[f"{transport}_dst"] if transport else 0,
        kind=Kind((metadata & 0xFF) - 1),
        dscp=fields.get("ip_dscp"),
    )
    return FlowRule(match, Ecn(fields["ip_ecn"]), metadata >> 8, rule.cookie)


class RuleManager:
    """Writes rules."""

    def __init__(self, priority: int, idle_timeout: float) -> None:
        # delta (Eq. 4).
        self._priority = priority
        self._idle_timeout = max(1, round(idle_timeout))

    def prepare(self, switch: SwitchChannel, packet_in_limit: int) -> None:
        """Installs the common rules and meters: LLDP and unknown packets go to the controller, within limits."""
        self._send_up(switch, {"eth_type": parser.LLDP}, ofp.OFP_DEFAULT_PRIORITY * 2 - 1, _LLDP_METER, _LLDP_LIMIT)
        for port in switch.ports:
            self.admit_port(switch, port, packet_in_limit)

    def admit_port(self, switch: SwitchChannel, port: int, packet_in_limit: int) -> None:
        """Lets a port send packets of unknown flows to the controller, and ARP, without which no flow starts."""
        meter = _PORT_METERS + 2 * port
        self._send_up(switch, {"in_port": port}, 0, meter, packet_in_limit)
        self._send_up(switch, {"in_port": port, "eth_type": parser.ARP}, 1, meter + 1, packet_in_limit)

    def _send_up(self, switch: SwitchChannel, fields: dict[str, Any], priority: int, meter: int, rate: int) -> None:
        bands = [ofp_parser.OFPMeterBandDrop(rate=rate, burst_size=rate)]
        flags = ofp.OFPMF_PKTPS | ofp.OFPMF_BURST
        # Removing a meter also removes its rules.
        switch.send(message(ofp_parser.OFPMeterMod, ofp.OFPMC_DELETE, flags, meter))
        switch.send(message(ofp_parser.OFPMeterMod, ofp.OFPMC_ADD, flags, meter, bands))
        up = [ofp_parser.OFPActionOutput(ofp.OFPP_CONTROLLER, ofp.OFPCML_NO_BUFFER)]
        self._add(switch, FLOWS, fields, priority, [ofp_parser.OFPInstructionMeter(meter), _apply(up)], COOKIE)

    def install_flow(
        self, switch: SwitchChannel, match: FlowMatch, port: int, cookie: int, ecns: Iterable[Ecn]
    ) -> None:
        """Sends a flow's packets to a queue of a port."""
        instructions = [
            ofp_parser.OFPInstructionWriteMetadata(_metadata(port, match.kind), 0xFFFF_FFFF_FFFF_FFFF),
            ofp_parser.OFPInstructionGotoTable(QUEUES),
        ]
        for ecn in ecns:
            fields = match.fields(ecn)
            flags = ofp.OFPFF_SEND_FLOW_REM
            self._add(switch, FLOWS, fields, self._priority, instructions, cookie, self._idle_timeout, flags)

    def remove_flow(self, switch: SwitchChannel, cookie: int) -> None:
        """Removes all rules of a flow from a switch."""
        self._remove(switch, FLOWS, {}, cookie, 0xFFFF_FFFF_FFFF_FFFF)

    def install_queue(self, switch: SwitchChannel, port: int, kind: Kind, actions: Iterable[Action]) -> None:
        """Sets the treatment of a queue's packets."""
        encoded = [item for action in actions for item in _encode(action)]
        instructions = [_apply(encoded)] if encoded else []
        for ethertype in (parser.IPV4, parser.IPV6):
            fields = {"metadata": _metadata(port, kind), "eth_type": ethertype}
            self._add(switch, QUEUES, fields, self._priority, instructions, COOKIE)

    def remove_queue(self, switch: SwitchChannel, port: int, kind: Kind) -> None:
        """Removes the rules of a queue."""
        for ethertype in (parser.IPV4, parser.IPV6):
            fields = {"metadata": _metadata(port, kind), "eth_type": ethertype}
            self._remove(switch, QUEUES, fields, COOKIE, COOKIE_MASK)

    async def read_back(self, switch: SwitchChannel) -> list[FlowRule]:
        """Reads the flow rules of a switch, including an earlier controller's; removes other rules with our cookie."""
        request = message(
            ofp_parser.OFPFlowStatsRequest, 0, FLOWS, ofp.OFPP_ANY, ofp.OFPG_ANY, COOKIE, COOKIE_MASK, None
        )
        found = []
        for rule in [rule for part in await switch.request(request) for rule in part.body]:
            if rule.cookie != COOKIE:
                try:
                    found.append(_read_rule(rule))
                except (KeyError, ValueError, StopIteration):
                    self.remove_flow(switch, rule.cookie)
        return found

    def _add(
        self,
        switch: SwitchChannel,
        table: int,
        fields: dict[str, Any],
        priority: int,
        instructions: list[Any],
        cookie: int,
        idle_timeout: int = 0,
        flags: int = 0,
    ) -> None:
        switch.send(
            message(
                ofp_parser.OFPFlowMod,
                cookie=cookie,
                table_id=table,
                command=ofp.OFPFC_ADD,
                idle_timeout=idle_timeout,
                priority=priority,
                flags=flags,
                match=ofp_parser.OFPMatch(**fields),
                instructions=instructions,
            )
        )

    def _remove(self, switch: SwitchChannel, table: int, fields: dict[str, Any], cookie: int, mask: int) -> None:
        switch.send(
            message(
                ofp_parser.OFPFlowMod,
                cookie=cookie,
                cookie_mask=mask,
                table_id=table,
                command=ofp.OFPFC_DELETE,
                out_port=ofp.OFPP_ANY,
                out_group=ofp.OFPG_ANY,
                match=ofp_parser.OFPMatch(**fields),
                instructions=[],
            )
        )


def _apply(actions: list[Any]) -> Any:
    return ofp_parser.OFPInstructionActions(ofp.OFPIT_APPLY_ACTIONS, actions)


def _encode(action: Action) -> list[Any]:
    match action:
        case SetEcn(value):
            return [ofp_parser.OFPActionSetField(ip_ecn=int(value))]
        case Output(port, queue_id):
            return [ofp_parser.OFPActionSetQueue(queue_id), ofp_parser.OFPActionOutput(port)]
        case Drop():
            return []
