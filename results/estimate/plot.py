"""Draws the pictures of docs/measured/estimate.md:

    cargo run --release -p tidemark-sim --example estimate > results/estimate/error.csv
    python3 results/estimate/plot.py

Python's own library is all it needs. The pictures follow the reader's light or dark scheme.
"""

import argparse
import csv
import math
import pathlib

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 760, 470
COLOURS = ["#1f5fa8", "#b3541e", "#2f7d4f", "#8a4fa3", "#8a6d1d", "#5a6570"]
DARK = ["#6fb1ff", "#f0955a", "#72c795", "#c990e6", "#d9b95b", "#9aa6b2"]
STYLE = (
    "text { font: 12px system-ui, sans-serif; fill: #1b2128 } .ground { fill: #fff } .rule { stroke: #d5dbe1 }"
    ".muted { fill: #5a6570 } path { fill: none; stroke-width: 2; stroke-linejoin: round }"
    + "".join(f".c{k} {{ stroke: {colour} }} .d{k} {{ fill: {colour} }}" for k, colour in enumerate(COLOURS))
    + ".tail { stroke-dasharray: 5 4; stroke-width: 1.5 }"
    "@media (prefers-color-scheme: dark) { text { fill: #e6eaee } .ground { fill: #14181d } .rule { stroke: #343c45 } .muted { fill: #9aa6b2 }"
    + "".join(f".c{k} {{ stroke: {colour} }} .d{k} {{ fill: {colour} }}" for k, colour in enumerate(DARK))
    + "}"
)
CHANNELS = ["fixed rate", "static", "pedestrian", "vehicular"]
TICKS = [0.5, 1, 5, 10]


def panel(parts, place, title, top, curves, label):
    """One channel: `curves` are (style, dashed, [(x, y)])."""
    left, right = 56 + 372 * (place % 2), 372 * (place % 2) + 372 - 12
    head, foot = 76 + 203 * (place // 2), 76 + 203 * (place // 2) + 145
    across = lambda x: left + (right - left) * math.log(x / 0.45) / math.log(11 / 0.45)
    down = lambda y: foot - (foot - head) * min(y, top) / top
    parts.append(f'<text x="{left}" y="{head - 8}" font-weight="600">{title}</text>')
    for step in range(5):
        y = top * step / 4
        parts.append(f'<line class="rule" x1="{left}" x2="{right}" y1="{down(y):.1f}" y2="{down(y):.1f}"/>')
        parts.append(f'<text class="muted" x="{left - 6}" y="{down(y) + 4:.1f}" text-anchor="end">{y:g}</text>')
    for x in TICKS:
        parts.append(f'<text class="muted" x="{across(x):.1f}" y="{foot + 16}" text-anchor="middle">{x:g}</text>')
    parts.append(f'<text class="muted" x="{right}" y="{foot + 31}" text-anchor="end">{label}</text>')
    for colour, dashed, points in curves:
        path = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in points)
        parts.append(f'<path class="c{colour}{" tail" if dashed else ""}" d="M{path}"/>')
        if not dashed:
            parts += [f'<circle class="d{colour}" cx="{across(x):.1f}" cy="{down(y):.1f}" r="2.5"/>' for x, y in points]


def write(name, title, legend, draw):
    parts = [f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>', f'<text x="16" y="20" font-weight="600">{title}</text>']
    x = 16
    for colour, dashed, text in legend:
        parts.append(f'<path class="c{colour}{" tail" if dashed else ""}" d="M{x},36 {x + 24},36"/><text x="{x + 30}" y="40">{text}</text>')
        x += 46 + 7 * len(text)
    draw(parts)
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
    (HERE.parents[1] / f"docs/measured/estimate/{name}.svg").write_text(f"{svg}<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")


def ceiling(value):
    scale = 10 ** math.floor(math.log10(value))
    return next(factor * scale for factor in (1, 2, 4, 10) if factor * scale >= value)


argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
with open(HERE / "error.csv", newline="") as file:
    table = list(csv.DictReader(file))
laws = list(dict.fromkeys(row["law"] for row in table))


def pick(**wanted):
    return [row for row in table if all(row[key] == value for key, value in wanted.items())]


def by_period(parts):
    for place, channel in enumerate(CHANNELS):
        rows = pick(channel=channel, age_ms="all")
        top = ceiling(max(float(row["error_p50"]) for row in rows))
        curves = []
        for colour, law in enumerate(laws):
            of = pick(channel=channel, law=law, age_ms="all")
            curves.append((colour, False, [(float(row["period_ms"]), float(row["error_p50"])) for row in of]))
        panel(parts, place, channel, top, curves, "report period, ms")


def by_age(parts):
    for place, channel in enumerate(CHANNELS):
        curves, highest = [], 0
        for colour, period in ((0, "5"), (1, "10")):
            rows = [row for row in pick(channel=channel, law="l4span", period_ms=period) if row["age_ms"] != "all"]
            for dashed, column in ((False, "error_p50"), (True, "error_p90")):
                points = [(float(row["age_ms"]), float(row[column])) for row in rows]
                highest = max([highest] + [y for _, y in points])
                if points:
                    curves.append((colour, dashed, points))
        panel(parts, place, channel, ceiling(highest), curves, "age of the last report up to, ms")


write(
    "period",
    "Error of the predicted sojourn (median, ms) against the report period",
    [(colour, False, law) for colour, law in enumerate(laws)],
    by_period,
)
write(
    "age",
    "Error of the predicted sojourn (ms) against the age of the last report, l4span",
    [(0, False, "every 5 ms: median"), (0, True, "nine tenths"), (1, False, "every 10 ms: median"), (1, True, "nine tenths")],
    by_age,
)
