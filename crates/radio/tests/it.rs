//! The radio from outside, in one program: linking costs more than most of the tests.

mod bler;
mod datasets;
