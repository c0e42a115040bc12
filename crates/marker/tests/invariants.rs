//! Invariants of all laws, for any order of events.

use crate::common::Du;
use allocation_counter::measure;
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::{
    DeliveryStatus, DrbMarker, L4SpanConfig, LawConfig, MarkerConfig, NotEctRule, RlcQueue, SnLength, Verdict,
};

fn laws() -> Vec<LawConfig> {
    let drops = L4SpanConfig { not_ect: NotEctRule::Drop, ..L4SpanConfig::default() };
    LawConfig::all().into_iter().chain([LawConfig::L4span(drops)]).collect()
}

#[test]
fn nothing_is_allocated_after_set_up() {
    for law in laws() {
        let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(law) };
        let mut marker = DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        let allocated = measure(|| {
            for k in 0..50_000u32 {
                let now = Instant::from_nanos(u64::from(k) * 200_000);
                let ecn = [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ce][k as usize % 4];
                let mut packet = Packet { flow: FlowId(k % 1_000), size: Bytes(1_400), ecn, payload: () };
                let rlc = RlcQueue { backlog: Bytes(100_000), packets: 70, head_of_line: Duration::from_millis(200) };
                marker.handle_downlink(now, &packet, Some(rlc));
                marker.handle_pdcp_pdu(now, k & 0x3_FFFF, Bytes(1_403));
                marker.handle_dequeue(now, &packet, Duration::from_millis(u64::from(k % 700)), rlc);
                if k % 25 == 24 {
                    let status = DeliveryStatus {
                        highest_transmitted: Some((k - 20) & 0x3_FFFF),
                        highest_delivered: Some((k - 24) & 0x3_FFFF),
                        highest_retransmitted: Some((k - 22) & 0x3_FFFF),
                        highest_delivered_retransmitted: Some((k - 23) & 0x3_FFFF),
                        desired_buffer_size: None,
                    };
                    marker.handle_report(now, &status);
                }
                marker.handle_uplink(now, &mut packet);
                std::hint::black_box((marker.estimate(now), marker.counters()));
            }
        });
        assert_eq!(allocated.count_total, 0, "{law:?}");
    }
}

#[test]
fn a_drb_with_its_full_table_stays_within_64_kib() {
    for law in laws() {
        let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(law) };
        let mut marker = None;
        let tables = measure(|| {
            marker = DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "mark")).ok();
        });
        let bytes = tables.bytes_total + std::mem::size_of::<DrbMarker>() as u64;
        println!("{law:?}: {bytes} bytes");
        assert!(bytes <= 64 * 1024, "{law:?}: {bytes} bytes");
    }
}

#[test]
fn an_overloaded_queue_gets_a_signal_from_every_law_but_none() {
    for law in laws() {
        let mut du = Du::new(&MarkerConfig::with_law(law), SnLength::Bits18, Duration::from_millis(5));
        for _ in 0..4_000 {
            while du.backlog() < 1_000_000 {
                if du.send(0, Ecn::Ect1, 1_500) == Verdict::Drop {
                    break;
                }
            }
            du.slot(2_500.0);
        }
        let signals = du.marks + du.drops;
        assert_eq!(signals > 10, law != LawConfig::None {}, "{law:?}: {signals}");
    }
}

#[test]
fn every_law_goes_on_after_the_clock_stepped_back() {
    for law in laws() {
        let mut du = Du::new(&MarkerConfig::with_law(law), SnLength::Bits18, Duration::from_millis(5));
        let signals = [Instant::from_millis(3_600_000), Instant::ZERO].map(|clock| {
            let before = du.marks + du.drops;
            du.set_clock(clock);
            for _ in 0..6_000 {
                for _ in 0..700 {
                    if du.backlog() >= 1_000_000 {
                        break;
                    }
                    du.send(0, Ecn::Ect1, 1_500);
                }
                du.slot(2_500.0);
            }
            du.marks + du.drops - before
        });
        let alike = signals.iter().all(|signals| (*signals > 10) == (law != LawConfig::None {}));
        assert!(alike, "{law:?}: {signals:?}");
    }
}

/// One event: its kind, a number to make things of, and by how much the clock moves, backwards too.
type Event = (u8, u32, i64);

fn run(law: LawConfig, sn_length: SnLength, events: &[Event]) {
    let config = MarkerConfig { short_circuit: true, profile_capacity: 64, ..MarkerConfig::with_law(law) };
    let mut marker = DrbMarker::new(&config, sn_length, Stream::new(1, 0, "mark")).unwrap();
    let mut nanos = 1_000_000_000i64;
    for (kind, number, step) in events {
        nanos = (nanos + step).max(0);
        let now = Instant::from_nanos(nanos as u64);
        let mut packet = Packet {
            flow: FlowId(number % 20),
            size: Bytes(u64::from(number % 70_000)),
            ecn: Ecn::from_bits(*number as u8),
            payload: (),
        };
        let rlc = RlcQueue {
            backlog: Bytes(u64::from(number % 1_000_000)),
            packets: number % 1_000,
            head_of_line: Duration::from_micros(u64::from(number % 1_000_000)),
        };
        let verdict = match kind {
            0 => marker.handle_downlink(now, &packet, (number % 3 == 0).then_some(rlc)),
            1 => marker.handle_dequeue(now, &packet, rlc.head_of_line, rlc),
            2 => {
                marker.handle_pdcp_pdu(now, *number, packet.size);
                Verdict::Pass
            }
            3 => {
                marker.handle_discard(now, *number);
                Verdict::Pass
            }
            4 => {
                let status = DeliveryStatus {
                    highest_transmitted: (number % 5 != 0).then_some(*number),
                    highest_delivered: (number % 3 == 0).then_some(number.wrapping_sub(3)),
                    highest_retransmitted: (number % 7 == 0).then_some(number.wrapping_sub(1)),
                    highest_delivered_retransmitted: (number % 11 == 0).then_some(number.wrapping_sub(2)),
                    desired_buffer_size: None,
                };
                marker.handle_report(now, &status);
                Verdict::Pass
            }
            _ => {
                marker.handle_uplink(now, &mut packet);
                Verdict::Pass
            }
        };
        assert!(verdict != Verdict::Mark || packet.ecn.is_ect(), "{law:?} marked a Not-ECT packet");
        assert!(verdict != Verdict::Mark || packet.ecn != Ecn::Ce, "{law:?} marked what is marked");
        let estimate = marker.estimate(now);
        assert!((0.0..=1.0).contains(&estimate.probability.get()));
        assert!(estimate.backlog <= estimate.standing, "{estimate:?}");
        assert_eq!(estimate.packets == 0, estimate.standing == Bytes::ZERO, "{estimate:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_order_of_events_breaks_a_law(
        events in proptest::collection::vec((0u8..6, 0u32..300_000, -5_000_000i64..20_000_000), 0..300),
        short in proptest::bool::ANY,
    ) {
        for law in laws() {
            run(law, if short { SnLength::Bits12 } else { SnLength::Bits18 }, &events);
        }
    }
}
