"""Writes what rows of results.json say of effects, and what one constant would score in their place:

    python3 results/papers/effects.py            writes effects.csv and columns.csv
    python3 results/papers/effects.py --check    fails if they would change

A row has up to three verdicts, each `yes`, `no` or empty where it does not apply. `sign`: ours lies on the published side, its whole interval if it
has one. `size`: the logarithm of ours over that of the published effect is 0.5 to 2. `value`: ours lies within the tolerance. The effect of a change in percent is its ratio; that of a value is its ratio to the geometric mean of its column, a figure of
a published table with three rows or more. A claim of a text has an order and no published size: its sign is its verdict.

`columns.csv` has each of these columns: rank correlation and slope (of logarithms) of ours on the published one, how many rows are within their
tolerance, and how many of them the best single constant would meet. Python's own library is all it needs.
"""

import argparse
import csv
import io
import json
import math
import pathlib
import re
import statistics
import sys

HERE = pathlib.Path(__file__).parent
ROWS = ("target", "row", "kind", "own", "published", "ours", "half", "quotient", "sign", "size", "value")
COLUMNS = ("paper", "table", "column", "rows", "rank", "slope", "within", "constant", "constant_within")
BOUNDS = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")
MIN_ROWS = 3
"""Rows of a column that has a rank."""


def ranks(values: list[float]) -> list[float]:
    """Gives ranks from 1 on, mean ranks for ties."""
    return [sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values]


def slope(x: list[float], y: list[float]) -> float | None:
    """Gives the least-squares slope of y on x; None where x is flat."""
    mean_x, mean_y = statistics.fmean(x), statistics.fmean(y)
    xx = sum((a - mean_x) ** 2 for a in x)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / xx if xx > 0 else None


def spearman(x: list[float], y: list[float]) -> float | None:
    """Gives the rank correlation; None where a column is flat."""
    one, other = slope(ranks(x), ranks(y)), slope(ranks(y), ranks(x))
    return math.copysign(math.sqrt(one * other), one) if one is not None and other is not None else None


def logarithms(values: list[float]) -> list[float] | None:
    """Gives the logarithms; None where a value has none."""
    return [math.log(value) for value in values] if all(value > 0 for value in values) else None


def constant(bounds: list[tuple[float, float]]) -> tuple[float, int]:
    """Gives the constant that lies within most of the bounds, and within how many."""
    ends = sorted({end for of in bounds for end in of})
    best = max(ends, key=lambda end: sum(low <= end <= high for low, high in bounds))
    return best, sum(low <= best <= high for low, high in bounds)


def word(holds: bool) -> str:
    """Gives the word of a verdict."""
    return "yes" if holds else "no"


def measured(row: dict) -> tuple[float | None, float]:
    """Gives ours and the half-width of its 95 % confidence interval."""
    value = row["ours"][0]
    return value["mean"], value.get("half") or 0.0


def change(row: dict) -> tuple[str, str, float | None]:
    """Gives the verdicts on sign and size of a change in percent, and the quotient of the logarithms."""
    ours, half = measured(row)
    published = row["published"]
    if ours is None or published == 0:
        return "", "", None
    sign = word((ours - half > 0) if published > 0 else (ours + half < 0))
    if ours <= -100 or published <= -100:
        return sign, "", None
    quotient = math.log1p(ours / 100) / math.log1p(published / 100)
    return sign, word(0.5 <= quotient <= 2), quotient


def of_column(row: dict, column: list[dict]) -> tuple[str, str, float | None]:
    """Gives the verdicts on sign and size of a value beside its column, and the quotient of the logarithms."""
    ours, half = measured(row)
    mine, theirs = logarithms([measured(of)[0] or 0.0 for of in column]), logarithms([of["published"] for of in column])
    if mine is None or theirs is None:
        return "", "", None
    published = math.log(row["published"]) - statistics.fmean(theirs)
    if abs(published) < 1e-9:
        return "", "", None
    effect, width = math.log(ours) - statistics.fmean(mine), half / ours
    quotient = effect / published
    return word(effect - width > 0 if published > 0 else effect + width < 0), word(0.5 <= quotient <= 2), quotient


def table_of(target: dict) -> str:
    """Gives the published table or figure that a target is of, the words behind the first comma of its source."""
    return re.split(r"[,;:]", target["source"])[1].strip() if "," in target["source"] else target["source"]


def columns(targets: list[dict]) -> dict[tuple[str, str, str], list[dict]]:
    """Gives the columns of published tables: their values by paper, table and figure."""
    found: dict[tuple[str, str, str], list[dict]] = {}
    for target in targets:
        for row in target["rows"]:
            if row["kind"] == "value" and row.get("published") is not None and ": " in row["name"]:
                found.setdefault((target["paper"], table_of(target), row["name"].rpartition(": ")[2]), []).append(row)
    return {name: rows for name, rows in found.items() if len(rows) >= MIN_ROWS}


def number(value: float | None) -> str:
    """Gives a number to four digits, or nothing."""
    return "" if value is None else f"{value:.4g}"


def column_line(name: tuple[str, str, str], rows: list[dict]) -> tuple[str, ...]:
    """Gives the line of a column."""
    rows = [row for row in rows if measured(row)[0] is not None]
    ours, published = [measured(row)[0] for row in rows], [row["published"] for row in rows]
    mine, theirs = logarithms(ours), logarithms(published)
    bounds = [(float(low), float(high)) for low, high in (BOUNDS.match(row["agrees_if"]).groups() for row in rows)]
    within = sum(low <= value <= high for value, (low, high) in zip(ours, bounds, strict=True))
    best, score = constant(bounds)
    by = slope(theirs, mine) if mine and theirs else None
    return (*name, str(len(rows)), number(spearman(published, ours)), number(by), str(within), number(best), str(score))


def row_line(target: dict, row: dict, of: list[dict] | None) -> tuple[str, ...]:
    """Gives the line of a row."""
    sign = size = value = ""
    quotient = None
    ours, half = measured(row)
    published = row.get("published")
    if published is None:
        sign = word(row["verdict"] == "agrees")
    else:
        low, high = BOUNDS.match(row["agrees_if"]).groups()
        value = word(ours is not None and float(low) <= ours <= float(high))
        if row["kind"] == "reduction":
            sign, size, quotient = change(row)
        elif of is not None:
            sign, size, quotient = of_column(row, of)
    return (target["id"], row["name"], row["kind"], word(bool(row.get("own"))), number(published), number(ours) if published is not None else "",
            number(half) if published is not None else "", number(quotient), sign, size, value)


def tables(targets: list[dict]) -> dict[str, str]:
    """Gives both files by their names."""
    by_column = columns(targets)
    of = {id(row): rows for rows in by_column.values() for row in rows}
    lines = [row_line(target, row, of.get(id(row))) for target in targets for row in target["rows"]]
    return {"effects.csv": text(ROWS, lines), "columns.csv": text(COLUMNS, [column_line(*of) for of in by_column.items()])}


def text(head: tuple[str, ...], lines: list[tuple[str, ...]]) -> str:
    """Gives a table as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return out.getvalue()


def main() -> int:
    """Writes or checks the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file would change")
    check = parser.parse_args().check
    stale = 0
    for name, after in tables(json.loads((HERE / "results.json").read_text())["targets"]).items():
        file = HERE / name
        if not file.exists() or file.read_text() != after:
            stale += 1
            print(f"results/papers/{name} is old: run python3 results/papers/effects.py") if check else file.write_text(after)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
