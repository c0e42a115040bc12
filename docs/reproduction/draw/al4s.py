"""Pictures of aL4S-CC (Son et al.)."""

import itertools
from collections.abc import Iterator

import polars as pl
import tidemark
from cases import run
from picture import PUBLISHED, Panel, Picture, Row

SINGLE = {
    "cl4s.case2.knows2.te60": "cL4S",
    "sl4s.case2.te60": "sL4S",
    "l4s-cc.case2": "L4S-CC",
    "gcc.case2": "GCC",
    "scream.case2": "SCReAM v2",
}
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


def late(result: tidemark.Result, flow: str, target: float) -> float:
    """Gives the percentage of a flow's packets that waited in the link's queue for longer than a target."""
    within = result.cdf("router_queue").filter((pl.col("flow") == flow) & (pl.col("ms") <= target))
    return 100 * (1 - within["share"].max()) if within.height else 100.0  # type: ignore[operator]


def fig4() -> Iterator[Row]:
    """Three flows of different controllers in one link: utilisation, and packets over the target queuing delay."""
    shares: dict[str, list[float]] = {}
    for (service, target), case in itertools.product(SERVICES.items(), ("case1", "case2", "case3")):
        if (service, case) == ("te25", "case3"):
            continue
        for part, name in (("cl4s", "cL4S"), ("sl4s", "sL4S")):
            knows = [f"knows{case[-1]}"] if part == "cl4s" else []
            result = run("al4s.fig4", ".".join([part, case, *knows, service]))
            # GCC and SCReAM are drawn beside cL4S; beside sL4S they differ little, as the paper says too.
            flows = {"l4s": name} | ({"gcc": "GCC", "scream": "SCReAM v2"} if name == "cL4S" else {})
            for flow, curve in flows.items():
                throughput = result.flows.filter(pl.col("flow") == flow)["throughput_mbps"][0]
                used = 100 * throughput / result.routers["capacity_mbps"][0]
                yield "(a) link utilisation", curve, f"{target}, {case[-1]}", used
                share = late(result, flow, target)
                yield "(b) packets over the target", curve, f"{target}, {case[-1]}", share
                shares.setdefault(curve, []).append(share)
    for curve, each in shares.items():
        yield "(b) packets over the target", curve, "all", sum(each) / len(each)
    # Section V-A, over both of its patterns.
    yield "(b) packets over the target", f"{PUBLISHED} cL4S", "all", 1.3
    yield "(b) packets over the target", f"{PUBLISHED} sL4S", "all", 1.2


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
    Picture("al4s.fig1", fig1, tuple(Panel(title, SECONDS, "Jain's index", top=1.05) for title in ("IETF pattern", "fixed 10 Mbit/s"))),
    Picture("al4s.fig4", fig4, (
        Panel("(a) link utilisation", "target queuing delay (ms), case", "of the link (%)", "bars"),
        Panel("(b) packets over the target", "target queuing delay (ms), case", "packets (%)", "bars")), columns=1),
    Picture("al4s.fig5", fig5, (Panel("received rate", SECONDS, "Mbit/s"), Panel("queuing delay", SECONDS, "ms", log_y=True, bottom=1)), columns=1),
)  # fmt: skip
