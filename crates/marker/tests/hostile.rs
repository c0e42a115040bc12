//! The packet path under input that nobody should send: any bytes, any order, any clock.

#[path = "common/bytes.rs"]
mod bytes;

use bytes::{Flow, checksums_are_valid, view};
use proptest::prelude::*;
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{
    DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, NotEctRule, SnLength, StepConfig, Verdict,
};
use tidemark_wire::View;

#[derive(Clone, Debug)]
enum Event {
    Downlink(u8, Vec<u8>),
    Uplink(Vec<u8>),
    Pdu(u8, u32, u64),
    Discard(u8, u32),
    Report(u8, Option<u32>, Option<u32>),
    Add(u8, u8, bool),
    Remove(u8),
    Handover,
    Jump(u64),
}

/// Whole packets, packets with a few bytes changed or cut off, and noise.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let whole =
        (any::<bool>(), any::<bool>(), any::<u8>(), 0u16..6, any::<u32>(), any::<u32>(), 0u32..100, any::<bool>())
            .prop_map(|(v6, downlink, bits, port, seq, ack, payload, option)| {
                let flow = Flow { v6, port };
                if bits & 0x80 != 0 {
                    return flow.udp(downlink, Ecn::from_bits(bits), payload as u16);
                }
                let counters = option.then_some([seq & 0xFF_FFFF, ack & 0xFF_FFFF, payload]);
                let syn = bits & 0x60 == 0x60;
                flow.tcp(
                    downlink,
                    Ecn::from_bits(bits),
                    &view(bits >> 2, syn, (bits & 4 != 0).then_some(ack), seq, payload, counters),
                )
            });
    let damage = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let damaged =
        (whole, damage, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(mut bytes, damage, cut, cuts)| {
            for (at, value) in damage {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if cuts {
                bytes.truncate(cut.index(bytes.len() + 1));
            }
            bytes
        });
    prop_oneof![4 => damaged, 1 => proptest::collection::vec(any::<u8>(), 0..80)]
}

fn event() -> impl Strategy<Value = Event> {
    let drb = 0u8..6;
    prop_oneof![
        6 => (0u8..8, packet()).prop_map(|(qfi, bytes)| Event::Downlink(qfi, bytes)),
        4 => packet().prop_map(Event::Uplink),
        6 => (drb.clone(), 0u32..5_000, 0u64..70_000).prop_map(|(drb, sn, size)| Event::Pdu(drb, sn, size)),
        1 => (drb.clone(), 0u32..5_000).prop_map(|(drb, sn)| Event::Discard(drb, sn)),
        4 => (drb.clone(), proptest::option::of(any::<u32>()), proptest::option::of(0u32..5_000))
            .prop_map(|(drb, transmitted, delivered)| Event::Report(drb, transmitted, delivered)),
        1 => (drb.clone(), 0u8..70, any::<bool>()).prop_map(|(drb, qfi, short)| Event::Add(drb, qfi, short)),
        1 => drb.prop_map(Event::Remove),
        1 => Just(Event::Handover),
        1 => any::<u64>().prop_map(Event::Jump),
    ]
}

fn config(drb: u8) -> MarkerConfig {
    let law = if drb.is_multiple_of(2) {
        LawConfig::Step(StepConfig { threshold: Duration::from_nanos(1), ..StepConfig::default() })
    } else {
        LawConfig::L4span(L4SpanConfig { not_ect: NotEctRule::Drop, ..L4SpanConfig::default() })
    };
    MarkerConfig { short_circuit: drb.is_multiple_of(3), profile_capacity: 64, ..MarkerConfig::with_law(law) }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_in_no_order_do_harm(
        events in proptest::collection::vec((event(), -3_000_000i64..10_000_000), 0..150),
    ) {
        let mut ue = Ue::new(FlowKey::new(&[5; 16]));
        for drb in 1..4 {
            ue.add_drb(DrbId(drb), &[drb], &config(drb), SnLength::Bits12, Stream::new(1, drb.into(), "mark")).unwrap();
        }
        let mut nanos = 0u64;
        for (event, step) in events {
            nanos = nanos.saturating_add_signed(step);
            let now = Instant::from_nanos(nanos);
            match event {
                Event::Downlink(qfi, before) => {
                    let mut after = before.clone();
                    let verdict = ue.downlink(now, qfi, &mut after);
                    match verdict {
                        Verdict::Mark => {
                            // An ECT packet became CE; nothing but its first 12 bytes, ToS and checksum, may differ.
                            let ecn = |bytes: &[u8]| View::parse(&mut bytes.to_vec()).unwrap().headers().ecn;
                            prop_assert!(matches!(ecn(&before), Ecn::Ect0 | Ecn::Ect1));
                            prop_assert_eq!(ecn(&after), Ecn::Ce);
                            prop_assert_eq!(&before[12..], &after[12..]);
                        }
                        Verdict::Pass | Verdict::Drop => prop_assert_eq!(before, after),
                    }
                }
                Event::Uplink(before) => {
                    let mut after = before.clone();
                    let was_valid = View::parse(&mut after).is_ok() && tcp_is_whole(&before) && checksums_are_valid(&before);
                    ue.uplink(now, &mut after);
                    prop_assert_eq!(before.len(), after.len());
                    if was_valid {
                        prop_assert!(checksums_are_valid(&after));
                    }
                }
                Event::Pdu(drb, sn, size) => ue.pdcp_pdu(now, DrbId(drb), sn, Bytes(size)),
                Event::Discard(drb, sn) => ue.discard(now, DrbId(drb), sn),
                Event::Report(drb, highest_transmitted, highest_delivered) => {
                    let report = DeliveryStatus { highest_transmitted, highest_delivered, desired_buffer_size: None };
                    ue.feedback(now, DrbId(drb), &report);
                }
                Event::Add(drb, qfi, short) => {
                    let sn_length = if short { SnLength::Bits12 } else { SnLength::Bits18 };
                    let _ = ue.add_drb(DrbId(drb), &[qfi], &config(drb), sn_length, Stream::new(2, drb.into(), "mark"));
                }
                Event::Remove(drb) => {
                    let _ = ue.remove_drb(DrbId(drb));
                }
                Event::Handover => ue.handover(now),
                Event::Jump(to) => nanos = to,
            }
            for drb in 0..6 {
                if let Some(estimate) = ue.estimate(now, DrbId(drb)) {
                    prop_assert!(estimate.backlog <= estimate.standing, "{:?}", estimate);
                    prop_assert_eq!(estimate.packets == 0, estimate.standing == Bytes::ZERO, "{:?}", estimate);
                }
            }
        }
    }
}

/// True if the packet holds a whole TCP segment right behind its IP header, so that its checksum can be checked.
fn tcp_is_whole(bytes: &[u8]) -> bool {
    let mut copy = bytes.to_vec();
    let Ok(view) = View::parse(&mut copy) else { return false };
    let headers = view.headers();
    let straight =
        headers.transport.as_ref().is_some_and(|range| range.start == if bytes[0] >> 4 == 4 { 20 } else { 40 });
    straight && headers.len == bytes.len() && tidemark_core::Inspect::tcp(&view).is_some()
}
