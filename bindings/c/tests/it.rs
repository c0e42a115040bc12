//! The C interface from outside, in one program: linking costs more than most of the tests.

mod abi;
mod batch;
mod border;
#[cfg(target_os = "linux")]
mod common;
mod cu_up;
mod header;
