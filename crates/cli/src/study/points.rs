//! A study for another program.

use serde_json::{Map, Value, json};
use tidemark_study::statistics::Estimate;
use tidemark_study::{Summary, Table};

/// Points of a study for another program: values by column, and for each metric the mean, the interval's half-width and the number of seeds.
pub(super) fn points(table: &Table) -> Value {
    let point = |of: &Summary| {
        let values: Map<_, _> = table.columns.iter().cloned().zip(of.values.iter().map(|value| json!(value))).collect();
        let metrics = table.metrics.iter().enumerate().map(|(index, metric)| {
            let Some(Estimate { mean, half, count }) = of.estimate(index) else { return (metric.name(), Value::Null) };
            (metric.name(), json!({ "mean": mean, "half": half, "count": count, "unit": metric.unit() }))
        });
        let metrics: Map<String, Value> = metrics.map(|(name, value)| (name.to_string(), value)).collect();
        json!({ "values": values, "flow": of.flow, "seeds": of.seeds, "metrics": metrics })
    };
    table.summaries().iter().map(point).collect()
}
