"""Pictures of the papers' pages: the same tables give the same bytes."""

import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "docs/reproduction/pictures"


PAPERS = ("al4s", "anbr", "brunello", "l4span", "sdn")
"""Modules of results/papers/draw, one a paper."""


@pytest.fixture
def draw(monkeypatch):
    """Gives the module that draws, and all pictures."""
    monkeypatch.syspath_prepend(ROOT / "results/papers/draw")
    pictures = [picture for paper in PAPERS for picture in importlib.import_module(paper).PICTURES]
    yield importlib.import_module("picture"), pictures
    for name in (*PAPERS, "picture", "cases"):
        sys.modules.pop(name, None)


def test_each_picture_has_a_name_of_its_own_and_a_file(draw):
    names = [picture.name for picture in draw[1]]
    assert len(set(names)) == len(names)
    assert sorted(names) == sorted(file.stem for file in PICTURES.glob("*.svg"))


# One of each kind of panel: points, bars, boxes, a stack, lines.
@pytest.mark.parametrize("name", ["anbr.fig5_1", "l4span.fig15", "l4span.fig16", "l4span.fig10", "l4span.fig19"])
def test_a_picture_is_that_of_its_table(name, draw, tmp_path, monkeypatch):
    module, pictures = draw
    monkeypatch.setattr(module, "PICTURES", tmp_path)
    next(picture for picture in pictures if picture.name == name).draw()
    assert (tmp_path / f"{name}.svg").read_bytes() == (PICTURES / f"{name}.svg").read_bytes()
