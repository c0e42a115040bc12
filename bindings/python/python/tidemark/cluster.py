"""Runs of a study on a Ray cluster. `pip install .[ray]` installs Ray."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tidemark.code import Code
from tidemark.errors import StudyError
from tidemark.work import AHEAD, Make, Records, make_run

RETRIES = -1
"""Retries of a run whose worker was lost: without limit. A run that fails is not repeated."""


@contextmanager
def of_ray(address: str | None, code: Code | None) -> Iterator[Make]:
    """Gives a function that makes runs on a cluster.

    `address` is a cluster's. None means the cluster that this program is part of, or else a Ray on this machine.
    """
    with _cluster(address) as ray:
        yield lambda runs: _records(ray, runs, code)


@contextmanager
def _cluster(address: str | None) -> Iterator[Any]:
    """Connects to a cluster, unless this program is connected already."""
    try:
        import ray
    except ModuleNotFoundError as error:
        raise StudyError("executor: Ray is not installed: use `pip install .[ray]`") from error
    begun = not ray.is_initialized()
    if begun:
        ray.init(address=address or os.environ.get("RAY_ADDRESS"), logging_level=logging.WARNING, log_to_driver=False)
    try:
        yield ray
    finally:
        if begun:
            ray.shutdown()


def _records(ray: Any, runs: Sequence[tuple[str, str]], code: Code | None) -> Records:
    """Makes runs and gives keys and records as they end. Runs of a lost worker are repeated."""
    make = ray.remote(num_cpus=1, max_retries=RETRIES)(make_run)
    limit = max(1, int(ray.cluster_resources().get("CPU", 1))) * AHEAD
    waiting = iter(runs)
    under_way: dict[Any, str] = {}
    try:
        while True:
            for key, run in waiting:
                under_way[make.remote(run, code)] = key
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
