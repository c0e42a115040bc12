"""Scenarios: a file, a TOML text or a dict, with some values replaced."""

import json
import numbers
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tidemark import _engine
from tidemark.errors import ScenarioError
from tidemark.units import Quantity

Source: TypeAlias = str | os.PathLike[str] | Mapping[str, object]
"""A scenario: the path of a file, a TOML text with more than one line, or a dict with the contents of a file."""


class Text(NamedTuple):
    """Text of a scenario, and its origin."""

    file: str
    """Name in error messages."""
    text: str
    is_json: bool
    """True for JSON, made from a dict; false for TOML."""
    folder: Path
    """Folder that traces are relative to: the file's, or the working folder for a text or a dict."""


def as_json(value: object) -> str:
    """Gives a value of a scenario, or a table of values, as JSON: quantities as texts, numpy's numbers as numbers.

    Raises `ScenarioError` for a value that a scenario can't have.

    >>> from tidemark import ms
    >>> as_json({"round_trip": ms(10)})
    '{"round_trip": "10 ms"}'
    """
    return json.dumps(value, default=_plain)


def _plain(value: object) -> object:
    match value:
        case Quantity():
            return str(value)
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            return float(value)
    message = f"{value!r} is no value of a scenario: use a number, a text, a list, a dict, or a quantity such as ms(10)"
    raise ScenarioError(message)


def text_of(source: Source) -> Text:
    """Reads the text of a scenario.

    Raises `OSError` for a file that can't be read.
    """
    if isinstance(source, Mapping):
        return Text("scenario", as_json(source), True, Path())
    if isinstance(source, str) and "\n" in source:
        return Text("scenario", source, False, Path())
    path = Path(source)
    return Text(str(path), path.read_text("utf-8"), False, path.parent)


def read(source: Source, *, seed: int | None = None, set: Mapping[str, object] | None = None) -> _engine.Scenario:
    """Reads and checks a scenario.

    Raises `ScenarioError` for a scenario that can't be used, and `OSError` for a file that can't be read.
    """
    values = dict(set or {})
    if seed is not None:
        values["seed"] = seed
    assignments = [(key, as_json(value)) for key, value in values.items()]
    of = text_of(source)
    if of.is_json:
        return _engine.Scenario.from_json(of.text, of.folder, assignments)
    return _engine.Scenario.from_toml(of.file, of.text, of.folder, assignments)


def check(source: Source, *, seed: int | None = None, set: Mapping[str, object] | None = None) -> list[str]:
    """Checks a scenario without running it. Gives warnings about parts that a run ignores and about likely mistakes.

    >>> check("scenarios/first-look.toml", set={"ue.desk.handovers": ["60 s"]})
    ['UE `desk` has a handover at 60 s, when the run is over: it ends at 30 s']
    """
    return read(source, seed=seed, set=set).warnings
