"""Pictures of SDN-L4S (Messaoudi et al.), all in the simulator and in the literal mode."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from cases import run
from picture import PUBLISHED, Panel, Picture, Row
from tidemark import Result

SEEDS = (1, 2, 3)
PORTS: dict[str, dict[str, object]] = {
    "80 kB each, seven tenths": {},
    "30 and 80 kB, nine tenths": {"router.*.queue.l4s_limit": "30 kB", "router.*.queue.l4s_share": 0.9},
}
"""Sizes of the L4S and the classic queue, and the L4S queue's part of the line: of the targets, and of the switches."""


def flows(result: Result, kind: str) -> pl.DataFrame:
    """Gives the flows of SDN-L4S, or of SDN-TCC: CUBIC and Reno, which are as many."""
    name = "^l4s" if kind == "SDN-L4S" else "^(cubic|reno)"
    return result.flows.filter(pl.col("flow").str.contains(name))


def delays(cases: dict[float, str]) -> Iterator[Row]:
    """Mean one-way delay over a threshold, for both kinds of port."""
    for port, others in PORTS.items():
        for x, case in cases.items():
            results = [run("sdn", case, seed=seed, **others) for seed in SEEDS]
            for kind in ("SDN-L4S", "SDN-TCC"):
                yield port, kind, x, float(np.mean([flows(of, kind)["owd_mean_ms"].mean() for of in results]))


def fig4() -> Iterator[Row]:
    """Over q2."""
    return delays({float(q2): f"literal.q1-80.q2-{q2}" for q2 in (1, 10, 50, 90)})


def fig5() -> Iterator[Row]:
    """Over q1."""
    return delays({float(q1): f"literal.q1-{q1}.q2-1" for q1 in (20, 50, 80)})


def fig6() -> Iterator[Row]:
    """Smallest, median and largest delay with queue management and with one queue."""
    for port, others in PORTS.items():
        for place, parts in (("with QM", ""), ("one queue", ".one-queue")):
            result = run("sdn", f"literal.q1-80.q2-1{parts}", **others)
            curve = result.cdf("owd")
            for kind in ("SDN-L4S", "SDN-TCC"):
                of_kind = curve.filter(pl.col("flow").is_in(flows(result, kind)["flow"].implode()))
                each = [np.interp((0.0, 0.5, 1.0), of["share"], of["ms"]) for of in of_kind.partition_by("flow")]
                for y in (
                    min(of[0] for of in each),
                    float(np.median([of[1] for of in each])),
                    max(of[2] for of in each),
                ):
                    yield port, kind, place, float(y)


LOSSES = {(50, 1): (0.16, 24.2), (50, 10): (0.5, None), (80, 1): (2.66, 18.4), (80, 10): (3.7, None)}
"""Losses in percent, of table II: of SDN-L4S by q1 and q2, of SDN-TCC by q1."""


def table2() -> Iterator[Row]:
    """Lost packets in percent, of whole flows and without their first two seconds."""
    for panel, part in (("whole flows", ".whole"), ("without the first 2 s", "")):
        for (q1, q2), published in LOSSES.items():
            results = [run("sdn", f"literal.q1-{q1}.q2-{q2}{part}", seed=seed) for seed in SEEDS]
            for kind, theirs in zip(("SDN-L4S", "SDN-TCC"), published, strict=True):
                lost = [
                    100 * of["dropped"].sum() / of["sent_packets"].sum() for of in (flows(r, kind) for r in results)
                ]
                yield panel, kind, f"{q1}, {q2}", float(np.mean(lost))
                if theirs is not None:
                    yield panel, f"{PUBLISHED} {kind}", f"{q1}, {q2}", theirs


DELAY = "one-way delay (ms)"
PICTURES = (
    Picture("sdn.fig4", fig4, tuple(Panel(port, "q2 (%)", DELAY) for port in PORTS)),
    Picture("sdn.fig5", fig5, tuple(Panel(port, "q1 (%)", DELAY) for port in PORTS)),
    Picture("sdn.fig6", fig6, tuple(Panel(port, "", DELAY, "boxes") for port in PORTS)),
    Picture("sdn.table2", table2, tuple(Panel(of, "q1, q2 (%)", "lost packets (%)", "bars") for of in ("whole flows", "without the first 2 s"))),
)  # fmt: skip
