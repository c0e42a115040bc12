"""Studies: a scenario over many values and seeds, on the cores of this machine or on a Ray cluster."""

import functools
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from tidemark import _engine, scenario, units, work
from tidemark import progress as progress_bars
from tidemark.code import Code
from tidemark.errors import StudyError
from tidemark.marker import AnyLaw, Controller

if TYPE_CHECKING:
    from tidemark.scenario import Source

Keys = Mapping[str, object]
"""Values, lists or ranges of values (`"10ms..160ms*2"`) by keys of the scenario."""


class Study:
    """A study, read and checked: every combination of values, with every seed.

    Raises `ScenarioError` or `StudyError` if a part of it is wrong, before anything runs.

    >>> study = Study("scenarios/first-look.toml", vary={"marker.law": ["none", "l4span"]}, seeds=2)
    >>> study.points, study.seeds
    (2, [1, 2])
    """

    def __init__(
        self,
        source: "Source",
        *,
        vary: Keys | None = None,
        zip: Sequence[Keys] = (),
        case: Mapping[str, Mapping[str, Mapping[str, object]]] | None = None,
        set: Keys | None = None,
        seeds: int | Sequence[int] = 5,
        metrics: Sequence[str] = (),
        flows: Sequence[str] = (),
        series: bool = False,
        name: str | None = None,
        until_ci: Mapping[str, object] | None = None,
        find: Mapping[str, object] | None = None,
        law: AnyLaw | None = None,
        controllers: Mapping[str, type[Controller]] | None = None,
    ) -> None:
        """Makes a study of a scenario: a file, a TOML text or a dict. docs/guide/studies.md explains its parts.

        `vary` crosses its keys, the keys of a group of `zip` change together, and `case` names combinations. The
        default `metrics` are those that most people need. `series` keeps the series of every run.

        `law` and `controllers` replace the scenario's in every run, as in `run`. The key of a run includes a hash of
        their code and everything that it refers to, so runs of changed code are repeated.
        """
        form = {
            "name": name,
            "vary": vary or {},
            "zip": list(zip),
            "case": case or {},
            "set": set or {},
            "seeds": seeds if isinstance(seeds, int) else list(seeds),
            "metrics": list(metrics),
            "flows": list(flows),
            "series": series,
            "until_ci": until_ci,
            "find": find,
        }
        text = scenario.text_of(source)
        study = _engine.Study.from_form(scenario.as_json(form), text.file, text.text, text.is_json, text.folder)
        self._take(study, law, controllers)

    @classmethod
    def load(
        cls,
        file: str | os.PathLike[str],
        *,
        law: AnyLaw | None = None,
        controllers: Mapping[str, type[Controller]] | None = None,
    ) -> Self:
        """Reads a study file, like `tidemark run`."""
        study = cls.__new__(cls)
        study._take(_engine.Study.from_file(file), law, controllers)
        return study

    def _take(
        self, study: _engine.Study, law: AnyLaw | None, controllers: Mapping[str, type[Controller]] | None
    ) -> None:
        """Takes the study, with the user's algorithms if there are any."""
        self._study, self._code = study, None
        if law is not None or controllers:
            controllers = controllers or {}
            code = Code.of(law, controllers)
            self._study = study.with_code(code.hash, law, list(controllers.items()))
            self._code = code

    @property
    def name(self) -> str:
        """Name of the study."""
        return self._study.name

    @property
    def points(self) -> int:
        """Number of combinations of values."""
        return self._study.points

    @property
    def seeds(self) -> list[int]:
        """Seeds of every point."""
        return self._study.seeds

    def run(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        executor: str = "local",
        jobs: int | None = None,
        progress: bool | None = None,
    ) -> "Table":
        """Makes the runs that the folder lacks, and gives the table. The folder is `out/NAME-study` by default.

        An interrupted study continues, and an extended one makes only the new runs. `executor`
        is `local`, for a thread on each core (or `jobs` of them); `ray`, for a Ray on this machine or the cluster that
        this program is a part of; or the address of a cluster (`ray://...`). Workers need the same build of this
        package. Runs with the user's law or controllers are made in processes instead of threads. Ctrl-C ends the study
        and keeps finished runs.
        """
        jobs = jobs or os.cpu_count() or 1
        opened = self._study.open(Path("out") / f"{self.name}-study" if folder is None else folder, jobs)
        with progress_bars.of_runs(self.name, progress) as tell:
            if executor != "local":
                from tidemark import cluster

                with cluster.of_ray(None if executor == "ray" else executor, self._code) as make:
                    work.execute(opened, make, tell)
            elif self._code:
                work.execute(opened, work.of_processes(jobs, self._code), tell)
            else:
                opened.execute(tell)
        return Table(opened, self.name)

    def __repr__(self) -> str:
        return f"Study({self.name!r}, points={self.points}, seeds={len(self.seeds)})"


class Table:
    """Results of a study."""

    def __init__(self, folder: _engine.Folder, name: str) -> None:
        self._folder = folder
        self.name = name
        """Name of the study."""

    @functools.cached_property
    def _columns(self) -> tuple[list[str], list[tuple[str, str | None]], str]:
        return self._folder.table()

    @functools.cached_property
    def frame(self) -> pl.DataFrame:
        """Row for each run and group of flows: varied keys, `seed`, `flow`, metrics, and the run's key."""
        _, metrics, csv = self._columns
        types: dict[str, Any] = {"seed": pl.Int64, "run": pl.String, "flow": pl.String}
        types |= {name: pl.Float64 for name, _ in metrics}
        frame = pl.read_csv(io.StringIO(csv), schema_overrides=types, infer_schema_length=None)
        return frame.with_columns(self._numbers(frame[key]) for key in self.varied)

    @property
    def varied(self) -> list[str]:
        """Varied keys and names of cases, which are columns."""
        return self._columns[0]

    @property
    def metrics(self) -> list[str]:
        """Metrics, which are columns of `frame` and rows of `means`."""
        return [name for name, _ in self._columns[1]]

    @property
    def csv(self) -> str:
        """Text of the same table, byte for byte that of `table.csv`."""
        return self._columns[2]

    @property
    def units(self) -> dict[str, str]:
        """Units of the varied keys and metrics that have one. Their columns hold numbers."""
        return self._units | {name: unit for name, unit in self._columns[1] if unit is not None}

    @functools.cached_property
    def _units(self) -> dict[str, str]:
        """Units of varied keys whose values all have the same unit."""
        texts = pl.read_csv(io.StringIO(self.csv), infer_schema=False)
        found = {}
        for key in self.varied:
            of_key = {of and of.unit for of in map(units.read, texts[key].drop_nulls())}
            if len(of_key) == 1 and (unit := of_key.pop()):
                found[key] = unit
        return found

    def _numbers(self, column: pl.Series) -> pl.Series:
        """Converts a varied column of numeric texts to numbers; other columns stay."""
        if column.dtype != pl.String:
            return column
        unit = self._units.get(column.name)
        bare = column.str.strip_suffix(unit).str.strip_chars() if unit else column
        for dtype in (pl.Int64, pl.Float64):
            cast = bare.cast(dtype, strict=False)
            if cast.null_count() == column.null_count():
                return cast
        return column

    @functools.cached_property
    def means(self) -> pl.DataFrame:
        """Row for each point, group of flows and metric, with the `mean` over `seeds` seeds.

        `half` is the half-width of the mean's 95 % confidence interval; it is null for a single seed.
        """
        keys = self.varied
        rows = [(*values, *others) for values, *others in self._folder.means()]
        schema: dict[str, Any] = dict.fromkeys(keys, pl.String)
        schema |= {"flow": pl.String, "metric": pl.String, "mean": pl.Float64, "half": pl.Float64, "seeds": pl.Int64}
        frame = pl.DataFrame(rows, schema=schema, orient="row")
        return frame.with_columns(self._numbers(frame[key]) for key in keys)

    def series(self, run: str) -> dict[str, pl.DataFrame]:
        """Series of a run, by its key in the column `run`, if the study keeps series: `flows`, `ues` and others."""
        files = self._folder.series(run)
        if not files:
            raise StudyError(f"run {run} has no series: use Study(..., series=True)")
        return {
            name.removeprefix("series-").removesuffix(".csv"): pl.read_csv(io.StringIO(text), infer_schema_length=None)
            for name, text in files
        }

    def _repr_html_(self) -> str:
        """Gives the HTML for a notebook."""
        from tidemark import notebook

        return notebook.table(self)

    def __repr__(self) -> str:
        return f"Table({self.name!r}, runs={self.frame['run'].n_unique()}, metrics={self.metrics})"

    @property
    def found(self) -> pl.DataFrame:
        """Result of a search at each point: the largest value that meets its condition; null if even 1 does not."""
        return pl.DataFrame([{**dict(values), "value": value} for values, value in self._folder.found()])
