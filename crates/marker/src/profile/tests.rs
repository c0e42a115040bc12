//! Tests of the table with single reports, and with any order of events.

use super::restart::NEW_RUN;
use super::*;
use crate::beyond::MAX_RUNS;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}
fn table(sn_length: SnLength) -> ProfileTable {
    ProfileTable::new(64, sn_length)
}

#[test]
fn a_report_moves_what_it_covers_and_times_it() {
    let mut table = table(SnLength::Bits18);
    for sn in 0..10 {
        table.record(ms(u64::from(sn)), sn, Bytes(100 + u64::from(sn)));
    }
    let progress = table.transmit(ms(20), 3).unwrap();
    assert_eq!(progress, Progress { bytes: 406, packets: 4, sojourn: Some(Duration::from_millis(17)) });
    assert_eq!(table.standing(), Bytes(104 + 105 + 106 + 107 + 108 + 109));
    assert_eq!(table.packets(), 6);
    assert_eq!(table.head_of_line(ms(20)), Some(Duration::from_millis(16)));
    assert_eq!(table.deliver(ms(28), 2), Some(Duration::from_millis(8)));
    assert_eq!(table.anomalies, Anomalies::default());
}

#[test]
fn the_head_moves_on_as_bytes_leave() {
    let mut table = table(SnLength::Bits18);
    for sn in 0..11 {
        table.record(ms(u64::from(sn)), sn, Bytes(1_000));
    }
    assert_eq!(table.head_behind(ms(20), 5_000.0), None, "nothing was reported yet");
    table.transmit(ms(12), 0);
    // SDUs 1 to 10 stand, and came at 1 to 10 ms.
    let age = |left| table.head_behind(ms(20), left).map(|age| age.as_millis());
    assert_eq!([10_000.0, 9_999.0, 5_000.0, 1_000.0].map(age), [Some(19), Some(19), Some(14), Some(10)]);
    assert_eq!(age(0.0), None);
}

#[test]
fn sn_wrap_does_not_freeze_the_table() {
    for sn_length in [SnLength::Bits12, SnLength::Bits18] {
        let mut table = table(sn_length);
        for count in 0..3 * u64::from(sn_length.modulus()) {
            let sn = (count % u64::from(sn_length.modulus())) as u32;
            table.record(ms(count), sn, Bytes(1000));
            if count >= 5 {
                let reported = (count - 5) as u32 % sn_length.modulus();
                assert_eq!(table.transmit(ms(count), reported).unwrap().bytes, 1000);
                assert_eq!(table.standing(), Bytes(5000));
                table.deliver(ms(count), reported).unwrap();
            }
        }
        assert_eq!(table.anomalies, Anomalies::default());
    }
}

#[test]
fn pdcp_drops_do_not_desynchronise_the_table() {
    let mut table = table(SnLength::Bits12);
    table.record(ms(0), 0, Bytes(1000));
    table.record(ms(0), 3, Bytes(1000)); // 1 and 2 never came
    table.record(ms(0), 4, Bytes(500));
    table.discard(ms(5), 4);
    assert_eq!((table.standing(), table.packets()), (Bytes(2000), 2));
    assert_eq!(table.transmit(ms(1), 3).unwrap().bytes, 2000);
    assert_eq!((table.standing(), table.packets()), (Bytes::ZERO, 0));
    table.record(ms(2), 5, Bytes(700));
    assert_eq!(table.transmit(ms(3), 5).unwrap().bytes, 700);
    assert_eq!(table.anomalies.skipped, 2);
}

#[test]
fn what_is_discarded_at_the_front_makes_no_head_of_the_line() {
    let mut table = table(SnLength::Bits12);
    for sn in 0..50 {
        table.record(ms(20 * u64::from(sn)), sn, Bytes(1000));
    }
    assert_eq!(table.head_of_line(ms(1_000)), None, "nothing was reported yet");
    table.transmit(ms(1_000), 0);
    assert_eq!(table.head_of_line(ms(1_000)), Some(Duration::from_millis(980)));
    // An outage: PDCP discards what is older than 100 ms.
    for sn in 1..45 {
        table.discard(ms(1_000), sn);
    }
    assert_eq!(table.head_of_line(ms(1_000)), Some(Duration::from_millis(100)));
    // One in the middle changes nothing.
    table.discard(ms(1_000), 47);
    assert_eq!(table.head_of_line(ms(1_000)), Some(Duration::from_millis(100)));
}

#[test]
fn an_sn_that_was_never_sent_is_counted_and_survived() {
    let mut table = table(SnLength::Bits12);
    assert!(table.transmit(ms(0), 7).is_none());
    assert!(table.deliver(ms(0), 7).is_none());
    table.discard(ms(5), 7);
    assert_eq!(table.anomalies.unknown, 3);
    table.record(ms(0), 100, Bytes(1000));
    for sn in [101, 2000, 4095, u32::MAX, 98] {
        assert!(table.transmit(ms(1), sn).is_none(), "{sn}");
    }
    assert_eq!(table.standing(), Bytes(1000));
    assert_eq!(table.transmit(ms(1), 100).unwrap().bytes, 1000);
}

/// A table with 10 SDUs of 1000 bytes, from 50000 on.
fn ten_queued() -> ProfileTable {
    let mut table = table(SnLength::Bits18);
    (50_000..50_010).for_each(|sn| table.record(ms(0), sn, Bytes(1_000)));
    table
}

#[test]
fn sns_that_go_on_from_one_another_for_long_are_new_numbers() {
    let mut table = ten_queued();
    // Re-establishment: SNs begin again at 0, and nothing is heard of the old ones.
    for sn in 0..u32::from(NEW_RUN) - 1 {
        table.record(ms(2), sn, Bytes(1_000));
        assert_eq!((table.standing(), table.anomalies.restarts), (Bytes(10_000), 0), "{sn}");
    }
    for sn in u32::from(NEW_RUN) - 1..20 {
        table.record(ms(2), sn, Bytes(1_000));
    }
    assert_eq!(table.anomalies.restarts, 1);
    assert_eq!(table.transmit(ms(3), 18).unwrap().bytes, 12_000);
    assert_eq!(table.standing(), Bytes(1_000));
}

#[test]
fn stale_sns_in_a_row_restart_nothing_while_the_old_ones_go_on() {
    // By the next SDU, or by a report of one that was sent.
    for goes_on in [
        |table: &mut ProfileTable, k: u32| table.record(ms(1), 50_010 + k, Bytes(1_000)),
        |table: &mut ProfileTable, k: u32| _ = table.transmit(ms(1), 50_000 + k).unwrap(),
    ] {
        let mut table = ten_queued();
        let mut stale = 20_000;
        for k in 0..10 {
            for _ in 0..NEW_RUN - 1 {
                table.record(ms(1), stale, Bytes(1_000));
                stale += 1;
            }
            goes_on(&mut table, k);
        }
        assert_eq!(table.anomalies.restarts, 0);
        assert_eq!(table.anomalies.repeated, 10 * u64::from(NEW_RUN - 1));
    }
}

#[test]
fn new_numbers_are_believed_on_either_side_of_a_first_sn_of_zero() {
    // Further ahead than any gap, and what is read as behind: both are half of the SNs away at most.
    for first in [100_000, 200_000] {
        let mut table = table(SnLength::Bits18);
        (0..10).for_each(|sn| table.record(ms(0), sn, Bytes(1_000)));
        (first..first + 20).for_each(|sn| table.record(ms(1), sn, Bytes(1_000)));
        assert_eq!(table.anomalies.restarts, 1, "{first}");
        assert_eq!(table.transmit(ms(2), first + 19).map(|progress| progress.packets), Some(21 - u32::from(NEW_RUN)));
    }
}

#[test]
fn an_sdu_of_no_bytes_is_no_queue() {
    let mut table = table(SnLength::Bits12);
    table.record(ms(0), 0, Bytes::ZERO);
    assert_eq!((table.standing(), table.packets()), (Bytes::ZERO, 0));
    // Nor one that fills a hole.
    table.record(ms(1), 3, Bytes(1_000));
    table.record(ms(1), 2, Bytes::ZERO);
    assert_eq!((table.standing(), table.packets()), (Bytes(1_000), 1));
}

#[test]
fn what_is_queued_beyond_the_table_is_counted_in_sum() {
    let mut table = ProfileTable::new(64, SnLength::Bits18);
    for sn in 0..1000 {
        table.record(ms(0), sn, Bytes(if sn % 2 == 0 { 1400 } else { 60 }));
    }
    assert_eq!(table.standing(), Bytes(730_000));
    assert_eq!(table.anomalies.beyond, 936);
    let mut bytes = 0;
    for sn in (0..1000).step_by(100) {
        bytes += table.transmit(ms(1), sn + 99).unwrap().bytes;
        assert_eq!(table.standing(), Bytes(730_000 - bytes));
    }
    assert_eq!(bytes, 730_000);
}

#[test]
fn a_larger_table_keeps_more_sdus_one_by_one() {
    for (capacity, beyond) in [(64, 136), (128, 72), (256, 0)] {
        let mut table = ProfileTable::new(64, SnLength::Bits18);
        table.resize(capacity);
        (0..200).for_each(|sn| table.record(ms(0), sn, Bytes(1_000)));
        assert_eq!(table.anomalies.beyond, beyond, "{capacity}");
    }
}

#[test]
fn transmissions_whose_times_gave_way_are_counted() {
    let mut table = table(SnLength::Bits18);
    for sn in 0..70 {
        table.record(ms(u64::from(sn)), sn, Bytes(1_000));
        table.transmit(ms(u64::from(sn)), sn).unwrap();
    }
    // The ring of a table of 64 SDUs has as many times.
    assert_eq!(table.anomalies.untimed, 6);
}

#[test]
fn the_addresses_are_those_of_the_oldest_size_and_of_the_stamps() {
    let mut table = table(SnLength::Bits18);
    for sn in 0..150 {
        let expected =
            [from_ref(&table.sizes[table.slot(table.head)]).cast(), table.ingress.second(), table.transmitted.next()];
        assert_eq!(table.addresses(), expected);
        table.record(ms(u64::from(sn)), sn, Bytes(1_000));
        if sn % 3 > 0 {
            table.transmit(ms(u64::from(sn)), sn - 1).unwrap();
        }
    }
}

#[test]
fn a_source_that_never_reports_keeps_the_backlog_within_the_sn_window() {
    let mut table = ProfileTable::new(64, SnLength::Bits12);
    for count in 0..20_000u32 {
        table.record(ms(0), count % 4096, Bytes(100));
    }
    assert!(table.packets() <= 2048);
    assert_eq!(table.standing(), Bytes(100 * u64::from(table.packets())));
}

#[test]
fn half_of_the_sns_may_be_queued_and_the_oldest_gives_way_to_the_next() {
    for capacity in [64, 4_096] {
        let mut table = ProfileTable::new(capacity, SnLength::Bits12);
        (0..2_048).for_each(|sn| table.record(ms(0), sn, Bytes(100)));
        assert_eq!((table.standing(), table.packets(), table.is_queued(0)), (Bytes(204_800), 2_048, true));
        table.record(ms(0), 2_048, Bytes(100));
        assert_eq!((table.standing(), table.packets(), table.is_queued(0)), (Bytes(204_800), 2_048, false));
        // Without an SDU in the oldest SN none is lost.
        table.discard(ms(0), 1);
        table.record(ms(0), 2_049, Bytes(100));
        assert_eq!((table.standing(), table.packets(), table.is_queued(1)), (Bytes(204_800), 2_048, false));
    }
}

#[test]
fn what_was_discarded_stays_so_while_the_oldest_give_way() {
    let mut table = ProfileTable::new(64, SnLength::Bits12);
    (0..1_500).for_each(|sn| table.record(ms(0), sn, Bytes(100)));
    (1_000..1_200).for_each(|sn| table.discard(ms(0), sn));
    (1_500..2_100).for_each(|sn| table.record(ms(0), sn, Bytes(100)));
    assert_eq!(table.transmit(ms(1), 1_299).map(|progress| progress.packets), Some(1_000 - 52 + 100));
    assert_eq!((table.standing(), table.packets()), (Bytes(80_000), 800));
}

#[test]
fn reports_count_again_after_more_than_half_of_the_sns_without_one() {
    for capacity in [64, 4_096] {
        let mut table = ProfileTable::new(capacity, SnLength::Bits12);
        (0..10_000u32).for_each(|count| table.record(ms(0), count % 4_096, Bytes(100)));
        assert_eq!(table.transmit(ms(1), 9_899 % 4_096).map(|progress| progress.packets), Some(1_948));
        assert_eq!((table.standing(), table.packets()), (Bytes(10_000), 100), "{capacity}");
        assert_eq!(table.transmit(ms(1), 9_999 % 4_096).map(|progress| progress.bytes), Some(10_000));
    }
}

#[test]
fn an_sdu_beyond_the_table_that_is_handed_over_twice_counts_once() {
    let mut table = ProfileTable::new(64, SnLength::Bits18);
    (0..300).for_each(|sn| table.record(ms(0), sn, Bytes(1_000)));
    // Holes in the table take none of them.
    (0..64).for_each(|sn| table.discard(ms(0), sn));
    (64..300).for_each(|sn| table.record(ms(1), sn, Bytes(1_000)));
    assert_eq!((table.standing(), table.packets()), (Bytes(236_000), 236));
}

#[test]
fn a_queue_has_packets_for_as_long_as_it_has_bytes() {
    // More holes beyond the table than runs are kept: some count as SDUs there.
    let mut table = ProfileTable::new(64, SnLength::Bits18);
    let last = 64 + 4 * MAX_RUNS as u32;
    (0..64).chain((64..=last).step_by(2)).for_each(|sn| table.record(ms(0), sn, Bytes(1_000)));
    for sn in 0..=last {
        table.transmit(ms(1), sn).unwrap();
        assert_eq!(table.standing() > Bytes::ZERO, table.packets() > 0, "{sn}: {:?}", table.standing());
    }
    assert_eq!(table.standing(), Bytes::ZERO);
}

/// The table's contents, exact: the size of each SDU from the oldest on, and nothing for an SN without one.
#[derive(Default)]
struct Model {
    next: u32,
    sizes: alloc::collections::VecDeque<Option<u64>>,
}

impl Model {
    fn record(&mut self, size: u64) {
        self.sizes.push_back(Some(size));
        self.next += 1;
    }
    fn skip(&mut self) {
        self.sizes.push_back(None);
        self.next += 1;
    }
    fn first(&self) -> u32 {
        self.next - self.sizes.len() as u32
    }
    /// The queue in bytes and SDUs.
    fn standing(&self) -> (Bytes, u32) {
        (Bytes(self.sizes.iter().flatten().sum()), self.sizes.iter().flatten().count() as u32)
    }
}

#[test]
fn discards_beyond_the_table_leave_no_bytes_behind() {
    let mut table = ProfileTable::new(64, SnLength::Bits18);
    for sn in 0..1_000 {
        table.record(ms(0), sn, Bytes(1_000));
    }
    // An outage: PDCP discards what is older, far into what is counted in sum.
    for sn in 0..700 {
        table.discard(ms(1_000), sn);
    }
    assert_eq!((table.standing(), table.packets()), (Bytes(300_000), 300));
    // The DU goes on with the first that is left.
    assert_eq!(table.transmit(ms(1_001), 700).map(|progress| (progress.bytes, progress.packets)), Some((1_000, 1)));
    assert_eq!((table.standing(), table.packets()), (Bytes(299_000), 299));
    assert_eq!(table.anomalies.unknown, 0);
}

#[test]
fn a_repeated_discard_beyond_the_table_takes_nothing_more() {
    let mut table = ProfileTable::new(64, SnLength::Bits18);
    for sn in 0..1_000 {
        table.record(ms(0), sn, Bytes(1_000));
    }
    for _ in 0..3 {
        table.discard(ms(1), 500);
        assert_eq!((table.standing(), table.packets()), (Bytes(999_000), 999));
    }
    assert_eq!(table.anomalies.unknown, 2);
}

#[test]
fn the_head_of_the_line_lies_behind_what_was_discarded_beyond_the_table() {
    let mut table = ProfileTable::new(64, SnLength::Bits18);
    for sn in 0..1_000 {
        // As few times as the table has room for.
        table.record(ms(u64::from(sn / 100 * 100)), sn, Bytes(1_000));
    }
    table.transmit(ms(1_000), 0);
    for sn in 1..900 {
        table.discard(ms(1_000), sn);
    }
    assert_eq!(table.head_of_line(ms(1_000)), Some(Duration::from_millis(100)));
}

#[test]
fn each_sdu_is_the_head_of_the_line_once_those_before_it_are_discarded() {
    let mut table = ProfileTable::new(64, SnLength::Bits18);
    let came = |sn: u32| ms(u64::from(sn / 20 * 20));
    (0..1_000).for_each(|sn| table.record(came(sn), sn, Bytes(1_000)));
    table.transmit(ms(1_000), 0);
    for sn in 1..999 {
        table.discard(ms(1_000), sn);
        assert_eq!(table.head_of_line(ms(1_000)), Some(ms(1_000).since(came(sn + 1))), "{sn}");
    }
}

#[test]
fn scattered_discards_beyond_the_table_keep_the_sum() {
    let mut table = ProfileTable::new(64, SnLength::Bits18);
    for sn in 0..1_000 {
        table.record(ms(0), sn, Bytes(1_000));
    }
    for sn in (64..1_000).step_by(2) {
        table.discard(ms(1), sn);
    }
    assert_eq!((table.standing(), table.packets()), (Bytes(532_000), 532));
    let mut bytes = 0;
    for sn in (99..1_000).step_by(100) {
        bytes += table.transmit(ms(2), sn).unwrap().bytes;
        assert_eq!(table.standing(), Bytes(532_000 - bytes));
    }
    assert_eq!((bytes, table.packets()), (532_000, 0));
}

proptest::proptest! {
    #[test]
    fn any_order_of_events_is_survived_with_the_counters_in_order(
        events in proptest::collection::vec((0u8..4, 0u32..5000, 1u64..70_000), 0..400),
    ) {
        let mut table = ProfileTable::new(64, SnLength::Bits12);
        let mut now = 0;
        for (kind, sn, size) in events {
            now += size % 7;
            match kind {
                0 => table.record(ms(now), sn, Bytes(size)),
                1 => table.discard(ms(now), sn),
                2 => { table.transmit(ms(now), sn); }
                _ => { table.deliver(ms(now), sn); }
            }
            let recorded: u64 = (table.head..table.next)
                .take(64)
                .map(|count| u64::from(table.sizes[table.slot(count)]))
                .sum();
            proptest::prop_assert_eq!(recorded + table.beyond.bytes(), table.standing);
        }
    }

    #[test]
    fn stale_sns_and_reports_in_any_order_leave_the_queue_as_it_is(
        steps in proptest::collection::vec((0u32..5_000, 0..u32::from(NEW_RUN), 0u32..12), 1..300),
    ) {
        let mut table = ProfileTable::new(64, SnLength::Bits18);
        // So far on that there are SNs behind it.
        let (first, mut next) = (60_000u32, 60_000);
        let mut head = first;
        for (behind, stale, back) in steps {
            table.record(ms(0), next, Bytes(1_000));
            next += 1;
            // Some in a row that left long ago, as if a late thread announced them.
            (0..stale).for_each(|k| table.record(ms(0), first - 10_000 + behind + k, Bytes(1_000)));
            // Reports of the last few overtake each other.
            let reported = next.saturating_sub(1 + back).max(first);
            table.transmit(ms(0), reported);
            head = head.max(reported + 1);
            proptest::prop_assert_eq!(table.standing(), Bytes(1_000 * u64::from(next - head)));
        }
        proptest::prop_assert_eq!(table.anomalies.restarts, 0);
    }

    #[test]
    fn discards_and_skipped_sns_are_exact_for_sdus_of_one_size(
        // As many runs as are kept, and no more.
        events in proptest::collection::vec((0u8..4, 0u32..1_000, 1u32..300), 0..MAX_RUNS),
        resized in 0..MAX_RUNS,
    ) {
        let (mut table, mut model) = (ProfileTable::new(64, SnLength::Bits18), Model::default());
        let now = ms(0);
        for (index, (kind, offset, len)) in events.into_iter().enumerate() {
            match kind {
                0 | 1 => {
                    // PDCP skips a few, now and then.
                    (0..if kind == 0 && table.started { offset % 40 } else { 0 }).for_each(|_| model.skip());
                    for _ in 0..len {
                        table.record(now, model.next, Bytes(1_000));
                        model.record(1_000);
                    }
                }
                2 => for at in offset..offset + len {
                    // Some of them once more.
                    let Some(size) = model.sizes.get_mut(at as usize) else { break };
                    *size = None;
                    let sn = model.first() + at;
                    (0..1 + at % 2).for_each(|_| table.discard(now, sn));
                },
                _ => {
                    let count = len.min(model.sizes.len() as u32);
                    let gone: alloc::vec::Vec<_> = model.sizes.drain(..count as usize).flatten().collect();
                    if count > 0 {
                        let progress = table.transmit(now, model.first() - 1).unwrap();
                        proptest::prop_assert_eq!(progress.bytes, gone.iter().sum::<u64>());
                        proptest::prop_assert_eq!(progress.packets as usize, gone.len());
                    }
                }
            }
            if index == resized {
                table.resize(256);
            }
            proptest::prop_assert_eq!((table.standing(), table.packets()), model.standing());
        }
    }
}
