//! CSV files of a run: one for each kind of row, with a row for each subject, or for each subject and interval.
//!
//! [`FILES`] declares them. `columns.csv` gives each column's type, unit and meaning.

mod series;

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::fields::{Column, Declared as _, Fields, Struct};
use crate::result::{
    BearerResult, CellSeries, FlowResult, FlowSeries, Freeze, MarkResult, NetworkCellResult, RouterResult,
    RouterSeries, RouterTdq, RunResult, UeResult, UeSeries, UplinkResult, UplinkSeries,
};
use series::Subjects;

/// Name of the file with marks and their reasons.
pub const MARKS: &str = "marks.csv";
/// Name of the file that describes the columns of all others.
pub const COLUMNS: &str = "columns.csv";

/// CSV file of a run.
#[derive(Debug)]
pub struct File {
    /// Name.
    pub name: &'static str,
    /// Subject of a row; where rows have names, the heading of their column.
    noun: &'static str,
    rows: Rows,
}

/// Rows of a file.
#[derive(Debug)]
enum Rows {
    /// A row for each result.
    Results { columns: fn(&str) -> Vec<Column>, of: fn(&RunResult) -> Vec<Value> },
    /// A row for each subject and interval.
    Series { of: Struct, series: fn(&RunResult) -> &dyn Fields, subjects: fn(&RunResult) -> Subjects<'_> },
    /// A row for each mark, whose text the recorder writes.
    Marks,
}

/// Files of every run. `marks.csv` is missing if no marks were kept; another file has only its heading if a run has no
/// such rows.
pub const FILES: [File; 15] = [
    results("run.csv", "run", |noun| RunResult::STRUCT.csv_columns(noun), |run| values([run])),
    results("flows.csv", "flow", |noun| FlowResult::STRUCT.csv_columns(noun), |run| values(&run.flows)),
    results("bearers.csv", "bearer", |noun| BearerResult::STRUCT.csv_columns(noun), |run| values(&run.bearers)),
    results("ues.csv", "ue", |noun| UeResult::STRUCT.csv_columns(noun), |run| values(&run.ues)),
    results("uplinks.csv", "ue", uplink_columns, |run| values(run.ues.iter().filter(|ue| ue.uplink.is_some()))),
    results("cells.csv", "cell", |noun| NetworkCellResult::STRUCT.csv_columns(noun), cells),
    results("routers.csv", "router", |noun| RouterResult::STRUCT.csv_columns(noun), |run| values(&run.routers)),
    results("tdq.csv", "delay", |noun| RouterTdq::STRUCT.csv_columns(noun), delays),
    results("freezes.csv", "freeze", |noun| Freeze::STRUCT.csv_columns(noun), |run| values(&run.freezes)),
    File { name: MARKS, noun: "mark", rows: Rows::Marks },
    File {
        name: "series-flows.csv",
        noun: "flow",
        rows: Rows::Series {
            of: FlowSeries::STRUCT,
            series: |run| &run.series.flows,
            subjects: |run| run.flows.iter().map(|flow| &*flow.name).enumerate().collect(),
        },
    },
    File {
        name: "series-ues.csv",
        noun: "ue",
        rows: Rows::Series {
            of: UeSeries::STRUCT,
            series: |run| &run.series.ues,
            subjects: |run| run.ues.iter().map(|ue| &*ue.name).enumerate().collect(),
        },
    },
    File {
        name: "series-uplinks.csv",
        noun: "ue",
        rows: Rows::Series {
            of: UplinkSeries::STRUCT,
            series: |run| &run.series.uplinks,
            subjects: |run| {
                let ues = run.ues.iter().enumerate().filter(|(_, ue)| ue.uplink.is_some());
                ues.map(|(index, ue)| (index, &*ue.name)).collect()
            },
        },
    },
    File {
        name: "series-cells.csv",
        noun: "cell",
        rows: Rows::Series {
            of: CellSeries::STRUCT,
            series: |run| &run.series.cells,
            subjects: |run| run.cells.iter().map(|cell| &*cell.name).enumerate().collect(),
        },
    },
    File {
        name: "series-routers.csv",
        noun: "router",
        rows: Rows::Series {
            of: RouterSeries::STRUCT,
            series: |run| &run.series.routers,
            subjects: |run| run.routers.iter().map(|router| &*router.name).enumerate().collect(),
        },
    },
];

const fn results(
    name: &'static str,
    noun: &'static str,
    columns: fn(&str) -> Vec<Column>,
    of: fn(&RunResult) -> Vec<Value>,
) -> File {
    File { name, noun, rows: Rows::Results { columns, of } }
}

fn values<'a, T: serde::Serialize + 'a>(rows: impl IntoIterator<Item = &'a T>) -> Vec<Value> {
    rows.into_iter().map(|row| json!(row)).collect()
}

/// Columns of a UE's uplink, below its name.
fn uplink_columns(noun: &str) -> Vec<Column> {
    let name = UeResult::STRUCT.csv_columns(noun).into_iter().take(1);
    let uplink = UplinkResult::STRUCT.csv_columns(noun).into_iter();
    name.chain(uplink.map(|column| column.within("uplink"))).collect()
}

/// Cells of a network; of a cell without a place, the cell itself.
fn cells(run: &RunResult) -> Vec<Value> {
    if !run.cells.is_empty() || run.ues.is_empty() {
        return values(&run.cells);
    }
    let only = NetworkCellResult {
        name: "1".into(),
        utilisation: run.cell.utilisation,
        throughput_mbps: run.cell.throughput_mbps,
        ues: Some(run.ues.len() as f64),
        handovers: 0,
        satisfied: run.cell.satisfied,
        place: None,
    };
    values(&[only])
}

/// Delays of each router for which its queue was watched.
fn delays(run: &RunResult) -> Vec<Value> {
    let of_router = |router: &RouterResult| {
        let row = |&(older_than_ms, tdq_s): &_| json!(RouterTdq { router: router.name.clone(), older_than_ms, tdq_s });
        router.tdq_s.iter().map(row).collect::<Vec<_>>()
    };
    run.routers.iter().flat_map(of_router).collect()
}

impl File {
    /// File of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        FILES.iter().find(|file| file.name == name)
    }

    /// Columns, in their order.
    pub fn columns(&self) -> Vec<Column> {
        match &self.rows {
            Rows::Results { columns, .. } => columns(self.noun),
            Rows::Series { of, .. } => series::columns(of, self.noun),
            Rows::Marks => MarkResult::STRUCT.csv_columns(self.noun),
        }
    }

    /// False for marks that were not kept.
    pub fn is_written(&self, run: &RunResult) -> bool {
        !matches!(self.rows, Rows::Marks) || run.marks.is_some()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// An error of the writer.
    pub fn write(&self, run: &RunResult, out: &mut impl Write) -> io::Result<()> {
        match &self.rows {
            Rows::Results { of, .. } => out.write_all(self.with_rows(&of(run)).as_bytes()),
            Rows::Series { of, series, subjects } => {
                out.write_all(self.heading().as_bytes())?;
                series::write(out, of, &run.series.t_s, series(run), &subjects(run))
            }
            Rows::Marks => out.write_all(run.marks.as_deref().unwrap_or_default().as_bytes()),
        }
    }

    /// Text of the file; `None` for marks that were not kept.
    pub fn text(&self, run: &RunResult) -> Option<String> {
        let mut text = Vec::new();
        self.is_written(run).then(|| self.write(run, &mut text))?.ok()?;
        String::from_utf8(text).ok()
    }

    fn heading(&self) -> String {
        self.columns().iter().map(|column| column.heading.as_str()).collect::<Vec<_>>().join(",") + "\n"
    }

    fn with_rows(&self, rows: &[Value]) -> String {
        let (columns, mut text) = (self.columns(), self.heading());
        for row in rows {
            let cells = columns.iter().map(|column| {
                let cell = column.csv_text(row).unwrap_or_default();
                if column.is_text { quoted(&cell) } else { cell }
            });
            let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join(","));
        }
        text
    }
}

/// Names and texts of the files of series.
pub fn series(run: &RunResult) -> impl Iterator<Item = (&'static str, String)> {
    let series = FILES.iter().filter(|file| matches!(file.rows, Rows::Series { .. }));
    series.filter_map(|file| Some((file.name, file.text(run)?)))
}

/// File that describes the columns of all others: a row for each.
pub fn columns_csv() -> String {
    let mut text = String::from("file,column,type,unit,meaning\n");
    for file in &FILES {
        for column in file.columns() {
            let Column { heading, unit, .. } = &column;
            let (kind, meaning) = (column.type_name(), quoted(&column.sentence()));
            let _ = writeln!(text, "{},{heading},{kind},{},{meaning}", file.name, unit.unwrap_or_default());
        }
    }
    text
}

/// Part of a page of the reference: the columns of every file. Those of one field stand together.
pub(crate) fn reference() -> String {
    let mut text = String::new();
    for file in &FILES {
        let of = match file.rows {
            Rows::Series { .. } => format!("{} and interval", file.noun),
            _ => file.noun.into(),
        };
        let _ = write!(
            text,
            "\n## `{}`\n\nA row for each {of}. What could not be measured is empty.\n\n\
             | column | type | unit | meaning |\n| --- | --- | --- | --- |\n",
            file.name
        );
        for of_field in file.columns().chunk_by(|one, other| one.meaning == other.meaning) {
            let headings: Vec<_> = of_field.iter().map(|column| format!("`{}`", column.heading)).collect();
            let (kind, unit) = (of_field[0].type_name(), of_field[0].unit.unwrap_or_default());
            let _ = writeln!(text, "| {} | {kind} | {unit} | {} |", headings.join(", "), of_field[0].meaning);
        }
    }
    text
}

/// Text as CSV field (RFC 4180 2).
pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_comma_stays_one_field() {
        assert_eq!(quoted("a"), "a");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn every_column_of_a_file_has_its_own_heading_and_a_meaning() {
        for file in &FILES {
            let columns = file.columns();
            for (index, column) in columns.iter().enumerate() {
                let twin = columns[..index].iter().find(|other| other.heading == column.heading);
                assert!(twin.is_none() && !column.meaning.is_empty(), "{}: {}", file.name, column.heading);
            }
        }
    }

    #[test]
    fn columns_of_nested_results_have_names_and_units_of_the_way_to_them() {
        let described = columns_csv();
        for row in [
            "flows.csv,media_delay_p95_ms,number,ms,",
            "flows.csv,media_frozen_s,number,s,",
            "flows.csv,media_satisfied,boolean,,",
            "flows.csv,transfers_completed,integer,,",
            "flows.csv,queuing_ms,number,ms,",
            "ues.csv,position_east_m,number,m,",
            "ues.csv,cell,text,,",
            "uplinks.csv,queue_p50_ms,number,ms,",
            "run.csv,seed,integer,,",
            "run.csv,cell_uplink_utilisation,number,,",
            "tdq.csv,older_than_ms,number,ms,",
            "series-flows.csv,alpha,number,,",
            "series-flows.csv,t_s,number,s,",
            "bearers.csv,qfi,text,,",
        ] {
            assert!(described.lines().any(|line| line.starts_with(row)), "{row}: {described}");
        }
    }
    /// Numbers of the summary that no file has, and the reason.
    const LEFT_OUT: [(&str, &str); 6] = [
        ("bearers.thresholds", "values of the scenario's law, as many as it has"),
        ("flows.buffer_limited", "a warning says it where it is much"),
        ("flows.gave_way", "what a live session says of a sender, which no run in virtual time has"),
        ("routers.tdq_s", "tdq.csv has a row for each of its pairs"),
        ("events", "notes of when something was done to a cell"),
        ("live", "the state of the machine that ran a live cell, once"),
    ];

    /// Paths of numbers of a struct that are in no column.
    fn numbers_without_column(of: &Struct, way: &str, parent_is_column: bool) -> Vec<String> {
        let fields = of.fields.iter().filter(|field| !field.is_skipped());
        let paths = fields.flat_map(|field| {
            let path = if field.is_flattened() { way.to_string() } else { format!("{way}{}", field.name) };
            if let Some(parts) = field.parts() {
                let way = if field.is_flattened() { path } else { path + "." };
                return numbers_without_column(&parts, &way, field.is_in_csv() && field.unit().is_some());
            }
            let has_column = field.is_in_csv() || parent_is_column;
            if has_column || field.is_text() { Vec::new() } else { vec![path] }
        });
        paths.collect()
    }

    #[test]
    fn every_number_of_the_summary_is_in_a_file_or_left_out_for_a_reason() {
        let is_below = |path: &str, name: &str| {
            path.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let lacking = numbers_without_column(&RunResult::STRUCT, "", false);
        for path in &lacking {
            assert!(LEFT_OUT.iter().any(|(name, _)| is_below(path, name)), "{path} is in no CSV file: {lacking:?}");
        }
        for (name, reason) in LEFT_OUT {
            assert!(lacking.iter().any(|path| is_below(path, name)), "{name} is in a file: not \"{reason}\"");
        }
    }
}
