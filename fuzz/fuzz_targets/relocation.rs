//! A UE's state from another CU-UP, and packets of a connection that it names.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/marker/tests/common/bytes.rs"]
mod bytes;
#[path = "../../crates/marker/tests/common/state.rs"]
mod state;

fuzz_target!(|data: &[u8]| {
    state::run(data);
});
