"""The schema of scenarios refuses what the check refuses where a schema can say it, and nothing that it accepts."""

import json
import subprocess
import tomllib

import jsonschema
import pytest
from conftest import COMMAND, ROOT

LISTS = tomllib.loads((ROOT / "crates/scenario/tests/refused.toml").read_text())
"""Lines that the check refuses, which crates/scenario/tests/schema.rs shows."""

RIGHT = {
    "name": "t",
    "duration": "1 s",
    "ue": [{"name": "a"}],
    "flow": [{"name": "f", "round_trip": "9 ms"}],
}


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    """The schema that the command writes."""
    text = subprocess.run([COMMAND, "schema"], check=True, capture_output=True, text=True, timeout=60).stdout
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


def accepted(schema, lines: str) -> bool:
    """True where the schema accepts a scenario that is right but for these lines."""
    return schema.is_valid(RIGHT | tomllib.loads(lines))


def test_the_schema_refuses_what_the_check_refuses_as_far_as_it_can(schema):
    assert accepted(schema, "seed = 2")
    assert [lines for lines in LISTS["by_both"] if accepted(schema, lines)] == []
    assert [lines for lines, _ in LISTS["by_the_check"] if not accepted(schema, lines)] == []


def test_the_schema_accepts_every_scenario_of_the_project(schema):
    read = 0
    for path in (ROOT / "scenarios").rglob("*.toml"):
        text = path.read_text()
        if text.partition("\n")[0].endswith("/scenario.schema.json"):
            errors = [error.message for error in schema.iter_errors(tomllib.loads(text))]
            assert errors == [], path
            read += 1
    assert read > 20
