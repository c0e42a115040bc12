//! Table of a front: a row for each setting and its senders, a column for each law, and one for the oracle.

use std::fmt::Write as _;

use tidemark_study::statistics::Estimate;
use tidemark_study::{Summary, Table};

use super::ORACLE;

/// Columns that make a setting: name in the study and heading in the table.
const SETTING: [(&str, &str); 3] = [("channel", "channel"), ("ues", "UEs"), ("round_trip", "round trip")];

/// Gives the table as Markdown; cells read *Mbit/s at mean / 99th percentile of the queue in ms*.
pub(super) fn markdown(table: &Table) -> String {
    let summaries = table.summaries();
    let column = |name: &str| table.columns.iter().position(|column| column == name);
    let value = |of: &Summary, name: &str| column(name).and_then(|index| of.values[index].clone()).unwrap_or_default();
    let setting = |of: &Summary| SETTING.map(|(name, _)| value(of, name));
    let is_oracle = |of: &&Summary| value(of, "senders") == ORACLE;
    let distinct = |texts: Vec<String>| {
        let mut kept: Vec<String> = Vec::new();
        texts.into_iter().for_each(|text| _ = (!kept.contains(&text)).then(|| kept.push(text)));
        kept
    };
    let others = || summaries.iter().filter(|of| !is_oracle(of));
    let laws = distinct(others().map(|of| value(of, "law")).collect());
    let senders = distinct(others().map(|of| value(of, "senders")).collect());
    let mut settings: Vec<[String; 3]> = Vec::new();
    for of in &summaries {
        let of = setting(of);
        if !settings.contains(&of) {
            settings.push(of);
        }
    }
    let mut text = String::from("|");
    for heading in SETTING.iter().map(|(_, shown)| *shown).chain(["senders"]).chain(laws.iter().map(String::as_str)) {
        _ = write!(text, " {heading} |");
    }
    _ = writeln!(text, " {ORACLE} |\n|{}", " --- |".repeat(SETTING.len() + laws.len() + 2));
    for of_setting in &settings {
        let here: Vec<&Summary> = summaries.iter().filter(|of| setting(of) == *of_setting).collect();
        let oracle = here.iter().copied().find(|of| is_oracle(of));
        for names in &senders {
            _ = write!(text, "| {} | {names} |", of_setting.join(" | "));
            for law in &laws {
                let found = here.iter().find(|of| value(of, "law") == *law && value(of, "senders") == *names);
                _ = write!(text, " {} |", found.map_or("–".into(), |of| cell(of)));
            }
            _ = writeln!(text, " {} |", oracle.map_or("–".into(), cell));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Rate and queue of one point, with the half-widths of the rate's and the mean's intervals for several seeds.
fn cell(of: &Summary) -> String {
    let shown = |metric| {
        let Some(Estimate { mean, half, .. }) = of.estimate(metric) else { return "–".into() };
        half.map_or_else(|| format!("{mean:.1}"), |half| format!("{mean:.1} ± {half:.1}"))
    };
    let p99 = of.estimate(2).map_or("–".into(), |p99| format!("{:.0}", p99.mean));
    format!("{} at {} / {p99}", shown(0), shown(1))
}

#[cfg(test)]
mod tests {
    use tidemark_study::{Metric, Row};

    use super::*;

    #[test]
    fn every_setting_has_the_laws_beside_the_oracle() {
        let metrics: Vec<_> = super::super::METRICS.iter().map(|name| Metric::parse(name).unwrap()).collect();
        let row = |law: &str, senders: &str, seed: u64, rate: f64| Row {
            key: String::new(),
            values: [law, "static", "1", senders, "38ms"].map(|value| Some(value.to_string())).into(),
            seed,
            flow: None,
            metrics: [rate, rate / 10.0, rate / 5.0, rate / 6.0].map(Some).into(),
        };
        let rows = vec![
            row("none", "prague", 1, 40.0),
            row("none", "prague", 2, 42.0),
            row("none", "oracle", 1, 39.0),
            row("tide", "prague", 1, 30.0),
        ];
        let columns = ["law", "channel", "ues", "senders", "round_trip"].map(str::to_string).into();
        let text = markdown(&Table { columns, metrics, by_flow: false, rows });
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "| channel | UEs | round trip | senders | none | tide | oracle |");
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(
            lines[2],
            "| static | 1 | 38ms | prague | 41.0 ± 12.7 at 4.1 ± 1.3 / 8 | 30.0 at 3.0 / 6 | 39.0 at 3.9 / 8 |"
        );
    }
}
