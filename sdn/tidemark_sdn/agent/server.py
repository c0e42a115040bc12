"""The agent: serves controllers, runs PI2, and leaves nothing behind."""

import asyncio
import contextlib
import logging
import os
import signal
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar, assert_never

from pyroute2 import IPRoute

from tidemark_sdn.agent import dualpi2, protocol
from tidemark_sdn.agent.pi2 import UPDATE_INTERVAL
from tidemark_sdn.agent.port import Port
from tidemark_sdn.agent.protocol import (
    ClearPort,
    Describe,
    Description,
    ForgetReaction,
    ProtocolError,
    RemoveQueue,
    Request,
    SetPort,
    SetQueue,
    Statistics,
    Subscribe,
)
from tidemark_sdn.agent.shaper import Kind, QueueSettings, Shaper
from tidemark_sdn.agent.switch import SwitchDatabase, SwitchError

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

# Most connected controllers: one, and another that takes over.
_MAX_SESSIONS = 4
_MIN_PERIOD = 0.005


class RefusedError(Exception):
    """An invalid request."""


class DataPlane:
    """The configured ports. All calls come from one thread, which netlink and OVSDB may delay."""

    def __init__(self, database: SwitchDatabase, object_file: Path) -> None:
        self._database = database
        self._object_file = object_file
        self._netlink = IPRoute()
        self._ports: dict[str, Port] = {}
        self._choice = dualpi2.choose()
        _LOG.info("%s", self._choice)
        # Remains of a killed agent.
        for port in database.claimed():
            _LOG.warning("port %s: removing the remains of an earlier agent", port)
            Shaper(self._netlink, port).clear()
            database.release(port)

    def describe(self, bridge: str) -> Description:
        """The answer to `Describe`."""
        now = self._database.bridge()
        queues = {name: port.queues() for name, port in self._ports.items()}
        return Description(protocol.VERSION, now.datapath_id, bridge, now.ports, queues, str(self._choice))

    def set_port(self, request: SetPort) -> None:
        """Sets a port up, or changes it."""
        if request.port not in self._database.bridge().ports:
            raise RefusedError(f"the bridge has no port {request.port!r}")
        if request.rate <= 0:
            raise RefusedError("rate: must be above zero")
        if request.port not in self._ports:
            # First of all: Open vSwitch removes queues of an unclaimed port.
            self._database.claim(request.port)
            self._ports[request.port] = Port(self._netlink, request.port, self._object_file, self._choice.dualpi2)
        self._ports[request.port].configure(request)

    def clear_port(self, name: str) -> None:
        """Restores a port's original state."""
        if port := self._ports.pop(name, None):
            try:
                port.clear()
            finally:
                self._database.release(name)

    def port(self, name: str) -> Port:
        """A configured port."""
        if name not in self._ports:
            raise RefusedError(f"port {name!r} is not set up: send set_port first")
        return self._ports[name]

    def update(self) -> None:
        """Takes the next step of every PI2."""
        for name, port in list(self._ports.items()):
            self._guarded(name, lambda port=port: port.update(time.monotonic()))  # type: ignore[misc]

    def statistics(self) -> Statistics:
        """The current state of all ports."""
        found = {name: self._guarded(name, port.statistics) for name, port in list(self._ports.items())}
        return Statistics(time.monotonic(), {name: value for name, value in found.items() if value is not None})

    def clear(self) -> None:
        """Restores the original state of all ports."""
        for name in list(self._ports):
            try:
                self.clear_port(name)
            except Exception as error:  # the other ports are still cleared
                _LOG.warning("port %s: %s", name, error)
        self._netlink.close()
        self._database.close()

    def _guarded(self, name: str, call: Callable[[], T]) -> T | None:
        """A call for one port, whose device may disappear at any time."""
        try:
            return call()
        except Exception as error:
            _LOG.warning("giving up port %s: %s", name, error)
            self._ports.pop(name, None)
            return None


class Agent:
    """The server. One thread serves sockets, another the data plane."""

    def __init__(self, database: SwitchDatabase, bridge: str, object_file: Path) -> None:
        self._bridge = bridge
        self._worker = ThreadPoolExecutor(1, "data-plane")
        self._sessions: set[asyncio.Task[None]] = set()
        self._plane = self._worker.submit(DataPlane, database, object_file).result()

    async def run(self, listen: str, tls: ssl.SSLContext | None, started: Callable[[], None]) -> None:
        """Serves until a signal arrives."""
        stop = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        server = await self._listen(listen, tls)
        updates = asyncio.create_task(self._update())
        started()
        try:
            await stop.wait()
        finally:
            server.close()
            updates.cancel()
            for session in list(self._sessions):
                session.cancel()
            self._worker.submit(self._plane.clear).result()

    async def _listen(self, listen: str, tls: ssl.SSLContext | None) -> asyncio.Server:
        kind, _, rest = listen.partition(":")
        if kind == "unix":
            before = os.umask(0o177)
            try:
                return await asyncio.start_unix_server(self._serve, rest, limit=protocol.MAX_LINE)
            finally:
                os.umask(before)
        host, _, port = rest.rpartition(":")
        if tls is None:
            raise RefusedError(f"{listen}: needs --certificate, --private-key and --authority")
        return await asyncio.start_server(self._serve, host, int(port), ssl=tls, limit=protocol.MAX_LINE)

    async def _update(self) -> None:
        while True:
            due = time.monotonic() + UPDATE_INTERVAL
            await self._work(self._plane.update)
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _work(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._worker, call)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        pushing: asyncio.Task[None] | None = None
        self._sessions.add(task)
        try:
            if len(self._sessions) > _MAX_SESSIONS:
                writer.write(protocol.encode({"id": 0, "error": "too many controllers are connected"}))
                return
            while line := await reader.readline():
                number, answer, period = await self._answer(line)
                writer.write(protocol.encode({"id": number} | answer))
                if period is not None:
                    if pushing:
                        pushing.cancel()
                    pushing = asyncio.create_task(self._push(writer, period))
                await writer.drain()
        except (ConnectionError, ValueError, asyncio.CancelledError) as error:
            # ValueError: the line is too long.
            _LOG.info("session ended: %s", error)
        finally:
            self._sessions.discard(task)
            if pushing:
                pushing.cancel()
            writer.close()

    async def _answer(self, line: bytes) -> tuple[int, dict[str, object], float | None]:
        """Number and answer of a request, and the period of a subscription."""
        number = 0
        try:
            number, request = protocol.decode_request(line)
            if isinstance(request, Subscribe):
                if request.period < _MIN_PERIOD:
                    raise RefusedError(f"period: at least {_MIN_PERIOD} s")
                return number, {"result": {}}, request.period
            return number, {"result": await self._work(lambda: self._execute(request))}, None
        except (ProtocolError, RefusedError, SwitchError) as error:
            return number, {"error": str(error)}, None
        except Exception as error:  # netlink and libbpf say why
            _LOG.warning("request failed: %s", error)
            return number, {"error": f"{type(error).__name__}: {error}"}, None

    def _execute(self, request: Request) -> dict[str, object]:
        plane = self._plane
        match request:
            case Describe():
                return asdict(plane.describe(self._bridge))
            case SetPort():
                plane.set_port(request)
            case ClearPort(name):
                plane.clear_port(name)
            case SetQueue(name, queue, rate, priority, size):
                if rate <= 0 or size <= 0 or priority > 7:
                    raise RefusedError("rate and size must be above zero, priority at most 7")
                plane.port(name).set_queue(Kind[queue.upper()], QueueSettings(rate, priority, size))
            case RemoveQueue(name, queue):
                plane.port(name).remove_queue(Kind[queue.upper()])
            case ForgetReaction(name):
                plane.port(name).forget_reaction()
            case Subscribe():
                raise AssertionError("answered before")
            case _:
                assert_never(request)
        return {}

    async def _push(self, writer: asyncio.StreamWriter, period: float) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                due = time.monotonic() + period
                statistics = await self._work(self._plane.statistics)
                writer.write(protocol.encode({"statistics": asdict(statistics)}))
                await writer.drain()
                await asyncio.sleep(max(0.0, due - time.monotonic()))
