//! `series.csv`: a row for each interval and flow, UE, uplink or router, with the columns that their series declare.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::fields::{Declared, Field, Struct};
use crate::output::quoted;
use crate::result::{FlowSeries, RouterSeries, RunResult, UeSeries, UplinkSeries};

/// Kind of rows.
struct Kind {
    /// Value of the column `kind`.
    name: &'static str,
    /// Order among an interval's rows. Kinds of one order take turns, subject by subject.
    order: u8,
    /// Declaration of the series.
    series: Struct,
    /// Series of a run: by field, then by subject, then by interval.
    values: fn(&RunResult) -> Value,
    /// Numbers and names of the subjects that have rows.
    subjects: fn(&RunResult) -> Vec<(usize, &str)>,
}

/// Kinds; below the row of a UE's downlink is that of its uplink.
const KINDS: [Kind; 4] = [
    Kind {
        name: "flow",
        order: 0,
        series: FlowSeries::STRUCT,
        values: |run| value(&run.series.flows),
        subjects: |run| run.flows.iter().map(|flow| flow.name.as_str()).enumerate().collect(),
    },
    Kind {
        name: "ue",
        order: 1,
        series: UeSeries::STRUCT,
        values: |run| value(&run.series.ues),
        subjects: |run| run.ues.iter().map(|ue| ue.name.as_str()).enumerate().collect(),
    },
    Kind {
        name: "uplink",
        order: 1,
        series: UplinkSeries::STRUCT,
        values: |run| value(&run.series.uplinks),
        subjects: |run| {
            let senders = run.ues.iter().enumerate().filter(|(_, ue)| ue.uplink.is_some());
            senders.map(|(index, ue)| (index, ue.name.as_str())).collect()
        },
    },
    Kind {
        name: "router",
        order: 2,
        series: RouterSeries::STRUCT,
        values: |run| value(&run.series.routers),
        subjects: |run| run.routers.iter().map(|router| router.name.as_str()).enumerate().collect(),
    },
];

fn value(series: &impl Serialize) -> Value {
    serde_json::to_value(series).unwrap_or_default()
}

impl Kind {
    /// Field that fills a column.
    fn field(&self, column: &str) -> Option<&'static Field> {
        self.series.fields.iter().find(|field| field.name == column && field.is_in_csv())
    }
}

/// Columns after those of time, kind and name, in the order in which the kinds declare them.
fn columns() -> Vec<&'static str> {
    let mut columns = Vec::new();
    for field in KINDS.iter().flat_map(|kind| kind.series.fields).filter(|field| field.is_in_csv()) {
        if !columns.contains(&field.name) {
            columns.push(field.name);
        }
    }
    columns
}

/// The file; columns that a kind of row does not have stay empty.
pub(crate) fn write(run: &RunResult) -> String {
    let columns = columns();
    let mut text = format!("t_s,kind,name,{}\n", columns.join(","));
    let values = KINDS.each_ref().map(|kind| (kind.values)(run));
    let rows = KINDS.iter().zip(&values).flat_map(|(kind, values)| {
        let subjects = (kind.subjects)(run).into_iter();
        subjects.map(|(index, name)| Row::new(kind, &columns, values, (index, name)))
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|row| row.order);
    for (step, t) in run.series.t_s.iter().enumerate() {
        for Row { head, cells, .. } in &rows {
            let _ = write!(text, "{t}{head}");
            for cell in cells {
                text.push(',');
                if let Some((field, values)) = cell {
                    field.write_number(&values[step], &mut text);
                }
            }
            text.push('\n');
        }
    }
    text
}

/// Rows of one subject.
struct Row<'a> {
    /// Order among an interval's rows.
    order: (u8, usize),
    /// Kind and name of the subject.
    head: String,
    /// Field and values of each column that the subject has.
    cells: Vec<Option<(&'static Field, &'a [Value])>>,
}

impl<'a> Row<'a> {
    fn new(kind: &Kind, columns: &[&str], values: &'a Value, (index, name): (usize, &str)) -> Self {
        let cell = |column: &&str| {
            let field = kind.field(column)?;
            // A series that nobody looked at has no rows, and a flow that never has a value none of them.
            Some((field, values[field.name].get(index)?.as_array().filter(|values| !values.is_empty())?.as_slice()))
        };
        let head = format!(",{},{}", kind.name, quoted(name));
        Self { order: (kind.order, index), head, cells: columns.iter().map(cell).collect() }
    }
}

/// Table of the columns for the reference.
pub(crate) fn reference() -> String {
    let kinds = KINDS.map(|kind| format!("`{}`", kind.name)).join(", ");
    let mut text = format!(
        "| column | rows | unit | meaning |\n| --- | --- | --- | --- |\n\
         | `t_s` | {kinds} | s | End of the interval. |\n\
         | `kind` | {kinds} |  | Kind of the row: `ue` is a UE's downlink, `uplink` what it sends. |\n\
         | `name` | {kinds} |  | Name of the flow, UE or router. |\n"
    );
    for column in columns() {
        let fields: Vec<_> = KINDS.iter().filter_map(|kind| Some((kind.name, kind.field(column)?))).collect();
        let names: Vec<_> = fields.iter().map(|(kind, _)| format!("`{kind}`")).collect();
        let meanings: Vec<_> = match &fields[..] {
            [(_, field)] => vec![field.meaning()],
            several => several.iter().map(|(kind, field)| format!("`{kind}`: {}", field.meaning())).collect(),
        };
        let unit = fields.first().and_then(|(_, field)| field.unit()).unwrap_or_default();
        let _ = writeln!(text, "| `{column}` | {} | {unit} | {} |", names.join(", "), meanings.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use tidemark_cell::{UeConfig, UeStats, UplinkStats};
    use tidemark_core::{Duration, Instant};

    use super::*;
    use crate::{Counters, Description, Limits, NamedUe, Recorder};

    #[test]
    fn a_ues_uplink_is_below_its_downlink() {
        let ue = |name: &str| NamedUe { name: name.into(), kind: 0, config: UeConfig::default() };
        let ues = ["a", "b"].map(ue);
        let uplink = UplinkStats { blocks: 1, mcs_sum: 12, ..UplinkStats::default() };
        let end = Counters {
            at: Instant::from_millis(1_000),
            ues: vec![UeStats { uplink, ..UeStats::default() }; 2],
            uplink_resources: 10,
            ..Counters::default()
        };
        let mut recorder = Recorder::new(Duration::ZERO, &ues, 0, Limits::SCENARIO);
        recorder.sample(&end, |_| tidemark_senders::Stats::default(), &[]);
        let run = recorder.result(
            &Description {
                name: "t",
                seed: 1,
                duration: Duration::from_secs(1),
                warmup: Duration::ZERO,
                ues: &ues,
                flows: &[],
                network: None,
                serving: &[],
                routers: &[],
                knows_queries: false,
                conservation: String::new(),
                scenario: "",
            },
            &end,
        );
        let text = write(&run);
        let rows: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(
            rows,
            [
                "1,ue,a,0.000000,,,,,,,,,,,,",
                "1,uplink,a,0.000000,,,,,,,,,12.000,,0.000,",
                "1,ue,b,0.000000,,,,,,,,,,,,",
                "1,uplink,b,0.000000,,,,,,,,,12.000,,0.000,",
            ]
        );
    }
}
