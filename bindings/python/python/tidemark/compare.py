"""Comparison of two studies' tables, seed by seed."""

from typing import Any

import polars as pl

from tidemark import _engine
from tidemark.errors import StudyError
from tidemark.study import Table


def compare(before: Table, after: Table) -> pl.DataFrame:
    """Compares the tables of two studies, pairing runs by seed and by the values that both studies vary.

    Gives a row for each point, group of flows and metric of both: the means `before` and `after`, their `difference`,
    the number of `seeds`, and `half`, the half-width of the difference's 95 % confidence interval. The difference is a
    tie if `half` is larger. `half` is null for a single seed.

    Raises `StudyError` for tables without a common seed or metric.
    """
    metrics = [metric for metric in before.metrics if metric in after.metrics]
    keys = [key for key in ("flow", *before.varied) if key in before.frame.columns and key in after.frame.columns]
    if ("flow" in before.frame.columns) != ("flow" in after.frame.columns) or not metrics:
        raise StudyError(f"{before.name} and {after.name} have no metric in common: give both studies the same metrics")
    pairs = before.frame.drop("run").join(
        after.frame.drop("run"), on=[*keys, "seed"], suffix=AFTER, nulls_equal=True, maintain_order="left"
    )
    if pairs.is_empty():
        raise StudyError(f"{before.name} and {after.name} have no seed in common at a point and flow that both have")
    points = [name for name in pairs.columns if name in before.varied or name in after.varied]
    by = [*points, *(["flow"] if "flow" in keys else [])]
    rows = []
    for point in pairs.partition_by(by, maintain_order=True) if by else [pairs]:
        for metric in metrics:
            both = point.select(metric, metric + AFTER).drop_nulls()
            if (found := _engine.difference(both.rows())) is not None:
                difference, half, seeds = found
                values = (both[metric].mean(), both[metric + AFTER].mean(), difference, half, seeds)
                rows.append((*point.select(by).row(0), metric, *values))
    of_values = dict.fromkeys(("before", "after", "difference", "half"), pl.Float64)
    schema: dict[str, Any] = {**pairs.select(by).schema, "metric": pl.String, **of_values, "seeds": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


AFTER = " after"
"""Suffix of the second table's columns."""
