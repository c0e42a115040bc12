"""Draws the pictures of docs/measured/link.md:

    cargo run --release -p tidemark-radio --example bler_curves > results/link/curve.csv
    python3 results/link/plot.py

Python's own library is all it needs. The pictures follow the reader's light or dark scheme.
"""

import argparse
import csv
import math
import pathlib

HERE = pathlib.Path(__file__).parent
POINTS = HERE.parents[1] / "crates/radio/tests/bler/points.csv"
WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 44, 48

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1b2128 }
.ground { fill: #ffffff } .rule { stroke: #d5dbe1; stroke-width: 1 } .muted { fill: #5a6570 }
path { fill: none; stroke-width: 2; stroke-linejoin: round }
.a { stroke: #1f5fa8 } .b { stroke: #b3541e } circle.a { fill: #1f5fa8 } circle.b { fill: none; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6eaee } .ground { fill: #14181d } .rule { stroke: #343c45 } .muted { fill: #9aa6b2 }
  .a { stroke: #6fb1ff } .b { stroke: #f0955a } circle.a { fill: #6fb1ff }
}
"""


def read(path):
    with open(path, newline="") as file:
        return [
            dict(
                source=row.get("source"),
                mcs=(int(row["table"]), int(row["mcs"])),
                bits=int(row["code_block_bits"]),
                snr=float(row["snr_db"]),
                bler=float(row["bler"]),
            )
            for row in csv.DictReader(file)
        ]


OURS, PUBLISHED = read(HERE / "curve.csv"), read(POINTS)
# Every MCS of table 1, then those of table 2 with 256QAM.
MCSS = [(1, mcs) for mcs in range(29)] + [(2, mcs) for mcs in range(20, 28)]


class Picture:
    """A frame with axes; `across` and `down` give places of values."""

    def __init__(self, title, across, down, legend):
        self.across, self.down = across, down
        self.parts = [f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>', f'<text x="{LEFT}" y="20" font-weight="600">{title}</text>']
        self.title = title
        place = WIDTH - RIGHT
        for style, label in legend:
            self.parts.append(f'<text x="{place}" y="20" text-anchor="end">{label}</text>')
            place -= 7 * len(label) + 10
            self.parts.append(
                f'<path class="a" d="M{place - 20},16 {place},16"/>' if style == "line" else f'<circle class="{style}" cx="{place - 4}" cy="16" r="4"/>'
            )
            place -= 34

    def axes(self, name, ticks, rules):
        for value, label in rules:
            y = self.down(value)
            self.parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
            self.parts.append(f'<text class="muted" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        for value, label in ticks:
            self.parts.append(f'<text class="muted" x="{self.across(value):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label}</text>')
        middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
        self.parts.append(f'<text class="muted" x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{name}</text>')

    def line(self, points):
        path = " ".join(f"{self.across(x):.1f},{self.down(y):.1f}" for x, y in points)
        self.parts.append(f'<path class="a" d="M{path}"/>')

    def point(self, x, y, style):
        self.parts.append(f'<circle class="{style}" cx="{self.across(x):.1f}" cy="{self.down(y):.1f}" r="3.5"/>')

    def write(self, name):
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{self.title}">'
        (HERE.parents[1] / f"docs/measured/link/{name}.svg").write_text(f"{svg}<style>{STYLE}</style>\n" + "\n".join(self.parts) + "\n</svg>\n")


def linear(low, high, start, end):
    return lambda value: start + (end - start) * (value - low) / (high - low)


def thresholds():
    picture = Picture(
        "SNR in dB at one error in ten",
        linear(-0.5, len(MCSS) - 0.5, LEFT, WIDTH - RIGHT),
        linear(-8, 30, HEIGHT - BOTTOM, TOP),
        [("b", "5G-LENA, a whole receiver"), ("line", "ours, 8192 bits")],
    )
    ticks = [(place, f"{mcs}") for place, (table, mcs) in enumerate(MCSS) if mcs % 4 == 0 or table == 2 and mcs == 27]
    picture.axes("MCS of table 1 up to 28; of table 2 from 20", ticks, [(db, f"{db}") for db in range(-5, 31, 5)])
    own = {row["mcs"]: row["snr"] for row in OURS if row["bits"] == 8192}
    picture.line([(place, own[mcs]) for place, mcs in enumerate(MCSS) if mcs[0] == 1])
    picture.line([(place, own[mcs]) for place, mcs in enumerate(MCSS) if mcs[0] == 2])
    for row in PUBLISHED:
        if row["source"] == "5g-lena":
            picture.point(MCSS.index(row["mcs"]), row["snr"], "b")
    picture.write("thresholds")


def curves():
    shown = [(1, 3), (1, 6), (1, 15), (1, 18), (1, 21), (1, 27), (2, 21), (2, 24), (2, 27)]
    least, most = 0.01, 1
    down = linear(math.log10(least), 0, HEIGHT - BOTTOM, TOP)
    picture = Picture(
        "Share of code blocks that fails",
        linear(-5, 27, LEFT, WIDTH - RIGHT),
        lambda share: down(math.log10(share)),
        [("a", "Sionna"), ("line", "ours, 500 and 2000 bits")],
    )
    picture.axes("SNR in dB", [(db, f"{db}") for db in range(-5, 28, 5)], [(share, f"{share:g}") for share in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)])
    for mcs in shown:
        for bits in (500, 2000):
            rows = sorted((row["snr"], row["bler"]) for row in OURS if row["mcs"] == mcs and row["bits"] == bits)
            picture.line([(snr, share) for snr, share in rows if least <= share <= most])
        for row in PUBLISHED:
            if row["source"] == "sionna" and row["mcs"] == mcs and row["bits"] in (500, 2000):
                picture.point(row["snr"], row["bler"], "a")
    picture.write("curves")


argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
thresholds()
curves()
