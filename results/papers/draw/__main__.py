"""Draws the pictures of docs/reproduction/, as the papers have them:

    python results/papers/draw                       all, from the tables of results/papers/pictures
    python results/papers/draw --run l4span.fig2     the runs again, then the picture

It needs the package `tidemark` (docs/guide/python.md). The same tables give the same bytes.
"""

import argparse
import sys

import al4s
import anbr
import brunello
import l4span
import sdn

PICTURES = {picture.name: picture for paper in (l4span, anbr, brunello, al4s, sdn) for picture in paper.PICTURES}


def main() -> int:
    """Runs and draws what is named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"pictures, of {', '.join(PICTURES)}")
    parser.add_argument("--run", action="store_true", help="run what they show, and write the tables")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in PICTURES]
    if unknown:
        parser.error(f"there is no picture {unknown[0]}: use {', '.join(PICTURES)}")
    for name in arguments.names or PICTURES:
        picture = PICTURES[name]
        if arguments.run:
            print(f"{name}: runs", flush=True)
            picture.run()
        picture.draw()
        print(f"{name}: docs/reproduction/pictures/{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
