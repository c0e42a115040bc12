"""Writes the pages of this folder, the errata and the page with every row as one HTML file with every picture in it:

    python3 docs/reproduction/one_file.py out/papers.html

It needs the package `markdown`. A link to another page of the documentation becomes the name of its file.
"""

import argparse
import html
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
PAGES = ("README.md", "l4span.md", "anbr.md", "brunello.md", "al4s.md", "sdn.md", "calibration.md", "sensitivity.md", "seeds.md", "../errata.md", "../measured/reproduction.md")
"""Pages in their order."""
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1b2128 }
table { border-collapse: collapse; font-size: 13px; margin: 1rem 0 } td, th { border: 1px solid #d5dbe1; padding: .2rem .5rem; text-align: left }
svg { max-width: 100%; height: auto } pre { overflow-x: auto; background: #f3f5f7; padding: .6rem } nav a { margin-right: 1rem }
section { border-top: 3px solid #1b2128; margin-top: 3rem }
"""
LINK = re.compile(r'<a href="([^"]+)">(.*?)</a>', re.DOTALL)
PICTURE = re.compile(r'<img alt="([^"]*)" src="([^"]+)" ?/>')
ID = re.compile(r'((?:\bid|xlink:href|href)="#?|url\(#)([^")]+)')


def name(page: str) -> str:
    """Gives the anchor of a page."""
    return pathlib.PurePath(page).stem.lower()


def slug(text: str, _separator: str) -> str:
    """Gives a heading's anchor, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def picture(found: re.Match[str]) -> str:
    """Gives an SVG as part of the page, its names made its own."""
    file = HERE / found[2]
    drawn = file.read_text()
    drawn = drawn[drawn.index("<svg") :]
    own = ID.sub(lambda of: f"{of[1]}{file.stem}-{of[2]}" if not of[2].startswith("http") else of[0], drawn)
    return own.replace("<svg", f'<svg role="img" aria-label="{html.escape(found[1])}"', 1)


def link(page: str, known: dict[str, str], found: re.Match[str]) -> str:
    """Gives a link within the file, or the text of one that leads out of it."""
    target, _, anchor = found[1].partition("#")
    if "://" in target:
        return found[0]
    to = (HERE / page).parent / target if target else HERE / page
    of = known.get(str(to.resolve()))
    if of is None:
        return f"{found[2]} (<code>{html.escape(target)}</code>)" if target not in found[2] else found[2]
    return f'<a href="#{of}{"-" + anchor if anchor else ""}">{found[2]}</a>'


def section(page: str, known: dict[str, str]) -> str:
    """Gives a page as a section, its anchors made its own."""
    extensions = ["tables", "toc", "fenced_code"]
    settings = {"toc": {"slugify": slug}}
    text = (HERE / page).read_text()
    import markdown  # Not everywhere, and help needs none.

    body = markdown.markdown(text, extensions=extensions, extension_configs=settings)
    body = re.sub(r'<(h[1-6]) id="([^"]+)">', rf'<\1 id="{name(page)}-\2">', body)
    body = LINK.sub(lambda found: link(page, known, found), body)
    return f'<section id="{name(page)}">{PICTURE.sub(picture, body)}</section>'


def main() -> int:
    """Writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="HTML file to write")
    file = parser.parse_args().file
    known = {str((HERE / page).resolve()): name(page) for page in PAGES}
    sections = "\n".join(section(page, known) for page in PAGES)
    menu = " ".join(f'<a href="#{name(page)}">{name(page)}</a>' for page in PAGES)
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>Tidemark: the papers' figures</title><style>{STYLE}</style>"
    file.write_text(f"{head}<nav>{menu}</nav>{sections}</html>\n")
    print(f"{file}: {len(PAGES)} pages, {file.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
