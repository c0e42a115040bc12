"""Parts that all tests share."""

import os
import subprocess

import pytest
from hypothesis import settings

from tests.lab import ISOLATED

# A busy machine is not a fault of the code.
settings.register_profile("tidemark", deadline=None, database=None)
settings.load_profile("tidemark")

if ISOLATED:
    # A new network namespace has its loopback down.
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: takes long, and is left out where time is short (BRIEF)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if os.environ.get("BRIEF"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("full")])
        items[:] = [item for item in items if not item.get_closest_marker("full")]
