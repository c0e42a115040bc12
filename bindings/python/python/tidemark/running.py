"""Runs of scenarios."""

import sys
import warnings
from collections.abc import Mapping

from tqdm import TqdmWarning

from tidemark import _engine, scenario
from tidemark.result import Result


def run(
    source: scenario.Source,
    *,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,
    keep_marks: bool = False,
    progress: bool | None = None,
) -> Result:
    """Runs a scenario: a file, a text of TOML, or a dict.

    `seed` replaces the scenario's. `set` replaces values, by keys such as `marker.law`, `ue.0.count` or
    `flow.*.sender.controller`; the bytes of `summary.json` are those of `tidemark run --seed ... --set ...`.
    `keep_marks` keeps each mark with its reason, for `Result.marks`. `progress` draws a bar; None draws it where
    somebody sees it: on a terminal, and in a notebook.

    Other threads go on meanwhile, and Ctrl-C ends the run.

    Raises `ScenarioError` for a scenario that can't be used, and `OSError` for a file that can't be read.

    >>> result = run("scenarios/first-look.toml", set={"duration": "2 s", "warmup": "1 s"})
    >>> result.summary.duration_s
    2.0
    """
    ready = scenario.read(source, seed=seed, set=set)
    if not (_is_watched() if progress is None else progress):
        return Result(_engine.run(ready, keep_marks=keep_marks))
    with warnings.catch_warnings():
        # Without the widgets of notebooks the bar is one of text.
        warnings.simplefilter("ignore", TqdmWarning)
        from tqdm.auto import tqdm

        form = "{desc} {bar} {percentage:.0f} % of the scenario, {remaining} left"
        with tqdm(total=ready.duration_s, desc=ready.name, bar_format=form, leave=False) as bar:
            return Result(_engine.run(ready, keep_marks=keep_marks, progress=lambda now: bar.update(now - bar.n)))


def _is_watched() -> bool:
    """Finds out if somebody sees a bar: on a terminal, or in a notebook."""
    in_notebook = "ipykernel" in sys.modules and not sys.stderr.isatty()
    return in_notebook or sys.stderr.isatty()
