"""Messages between controllers and agents: a JSON object per line, over a Unix socket or TLS.

A controller asks `{"id": 7, "set_port": {...}}`; the agent answers `{"id": 7, "result": {...}}` or `{"id": 7, "error":
"..."}`, in the order of the requests. After `subscribe` it also sends `{"statistics": {...}}` by itself.
"""

import json
import types
from dataclasses import MISSING, asdict, dataclass, fields, is_dataclass
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

VERSION = 1
# Longest line in bytes, enough for the statistics of a hundred ports.
MAX_LINE = 256 * 1024


class ProtocolError(Exception):
    """An invalid message."""


@dataclass(frozen=True)
class Marking:
    """The sound mode of a port. Times in seconds; `virtual_rate` in bit/s; gains as in RFC 9332 A.1."""

    virtual_rate: float
    ramp_low: float
    ramp_high: float
    target: float
    alpha: float
    beta: float
    coupling: float


@dataclass(frozen=True)
class Describe:
    """Asks for the agent's description and what it has set up."""


@dataclass(frozen=True)
class SetPort:
    """Limits a port to a rate in bit/s and runs the program over it. Without `marking` the program only classifies."""

    port: str
    rate: float
    dscp: int | None = None
    marking: Marking | None = None


@dataclass(frozen=True)
class ClearPort:
    """Restores a port's original state."""

    port: str


QueueName = Literal["l4s", "classic"]


@dataclass(frozen=True)
class SetQueue:
    """Makes or changes a queue: guaranteed rate in bit/s, priority (0 first), size in bytes."""

    port: str
    queue: QueueName
    rate: float
    priority: int
    size: int


@dataclass(frozen=True)
class RemoveQueue:
    """Removes a queue and its packets."""

    port: str
    queue: QueueName


@dataclass(frozen=True)
class ForgetReaction:
    """Empties a port's virtual queue and the times of its first crossing and mark."""

    port: str


@dataclass(frozen=True)
class Subscribe:
    """Asks for statistics every `period` seconds."""

    period: float


Request = Describe | SetPort | ClearPort | SetQueue | RemoveQueue | ForgetReaction | Subscribe

_REQUESTS: dict[str, type[Request]] = {
    "describe": Describe,
    "set_port": SetPort,
    "clear_port": ClearPort,
    "set_queue": SetQueue,
    "remove_queue": RemoveQueue,
    "forget_reaction": ForgetReaction,
    "subscribe": Subscribe,
}
_NAMES = {cls: name for name, cls in _REQUESTS.items()}


@dataclass(frozen=True)
class QueueStatistics:
    """A queue. Counters start with the queue (the kernel's) or with the port (the program's)."""

    backlog_bytes: int
    backlog_packets: int
    sent_bytes: int
    sent_packets: int
    # Dropped by the full queue.
    overflowed: int
    # Seconds that a new packet would wait.
    delay: float
    size: int


@dataclass(frozen=True)
class TrafficStatistics:
    """A kind of traffic, as the program counted it before the queue."""

    packets: int
    bytes: int
    came_marked: int
    ramp_marked: int
    coupled_marked: int
    # Dropped by PI2, because they are not ECN-capable.
    dropped: int


@dataclass(frozen=True)
class PortStatistics:
    """A port. Probabilities are the current ones."""

    rate: float
    queues: dict[str, QueueStatistics]
    traffic: dict[str, TrafficStatistics]
    coupled: float
    classic: float
    # Monotonic nanoseconds of the first crossing of the ramp and of the first mark after it; 0 for not yet.
    first_over: int
    first_mark: int


@dataclass(frozen=True)
class Statistics:
    """All configured ports, at one time of the agent's monotonic clock."""

    at: float
    ports: dict[str, PortStatistics]


@dataclass(frozen=True)
class Description:
    """The agent, its bridge, and what is set up."""

    version: int
    datapath_id: int
    bridge: str
    # OpenFlow port numbers by name.
    ports: dict[str, int]
    # Names of the queues of configured ports.
    queues: dict[str, list[str]]
    # What marks at the ports in the sound mode, and why.
    data_plane: str | None = None


def _decode(annotation: Any, value: object, where: str) -> Any:
    origin = get_origin(annotation)
    if is_dataclass(annotation):
        return decode_as(annotation, value, where)  # type: ignore[arg-type]
    if origin in (Union, types.UnionType):
        choices = [choice for choice in get_args(annotation) if choice is not type(None)]
        return None if value is None else _decode(choices[0], value, where)
    if origin is Literal:
        if value in get_args(annotation):
            return value
    elif origin is dict and isinstance(value, dict):
        inner = get_args(annotation)[1]
        return {str(name): _decode(inner, item, f"{where}.{name}") for name, item in value.items()}
    elif origin is list and isinstance(value, list):
        return [_decode(get_args(annotation)[0], item, f"{where}.{index}") for index, item in enumerate(value)]
    elif annotation is str and isinstance(value, str) and 0 < len(value) < 256:
        return value
    elif annotation is int and isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64:
        return value
    elif annotation is float and isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15:
        return float(value)
    raise ProtocolError(f"{where}: {value!r:.80} is not allowed here")


def decode_as(cls: type[T], value: object, where: str) -> T:
    """A dataclass of this module from parsed JSON."""
    if not isinstance(value, dict):
        raise ProtocolError(f"{where}: must be an object")
    hints = get_type_hints(cls)
    if unknown := set(value) - set(hints):
        raise ProtocolError(f"{where}.{min(unknown)}: unknown field")
    arguments = {name: _decode(hints[name], item, f"{where}.{name}") for name, item in value.items()}
    for item in fields(cls):  # type: ignore[arg-type]
        if item.name not in arguments and item.default is MISSING:
            raise ProtocolError(f"{where}.{item.name}: is missing")
    return cls(**arguments)


def parse_line(line: bytes) -> dict[str, object]:
    """The object of a line."""
    if len(line) > MAX_LINE:
        raise ProtocolError("line too long")
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ProtocolError("not an object")
    return value


def decode_request(line: bytes) -> tuple[int, Request]:
    """Number and request of a line."""
    value = parse_line(line)
    number = _decode(int, value.pop("id", None), "id")
    if len(value) != 1:
        raise ProtocolError("send one request per line")
    name, arguments = value.popitem()
    if name not in _REQUESTS:
        raise ProtocolError(f"{name}: unknown request: use {', '.join(_REQUESTS)}")
    return number, decode_as(_REQUESTS[name], arguments, name)


def encode_request(number: int, request: Request) -> bytes:
    """A line for a request."""
    return encode({"id": number, _NAMES[type(request)]: asdict(request)})


def encode(value: object) -> bytes:
    """A line."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode() + b"\n"
