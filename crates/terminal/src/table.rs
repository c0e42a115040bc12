//! Tables.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};

/// Makes an empty table with these headings.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled).set_header(header);
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
