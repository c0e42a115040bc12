"""Sphinx' settings of the book, for the pages that build.py lays out."""

import posixpath
import re

project = "Tidemark"
root_doc = "README"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_title = "Tidemark"
html_theme = "pydata_sphinx_theme"
html_theme_options = {"header_links_before_dropdown": 6, "collapse_navigation": True, "footer_start": [], "footer_end": []}
html_context = {"default_mode": "auto"}
html_static_path = ["static"]
html_extra_path = ["../extra"]
html_css_files = ["book.css"]
html_show_sourcelink = False
# Summaries are fetched, which a browser refuses for files.
html_show_search_summary = False

REPOSITORY = "https://github.com/tidemark-l4s/tidemark/blob/main/"
"""Where a link to what is no page of the book goes to."""

ROOT = ("ARCHITECTURE", "CONTRIBUTING")
"""Pages of the book that lie beside docs/."""

LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s]+)\)")


def point(_, page: str, source: list[str]) -> None:
    """Turns links to files of the repository into links to pages of the book, or into addresses."""
    folder = "" if page in ROOT else posixpath.join("docs", posixpath.dirname(page))

    def target(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, link[1]))
        if path.split("#")[0].removesuffix(".md") in ROOT:
            return f"]({posixpath.relpath(path, posixpath.dirname(page))})"
        if path.startswith("docs/"):
            return f"]({posixpath.relpath(path, posixpath.join('docs', posixpath.dirname(page)))})"
        return f"]({REPOSITORY}{path})"

    source[0] = LINK.sub(target, source[0])


def setup(app) -> None:
    """Registers what is done to each page."""
    app.connect("source-read", point)
