"""Reads the tables of results/, which need nothing but Python's own library."""

import csv
import pathlib
import re
import statistics

RESULTS = pathlib.Path(__file__).parents[1]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def table(name: str) -> list[dict[str, str]]:
    """Gives the rows of a table by their headings. The second column of a name has the name and `2`."""
    with (RESULTS / name).open(newline="") as file:
        head, *rows = csv.reader(file)
    names = [f"{name} {head[:at].count(name) + 1}" if name in head[:at] else name for at, name in enumerate(head)]
    return [dict(zip(names, row, strict=True)) for row in rows]


def numbers(cell: str) -> list[float]:
    """Gives the numbers of a cell."""
    return [float(number) for number in NUMBER.findall(cell)]


def middle(cell: str) -> float:
    """Gives what a cell says first: a number, or the middle of a range."""
    ends = numbers(cell.partition(",")[0].partition("(")[0])
    return statistics.fmean(ends)


def groups(rows: list[dict[str, str]], *keys: str) -> dict[tuple[str, ...], list[dict[str, str]]]:
    """Gives the rows by the values of some columns, in the order of the file."""
    found: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def mean(rows: list[dict[str, str]], key: str) -> float:
    """Gives the mean of a column over rows, such as those of one point's seeds."""
    return statistics.fmean(float(row[key]) for row in rows)
