//! The marker's packet path: the bytes say what happens at a few UEs, in any order.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/marker/tests/common/anything/mod.rs"]
mod anything;
#[path = "../../crates/marker/tests/common/bytes.rs"]
mod bytes;

fuzz_target!(|data: &[u8]| {
    anything::run(data);
});
