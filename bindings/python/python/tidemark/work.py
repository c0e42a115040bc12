"""Runs of a study in other processes, on this machine or elsewhere."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from itertools import islice
from typing import TypeAlias

import loky

from tidemark import _engine
from tidemark.code import Code

AHEAD = 2
"""Waiting tasks per core, so that no core waits for this program."""
LOOK_S = 0.2
"""Seconds between two checks for an interrupt."""

Records: TypeAlias = Generator[tuple[str, bytes], None, None]
"""Keys and records of runs, as they end."""
Make: TypeAlias = Callable[[Sequence[tuple[str, str]]], Records]
"""Function that makes runs, each given by its key and an argument for `make_run`."""


def execute(folder: _engine.Folder, make: Make, tell: Callable[[int, int], object]) -> None:
    """Makes the runs that a study's folder lacks, and the further ones that the study then needs.

    `tell` is called with the number of finished runs and of all runs.
    """
    while True:
        missing = folder.missing()
        total = folder.count()
        done = total - len(missing)
        tell(done, total)
        # An error here ends running tasks there.
        with closing(make(missing)) as records:
            for key, record in records:
                folder.put(key, record)
                done += 1
                tell(done, total)
        if not folder.advance():
            return


def make_run(run: str, code: Code | None) -> bytes:
    """Makes a run in this process, which is a worker with the package and the trace files."""
    law, controllers = code.load() if code else (None, [])
    return _engine.make_run(run, law, controllers)


def of_processes(count: int, code: Code | None) -> Make:
    """Gives a function that makes runs in at most this many processes, so that Python code runs in parallel."""

    def make(runs: Sequence[tuple[str, str]]) -> Records:
        if not runs:
            return
        executor = loky.ProcessPoolExecutor(max_workers=min(count, len(runs)))
        waiting = iter(runs)
        under_way: dict[Future[bytes], str] = {}
        try:
            while True:
                for key, run in islice(waiting, AHEAD * count - len(under_way)):
                    under_way[executor.submit(make_run, run, code)] = key
                if not under_way:
                    return
                # Ctrl-C reaches this thread between two checks, whichever thread gets the signal.
                ended, _ = wait(under_way, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                for future in ended:
                    yield under_way.pop(future), future.result()
        finally:
            # After an error or Ctrl-C, running tasks end with their processes.
            executor.shutdown(wait=True, kill_workers=True)

    return make
