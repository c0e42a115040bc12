//! Pages of the reference that are written from what the command prints and what its languages declare.

mod command;
mod fields;
