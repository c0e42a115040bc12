"""Bytes of switches: whatever they are, decoding ends."""

import asyncio
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.peer import encode, packet_in
from tidemark_sdn import bounds
from tidemark_sdn.bounds import BoundsError
from tidemark_sdn.openflow import ChannelError, SwitchChannel, ofp

KINDS = sorted(bounds._LEAST)


def read(data: bytes) -> object:
    """Gives what a channel makes of bytes."""

    async def one() -> object:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await SwitchChannel(reader, None).read()  # type: ignore[arg-type]

    return asyncio.run(one())


def flow_statistics(entry: bytes) -> bytes:
    return encode(ofp.OFPT_MULTIPART_REPLY, struct.pack("!HH4x", ofp.OFPMP_FLOW, 0) + entry)


ENTRY = struct.pack("!HBxIIHHHH4xQQQ", 56, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) + struct.pack("!HH4x", 1, 4)


def test_what_is_well_formed_is_read() -> None:
    assert getattr(read(packet_in(3, bytes(60))), "match", {})["in_port"] == 3
    assert read(flow_statistics(ENTRY)) is not None
    assert read(encode(ofp.OFPT_HELLO, struct.pack("!HHI", 1, 8, 16))) is not None


@pytest.mark.parametrize(
    "message",
    [
        # Lists whose entries have length 0, in which os-ken would stay for ever.
        encode(ofp.OFPT_HELLO, bytes(4)),
        flow_statistics(bytes(56)),
        flow_statistics(struct.pack("!H", 64) + ENTRY[2:] + bytes(8)),
        flow_statistics(
            struct.pack("!H", 72) + ENTRY[2:] + struct.pack("!HH4x", ofp.OFPIT_APPLY_ACTIONS, 16) + bytes(8)
        ),
        # What no controller asks for.
        encode(ofp.OFPT_QUEUE_GET_CONFIG_REPLY, bytes(40)),
        encode(ofp.OFPT_MULTIPART_REPLY, struct.pack("!HH4x", ofp.OFPMP_TABLE_FEATURES, 0) + bytes(64)),
        # Cut short.
        packet_in(3, b"")[:30],
    ],
)
def test_what_is_not_is_left_out(message: bytes) -> None:
    message = message[:2] + struct.pack("!H", len(message)) + message[4:]
    assert read(message) is None


def test_a_length_below_the_header_ends_the_connection() -> None:
    with pytest.raises(ChannelError):
        read(b"\x04\x00\x00\x04\x00\x00\x00\x00")


@given(st.sampled_from(KINDS), st.binary(max_size=300))
def test_no_body_hangs_or_raises(kind: int, body: bytes) -> None:
    read(encode(kind, body))


@given(st.sampled_from([ofp.OFPMP_FLOW, ofp.OFPMP_PORT_DESC, ofp.OFPMP_PORT_STATS]), st.binary(max_size=300))
def test_no_part_hangs_or_raises(kind: int, body: bytes) -> None:
    read(encode(ofp.OFPT_MULTIPART_REPLY, struct.pack("!HH4x", kind, 0) + body))


@given(st.integers(8, 70), st.integers(0, 255))
def test_no_changed_byte_hangs_or_raises(position: int, value: int) -> None:
    entry = ENTRY[:48] + struct.pack("!HHIH6x", 1, 10, 0x80000A02, 0x800) + struct.pack("!HHQ8x", 2, 24, 5)
    message = bytearray(flow_statistics(struct.pack("!H", len(entry)) + entry[2:]))
    message[16 + position % (len(message) - 16)] = value
    read(bytes(message))


@given(st.integers(0, 40), st.binary(max_size=200))
def test_other_kinds_are_refused_before_they_are_decoded(kind: int, body: bytes) -> None:
    if kind not in KINDS:
        with pytest.raises(BoundsError):
            bounds.check(kind, encode(kind, body))
