"""Pictures of Brunello et al., Low Latency Low Loss Scalable Throughput in 5G Networks."""

import functools
import itertools
from collections.abc import Iterator

import polars as pl
from cases import measured, run
from picture import PUBLISHED, Panel, Row, figure

USERS = (2, 5, 10, 15, 30, 50)
# SCReAM of 2021. The delay-based scheduler has two readings: the video above the web, or the delay alone.
CASES = {
    "2021.rr.not-l4s": "not-L4S",
    "2021.rr.l4s": "L4S+RR",
    "2021.priority.l4s": "L4S+DBS, video first",
    "2021.delay.l4s": "L4S+DBS, delay alone",
}


FIG6 = ("(a) not-L4S", "(b) L4S", "L4S, encoder 1 s late")


@functools.cache
def network(users: int, case: str) -> pl.DataFrame:
    """Runs 21 cells and gives the video users' flows."""
    sender, *others = case.split(".")
    flows = run("brunello.network", ".".join((sender, str(users), *others))).flows
    video = flows.filter(pl.col("flow").str.starts_with("video"))
    return video.with_columns(lost_percent=100 * pl.col("dropped") / pl.col("sent_packets"))


def over_users(metrics: dict[str, str]) -> Iterator[Row]:
    """Gives figures of the targets, over all their draws, for each panel's title the metric that it shows."""
    found = measured("brunello.fig2-5")
    for case, name in CASES.items():
        sender, *others = case.split(".")
        for users, (panel, metric) in itertools.product(USERS, metrics.items()):
            formula = f"{metric}[{'.'.join((sender, str(users), *others))}/video]"
            yield panel, name, float(users), found[formula]


def fig2() -> Iterator[Row]:
    """Video frame delay."""
    return over_users({"average": "frame_mean", "99th percentile": "frame_p99"})


def fig3() -> Iterator[Row]:
    """IP delay."""
    return over_users({"average": "owd_mean", "99th percentile": "owd_p99"})


def fig4() -> Iterator[Row]:
    """Transmitted rate."""
    return over_users({"average": "goodput_mean"})


def fig5() -> Iterator[Row]:
    """Packet loss of one draw; the 99th percentile is of users."""
    for case, name in CASES.items():
        for users in USERS:
            lost = network(users, case)["lost_percent"].fill_null(0)
            yield "average", name, float(users), lost.mean()
            yield "99th percentile", name, float(users), lost.quantile(0.99, "linear")


def fig6() -> Iterator[Row]:
    """Time course of one video over 50 Mbit/s; and of one whose encoder follows late."""
    slow: dict[str, object] = {"flow.*.app.rate_delay": "1 s"}
    for panel, case, others in zip(FIG6, ("without", "l4s", "l4s"), ({}, {}, slow), strict=True):
        series = run("brunello.fig6", case, sample_interval="500 ms", duration="50 s", warmup="0 s", **others).series
        columns = (
            ("rate", "throughput", series.flows, "throughput_mbps"),
            ("delay", "round trip", series.flows, "rtt_ms"),
            ("delay", "video frame", series.flows, "frame_delay_ms"),
            ("delay", "network queue", series.routers, "queue_ms"),
        )
        for what, curve, frame, column in columns:
            for t, y in frame.select("t_s", column).drop_nulls().iter_rows():
                yield f"{panel}: {what}", curve, t, y
    # Section V-B: 'the throughput is reduced to about 25 Mbps', after a drop at 10 s.
    for panel, t in itertools.product(FIG6[1:], (15.0, 25.0, 35.0, 45.0)):
        yield f"{panel}: rate", PUBLISHED, t, 25.0


VIDEO = "video users"
STATISTICS = ("average", "99th percentile")
PICTURES = (
    # Panels have room above for the legend where it covers a curve below.
    figure(
        "brunello.fig2",
        fig2,
        tuple(
            Panel(title, VIDEO, "frame delay (ms)", top=top) for title, top in zip(STATISTICS, (None, 400), strict=True)
        ),
    ),
    figure(
        "brunello.fig3",
        fig3,
        tuple(
            Panel(title, VIDEO, "IP delay (ms)", top=top) for title, top in zip(STATISTICS, (None, 240), strict=True)
        ),
    ),
    figure("brunello.fig4", fig4, (Panel("average", VIDEO, "rate (Mbit/s)"),), columns=1),
    figure(
        "brunello.fig5",
        fig5,
        tuple(
            Panel(title, VIDEO, "lost packets (%)", top=top) for title, top in zip(STATISTICS, (2.0, None), strict=True)
        ),
    ),
    figure("brunello.fig6", fig6, tuple(
        Panel(f"{case}: {what}", "time (s)", "rate (Mbit/s)" if what == "rate" else "delay (ms)", top=60 if what == "rate" else 140)
        for what in ("rate", "delay") for case in FIG6), columns=3),
)  # fmt: skip
