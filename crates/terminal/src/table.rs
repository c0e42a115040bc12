//! Tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// Lines above and below the headings, and none between rows.
const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// Makes an empty table with these headings.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled).set_header(header);
    table
}

/// Makes a cell of a text, left-aligned.
pub fn text(text: &str) -> Cell {
    Cell::new(text)
}

/// A number, or a dash where it could not be measured.
pub fn number(value: Option<f64>, decimals: usize) -> Cell {
    Cell::new(value.map_or("–".into(), |value| format!("{value:.decimals$}"))).set_alignment(CellAlignment::Right)
}
