"""Runs the tables of docs/measured/tide.md, and prints them:

    cargo build --release
    python3 docs/measured/tide/grid.py classic
    python3 docs/measured/tide/grid.py traces --folder DIR --ues 1

A cell is a mean over seeds; `±` is half of the interval of 95 % of a ratio, taken seed by seed: runs of one seed have the same radio. Python's own library is all it
needs.
"""

import argparse
import concurrent.futures
import itertools
import json
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).parents[3]
# Quantiles 0.975 of Student's t, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
SYNTHETIC = ("static", "pedestrian", "vehicular")
# File and column.
TRACES = ("drp_munich_autobahn.csv", "drp_munich_village.csv", "us-5g-driving-handover.csv:throughput_mbps", "ie-5g-driving-1.csv:dl_kbps")
HANDOVERS = TRACES[2]
L4SPAN, TIDE = 'law = "l4span"', 'law = "tide"'


def scenario(channel, ues, round_trip, senders, law, period, seconds, warmup):
    """Text of a scenario whose UEs have a flow of each sender in one DRB. A sender may have a round trip of its own in ms: `prague@10`."""
    file, _, column = channel.partition(":")
    column = f', column = "{column}"' if column else ""
    channel = f'{{ model = "{channel}" }}' if channel in SYNTHETIC else f'{{ model = "trace", file = "{file}"{column} }}'
    lines = ['name = "tide"', f'duration = "{seconds} s"', f'warmup = "{warmup} s"', "[marker]", law]
    if period:
        lines += ["[cell.f1u]", f'report_period = "{period} ms"']
    for ue in range(ues):
        lines += ["[[ue]]", f'name = "u{ue}"', f"channel = {channel}"]
        for number, sender in enumerate(senders):
            controller, _, own = sender.partition("@")
            lines += ["[[flow]]", f'name = "{controller}{ue}-{number}"', f'ue = "u{ue}"', f'round_trip = "{own or round_trip} ms"']
            lines += [f'sender = {{ controller = "{controller}" }}']
    return "\n".join(lines) + "\n"


def run(channel, ues, round_trip, senders, law, seed, period=None, seconds=40, warmup=5):
    """Throughput of all flows in Mbit/s, mean and 99th percentile of the queue in ms over UEs, Jain's index over flows of a UE, share of those like the first of them."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "tide.toml"
        file.write_text(scenario(channel, ues, round_trip, senders, law, period, seconds, warmup))
        command = [OPTIONS.tidemark, "run", file, "--seed", str(seed), "--out", f"{folder}/out"]
        subprocess.run(command, check=True, capture_output=True)
        summary = json.loads((pathlib.Path(folder) / "out/summary.json").read_text())
    bearers = [bearer["queue_ms"] for bearer in summary["bearers"] if bearer["direction"] == "downlink"]
    rates = {}
    for flow in summary["flows"]:
        rates.setdefault(flow["ue"], []).append(flow["throughput_mbps"])
    first = sum(rate for each in rates.values() for rate, sender in zip(each, senders) if sender == senders[0])
    jain = [sum(each) ** 2 / (len(each) * sum(rate**2 for rate in each)) for each in rates.values()]
    mean = statistics.fmean
    return {
        "rate": sum(map(sum, rates.values())),
        "mean": mean(queue["mean"] for queue in bearers),
        "p99": mean(queue["p99"] for queue in bearers),
        "jain": mean(jain),
        "first": first / sum(map(sum, rates.values())),
    }


def trace(name):
    """Path of a trace with its column."""
    return str(pathlib.Path(OPTIONS.folder).resolve() / name)


def over_seeds(*arguments, **options):
    """Results of a point, one a seed."""
    with concurrent.futures.ThreadPoolExecutor(OPTIONS.jobs) as pool:
        return list(pool.map(lambda seed: run(*arguments, seed, **options), range(1, OPTIONS.seeds + 1)))


def average(runs, key):
    """Mean of a result over seeds."""
    return statistics.fmean(each[key] for each in runs)


def ratio(runs, others, key):
    """Mean of the ratios seed by seed, with half of their interval."""
    ratios = [one[key] / other[key] for one, other in zip(runs, others)]
    half = STUDENT[len(ratios) - 1] * statistics.stdev(ratios) / len(ratios) ** 0.5
    return f"{statistics.fmean(ratios):.2f} ± {half:.2f}" if key != "rate" else f"{statistics.fmean(ratios):.3f} ± {half:.3f}"


def interval(runs, key):
    """Mean of a result over seeds, with half of its interval."""
    values = [each[key] for each in runs]
    half = STUDENT[len(values) - 1] * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.fmean(values):.2f} ± {half:.2f}"


def shown(runs):
    """Rate at mean / 99th percentile of the queue."""
    return f"{average(runs, 'rate'):.1f} at {average(runs, 'mean'):.1f} / {average(runs, 'p99'):.0f}"


def row(*cells):
    """Prints a row of a table in Markdown."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def header(*names):
    """Prints the head of a table, whose first three columns are words."""
    row(*names)
    row(*["---"] * 3, *["---:"] * (len(names) - 3))


def against_l4span(channels, seconds):
    """Prints `tide` against `l4span` for classic and shared DRBs."""
    header("channel", "UEs, round trip", "senders", "l4span", "tide", "rate", "mean", "p99", "Jain, l4span", "tide", "misses")
    for channel, ues, round_trip, senders in itertools.product(channels, OPTIONS.ues, OPTIONS.round_trips, OPTIONS.senders):
        pair = [over_seeds(channel, ues, round_trip, senders.split("+"), law, seconds=seconds) for law in (L4SPAN, OPTIONS.law)]
        jain = [f"{average(runs, 'jain'):.2f}" if "+" in senders else "" for runs in pair]
        ratios = [ratio(pair[1], pair[0], key) for key in ("rate", "mean", "p99")]
        name = pathlib.Path(channel.partition(":")[0]).stem
        row(name, f"{ues}, {round_trip} ms", senders.replace("+", " and "), *map(shown, pair), *ratios, *jain, misses(pair, ues, round_trip, senders))


def misses(pair, ues, round_trip, senders):
    """Letters of the page for the aims that a row misses, by what it would print."""
    rate, mean, p99 = (statistics.fmean(one[key] / other[key] for one, other in zip(pair[1], pair[0])) for key in ("rate", "mean", "p99"))
    letters = ["r"] if round(rate, 3) < 0.995 else []
    longer = {"a": round(mean, 2) > 0.6, "f": round(p99, 2) > 0.6}
    if ues == 1 and any(longer.values()):
        letters.append("c" if senders == "reno" and round_trip > 100 else "b")
    elif ues > 1:
        letters += [letter for letter, is_longer in longer.items() if is_longer]
    if "+" in senders and round(average(pair[1], "jain"), 2) < 0.95:
        letters.append("j")
    return ", ".join(letters)


def shares():
    """Prints what Prague has of the rate beside a classic flow, minutes after both began."""
    header("channel", "UEs, round trip", "beside Prague", "Prague's share, l4span", "tide", "Jain, l4span", "tide", "rate, l4span", "tide")
    classic = [senders.partition("+")[2] for senders in OPTIONS.senders if "+" in senders]
    for channel, ues, round_trip, beside in itertools.product(SYNTHETIC, OPTIONS.ues, OPTIONS.round_trips, classic):
        pair = [over_seeds(channel, ues, round_trip, ["prague", beside], law, seconds=240, warmup=60) for law in (L4SPAN, OPTIONS.law)]
        cells = [f"{average(runs, key):.2f}" for key in ("first", "jain") for runs in pair]
        row(channel, f"{ues}, {round_trip} ms", beside, *cells, *(f"{average(runs, 'rate'):.1f}" for runs in pair))


def mixes():
    """Prints shares of flows of other numbers, classes and round trips in one DRB, in the second minute."""
    header("channel", "UEs", "flows of a DRB", "even share", "l4span", "tide", "Jain, l4span", "tide", "queue, l4span", "tide")
    for channel, ues, mix in itertools.product(OPTIONS.channels, OPTIONS.ues, OPTIONS.mixes):
        senders = mix.split("+")
        pair = [over_seeds(channel, ues, None, senders, law, seconds=120, warmup=60) for law in (L4SPAN, OPTIONS.law)]
        cells = [interval(runs, "first") for runs in pair] + [f"{average(runs, 'jain'):.2f}" for runs in pair]
        even = senders.count(senders[0]) / len(senders)
        row(channel, ues, mix.replace("+", ", "), f"{even:.2f}", *cells, *(f"{average(runs, 'mean'):.1f} / {average(runs, 'p99'):.0f}" for runs in pair))


def reports():
    """Prints `tide` with reports per slot and every 5 or 10 ms."""
    header("channel", "senders", "reports", "rate", "mean", "p99")
    for channel, senders in itertools.product(SYNTHETIC, OPTIONS.senders):
        for period, name in ((None, "as transmitted"), (5, "5 ms"), (10, "10 ms")):
            runs = over_seeds(channel, 1, 38, senders.split("+"), OPTIONS.law, period=period)
            row(channel, senders, name, *(f"{average(runs, key):.1f}" for key in ("rate", "mean", "p99")))


def threshold():
    """Prints the front of fixed thresholds of an L4S flow alone, and where steered ones come to."""
    header("channel", "UEs", "law", "rate", "of the longest queue's", "mean", "p99")
    laws = [(f"tau_s = {tau} ms", f'{TIDE}\ntau_s = "{tau} ms"') for tau in (2, 3, 5, 7, 10, 15, 20, 30, 40)]
    laws += [(f"loss = {100 * loss:g} %", f"{TIDE}\nthroughput_loss = {loss}") for loss in (0.01, 0.03, 0.1)]
    for channel, ues in itertools.product(("static", "pedestrian"), OPTIONS.ues):
        points = [(name, over_seeds(channel, ues, 38, ["prague"], law, seconds=80, warmup=30)) for name, law in laws]
        most = max(average(runs, "rate") for _, runs in points)
        for name, runs in points:
            rate = average(runs, "rate")
            row(channel, ues, name, f"{rate:.2f}", f"{100 * rate / most:.1f} %", f"{average(runs, 'mean'):.1f}", f"{average(runs, 'p99'):.0f}")


def sensitivity():
    """Prints what half and double of each constant do, 38 ms, one UE."""
    header("constant", "channel", "senders", "rate", "mean", "p99")
    steered = "throughput_loss = 0.03"
    laws = {"defaults": TIDE, "loss = 3 %": f"{TIDE}\n{steered}"}
    laws |= {f"begin = {ms} ms": f'{TIDE}\nbegin = "{ms} ms"' for ms in (5, 20)}
    laws |= {f"{key} = {value}": f"{TIDE}\n{key} = {value}" for key, values in SHARES.items() for value in values}
    laws |= {f"loss = {loss:g} %": f"{TIDE}\nthroughput_loss = {loss / 100}" for loss in (1.5, 6)}
    laws |= {f"loss = 3 %, steer_over = {over} s": f'{TIDE}\n{steered}\nsteer_over = "{over} s"' for over in (5, 20)}
    laws |= {f"steer_over = {over} s": f'{TIDE}\nsteer_over = "{over} s"' for over in (5, 20)}
    points = [(channel, senders) for channel in ("static", "pedestrian", trace(HANDOVERS)) for senders in OPTIONS.senders]
    for (name, law), (channel, senders) in itertools.product(laws.items(), points):
        is_trace = channel not in SYNTHETIC
        # Outages and dips are those of the trace, and nothing is steered there.
        if is_trace and "loss" in name or not is_trace and ("outage" in name or "dip" in name or name.startswith("steer_over")):
            continue
        runs = over_seeds(channel, 1, 38, senders.split("+"), law)
        channel = pathlib.Path(channel.partition(":")[0]).stem
        row(name, channel, senders.replace("+", " and "), *(f"{average(runs, key):.1f}" for key in ("rate", "mean", "p99")))


# A share is that of the flows like the first.
MIXES = [f"prague@{ms}+reno@{ms}" for ms in (10, 38, 106)]
MIXES += [f"prague@{ms}+cubic@{ms}+cubic@{ms}" for ms in (10, 38, 106)] + ["+".join([f"prague@{ms}"] * 3 + [f"cubic@{ms}"]) for ms in (10, 38, 106)]
MIXES += [f"{one}@{ms}+{other}@{longer}" for ms, longer in ((10, 38), (38, 106)) for one in ("prague", "cubic") for other in ("cubic", "prague")]
SHARES = {"rtt_share": (0.14, 0.56), "outage_share": (0.5, 2), "dip_share": (0.5, 2), "span": (5, 20)}
PARTS = {"classic": lambda: against_l4span(SYNTHETIC, 40), "shares": shares, "reports": reports, "threshold": threshold, "sensitivity": sensitivity}
PARTS["mixes"] = mixes
PARTS["traces"] = lambda: against_l4span(map(trace, OPTIONS.traces), 120)

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("part", choices=PARTS, help="table to print")
parser.add_argument("--tidemark", default=ROOT / "target/release/tidemark", help="program")
parser.add_argument("--seeds", type=int, default=5, help="runs a point, 2 to 10")
parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
parser.add_argument("--ues", type=int, nargs="+", default=[1, 4, 16], help="numbers of UEs")
parser.add_argument("--round-trips", type=int, nargs="+", default=[10, 38, 106], help="round trips in ms, against l4span")
parser.add_argument("--senders", nargs="*", default=["cubic", "reno", "prague+cubic"], help="flows of a UE")
parser.add_argument("--channels", nargs="+", default=["static", "pedestrian"], help="channels of mixes")
parser.add_argument("--mixes", nargs="+", default=MIXES, help="flows of a DRB, each with its round trip in ms behind an @")
parser.add_argument("--law", default=TIDE, help="lines of the marker that is held against l4span")
parser.add_argument("--folder", default=".", help="folder of traces")
parser.add_argument("--traces", nargs="*", default=TRACES, help="files of it, each with a column behind a colon")
OPTIONS = parser.parse_args()
PARTS[OPTIONS.part]()
