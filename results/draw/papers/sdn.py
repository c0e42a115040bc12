"""Pictures of SDN-L4S (Messaoudi et al.) in the literal mode: simulated, and of switches from results.json."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from cases import measured, run
from picture import PUBLISHED, Panel, Row, figure

if TYPE_CHECKING:
    from tidemark import Result

SEEDS = (1, 2, 3)
SIMULATED = "simulated, 80 kB each"
SWITCHES = "switches, 50 kB each"
METRICS = {"SDN-L4S": "l4s", "SDN-TCC": "classic"}
"""Beginnings of the switches' figures."""


def flows(result: "Result", kind: str) -> pl.DataFrame:
    """Gives the flows of SDN-L4S, or of SDN-TCC: CUBIC and Reno, which are as many."""
    name = "^l4s" if kind == "SDN-L4S" else "^(cubic|reno)"
    return result.flows.filter(pl.col("flow").str.contains(name))


def delays(target: str, cases: dict[float, str]) -> Iterator[Row]:
    """Mean one-way delay over a threshold."""
    for x, case in cases.items():
        results = [run("sdn", case, seed=seed) for seed in SEEDS]
        for kind in METRICS:
            yield SIMULATED, kind, x, float(np.mean([flows(of, kind)["owd_mean_ms"].mean() for of in results]))
    figures = measured(target)
    for x, case in cases.items():
        for kind, of in METRICS.items():
            yield SWITCHES, kind, x, figures[f"{of}_delay_mean_ms[{case}]"]


def fig4() -> Iterator[Row]:
    """Over q2."""
    return delays("sdn.fig4", {float(q2): f"literal.q1-80.q2-{q2}" for q2 in (1, 10, 50, 90)})


def fig5() -> Iterator[Row]:
    """Over q1."""
    return delays("sdn.fig5", {float(q1): f"literal.q1-{q1}.q2-1" for q1 in (20, 50, 80)})


def fig6() -> Iterator[Row]:
    """Smallest, median and largest delay with queue management and with one queue."""
    places = {"with QM": "literal.q1-80.q2-1", "one queue": "literal.q1-80.q2-1.one-queue"}
    for place, case in places.items():
        result = run("sdn", case)
        curve = result.cdf("owd")
        for kind in METRICS:
            of_kind = curve.filter(pl.col("flow").is_in(flows(result, kind)["flow"].implode()))
            each = [np.interp((0.0, 0.5, 1.0), of["share"], of["ms"]) for of in of_kind.partition_by("flow")]
            for y in (min(of[0] for of in each), float(np.median([of[1] for of in each])), max(of[2] for of in each)):
                yield SIMULATED, kind, place, float(y)
    figures = measured("sdn.fig6")
    for place, case in places.items():
        for kind, of in METRICS.items():
            for what in ("min", "median", "max"):
                yield SWITCHES, kind, place, figures[f"{of}_delay_{what}_ms[{case}]"]


LOSSES = {(50, 1): (0.16, 24.2), (50, 10): (0.5, None), (80, 1): (2.66, 18.4), (80, 10): (3.7, None)}
"""Losses in percent, of table II: of SDN-L4S by q1 and q2, of SDN-TCC by q1."""


LOSS_PANELS = WHOLE, LATER, ON_SWITCHES = "simulated, whole flows", "simulated, without 2 s", "switches, without 2 s"


def table2() -> Iterator[Row]:
    """Lost packets in percent, of whole flows and without their first two seconds."""
    for panel, part in ((WHOLE, ".whole"), (LATER, "")):
        for (q1, q2), published in LOSSES.items():
            results = [run("sdn", f"literal.q1-{q1}.q2-{q2}{part}", seed=seed) for seed in SEEDS]
            for kind, theirs in zip(METRICS, published, strict=True):
                lost = [
                    100 * of["dropped"].sum() / of["sent_packets"].sum() for of in (flows(r, kind) for r in results)
                ]
                yield from beside(panel, kind, (q1, q2), float(np.mean(lost)), theirs)
    figures = measured("sdn.table2")
    for (q1, q2), published in LOSSES.items():
        for (kind, of), theirs in zip(METRICS.items(), published, strict=True):
            lost = figures[f"{of}_lost_later_percent[literal.q1-{q1}.q2-{q2}]"]
            yield from beside(ON_SWITCHES, kind, (q1, q2), lost, theirs)


def beside(panel: str, kind: str, place: tuple[int, int], ours: float, theirs: float | None) -> Iterator[Row]:
    """Our loss at a place, and the published one where there is one."""
    q1, q2 = place
    yield panel, kind, f"{q1}, {q2}", ours
    if theirs is not None:
        yield panel, f"{PUBLISHED} {kind}", f"{q1}, {q2}", theirs


DELAY, LOST = "one-way delay (ms)", "lost packets (%)"
PORTS = (SIMULATED, SWITCHES)
PICTURES = (
    figure("sdn.fig4", fig4, tuple(Panel(port, "q2 (%)", DELAY) for port in PORTS)),
    figure("sdn.fig5", fig5, tuple(Panel(port, "q1 (%)", DELAY) for port in PORTS)),
    figure("sdn.fig6", fig6, tuple(Panel(port, "", DELAY, "boxes") for port in PORTS)),
    figure("sdn.table2", table2, tuple(Panel(of, "q1, q2 (%)", LOST, "bars") for of in LOSS_PANELS), columns=3),
)  # fmt: skip
