//! All integration tests in one program, because linking takes longer than most of the tests.

mod abi;
mod batch;
mod border;
#[cfg(target_os = "linux")]
mod common;
mod cu_up;
mod header;
