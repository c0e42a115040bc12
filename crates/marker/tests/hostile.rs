//! The packet path under hostile input: any bytes, any order, any clock. The fuzz target `path` runs the same code.

use crate::anything;
use tidemark_core::Stream;

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: cases(), ..Default::default() })]

    #[test]
    fn no_bytes_in_no_order_do_harm(data in proptest::collection::vec(proptest::num::u8::ANY, 0..3_000)) {
        anything::run(&data);
    }
}

/// A thousand cases; ten times as many where `WHOLE` is set, as `make grids` does.
fn cases() -> u32 {
    if std::env::var_os("WHOLE").is_some() { 10_000 } else { 1_000 }
}

#[test]
fn arbitrary_bytes_come_to_everything_that_is_asserted() {
    let mut bytes = Stream::new(1, 0, "bytes");
    let mut seen = anything::Reached::default();
    for _ in 0..400 {
        let data: Vec<u8> = (0..3_000).map(|_| (bytes.uniform() * 256.0) as u8).collect();
        let reached = anything::run(&data);
        seen.marks += reached.marks;
        seen.drops += reached.drops;
        seen.rewritten += reached.rewritten;
        seen.reports += reached.reports;
        seen.unparsed += reached.unparsed;
        seen.left += reached.left;
        seen.told += reached.told;
        seen.let_go += reached.let_go;
        seen.moved += reached.moved;
    }
    let counts = [
        seen.marks,
        seen.drops,
        seen.rewritten,
        seen.reports,
        seen.unparsed,
        seen.left,
        seen.told,
        seen.let_go,
        seen.moved,
    ];
    assert!(counts.iter().all(|count| *count > 100), "{seen:?}");
}
