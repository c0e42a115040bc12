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
    /// Declaration of the series.
    series: Struct,
    /// Series of a run: by field, then by subject, then by interval.
    values: fn(&RunResult) -> Value,
    /// Numbers and names of the subjects that have rows.
    subjects: fn(&RunResult) -> Vec<(usize, &str)>,
}

/// Kinds, in the order of an interval's rows for each subject.
const KINDS: [Kind; 4] = [
    Kind {
        name: "flow",
        series: FlowSeries::STRUCT,
        values: |run| value(&run.series.flows),
        subjects: |run| run.flows.iter().map(|flow| flow.name.as_str()).enumerate().collect(),
    },
    Kind {
        name: "ue",
        series: UeSeries::STRUCT,
        values: |run| value(&run.series.ues),
        subjects: |run| run.ues.iter().map(|ue| ue.name.as_str()).enumerate().collect(),
    },
    Kind {
        name: "uplink",
        series: UplinkSeries::STRUCT,
        values: |run| value(&run.series.uplinks),
        subjects: |run| {
            let senders = run.ues.iter().enumerate().filter(|(_, ue)| ue.uplink.is_some());
            senders.map(|(index, ue)| (index, ue.name.as_str())).collect()
        },
    },
    Kind {
        name: "router",
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
    // By kind: the field of each column, the values, and the subjects.
    let kinds = KINDS.each_ref().map(|kind| {
        let fields: Vec<_> = columns.iter().map(|column| kind.field(column)).collect();
        (kind.name, fields, (kind.values)(run), (kind.subjects)(run))
    });
    for (step, t) in run.series.t_s.iter().enumerate() {
        // A UE's uplink stands below its downlink.
        let rows = kinds.iter().flat_map(|kind| kind.3.iter().map(move |subject| (kind, subject)));
        for ((kind, fields, values, _), (index, name)) in rows {
            let _ = write!(text, "{t},{kind},{}", quoted(name));
            for field in fields {
                text.push(',');
                if let Some(field) = field {
                    text.push_str(&field.number(&values[field.name][*index][step]));
                }
            }
            text.push('\n');
        }
    }
    text
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
