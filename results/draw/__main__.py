"""Draws the pictures of the pages of docs/ from the tables of results/:

    python results/draw                       all, into book/pictures of Cargo's target folder, whence `make book` takes them
    python results/draw --run l4span.fig2     a paper's runs again, into results/papers/pictures, then the picture

To draw it needs matplotlib and polars, to run the package `tidemark` (docs/guide/python.md). The same tables give the same bytes.
"""

import argparse
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(1, str(HERE / "papers"))

import al4s  # noqa: E402
import anbr  # noqa: E402
import brunello  # noqa: E402
import l4span  # noqa: E402
import pages  # noqa: E402
import sdn  # noqa: E402
from picture import ROOT, Figure  # noqa: E402

PICTURES = {pathlib.Path(picture.name).name if isinstance(picture, Figure) else picture.name: picture
            for module in (pages, l4span, anbr, brunello, al4s, sdn) for picture in module.PICTURES}
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def main() -> int:
    """Runs and draws what is named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"pictures, of {', '.join(PICTURES)}")
    parser.add_argument("--run", action="store_true", help="run what papers' pictures show, and write the tables")
    parser.add_argument("--out", type=pathlib.Path, default=TARGET / "book/pictures", help="folder of the pictures")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in PICTURES]
    if unknown:
        parser.error(f"there is no picture {unknown[0]}: use {', '.join(PICTURES)}")
    for name in arguments.names or PICTURES:
        picture = PICTURES[name]
        if arguments.run and isinstance(picture, Figure):
            print(f"{name}: runs", flush=True)
            picture.run()
        print(picture.draw(arguments.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
