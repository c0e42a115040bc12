"""The controller's configuration: a TOML file whose keys, units, defaults and reasons are listed here."""

import re
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from tidemark_sdn.units import parse_rate, parse_size, parse_time

T = TypeVar("T")


class ConfigError(Exception):
    """An invalid configuration: names the file, the key and valid values."""


def key(parse: Callable[[object], T], default: object = MISSING) -> T:
    """A key of a table: the reader of its value, and its default as written in a file."""
    if default is MISSING:
        return field(metadata={"parse": parse})  # type: ignore[no-any-return]
    value = None if default is None else parse(default)
    return field(default=value, metadata={"parse": parse})  # type: ignore[return-value]


def table(cls: type[T]) -> T:
    """An optional table."""
    return field(default_factory=cls, metadata={"parse": cls})


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is not a text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is neither true nor false")
    return value


def _path(value: object) -> Path:
    return Path(_text(value))


def _number(least: float, most: float) -> Callable[[object], float]:
    def parse(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise ValueError(f"{value!r} is not a number from {least:g} to {most:g}")
        return float(value)

    return parse


def _integer(least: int, most: int) -> Callable[[object], int]:
    def parse(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"{value!r} is not an integer from {least} to {most}")
        return value

    return parse


def _positive(parse: Callable[[object], Any]) -> Callable[[object], Any]:
    def checked(value: object) -> Any:
        result = parse(value)
        if result <= 0:
            raise ValueError(f"{value!r} must be above zero")
        return result

    return checked


def _one_of(*names: str) -> Callable[[object], str]:
    def parse(value: object) -> str:
        if value not in names:
            raise ValueError(f"{value!r} is not one of {', '.join(names)}")
        return str(value)

    return parse


def _datapath_id(value: object) -> int:
    if isinstance(value, str) and re.fullmatch(r"[0-9a-fA-F]{16}", value):
        return int(value, 16)
    raise ValueError(f"{value!r} is not 16 hexadecimal digits, which `ovs-vsctl get bridge BRIDGE datapath_id` prints")


def _has_port(address: str) -> bool:
    """True for a text such as "host:port"."""
    host, _, port = address.rpartition(":")
    return bool(host) and port.isdecimal() and 0 < int(port) < 65536


def parse_endpoint(value: object) -> str:
    """A stream address: "unix:/path" or "tls:host:port"."""
    text = _text(value)
    kind, _, rest = text.partition(":")
    if (kind == "unix" and rest) or (kind == "tls" and _has_port(rest)):
        return text
    raise ValueError(f"{value!r} is not an address: write unix:/path or tls:host:port")


def _address(value: object) -> str:
    text = _text(value)
    if _has_port(text):
        return text
    raise ValueError(f"{value!r} is not an address with a port: write 0.0.0.0:6653")


def _loopback(value: object) -> str:
    text = _text(value)
    if text.rpartition(":")[0] in ("127.0.0.1", "localhost", "[::1]") and _has_port(text):
        return text
    raise ValueError(f"{value!r} is not a loopback address with a port: write 127.0.0.1:8090")


def _distinct(what: str, values: list[Any]) -> None:
    """Refuses a repeated value."""
    if twice := {value for value in values if values.count(value) > 1}:
        raise ValueError(f"two {what} {twice.pop()!r}")


def _list_of(cls: type[T]) -> list[T]:
    return field(default_factory=list, metadata={"parse": cls, "list": True})


@dataclass(frozen=True)
class Tls:
    """Certificate and key of this end, and the authority that signed those of the other ends. PEM files."""

    certificate: Path = key(_path)
    private_key: Path = key(_path)
    authority: Path = key(_path)


@dataclass(frozen=True)
class OpenFlow:
    """The connections to the switches."""

    # 6653 is the port that IANA gave OpenFlow.
    listen: str = key(_address, "127.0.0.1:6653")
    # Most packets of unknown flows per port and second. The port's meter drops more in the switch, so that a flood
    # harms nobody behind other ports. A controller sets up a few hundred flows a second.
    packet_in_limit: int = key(_integer(1, 1_000_000), 200)
    # A switch that has not answered for this long is gone. OVS asks every 5 s by default.
    silence: float = key(_positive(parse_time), "10 s")


@dataclass(frozen=True)
class Discovery:
    """Links by LLDP."""

    interval: float = key(_positive(parse_time), "500 ms")
    # A link without a probe for this long is down, unless the port's state showed it earlier.
    lifetime: float = key(_positive(parse_time), "5 s")


@dataclass(frozen=True)
class Rules:
    """Flow rules."""

    # The default lifetime of an Open vSwitch microflow.
    idle_timeout: float = key(_positive(parse_time), "10 s")
    priority: int = key(_integer(1, 65534), 1000)
    # Most flows with rules. Beyond that, packets of new flows are forwarded one by one.
    max_flows: int = key(_integer(1, 1_000_000), 20_000)


@dataclass(frozen=True)
class Queues:
    """Two queues per port, made for the first flow of their kind."""

    # Share of the port's rate. The classic queue gets the rest, as in RFC 9332's scheduler (Linux: 90 and 10 %).
    l4s_share: float = key(_number(0.01, 0.99), 0.9)
    # Size of a queue. 100 kB is 20 ms at 40 Mbit/s.
    l4s_size: int = key(_positive(parse_size), "100 kB")
    classic_size: int = key(_positive(parse_size), "400 kB")
    # Time without flows after which a queue is removed.
    idle: float = key(_positive(parse_time), "30 s")
    # False puts all traffic into one queue: the paper's comparison without queue management.
    separate: bool = key(_flag, True)


@dataclass(frozen=True)
class Sound:
    """Marks in the data plane: a virtual queue with a ramp for L4S, PI2 for classic traffic, coupled (RFC 9332)."""

    # Share of the port's rate at which the virtual queue drains, so that marks come before the real queue builds up.
    virtual_rate: float = key(_number(0.5, 1.0), 0.98)
    # RFC 9332 A.1: minTh and range of the ramp.
    ramp_low: float = key(_positive(parse_time), "800 us")
    ramp_high: float = key(_positive(parse_time), "1200 us")
    # RFC 9332 A.1: target, alpha, beta, coupling factor.
    target: float = key(_positive(parse_time), "15 ms")
    alpha: float = key(_number(0.0, 10.0), 0.16)
    beta: float = key(_number(0.0, 100.0), 3.2)
    coupling: float = key(_number(0.0, 4.0), 2)

    def __post_init__(self) -> None:
        if self.ramp_low >= self.ramp_high:
            raise ValueError("ramp_low must be below ramp_high")


@dataclass(frozen=True)
class Literal:
    """The paper as printed: the controller checks loads and writes rules."""

    # q1: share of a queue's size above which packets are marked, and classic ones dropped.
    q1: float = key(_number(0.0, 1.0), 0.8)


@dataclass(frozen=True)
class Match:
    """Definition of L4S packets: ECT(1) or CE (RFC 9331)."""

    # 46 also requires the paper's ToS of 185 (DSCP 46 and ECT(1)); 187 is its marked form.
    dscp: int | None = key(_integer(0, 63), None)


@dataclass(frozen=True)
class Port:
    """A switch port with its own rate, or where no neighbour is allowed."""

    name: str = key(_text)
    # Rate of the line behind the port, if lower than the device's speed.
    rate: float | None = key(_positive(parse_rate), None)
    # Only hosts are behind it: LLDP received here is refused.
    edge: bool = key(_flag, False)


@dataclass(frozen=True)
class Switch:
    """A switch that may connect. Others are refused."""

    name: str = key(_text)
    datapath_id: int = key(_datapath_id)
    # Address of the agent beside it.
    agent: str = key(parse_endpoint)
    # The subject's common name in its certificate, with TLS. Default: the switch's name.
    common_name: str | None = key(_text, None)
    # Default rate of its ports.
    rate: float = key(_positive(parse_rate), "1 Gbit/s")
    port: list[Port] = _list_of(Port)

    def __post_init__(self) -> None:
        _distinct("ports have the name", [port.name for port in self.port])

    def port_named(self, name: str) -> Port:
        """The port's table, or defaults."""
        return next((port for port in self.port if port.name == name), Port(name=name))


@dataclass(frozen=True)
class Config:
    """The whole file."""

    switch: list[Switch] = _list_of(Switch)
    # plain makes queues and marks nothing, for comparison.
    mode: str = key(_one_of("sound", "literal", "plain"), "sound")
    # How often agents report. Linux' and RFC 9332's update interval of PI2, which runs in the agent, is 16 ms.
    period: float = key(_positive(parse_time), "100 ms")
    # For `tidemark-sdn status`.
    socket: Path = key(_path, "/run/tidemark-sdn.sock")
    # Address of the page and of Prometheus' metrics. Default: none.
    page: str | None = key(_loopback, None)
    tls: Tls | None = field(default=None, metadata={"parse": Tls})
    openflow: OpenFlow = table(OpenFlow)
    discovery: Discovery = table(Discovery)
    rules: Rules = table(Rules)
    queues: Queues = table(Queues)
    sound: Sound = table(Sound)
    literal: Literal = table(Literal)
    match: Match = table(Match)

    def __post_init__(self) -> None:
        if not self.switch:
            raise ValueError("[[switch]] is missing: name the switches that may connect")
        for what in ("name", "datapath_id", "agent"):
            _distinct(f"switches have the {what}", [getattr(switch, what) for switch in self.switch])
        for switch in self.switch:
            if switch.agent.startswith("tls:") and self.tls is None:
                raise ValueError(f"agent {switch.agent!r} of switch {switch.name} needs a table [tls] of certificates")


def _read(cls: type[T], values: object, where: str) -> T:
    """A table as a value of its class."""
    if not isinstance(values, dict):
        raise ConfigError(f"{where}: must be a table")
    known: dict[str, Field[Any]] = {item.name: item for item in fields(cls)}  # type: ignore[arg-type]
    prefix = where if where.endswith(": ") else f"{where}."
    arguments: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"{prefix}{name}: unknown key: use {', '.join(known)}")
        parse = known[name].metadata["parse"]
        if known[name].metadata.get("list"):
            if not isinstance(value, list):
                raise ConfigError(f"{prefix}{name}: must be a list of tables: write [[{name}]]")
            arguments[name] = [_read(parse, item, f"{prefix}{name}.{index}") for index, item in enumerate(value)]
        elif isinstance(parse, type):
            arguments[name] = _read(parse, value, f"{prefix}{name}")
        else:
            try:
                arguments[name] = parse(value)
            except ValueError as error:
                raise ConfigError(f"{prefix}{name}: {error}") from None
    for name, item in known.items():
        if name not in arguments and item.default is MISSING and item.default_factory is MISSING:
            raise ConfigError(f"{prefix}{name}: is missing")
    try:
        return cls(**arguments)
    except ValueError as error:
        raise ConfigError(f"{where.removesuffix(': ')}: {error}") from None


def parse(text: str, file: str = "configuration") -> Config:
    """A configuration from its text."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: {error}") from None
    return _read(Config, values, f"{file}: ")


def load(file: Path) -> Config:
    """A configuration from its file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: {error}") from None
    return parse(text, str(file))
