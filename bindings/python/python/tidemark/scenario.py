"""Scenarios: a file, a TOML text or a dict, with some values replaced."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from tidemark import _engine

Source: TypeAlias = str | os.PathLike[str] | Mapping[str, object]
"""A scenario: the path of a file, a text of TOML (with more than one line), or a dict of what the file would have."""


def read(source: Source, *, seed: int | None = None, set: Mapping[str, object] | None = None) -> _engine.Scenario:
    """Reads a scenario and checks it whole. Traces of a text or a dict are looked up from the working folder.

    Raises `ScenarioError` for a scenario that can't be used, and `OSError` for a file that can't be read.
    """
    values = dict(set or {})
    if seed is not None:
        values["seed"] = seed
    assignments = [(key, json.dumps(value)) for key, value in values.items()]
    if isinstance(source, Mapping):
        return _engine.Scenario.from_json(json.dumps(source), Path(), assignments)
    if isinstance(source, str) and "\n" in source:
        return _engine.Scenario.from_toml("scenario", source, Path(), assignments)
    path = Path(source)
    return _engine.Scenario.from_toml(str(path), path.read_text("utf-8"), path.parent, assignments)


def check(source: Source, *, seed: int | None = None, set: Mapping[str, object] | None = None) -> list[str]:
    """Checks a scenario without running it. Gives warnings: parts that a run takes no notice of, and likely mistakes.

    >>> check("scenarios/first-look.toml", set={"flow.0.app.start": "1 min"})
    ['flow `prague-desk` starts at 60 s, when the run is over: it ends at 30 s']
    """
    return read(source, seed=seed, set=set).warnings
