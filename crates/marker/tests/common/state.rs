//! States of a UE made from arbitrary bytes, and packets of one of their connections. The fuzz target `relocation` and a property test share it.
#![allow(clippy::indexing_slicing)]

use super::bytes::{Flow, checksums_are_valid, view};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{DeliveryStatus, LawConfig, MarkerConfig, SnLength, StepConfig};

const HEADER: usize = 12;
const RECORD: usize = 136;
/// Bytes of a record that are its five-tuple, after which comes the DRB.
const TUPLE: usize = 37;
const FLOW: Flow = Flow { v6: false, port: 50_000 };
const SECOND: DrbId = DrbId(2);

/// A UE with two DRBs whose queues mark everything.
fn ue() -> Ue {
    let step = StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() };
    let law = LawConfig::Step(step);
    let config = MarkerConfig { short_circuit: true, profile_capacity: 64, ..MarkerConfig::with_law(law) };
    let mut ue = Ue::new(FlowKey::new(&[7; 16]));
    for (drb, qfi) in [(DrbId(1), 1), (SECOND, 2)] {
        ue.add_drb(drb, &[qfi], &config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        for sn in 0..2 {
            ue.pdcp_pdu(Instant::ZERO, drb, sn, Bytes(1_403));
        }
        ue.feedback(Instant::ZERO, drb, &DeliveryStatus { highest_transmitted: Some(0), ..DeliveryStatus::default() });
    }
    ue
}

fn exported(ue: &Ue) -> Vec<u8> {
    let mut bytes = vec![0; ue.export_len()];
    assert_eq!(ue.export(&mut bytes), Some(bytes.len()));
    bytes
}

/// State as the bytes have it, or with all that a reader asks for first put right, so that more of it is read.
fn state(data: &[u8]) -> Vec<u8> {
    let Some((1.., body)) = data.split_first() else { return data.get(1..).unwrap_or_default().to_vec() };
    let mut records: Vec<[u8; RECORD]> = body.chunks_exact(RECORD).map(|chunk| chunk.try_into().unwrap()).collect();
    if let Some(record) = records.first_mut() {
        record[0] = 4;
        let tuple = FLOW.tuple(6);
        let (std::net::IpAddr::V4(source), std::net::IpAddr::V4(destination)) = (tuple.source, tuple.destination)
        else {
            return Vec::new();
        };
        record[1..33].fill(0);
        record[1..5].copy_from_slice(&source.octets());
        record[17..21].copy_from_slice(&destination.octets());
        record[33..35].copy_from_slice(&443u16.to_be_bytes());
        record[35..37].copy_from_slice(&FLOW.port.to_be_bytes());
    }
    records.sort_unstable();
    let len = HEADER + records.len() * RECORD;
    let mut bytes = b"TMUE\0\x01".to_vec();
    bytes.extend((records.len() as u16).to_be_bytes());
    bytes.extend((len as u32).to_be_bytes());
    bytes.extend(records.concat());
    bytes
}

/// Takes a state in and, if it is one, goes on with a connection of it. True if it was taken in.
pub fn run(data: &[u8]) -> bool {
    let (mut ue, mut bytes) = (ue(), state(data));
    let (before, now) = (exported(&ue), Instant::from_millis(100));
    if ue.import(now, &bytes).is_err() {
        assert_eq!(exported(&ue), before, "refused, and nothing has changed");
        return false;
    }
    // One form: what was taken in comes out, but for what is twice there and for DRBs that are not.
    for record in bytes[HEADER..].chunks_exact_mut(RECORD) {
        record[TUPLE] = if record[TUPLE] == SECOND.0 { SECOND.0 } else { 1 };
    }
    let tuples: Vec<_> = bytes[HEADER..].chunks_exact(RECORD).map(|record| &record[..TUPLE]).collect();
    if tuples.windows(2).all(|pair| pair[0] < pair[1]) && tuples.len() <= 8 {
        assert_eq!(exported(&ue), bytes);
    }
    let mut choices = data.iter().rev();
    let mut seq = 0u32;
    while let Some(choice) = choices.next() {
        let step = u32::from(choices.next().copied().unwrap_or(0)) << (choice >> 5 << 2);
        seq = seq.wrapping_add(step);
        let payload = u32::from(choices.next().copied().unwrap_or(0)) * 6;
        let counters = (choice & 8 != 0).then_some([1, step & 0xFF_FFFF, seq & 0xFF_FFFF]);
        let mut packet = match choice & 7 {
            0 => FLOW.tcp(false, Ecn::NotEct, &view(choice >> 4 & 7, true, None, seq, 0, None)),
            1 => FLOW.tcp(true, Ecn::NotEct, &view(choice >> 4 & 7, true, Some(seq), seq, 0, None)),
            2..=4 => FLOW.tcp(false, Ecn::NotEct, &view(choice >> 4 & 7, false, Some(seq), 1, 0, counters)),
            _ => FLOW.tcp(true, Ecn::Ect1, &view(5, false, Some(1), seq, payload, None)),
        };
        match choice & 7 {
            0 | 2..=4 => ue.uplink(now, &mut packet),
            _ => drop(ue.downlink(now, 1 + (choice >> 3 & 1), &mut packet)),
        }
        assert!(checksums_are_valid(&packet));
    }
    let mut there = self::ue();
    there.import(now, &exported(&ue)).expect("what was exported is a state");
    assert_eq!(exported(&there).len(), exported(&ue).len());
    true
}
