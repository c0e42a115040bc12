//! Rows of a series: one for each subject and interval, with the columns that the series declares.

use std::io::{self, Write};

use crate::fields::{Column, Declared as _, Field, Fields, Struct};
use crate::result::Series;

use super::quoted;

/// Numbers and names of the subjects that have rows.
pub(super) type Subjects<'a> = Vec<(usize, &'a str)>;

/// Columns of the series whose subjects are called `noun`.
pub(super) fn columns(of: &Struct, noun: &str) -> Vec<Column> {
    let name = Column::of_text(noun, &format!("Name of the {noun}."));
    let time = end().csv_column("t_s".into());
    [time, name].into_iter().chain(of.csv_columns(noun)).collect()
}

/// Ends of the intervals.
fn end() -> &'static Field {
    &Series::STRUCT.fields[0]
}

/// Writes the rows, subject by subject. Each field of `series` has its numbers by subject, then by interval; a subject without values in a field has none
/// of its intervals.
pub(super) fn write(
    out: &mut impl Write,
    of: &Struct,
    times: &[f64],
    series: &dyn Fields,
    subjects: &Subjects<'_>,
) -> io::Result<()> {
    let fields = of.fields.iter().enumerate().filter(|(_, field)| field.is_in_csv());
    let fields: Vec<_> = fields.map(|(index, field)| (field, series.field(index))).collect();
    let mut text = String::new();
    for (subject, name) in subjects {
        let name = quoted(name);
        for (step, t) in times.iter().enumerate() {
            end().write_number(*t, &mut text);
            text.push(',');
            text.push_str(&name);
            for (field, values) in &fields {
                text.push(',');
                if let Some(number) = values.number(&[*subject, step]) {
                    field.write_number(number, &mut text);
                }
            }
            text.push('\n');
        }
        out.write_all(text.as_bytes())?;
        text.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::FlowSeries;

    #[test]
    fn rows_of_a_subject_follow_each_other_and_what_is_missing_is_empty() {
        let series = FlowSeries {
            throughput_mbps: vec![vec![1.0, 2.0], vec![3.0, 4.5]],
            rtt_ms: vec![vec![None, Some(7.0)], vec![None, None]],
            marks: vec![vec![0, 1], vec![2, 3]],
            cwnd_kb: vec![vec![None, None], vec![None, None]],
            alpha: vec![vec![], vec![Some(0.25), None]],
            ..FlowSeries::default()
        };
        let mut text = Vec::new();
        write(&mut text, &FlowSeries::STRUCT, &[0.1, 1.0], &series, &vec![(0, "a"), (1, "b")]).unwrap();
        let rows: Vec<_> = str::from_utf8(&text).unwrap().lines().collect();
        assert_eq!(
            rows,
            [
                "0.100000,a,1.000000,,0,,,,,",
                "1.000000,a,2.000000,7.000,1,,,,,",
                "0.100000,b,3.000000,,2,,,,0.250000,",
                "1.000000,b,4.500000,,3,,,,,",
            ]
        );
    }
}
