"""Pictures of the thesis on L4S and ANBR (Ikedionwu)."""

import tomllib
from collections.abc import Iterator

import numpy as np
import polars as pl
from cases import PAPERS, measured, run
from picture import PUBLISHED, Panel, Row, figure

LOADS = {"low": "5.1", "high": "5.2"}
THRESHOLDS = ("5-7", "7-15", "10-20", "15-20", "15-30", "30-50", "60-100")
MECHANISMS = {"l4s": "L4S", "hybrid": "hybrid", "anbr": "ANBR"}


def table(load: str) -> dict[str, tuple[float, float]]:
    """Gives the delay and the throughput that table 5.1 or 5.2 has for each case."""
    targets = tomllib.loads((PAPERS / "targets" / "anbr.toml").read_text())["target"]
    of_table = [target for target in targets if f"{target['id']}.".startswith(f"{target_of(load)}.")]
    rows = [row for target in of_table for row in target["matrix"]["rows"]]
    return {case: (values[0], values[1]) for case, values in rows}


def target_of(load: str) -> str:
    """Gives the beginning of the targets of table 5.1 or 5.2."""
    return f"anbr.table5_{LOADS[load][-1]}"


def ours(load: str) -> dict[str, tuple[float, float]]:
    """Gives our delay and throughput of each case, over the seeds of its target."""
    found = measured(target_of(load))
    return {case: (found[f"owd_mean[{case}/video]"], found[f"throughput_total[{case}/video]"]) for case in table(load)}


def trade(load: str) -> Iterator[Row]:
    """Throughput over delay: the table's, and ours."""
    for curve, values in (("published", table(load)), ("ours", ours(load))):
        for case, (delay, throughput) in values.items():
            mechanism = case.removeprefix(f"{load}.").split(".")[0]
            if mechanism in MECHANISMS:
                yield curve, MECHANISMS[mechanism], delay, throughput


def fig5_1() -> Iterator[Row]:
    """Throughput over delay, low background."""
    return trade("low")


def fig5_2() -> Iterator[Row]:
    """Throughput over delay, high background."""
    return trade("high")


SHOWN = {"l4s.5-7": "L4S\n5-7", "l4s.30-50": "L4S\n30-50", "hybrid.5-7": "hybrid\n5-7", "anbr.40ms": "ANBR\n40 ms", "none": "none"}
"""Cases of Figs. 5.3 and 5.12."""


def as_bars(column: int) -> Iterator[Row]:
    """Delay or throughput of some cases as bars, with the tables' values."""
    for load in LOADS:
        for case, place in SHOWN.items():
            yield f"{load} background", "ours", place, ours(load)[f"{load}.{case}"][column]
            yield f"{load} background", f"{PUBLISHED} ours", place, table(load)[f"{load}.{case}"][column]


def fig5_3() -> Iterator[Row]:
    """Received throughput."""
    return as_bars(1)


def fig5_12() -> Iterator[Row]:
    """Mean one-way delay."""
    return as_bars(0)


def fig5_15() -> Iterator[Row]:
    """Queuing delay and loss over time with a buffer of 15 MB."""
    for case, name in (("none", "none"), ("l4s.5-7", "L4S 5-7 ms"), ("anbr.200ms", "ANBR 200 ms")):
        result = run("anbr.table5", f"high.{case}.15mb", sample_interval="500 ms")
        ues = result.series.ues.filter(pl.col("ue") == "video-1")
        for t, y in ues.select("t_s", "queue_ms").drop_nulls().iter_rows():
            yield "queuing delay", name, t, y
    # Section 5.1.6: the limit is reached at about the 22nd second.
    yield "queuing delay", f"{PUBLISHED} time of a full buffer", 22.0, 0.0


def sender(load: str, thresholds: str) -> Iterator[Row]:
    """Rate, window, round trip, queue and marks of one sender."""
    result = run("anbr.table5", f"{load}.l4s.{thresholds}")
    flow = result.series.flows.filter(pl.col("flow") == "video-1")
    queue = result.series.ues.filter(pl.col("ue") == "video-1")
    # Eq. 3.8: the rate is the window over the round trip.
    window = flow.with_columns(window_kb=pl.col("target_mbps") * pl.col("rtt_ms") / 8)
    series = (
        ("rate (Mbit/s)", "sender", flow, "target_mbps"),
        ("window (kB)", "window", window, "window_kb"),
        ("delay (ms)", "round trip", flow, "rtt_ms"),
        ("delay (ms)", "RLC queue", queue, "queue_ms"),
        ("marks in 100 ms", "marks", flow, "marks"),
    )
    for panel, curve, frame, column in series:
        for t, y in frame.select("t_s", column).drop_nulls().iter_rows():
            yield panel, curve, t, y


def fig5_6() -> Iterator[Row]:
    """Sender at 5 to 7 ms, low background."""
    return sender("low", "5-7")


def fig5_7() -> Iterator[Row]:
    """Sender at 5 to 7 ms, high background."""
    return sender("high", "5-7")


def fig5_8() -> Iterator[Row]:
    """Sender at 60 to 100 ms, high background."""
    return sender("high", "60-100")


def rates() -> Iterator[Row]:
    """Rates of three mechanisms under both loads: Figs. 5.9 and 5.10."""
    for load, figure in (("low", "5.9"), ("high", "5.10")):
        for case, name in (("l4s.5-7", "L4S"), ("hybrid.5-7", "hybrid"), ("anbr.40ms", "ANBR")):
            flows = run("anbr.table5", f"{load}.{case}", sample_interval="250 ms").series.flows
            flow = flows.filter(pl.col("flow") == "video-1")
            for t, y in flow.select("t_s", "target_mbps").drop_nulls().iter_rows():
                yield f"Fig. {figure}: {load} background", name, t, y


UNDER_15_MS = {"5-7": 88, "7-15": 88, "15-30": 21, "30-50": 1, "60-100": 0}
"""Percent of samples under 15 ms, which the text gives for Fig. 5.14."""


AT_ONCE = {"flow.video.app.frame_rate": 60, "flow.video.sender.pacing": 10.0}
WIRES: dict[str, tuple[str, dict[str, object]]] = {
    "wire of 10 ms": ("20 ms", {}),
    "wire of 5 ms": ("10 ms", {}),
    "wire of 3 ms, frames at once": ("6 ms", AT_ONCE),
}
"""Round trip of the wire, and keys of frames at 60 a second that leave as a whole, by the panel."""


def fig5_14() -> Iterator[Row]:
    """Distribution of interval means of the one-way delay, high background."""
    for panel, (trip, leaving) in WIRES.items():
        for thresholds, share in UNDER_15_MS.items():
            samples: list[float] = []
            for seed in (1, 2, 3):
                others = {
                    "sample_interval": "500 ms",
                    "flow.video.round_trip": trip,
                    "flow.background.round_trip": trip,
                    **leaving,
                }
                result = run("anbr.table5", f"high.l4s.{thresholds}", seed=seed, **others)
                for flow in ("video-1", "video-2"):
                    row = result.flows.filter(pl.col("flow") == flow)
                    # A series has round trips: the way back, in which nothing queues, is taken off by its mean.
                    back = row["rtt_mean_ms"][0] - row["owd_mean_ms"][0]
                    frame = result.series.flows.filter(pl.col("flow") == flow)
                    samples += (frame["rtt_ms"].drop_nulls() - back).to_list()
            for percent in range(0, 101, 2):
                yield panel, f"{thresholds} ms", float(np.percentile(samples, percent)), float(percent)
            yield panel, PUBLISHED, 15.0, float(share)


SECONDS, MBPS = "time (s)", "throughput (Mbit/s)"
SENDER = tuple(
    Panel(title, SECONDS, title) for title in ("rate (Mbit/s)", "window (kB)", "delay (ms)", "marks in 100 ms")
)
TRADE = tuple(
    Panel(title, "one-way delay (ms)", MBPS, "points", log_x=True, span=(12, 120), bottom=40, top=58)
    for title in ("published", "ours")
)
PICTURES = (
    figure("anbr.fig5_1", fig5_1, TRADE),
    figure("anbr.fig5_2", fig5_2, TRADE),
    figure("anbr.fig5_3", fig5_3, tuple(Panel(f"{load} background", "", MBPS, "bars") for load in LOADS)),
    figure("anbr.fig5_12", fig5_12, tuple(Panel(f"{load} background", "", "one-way delay (ms)", "bars", log_y=True, bottom=5) for load in LOADS)),
    figure("anbr.fig5_15", fig5_15, (Panel("queuing delay", SECONDS, "queuing delay (ms)"),), columns=1),
    figure("anbr.fig5_6", fig5_6, SENDER),
    figure("anbr.fig5_7", fig5_7, SENDER),
    figure("anbr.fig5_8", fig5_8, SENDER),
    figure("anbr.fig5_9", rates, tuple(Panel(f"Fig. {of} background", SECONDS, "rate (Mbit/s)", top=35) for of in ("5.9: low", "5.10: high"))),
    figure("anbr.fig5_14", fig5_14, tuple(Panel(of, "one-way delay (ms)", "share of samples (%)", log_x=True, span=(6.0, 200.0), top=105) for of in WIRES)),
)  # fmt: skip
