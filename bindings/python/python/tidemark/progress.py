"""Bars on a terminal and in a notebook."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import TqdmWarning


@contextmanager
def of_run(name: str, duration_s: float, wanted: bool | None) -> Iterator[Callable[[float], object] | None]:
    """Draws how far a run has come; gives what is to be called with its virtual seconds, or None for no bar."""
    if not _is_wanted(wanted):
        yield None
        return
    form = "{desc} {bar} {percentage:.0f} % of the scenario, {remaining} left"
    with _bar(total=duration_s, desc=name, bar_format=form) as bar:
        yield lambda now: bar.update(now - bar.n)


@contextmanager
def of_runs(name: str, wanted: bool | None) -> Iterator[Callable[[int, int], object]]:
    """Draws how many runs of a study are done; gives what is to be called with that number and their total."""
    if not _is_wanted(wanted):
        yield lambda _done, _total: None
        return
    # The total is known at the first call, before the bar is drawn.
    with _bar(desc=name, bar_format="{desc} {bar} {n} of {total} runs, {remaining} left", delay=0.2) as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield tell


def _bar(**form: Any) -> Any:
    with warnings.catch_warnings():
        # Without the widgets of notebooks the bar is one of text.
        warnings.simplefilter("ignore", TqdmWarning)
        from tqdm.auto import tqdm

        return tqdm(leave=False, **form)


def _is_wanted(wanted: bool | None) -> bool:
    """Answers what was not said: somebody sees a bar on a terminal, and in a notebook."""
    return (_is_notebook() or sys.stderr.isatty()) if wanted is None else wanted


def _is_notebook() -> bool:
    """Answers whether a kernel runs this code; that its modules were imported doesn't say so."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
