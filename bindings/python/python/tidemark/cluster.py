"""Runs of a study on a Ray cluster, which `pip install .[ray]` brings."""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tidemark import _engine
from tidemark.errors import StudyError

AHEAD = 2
"""Tasks a core that wait in line, so that no core waits for this program."""
RETRIES = -1
"""Times that a run is made anew whose worker was lost: as often as that happens. A run that fails is not made anew."""


def execute(folder: _engine.Folder, address: str | None, tell: Callable[[int, int], object]) -> None:
    """Makes the runs of a study that its folder lacks on a cluster, and those that it asks for then.

    `address` is a cluster's; None stands for the one that this program is a part of, else for a Ray on this machine.
    `tell` is called with runs done and all runs.
    """
    with _cluster(address) as ray:
        while True:
            missing = folder.missing()
            total = folder.count()
            done = total - len(missing)
            tell(done, total)
            for key, record in _records(ray, missing):
                folder.put(key, record)
                done += 1
                tell(done, total)
            if not folder.advance():
                return


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """Connects to a cluster, unless this program is connected already."""
    try:
        import ray
    except ModuleNotFoundError as error:
        raise StudyError("executor: Ray is not installed: `pip install .[ray]` brings it") from error
    begun = not ray.is_initialized()
    if begun:
        ray.init(address=address or os.environ.get("RAY_ADDRESS"), logging_level=logging.WARNING, log_to_driver=False)
    try:
        yield ray
    finally:
        if begun:
            ray.shutdown()


def make_run(run: str) -> bytes:
    """Makes a run where this is called: on a worker, which has the package and the files of traces."""
    return _engine.make_run(run)


def _records(ray: Any, runs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    """Makes runs and gives keys and records as they end. Those of a lost worker are made anew."""
    make = ray.remote(num_cpus=1, max_retries=RETRIES)(make_run)
    limit = max(1, int(ray.cluster_resources().get("CPU", 1))) * AHEAD
    waiting = iter(runs)
    under_way: dict[Any, str] = {}
    try:
        while True:
            for key, run in waiting:
                under_way[make.remote(run)] = key
                if len(under_way) >= limit:
                    break
            if not under_way:
                return
            ended, _ = ray.wait(list(under_way), num_returns=1, timeout=1.0)
            for task in ended:
                key = under_way.pop(task)
                yield key, _record(ray, task)
    finally:
        for task in under_way:
            ray.cancel(task, force=True)


def _record(ray: Any, task: Any) -> bytes:
    try:
        record: bytes = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise error.as_instanceof_cause() from None
    return record
