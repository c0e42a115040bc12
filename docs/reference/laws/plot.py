"""Draws the pictures of docs/reference/laws.md:

    cargo run --release -p tidemark-marker --example marking_curve > docs/reference/laws/curve.csv
    python3 docs/reference/laws/plot.py

Python's own library is all it needs. The pictures follow the reader's light or dark scheme.
"""

import argparse
import csv
import pathlib

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 44, 48

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b2128 }
.ground { fill: #ffffff } .rule { stroke: #d5dbe1; stroke-width: 1 } .muted { fill: #5a6570 }
path { fill: none; stroke-width: 2.5; stroke-linejoin: round }
.a { stroke: #1f5fa8 } .b { stroke: #b3541e; stroke-dasharray: 7 4 } .c { stroke: #5a6570; stroke-dasharray: 2 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaee } .ground { fill: #14181d } .rule { stroke: #343c45 } .muted { fill: #9aa6b2 }
  .a { stroke: #6fb1ff } .b { stroke: #f0955a } .c { stroke: #9aa6b2 }
}
"""

# File, law, title, longest queue in ms, and the lines: class of the flow, column, style, name. A law that is not here has `usual`.
L4S, CLASSIC = "l4s", "classic"
PICTURES = [
    ("l4span", "l4span", "l4span, L4S flow", 30, [(L4S, "probability", "a", "mark")]),
    ("l4span-classic", "l4span", "l4span, classic flow alone", 150, [(CLASSIC, "probability", "a", "mark")]),
    (
        "l4span-shared",
        "l4span",
        "l4span, both classes in one DRB",
        150,
        [("shared-l4s", "marked", "a", "L4S flow, mark"), ("shared-classic", "marked", "b", "classic flow, mark")],
    ),
    ("ramp", "ramp", "ramp", 30, [(L4S, "marked", "a", "L4S flow, mark"), (CLASSIC, "marked", "b", "classic flow")]),
    ("step", "step", "step", 10, [(L4S, "marked", "a", "L4S flow, mark"), (CLASSIC, "marked", "b", "classic flow")]),
    (
        "dualpi2",
        "dualpi2",
        "dualpi2",
        60,
        [(L4S, "marked", "a", "L4S, mark"), (CLASSIC, "marked", "b", "classic, mark"), (L4S, "dropped", "c", "either, drop")],
    ),
    ("codel", "codel", "codel", 60, [(L4S, "dropped", "a", "any flow, drop")]),
    ("ecn-codel", "ecn-codel", "ecn-codel", 60, [(L4S, "marked", "a", "ECT flow, mark")]),
    ("drop-head", "drop-head", "drop-head", 150, [(L4S, "dropped", "a", "any flow, drop")]),
    (
        "tide",
        "tide",
        "tide",
        150,
        [(L4S, "marked", "a", "L4S flow alone"), ("shared-l4s", "marked", "c", "L4S beside classic"), (CLASSIC, "probability", "b", "classic flow")],
    ),
    ("upf", "upf", "upf", 30, [(L4S, "marked", "a", "L4S flow, mark"), (CLASSIC, "marked", "b", "classic flow")]),
]


def usual(law):
    """Gives the picture of a law that needs no words of its own."""
    return (law, law, law, 60, [(L4S, "marked", "a", "L4S, mark"), (CLASSIC, "marked", "b", "classic, mark"), (L4S, "dropped", "c", "either, drop")])


def ceiling(value):
    """The next of 1, 2, 5 times a power of ten, and at most 1: a probability."""
    scale = 1e-6
    while scale < 1:
        for factor in (1, 2, 5):
            if value <= factor * scale * 1.0001:
                return factor * scale
        scale *= 10
    return 1


def draw(name, law, title, longest, lines, rows):
    def points(flow, column):
        return [
            (int(row["queue_ms"]), float(row[column]))
            for row in rows
            if row["law"] == law and row["class"] == flow and int(row["queue_ms"]) <= longest
        ]

    curves = [(points(flow, column), style, label) for flow, column, style, label in lines]
    top = ceiling(max(y for curve, _, _ in curves for _, y in curve))

    def at(x, y):
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / longest
        down = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / top
        return across, down

    parts = [f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>', f'<text x="{LEFT}" y="20" font-weight="600">{title}</text>']
    for step in range(5):
        y = top * step / 4
        _, down = at(0, y)
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{down:.1f}" y2="{down:.1f}"/>')
        parts.append(f'<text class="muted" x="{LEFT - 8}" y="{down + 4:.1f}" text-anchor="end">{y:g}</text>')
    for step in range(6):
        x = longest * step / 5
        across, _ = at(x, 0)
        parts.append(f'<text class="muted" x="{across:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{x:g}</text>')
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    parts.append(f'<text class="muted" x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">standing queue, ms at 40 Mbit/s</text>')
    legend = WIDTH - RIGHT
    for curve, style, label in reversed(curves):
        path = " ".join(f"{across:.1f},{down:.1f}" for across, down in (at(x, y) for x, y in curve))
        parts.append(f'<path class="{style}" d="M{path}"/>')
        parts.append(f'<text x="{legend}" y="20" text-anchor="end">{label}</text>')
        legend -= 7.2 * len(label) + 8
        parts.append(f'<path class="{style}" d="M{legend - 26:.1f},16 {legend:.1f},16"/>')
        legend -= 44
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}: probability against standing queue">'
    (HERE / f"{name}.svg").write_text(f"{svg}<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")


argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
with open(HERE / "curve.csv", newline="") as file:
    table = list(csv.DictReader(file))
known = {law for _, law, *_ in PICTURES}
others = [usual(law) for law in dict.fromkeys(row["law"] for row in table) if law not in known]
for picture in PICTURES + others:
    draw(*picture, table)
