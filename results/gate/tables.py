"""Tables of the page beside the gate: a crowd, a wide cell, shared DRBs, drives, and what each part of a law is worth."""

import dataclasses
import statistics

import aims
import points

WIDE = {"bandwidth_mhz": 100, "layers": 4}
NARROW = {"bandwidth_mhz": 20, "layers": 1}
WALKING = {"channel": "pedestrian", "snr_db": "22", "speed_kmh": "3"}
STATIC = {"channel": "static", "snr_db": "22"}
BASE = points.Point("table", "", 20, 1, 1, "alone", "static", "22", "", "", "prague", "20", "", 0, 15, 5)
SHARED = [("prague", "10", "106"), ("prague", "106", "10"), ("prague", "38", "106"), ("prague", "38", ""), ("udp-prague", "38", "")]
SHARED += [("udp-prague", "10", "106"), ("udp-prague", "106", "10"), ("scream", "38", "")]
DRIVES = ("ie-5g-driving-1.csv:dl_kbps", "us-5g-driving-handover.csv:throughput_mbps", "drp_munich_village.csv", "drp_munich_autobahn.csv")


def table(runner, laws, seeds, cases, head, cell):
    """Prints a row a case, with a cell a law."""
    rows = runner.table(cases.values(), laws, range(1, seeds + 1))
    row(*head, *(law.name for law in laws))
    row(*["---"] * len(head), *["---:"] * len(laws))
    for name, case in cases.items():
        runs = [[each for each in rows if (each["point"], each["law"]) == (case, law.name)] for law in laws]
        if all(runs):
            row(*name, *(cell(each) for each in runs))


def row(*cells):
    """Prints a row of a table in Markdown."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def interval(values, digits=2):
    """Mean with the half-width of its 95 % confidence interval."""
    half = aims.STUDENT[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None
    return f"{statistics.fmean(values):.{digits}f}" + ("" if half is None else f" ± {half:.{digits}f}")


def figures(runs, key):
    """Values of a figure, one a seed."""
    return [run[key] for run in runs]


def mean(runs, key):
    """Mean of a figure over seeds."""
    return statistics.fmean(figures(runs, key))


def crowd(runner, laws, seeds):
    """Prints Prague's rate over CUBIC's, a DRB each, with the 99th percentiles of the queues and the cell's rate."""
    counts = (2, 4, 8, 16, 32, 64, 128, 256)
    cases = {(ues,): dataclasses.replace(BASE, **WIDE, **WALKING, ues=ues, placement="other") for ues in counts}

    def cell(each):
        queues = f"{mean(each, 'l4s_p99_ms'):.0f} / {mean(each, 'classic_p99_ms'):.0f}"
        return f"{interval(figures(each, 'ratio'))}, {queues}, {mean(each, 'cell_mbps'):.0f}"

    table(runner, laws, seeds, cases, ["UEs"], cell)


def wide(runner, laws, seeds):
    """Prints the rate of one sender alone in a wide cell over a minute, with its queue."""
    senders = ("prague", "udp-prague", "scream", "cubic")
    case = dataclasses.replace(BASE, **WIDE, **WALKING, seconds=60, warmup=5)
    cases = {(sender,): dataclasses.replace(case, sender=sender) for sender in senders}
    table(runner, laws, seeds, cases, ["sender"], at_queue)


def shared(runner, laws, seeds):
    """Prints what an L4S flow has beside CUBIC in one DRB: its share, Jain's index and the mean queue."""
    cases = {}
    for channel in (STATIC, WALKING):
        for sender, trip, beside in SHARED:
            flows = {"placement": "shared", "sender": sender, "round_trip": trip, "beside_round_trip": beside}
            case = dataclasses.replace(BASE, **NARROW, **channel, **flows, seconds=90, warmup=30)
            cases[channel["channel"], sender, f"{trip} / {beside or trip}"] = case
    head = ["channel", "sender", "round trip, its / CUBIC's"]

    def cell(each):
        shares = [run["l4s_mbps"] / (run["l4s_mbps"] + run["cubic_mbps"]) for run in each]
        return f"{interval(shares)}, {mean(each, 'jain'):.2f}, {mean(each, 'mean_ms'):.0f} ms"

    table(runner, laws, seeds, cases, head, cell)


def drives(runner, laws, seeds):
    """Prints rate and queue over measured drives."""
    cases = {}
    for trace in DRIVES:
        for trip in ("10", "38", "106"):
            for sender, placement in (("prague", "alone"), ("cubic", "alone"), ("prague", "shared")):
                drive = {"channel": "trace", "snr_db": "", "trace": trace}
                flows = {"placement": placement, "sender": sender, "round_trip": trip}
                name = trace.partition(".")[0], trip, sender if placement == "alone" else "prague, cubic"
                cases[name] = dataclasses.replace(BASE, **drive, **flows, seconds=120, warmup=10)
    table(runner, laws, seeds, cases, ["drive", "round trip", "flows"], at_queue)


def at_queue(runs):
    """Rate at mean / 99th percentile of the queue."""
    return f"{interval(figures(runs, 'cell_mbps'), 1)} at {mean(runs, 'mean_ms'):.1f} / {mean(runs, 'p99_ms'):.0f}"


TABLES = {"crowd": crowd, "wide": wide, "shared": shared, "drives": drives}


def ablation(runner, laws, variants, cases, seeds):
    """Prints rate, queue and fairness of variants over the law's, and the aims that each meets."""
    own = laws[-1]
    rows = runner.table(cases, [*laws, *(variants := list(variants))], seeds)
    found = {(each["point"], each["law"], each["seed"]): each for each in rows}
    judged = {law.name: aims.judge(law.name, rows) for law in (own, *variants)}
    row("law", "rate", "mean queue", "p99", "Jain", *(each.aim.name for each in judged[own.name]))
    row(*["---"] * 5, *["---:"] * len(judged[own.name]))
    for law in (own, *variants):
        pairs = [(each, found[each["point"], own.name, each["seed"]]) for each in rows if each["law"] == law.name]
        ratios = (ratio(pairs, key, seeds) for key in ("cell_mbps", "mean_ms", "p99_ms"))
        jain = [each["jain"] for each, _ in pairs if each["jain"] is not None]
        row(law.name, *ratios, f"{statistics.fmean(jain):.3f}", *(f"{each.met()} of {len(each.figures)}" for each in judged[law.name]))


def ratio(pairs, key, seeds):
    """Geometric mean over points of a figure over another's, with the half-width of its 95 % confidence interval over seeds."""
    return interval([aims.geometric(ours[key] / theirs[key] for ours, theirs in pairs if ours["seed"] == seed) for seed in seeds], 3)
