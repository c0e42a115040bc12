"""L4S congestion signalling for 5G: scenarios, results and the marker.

`run` runs a scenario and gives a `Result`, with polars frames and the summary as typed attributes. `plot` draws it.
Names of fields end with their unit: `_ms` milliseconds, `_mbps` Mbit/s, `_s` seconds, `_kb` kB. A share is between 0
and 1. A value that could not be measured is None, never zero.
"""

import importlib
from typing import TYPE_CHECKING, Any

from tidemark._engine import __version__
from tidemark.compare import compare
from tidemark.errors import ScenarioError, StudyError
from tidemark.marker import Ack, Arrival, Controller, Departure, Drb, Law, law, laws, parameters
from tidemark.result import Result, Series
from tidemark.running import run
from tidemark.scenario import check
from tidemark.study import Study, Table
from tidemark.tables import read_table
from tidemark.units import Quantity, kb, mbps, ms, s, us

if TYPE_CHECKING:
    from tidemark import plot

__all__ = [
    "Ack",
    "Arrival",
    "Controller",
    "Departure",
    "Drb",
    "Law",
    "Quantity",
    "Result",
    "ScenarioError",
    "Series",
    "Study",
    "StudyError",
    "Table",
    "__version__",
    "check",
    "compare",
    "kb",
    "law",
    "laws",
    "mbps",
    "ms",
    "parameters",
    "plot",
    "read_table",
    "run",
    "s",
    "us",
]


def __getattr__(name: str) -> Any:
    """Imports `plot` at its first use: matplotlib takes a second to load, and workers of a study never draw."""
    if name == "plot":
        return importlib.import_module("tidemark.plot")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
