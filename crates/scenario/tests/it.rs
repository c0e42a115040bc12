//! Checks and schema of scenarios from outside, in one program.

mod bounds;
mod schema;
