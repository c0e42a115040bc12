"""Fixtures of the tests."""

import os
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

ROOT = Path(__file__).resolve().parents[3]
"""Root of the repository."""
COMMAND = Path(os.environ.get("TIDEMARK", ROOT / "target/release/tidemark"))
"""The command built by `make build`."""


@pytest.fixture(autouse=True)
def in_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets tests and doctests name scenarios relative to the repository."""
    monkeypatch.chdir(ROOT)


@pytest.fixture
def command(tmp_path: Path):
    """Runs the command on a scenario, and gives the folder of results."""

    def run(scenario: str, *arguments: str) -> Path:
        out = tmp_path / "command"
        subprocess.run(
            [COMMAND, "run", scenario, "--out", out, *arguments], check=True, capture_output=True, timeout=300
        )
        return out

    return run


@pytest.fixture
def full_disk():
    """Lets no file grow beyond 100 bytes, as on a full disk."""

    @contextmanager
    def limited():
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    return limited
