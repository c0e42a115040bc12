"""Cases of the papers' targets, run as `tidemark-papers` runs them."""

import json
import pathlib
import tomllib
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tidemark

ROOT = pathlib.Path(__file__).parents[3]
PAPERS = ROOT / "scenarios" / "papers"


def parts() -> dict[str, dict[str, list[str]]]:
    """Gives the overrides of each scenario by their names, from the targets of all papers."""
    found: dict[str, dict[str, list[str]]] = {}
    for file in sorted((PAPERS / "targets").glob("*.toml")):
        for scenario, named in tomllib.loads(file.read_text()).get("parts", {}).items():
            found.setdefault(scenario, {}).update(named)
    return found


PARTS = parts()


def value(text: str) -> object:
    """Gives what stands right of `=` in an override: TOML, or a word without quotes."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def run(scenario: str, case: str = "", *, seed: int = 1, **others: object) -> "tidemark.Result":
    """Runs a case: names of overrides, joined by dots. `others` replace values besides, with `__` for a dot."""
    import tidemark  # Its engine is not there where pictures are drawn of tables alone.

    overrides = [line for part in case.split(".") if part for line in PARTS[scenario][part]]
    chosen: Mapping[str, object] = {
        **{key: value(text) for key, text in (line.split("=", 1) for line in overrides)},
        **{key.replace("__", "."): of for key, of in others.items()},
    }
    return tidemark.run(PAPERS / f"{scenario}.toml", seed=seed, set=chosen, progress=False)


def measured(target: str) -> dict[str, float]:
    """Gives the figures of a target, or of all whose names begin with it up to a dot, from results.json by their formulas.

    A claim may have a figure of another target over other seeds: rows with a published value go first.
    """
    targets = json.loads((ROOT / "results" / "papers" / "results.json").read_text())["targets"]
    rows = [row for of in targets if f"{of['id']}.".startswith(f"{target}.") for row in of["rows"]]
    if not rows:
        raise SystemExit(f"results.json has no {target}: run tidemark-papers {target} --results FILE")
    last_first = sorted(rows, key=lambda row: "published" in row)
    of_rows = ({**row.get("figures", {}), **{of["formula"]: of["mean"] for of in row["ours"]}} for row in last_first)
    return {formula: mean for found in of_rows for formula, mean in found.items()}
