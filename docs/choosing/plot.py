"""Draws the pictures of docs/choosing.md:

    cargo run --release -p tidemark-sim --example choosing > docs/choosing/choosing.csv
    python3 docs/choosing/plot.py

Python's own library is all it needs. The pictures follow the reader's light or dark scheme.
"""

import csv
import math
import pathlib

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 58, 20, 70, 50
SHORTEST, LONGEST = 10, 1_200

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b2128 } .small { font-size: 11px }
.ground { fill: #ffffff } .rule { stroke: #d5dbe1; stroke-width: 1 } .muted { fill: #5a6570 }
path { fill: none; stroke-width: 2; stroke-linejoin: round } .a { stroke: #1f5fa8; fill: #1f5fa8 } .b { stroke: #b3541e; fill: #b3541e }
.c { stroke: #7a3f9d; fill: #7a3f9d } .d { stroke: #5a6570; fill: #5a6570 } .e { stroke: #1d7a4f; fill: #1d7a4f }
path.a, path.b, path.c, path.d, path.e { fill: none } text.a, text.b, text.c, text.d, text.e { stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaee } .ground { fill: #14181d } .rule { stroke: #343c45 } .muted { fill: #9aa6b2 }
  .a { stroke: #6fb1ff; fill: #6fb1ff } .b { stroke: #f0955a; fill: #f0955a } .c { stroke: #cf9bf0; fill: #cf9bf0 }
  .d { stroke: #9aa6b2; fill: #9aa6b2 } .e { stroke: #5fd39a; fill: #5fd39a }
}
"""

# Mechanism, style, and the shape of its points beside the colour.
MECHANISMS = [
    ("L4S", "a", "circle"),
    ("hybrid (larger rate)", "b", "square"),
    ("hybrid (gradual)", "c", "diamond"),
    ("ANBR", "d", "cross"),
    ("ANBR (queue-aware)", "e", "triangle"),
]


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


def draw(load, rows, low, high):
    def place(row):
        delay, rate = float(row["delay_mean_ms"]), float(row["throughput_mbps"])
        x = math.log(delay / SHORTEST) / math.log(LONGEST / SHORTEST)
        y = (rate - low) / (high - low)
        return LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)

    others = "nobody else" if load == "none" else f"beside {load}"
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>Delay and throughput of two AR streams, {others}</title><style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text x="{LEFT}" y="20">Two AR streams, {others}: up and left is better</text>',
    ]
    x = LEFT
    for name, style, kind in MECHANISMS:
        out.append(shape(kind, x + 5, 41, style) + f'<text class="{style}" x="{x + 15}" y="45">{name}</text>')
        x += 34 + 7.2 * len(name)
    for delay in (10, 20, 50, 100, 200, 500, 1_000):
        at = LEFT + math.log(delay / SHORTEST) / math.log(LONGEST / SHORTEST) * (WIDTH - LEFT - RIGHT)
        out.append(f'<line class="rule" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        out.append(f'<text class="muted" x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{delay}</text>')
    step = 2 if high - low > 6 else 1
    for rate in range(math.ceil(low), math.floor(high) + 1, step):
        y = HEIGHT - BOTTOM - (rate - low) / (high - low) * (HEIGHT - TOP - BOTTOM)
        out.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="muted" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{rate}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    out.append(f'<text class="muted" x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">mean one-way delay, ms</text>')
    turned = f'transform="translate(14 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle"'
    out.append(f'<text class="muted" {turned}>throughput of both, Mbit/s</text>')
    for name, style, kind in MECHANISMS:
        own = sorted((row for row in rows if row["mechanism"] == name), key=lambda row: float(row["parameter"].split()[0].split("-")[0]))
        points = [place(row) for row in own]
        line = " ".join(f"{x:.1f} {y:.1f}" for x, y in points)
        out.append(f'<path class="{style}" d="M{line}"/>')
        out.extend(shape(kind, x, y, style) for x, y in points)
        # The ends of L4S and ANBR below their points, those of the queue-aware recommendation above: the others lie between.
        if name in ("L4S", "ANBR", "ANBR (queue-aware)"):
            below = name != "ANBR (queue-aware)"
            for (x, y), row in ((points[0], own[0]), (points[-1], own[-1])):
                dy = 18 if below else -10
                out.append(f'<text class="{style} small" x="{x:.1f}" y="{y + dy:.1f}" text-anchor="middle">{row["parameter"]}</text>')
    out.append("</svg>\n")
    return "\n".join(out)


def main():
    with open(HERE / "choosing.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name, load in (("alone", "none"), ("light", "bursts of 5 Mbit/s"), ("heavy", "bursts of 15 Mbit/s")):
        own = [row for row in rows if row["load"] == load]
        rates = [float(row["throughput_mbps"]) for row in own]
        picture = draw(load, own, min(rates) - 0.6, max(rates) + 0.8)
        (HERE / f"{name}.svg").write_text(picture, encoding="utf-8")


main()
