"""Draws the picture of docs/start.md: `python3 results/book/start.py`, with the tidemark package."""

import pathlib
import subprocess
import tempfile

import tidemark

LAWS = {"unmarked": "none", "marked by Tidemark": "tide"}
COLOURS = ("#b3541e", "#1f5fa8")


def main() -> None:
    """Runs a CUBIC download of somebody who walks through a 20 MHz cell, without marks and with them."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "one.toml")
        subprocess.run(["tidemark", "new", file, "--cell", "5g-20mhz", "--controllers", "cubic"], check=True, stderr=subprocess.DEVNULL)
        axes = None
        for law in LAWS.values():
            length = {"duration": "40 s", "sample_interval": "200 ms", "marker.law": law}
            axes = tidemark.plot.series(tidemark.run(file, set=length), "rtt_ms", axes=axes)
    for line, label, colour in zip(axes.lines, LAWS, COLOURS, strict=True):
        line.set(label=label, color=colour, linestyle="-", marker="")
    axes.legend(loc="center right", fontsize="small")
    tidemark.plot.save(axes, pathlib.Path(__file__).parents[2] / "docs/start.svg")


main()
