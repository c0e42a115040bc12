#!/usr/bin/env python3
"""Draws laws.svg and fairness.svg from laws.csv and fairness.csv beside it. Needs nothing but Python.

cargo run --release -p tidemark-senders --example laws > results/controllers/laws.csv
cargo run --release -p tidemark-senders --example fairness > results/controllers/fairness.csv
python3 results/controllers/plot.py
"""

import argparse
import csv
import math
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
PICTURES = HERE.parents[1] / "docs/measured/controllers"
INK, FAINT, GRID = "#1f2933", "#616e7c", "#e4e7eb"
COLOURS = ["#1d6fb8", "#d1620a"]

PANELS = {
    "reno": ("Reno, 40 ms", "window, segments", True),
    "cubic": ("CUBIC, 100 ms", "window, segments", True),
    "prague": ("Prague, 25 ms", "window, segments", True),
    "udp-prague": ("UDP Prague, 40 ms", "rate, Mbit/s", True),
    "bbr-v2": ("BBR v2, 200 Mbit/s, 25 ms", "share of the link", False),
    "scream": ("SCReAM v2, full window, 10 ms", "window, 1000 B", True),
    "scream-video": ("SCReAM v2 with a video, 25 ms", "marks a round trip", False),
}


def text(x, y, content, size=11, anchor="middle", fill=INK, rotate=None, weight="normal"):
    turn = f' transform="rotate({rotate} {x:.1f} {y:.1f})"' if rotate is not None else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}"'
        f' font-weight="{weight}"{turn}>{escape(content)}</text>'
    )


def line(x1, y1, x2, y2, stroke=GRID, width=1):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" stroke-width="{width}"/>'


def document(width, height, parts):
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' font-family="system-ui, Helvetica, Arial, sans-serif">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *parts,
            "</svg>\n",
        ]
    )


def number(value):
    return f"{value:g}" if value == 0 or value >= 1e-3 else f"{value:.0e}".replace("e-0", "e-")


def log_ticks(low, high):
    steps = (1, 2, 5) if high / low < 300 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**decade for decade in decades for step in steps if low <= step * 10.0**decade <= high]


class Scale:
    """Map of values to pixels."""

    def __init__(self, low, high, start, end, log):
        self.low, self.high, self.log = low, high, log
        self.start, self.end = start, end

    def __call__(self, value):
        if self.log:
            part = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self):
        if self.log:
            return log_ticks(self.low, self.high)
        step = next(step for step in (0.1, 0.2, 0.25, 0.5, 1, 2, 5) if self.high / step <= 6)
        return [step * index for index in range(int(self.high / step) + 1)]


def panel(name, rows, left, top, width, height):
    title, label, log = PANELS[name]
    ps = [row["p"] for row in rows]
    values = [row[key] for row in rows for key in ("measured", "law")]
    x = Scale(min(ps) / 1.15, max(ps) * 1.15, left, left + width, True)
    low = min(values) / 1.3 if log else 0.0
    y = Scale(low, max(values) * (1.4 if log else 1.15), top + height, top, log)
    parts = [text(left, top - 12, title, 13, "start", weight="600")]
    for tick in x.ticks():
        parts += [line(x(tick), top, x(tick), top + height), text(x(tick), top + height + 15, number(tick), 10, fill=FAINT)]
    for tick in y.ticks():
        parts += [line(left, y(tick), left + width, y(tick)), text(left - 6, y(tick) + 3.5, number(tick), 10, "end", FAINT)]
    parts.append(text(left - 38, top + height / 2, label, 10, fill=FAINT, rotate=-90))
    for index, series in enumerate(dict.fromkeys(row["series"] for row in rows)):
        mine = [row for row in rows if row["series"] == series]
        points = " ".join(f"{x(row['p']):.1f},{y(row['law']):.1f}" for row in mine)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{COLOURS[index]}" stroke-width="1.5" opacity="0.6"/>')
        for row in mine:
            parts.append(f'<circle cx="{x(row["p"]):.1f}" cy="{y(row["measured"]):.1f}" r="3.5" fill="{COLOURS[index]}"/>')
        # In the corner that a falling curve leaves empty; marks of a round trip do not fall.
        at = (left + width - 8, top + 18 + 16 * index, "end")
        if name == "scream-video":
            at = (left + 8, top + height / 2, "start")
        parts.append(text(*at[:2], series, 11, at[2], COLOURS[index]))
    return parts


def laws():
    with open(HERE / "laws.csv", newline="") as file:
        rows = [{**row, **{key: float(row[key]) for key in ("p", "measured", "law")}} for row in csv.DictReader(file)]
    width, height, columns = 220, 190, 4
    parts = []
    for index, name in enumerate(PANELS):
        left = 60 + index % columns * (width + 70)
        top = 44 + index // columns * (height + 86)
        parts += panel(name, [row for row in rows if row["panel"] == name], left, top, width, height)
        parts.append(text(left + width / 2, top + height + 32, "probability", 10, fill=FAINT))
    left, top = 60 + 3 * (width + 70), 44 + height + 86
    for index, sentence in enumerate(
        ["Points: measured over a path of", "fixed delay.", "Lines: the law, in the last panel what", "its authors aim at."]
    ):
        parts.append(text(left, top + 20 + 18 * index, sentence, 12, "start"))
    return document(60 + columns * (width + 70) - 40, 44 + 2 * (height + 86) - 20, parts)


def mix(low, high, part):
    part = min(max(part, 0.0), 1.0)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(low, high))


WHITE, BLUE, ORANGE, PURPLE = (255, 255, 255), (29, 111, 184), (209, 98, 10), (107, 63, 160)


def share_colour(share):
    return mix(WHITE, BLUE, (share - 50) / 50) if share >= 50 else mix(WHITE, ORANGE, (50 - share) / 50)


def delay_colour(delay):
    return mix(WHITE, PURPLE, math.log10(max(delay, 0.1) / 0.1) / math.log10(400))


def heat_map(title, names, cells, colour, show, left, top, cell):
    parts = [text(left, top - 92, title, 14, "start", weight="600")]
    for index, name in enumerate(names):
        middle = (index + 0.5) * cell
        parts.append(text(left - 6, top + middle + 4, name, 11, "end"))
        parts.append(text(left + middle + 4, top - 8, name, 11, "start", rotate=-60))
    for (row, column), value in cells.items():
        x, y = left + names.index(column) * cell, top + names.index(row) * cell
        fill = colour(value)
        dark = sum(int(fill[start : start + 2], 16) for start in (1, 3, 5)) < 480
        parts.append(f'<rect x="{x}" y="{y}" width="{cell - 1}" height="{cell - 1}" fill="{fill}"/>')
        parts.append(text(x + cell / 2, y + cell / 2 + 3.5, show(value), 10, fill="white" if dark else INK))
    return parts


def fairness():
    with open(HERE / "fairness.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(row["row"] for row in rows))
    cell, parts = 31, []
    size = cell * len(names)
    for across, queue in enumerate(["drop-tail", "dualpi2"]):
        shares, delays = {}, {}
        for row in (row for row in rows if row["queue"] == queue):
            a, b = float(row["row_mbps"]), float(row["column_mbps"])
            pair = (row["row"], row["column"])
            shares[pair[::-1]], shares[pair] = 100 * b / (a + b), 100 * a / (a + b)
            # Of a flow that got nothing through there is no delay.
            for key, rate, delay in [(pair[::-1], b, row["column_delay_ms"]), (pair, a, row["row_delay_ms"])]:
                delays[key] = float(delay) if rate > 0.01 else math.nan
        known = {pair: delay for pair, delay in delays.items() if not math.isnan(delay)}
        title = "drop-tail, 40 ms" if queue == "drop-tail" else "DualPI2"
        left = 96 + across * (size + 120)
        parts += heat_map(f"{title}: share of the row, %", names, shares, share_colour, lambda v: f"{v:.0f}", left, 124, cell)
        below = 124 + size + 130
        show = lambda v: f"{v:.1f}" if v < 9.95 else f"{v:.0f}"
        parts += heat_map(f"{title}: mean queue delay of the row, ms", names, known, delay_colour, show, left, below, cell)
    return document(96 + 2 * (size + 120) - 60, 124 + 2 * (size + 130) - 110, parts)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    (PICTURES / "laws.svg").write_text(laws())
    (PICTURES / "fairness.svg").write_text(fairness())
