"""The marker, packet by packet, and laws and controllers written in Python."""

import copyreg
import json
import typing
from collections.abc import Callable

from tidemark import _engine, scenario
from tidemark._engine import Ack, Answer, Arrival, Departure, Estimate, Law

Odds: typing.TypeAlias = float | tuple[float, float] | None
"""Probability of a mark, or probabilities of a mark and of a drop, from 0 to 1; None for neither."""


class ArrivalLaw(typing.Protocol):
    """Law that decides as a packet arrives at the CU: a user's class with this method, one object per bearer."""

    def arrive(self, arrival: Arrival, /) -> Odds:
        """Decides about an arriving packet."""


class DepartureLaw(typing.Protocol):
    """Law that decides as a packet leaves the RLC queue: a user's class with this method, one object per bearer."""

    def leave(self, departure: Departure, /) -> Odds:
        """Decides about a packet that leaves the queue."""


AnyLaw: typing.TypeAlias = Law | Callable[[], ArrivalLaw] | Callable[[], DepartureLaw]
"""A law of the marker, or a class or other callable that makes a law in Python."""
Ecn = typing.Literal["not-ect", "ect0", "ect1", "ce"]
"""ECN field of a packet."""


def law(name: str, **fields: object) -> Law:
    """Gives a law of the marker, with parameters as in a scenario. Other parameters have their defaults.

    >>> from tidemark import ms
    >>> step = law("step", threshold=ms(5))
    >>> step.name, step.signals_to
    ('step', 'L4S')
    >>> parameters(step)["threshold"]
    '5 ms'
    """
    return Law.from_json(scenario.as_json({"law": name, **fields}))


def _read_law(text: str) -> Law:
    return Law.from_json(text)


# A study sends its law to other processes.
copyreg.pickle(Law, lambda of: (_read_law, (of.json(),)))


def laws() -> list[Law]:
    """Lists the marker's laws with their defaults.

    >>> [law.name for law in laws()][:3]
    ['none', 'l4span', 'ramp']
    """
    return [law(name) for name in Law.names()]


def parameters(of: Law) -> dict[str, object]:
    """Gives a law's parameters in the form of a scenario."""
    fields: dict[str, object] = json.loads(of.json())
    return {key: value for key, value in fields.items() if key != "law"}


class Drb:
    """Marker of one data radio bearer, as in a gNB's CU-UP. Times are in seconds and do not go back.

    A queue that receives 60 Mbit/s and sends 40:

    >>> drb = Drb(law("step"))
    >>> verdicts = []
    >>> for sn in range(1000):
    ...     verdicts.append(drb.downlink(sn * 200e-6, 1500).verdict)
    ...     if sn % 25 == 24:
    ...         drb.report(sn * 200e-6, transmitted=sn * 2 // 3)
    >>> verdicts.count("mark") > 500, drb.estimate(0.2).sojourn_ms > 50
    (True, True)
    """

    def __init__(self, law: AnyLaw, *, sn_bits: int = 18, seed: int = 1) -> None:
        self._drb = _engine.Drb(law, sn_bits, seed)

    def downlink(
        self, now_s: float, size: int, *, ecn: Ecn = "ect1", flow: int = 0, head_of_line_ms: float | None = None
    ) -> Answer:
        """Takes a packet of `size` bytes from the core and gives its verdict. Unless dropped, it gets the next SN.

        `head_of_line_ms` is the true age of the RLC queue's oldest SDU, if it is known.
        """
        return self._drb.downlink(now_s, size, ecn, flow, head_of_line_ms or 0.0)

    def dequeue(
        self, now_s: float, size: int, sojourn_ms: float, *, behind: int = 0, ecn: Ecn = "ect1", flow: int = 0
    ) -> Answer:
        """Decides about a packet that leaves the RLC queue, with `behind` bytes behind it, if the law acts there."""
        return self._drb.dequeue(now_s, size, ecn, flow, sojourn_ms, behind)

    def report(self, now_s: float, *, transmitted: int | None = None, delivered: int | None = None) -> None:
        """Takes a delivery status: highest SN transmitted, and highest SN delivered in sequence (RLC AM)."""
        self._drb.report(now_s, transmitted, delivered)

    def estimate(self, now_s: float) -> Estimate:
        """Gives the state of the queue as the marker estimates it."""
        return self._drb.estimate(now_s)

    @property
    def counters(self) -> dict[str, int | bool]:
        """Counters since the start."""
        counters: dict[str, int | bool] = json.loads(self._drb.counters())
        return counters


class Controller:
    """Congestion controller over TCP: a base class for the user's, which sets `window` and, to pace, `pacing_mbps`.

    After each call the transport reads both. It handles retransmission and feedback, and reports congestion once per
    window of data. Each connection has its own object. Times are in seconds, sizes in bytes of payload.
    """

    ecn: typing.ClassVar[typing.Literal["scalable", "classic", "off"]] = "scalable"
    """Form of marks: counts in each acknowledgement (ECT(1)), calls of `on_congestion` (ECT(0)), or none (Not-ECT)."""

    window: float
    """Bytes that may be in flight."""
    pacing_mbps: float | None = None
    """Rate at which packets leave, in Mbit/s; None lets acknowledgements clock them."""

    def __init_subclass__(cls) -> None:
        """Refuses a method that looks like a callback and is none: the transport would never call it."""
        super().__init_subclass__()
        known = [name for name in vars(Controller) if name.startswith("on_")]
        for name in vars(cls):
            if name.startswith("on_") and not hasattr(Controller, name):
                raise TypeError(f"{cls.__name__}.{name} is never called: use one of {', '.join(known)}")

    def __init__(self, *, mss: float, initial_window: float) -> None:
        self.mss = mss
        self.window = initial_window

    def on_established(self, now_s: float, rtt_s: float | None) -> None:
        """Handles the end of the handshake."""

    def on_ack(self, ack: Ack) -> None:
        """Handles an acknowledgement with new information."""

    def on_congestion(self, now_s: float, signal: typing.Literal["loss", "ecn"], in_flight: int) -> None:
        """Handles a loss, or an echo of classic ECN."""

    def on_timeout(self, now_s: float, in_flight: int) -> None:
        """Handles an expired retransmission timer."""

    def on_spurious(self, now_s: float) -> None:
        """Handles the news that the last reduction was spurious."""

    def on_idle(self, now_s: float, idle_s: float) -> None:
        """Handles the restart of sending after `idle_s` without data."""


__all__ = [
    "Ack",
    "Answer",
    "AnyLaw",
    "Arrival",
    "Controller",
    "Departure",
    "Drb",
    "Estimate",
    "Law",
    "law",
    "laws",
    "parameters",
]
