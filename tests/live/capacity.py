"""Capacities of a cell for streams: the pattern of aL4S-CC's paper and a measured drive, scaled to what one processor encodes."""

import collections
import csv
import pathlib
import statistics
import tomllib

from agreement import ROOT

PAPER = ROOT / "scenarios/papers/al4s.toml"
DRIVE = ROOT.parent / "shared/traces/drp_munich_autobahn.csv"
# Values a second, as in the drive.
HZ = 10
# The paper's 10 to 50 Mbit/s become 1.5 to 7.5, and the drive's 10 to 60 become 1 to 6.
PAPER_SCALE, DRIVE_SCALE = 0.15, 0.1

Carried = collections.namedtuple("Carried", "when_least when_most")


def number(text):
    return float(text.split()[0])


def paper(seconds):
    """Rates in kbit/s, ten a second, of the paper's pattern, whose 100 s take so many seconds."""
    scenario = tomllib.loads(PAPER.read_text())
    router, rates = scenario["router"][0], []
    for index in range(seconds * HZ):
        time, rate = index / HZ * number(scenario["duration"]) / seconds, number(router["rate"])
        for change in router["changes"]:
            over = number(change.get("over", "0 s"))
            share = min(1, (time - number(change["at"])) / over) if over else 1
            if time >= number(change["at"]):
                rate += share * (number(change["rate"]) - rate)
        rates.append(1000 * PAPER_SCALE * rate)
    return rates


def drive(seconds):
    """Rates in kbit/s, ten a second, of the drive's first seconds; None where it is missing."""
    if not DRIVE.exists():
        return None
    lines = [line for line in DRIVE.read_text().splitlines() if line and not line.startswith("#")]
    return [DRIVE_SCALE * float(line) for line in lines[: seconds * HZ]]


def scaled():
    """Overrides that scale the rates of the paper's link."""
    router = tomllib.loads(PAPER.read_text())["router"][0]

    def change(of):
        texts = {**of, "rate": f"{PAPER_SCALE * number(of['rate']):g} Mbit/s"}
        return "{ " + ", ".join(f'{key} = "{text}"' for key, text in texts.items()) + " }"

    changes = ", ".join(change(of) for of in router["changes"])
    return [f"router.link.rate={PAPER_SCALE * number(router['rate']):g} Mbit/s", f"router.link.changes=[{changes}]"]


def written(rates, path):
    """Writes rates in the form of a trace that a cell reads; gives its path."""
    path.write_text("".join(f"{rate:.1f}\n" for rate in rates))
    return path


def carried(folder, rates):
    """Mean rates of a cell's UE, in Mbit/s, in the quarter of the seconds with the least capacity and in that with the most."""
    by_second = collections.defaultdict(list)
    for row in csv.DictReader((pathlib.Path(folder) / "series-ues.csv").open()):
        by_second[int(float(row["t_s"]))].append(float(row["throughput_mbps"]))
    capacity = [statistics.mean(rates[second * HZ : (second + 1) * HZ]) for second in range(len(rates) // HZ)]
    # The browser needs a few seconds to begin.
    order = sorted((second for second in range(5, len(capacity)) if second in by_second), key=capacity.__getitem__)
    quarter = len(order) // 4
    of = [statistics.mean(value for second in part for value in by_second[second]) for part in (order[:quarter], order[-quarter:])]
    return Carried(*of)
