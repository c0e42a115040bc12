"""Runs notebooks from the first cell to the last."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
MEASURED = ROOT / "../shared/traces/ie-5g-driving-1.csv"
"""Measured trace, if this machine has it."""


@pytest.fixture
def in_copy(tmp_path, monkeypatch):
    """Gives a writable folder in which a notebook finds the scenarios."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(notebook: Path, folder: Path) -> str:
    """Runs a notebook and gives the text that it printed."""
    content = nbformat.read(notebook, as_version=4)
    NotebookClient(content, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    outputs = [output for cell in content.cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)


def each(notebooks: list[Path]) -> list:
    """Notebooks as parameters, of which `make test` runs two."""
    marks = [[], [], *[pytest.mark.full] * (len(notebooks) - 2)]
    return [pytest.param(path, marks=mark, id=path.stem) for path, mark in zip(notebooks, marks, strict=True)]


@pytest.mark.parametrize("notebook", each(NOTEBOOKS))
def test_a_notebook_runs(notebook, in_copy, monkeypatch):
    monkeypatch.delenv("TIDEMARK_TRACE", raising=False)
    printed = run(notebook, in_copy)
    assert ("made up" in printed) == (notebook.stem == "which-threshold")


@pytest.mark.skipif(not MEASURED.exists(), reason=f"no measured trace: {os.path.relpath(MEASURED, ROOT)} is absent")
def test_the_threshold_of_a_measured_trace(in_copy, monkeypatch):
    monkeypatch.setenv("TIDEMARK_TRACE", str(MEASURED))
    assert "lowest threshold" in run(ROOT / "docs/notebooks/which-threshold.ipynb", in_copy)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(notebook):
    content = nbformat.read(notebook, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in content.cells)


def test_there_are_five():
    assert len(NOTEBOOKS) == 5
