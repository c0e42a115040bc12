"""Pictures of aL4S-CC (Son et al.)."""

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from cases import run
from picture import PUBLISHED, Panel, Row, figure

if TYPE_CHECKING:
    import tidemark

SINGLE = {
    "cl4s.case2.knows2.te60": "cL4S",
    "sl4s.case2.te60": "sL4S",
    "l4s-cc.case2": "L4S-CC",
    "gcc.case2": "GCC",
    "scream.case2": "SCReAM v2",
}
CASES = ("case1", "case2", "case3")
SERVICES = {"te25": 20, "te60": 55, "te150": 145}


def fig1() -> Iterator[Row]:
    """Jain's index of two flows over time."""
    for panel, pattern in (("IETF pattern", ""), ("fixed 10 Mbit/s", ".fixed")):
        for case, name in (("sl4s.case2.te60.two", "sL4S"), ("l4s-cc.case2.two", "L4S-CC")):
            flows = run("al4s", case + pattern, sample_interval="1 s").series.flows
            rates = [of["throughput_mbps"] for of in flows.partition_by("flow", maintain_order=True)]
            times = flows["t_s"].unique(maintain_order=True)
            for t, *each in zip(times, *rates, strict=True):
                if t > 5:
                    yield panel, name, t, sum(each) ** 2 / (len(each) * sum(rate * rate for rate in each))


IN_ONE = ("(a) link utilisation, one queue", "(b) packets over the target, one queue")
IN_OWN = ("(a) link utilisation, a queue each", "(b) packets over the target, a queue each")


def late(result: "tidemark.Result", flow: str, target: float) -> float:
    """Gives the percentage of a flow's packets that waited for longer than a target."""
    samples = result.cdf("router_queue").filter(pl.col("flow") == flow)
    return 100 * (1 - float(np.interp(target, samples["ms"], samples["share"])))


def in_queues(part: str, case: str, service: str, *, per_flow: bool) -> "tuple[tidemark.Result, float]":
    """Runs three flows in one queue or in one each; gives the result and the link's mean rate."""
    knows = [f"knows{case[-1]}"] if part == "cl4s" else []
    result = run("al4s.fig4", ".".join([part, case, *knows, service]), router__link__queue__per_flow=per_flow)
    return result, result.routers["capacity_mbps"][0]


def three(titles: tuple[str, str], *, per_flow: bool) -> Iterator[Row]:
    """Three flows of different controllers: utilisation, and packets over the target queuing delay."""
    used, over = titles
    shares: dict[str, list[float]] = {}
    for (service, target), case in itertools.product(SERVICES.items(), CASES):
        if (service, case) == ("te25", "case3"):
            continue
        for part, name in (("cl4s", "cL4S"), ("sl4s", "sL4S")):
            result, capacity = in_queues(part, case, service, per_flow=per_flow)
            # GCC and SCReAM are drawn beside cL4S; beside sL4S they differ little, as the paper says too.
            flows = {"l4s": name} | ({"gcc": "GCC", "scream": "SCReAM v2"} if name == "cL4S" else {})
            for flow, curve in flows.items():
                throughput = result.flows.filter(pl.col("flow") == flow)["throughput_mbps"][0]
                yield used, curve, f"{target}, {case[-1]}", 100 * throughput / capacity
                share = late(result, flow, target)
                yield over, curve, f"{target}, {case[-1]}", share
                shares.setdefault(curve, []).append(share)
    for curve, each in shares.items():
        yield over, curve, "all", sum(each) / len(each)
    # Section V-A, over both of its patterns.
    yield over, f"{PUBLISHED} cL4S", "all", 1.3
    yield over, f"{PUBLISHED} sL4S", "all", 1.2


def fig4() -> Iterator[Row]:
    """Three flows with a queue each, and in one."""
    yield from three(IN_OWN, per_flow=True)
    yield from three(IN_ONE, per_flow=False)


def fig5() -> Iterator[Row]:
    """Received rate and queuing delay of single flows over time."""
    for case, name in SINGLE.items():
        series = run("al4s", case, sample_interval="1 s").series
        for t, y in series.flows.select("t_s", "throughput_mbps").drop_nulls().iter_rows():
            yield "received rate", name, t, y
        for t, y in series.routers.select("t_s", "queue_ms").drop_nulls().iter_rows():
            yield "queuing delay", name, t, y
    for t, y in series.routers.select("t_s", "capacity_mbps").drop_nulls().iter_rows():
        yield "received rate", "link", t, y


SECONDS = "time (s)"
PICTURES = (
    figure("al4s.fig1", fig1, tuple(Panel(title, SECONDS, "Jain's index", top=1.05) for title in ("IETF pattern", "fixed 10 Mbit/s"))),
    figure("al4s.fig4", fig4, tuple(
        Panel(title, "target queuing delay (ms), case", unit, "bars", top=top)
        for pair, unit, top in zip(zip(IN_OWN, IN_ONE, strict=True), ("of the link (%)", "packets (%)"), (120, None), strict=True)
        for title in pair)),
    figure("al4s.fig5", fig5, (Panel("received rate", SECONDS, "Mbit/s"), Panel("queuing delay", SECONDS, "ms", log_y=True, bottom=1)), columns=1),
)  # fmt: skip
