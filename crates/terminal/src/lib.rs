//! Parts common to Tidemark's commands: lines, tables, errors, interrupts, and work on all processors.

#![warn(unnameable_types, unreachable_pub)]

pub mod error;
pub mod interrupt;
pub mod parallel;
pub mod print;
pub mod sheet;
pub mod table;
