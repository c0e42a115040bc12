"""Pictures of the findings, of the laws and of a report's life, from the tables of results/."""

import importlib.util
from collections.abc import Iterator

from data import RESULTS, groups, mean, middle, numbers, table
from picture import MEASURED, PUBLISHED, Panel, Picture, Row

# Its name is that of other scripts too.
spec = importlib.util.spec_from_file_location("papers_tables", RESULTS / "papers/tables.py")
papers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(papers)

SHARE, TAIL = "rate of a Prague over that of a CUBIC", "99th percentile of the queue"


def crowd() -> Iterator[Row]:
    """Shares and tails in a crowd, by its UEs."""
    for row in table("gate/crowd.csv"):
        for law in ("tide", "l4span"):
            ratio, _, l4s, classic, _ = numbers(row[law])
            yield SHARE, law, row["UEs"], ratio
            yield TAIL, f"{law}, Prague", row["UEs"], l4s
            yield TAIL, f"{law}, CUBIC", row["UEs"], classic


VIDEO = {"scream": "SCReAM v2", "prague": "UDP Prague", "sl4s": "sL4S", "cl4s": "cL4S", "gcc": "GCC"}
FRAME_DELAY = {"0": "frame delay, L4S off", "1": "frame delay, L4S on"}


def streams() -> Iterator[Row]:
    """Frame delays of real streams, without marks and with them, as means of the runs."""
    for (controller, l4s), rows in groups(table("interop/streams.csv"), "controller", "l4s").items():
        for quantile in ("p50", "p95", "p99"):
            yield FRAME_DELAY[l4s], quantile, VIDEO[controller], mean(rows, f"frame_{quantile}_ms")


CHANNELS = {"static": "standing", "pedestrian": "walking"}
LAWS_OF_FRONT = ("none", "l4span", "tide", "ramp", "step", "ecn-codel")


def fronts() -> Iterator[Row]:
    """Throughput over the mean queue, a point a sender, by law."""
    for (channel, sender, law), rows in groups(table("front/everybody.csv"), "channel", "senders", "law").items():
        if law in LAWS_OF_FRONT:
            curve = "oracle" if sender == "oracle" else law
            yield CHANNELS[channel], curve, mean(rows, "bearer.queue_ms.mean"), mean(rows, "cell.throughput_mbps")


SETTINGS = {
    "alone": "on foot, nobody else",
    "light": "on foot, beside bursts of 5 Mbit/s",
    "heavy": "on foot, beside bursts of 15 Mbit/s",
    "driving": "driving, beside bursts of 5 Mbit/s",
}
FEET = {"alone": 20, "light": 16, "heavy": 14, "driving": 14}
"""Mbit/s at which the axis of a setting begins."""
MECHANISMS = ("L4S", "hybrid (larger rate)", "hybrid (gradual)", "ANBR", "queue-aware ANBR")
PARAMETERS = ("marker.low", "marker.ramp.low", "ue.glasses.anbr.window", "ue.glasses.anbr.queue_target")


def mechanisms() -> Iterator[Row]:
    """Throughput over the mean delay, a point a parameter."""
    for (setting, mechanism, *_), rows in groups(table("choosing/choosing.csv"), "setting", "mechanism", *PARAMETERS).items():
        if mechanism in MECHANISMS:
            yield SETTINGS[setting], mechanism, mean(rows, "owd_ms.mean"), mean(rows, "sum(throughput_mbps)")


KEPT, QUEUE = "rate that is kept with marks", "mean queue with marks"


def real() -> Iterator[Row]:
    """Rates that real senders keep, and their queues, beside simulated ones."""
    for (sender, channel, ends, law), rows in groups(table("interop/senders.csv"), "sender", "channel", "ends", "law").items():
        if law == "tide":
            place = f"{sender}\n{channel}"
            yield KEPT, ends, place, 100 * mean(rows, "rate_kept")
            yield QUEUE, ends, place, mean(rows, "mean_ms")


def agreement() -> Iterator[Row]:
    """Rates and queues of the live cell beside the simulated one."""
    for row in table("live/agreement.csv"):
        if "two runs" not in row["scenario"]:
            place = row["scenario"].replace(", ", "\n")
            for curve, rate, queue in (("simulated", "Mbit/s simulated", "queue delay p50, ms"), ("live", "live", "live 2")):
                yield "throughput", curve, place, middle(row[rate])
                yield "median queue", curve, place, middle(row[queue])


def cost() -> Iterator[Row]:
    """Processor time of a simulated second by what grows, and what it were in proportion."""
    for (series,), rows in groups(table("performance/cost.csv"), "series").items():
        first = float(rows[0]["cpu"]) / float(rows[0]["value"])
        for row in rows:
            yield series, "measured", float(row["value"]), float(row["cpu"])
            yield series, "in proportion", float(row["value"]), first * float(row["value"])


QUEUES = {"drop-tail": "drop-tail, 40 ms", "dualpi2": "DualPI2"}


def fairness() -> Iterator[Row]:
    """Share of each controller beside each."""
    rows = table("controllers/fairness.csv")
    names = list(dict.fromkeys(row["row"] for row in rows))
    for queue, title in QUEUES.items():
        shares = {}
        for row in rows:
            if row["queue"] == queue:
                one, other = float(row["row_mbps"]), float(row["column_mbps"])
                shares[row["column"], row["row"]] = 100 * other / (one + other)
                shares[row["row"], row["column"]] = 100 * one / (one + other)
        yield from ((title, one, other, shares[one, other]) for one in names for other in names if (one, other) in shares)


STEADY = {
    "reno": Panel("Reno, 40 ms", "probability", "window (segments)", log_x=True, log_y=True),
    "cubic": Panel("CUBIC, 100 ms", "probability", "window (segments)", log_x=True, log_y=True),
    "prague": Panel("Prague, 25 ms", "probability", "window (segments)", log_x=True, log_y=True),
    "udp-prague": Panel("UDP Prague, 40 ms", "probability", "rate (Mbit/s)", log_x=True, log_y=True),
    "bbr-v2": Panel("BBR v2, 200 Mbit/s, 25 ms", "probability", "share of the link", log_x=True),
    "scream": Panel("SCReAM v2, full window, 10 ms", "probability", "window (1000 B)", log_x=True, log_y=True),
    "scream-video": Panel("SCReAM v2 with a video, 25 ms", "probability", "marks a round trip", log_x=True),
}
"""A panel for each controller that has a law."""


def steady() -> Iterator[Row]:
    """Steady states, measured as points, and their laws as lines."""
    for row in table("controllers/laws.csv"):
        title = STEADY[row["panel"]].title
        yield title, f"law, {row['series']}", float(row["p"]), float(row["law"])
        yield title, f"{MEASURED}|{row['series']}", float(row["p"]), float(row["measured"])


PORTS = {
    "FIFO (--mode": "FIFO",
    "HTB alone (--mode": "HTB alone",
    "literal, q1": "literal",
    "sound (--mode": "sound",
    "sound, wire": "sound, 10 ms",
    "DualPI2 (--hop": "DualPI2",
}


def ports() -> Iterator[Row]:
    """Delays behind each discipline of a port."""
    rows = table("sdn/disciplines.csv")
    for begin, place in PORTS.items():
        row = next(row for row in rows if row["port"].startswith(begin))
        yield "mean delay of a packet", "L4S", place, middle(row["delay, ms"])
        yield "mean delay of a packet", "classic", place, middle(row["delay, ms 2"])


THRESHOLDS, FAILS = "SNR at one error in ten", "share of code blocks that fails"


def link() -> Iterator[Row]:
    """Thresholds of each MCS, and curves of some, beside published ones."""
    ours, points = table("link/curve.csv"), table("../crates/radio/tests/bler/points.csv")
    mcss = [("1", str(mcs)) for mcs in range(29)] + [("2", str(mcs)) for mcs in range(20, 28)]
    for row in ours:
        mcs = row["table"], row["mcs"]
        if row["code_block_bits"] == "8192" and mcs in mcss:
            yield THRESHOLDS, f"ours|{mcs[0]}", mcss.index(mcs), float(row["snr_db"])
        if mcs in SHOWN and row["code_block_bits"] == "2000" and 0.01 <= float(row["bler"]) <= 1:
            yield FAILS, f"ours|{mcs}", float(row["snr_db"]), float(row["bler"])
    for row in points:
        mcs = row["table"], row["mcs"]
        if row["source"] == "5g-lena" and mcs in mcss:
            yield THRESHOLDS, f"{PUBLISHED}: 5G-LENA", mcss.index(mcs), float(row["snr_db"])
        if row["source"] == "sionna" and mcs in SHOWN and row["code_block_bits"] == "2000":
            yield FAILS, f"{PUBLISHED}: Sionna", float(row["snr_db"]), float(row["bler"])


SHOWN = {("1", "3"), ("1", "6"), ("1", "15"), ("1", "18"), ("1", "21"), ("1", "27"), ("2", "21"), ("2", "24"), ("2", "27")}
"""MCSs whose curves are drawn."""


def periods() -> Iterator[Row]:
    """Median error of the predicted sojourn by the period of reports."""
    for row in table("estimate/error.csv"):
        if row["age_ms"] == "all":
            yield row["channel"], row["law"], float(row["period_ms"]), float(row["error_p50"])


EFFECTS = "our effects over the published ones"


def headlines() -> Iterator[Row]:
    """Ours over the published effect, of each part of a headline that is a ratio."""
    parts = [part for of in papers.read_headlines() for part in of["parts"] if papers.is_ratio(part)]
    ends = [part[key] for part in parts for key in ("published", "ours")]
    yield from ((EFFECTS, "as published", end, end) for end in (min(ends), max(ends)))
    for part in parts:
        yield EFFECTS, part["verdict"].replace("-", " "), float(part["published"]), float(part["ours"])


L4S, CLASSIC = "l4s", "classic"
LAWS = {
    "l4span": (30, {"L4S flow, mark": (L4S, "probability")}),
    "l4span-classic": (150, {"classic flow alone, mark": (CLASSIC, "probability")}),
    "l4span-shared": (150, {"L4S flow, mark": ("shared-l4s", "marked"), "classic flow, mark": ("shared-classic", "marked")}),
    "ramp": (30, {"L4S flow, mark": (L4S, "marked"), "classic flow": (CLASSIC, "marked")}),
    "step": (10, {"L4S flow, mark": (L4S, "marked"), "classic flow": (CLASSIC, "marked")}),
    "dualpi2": (60, {"L4S, mark": (L4S, "marked"), "classic, mark": (CLASSIC, "marked"), "either, drop": (L4S, "dropped")}),
    "codel": (60, {"any flow, drop": (L4S, "dropped")}),
    "ecn-codel": (60, {"ECT flow, mark": (L4S, "marked")}),
    "drop-head": (150, {"any flow, drop": (L4S, "dropped")}),
    "tide": (150, {"L4S flow alone": (L4S, "marked"), "L4S beside classic": ("shared-l4s", "marked"), "classic flow": (CLASSIC, "probability")}),
    "upf": (30, {"L4S flow, mark": (L4S, "marked"), "classic flow": (CLASSIC, "marked")}),
}
"""Pictures of laws: the longest queue in ms, and of each line the class of the flow and the column."""
USUAL = (60, {"L4S, mark": (L4S, "marked"), "classic, mark": (CLASSIC, "marked"), "either, drop": (L4S, "dropped")})
"""The picture of a law that is not in LAWS."""


def law(name: str) -> Picture:
    """Gives the picture of a law, whose name the picture's begins with."""
    longest, lines = LAWS.get(name, USUAL)
    of_law = name.removesuffix("-classic").removesuffix("-shared")

    def rows() -> Iterator[Row]:
        for row in table("laws/curve.csv"):
            for line, (kind, column) in lines.items():
                if (row["law"], row["class"]) == (of_law, kind) and int(row["queue_ms"]) <= longest:
                    yield name, line, int(row["queue_ms"]), float(row[column])

    return Picture(f"reference/laws/{name}", rows, (Panel(name, "standing queue (ms), at 40 Mbit/s", "probability"),), 1)


UES, MBPS, MEAN_QUEUE = "UEs, half of them with Prague", "throughput (Mbit/s)", "mean queue (ms)"
PICTURES = (
    Picture("measured/gate/crowd", crowd, (Panel(SHARE, UES, "ratio", log_x=True), Panel(TAIL, UES, "ms", log_x=True, top=180))),
    Picture("measured/front/everybody", fronts, tuple(Panel(title, MEAN_QUEUE, MBPS, "points", log_x=True) for title in CHANNELS.values()), height=2.8),
    Picture("measured/choosing/mechanisms", mechanisms, tuple(
        Panel(title, "mean one-way delay (ms)", "both streams (Mbit/s)", log_x=True, bottom=FEET[setting]) for setting, title in SETTINGS.items())),
    Picture("measured/senders/kept", real, (Panel(KEPT, "", "%", "bars"), Panel(QUEUE, "", "ms", "bars")), 1, width=6),
    Picture("measured/live/agreement", agreement, (Panel("throughput", "", "Mbit/s", "bars"), Panel("median queue", "", "ms", "bars")), 1, width=6),
    Picture("measured/performance/cost", cost, tuple(
        Panel(title, "", "s of a processor", log_x=True, log_y=True) for (title,) in groups(table("performance/cost.csv"), "series")), 3),
    Picture("measured/controllers/fairness", fairness, tuple(Panel(f"{title}", "", "", "map") for title in QUEUES.values()), height=3.2),
    Picture("measured/disciplines/delay", ports, (Panel("mean delay of a packet", "", "ms", "bars", log_y=True, bottom=0.1),), 1, width=5),
    Picture("measured/limits/link", link, (
        Panel(THRESHOLDS, "MCS: 0 to 28 of table 1, then 20 to 27 of table 2", "dB", bottom=-8), Panel(FAILS, "SNR (dB)", "share", log_y=True, bottom=0.01))),
    Picture("reproduction/pictures/headlines", headlines, (
        Panel(EFFECTS, "published", "ours", "against", log_x=True, log_y=True, bottom=0.002),), 1, 2.6),
    Picture("concepts/report/period", periods, tuple(
        Panel(channel, "period of reports (ms)", "median error (ms)", log_x=True) for channel in ("fixed rate", "static", "pedestrian", "vehicular"))),
    Picture("guide/stream/frames", streams, tuple(Panel(title, "", "ms", "bars", top=360) for title in FRAME_DELAY.values()), 1, width=6),
    Picture("guide/controllers/laws", steady, tuple(STEADY.values()), 3),
    *(law(name) for name in (*LAWS, *sorted({row["law"] for row in table("laws/curve.csv")} - {name.partition("-")[0] for name in LAWS} - LAWS.keys()))),
)
