//! All integration tests in one program, because linking takes longer than most of the tests.

mod bler;
mod datasets;
