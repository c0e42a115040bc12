//! JSON schema of the scenario language, for whoever looks something up in it.

use std::sync::LazyLock;

use serde_json::Value;

use super::Scenario;

/// Schema, which is made when it is asked for first: a run without a mistake rarely needs it.
pub(super) fn schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> =
        LazyLock::new(|| serde_json::to_value(schemars::schema_for!(Scenario)).unwrap_or_default());
    &SCHEMA
}
