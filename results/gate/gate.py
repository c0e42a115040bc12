#!/usr/bin/env python3
"""Holds a marking law against the aims of docs/measured/gate.md, over a sample of cells, channels, round trips and senders.

python3 results/gate/gate.py choose                  one seed of the half to choose on
python3 results/gate/gate.py report --csv FILE       five seeds of the half to report on
python3 results/gate/gate.py crowd                   the tables of the page: crowd, wide, shared, drives
python3 results/gate/gate.py ablation --variant "no step:marker.tau_s=10 s" --variant other:/path/to/tidemark

What was run is kept in --store by program and scenario: a command that was stopped goes on. Python's own library is all it needs.
"""

import argparse
import csv
import os
import pathlib
import sys

import aims
import points
import runs
import tables

FIRST_SEED = {"choosing": 1, "reporting": 101}
VARIANT = "law of an ablation: overrides with ; between them, or a program (repeatable)"
WORST = 12
"""Points printed of those that miss an aim by most."""
COLUMNS = ("cell_mbps", "over_unmarked", "l4s_mbps", "cubic_mbps", "ratio", "least", "jain", "l4s_mean_ms", "l4s_p99_ms", "classic_mean_ms")
COLUMNS += ("classic_p99_ms", "l4s_ce", "classic_ce", "round_ms")


def laws(options):
    """Unmarked run, l4span, and the law in question."""
    program, reference = options.tidemark.resolve(), (options.reference or options.tidemark).resolve()
    plain = [runs.Law(name, reference, (f"marker.law={name}",)) for name in (aims.UNMARKED, aims.REFERENCE)]
    if options.law in (aims.UNMARKED, aims.REFERENCE):
        return plain
    return [*plain, runs.Law(options.law, program, (f"marker.law={options.law}", *options.set))]


def seeds(options, half):
    """Seeds of a half."""
    return range(FIRST_SEED[half], FIRST_SEED[half] + options.seeds)


def described(case):
    """A point in words."""
    where = case.trace.partition(".")[0] or case.channel
    trips = f"{case.round_trip} ms" + (f" beside {case.beside_round_trip}" if case.beside_round_trip else "")
    cell = f"{case.id} {case.bandwidth_mhz} MHz x {case.layers}, {case.ues} UEs"
    return f"{cell}, {case.placement}, {where}, {case.sender}, {trips}, reports {case.report_ms:g} ms"


def summary(rows, names):
    """Prints a row an aim: points that meet it under each law, and the geometric mean of its figure with its interval."""
    judged = {name: aims.judge(name, rows) for name in names}
    tables.row("aim", "points", *(f"{name}: meet it, figure, distance" for name in names))
    tables.row("---", "---:", *["---:"] * len(names))
    for each in zip(*judged.values()):
        tables.row(f"{each[0].aim.name:36}", f"{len(each[0].figures):3}", *map(shown, each))


def shown(judgement):
    """Points that meet an aim, the figure's mean with its interval, and the mean distance of all points in logarithms."""
    middle, interval = judgement.overall()
    spread = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
    far = sum(map(judgement.excess, judgement.figures)) / len(judgement.figures)
    return f"{judgement.met():3}, {middle:5.2f}{spread}, {far:.3f}"


def worst(rows, law, number):
    """Prints points that miss an aim by most."""
    missed = [(judgement, case) for judgement in aims.judge(law, rows) for case in judgement.misses()]
    missed.sort(key=lambda entry: -entry[0].excess(entry[1]))
    print(f"\n{law}: {len(missed)} misses" + (f", the worst {number} of them" if number < len(missed) else ""))
    for judgement, case in missed[:number]:
        print(f"  {judgement.aim.name}: {judgement.value(case):.3f} for {judgement.wanted(case)}: {described(case)}")


def by_level(rows, law):
    """Prints the share of aims met by level of each factor."""
    print(f"\n{law}: aims met, by level")
    judged = [(case, judgement.excess(case) == 0) for judgement in aims.judge(law, rows) for case in judgement.figures]
    for factor in ("bandwidth_mhz", "layers", "ues", "placement", "channel", "sender", "round_trip", "report_ms"):
        levels = {}
        for case, is_met in judged:
            levels.setdefault(getattr(case, factor), []).append(is_met)
        print(f"  {factor:14}", ", ".join(f"{level} {sum(met)}/{len(met)}" for level, met in sorted(levels.items())))


def write(file, rows):
    """Writes a row a point, law and seed."""
    unmarked = {(row["point"], row["seed"]): row["cell_mbps"] for row in rows if row["law"] == aims.UNMARKED}
    with file.open("w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["half", "id", "law", "seed", *COLUMNS])
        for row in rows:
            case = row["point"]
            row = {**row, "over_unmarked": row["cell_mbps"] / unmarked[case, row["seed"]]}
            cells = ("" if row[name] is None else f"{row[name]:.4g}" for name in COLUMNS)
            writer.writerow([case.half, case.id, row["law"], row["seed"], *cells])


def gate(options, runner, half):
    """Runs a half, and prints what it comes to."""
    cases = points.load(half)[:: options.every]
    cases = [case for case in cases if not options.only or any(words in described(case) for words in options.only)]
    if not cases:
        sys.exit(f"no point of this half has {' or '.join(options.only)} in its words")
    rows = runner.table(cases, laws(options), seeds(options, half))
    if options.csv:
        write(options.csv, rows)
    summary(rows, [options.law] if options.brief else list(dict.fromkeys((aims.REFERENCE, options.law))))
    by_level(rows, options.law)
    worst(rows, options.law, options.worst)


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["choose", "report", *tables.TABLES, "ablation"])
    parser.add_argument("--tidemark", type=pathlib.Path, default=runs.ROOT / "target/release/tidemark", help="program with the law")
    parser.add_argument("--reference", type=pathlib.Path, help="program of the unmarked runs and of l4span [default: the same]")
    parser.add_argument("--law", default="tide", help="law in question")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="override of the law's runs (repeatable)")
    parser.add_argument("--seeds", type=int, help="seeds a point, 10 at most [default: 1 to choose, 5 to report, 3 of tables]")
    parser.add_argument("--half", choices=list(FIRST_SEED), default="choosing", help="half of an ablation")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME:WHAT", help=VARIANT)
    parser.add_argument("--only", action="append", default=[], metavar="WORDS", help="points with these words (repeatable)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each Nth point alone, in order: a quick look")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE", help="write a row a point, law and seed")
    parser.add_argument("--worst", type=int, default=WORST, help="misses to print")
    parser.add_argument("--brief", action="store_true", help="leave out the lines of l4span")
    parser.add_argument("--traces", type=pathlib.Path, default=runs.ROOT.parent / "shared/traces", help="folder of the drives")
    parser.add_argument("--store", type=pathlib.Path, default=runs.ROOT / "out/gate", help="folder of what was run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time [default: processors]")
    options = parser.parse_args()
    if options.seeds is None:
        options.seeds = {"choose": 1, "report": 5, "ablation": 1}.get(options.part, 3)
    if not 1 <= options.seeds <= 10:
        parser.error("--seeds: 1 to 10")
    if options.every < 1 or options.jobs < 1:
        parser.error("--every and --jobs: 1 or more")
    runner = runs.Runner(options.store, options.traces.resolve(), options.jobs)
    if options.part in ("choose", "report"):
        gate(options, runner, {"choose": "choosing", "report": "reporting"}[options.part])
    elif options.part == "ablation":
        cases = points.load(options.half)[:: options.every]
        tables.ablation(runner, laws(options), variants(options), cases, seeds(options, options.half))
    else:
        tables.TABLES[options.part](runner, laws(options), options.seeds)


def variants(options):
    """Laws of an ablation: the law with other values, or another program's."""
    own = laws(options)[-1]
    for name, _, value in (each.partition(":") for each in options.variant):
        if "=" in value:
            yield runs.Law(name, own.program, (*own.marker, *value.split(";")))
        else:
            yield runs.Law(name, pathlib.Path(value).resolve(), own.marker)


if __name__ == "__main__":
    main()
