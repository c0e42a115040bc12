"""Measures the time from a queue's crossing of its threshold to the first marked packet.

One sender sends bursts above the line's rate. The time of a crossing is computed from the sending times, by a model of
the queue: the real queue and q1 in the literal mode, the virtual queue and the start of the ramp in the sound mode.
"""

import csv
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tidemark_sdn import config
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.config import Sound
from tidemark_sdn.lab.experiment import PROBES, Experiment, Laboratory
from tidemark_sdn.lab.figures import quantile
from tidemark_sdn.lab.network import wait_for

# Payload, and what Ethernet, IP and UDP add, in bytes.
_PAYLOAD, _HEADERS = 1400, 42
# Above the line's rate by this factor.
_OVERLOAD = 1.5
_PORT = 6200
# Long enough for the literal mode to notice, and to remove its rule.
_BURST_SECONDS, _PAUSE_SECONDS = 0.4, 0.6


@dataclass(frozen=True)
class Crossing:
    """The modelled queue: its rate in bytes per second, and its threshold in bytes."""

    rate: float
    threshold: float


def crossing_of(mode: str, rate: float, l4s_size: int, q1: float) -> Crossing:
    """The modelled queue of a mode, on a line with this rate in bit/s."""
    if mode == "literal":
        return Crossing(rate / 8, q1 * l4s_size)
    sound = Sound()
    virtual = rate * sound.virtual_rate / 8
    return Crossing(virtual, virtual * sound.ramp_low)


def reactions(packets: Iterable[tuple[float, bool]], crossing: Crossing, pause: float) -> list[float]:
    """Seconds from each crossing to the first mark after it, from times of sending in order, with or without CE.

    It is 0 if packets were marked earlier, for example by a probability left from the previous burst. A burst without a
    mark gives no value.
    """
    found: list[float] = []
    backlog, last, crossed, marked = 0.0, -1e9, 0.0, False
    for sent_at, ce in packets:
        if sent_at - last > pause:
            crossed, marked = 0.0, False
        backlog = max(0.0, backlog - (sent_at - last) * crossing.rate)
        last = sent_at
        if not crossed and backlog >= crossing.threshold:
            crossed = sent_at
            if marked:
                found.append(0.0)
        if ce and not marked:
            marked = True
            if crossed:
                found.append(sent_at - crossed)
        backlog += _PAYLOAD + _HEADERS
    return found


def measure_reaction(experiment: Experiment, events: int) -> list[float]:
    """Runs bursts through the paper's two switches and gives the reactions, in seconds."""
    laboratory = Laboratory(experiment)
    try:
        laboratory.wait_until_ready()
        output = experiment.out / "reaction.csv"
        seconds = events * (_BURST_SECONDS + _PAUSE_SECONDS)
        module = (sys.executable, "-m", "tidemark_sdn.lab.probe")
        receive = ("receive", "--port", str(_PORT), "--seconds", f"{seconds + 2:g}", "--output", str(output))
        receiver = laboratory.receiver.namespace.start(*module, *receive, log=experiment.out / "receiver.log")
        wait_for(output)
        interval = (_PAYLOAD + _HEADERS) * 8 / (experiment.rate * _OVERLOAD)
        send = ("send", "--address", laboratory.receiver.address, "--port", str(_PORT), "--seconds", f"{seconds:g}")
        shape = ("--size", str(_PAYLOAD), "--interval", f"{interval:g}")
        bursts = ("--burst", f"{_BURST_SECONDS:g}", "--pause", f"{_PAUSE_SECONDS:g}")
        ecn = ("--ecn", str(int(PROBES[Kind.L4S])))
        host = laboratory.hosts[Kind.L4S][0].namespace
        sender = host.start(*module, *send, *shape, *bursts, *ecn, log=experiment.out / "sender.log")
        sender.wait(seconds + 30)
        receiver.wait(30)
    finally:
        laboratory.close()
    queues = config.load(experiment.out / "config.toml").queues
    with output.open(encoding="utf-8", newline="") as stream:
        packets = [(float(row["sent_at"]), row["ecn"] == "3") for row in csv.DictReader(stream)]
    crossing = crossing_of(experiment.mode, experiment.rate, queues.l4s_size, experiment.q1)
    # For the first burst, its flow has no rule yet.
    return reactions(sorted(packets), crossing, _PAUSE_SECONDS / 2)[1:]


def describe(values: list[float]) -> str:
    """Number and quantiles in milliseconds."""
    if not values:
        return "no reaction was seen"
    shares = ", ".join(f"p{share * 100:g} {quantile(values, share) * 1e3:.2f}" for share in (0.5, 0.95, 0.99))
    return f"{len(values)} events: mean {statistics.fmean(values) * 1e3:.2f}, {shares}, most {max(values) * 1e3:.2f} ms"


def write(values: list[float], file: Path) -> None:
    """Writes the reactions in seconds, one per line."""
    file.write_text("".join(f"{value:.6f}\n" for value in values), encoding="utf-8")
