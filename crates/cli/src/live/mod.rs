//! The cell in real time: `tidemark shell`.

mod preset;
mod record;
mod series;
pub mod shell;
