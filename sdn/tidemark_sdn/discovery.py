"""Finds links: sends LLDP out of every port, and trusts frames that return with this controller's proof."""

import secrets
import time
from collections.abc import Iterable

from tidemark_sdn import lldp
from tidemark_sdn.lldp import Announcement, LldpError
from tidemark_sdn.openflow import SwitchChannel, message, ofp, ofp_parser
from tidemark_sdn.topology import Attachment, Topology


class Discovery:
    """Periodic rounds of LLDP."""

    def __init__(self, topology: Topology, interval: float, lifetime: float) -> None:
        self._topology = topology
        self._interval = interval
        self._lifetime = lifetime
        # Lost with the process, so that frames of an earlier controller prove nothing.
        self._secret = secrets.token_bytes(32)
        self._round = 0
        self._decided_at: dict[Attachment, float] = {}

    @property
    def interval(self) -> float:
        """Seconds between two rounds."""
        return self._interval

    def announce(self, switches: Iterable[SwitchChannel], edges: set[Attachment]) -> None:
        """Sends a round out of all ports except those for hosts only."""
        self._round += 1
        for switch in switches:
            for number, port in switch.ports.items():
                attachment = Attachment(switch.datapath_id, number)
                if attachment not in edges and port_is_up(port):
                    self.announce_at(switch, number)

    def announce_at(self, switch: SwitchChannel, number: int) -> None:
        """Sends one frame."""
        port = switch.ports[number]
        self._decided_at.setdefault(Attachment(switch.datapath_id, number), time.monotonic() + 2 * self._interval)
        frame = lldp.build(
            Announcement(switch.datapath_id, number, self._round),
            bytes.fromhex(port.hw_addr.replace(":", "")),
            self._secret,
            self._lifetime,
        )
        send_packet(switch, frame, number)

    def is_decided(self, attachment: Attachment) -> bool:
        """True if a port has had enough time to show a switch behind it."""
        return time.monotonic() >= self._decided_at.get(attachment, 0.0)

    def forget(self, attachment: Attachment) -> None:
        """Treats a port as new."""
        self._decided_at.pop(attachment, None)

    def hear(self, attachment: Attachment, payload: bytes) -> tuple[Attachment, bool]:
        """The other end of the link that a frame arrived on, and whether the link is new."""
        announcement = lldp.read(payload, self._secret)
        # A stored frame that is sent later proves nothing about the link now.
        rounds = max(1, int(self._lifetime / self._interval))
        if not self._round - rounds <= announcement.round <= self._round:
            raise LldpError("from an earlier round")
        source = Attachment(announcement.datapath_id, announcement.port)
        if source == attachment:
            raise LldpError("returned at its own port")
        return source, self._topology.hear(source, attachment, time.monotonic())

    def expire(self) -> list[Attachment]:
        """Removes silent links."""
        return self._topology.expire(time.monotonic() - self._lifetime)


def port_is_up(port: object) -> bool:
    """True if an OFPPort has a carrier and is not shut down."""
    down = ofp.OFPPS_LINK_DOWN & port.state or ofp.OFPPC_PORT_DOWN & port.config  # type: ignore[attr-defined]
    return not down


def send_packet(switch: SwitchChannel, frame: bytes, *ports: int, in_port: int = ofp.OFPP_CONTROLLER) -> None:
    """Sends a frame out of ports; OFPP_TABLE sends it through the rules."""
    actions = [ofp_parser.OFPActionOutput(port) for port in ports]
    switch.send(message(ofp_parser.OFPPacketOut, ofp.OFP_NO_BUFFER, in_port, actions, frame))
