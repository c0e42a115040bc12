"""Runs of scenarios."""

import functools
from collections.abc import Mapping

from tidemark import _engine, scenario
from tidemark import progress as progress_bars
from tidemark.marker import AnyLaw, Controller
from tidemark.result import Result


def run(
    source: scenario.Source,
    *,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,
    keep_marks: bool = False,
    law: AnyLaw | None = None,
    controllers: Mapping[str, type[Controller]] | None = None,
    progress: bool | None = None,
) -> Result:
    """Runs a scenario: a file, a TOML text or a dict.

    `seed` replaces the scenario's. `set` replaces values, by keys such as `marker.law`, `ue.0.count` or
    `flow.*.sender.controller`. `summary.json` has the same bytes as with `tidemark run --seed ... --set ...`.
    `keep_marks` records each mark with its reason, for `Result.marks`. `progress` draws a bar; None draws it where it
    can be seen, on a terminal and in a notebook.

    `law` replaces the scenario's `marker.law`, and `controllers` replace those of the flows that they name; `*` names
    all flows. Both can be written in Python. Their exceptions then end the run and are raised here, and the run is
    slower (docs/guide/python.md has figures).

    Other threads can run meanwhile, and Ctrl-C ends the run.

    Raises `ScenarioError` for a scenario that can't be used, and `OSError` for a file that can't be read.

    >>> result = run("scenarios/first-look.toml", set={"duration": "2 s", "warmup": "1 s"})
    >>> result.summary.duration_s
    2.0
    """
    ready = scenario.read(source, seed=seed, set=set)
    start = functools.partial(
        _engine.run, ready, keep_marks=keep_marks, law=law, controllers=list((controllers or {}).items())
    )
    with progress_bars.of_run(ready.name, ready.duration_s, progress) as tell:
        return Result(start(progress=tell))
