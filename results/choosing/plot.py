"""Draws the pictures of docs/measured/choosing.md:

    tidemark run scenarios/studies/choosing.toml --out out/choosing && cp out/choosing/table.csv results/choosing/choosing.csv
    python3 results/choosing/plot.py

Python's own library is all it needs. The pictures follow the reader's light or dark scheme.
"""

import argparse
import math
from statistics import mean

from figures import HERE, MEAN, RATE, SETTINGS, error, read

WIDTH, HEIGHT = 760, 460
LEFT, RIGHT, TOP, BOTTOM = 58, 20, 96, 50
SHORTEST, LONGEST = 13, 1_500

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b2128 } .small { font-size: 11px }
.ground { fill: #ffffff } .rule { stroke: #d5dbe1; stroke-width: 1 } .muted { fill: #5a6570 }
path { fill: none; stroke-width: 2; stroke-linejoin: round } .a { stroke: #1f5fa8; fill: #1f5fa8 } .b { stroke: #b3541e; fill: #b3541e }
.c { stroke: #7a3f9d; fill: #7a3f9d } .d { stroke: #5a6570; fill: #5a6570 } .e { stroke: #1d7a4f; fill: #1d7a4f }
path.a, path.b, path.c, path.d, path.e { fill: none } text.a, text.b, text.c, text.d, text.e { stroke: none }
path.hollow { stroke-dasharray: 5 4; stroke-width: 1.5 } circle.hollow, polygon.hollow { fill: #ffffff; stroke-width: 1.5 }
path.spread { stroke-width: 1; opacity: 0.45 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaee } .ground { fill: #14181d } .rule { stroke: #343c45 } .muted { fill: #9aa6b2 }
  .a { stroke: #6fb1ff; fill: #6fb1ff } .b { stroke: #f0955a; fill: #f0955a } .c { stroke: #cf9bf0; fill: #cf9bf0 }
  .d { stroke: #9aa6b2; fill: #9aa6b2 } .e { stroke: #5fd39a; fill: #5fd39a }
  circle.hollow, polygon.hollow { fill: #14181d }
}
"""

# Mechanism, style, and the shape of its points beside the colour.
MECHANISMS = [
    ("L4S", "a", "circle"),
    ("hybrid (larger rate)", "b", "square"),
    ("hybrid (gradual)", "c", "diamond"),
    ("ANBR", "d", "cross"),
    ("queue-aware ANBR", "e", "triangle"),
    ("L4S at the UPF", "a hollow", "circle"),
    ("queue-aware hybrid (larger rate)", "b hollow", "square"),
    ("queue-aware hybrid (gradual)", "c hollow", "diamond"),
]
OTHERS = {
    "alone": "on foot, nobody else",
    "light": "on foot, beside bursts of 5 Mbit/s",
    "heavy": "on foot, beside bursts of 15 Mbit/s",
    "driving": "driving, beside bursts of 5 Mbit/s",
}


def shape(kind, x, y, style):
    if kind == "circle":
        return f'<circle class="{style}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
    outline = {
        "square": [(-4, -4), (4, -4), (4, 4), (-4, 4)],
        "diamond": [(0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0)],
        "triangle": [(0, -5.5), (5, 4), (-5, 4)],
    }.get(kind)
    if outline:
        points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in outline)
        return f'<polygon class="{style}" points="{points}"/>'
    return f'<path class="{style}" d="M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"/>'


def across(delay):
    return LEFT + math.log(delay / SHORTEST) / math.log(LONGEST / SHORTEST) * (WIDTH - LEFT - RIGHT)


def axes(down, low, high):
    for delay in (20, 50, 100, 200, 500, 1_000):
        at = across(delay)
        yield f'<line class="rule" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        yield f'<text class="muted" x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{delay}</text>'
    for rate in range(math.ceil(low), math.floor(high) + 1):
        y = down(rate)
        yield f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text class="muted" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{rate}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text class="muted" x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">mean one-way delay, ms</text>'
    turned = f'transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle"'
    yield f'<text class="muted" {turned}>throughput of both, Mbit/s</text>'


def legend():
    for row, start in ((45, 0), (69, 5)):
        x = LEFT
        for name, style, kind in MECHANISMS[start : start + 5]:
            yield shape(kind, x + 5, row - 4, style) + f'<text class="{style[0]}" x="{x + 15}" y="{row}">{name}</text>'
            x += 34 + 7.2 * len(name)


def draw(setting, curves):
    rates = [rate for curve in curves.values() for point in curve.values() for rate in (mean(point[RATE]) - error(point[RATE]), mean(point[RATE]) + error(point[RATE]))]
    low, high = min(rates) - 0.5, max(rates) + 0.5

    def down(rate):
        return HEIGHT - BOTTOM - (rate - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>Delay and throughput of two AR streams, {OTHERS[setting]}</title><style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text x="{LEFT}" y="20">Two AR streams, {OTHERS[setting]}: up and left is better; bars are one standard error</text>',
        *legend(),
        *axes(down, low, high),
    ]
    for name, style, kind in MECHANISMS:
        curve = curves[name]
        places = [(across(mean(point[MEAN])), down(mean(point[RATE]))) for point in curve.values()]
        out.append(f'<path class="{style}" d="M{" ".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>')
        for (x, y), point in zip(places, curve.values()):
            (delay, aside), (rate, above) = ((mean(point[figure]), error(point[figure])) for figure in (MEAN, RATE))
            ends = f"M{across(delay - aside):.1f} {y:.1f}H{across(delay + aside):.1f}M{x:.1f} {down(rate - above):.1f}V{down(rate + above):.1f}"
            out.append(f'<path class="{style[0]} spread" d="{ends}"/>')
            out.append(shape(kind, x, y, style))
        # The ends of L4S and ANBR below their points, those of the queue-aware recommendation above or before: the others lie between.
        if name in ("L4S", "ANBR", "queue-aware ANBR"):
            for index in (0, -1):
                (x, y), parameter = places[index], list(curve)[index]
                dx, dy = (0, 18) if name != "queue-aware ANBR" else (-24, 4) if index == 0 else (0, -10)
                out.append(f'<text class="{style} small" x="{x + dx:.1f}" y="{y + dy:.1f}" text-anchor="middle">{parameter}</text>')
    out.append("</svg>\n")
    return "\n".join(out)


argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
points = read()
for setting in SETTINGS:
    (HERE.parents[1] / f"docs/measured/choosing/{setting}.svg").write_text(draw(setting, points[setting]), encoding="utf-8")
