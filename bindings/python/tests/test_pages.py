"""Runs the code of the pages unchanged; it writes the pages' pictures."""

import os
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
GUIDE = "docs/guide/python.md"
GALLERY = "docs/guide/pictures.md"


def blocks(page: str) -> list[str]:
    """Gives the Python code of a page, block by block."""
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Gives a writable folder in which the pages' code finds the scenarios."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    (tmp_path / "docs/guide/pictures").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_guides_code_runs(folder):
    assert blocks(GUIDE)
    exec(compile("\n".join(blocks(GUIDE)), GUIDE, "exec"), {})


def test_the_gallery_draws_its_pictures(folder):
    exec(compile("\n".join(blocks(GALLERY)), GALLERY, "exec"), {})
    drawn = sorted(path.name for path in (folder / "docs/guide/pictures").iterdir())
    lines = {path.name: len(path.read_text().splitlines()) for path in (folder / "docs/guide/pictures").iterdir()}
    assert max(lines.values()) < 1000, lines
    if "UPDATE_DOCS" in os.environ:
        shutil.copytree(folder / "docs/guide/pictures", ROOT / "docs/guide/pictures", dirs_exist_ok=True)
    shown = re.findall(r"^!\[[^\]]+\]\(pictures/([\w.-]+)\)", (ROOT / GALLERY).read_text(), re.M)
    assert drawn == sorted(shown) == sorted(path.name for path in (ROOT / "docs/guide/pictures").iterdir())
