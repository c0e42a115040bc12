"""Tables of a run: CSV files whose columns have the types given in `columns.csv`."""

import io
import os
from pathlib import Path
from typing import Any

import polars as pl

from tidemark import _engine

COLUMNS = "columns.csv"
"""Name of the file that describes the columns of all others."""
TYPES: dict[str, Any] = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean}
"""polars' types by their names in that file."""


def read_table(file: str | os.PathLike[str]) -> pl.DataFrame:
    """Reads a CSV file of a run's folder, with the types that `columns.csv` beside it names.

    By itself polars reads a column as text if it begins with a hundred missing values.

    Raises `OSError` where one of the two files can't be read, and `ValueError` for a file that is not described.

    >>> import tempfile, tidemark
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tidemark.run("scenarios/first-look.toml", set={"duration": "2 s", "warmup": "1 s"}).write(folder)
    ...     read_table(f"{folder}/series-flows.csv").schema["target_mbps"]
    Float64
    """
    path = Path(file)
    return parse(path.name, path.read_text("utf-8"), (path.parent / COLUMNS).read_text("utf-8"))


def parse(name: str, text: str, columns: str | None = None) -> pl.DataFrame:
    """Makes a frame from the text of the CSV file of this name. `columns` describes it; default: this version's."""
    types = schema(name, columns)
    if not types:
        raise ValueError(f"{name}: {COLUMNS} does not describe it")
    return pl.read_csv(io.StringIO(text), schema=types)


def schema(name: str, columns: str | None = None) -> dict[str, Any]:
    """Gives the type of each column of the CSV file of this name; empty for a file that is not described."""
    described = pl.read_csv(io.StringIO(columns or _engine.columns()), infer_schema=False).filter(file=name)
    return {column: TYPES[kind] for column, kind in described.select("column", "type").iter_rows()}
