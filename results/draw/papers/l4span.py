"""Pictures of L4Span (Wan and Jamieson, CoNEXT 2025)."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from cases import ROOT, run
from picture import PUBLISHED, Panel, Row, figure

if TYPE_CHECKING:
    from tidemark import Result

WHISKERS = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Quantiles of the paper's boxes (captions of Figs. 9 and 24)."""
MARKED = {"with": "with L4Span", "without": "without"}


def over_time(panel: str, curve: str, frame: pl.DataFrame, column: str) -> Iterator[Row]:
    """Gives the rows of a series, without what was not measured."""
    for t, y in frame.select("t_s", column).drop_nulls().iter_rows():
        yield panel, curve, t, y


def quantiles(result: "Result", delay: str) -> list[float]:
    """Gives the quantiles of a box over the flows' pooled samples: each flow counts alike."""
    curve = result.cdf(delay)  # type: ignore[arg-type]
    flows = curve.partition_by("flow")
    grid = np.unique(curve["ms"].to_numpy())
    share = np.mean([np.interp(grid, of["ms"], of["share"], left=0.0, right=1.0) for of in flows], axis=0)
    return list(np.interp(WHISKERS, share, grid))


def fig2() -> Iterator[Row]:
    """Round trips and rates: a wired bottleneck, 5G without L4Span, 5G with it, and a bottleneck that moves."""
    for cc, name in (("prague", "Prague"), ("cubic", "CUBIC")):
        settings = (
            ("(a) wired", "l4span.fig2-wired", cc),
            ("(b) 5G", "l4span.fig2", f"{cc}.without"),
            ("(c) 5G+", "l4span.fig2", f"{cc}.with"),
        )
        for panel, scenario, case in settings:
            frame = run(scenario, case, sample_interval="500 ms").series.flows
            yield from over_time(f"{panel}: round trip", name, frame, "rtt_ms")
            yield from over_time(f"{panel}: throughput", name, frame, "throughput_mbps")
    # Section 2: 'The CUBIC has an RTT around 20 ms'.
    yield "(a) wired: round trip", f"{PUBLISHED} CUBIC", 15.0, 20.0


def grid(controllers: dict[str, str], delay: str) -> Iterator[Row]:
    """Boxes of a delay over the cases of Figs. 9 and 24, panel by panel."""
    panels = itertools.product(("38ms", "106ms"), ("deep", "short"), ("16ue", "64ue"))
    for letter, (wire, queue, ues) in zip("abcdefgh", panels, strict=True):
        panel = grid_panel(letter, wire, queue, ues)
        for marking, curve in MARKED.items():
            for (cc, name), channel in itertools.product(controllers.items(), ("static", "mobile")):
                result = run("l4span.fig9", f"{cc}.{channel}.{ues}.{wire}.{queue}.{marking}")
                for y in quantiles(result, delay):
                    yield panel, curve, f"{name} {channel[0].upper()}", y


def grid_panel(letter: str, wire: str, queue: str, ues: str) -> str:
    """Gives the title of a panel of Figs. 9 and 24."""
    sdus = {"deep": "16384", "short": "256"}[queue]
    return f"({letter}) {ues.removesuffix('ue')} UEs, {sdus} SDUs, {wire.removesuffix('ms')} ms"


GRID = tuple(
    Panel(grid_panel(letter, *setting), "", "{} (ms)", "boxes", log_y=True)
    for letter, setting in zip(
        "abcdefgh", itertools.product(("38ms", "106ms"), ("deep", "short"), ("16ue", "64ue")), strict=True
    )
)
REDUCTIONS = {
    "fig9": {"Prague S": -98.87, "Prague M": -97.93, "CUBIC S": -98.85, "CUBIC M": -97.11},
    "fig24": {"Reno S": -97.61, "Reno M": -97.12},
}
"""Changes that the text gives for the first panel, in percent."""


def with_published(rows: Iterator[Row], figure: str) -> Iterator[Row]:
    """Adds to the first panel what the published change makes of our median without L4Span."""
    medians: dict[str, list[float]] = {}
    for row in rows:
        panel, curve, x, y = row
        if panel == GRID[0].title and curve == MARKED["without"]:
            medians.setdefault(str(x), []).append(y)
        yield row
    for place, change in REDUCTIONS[figure].items():
        yield GRID[0].title, f"{PUBLISHED} {MARKED['with']}", place, medians[place][2] * (1 + change / 100)


def fig9() -> Iterator[Row]:
    """One-way delays of Prague, BBRv2 and CUBIC."""
    return with_published(grid({"prague": "Prague", "bbr2": "BBRv2", "cubic": "CUBIC"}, "owd"), "fig9")


def fig24() -> Iterator[Row]:
    """Round trips of Reno and BBR."""
    return with_published(grid({"reno": "Reno", "bbr1": "BBR"}, "rtt"), "fig24")


def fig10() -> Iterator[Row]:
    """One-way delay of Prague in its parts."""
    for panel, marking in (("without L4Span", "without"), ("with L4Span", "with")):
        for scheduler, ues in itertools.product(("rr", "pf"), ("16ue", "64ue")):
            flows = run("l4span.fig9", f"prague.mobile.{ues}.38ms.{marking}.{scheduler}").flows
            place = f"{scheduler.upper()} {ues.removesuffix('ue')}"
            parts = {
                "propagation": ("propagation_ms", "cu_ms"),
                "queuing": ("queuing_ms",),
                "scheduling": ("scheduling_ms",),
                "HARQ, RLC": ("harq_ms", "rlc_ms", "reordering_ms"),
            }
            for part, columns in parts.items():
                yield panel, part, place, sum(flows[column].fill_null(0).mean() for column in columns)


def fig11() -> Iterator[Row]:
    """Completion times of short flows, and the throughput of the long one beside them."""
    for marking, curve in MARKED.items():
        for cc, name in (("prague", "Prague"), ("bbr2", "BBRv2"), ("cubic", "CUBIC")):
            result = run("l4span.fig11", f"{cc}.{marking}")
            box = quantiles(result, "completion")
            for y in box:
                yield "short flows", curve, name, y
            if (cc, marking) == ("prague", "without"):
                # Section 6.2.1: 94.59 % less.
                yield "short flows", f"{PUBLISHED} {MARKED['with']}", name, box[2] * (1 - 0.9459)
            yield "long flow", curve, name, result.flows["throughput_mbps"].max()


def fig12() -> Iterator[Row]:
    """Throughput over one-way delay beside TC-RAN."""
    for panel, cc, laws in (("(a) Prague", "prague", ("with", "ecn-codel")), ("(b) CUBIC", "cubic", ("with", "codel"))):
        for law, channel in itertools.product(laws, ("static", "pedestrian", "vehicular")):
            name = "L4Span" if law == "with" else "TC-RAN"
            for wire in ("38ms", "106ms"):
                sender = "cubic-loss" if law == "codel" else cc
                flow = run("l4span.one-ue", f"{law}.{sender}.{channel}.{wire}").flows
                yield panel, f"{name}, {channel}", flow["owd_p50_ms"][0], flow["throughput_mbps"][0]


FIG13 = {
    ("udp-prague", "static"): -76.33, ("udp-prague", "pedestrian"): -38.04, ("udp-prague", "vehicular"): -44.83,
    ("scream", "static"): -12.60, ("scream", "pedestrian"): -11.20, ("scream", "vehicular"): -38.44,
}  # fmt: skip
"""Changes of the round trip that the paper prints, in percent."""


def fig13() -> Iterator[Row]:
    """Change of the median round trip of interactive senders."""
    for (sender, channel), published in FIG13.items():
        without, marked = (
            run("l4span.fig13", f"{sender}.{channel}.{marking}").flows["rtt_p50_ms"].median()
            for marking in ("without", "with")
        )
        name = {"udp-prague": "UDP Prague", "scream": "SCReAM"}[sender]
        yield "fall of the round trip", name, channel, 100 - 100 * marked / without
        yield "fall of the round trip", f"{PUBLISHED} {name}", channel, -published


def fig14() -> Iterator[Row]:
    """Throughput of three UEs that come and go."""
    settings = (
        ("(a) three of Prague", "prague"),
        ("(b) the third 106 ms away", "far"),
        ("(c) the second is CUBIC", "cubic"),
        ("(d) three of BBRv2", "bbr2"),
    )
    for panel, case in settings:
        frame = run("l4span.fig14", case, sample_interval="1 s").series.flows
        for flow in ("first", "second", "third"):
            yield from over_time(panel, flow, frame.filter(pl.col("flow") == flow), "throughput_mbps")


FIG15 = {
    ("Prague", "mean", "with"): 28.52, ("Prague", "p99.9", "with"): 52.97,
    ("Prague", "mean", "downlink"): 33.87, ("Prague", "p99.9", "downlink"): 179.34,
    ("CUBIC", "mean", "with"): 75.27, ("CUBIC", "p99.9", "with"): 160.42,
    ("CUBIC", "mean", "downlink"): 85.42, ("CUBIC", "p99.9", "downlink"): 190.53,
}  # fmt: skip
"""Round trips that the paper prints, in ms."""


def fig15() -> Iterator[Row]:
    """Round trips and throughput with and without the short-circuit."""
    curves = {"with": "short-circuit", "downlink": "marks on the downlink"}
    for marking, curve in curves.items():
        for cc, name in (("prague", "Prague"), ("cubic", "CUBIC")):
            flow = run("l4span.one-ue", f"{marking}.{cc}.static.local.from-start").flows
            for quantile, column in (("mean", "rtt_mean_ms"), ("p99.9", "rtt_p999_ms")):
                yield "(a) round trip", curve, f"{name} {quantile}", flow[column][0]
            yield "(b) throughput", curve, name, flow["throughput_mbps"][0]
    for (name, quantile, marking), y in FIG15.items():
        yield "(a) round trip", f"{PUBLISHED} {curves[marking]}", f"{name} {quantile}", y


def fig16() -> Iterator[Row]:
    """Shares of the L4S flow, second by second."""
    for method, name in (("original", "Original"), ("l4s", "L4S"), ("classic", "Classic"), ("coupled", "L4Span")):
        flows = run("l4span.shared-drb", method, sample_interval="1 s").series.flows
        l4s, classic = (flows.filter((pl.col("flow") == flow) & (pl.col("t_s") > 10)) for flow in ("prague", "cubic"))
        for panel, column in (("share of throughput", "throughput_mbps"), ("share of round trip", "rtt_ms")):
            share = (l4s[column] / (l4s[column] + classic[column])).drop_nulls()
            for y in np.quantile(share.to_numpy(), WHISKERS):
                yield panel, "ours", name, y
    # Section 6.2.6: 'starved with a throughput ratio of round 25 %' is the classic flow's, under the rule for L4S; 'fair share' is one half.
    yield "share of throughput", f"{PUBLISHED} ours", "L4S", 0.75
    yield "share of throughput", f"{PUBLISHED} ours", "L4Span", 0.5


def fig17() -> Iterator[Row]:
    """Length of the RLC queue over time."""
    for channel in ("static", "pedestrian", "vehicular"):
        for cc, name in (("prague", "Prague"), ("cubic", "CUBIC")):
            ues = run("l4span.one-ue", f"with.{cc}.{channel}.local", duration="25 s").series.ues
            # Every eighth sample of the last fifteen seconds: the picture shows no more.
            yield from over_time(channel, name, ues.filter(pl.col("t_s") > 10).gather_every(8), "queued")


def fig19() -> Iterator[Row]:
    """Throughput and round trip over the threshold of the sojourn time."""
    for channel in ("vehicular", "pedestrian", "static"):
        for tau in ("1ms", "2ms", "5ms", "10ms", "20ms", "50ms", "100ms"):
            flow = run("l4span.one-ue", f"with.prague.{channel}.38ms.{tau}").flows
            yield "throughput", channel, float(tau.removesuffix("ms")), flow["throughput_mbps"][0]
            yield "round trip", channel, float(tau.removesuffix("ms")), flow["rtt_mean_ms"][0]


QUARTILE = re.compile(r"(error|eq3)_(p25|p50|p75)\[(prague|cubic)\.(\w+)\.16ue\.38ms\.with(?:\.literal)?\]")
"""Measures of the estimate's error: what it is held against, the quartile, the sender and the channel."""
ESTIMATES = {
    ("eq3", "prague"): "Eqs. 3 and 4, Prague",
    ("error", "prague"): "of busy time, Prague",
    ("error", "cubic"): "of busy time, CUBIC",
}


def fig20() -> Iterator[Row]:
    """Quartiles of the egress rate's error, from the results of the targets: no run of a scenario has them."""
    targets = json.loads((ROOT / "results" / "papers" / "results.json").read_text())["targets"]
    rows = [row for target in targets if target["id"].startswith("l4span.fig20") for row in target["rows"]]
    if not rows:
        raise SystemExit("results.json has no l4span.fig20: run tidemark-papers l4span.fig20 --results FILE")
    found: dict[tuple[str, str], dict[str, float]] = {}
    for of in (of for row in rows for of in row["ours"]):
        if measure := QUARTILE.fullmatch(of["formula"]):
            against, quartile, sender, channel = measure.groups()
            found.setdefault((ESTIMATES[against, sender], channel), {})[quartile] = of["mean"]
    for estimate in ESTIMATES.values():
        for channel in ("static", "pedestrian", "vehicular"):
            for quartile in ("p25", "p50", "p75"):
                yield "error of the egress rate", estimate, channel, found[estimate, channel][quartile]
    for channel in ("static", "pedestrian", "vehicular"):
        yield "error of the egress rate", f"{PUBLISHED} median", channel, 0.0


SECONDS, MBPS, RTT = "time (s)", "throughput (Mbit/s)", "round trip (ms)"
PICTURES = (
    figure("l4span.fig2", fig2, tuple(
        Panel(f"{setting}: {what}", SECONDS, RTT if what == "round trip" else MBPS, top=None if what == "round trip" else 45)
        for what in ("round trip", "throughput") for setting in ("(a) wired", "(b) 5G", "(c) 5G+")), columns=3),
    figure("l4span.fig9", fig9, tuple(Panel(p.title, p.x, "one-way delay (ms)", p.kind, log_y=True) for p in GRID)),
    figure("l4span.fig10", fig10, tuple(
        Panel(title, "", "one-way delay (ms)", "stack", top=top) for title, top in (("without L4Span", 30000), ("with L4Span", 100)))),
    figure("l4span.fig11", fig11, (
        Panel("short flows", "", "completion time (ms)", "boxes", log_y=True), Panel("long flow", "", MBPS, "bars"))),
    figure("l4span.fig12", fig12, tuple(Panel(title, "one-way delay, median (ms)", MBPS, "points", top=100) for title in ("(a) Prague", "(b) CUBIC"))),
    figure("l4span.fig13", fig13, (Panel("fall of the round trip", "", "of the median (%)", "bars"),), columns=1),
    figure("l4span.fig14", fig14, tuple(
        Panel(title, SECONDS, MBPS, top=45)
        for title in ("(a) three of Prague", "(b) the third 106 ms away", "(c) the second is CUBIC", "(d) three of BBRv2"))),
    figure("l4span.fig15", fig15, (Panel("(a) round trip", "", RTT, "bars"), Panel("(b) throughput", "", MBPS, "bars", top=55))),
    figure("l4span.fig16", fig16, tuple(Panel(title, "", "L4S / (L4S + classic)", "boxes", top=1) for title in ("share of throughput", "share of round trip"))),
    figure("l4span.fig17", fig17, tuple(Panel(title, SECONDS, "RLC queue (SDUs)") for title in ("static", "pedestrian", "vehicular")), columns=3),
    figure("l4span.fig19", fig19, (Panel("throughput", "threshold (ms)", MBPS, log_x=True), Panel("round trip", "threshold (ms)", RTT, log_x=True))),
    figure("l4span.fig20", fig20, (Panel("error of the egress rate", "", "error (%)", "boxes", bottom=-20, top=90),), columns=1),
    figure("l4span.fig24", fig24, tuple(Panel(p.title, p.x, RTT, p.kind, log_y=True) for p in GRID)),
)  # fmt: skip
