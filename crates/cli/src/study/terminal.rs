//! Tables of a study on the terminal.

use tidemark_study::statistics::Estimate;
use tidemark_study::{Found, Study, Summary, Table};

use tidemark_terminal::say;
use tidemark_terminal::table::{table, text};

/// Rows of a table; what is beyond is in the file and on the page.
const MAX_ROWS: usize = 48;

/// Prints the means of every point with their intervals, and what a search found.
pub(super) fn print(study: &Study, of: &Table, found: &[Found]) {
    let summaries = of.summaries();
    let mut headings: Vec<String> = of.columns.clone();
    if of.by_flow {
        headings.push("flow".into());
    }
    headings.push("seeds".into());
    headings.extend(of.metrics.iter().map(ToString::to_string));
    let mut shown = table(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for summary in summaries.iter().take(MAX_ROWS) {
        let mut cells: Vec<String> = summary.values.iter().map(|value| value.clone().unwrap_or_default()).collect();
        cells.extend(of.by_flow.then(|| summary.flow.clone().unwrap_or_default()));
        cells.push(summary.seeds.len().to_string());
        cells.extend((0..of.metrics.len()).map(|metric| summary.estimate(metric).map_or("–".into(), figure)));
        shown.add_row(cells.iter().map(|cell| text(cell)));
    }
    say!("{shown}");
    if summaries.len() > MAX_ROWS {
        say!("({} more: see the table and the page)", summaries.len() - MAX_ROWS);
    }
    if summaries.iter().any(|summary| summary.seeds.len() < 2) {
        say!("One seed says nothing of the spread: --seeds 10 gives intervals.");
    } else if !summaries.is_empty() {
        say!(
            "Means over seeds, ± half of their intervals of 95 %. Differences are surer than they look: a seed has the same radio and traffic at all points."
        );
    }
    if let Some(widening) = &study.widening {
        let metric = of.metrics.iter().position(|metric| *metric == widening.metric);
        let is_wide = |summary: &&Summary| {
            let estimate = metric.and_then(|metric| summary.estimate(metric));
            estimate.is_some_and(|estimate| estimate.relative().is_none_or(|relative| relative > widening.within))
        };
        let wide = summaries.iter().filter(is_wide).count();
        if wide > 0 {
            // 7 % is 0.07 times 100, but for a last digit.
            let (share, most) = ((widening.within * 1e8).round() / 1e6, widening.max_seeds);
            say!(
                "{wide} of {} rows have an interval wider than {share} % of their mean with {most} seeds: raise --max-seeds, or take a wider share.",
                summaries.len()
            );
        }
    }
    if let Some(search) = &study.search {
        for found in found {
            let point = found.point.label();
            let at = if point.is_empty() { String::new() } else { format!("{point}: ") };
            let condition = &search.condition;
            match (found.value, found.is_limit) {
                (Some(value), false) => say!("{at}{} = {value} is the largest with {condition}", search.key),
                (Some(value), true) => {
                    say!("{at}{condition} up to {} = {value}, the largest that was tried: raise --max", search.key)
                }
                (None, _) => say!("{at}not even {} = 1 has {condition}", search.key),
            }
        }
    }
}

/// Mean and half of its interval, with the digits that the interval leaves.
pub(crate) fn figure(estimate: Estimate) -> String {
    let decimals = decimals(estimate.half.filter(|half| *half > 0.0).unwrap_or(estimate.mean.abs() / 100.0));
    match estimate.half {
        Some(half) => format!("{:.decimals$} ± {half:.decimals$}", estimate.mean),
        None => format!("{:.decimals$}", estimate.mean),
    }
}

/// Decimals that show two digits of a number, four at most.
fn decimals(of: f64) -> usize {
    if of > 0.0 && of.is_finite() { (1.0 - of.log10().floor()).clamp(0.0, 4.0) as usize } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_digits_that_its_interval_leaves() {
        let figure = |mean, half| figure(Estimate { mean, half, count: 5 });
        assert_eq!(figure(21.0779, Some(0.784)), "21.08 ± 0.78");
        assert_eq!(figure(12_345.6, Some(1234.0)), "12346 ± 1234");
        assert_eq!(figure(0.5, Some(0.0)), "0.5000 ± 0.0000");
        assert_eq!(figure(2.71949, None), "2.719");
    }
}
