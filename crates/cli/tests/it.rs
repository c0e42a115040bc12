//! The command from outside, in one program: linking costs more than most of the tests.

mod common;

mod command;
mod docs;
mod endpoints;
mod explain;
mod front;
mod reference;
mod shells;
#[cfg(target_os = "linux")]
mod stream;
mod study;
mod whole;
