//! Page of a study: one HTML file with the data of every point and seed.

use std::collections::BTreeMap;
use std::path::Path;

use miette::{IntoDiagnostic, Result};
use serde_json::{Map, Value, json};
use tidemark_study::statistics::{Estimate, quantile};
use tidemark_study::{Found, Plan, Search, Study, Summary, Table};

const PAGE: &str = include_str!("page.html");
const PLACEHOLDER: &str = "/*STUDY_DATA*/";

/// Gives the page of a study.
///
/// # Errors
/// Figures that can't be written as JSON.
pub(super) fn page(study: &Study, plan: &Plan, table: &Table, found: &[Found]) -> Result<String> {
    let summaries = table.summaries();
    let most = summaries.iter().map(|summary| summary.seeds.len()).max().unwrap_or(0);
    let assignments: BTreeMap<_, _> = plan.runs(study).map(|run| (run.key, run.assignments)).collect();
    let point = |of: &Summary| {
        // The last one is the seed.
        let set = of.keys.first().and_then(|key| assignments.get(key)?.split_last()).map(|(_, set)| set);
        json!({ "values": of.values, "flow": of.flow, "seeds": of.seeds, "keys": of.keys, "set": set, "metrics": of.metrics })
    };
    let points: Vec<_> = summaries.iter().map(point).collect();
    let metrics: Vec<_> = table.metrics.iter().map(|of| json!({ "name": of.name(), "unit": of.unit() })).collect();
    let found: Vec<_> = found
        .iter()
        .map(|of| json!({ "point": of.point.label(), "value": of.value, "is_limit": of.is_limit }))
        .collect();
    let data = json!({
        "name": study.name,
        "description": study.description,
        "version": tidemark_study::VERSION,
        "commit": study.program.commit,
        "columns": table.columns,
        "by_flow": table.by_flow,
        "metrics": metrics,
        "points": points,
        "search": study.search.as_ref().map(search),
        "found": found,
        // Standard errors in the half-width of an interval, by the number of values.
        "quantiles": (0..=most).map(|count| (count > 1).then(|| quantile((count - 1) as f64))).collect::<Vec<_>>(),
        "scenario": study.base.text,
        // A scenario from the standard input, or one that the command made, can't be named to it.
        "file": Path::new(&study.base.file).exists().then_some(&study.base.file),
    });
    let data = serde_json::to_string(&data).into_diagnostic()?;
    // In JSON, `<` occurs only inside strings, where an escape means the same and can't end the script element.
    Ok(PAGE.replacen(PLACEHOLDER, &data.replace('<', "\\u003c"), 1))
}

/// A search, with the metric and the bound of its condition.
fn search(Search { key, condition, .. }: &Search) -> Value {
    let metric = condition.metric.name();
    json!({ "key": key, "condition": condition.to_string(), "metric": metric, "bound": condition.value })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_study_has_one_place_for_the_data() {
        assert_eq!(PAGE.matches(PLACEHOLDER).count(), 1);
    }
}
