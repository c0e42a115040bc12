//! Page of a study: one HTML file, with every point and seed inside.

use miette::{IntoDiagnostic, Result};
use serde_json::json;
use tidemark_study::statistics::quantile;
use tidemark_study::{Found, Study, Table};

const PAGE: &str = include_str!("page.html");
const PLACEHOLDER: &str = "/*STUDY_DATA*/";

/// Gives the page of a study.
///
/// # Errors
/// Figures that can't be written as JSON.
pub(super) fn page(study: &Study, table: &Table, found: &[Found]) -> Result<String> {
    let summaries = table.summaries();
    let most = summaries.iter().map(|summary| summary.seeds.len()).max().unwrap_or(0);
    let points: Vec<_> = summaries
        .iter()
        .map(|of| json!({ "values": of.values, "flow": of.flow, "seeds": of.seeds, "metrics": of.metrics }))
        .collect();
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
        "search": study.search.as_ref().map(|search| json!({ "key": search.key, "condition": search.condition.to_string() })),
        "found": found,
        // Standard errors in half of an interval, by the number of values.
        "quantiles": (0..=most).map(|count| (count > 1).then(|| quantile((count - 1) as f64))).collect::<Vec<_>>(),
        "scenario": study.base.text,
    });
    let data = serde_json::to_string(&data).into_diagnostic()?;
    // A `<` inside JSON can only stand in a string, where an escape means the same and can't end the script element.
    Ok(PAGE.replacen(PLACEHOLDER, &data.replace('<', "\\u003c"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_study_has_one_place_for_the_data() {
        assert_eq!(PAGE.matches(PLACEHOLDER).count(), 1);
    }
}
