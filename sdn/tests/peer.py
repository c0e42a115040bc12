"""A control plane without switches: scripted OpenFlow peers that know the cables between them, and scripted agents."""

import asyncio
import json
import struct
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from os_ken.ofproto import ofproto_parser

from tidemark_sdn.agent.protocol import Description
from tidemark_sdn.openflow import _VERSION, ofp

_HEADER = struct.Struct("!BBHI")
_PORT = struct.Struct("!I4x6s2x16sIIIIIIII")
Cables = dict[tuple[int, int], tuple[int, int]]


def encode(kind: int, body: bytes = b"", xid: int = 0, version: int = ofp.OFP_VERSION) -> bytes:
    """A message."""
    return _HEADER.pack(version, kind, _HEADER.size + len(body), xid) + body


def mac(datapath_id: int, port: int) -> bytes:
    """Address of a port."""
    return bytes([2, 0, *struct.pack("!HH", datapath_id, port)])


def packet_in(port: int, frame: bytes) -> bytes:
    """A PACKET_IN of the whole frame."""
    match = struct.pack("!HH", 1, 12) + struct.pack("!I", 0x80000004) + struct.pack("!I", port) + bytes(4)
    head = struct.pack("!IHBBQ", ofp.OFP_NO_BUFFER, len(frame), ofp.OFPR_NO_MATCH, 0, 0)
    return encode(ofp.OFPT_PACKET_IN, head + match + bytes(2) + frame)


class Peer:
    """One switch of the control plane."""

    def __init__(self, datapath_id: int, ports: int, deliver: Callable[[int, int, bytes], None]) -> None:
        self.datapath_id = datapath_id
        self.ports = ports
        self._deliver = deliver
        self._reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter
        # FLOW_MODs as os-ken reads them.
        self.flow_mods: list[Any] = []
        # Ports of each PACKET_OUT.
        self.packet_outs: list[list[int]] = []
        self.barriers = 0

    async def run(self, port: int) -> None:
        """Connects and answers until the connection ends."""
        self._reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.writer.write(encode(ofp.OFPT_HELLO))
        try:
            while True:
                header = await self._reader.readexactly(_HEADER.size)
                _, kind, length, xid = _HEADER.unpack(header)
                body = await self._reader.readexactly(length - _HEADER.size)
                self._answer(kind, xid, header + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.writer.close()

    def port_status(self, number: int, down: bool) -> None:
        """Says that a port is up or down."""
        body = struct.pack("!B7x", ofp.OFPPR_MODIFY) + self._port(number, ofp.OFPPS_LINK_DOWN if down else 0)
        self.writer.write(encode(ofp.OFPT_PORT_STATUS, body))

    def _port(self, number: int, state: int = 0) -> bytes:
        name = f"p{number}".encode()
        return _PORT.pack(number, mac(self.datapath_id, number), name, 0, state, 0, 0, 0, 0, 0, 0)

    def _answer(self, kind: int, xid: int, message: bytes) -> None:
        match kind:
            case ofp.OFPT_FEATURES_REQUEST:
                body = struct.pack("!QIBB2xII", self.datapath_id, 0, 254, 0, 0, 0)
                self.writer.write(encode(ofp.OFPT_FEATURES_REPLY, body, xid))
            case ofp.OFPT_ECHO_REQUEST:
                self.writer.write(encode(ofp.OFPT_ECHO_REPLY, message[8:], xid))
            case ofp.OFPT_BARRIER_REQUEST:
                self.barriers += 1
                self.writer.write(encode(ofp.OFPT_BARRIER_REPLY, b"", xid))
            case ofp.OFPT_MULTIPART_REQUEST:
                (what,) = struct.unpack_from("!H", message, 8)
                body = b""
                if what == ofp.OFPMP_PORT_DESC:
                    body = b"".join(self._port(number) for number in range(1, self.ports + 1))
                self.writer.write(encode(ofp.OFPT_MULTIPART_REPLY, struct.pack("!HH4x", what, 0) + body, xid))
            case ofp.OFPT_FLOW_MOD:
                self.flow_mods.append(ofproto_parser.msg(_VERSION, 4, kind, len(message), xid, message))
            case ofp.OFPT_PACKET_OUT:
                self._send_out(message)

    def _send_out(self, message: bytes) -> None:
        (length,) = struct.unpack_from("!H", message, 16)
        outputs = [struct.unpack_from("!I", message, 24 + offset + 4)[0] for offset in range(0, length, 16)]
        self.packet_outs.append(outputs)
        for port in outputs:
            if port <= ofp.OFPP_MAX:
                self._deliver(self.datapath_id, port, message[24 + length :])


class ControlPlane:
    """Peers with cables between them."""

    def __init__(self, cables: Cables, ports: dict[int, int]) -> None:
        self._cables = cables
        self.peers = {number: Peer(number, count, self._deliver) for number, count in ports.items()}
        self.dead: set[tuple[int, int]] = set()

    def _deliver(self, datapath_id: int, port: int, frame: bytes) -> None:
        if (datapath_id, port) in self.dead:
            return
        other = self._cables.get((datapath_id, port))
        # Only LLDP comes up on the other side; the rest would go to hosts.
        if other is not None and frame[12:14] == b"\x88\xcc":
            self.peers[other[0]].writer.write(packet_in(other[1], frame))

    def inject(self, datapath_id: int, port: int, frame: bytes) -> None:
        """A frame of a host that no rule matches."""
        self.peers[datapath_id].writer.write(packet_in(port, frame))


class ScriptedAgent:
    """An agent that says yes and remembers what it was asked."""

    def __init__(self, path: Path, datapath_id: int, ports: int) -> None:
        self._path = path
        numbers = {f"p{number}": number for number in range(1, ports + 1)}
        self._description = Description(1, datapath_id, "bridge", numbers, {})
        self.asked: list[dict[str, Any]] = []
        self.writer: asyncio.StreamWriter | None = None
        # What follows a description at once.
        self.nonsense = b""

    async def start(self) -> asyncio.Server:
        """Listens."""
        return await asyncio.start_unix_server(self._serve, self._path)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        while line := await reader.readline():
            request = json.loads(line)
            self.asked.append(request)
            result = asdict(self._description) if "describe" in request else {}
            answer = json.dumps({"id": request["id"], "result": result}).encode() + b"\n"
            writer.write(answer + (self.nonsense if "describe" in request else b""))
        writer.close()
