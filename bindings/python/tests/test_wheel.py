"""The wheel: its size, and the Python versions that it supports."""

import os
import zipfile
from pathlib import Path

import pytest

LIMIT = 15_000_000
"""Largest size of a wheel in bytes."""


@pytest.mark.skipif("TIDEMARK_WHEELS" not in os.environ, reason="no wheel: `make python-test` builds it")
def test_the_wheel_is_small_and_for_every_python_from_3_11():
    (wheel,) = Path(os.environ["TIDEMARK_WHEELS"]).glob("tidemark-*.whl")
    assert "-cp311-abi3-" in wheel.name
    assert wheel.stat().st_size < LIMIT
    names = zipfile.ZipFile(wheel).namelist()
    assert {"tidemark/py.typed", "tidemark/_engine.pyi"} <= set(names)
