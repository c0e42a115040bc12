"""Checks lengths inside OpenFlow messages before os-ken decodes them.

os-ken (4.2) loops forever over a list with an entry of length 0.
"""

import struct
from collections.abc import Iterator

from os_ken.ofproto import ofproto_v1_3 as ofp

HEADER = 8
_MULTIPART_HEADER = 16
_PORT = 64
_PORT_STATISTICS = 112
_FLOW_STATISTICS = 48
_INSTRUCTION = 8
_ACTION = 8
_HELLO_ELEMENT = 4
_OXM = 4

# Messages that a switch may send, with their minimum lengths. Others are not decoded.
_LEAST = {
    ofp.OFPT_HELLO: HEADER,
    ofp.OFPT_ERROR: 12,
    ofp.OFPT_ECHO_REQUEST: HEADER,
    ofp.OFPT_ECHO_REPLY: HEADER,
    ofp.OFPT_FEATURES_REPLY: 32,
    ofp.OFPT_PACKET_IN: 34,
    ofp.OFPT_FLOW_REMOVED: 56,
    ofp.OFPT_PORT_STATUS: 16 + _PORT,
    ofp.OFPT_MULTIPART_REPLY: _MULTIPART_HEADER,
    ofp.OFPT_BARRIER_REPLY: HEADER,
}
_WITH_ACTIONS = (ofp.OFPIT_WRITE_ACTIONS, ofp.OFPIT_APPLY_ACTIONS, ofp.OFPIT_CLEAR_ACTIONS)


class BoundsError(Exception):
    """A message with inconsistent lengths, or an unexpected one."""


def check(kind: int, message: bytes) -> None:
    """Raises BoundsError unless every list in a message ends where it should."""
    if kind not in _LEAST or len(message) < _LEAST[kind]:
        raise BoundsError
    try:
        match kind:
            case ofp.OFPT_HELLO:
                _exhaust(_entries(message, HEADER, len(message), _HELLO_ELEMENT, at=2, padded=True))
            case ofp.OFPT_PACKET_IN:
                # Two bytes of padding follow the match.
                if _match(message, 24, len(message)) + 2 > len(message):
                    raise BoundsError
            case ofp.OFPT_FLOW_REMOVED:
                _match(message, 48, len(message))
            case ofp.OFPT_MULTIPART_REPLY:
                _multipart(message)
    except struct.error:
        raise BoundsError from None


def _multipart(message: bytes) -> None:
    (kind,) = struct.unpack_from("!H", message, HEADER)
    length = len(message) - _MULTIPART_HEADER
    if kind == ofp.OFPMP_PORT_DESC and length % _PORT == 0:
        return
    if kind == ofp.OFPMP_PORT_STATS and length % _PORT_STATISTICS == 0:
        return
    if kind != ofp.OFPMP_FLOW:
        raise BoundsError
    for begin, end in _entries(message, _MULTIPART_HEADER, len(message), _FLOW_STATISTICS, at=0):
        for first, last in _entries(message, _match(message, begin + _FLOW_STATISTICS, end), end, _INSTRUCTION, at=2):
            (instruction,) = struct.unpack_from("!H", message, first)
            if instruction in _WITH_ACTIONS:
                for action, after in _entries(message, first + _INSTRUCTION, last, _ACTION, at=2):
                    if struct.unpack_from("!H", message, action)[0] == ofp.OFPAT_SET_FIELD:
                        _oxm(message, action + 4, after)


def _entries(
    message: bytes, begin: int, end: int, least: int, at: int, padded: bool = False
) -> Iterator[tuple[int, int]]:
    """Start and end of each entry of a list. An entry's length is at offset `at` in it."""
    while begin < end:
        (length,) = struct.unpack_from("!H", message, begin + at)
        if length < least or begin + length > end:
            raise BoundsError
        yield begin, begin + length
        begin += (length + 7) // 8 * 8 if padded else length


def _match(message: bytes, begin: int, end: int) -> int:
    """Walks over a match and gives its end, with padding."""
    kind, length = struct.unpack_from("!HH", message, begin)
    if kind != ofp.OFPMT_OXM or length < 4 or begin + length > end:
        raise BoundsError
    position = begin + 4
    while position < begin + length:
        position = _oxm(message, position, begin + length)
    padded: int = begin + (length + 7) // 8 * 8
    if padded > end:
        raise BoundsError
    return padded


def _oxm(message: bytes, begin: int, end: int) -> int:
    if begin + _OXM > end or begin + _OXM + message[begin + 3] > end:
        raise BoundsError
    return begin + _OXM + message[begin + 3]


def _exhaust(entries: Iterator[tuple[int, int]]) -> None:
    for _ in entries:
        pass
