"""Values with units as text, as in every other file of Tidemark: "10 ms", "40 Mbit/s", "64 kB"."""

import re

_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_RATES = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9}
_SIZES = {"B": 1.0, "kB": 1e3, "MB": 1e6}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?) ([A-Za-z/]+)")


def _parse(value: object, units: dict[str, float], example: str) -> float:
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[2] not in units:
        raise ValueError(f"{value!r} is not a number with one of the units {', '.join(units)}: write as in {example!r}")
    return float(match[1]) * units[match[2]]


def parse_time(value: object) -> float:
    """Seconds of "10 ms"."""
    return _parse(value, _TIMES, "10 ms")


def parse_rate(value: object) -> float:
    """Bits per second of "40 Mbit/s"."""
    return _parse(value, _RATES, "40 Mbit/s")


def parse_size(value: object) -> int:
    """Bytes of "64 kB"."""
    return round(_parse(value, _SIZES, "64 kB"))


def format_rate(bits_per_second: float) -> str:
    """Text such as "12.3 Mbit/s", which `parse_rate` reads."""
    for unit, factor in reversed(_RATES.items()):
        if bits_per_second >= factor:
            return f"{bits_per_second / factor:.4g} {unit}"
    return f"{bits_per_second:.4g} bit/s"


def format_time(seconds: float) -> str:
    """Text such as "1.5 ms"."""
    for unit, factor in reversed(_TIMES.items()):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
