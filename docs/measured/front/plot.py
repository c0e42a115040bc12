#!/usr/bin/env python3
"""Draws thresholds.svg from the table of fronts beside it. Needs nothing but Python.

tidemark run --front ... --out out/thresholds && cp out/thresholds/table.csv docs/measured/front/thresholds.csv
python3 docs/measured/front/plot.py

A line has a point for each threshold of the law.
"""

import argparse
import csv
import math
import statistics
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
INK, FAINT, GRID = "#1f2933", "#616e7c", "#e4e7eb"
STYLES = {
    "prague": ("#1d6fb8", "circle"),
    "prague-hint": ("#d1620a", "square"),
    "oracle": ("#1f2933", "star"),
}
WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 220, 52, 34, 70
PER_ROW = 3


def points():
    """Means over seeds: panel, then line, then (queue in ms, Mbit/s) in the order of the file."""
    runs = {}
    rows = list(csv.DictReader((HERE / "thresholds.csv").open()))
    channels = list(dict.fromkeys(row["channel"] for row in rows))
    for row in sorted(rows, key=lambda row: channels.index(row["channel"])):
        if row["senders"] in STYLES:
            key = f"{row['channel']}, {row['round_trip']}", row["senders"], row["law"]
            runs.setdefault(key, []).append((float(row["bearer.queue_ms.mean"]), float(row["cell.throughput_mbps"])))
    panels = {}
    for (title, line, _), values in runs.items():
        panels.setdefault(title, {}).setdefault(line, []).append([statistics.fmean(column) for column in zip(*values)])
    return panels


def text(x, y, content, anchor="middle", size=11, fill=INK):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}">{escape(content)}</text>'


def mark(shape, x, y, colour):
    if shape == "square":
        return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"/>'
    if shape == "star":
        corners = [(x + r * math.sin(k * math.pi / 5), y - r * math.cos(k * math.pi / 5)) for k in range(10) for r in [(7, 3)[k % 2]]]
        return f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}" fill="{colour}"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>'


def panel(left, top, title, senders):
    """One panel: queue on a logarithmic axis, rate from 0."""
    queues = [queue for found in senders.values() for queue, _ in found]
    low, high = math.log(min(queues) * 0.85), math.log(max(queues) * 1.15)
    most = max(rate for found in senders.values() for _, rate in found) * 1.08
    across = lambda queue: left + (math.log(queue) - low) / (high - low) * WIDTH
    up = lambda rate: top + HEIGHT - rate / most * HEIGHT
    parts = [text(left + WIDTH / 2, top - 10, title, size=13)]
    step = 10 ** math.floor(math.log10(most)) / 2
    while most / step > 6:
        step *= 2
    for count in range(int(most / step) + 1):
        y = up(count * step)
        parts += [f'<line x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}" stroke="{GRID}"/>', text(left - 6, y + 4, f"{count * step:g}", "end", fill=FAINT)]
    for queue in (2, 5, 10, 20, 50, 100, 200, 500):
        if low <= math.log(queue) <= high:
            parts += [f'<line x1="{across(queue):.1f}" y1="{top}" x2="{across(queue):.1f}" y2="{top + HEIGHT}" stroke="{GRID}"/>', text(across(queue), top + HEIGHT + 16, f"{queue}", fill=FAINT)]
    for sender, found in senders.items():
        colour, shape = STYLES[sender]
        if len(found) > 1:
            way = " L".join(f"{across(queue):.1f} {up(rate):.1f}" for queue, rate in found)
            parts.append(f'<path d="M{way}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        parts += [mark(shape, across(queue), up(rate), colour) for queue, rate in found]
    return parts


def draw():
    panels = points()
    rows = math.ceil(len(panels) / PER_ROW)
    width, height = PER_ROW * (WIDTH + GAP), rows * (HEIGHT + GAP) + 40
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, Helvetica, Arial, sans-serif">', f'<rect width="{width}" height="{height}" fill="white"/>']
    for index, (title, senders) in enumerate(panels.items()):
        parts += panel(LEFT + index % PER_ROW * (WIDTH + GAP), TOP + index // PER_ROW * (HEIGHT + GAP), title, senders)
    lines = {line for senders in panels.values() for line in senders}
    for index, sender in enumerate(line for line in STYLES if line in lines):
        colour, shape = STYLES[sender]
        x = LEFT + index * 130
        parts += [mark(shape, x, height - 16, colour), text(x + 12, height - 12, sender, "start")]
    parts.append(text(width - 20, height - 12, "Mbit/s against the mean queue in ms", "end", fill=FAINT))
    (HERE / "thresholds.svg").write_text("\n".join([*parts, "</svg>\n"]))


argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
draw()
