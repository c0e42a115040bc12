"""The controller's side of the agents."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable
from typing import Any

from tidemark_sdn.agent import protocol
from tidemark_sdn.agent.protocol import Describe, Description, ProtocolError, Request, Statistics, Subscribe

_LOG = logging.getLogger(__name__)

_RETRY = 0.5
_ANSWER_TIME = 10.0


class AgentError(Exception):
    """An agent that is gone, or that refused."""


class AgentClient:
    """One agent: connects, reconnects, and passes its messages on."""

    def __init__(
        self,
        address: str,
        datapath_id: int,
        period: float,
        tls: ssl.SSLContext | None,
        on_connected: Callable[[Description], None],
        on_statistics: Callable[[Statistics], None],
        on_gone: Callable[[], None],
    ) -> None:
        self._address = address
        self._datapath_id = datapath_id
        self._period = period
        self._tls = tls
        self._on_connected = on_connected
        self._on_statistics = on_statistics
        self._on_gone = on_gone
        self._writer: asyncio.StreamWriter | None = None
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._number = 0
        self.connected = False

    async def run(self) -> None:
        """Stays connected until it is cancelled."""
        refused = ""
        while True:
            try:
                await self._session()
                refused = ""
            except (OSError, AgentError, ProtocolError, ValueError, TimeoutError) as error:
                # Log the same reason only once, not every half second.
                if str(error) != refused:
                    _LOG.warning("agent %s: %s", self._address, error or type(error).__name__)
                refused = str(error)
            finally:
                self._end()
            await asyncio.sleep(_RETRY)

    async def request(self, request: Request) -> dict[str, Any]:
        """Asks and waits."""
        if self._writer is None:
            raise AgentError("is not connected")
        self._number += 1
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = future
        self._writer.write(protocol.encode_request(self._number, request))
        async with asyncio.timeout(_ANSWER_TIME):
            return await future

    def send(self, request: Request) -> None:
        """Asks, and logs an error. Without a connection nothing is lost: the next connection starts with everything."""
        if self._writer is None:
            return
        self._number += 1
        self._waiting[self._number] = asyncio.get_running_loop().create_future()
        self._waiting[self._number].add_done_callback(self._log)
        self._writer.write(protocol.encode_request(self._number, request))

    def _log(self, future: asyncio.Future[dict[str, Any]]) -> None:
        if not future.cancelled() and (error := future.exception()):
            _LOG.warning("agent %s: %s", self._address, error)

    async def _session(self) -> None:
        reader, self._writer = await self._connect()
        # The end of reading always ends the session, also between two requests. A task group would keep to
        # itself a cancellation that comes while it ends with an error (CPython 3.11 and 3.12).
        tasks = [asyncio.create_task(part) for part in (self._read(reader), self._introduce())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            ended = [task for task in tasks if task.done()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in ended:
            task.result()

    async def _introduce(self) -> None:
        answer = await self.request(Describe())
        description = protocol.decode_as(Description, answer, "describe")
        if description.version != protocol.VERSION:
            raise AgentError(f"speaks version {description.version}, not {protocol.VERSION}")
        if description.datapath_id != self._datapath_id:
            raise AgentError(f"is beside switch {description.datapath_id:016x}, not {self._datapath_id:016x}")
        self.connected = True
        self._on_connected(description)
        await self.request(Subscribe(self._period))

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        kind, _, rest = self._address.partition(":")
        if kind == "unix":
            return await asyncio.open_unix_connection(rest, limit=protocol.MAX_LINE)
        host, _, port = rest.rpartition(":")
        return await asyncio.open_connection(host, int(port), ssl=self._tls, limit=protocol.MAX_LINE)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                self._take(protocol.parse_line(line))
            raise AgentError("has ended the connection")
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(AgentError("is gone"))
            self._waiting.clear()

    def _take(self, value: dict[str, object]) -> None:
        if "statistics" in value:
            self._on_statistics(protocol.decode_as(Statistics, value["statistics"], "statistics"))
            return
        number = value.get("id")
        future = self._waiting.pop(number, None) if isinstance(number, int) else None
        if future is None or future.done():
            return
        if isinstance(result := value.get("result"), dict):
            future.set_result(result)
        else:
            future.set_exception(AgentError(str(value.get("error", "an answer without a result"))[:200]))

    def _end(self) -> None:
        if self._writer is not None:
            with contextlib.suppress(Exception):
                self._writer.close()
        self._writer = None
        if self.connected:
            self.connected = False
            self._on_gone()
