//! Tables that follow the terminal's width.

use comfy_table::{Cell, Table};

use crate::table::{table, text};

/// Cell of a value that could not be measured.
const MISSING: &str = "–";

/// A table whose first columns name its rows.
///
/// Columns without any value are left out. A heading `RTT ms: p50` starts the group `RTT ms`, which is shown once; a `p95` after it
/// belongs to the same group.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// Headings with their groups.
    headings: Vec<String>,
    /// Columns that name a row.
    keys: usize,
    rows: Vec<Vec<Cell>>,
    /// Columns that a narrow terminal shows last, by their headings with or without the group.
    last: &'static [&'static str],
}

/// Indices of the columns that are shown.
type Shown = Vec<usize>;

impl Sheet {
    /// Makes an empty table whose first `keys` columns name the rows. A narrow terminal leaves out columns of `last`, in their order.
    pub fn new<T: AsRef<str>>(headings: &[T], keys: usize, last: &'static [&'static str]) -> Self {
        Self { headings: with_groups(headings), keys, rows: Vec::new(), last }
    }

    /// Adds a row, with a cell for each heading.
    pub fn add_row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// True for a table without rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Draws the table as wide as the terminal allows, or in full width to a file.
    pub fn draw(&self) -> String {
        self.within(Table::new().width())
    }

    /// Draws the table no wider than this if possible: leaves out columns of low priority and, if that is not enough, gives each figure
    /// its own line.
    pub fn within(&self, width: Option<u16>) -> String {
        let all = self.with_values();
        let fits = |table: &Table| width.is_none_or(|width| width_of(table) <= usize::from(width));
        let mut shown = all.clone();
        let mut leaving = self.last.iter();
        while !fits(&self.side_by_side(&shown)) {
            let Some(name) = leaving.next() else { break };
            shown.retain(|index| !is_called(&self.headings[*index], name));
        }
        let forms = [self.side_by_side(&shown), self.one_below_the_other(&shown, self.keys)];
        let drawn = forms.into_iter().find(fits).unwrap_or_else(|| self.one_below_the_other(&shown, 0));
        match all.len() - shown.len() {
            0 => drawn.to_string(),
            hidden => format!("{drawn}\n({hidden} more columns in a wider terminal)"),
        }
    }

    fn with_values(&self) -> Shown {
        let has_value =
            |index: &usize| *index < self.keys || self.rows.iter().any(|row| row[*index].content() != MISSING);
        (0..self.headings.len()).filter(has_value).collect()
    }

    fn side_by_side(&self, shown: &[usize]) -> Table {
        let mut table = table(&groups_once(shown.iter().map(|index| &*self.headings[*index])));
        for row in &self.rows {
            table.add_row(shown.iter().map(|index| row[*index].clone()));
        }
        table
    }

    /// Draws each figure on its own line, beside this many columns of names, which are on the row's first line. Other names get lines.
    fn one_below_the_other(&self, shown: &[usize], beside: usize) -> Table {
        let (keys, figures) = shown.split_at(beside);
        let names = keys.iter().map(|index| &*self.headings[*index]);
        let mut table = table(&names.chain(["figure", ""]).collect::<Vec<_>>());
        for (number, row) in self.rows.iter().enumerate() {
            if beside == 0 && number > 0 {
                table.add_row(["", ""]);
            }
            let with_value = figures.iter().filter(|index| row[**index].content() != MISSING);
            for (line, index) in with_value.enumerate() {
                let name = |key: &usize| if line == 0 { row[*key].clone() } else { text("") };
                table.add_row(keys.iter().map(name).chain([text(&self.headings[*index]), row[*index].clone()]));
            }
        }
        table
    }
}

/// Width of a table, by its first line.
fn width_of(table: &Table) -> usize {
    table.to_string().lines().next().map_or(0, |line| line.chars().count())
}

/// True for a heading of this name, or of this name within its group.
fn is_called(heading: &str, name: &str) -> bool {
    heading == name || heading.split_once(": ").is_some_and(|(_, last)| last == name)
}

/// Headings with their group: `RTT ms: p50` for a `p50` after `RTT ms: mean`.
fn with_groups<T: AsRef<str>>(headings: &[T]) -> Vec<String> {
    let mut group = None;
    let named = headings.iter().map(|heading| {
        let heading = heading.as_ref();
        match heading.split_once(": ") {
            Some((of, _)) => group = Some(of),
            None if !is_quantile(heading) => group = None,
            None => {}
        }
        match group {
            Some(of) if !heading.contains(": ") => format!("{of}: {heading}"),
            _ => heading.to_string(),
        }
    });
    named.collect()
}

/// True for percentiles such as `p95` and `p99.9`.
fn is_quantile(heading: &str) -> bool {
    heading.strip_prefix('p').is_some_and(|share| share.parse::<f64>().is_ok())
}

/// Headings that name a group once, at its first column.
fn groups_once<'a>(headings: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut last = None;
    let shown = headings.map(|heading| match heading.split_once(": ") {
        Some((group, name)) if last == Some(group) => name,
        of => {
            last = of.map(|(group, _)| group);
            heading
        }
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(cells: [&str; 6]) -> Sheet {
        let headings = ["flow", "Mbit/s", "one-way ms: p50", "p95", "p99", "marks"];
        let mut sheet = Sheet::new(&headings, 1, &["p99"]);
        sheet.add_row(cells.map(text));
        sheet
    }

    #[test]
    fn a_narrow_terminal_leaves_out_what_is_shown_last() {
        let sheet = sheet(["call", "1.00", "20.0", "30.0", "40.0", "7"]);
        let first = |width| sheet.within(width).lines().nth(1).unwrap_or_default().to_string();
        assert!(first(None).split_whitespace().eq("flow Mbit/s one-way ms: p50 p95 p99 marks".split(' ')));
        assert!(first(Some(50)).split_whitespace().eq("flow Mbit/s one-way ms: p50 p95 marks".split(' ')));
        assert!(sheet.within(Some(50)).ends_with("(1 more columns in a wider terminal)"));
    }

    #[test]
    fn columns_without_a_value_are_left_out() {
        let drawn = sheet(["call", "1.00", "20.0", "–", "–", "–"]).within(None);
        assert!(!drawn.contains("p95") && !drawn.contains("marks"), "{drawn}");
    }

    #[test]
    fn a_row_too_wide_has_a_line_for_each_figure_and_its_name_once() {
        let change = "12.34 → 13.45 (+1.11 ± 0.20)";
        let drawn = sheet(["call", change, change, change, "40.0", "–"]).within(Some(80));
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        assert_eq!(drawn.matches("call").count(), 1, "{drawn}");
        for figure in ["Mbit/s", "one-way ms: p50", "one-way ms: p95"] {
            assert!(drawn.contains(figure), "{drawn}");
        }
    }

    #[test]
    fn names_too_wide_have_lines_as_well() {
        let name = "a name of forty characters, as they come";
        let mut sheet = Sheet::new(&["first", "second", "Mbit/s"], 2, &[]);
        (0..2).for_each(|_| sheet.add_row([name, name, "1.00"].map(text)));
        let drawn = sheet.within(Some(80));
        assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
        assert_eq!(drawn.matches(name).count(), 4, "{drawn}");
    }
}
