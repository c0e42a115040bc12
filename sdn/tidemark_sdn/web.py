"""The page and the metrics over HTTP: loopback only, read only."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from tidemark_sdn.metrics import exposition
from tidemark_sdn.page import page

# Seconds after which a browser loads the page again.
_REFRESH = 2
# Limits of a request's line and header fields in bytes and seconds. Longer or slower requests get no answer.
_MAX_REQUEST = 8192
_PATIENCE = 5.0
# Defence against foreign pages that reach this server by another name (DNS rebinding).
_HOSTS = ("127.0.0.1", "localhost", "[::1]")


class WebServer:
    """Answers GET / with the page and GET /metrics with Prometheus' text."""

    def __init__(self, status: Callable[[], dict[str, Any]]) -> None:
        self._status = status
        self._server: asyncio.Server | None = None

    async def start(self, listen: str) -> None:
        """Listens at an address such as "127.0.0.1:8090"."""
        host, _, port = listen.rpartition(":")
        self._server = await asyncio.start_server(self._serve, host.strip("[]"), int(port), limit=_MAX_REQUEST)

    def stop(self) -> None:
        """Ends it."""
        if self._server:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
            writer.write(self._answer(request.decode("latin-1")))
            await writer.drain()
        writer.close()

    def _answer(self, request: str) -> bytes:
        first, *fields = request.split("\r\n")
        hosts = [field.partition(":")[2].strip() for field in fields if field.lower().startswith("host:")]
        if any((host if host.endswith("]") else host.rpartition(":")[0] or host) not in _HOSTS for host in hosts):
            return _response("403 Forbidden", "text/plain", "use a loopback address\n")
        method, _, rest = first.partition(" ")
        path = rest.partition(" ")[0]
        if method != "GET":
            return _response("405 Method Not Allowed", "text/plain", "read only: GET\n")
        if path == "/":
            return _response("200 OK", "text/html; charset=utf-8", page(self._status()), f"Refresh: {_REFRESH}\r\n")
        if path == "/metrics":
            return _response("200 OK", "text/plain; version=0.0.4", exposition(self._status()))
        return _response("404 Not Found", "text/plain", "there are / and /metrics\n")


def _response(status: str, kind: str, text: str, more: str = "") -> bytes:
    """The response, with more header fields if there are any."""
    body = text.encode()
    fields = f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{more}"
    return f"HTTP/1.1 {status}\r\n{fields}\r\n".encode() + body
