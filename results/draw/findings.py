#!/usr/bin/env python3
"""Writes the measured tables of the pages, from the tables of results/:

    python3 results/draw/findings.py                 writes into docs/
    python3 results/draw/findings.py --check         fails if a page would change
    python3 results/draw/findings.py --docs FOLDER   writes into a copy of docs/, as `make book` does

A page says `<!-- table NAME -->` and `<!-- end -->` around a table. NAME is that of a function below, of a finding its own, or a file,
which is shown whole. Everything else on a page is written by hand. Python's own library is all it needs.
"""

import argparse
import csv
import math
import pathlib
import re
import statistics
import sys
from collections.abc import Callable, Iterator

import data
from data import groups, mean, middle, numbers

HERE = pathlib.Path(__file__).parent
for folder in ("gate", "choosing"):
    sys.path.append(str(HERE.parent / folder))

import aims  # noqa: E402
import figures  # noqa: E402
import points  # noqa: E402

BLOCK = re.compile(r"(<!-- table ?(\S*) -->\n).*?(<!-- end -->)", re.DOTALL)
Cells = Iterator[tuple[str, ...]]

AIMS = {
    "L4S over CUBIC's rate, other DRBs": "L4S has 0.7 to 1.4 of CUBIC's rate, other DRBs",
    "L4S over CUBIC's rate, same DRB": "the same in one DRB",
    "least flow over equal share": "no flow below 0.3 of the equal share",
    "rate over unmarked, one UE": "0.85 of the unmarked rate, one UE",
    "rate over unmarked, several UEs": "0.95 of the unmarked rate, several",
    "rate over unmarked, drives": "0.7 of the unmarked rate, drives",
    "L4S p99 over 20 ms and a round": "L4S p99 within 20 ms and a round",
    "L4S p99 over 20 ms, a round, drives": "the same, drives",
    "classic mean queue over l4span's": "classic mean queue 0.6 of `l4span`'s",
    "classic mean queue, drives": "the same, drives",
}
"""Aims of the gate in the page's words."""


def gate() -> Cells:
    """Points that meet each aim, and the mean of the figure that it is about."""
    cases = {case.id: case for case in points.load("reporting")}
    rows = []
    for row in data.table("gate/reporting.csv"):
        case = cases[row["id"]]
        flows = case.ues * (2 if case.placement == "shared" else 1)
        measured = {name: None if cell == "" else float(cell) for name, cell in row.items() if name not in ("half", "id", "law")}
        rows.append({**measured, "point": case, "law": row["law"], "flows": flows})
    yield "aim", "points", "`l4span` meets it, mean", "`tide` meets it, mean"
    for reference, ours in zip(aims.judge("l4span", rows), aims.judge("tide", rows), strict=True):
        middle, (low, high) = ours.overall()
        theirs = f"{reference.met()}, {reference.overall()[0]:.2f}"
        yield AIMS[ours.aim.name], str(len(ours.figures)), theirs, f"{ours.met()}, {middle:.2f} ({low:.2f} to {high:.2f})"


def front() -> Cells:
    """Every sender while walking, under no law, under `l4span` and under `tide`."""
    laws = ("none", "l4span", "tide")
    yield "sender, walking", *(text for law in laws for text in (f"`{law}`: Mbit/s", "queue, ms"))
    runs = groups(data.table("front/everybody.csv"), "channel", "senders", "law")
    for sender in dict.fromkeys(sender for _, sender, _ in runs):
        cells = []
        for law in laws:
            of = runs.get(("pedestrian", sender, law))
            cells += [f"{mean(of, 'cell.throughput_mbps'):.1f}", f"{mean(of, 'bearer.queue_ms.mean'):.0f}"] if of else ["", ""]
        yield f"`{sender}`", *cells


def choosing() -> Cells:
    """Ends of each mechanism's range, nobody else and beside bursts of 15 Mbit/s."""
    yield "mechanism, parameter", "alone: mean, p99, ms", "Mbit/s", "beside bursts: mean, p99, ms", "Mbit/s"
    settings = figures.read()
    for mechanism in ("L4S", "L4S at the UPF", "ANBR", "queue-aware ANBR", "hybrid (larger rate)", "hybrid (gradual)"):
        for end in (0, -1):
            parameter = list(settings["alone"][mechanism])[end]
            cells = []
            for setting in ("alone", "heavy"):
                of = settings[setting][mechanism][parameter]
                cells += [f"{statistics.fmean(of[figures.MEAN]):.0f}, {statistics.fmean(of[figures.P99]):.0f}", f"{statistics.fmean(of[figures.RATE]):.1f}"]
            yield f"{mechanism}, {parameter.replace('-', ' to ')}", *cells


def senders() -> Cells:
    """Rates that real senders keep with marks, and their queues."""
    yield "sender, channel", "Mbit/s, unmarked", "marked", "kept, %", "simulated", "queue: mean, p99, ms", "unmarked: mean"
    runs = groups(data.table("interop/senders.csv"), "sender", "channel", "ends", "law")
    for sender, channel, ends, law in runs:
        if (ends, law) == ("live", "tide"):
            of = {(end, mark): runs[sender, channel, end, mark] for end in ("live", "simulated") for mark in ("none", "tide")}
            unmarked, marked = of["live", "none"], of["live", "tide"]
            kept = sorted(round(100 * float(row["rate_kept"])) for row in marked)
            yield (f"{sender}, {channel}", f"{mean(unmarked, 'mbps'):.1f}", f"{mean(marked, 'mbps'):.1f}",
                   " to ".join(map(str, dict.fromkeys((kept[0], kept[-1])))), f"{100 * mean(of['simulated', 'tide'], 'rate_kept'):.0f}",
                   f"{mean(marked, 'mean_ms'):.1f}, {mean(marked, 'p99_ms'):.1f}", f"{mean(unmarked, 'mean_ms'):.0f}")


def live() -> Cells:
    """Live cell beside the simulated one: means."""
    yield "sender, channel, law", "Mbit/s, simulated", "live", "queue p50, ms, simulated", "live", "marks, simulated", "live"
    for row in data.table("live/agreement.csv"):
        if "two runs" not in row["scenario"]:
            name, *cells = list(row.values())[:7]
            yield name.replace("l4span", "`l4span`").replace("ramp", "`ramp`"), *(cell.partition(" (")[0] for cell in cells)


def sdn() -> Cells:
    """Queues behind each discipline of a port."""
    yield "port", "L4S: Mbit/s", "delay, ms", "lost, %", "classic: Mbit/s", "delay, ms", "lost, %"
    for row in data.table("sdn/disciplines.csv"):
        if row["where"] != "simulator":
            port = re.sub(r" \(--[^()]*\)", "", row["port"])
            port = f"{port}, in a hop" if row["where"] == "tidemark net hop" else port
            columns = ("L4S: Mbit/s", "delay, ms", "lost, %", "classic: Mbit/s", "delay, ms 2", "lost, % 2")
            yield port, *(row[column].partition(", p99")[0] for column in columns)


def controllers() -> Cells:
    """Public programs and ours, in one queue."""
    yield "sender, queue", "program: Mbit/s", "round trip, ms", "ours: Mbit/s", "round trip, ms"
    for row in data.table("controllers/kernel.csv"):
        yield f"{row['']}, 20 Mbit/s", *list(row.values())[1:]
    rows = iter(data.table("controllers/public-programs.csv"))
    for program, ours in zip(rows, rows, strict=True):
        name = program[""].partition(",")[0]
        yield f"{name}, marked by `l4span`", *(row[key].partition(" (")[0] for row in (program, ours) for key in ("Mbit/s", "round trip, ms"))


def limits() -> Cells:
    """What an SNR carries."""
    shown = {"default cell, no loss": "default, no loss", "default cell, 2 dB": "default, 2 dB", "less overhead, 2 dB": "as 5G-LENA, 2 dB", "5G-LENA": "5G-LENA"}
    yield "SNR", *shown.values()
    for row in data.table("link/what-an-snr-carries.csv"):
        yield row["SNR"], *(row[column] for column in shown)


SHOWN = (
    "downlink packet, 64 UEs",
    "F1-U report, 64 UEs",
    "uplink acknowledgement, rewritten, 64 UEs",
    "downlink packet, 4096 UEs in scattered order",
    "memory of a DRB with full tables",
    "allocations after set-up",
    "simulated seconds a second, 1 UE",
    "simulated seconds a second, 16 UEs",
    "simulated seconds a second, 64 UEs",
    "21 cells, 550 users",
    "live cell without loss",
    "lateness of the live cell's slots, p99",
)
"""Budgets that the page shows."""


def performance() -> Cells:
    """Budgets beside what was measured."""
    yield "what", "budget", "measured", "met"
    found = {row["what"]: row for row in data.table("performance/budgets.csv")}
    for what in SHOWN:
        row = found[what]
        yield what, row["budget"], row["measured"], row["met"]


def reports() -> Cells:
    """Error of the predicted wait by the period of reports, under l4span."""
    channels = {"fixed rate": "fixed 40 Mbit/s", "static": "static", "pedestrian": "pedestrian", "vehicular": "vehicular"}
    yield "report period", *channels.values()
    rows = {(row["channel"], row["period_ms"]): row for row in data.table("estimate/error.csv") if (row["law"], row["age_ms"]) == ("l4span", "all")}
    for period in ("0.5", "1", "5", "10"):
        name = f"{period} ms, every slot" if period == "0.5" else f"{period} ms"
        yield name, *(f"{rows[channel, period]['error_p50']} / {rows[channel, period]['error_p90']}" for channel in channels)


def overload() -> Cells:
    """A flood beside Prague, without protection and with it: medians over the seeds."""
    columns = {"flood_queue_p50_ms": 0, "flood_mbps": 1, "beside_mbps": 2, "elsewhere_mbps": 1}
    yield "law", "queue p50, ms", "flood, Mbit/s", "Prague beside, Mbit/s", "other phone, Mbit/s"
    runs = groups(data.table("overload/overload.csv"), "law", "beside", "protection")
    for law in dict.fromkeys(law for law, *_ in runs):
        medians = [[statistics.median(float(row[column]) for row in runs[law, "prague", protection]) for column in columns]
                   for protection in ("false", "true")]
        cells = zip(*medians, columns.values(), strict=True)
        yield f"`{law}`", *(f"{without:.{digits}f} → {protected:.{digits}f}" for without, protected, digits in cells)


MISSES = {
    "GCC": "gives way to CUBIC; shares by round trip",
    "UDP Prague": "shares by round trip; full use over DualPI2",
    "SCReAM v2": "full use over DualPI2",
    "cL4S": "losses over drop tail; full use over DualPI2",
    "sL4S": "the same",
}


def rfc8867() -> Cells:
    """Claims that hold, over all cases."""
    yield "controller", "drop tail", "DualPI2", "what it misses"
    found = groups(data.table("rfc8867/cases.csv"), "controller", "queue", "case")
    for controller, misses in MISSES.items():
        cells = []
        for queue in ("drop tail", "DualPI2"):
            cases = [rows for (of, at, _), rows in found.items() if (of, at) == (controller, queue)]
            claims = sum(int(rows[0]["claims"]) for rows in cases)
            missed = sum(len({number for row in rows for number in row["missed"].split()}) for rows in cases)
            cells.append(f"{claims - missed} of {claims}")
        yield controller, *cells, misses


CONTROLLERS = {"scream": "SCReAM v2", "prague": "UDP Prague", "sl4s": "sL4S", "cl4s": "cL4S", "l4s-cc": "L4S-CC", "gcc": "GCC"}
"""Controllers as pages call them."""


def spread(rows: list[dict[str, str]], key: str, digits: int = 0) -> str:
    """Gives the lowest and the highest value of a column, once if both read the same."""
    values = [float(row[key]) for row in rows]
    return " to ".join(dict.fromkeys(f"{end:.{digits}f}" for end in (min(values), max(values))))


def streams() -> Cells:
    """Streams to a browser without L4S and with it, in pairs of one seed."""
    columns = {"rate_mbps": 1, "queue_p95_ms": 0, "frame_p50_ms": 0, "frame_p95_ms": 0, "frame_p99_ms": 0, "freezes": 0}
    yield "controller, L4S", "Mbit/s", "queue p95, ms", "frame delay p50, ms", "p95", "p99", "freezes"
    runs = groups(data.table("interop/streams.csv"), "controller", "l4s")
    for controller, name in CONTROLLERS.items():
        pairs = [runs.get((controller, l4s), []) for l4s in "01"]
        both = {row["run"] for row in pairs[0]} & {row["run"] for row in pairs[1]}
        for rows, state in zip(pairs, ("off", "on"), strict=True) if both else ():
            of = [row for row in rows if row["run"] in both]
            yield f"{name}, {state}", *(spread(of, column, digits) for column, digits in columns.items())


def al4s_live() -> Cells:
    """A paper's single flow to a browser, and in the simulator."""
    columns = {"utilisation_percent": 0, "tdq_20_ms_s": 1, "queue_p95_ms": 0}
    yield "controller", "used, %", "simulated", "over 20 ms, s", "simulated", "queue p95, ms", "simulated"
    runs = groups(data.table("interop/al4s-live.csv"), "source", "controller")
    for controller, name in CONTROLLERS.items():
        if ("live", controller) in runs:
            yield name, *(spread(runs[source, controller], column, digits)
                          for column, digits in columns.items() for source in ("live", "simulated"))


CANDIDATES = {
    "4 ms one way, at once, capability, headers once, whole slots": ("4", "at once", "capacity", "True", "whole"),
    "the same, groups of resource blocks": ("4", "at once", "capacity", "True", "groups"),
    "4 ms, at once, what was delivered, headers once": ("4", "at once", "delivered", "True", "whole"),
    "4 ms, at once, capability, all headers": ("4", "at once", "capacity", "False", "whole"),
    "10 ms, paced, delivered, headers once, groups": ("10", "paced", "delivered", "True", "groups"),
    "10 ms, paced, delivered, all headers, as it was": ("10", "paced", "delivered", "False", "whole"),
}
"""Candidates for what the thesis leaves open, of which its page shows the distance."""


def anbr_candidates() -> Cells:
    """Distance of each candidate from the thesis' tables: on the rows to choose on, and on the others."""
    yield "candidate", "rows to choose on", "the others"
    runs = groups(data.table("papers/readings/anbr.csv"), "wire_ms", "frames", "estimate", "headers", "slots", "half")
    for name, candidate in CANDIDATES.items():
        distances = [statistics.fmean(abs(math.log(float(row[of]) / float(row[f"published_{of}"])))
                                      for row in runs[*candidate, half] for of in ("owd_ms", "mbps"))
                     for half in ("choosing", "reporting")]
        yield name, *(f"{distance:.3f}" for distance in distances)


RADIOS = {
    "*published*": "*published*",
    "64QAM, one antenna": "64QAM, one antenna",
    "64QAM, four": "64QAM, four",
    "256QAM, four": "256QAM, four, as here",
    "256QAM, four, less 1.75 dB": "256QAM, four, less 1.75 dB (LTE's codebook)",
    "256QAM, four, less 6 dB": "256QAM, four, less 6 dB (no feedback)",
}
"""Radios that Brunello's page shows, in its words."""


def brunello_radio() -> Cells:
    """Rates with each radio that the paper's sentences allow."""
    rows = {row["radio"]: row for row in data.table("papers/tried/brunello/radio.csv")}
    columns = ("table IV, Mbit/s", "table V, Mbit/s")
    yield "radio", *columns
    for radio, name in RADIOS.items():
        yield name, *(rows[radio][column] for column in columns)


FINDINGS: dict[str, Callable[[], Cells]] = {
    of.__name__: of for of in (gate, front, choosing, senders, live, sdn, controllers, limits, performance)
}
"""Findings below docs/measured whose table is made here."""
OTHERS = (reports, overload, rfc8867, streams, al4s_live, anbr_candidates, brunello_radio)
TABLES = {**FINDINGS, **{of.__name__: of for of in OTHERS}}


def whole(name: str) -> Cells:
    """A file as it is."""
    with (data.RESULTS.parent / name).open(newline="") as file:
        yield from map(tuple, csv.reader(file))


def markdown(rows: Cells) -> str:
    """Gives a table in Markdown: columns of numbers are flush right."""
    head, *lines = rows
    right = [all(numbers(line[at]) or not line[at] for line in lines) and at > 0 for at in range(len(head))]
    rule = ("---:" if is_right else "---" for is_right in right)
    return "".join(re.sub(r"  +", " ", f"| {' | '.join(cells)} |\n") for cells in (head, rule, *lines))


def page(name: str, text: str) -> str:
    """Gives the page of this name with its tables as the data have them."""
    def block(found: re.Match[str]) -> str:
        of = found[2] or name
        return f"{found[1]}\n{markdown(whole(of) if of.endswith('.csv') else TABLES[of]())}\n{found[3]}"
    return BLOCK.sub(block, text)


def main() -> int:
    """Writes or checks the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page would change")
    parser.add_argument("--docs", type=pathlib.Path, default=HERE.parents[1] / "docs", help="folder of the pages")
    options = parser.parse_args()
    old = []
    for file in sorted(options.docs.rglob("*.md")):
        before = file.read_text()
        after = page(file.stem, before)
        if after != before:
            old.append(file)
            if not options.check:
                file.write_text(after)
    for file in old if options.check else ():
        print(f"{file} has another table than the data: run python3 results/draw/findings.py", file=sys.stderr)
    return 1 if options.check and old else 0


if __name__ == "__main__":
    sys.exit(main())
