"""Pictures of the pages: equal tables give equal bytes, in the style of `tidemark.plot`."""

import importlib
import sys
from pathlib import Path

import pytest
from tidemark.plot.style import COLOURS

ROOT = Path(__file__).resolve().parents[3]
TABLES = ROOT / "results/papers/pictures"


PAPERS = ("al4s", "anbr", "brunello", "l4span", "sdn")
"""Modules of results/draw/papers, one per paper."""
MAX_BYTES = 200_000
"""Bytes of a picture."""


@pytest.fixture
def pictures(monkeypatch):
    """Gives the papers' pictures by the names of their tables, and the other pages' pictures by their own names."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(ROOT / "results/draw")
    monkeypatch.syspath_prepend(ROOT / "results/draw/papers")
    modules = [importlib.import_module(name) for name in (*PAPERS, "pages")]
    yield {Path(of.name).name if hasattr(of, "run") else of.name: of for module in modules for of in module.PICTURES}
    for name in (*PAPERS, "pages", "picture", "cases", "data"):
        if name not in before:
            sys.modules.pop(name, None)


def test_each_table_of_a_paper_has_its_picture(pictures):
    drawn = [name for name, of in pictures.items() if hasattr(of, "run")]
    assert sorted(drawn) == sorted(file.stem for file in TABLES.glob("*.csv"))


# Boxes, and lines beside points. The book draws all others.
@pytest.mark.parametrize("name", ["l4span.fig16", "measured/limits/link"])
def test_the_same_tables_give_the_same_small_picture(name, pictures, tmp_path):
    first, second = (pictures[name].draw(tmp_path / run).read_bytes() for run in ("first", "second"))
    assert first == second
    assert len(first) < MAX_BYTES
    assert COLOURS[0].lower().encode() in first.lower() or b"<image" in first
