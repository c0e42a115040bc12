"""OpenFlow 1.3 channels to the switches, with os-ken's messages over asyncio.

os-ken's own connections run in threads, because eventlet is optional there. A connection's sender thread then waits
forever after the switch has left, without notice (os-ken 4.2). Its messages do not depend on the connections.
"""

import asyncio
import contextlib
import itertools
import logging
import ssl
import struct
import time
from collections.abc import Callable
from typing import Any, Protocol

from os_ken.ofproto import ofproto_parser, ofproto_protocol, ofproto_v1_3, ofproto_v1_3_parser

from tidemark_sdn import bounds

_LOG = logging.getLogger(__name__)
# os-ken would log every byte of every unreadable message.
logging.getLogger("os_ken").setLevel(logging.CRITICAL)

ofp = ofproto_v1_3
ofp_parser = ofproto_v1_3_parser

_HEADER = struct.Struct("!BBHI")
_HANDSHAKE_TIME = 5.0
_REPLY_TIME = 10.0
# Bytes that may wait for a switch before it counts as dead.
_MAX_UNSENT = 8 << 20
# Most connections in the handshake at a time.
_MAX_UNKNOWN = 64

# The properties of a switch that os-ken's messages need.
_VERSION = ofproto_protocol.ProtocolDesc(ofp.OFP_VERSION)


class ChannelError(Exception):
    """A switch that is refused, violates the protocol, or is gone."""


class Listener(Protocol):
    """Listener for events of switches."""

    def is_known(self, datapath_id: int, common_name: str | None) -> str | None:
        """Gives the reason why a switch is refused, or None."""

    async def on_connected(self, switch: "SwitchChannel") -> None:
        """A switch has connected, with its ports."""

    def on_gone(self, switch: "SwitchChannel") -> None:
        """A switch has left."""

    def on_malformed(self, switch: "SwitchChannel") -> None:
        """An unreadable message."""

    def on_message(self, switch: "SwitchChannel", message: Any) -> None:
        """A message that is not a reply."""


class SwitchChannel:
    """One switch."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._xids = itertools.count(1)
        self._replies: dict[int, tuple[asyncio.Future[list[Any]], list[Any]]] = {}
        self.heard_at = time.monotonic()
        self.datapath_id = 0
        # Port descriptions (OFPPort) by number.
        self.ports: dict[int, Any] = {}

    @property
    def name(self) -> str:
        """Datapath id as text."""
        return f"{self.datapath_id:016x}"

    @property
    def common_name(self) -> str | None:
        """Common name of the switch's certificate."""
        certificate = self._writer.get_extra_info("peercert") or {}
        for part in certificate.get("subject", ()):
            for field, value in part:
                if field == "commonName":
                    return str(value)
        return None

    def send(self, message: Any) -> int:
        """Sends a message and gives its number."""
        if message.xid is None:
            message.set_xid(next(self._xids) & 0xFFFFFFFF)
        message.serialize()
        if self._writer.transport.get_write_buffer_size() > _MAX_UNSENT:
            _LOG.warning("switch %s does not read", self.name)
            self.close()
        elif not self._writer.is_closing():
            self._writer.write(bytes(message.buf))
        return int(message.xid)

    async def request(self, message: Any) -> list[Any]:
        """Sends a message and waits for all parts of its reply."""
        future: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        number = self.send(message)
        self._replies[number] = (future, [])
        try:
            async with asyncio.timeout(_REPLY_TIME):
                return await future
        except TimeoutError:
            raise ChannelError(f"switch {self.name} did not answer {type(message).__name__}") from None
        finally:
            self._replies.pop(number, None)

    async def barrier(self) -> None:
        """Waits until the switch has handled all earlier messages."""
        await self.request(ofp_parser.OFPBarrierRequest(_VERSION))

    def close(self) -> None:
        """Ends the connection at once."""
        self._writer.transport.abort()

    async def read(self) -> Any:
        """The next message, or None if os-ken can't read it."""
        header = await self._reader.readexactly(_HEADER.size)
        version, kind, length, xid = _HEADER.unpack(header)
        if length < _HEADER.size:
            raise ChannelError("a message shorter than its header")
        body = await self._reader.readexactly(length - _HEADER.size)
        self.heard_at = time.monotonic()
        if version != ofp.OFP_VERSION and kind != ofp.OFPT_HELLO:
            raise ChannelError(f"a message of OpenFlow version {version:#x}")
        try:
            bounds.check(kind, header + body)
            return ofproto_parser.msg(_VERSION, ofp.OFP_VERSION, kind, length, xid, header + body)
        except Exception:  # BoundsError, or any exception of os-ken's decoders
            return None

    def answer(self, message: Any) -> bool:
        """Gives a reply to its requester."""
        if message.xid not in self._replies:
            return False
        future, parts = self._replies[message.xid]
        if message.msg_type == ofp.OFPT_ERROR:
            if not future.done():
                reason = f"switch {self.name} refused: type {message.type}, code {message.code}"
                future.set_exception(ChannelError(reason))
            return True
        parts.append(message)
        more = message.msg_type == ofp.OFPT_MULTIPART_REPLY and message.flags & ofp.OFPMPF_REPLY_MORE
        if not more and not future.done():
            future.set_result(parts)
        return True

    def fail(self) -> None:
        """Tells all waiting requesters that the switch is gone."""
        for future, _ in self._replies.values():
            if not future.done():
                future.set_exception(ChannelError(f"switch {self.name} is gone"))

    async def shake_hands(self) -> None:
        """Agrees on OpenFlow 1.3 and learns the datapath id."""
        self.send(ofp_parser.OFPHello(_VERSION, [ofp_parser.OFPHelloElemVersionBitmap([ofp.OFP_VERSION])]))
        hello = await self._expect(ofp.OFPT_HELLO)
        versions = {version for element in hello.elements for version in element.versions}
        if versions and ofp.OFP_VERSION not in versions:
            raise ChannelError("it does not speak OpenFlow 1.3: ovs-vsctl set bridge BRIDGE protocols=OpenFlow13")
        self.send(ofp_parser.OFPFeaturesRequest(_VERSION))
        self.datapath_id = int((await self._expect(ofp.OFPT_FEATURES_REPLY)).datapath_id)

    async def _expect(self, kind: int) -> Any:
        while True:
            message = await self.read()
            if message is None:
                raise ChannelError("a malformed message")
            if message.msg_type == kind:
                return message
            if message.msg_type == ofp.OFPT_ERROR:
                raise ChannelError(f"it refused: type {message.type}, code {message.code}")
            if message.msg_type == ofp.OFPT_ECHO_REQUEST:
                self.send_echo_reply(message)

    def send_echo_reply(self, request: Any) -> None:
        """Answers an echo request of a switch."""
        reply = ofp_parser.OFPEchoReply(_VERSION, data=request.data)
        reply.set_xid(request.xid)
        self.send(reply)

    async def read_ports(self) -> None:
        """Requests all ports."""
        parts = await self.request(ofp_parser.OFPPortDescStatsRequest(_VERSION, 0))
        self.ports = {port.port_no: port for part in parts for port in part.body if port.port_no <= ofp.OFPP_MAX}


class Server:
    """Server that switches connect to."""

    def __init__(self, listener: Listener, silence: float) -> None:
        self._listener = listener
        self._silence = silence
        self._server: asyncio.Server | None = None
        self._shaking = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.switches: dict[int, SwitchChannel] = {}

    async def start(self, listen: str, tls: ssl.SSLContext | None) -> None:
        """Listens at host:port."""
        host, _, port = listen.rpartition(":")
        self._server = await asyncio.start_server(self._serve, host.strip("[]"), int(port), ssl=tls)

    async def stop(self) -> None:
        """Ends all connections."""
        if self._server:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        switch = SwitchChannel(reader, writer)
        try:
            await self._shake_hands(switch)
            await self._talk(switch)
        except ChannelError as error:
            _LOG.warning("refused the switch at %s: %s", writer.get_extra_info("peername"), error)
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError, ssl.SSLError):
            pass
        except asyncio.CancelledError:
            # asyncio's streams log an error for a cancelled handler.
            pass
        finally:
            self._tasks.discard(task)
            switch.fail()
            switch.close()
            if self.switches.get(switch.datapath_id) is switch:
                del self.switches[switch.datapath_id]
                self._listener.on_gone(switch)

    async def _shake_hands(self, switch: SwitchChannel) -> None:
        if self._shaking >= _MAX_UNKNOWN:
            raise ChannelError("too many connections at a time")
        self._shaking += 1
        try:
            async with asyncio.timeout(_HANDSHAKE_TIME):
                await switch.shake_hands()
        finally:
            self._shaking -= 1
        if reason := self._listener.is_known(switch.datapath_id, switch.common_name):
            raise ChannelError(reason)

    async def _talk(self, switch: SwitchChannel) -> None:
        if before := self.switches.get(switch.datapath_id):
            # It reconnected before its old connection was known to have ended.
            del self.switches[switch.datapath_id]
            self._listener.on_gone(before)
            before.close()
        self.switches[switch.datapath_id] = switch
        side = [asyncio.create_task(self._greet(switch)), asyncio.create_task(self._watch(switch))]
        try:
            while True:
                message = await switch.read()
                if message is None:
                    self._listener.on_malformed(switch)
                    continue
                if switch.answer(message):
                    continue
                if message.msg_type == ofp.OFPT_ECHO_REQUEST:
                    switch.send_echo_reply(message)
                else:
                    self._listener.on_message(switch, message)
        finally:
            for task in side:
                task.cancel()

    async def _greet(self, switch: SwitchChannel) -> None:
        try:
            await switch.read_ports()
            await self._listener.on_connected(switch)
        except ChannelError as error:
            _LOG.warning("switch %s: %s", switch.name, error)
            switch.close()
        except Exception:
            _LOG.exception("switch %s could not be set up", switch.name)
            switch.close()

    async def _watch(self, switch: SwitchChannel) -> None:
        """Sends echo requests, and ends the connection of a switch that does not answer."""
        with contextlib.suppress(asyncio.CancelledError):
            while time.monotonic() - switch.heard_at < self._silence:
                await asyncio.sleep(self._silence / 3)
                switch.send(ofp_parser.OFPEchoRequest(_VERSION, data=b""))
            _LOG.warning("switch %s has been silent for %.0f s", switch.name, self._silence)
            switch.close()


def message(kind: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """One of os-ken's messages, for any switch."""
    return kind(_VERSION, *arguments, **named)
