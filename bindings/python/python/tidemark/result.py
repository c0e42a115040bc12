"""Results of a run: the summary as typed attributes, and polars frames."""

import dataclasses
import json
import os
import types
import typing
from functools import cached_property

import polars as pl

from tidemark import _engine, tables
from tidemark.summary import (
    BearerResult,
    FlowResult,
    NetworkCellResult,
    Quantiles,
    RouterResult,
    RunResult,
    Split,
    Threshold,
    UeResult,
)

Delay = typing.Literal["owd", "rtt", "queue", "router_queue", "completion", "frame", "sender_queue"]
"""A delay: one-way, round trip, in the RLC queue, in routers' queues; of a transfer, a frame, a frame at its sender."""


class Result:
    """Results of a run.

    >>> import tidemark
    >>> result = tidemark.run("scenarios/first-look.toml", set={"duration": "3 s", "warmup": "1 s"})
    >>> result.summary.flows[0].owd_ms.p95 < 100
    True
    >>> result.flows.select("flow", "throughput_mbps", "owd_p95_ms").width
    3
    >>> result.series.flows.columns[:3]
    ['t_s', 'flow', 'throughput_mbps']
    """

    def __init__(self, outcome: _engine.Outcome) -> None:
        self._outcome = outcome

    @cached_property
    def summary_json(self) -> str:
        """Text of `summary.json`, byte for byte as the command writes it."""
        return self._outcome.summary()

    @cached_property
    def summary(self) -> RunResult:
        """Summary of the run: the contents of `summary.json` as attributes."""
        return _read(RunResult, json.loads(self.summary_json))

    @cached_property
    def flows(self) -> pl.DataFrame:
        """Row for each flow. A delay such as `owd` has columns from `owd_mean_ms` and `owd_p50_ms` to `owd_p999_ms`."""
        return _frame(FlowResult, self.summary.flows, "flow")

    @cached_property
    def bearers(self) -> pl.DataFrame:
        """Row for each bearer and direction."""
        return _frame(BearerResult, self.summary.bearers, "bearer")

    @cached_property
    def ues(self) -> pl.DataFrame:
        """Row for each UE."""
        return _frame(UeResult, self.summary.ues, "ue")

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Row for each cell of a network; empty for a single cell without a position."""
        return _frame(NetworkCellResult, self.summary.cells, "cell")

    @cached_property
    def routers(self) -> pl.DataFrame:
        """Row for each router."""
        return _frame(RouterResult, self.summary.routers, "router")

    @cached_property
    def series(self) -> "Series":
        """Values over time."""
        return Series(self)

    @cached_property
    def marks(self) -> pl.DataFrame | None:
        """Row for each mark, with its reason; None for a run without `keep_marks`."""
        text = self._outcome.table("marks.csv")
        return None if text is None else tables.parse("marks.csv", text)

    @cached_property
    def freezes(self) -> pl.DataFrame:
        """Row for each freeze of a video: `flow`, `t_s`, `frozen_s`."""
        return self.table("freezes.csv")

    def table(self, file: str) -> pl.DataFrame:
        """Gives the CSV file of this name, as `write` and the command write it, as a frame, such as `tdq.csv`.

        Raises `KeyError` for a file that a run does not have, and for `marks.csv` where no marks were kept.
        """
        text = self._outcome.table(file)
        if text is None:
            raise KeyError(file)
        return tables.parse(file, text)

    def cdf(self, delay: Delay = "owd") -> pl.DataFrame:
        """Cumulative distribution of a delay of each flow: columns `flow`, `ms`, `share`.

        A flow that did not measure the delay has no rows.
        """
        points = zip(self.flows["flow"], self._outcome.cdf(delay), strict=True)
        rows = [(flow, ms, share) for flow, curve in points for ms, share in curve]
        return pl.DataFrame(rows, schema={"flow": pl.String, "ms": pl.Float64, "share": pl.Float64}, orient="row")

    def write(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the same folder as the command; `force` replaces the results of another scenario, values or seeds.

        Raises `FileExistsError` where results would be lost.
        """
        self._outcome.write(os.fspath(folder), force)

    def report(self, file: str | os.PathLike[str]) -> None:
        """Writes the report page, one HTML file: the command's `report.html`.

        With `keep_marks` it has the marks, as the command's has. An old file stays whole if the new one can't be
        written.
        """
        self._outcome.report(os.fspath(file))

    def _repr_html_(self) -> str:
        """Gives the HTML for a notebook."""
        from tidemark import notebook

        return notebook.result(self)

    def __repr__(self) -> str:
        of = self.summary
        return f"Result({of.name!r}, seed={of.seed}, duration_s={of.duration_s:g}, flows={len(of.flows)})"


class Series:
    """Values over time: a frame for each kind, with a row for each name and interval, which ends at `t_s`."""

    def __init__(self, result: Result) -> None:
        self._result = result

    @cached_property
    def _values(self) -> dict[str, typing.Any]:
        values: dict[str, typing.Any] = json.loads(self._result._outcome.series())
        return values

    @property
    def end_s(self) -> float:
        """End of the last interval in seconds."""
        times: list[float] = self._values["t_s"]
        return times[-1] if times else 0.0

    @cached_property
    def flows(self) -> pl.DataFrame:
        """Series of each flow."""
        return self._long("flows", "flow", [flow.name for flow in self._result.summary.flows])

    @cached_property
    def ues(self) -> pl.DataFrame:
        """Series of each UE's downlink."""
        return self._long("ues", "ue", [ue.name for ue in self._result.summary.ues])

    @cached_property
    def uplinks(self) -> pl.DataFrame:
        """Series of each UE's uplink."""
        return self._long("uplinks", "ue", [ue.name for ue in self._result.summary.ues])

    @cached_property
    def routers(self) -> pl.DataFrame:
        """Series of each router."""
        return self._long("routers", "router", [router.name for router in self._result.summary.routers or []])

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Series of each cell of a network."""
        return self._long("cells", "cell", [cell.name for cell in self._result.summary.cells or []])

    def _long(self, kind: str, noun: str, names: list[str]) -> pl.DataFrame:
        times = self._values["t_s"]
        columns = {"t_s": times * len(names), noun: [name for name in names for _ in times]}
        for field, by_subject in self._values[kind].items():
            # A subject without values has no list of them, and a series that was not recorded has no subjects.
            columns[field] = [
                value for series in by_subject or [[]] * len(names) for value in series or [None] * len(times)
            ]
        types = tables.schema(f"series-{kind}.csv")
        return pl.DataFrame({column: columns[column] for column in types}, schema=types)


T = typing.TypeVar("T")


def _read(kind: type[T], value: typing.Any) -> T:
    """Makes a dataclass, or a list of them, from parsed JSON."""
    if value is None:
        return typing.cast(T, None)
    kind = _bare(kind)
    if typing.get_origin(kind) is list:
        (inner,) = typing.get_args(kind)
        return typing.cast(T, [_read(inner, item) for item in value])
    if typing.get_origin(kind) is tuple:
        return typing.cast(T, tuple(value))
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return typing.cast(T, kind(**{name: _read(hints[name], part) for name, part in value.items()}))
    return typing.cast(T, value)


def _frame(kind: type, rows: typing.Sequence[object] | None, noun: str) -> pl.DataFrame:
    """Makes a frame of dataclasses; a field with parts becomes a column for each part."""
    columns = list(_columns(kind, noun))
    values = {heading: [_value(row, path) for row in rows or []] for heading, path, _ in columns}
    return pl.DataFrame(values, schema={heading: dtype for heading, _, dtype in columns})


def _columns(kind: type, noun: str) -> typing.Iterator[tuple[str, tuple[str, ...], pl.DataType]]:
    """Gives heading, path of attributes and type of each column, named as in the CSV files."""
    for field, hint in typing.get_type_hints(kind).items():
        of = _bare(hint)
        if not dataclasses.is_dataclass(of):
            yield noun if field == "name" else field, (field,), _dtype(of)
            continue
        for part, path, dtype in _columns(typing.cast(type, of), noun):
            if of is Quantiles:
                heading = f"{field.removesuffix('_ms')}_{part}_ms"
            elif of is Split:
                heading = f"{part}_ms"
            else:
                heading = f"{field}_{part}"
            yield heading, (field, *path), dtype


def _value(row: object, path: tuple[str, ...]) -> object:
    for name in path:
        row = None if row is None else getattr(row, name)
    if isinstance(row, list):
        return [dataclasses.asdict(item) if isinstance(item, Threshold) else item for item in row]
    return row


def _bare(hint: typing.Any) -> typing.Any:
    """Type without its None."""
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        (hint,) = (part for part in typing.get_args(hint) if part is not type(None))
    return hint


def _dtype(of: typing.Any) -> pl.DataType:
    if typing.get_origin(of) in (list, tuple):
        return pl.List(_dtype(typing.get_args(of)[0]))
    if dataclasses.is_dataclass(of):
        return pl.Struct({name: _dtype(_bare(hint)) for name, hint in typing.get_type_hints(of).items()})
    return {str: pl.String(), int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean()}[of]
