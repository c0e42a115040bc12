"""Numbers with units, named like the suffixes of result fields: `ms(10)` is a scenario's `"10 ms"`."""

import dataclasses
import math
import re


@dataclasses.dataclass(frozen=True)
class Quantity:
    """Number with a unit, for any field of a scenario or law that has a unit.

    >>> print(ms(2.5), mbps(40), kb(64))
    2.5 ms 40 Mbit/s 64 kB
    """

    number: float
    unit: str

    def __post_init__(self) -> None:
        if not math.isfinite(self.number):
            raise ValueError(f"{self.number} {self.unit} is not a quantity: give a finite number")

    def __str__(self) -> str:
        # Without an exponent, which scenarios do not allow.
        number = f"{self.number:.12f}".rstrip("0").rstrip(".")
        return f"{number} {self.unit}"


def us(number: float) -> Quantity:
    """Microseconds."""
    return Quantity(number, "us")


def ms(number: float) -> Quantity:
    """Milliseconds."""
    return Quantity(number, "ms")


def s(number: float) -> Quantity:
    """Seconds."""
    return Quantity(number, "s")


def mbps(number: float) -> Quantity:
    """Mbit/s."""
    return Quantity(number, "Mbit/s")


def kb(number: float) -> Quantity:
    """Kilobytes, of 1000 bytes."""
    return Quantity(number, "kB")


def read(text: str) -> Quantity | None:
    """Reads a scenario's quantity; None for any other text.

    >>> read("10 ms"), read("l4span")
    (Quantity(number=10.0, unit='ms'), None)
    """
    parts = re.fullmatch(r"([0-9.]+)\s*(ns|us|ms|s|min|[kMG]?bit/s|[kMG]?B)", text)
    return None if parts is None else Quantity(float(parts[1]), parts[2])
