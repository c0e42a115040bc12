//! Parts of a study's JSON schema that are read as JSON, of which an error can say more.

use schemars::{JsonSchema, Schema};
use serde_json::Value as Json;

/// Seeds of a point, at most.
pub(crate) const MAX_SEEDS: u64 = 10_000;

/// Number of seeds, from 1 on, or the seeds themselves.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described alone")]
pub(crate) enum Seeds {
    Count(#[schemars(range(min = 1, max = MAX_SEEDS))] u64),
    List(#[schemars(length(min = 1))] Vec<u64>),
}

/// List of values, or a range as text: `"10 ms..160 ms*2"`, `"1..9+2"`, `"0..20:5"`, `"10 ms..1000 ms*:5"`.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "described alone")]
pub(crate) enum Varied {
    List(#[schemars(length(min = 1))] Vec<Json>),
    Range(String),
}

/// Says that a file has to name its scenario, which flags name by another way.
pub(crate) fn require_scenario(schema: &mut Schema) {
    schema.insert("required".into(), ["scenario"].into_iter().collect());
}
