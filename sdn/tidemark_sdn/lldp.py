"""LLDP frames (IEEE 802.1AB) for finding links, with a proof that this controller sent them recently."""

import hmac
import struct
from dataclasses import dataclass

from tidemark_sdn import parser

_MULTICAST = bytes.fromhex("0180c200000e")
# TLV types of IEEE 802.1AB 8.4; subtype 7 is "locally assigned".
_END, _CHASSIS, _PORT, _TTL, _ORGANISATION = 0, 1, 2, 3, 127
_LOCAL = 7
# A locally administered identifier, because none is registered.
_OUI = bytes.fromhex("021d5d")
_PROOF_LENGTH = 16


class LldpError(Exception):
    """A frame that is not ours."""


@dataclass(frozen=True)
class Announcement:
    """Origin of a frame: datapath, port, and the number of the round."""

    datapath_id: int
    port: int
    round: int


def _tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!H", kind << 9 | len(value)) + value


def _proof(secret: bytes, announcement: Announcement) -> bytes:
    text = struct.pack("!QIQ", announcement.datapath_id, announcement.port, announcement.round)
    return hmac.digest(secret, text, "sha256")[:_PROOF_LENGTH]


def build(announcement: Announcement, source: bytes, secret: bytes, lifetime: float) -> bytes:
    """Makes a frame from the MAC address of its output port."""
    return b"".join(
        [
            _MULTICAST,
            source,
            struct.pack("!H", parser.LLDP),
            _tlv(_CHASSIS, bytes([_LOCAL]) + f"{announcement.datapath_id:016x}".encode()),
            _tlv(_PORT, bytes([_LOCAL]) + str(announcement.port).encode()),
            _tlv(_TTL, struct.pack("!H", max(1, round(lifetime)))),
            _tlv(_ORGANISATION, _OUI + struct.pack("!BQ", 1, announcement.round) + _proof(secret, announcement)),
            _tlv(_END, b""),
        ]
    )


def read(payload: bytes, secret: bytes) -> Announcement:
    """The announcement of a frame's payload, if this controller's secret proves it."""
    fields: dict[int, bytes] = {}
    offset = 0
    while offset + 2 <= len(payload):
        (header,) = struct.unpack_from("!H", payload, offset)
        kind, length = header >> 9, header & 0x1FF
        value = payload[offset + 2 : offset + 2 + length]
        if len(value) != length or kind in fields:
            raise LldpError("malformed")
        if kind == _END:
            break
        fields[kind] = value
        offset += 2 + length
    chassis, port, own = fields.get(_CHASSIS, b""), fields.get(_PORT, b""), fields.get(_ORGANISATION, b"")
    if len(own) != 12 + _PROOF_LENGTH or own[:4] != _OUI + b"\x01" or chassis[:1] != b"\x07" or port[:1] != b"\x07":
        raise LldpError("not from a controller of this kind")
    try:
        announcement = Announcement(int(chassis[1:], 16), int(port[1:]), struct.unpack_from("!Q", own, 4)[0])
        proof = _proof(secret, announcement)
    except (ValueError, struct.error):
        raise LldpError("malformed") from None
    if not hmac.compare_digest(proof, own[12:]):
        raise LldpError("without this controller's proof")
    return announcement
