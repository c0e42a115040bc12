#!/usr/bin/env python3
"""Builds the book: the pages of docs/ and those of `make reference`, as a site with search in book/html of Cargo's target folder.

Pictures are drawn and tables of findings made of the data in results/; pictures that are newer than that stay.

A warning of Sphinx, such as a link that leads nowhere, is an error.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
DOCS = HERE.parent
RESULTS = DOCS.parent / "results"
BOOK = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", DOCS.parent / "target"), "book")

PARTS = {
    "Start": ["start", "guide/installing", "glossary"],
    "Guides": ["guide/*"],
    "How it works": ["concepts/life-of-a-packet", "concepts/life-of-a-report", "concepts/parts-of-a-delay", "concepts/laws", "concepts/cell", "concepts/*"],
    "Findings": ["measured/README", *(f"measured/{name}" for name in ("gate", "front", "choosing", "senders", "live")), "reproduction/README",
                 "measured/*"],
    "Reference": [f"reference/{name}" for name in ("scenario", "study", "command", "results", "laws", "controllers", "c-interface")],
    "Decisions": ["ARCHITECTURE", "CONTRIBUTING", "decisions/README", "decisions/*"],
}
"""Parts of the book in their order, each with its pages."""


PAPERS = ["l4span", "anbr", "brunello", "al4s", "sdn", "rfc8867", "../errata"]
"""Pages of what the papers published, below the finding that sums them up."""


def contents(title: str, pages: list[str]) -> str:
    """Gives the page of a part: its title and a list of its pages."""
    return f"# {title}\n\n```{{toctree}}\n:maxdepth: 1\n:glob:\n\n" + "\n".join(pages) + "\n```\n"


def list_below(page: pathlib.Path, names: list[str]) -> None:
    """Puts pages below another one in the site's contents."""
    with page.open("a") as file:
        file.write("\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n")


def draw() -> None:
    """Draws the pictures, where something that they are drawn of is newer, and writes the page of the papers' headlines."""
    stamp = BOOK / "pictures/drawn"
    drawn_of = [file for folder in (RESULTS, DOCS.parent / "bindings/python/python/tidemark/plot", DOCS.parent / "crates/radio/tests/bler")
                for file in folder.rglob("*") if file.suffix in (".csv", ".json", ".py")]
    if not stamp.exists() or max(file.stat().st_mtime for file in drawn_of) > stamp.stat().st_mtime:
        shutil.rmtree(stamp.parent, ignore_errors=True)
        subprocess.run([sys.executable, "-B", RESULTS / "draw"], check=True, stdout=subprocess.DEVNULL)
        stamp.touch()
    subprocess.run([sys.executable, "-B", RESULTS / "papers/page.py", "--out", BOOK / "extra/headlines.html"], check=True)


def lay_out(source: pathlib.Path) -> None:
    """Puts all pages of the book into a folder."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("book"))
    shutil.copytree(HERE / "static", source / "static")
    for page in (HERE / "conf.py", DOCS.parent / "ARCHITECTURE.md", DOCS.parent / "CONTRIBUTING.md"):
        shutil.copy(page, source)
    shutil.copytree(BOOK / "reference", source / "reference", dirs_exist_ok=True)
    shutil.copytree(BOOK / "pictures", source, dirs_exist_ok=True)
    subprocess.run([sys.executable, "-B", RESULTS / "draw/findings.py", "--docs", source], check=True)
    names = []
    for title, pages in PARTS.items():
        names.append("part-" + title.lower().replace(" ", "-"))
        (source / f"{names[-1]}.md").write_text(contents(title, pages))
    list_below(source / "README.md", names)
    list_below(source / "reproduction/README.md", PAPERS)


def main() -> int:
    """Builds the book and says where it is."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    if not (BOOK / "reference/scenario.md").is_file():
        sys.exit(f"{BOOK}/reference has no pages: run `make reference`")
    source, site = BOOK / "source", BOOK / "html"
    draw()
    lay_out(source)
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--builder", "html"]
    built = subprocess.run([*command, "--doctree-dir", BOOK / "doctrees", source, site])
    if built.returncode == 0:
        (site / "index.html").write_text('<!doctype html><meta http-equiv="refresh" content="0; url=README.html"><title>Tidemark</title>\n')
        print(f"the book: {site / 'index.html'}")
    return built.returncode


if __name__ == "__main__":
    sys.exit(main())
