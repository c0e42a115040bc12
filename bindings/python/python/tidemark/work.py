"""Runs of a study in other processes: of this machine, or whatever else makes records of runs."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing
from itertools import islice
from typing import TypeAlias

import loky

from tidemark import _engine
from tidemark.code import Code

AHEAD = 2
"""Tasks a core that wait in line, so that no core waits for this program."""
LOOK_S = 0.2
"""Seconds between two looks for an interrupt."""

Records: TypeAlias = Generator[tuple[str, bytes], None, None]
"""Keys and records of runs, as they end."""
Make: TypeAlias = Callable[[Sequence[tuple[str, str]]], Records]
"""Makes runs, each a key and what `make_run` takes."""


def execute(folder: _engine.Folder, make: Make, tell: Callable[[int, int], object]) -> None:
    """Makes the runs of a study that its folder lacks, and those that it asks for then.

    `tell` is called with runs done and all runs.
    """
    while True:
        missing = folder.missing()
        total = folder.count()
        done = total - len(missing)
        tell(done, total)
        # An error here ends what is under way there.
        with closing(make(missing)) as records:
            for key, record in records:
                folder.put(key, record)
                done += 1
                tell(done, total)
        if not folder.advance():
            return


def make_run(run: str, code: Code | None) -> bytes:
    """Makes a run where this is called: on a worker, which has the package and the files of traces."""
    law, controllers = code.load() if code else (None, [])
    return _engine.make_run(run, law, controllers)


def of_processes(count: int, code: Code | None) -> Make:
    """Gives what makes runs in processes, at most so many at once: Python code of theirs does not take turns."""

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
                # Ctrl-C reaches this thread between two looks, whichever thread gets the signal.
                ended, _ = wait(under_way, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                for future in ended:
                    yield under_way.pop(future), future.result()
        finally:
            # What is under way after an error or Ctrl-C ends with its process.
            executor.shutdown(wait=True, kill_workers=True)

    return make
