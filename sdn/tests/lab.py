"""Parts that tests in a laboratory share: where none can be made they skip and say so."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tidemark_sdn.lab import isolation
from tidemark_sdn.lab.demo import find_tidemark
from tidemark_sdn.lab.isolation import LabError

# tests/run starts pytest in namespaces of its own.
ISOLATED = os.environ.get("SDN_TESTS_ISOLATED") == "1"
REASON = isolation.missing() or (None if ISOLATED else "not in namespaces of its own: use sdn/tests/run")

needs_lab = pytest.mark.skipif(REASON is not None, reason=str(REASON))


def tidemark() -> Path:
    """The L4S ends, or a skip."""
    try:
        return find_tidemark(Path(os.environ["TIDEMARK"]) if "TIDEMARK" in os.environ else None)
    except LabError as error:
        pytest.skip(str(error))


def command(*arguments: object) -> list[str]:
    """A command line of tidemark-sdn."""
    return [sys.executable, "-m", "tidemark_sdn", *map(str, arguments)]


def until(condition: Callable[[], object], seconds: float = 15.0) -> float:
    """Waits until something holds, and gives how long that took."""
    began_at = time.monotonic()
    while not condition():
        assert time.monotonic() - began_at < seconds, "it has not come true"
        time.sleep(0.02)
    return time.monotonic() - began_at


@contextmanager
def furnished() -> Iterator[None]:
    """A /run of one's own for one test."""
    isolation.furnish()
    try:
        yield
    finally:
        for name in subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout.split(
            "\n"
        ):
            if name:
                subprocess.run(["ip", "netns", "delete", name.split()[0]], check=True)
        subprocess.run(["umount", "-l", "/run"], check=True)
