"""Progress bars on a terminal and in a notebook."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm import TqdmWarning


@contextmanager
def of_run(name: str, duration_s: float, wanted: bool | None) -> Iterator[Callable[[float], object] | None]:
    """Draws the progress of a run; gives the function to call with its virtual seconds, or None without a bar."""
    if not _is_wanted(wanted):
        yield None
        return
    form = "{desc} {bar} {percentage:.0f} % of the scenario, {remaining} left"
    with _bar(total=duration_s, desc=name, bar_format=form) as bar:
        yield lambda now: bar.update(now - bar.n)


@contextmanager
def of_runs(name: str, wanted: bool | None) -> Iterator[Callable[[int, int], object]]:
    """Draws the number of finished runs of a study; gives the function to call with that number and the total."""
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
        # Without notebook widgets the bar is text.
        warnings.simplefilter("ignore", TqdmWarning)
        from tqdm.auto import tqdm

        return tqdm(leave=False, **form)


def _is_wanted(wanted: bool | None) -> bool:
    """Gives the default: a bar is visible on a terminal and in a notebook."""
    return (_is_notebook() or sys.stderr.isatty()) if wanted is None else wanted


def _is_notebook() -> bool:
    """True if a notebook kernel runs this code. Imported kernel modules alone do not prove it."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
