//! Tables of a study on the terminal.

use tidemark_study::statistics::Estimate;
use tidemark_study::{Found, Study, Summary, Table};

use crate::table::{WORST, worst};
use tidemark_terminal::say;
use tidemark_terminal::sheet::Sheet;
use tidemark_terminal::table::text;

/// Rows of a table; if there are more, those with the longest delays are shown.
const MAX_ROWS: usize = 48;

/// Prints the means of every point with their intervals.
pub(super) fn print(of: &Table) {
    let summaries = of.summaries();
    say!("{}", sheet(of, &summaries).draw());
    if summaries.len() > MAX_ROWS {
        say!("(the {WORST} of {} rows with the longest delays; the table and the page have all)", summaries.len());
    }
    if summaries.iter().any(|summary| summary.seeds.len() < 2) {
        say!("One seed does not show the spread: --seeds 10 gives intervals.");
    } else if !summaries.is_empty() {
        say!(
            "Means over seeds, ± half-width of their 95 % confidence intervals. Differences are more certain than they look: a seed has the same radio and traffic at all points."
        );
    }
}

/// Prints which intervals are wider than the study asks for, and the results of its search.
pub(super) fn conclude(study: &Study, of: &Table, found: &[Found]) {
    if let Some(widening) = &study.widening {
        let summaries = of.summaries();
        let metric = of.metrics.iter().position(|metric| *metric == widening.metric);
        let is_wide = |summary: &&Summary| {
            let estimate = metric.and_then(|metric| summary.estimate(metric));
            estimate.is_some_and(|estimate| estimate.relative().is_none_or(|relative| relative > widening.within))
        };
        let wide = summaries.iter().filter(is_wide).count();
        if wide > 0 {
            // 0.07 times 100 is not exactly 7.
            let (share, most) = ((widening.within * 1e8).round() / 1e6, widening.max_seeds);
            say!(
                "{wide} of {} rows have an interval wider than {share} % of their mean with {most} seeds: raise --max-seeds or the share of --until-ci.",
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
                (Some(value), false) => say!("{at}{} = {value} is the largest that meets {condition}", search.key),
                (Some(value), true) => {
                    say!("{at}{condition} holds up to {} = {value}, the largest value tried: raise --max", search.key)
                }
                (None, _) => say!("{at}not even {} = 1 meets {condition}", search.key),
            }
        }
    }
}

/// A row for each point or, if there are too many, for those with the longest delays by the study's first delay metric.
fn sheet(of: &Table, summaries: &[Summary]) -> Sheet {
    let mut keys: Vec<String> = of.columns.clone();
    keys.extend(of.by_flow.then(|| "flow".into()));
    keys.push("seeds".into());
    let headings: Vec<_> = keys.iter().cloned().chain(of.metrics.iter().map(|metric| heading(metric.name()))).collect();
    let mut sheet = Sheet::new(&headings, keys.len(), &[]);
    let delay = of.metrics.iter().position(|metric| metric.unit() == Some("ms"));
    let longest = |summary: &&Summary| delay.and_then(|delay| summary.estimate(delay)).map_or(0.0, |of| of.mean);
    for summary in worst(summaries.iter().collect(), MAX_ROWS, longest) {
        let mut cells: Vec<String> = summary.values.iter().map(|value| value.clone().unwrap_or_default()).collect();
        cells.extend(of.by_flow.then(|| summary.flow.clone().unwrap_or_default()));
        cells.push(summary.seeds.len().to_string());
        cells.extend((0..of.metrics.len()).map(|metric| summary.estimate(metric).map_or("–".into(), figure)));
        sheet.add_row(cells.iter().map(|cell| text(cell)));
    }
    sheet
}

/// Heading of a metric: `queue_ms.p50` and `queue_ms.p99` form a group, which names its unit once.
fn heading(metric: &str) -> String {
    let is_statistic = |part: &str| part == "mean" || part.strip_prefix('p').is_some_and(|n| n.parse::<u32>().is_ok());
    match metric.rsplit_once('.') {
        Some((of, part)) if is_statistic(part) => format!("{of}: {part}"),
        _ => metric.into(),
    }
}

/// Mean and half-width of its interval, with as many digits as the interval justifies.
pub(crate) fn figure(estimate: Estimate) -> String {
    let decimals = decimals(estimate.half.filter(|half| *half > 0.0).unwrap_or(estimate.mean.abs() / 100.0));
    match estimate.half {
        Some(half) => format!("{:.decimals$} ± {half:.decimals$}", estimate.mean),
        None => format!("{:.decimals$}", estimate.mean),
    }
}

/// Decimals that show two digits of a number, at most four.
fn decimals(of: f64) -> usize {
    if of > 0.0 && of.is_finite() { (1.0 - of.log10().floor()).clamp(0.0, 4.0) as usize } else { 2 }
}

#[cfg(test)]
mod tests {
    use tidemark_study::Metric;

    use super::*;

    #[test]
    fn a_study_has_the_terminals_width_and_of_many_points_the_worst() {
        let metrics = ["throughput_mbps", "queue_ms.p50", "queue_ms.p99", "marked", "dropped"];
        let metrics = metrics.map(|name| Metric::parse(name).unwrap());
        let keys = ["marker.law", "cell.bandwidth", "flow.0.round_trip"].map(String::from);
        let table = Table { columns: keys.into(), metrics: metrics.into(), by_flow: true, rows: Vec::new() };
        let point = |at: u32| Summary {
            values: vec![Some("l4span".into()), Some("20 MHz".into()), Some(format!("{at} ms"))],
            flow: Some("download".into()),
            seeds: vec![1, 2],
            keys: vec!["first".into(), "second".into()],
            metrics: vec![vec![Some(f64::from(at)), Some(f64::from(at) + 0.1)]; 5],
        };
        let drawn = |points: u32| {
            let summaries: Vec<_> = (100..100 + points).map(point).collect();
            sheet(&table, &summaries)
        };
        let wide = drawn(2).within(None);
        assert!(wide.contains("queue_ms: p50") && !wide.contains("queue_ms: p99"), "{wide}");
        let narrow = drawn(2).within(Some(80));
        assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
        assert!(narrow.contains("queue_ms: p99") && narrow.contains("dropped"), "{narrow}");
        let many = drawn(60).within(None);
        assert!(many.contains("159 ms") && many.contains("155 ms") && !many.contains("154 ms"), "{many}");
    }

    #[test]
    fn a_figure_has_the_digits_that_its_interval_leaves() {
        let figure = |mean, half| figure(Estimate { mean, half, count: 5 });
        assert_eq!(figure(21.0779, Some(0.784)), "21.08 ± 0.78");
        assert_eq!(figure(12_345.6, Some(1234.0)), "12346 ± 1234");
        assert_eq!(figure(0.5, Some(0.0)), "0.5000 ± 0.0000");
        assert_eq!(figure(2.71949, None), "2.719");
    }
}
