//! Known faults of published research code and real gNBs, one test each.
//!
//! | fault | test |
//! | --- | --- |
//! | SN wrap freezes marking | here, and in the profile table |
//! | PDCP drops desynchronise it | here, and in the profile table |
//! | an option list of length 0, or with an end, loops | here |
//! | unknown DRB, unmapped QFI, SN never sent crash | here |
//! | IPv6 is parsed as IPv4 and overwritten | here |
//! | checksums are wrong for odd payloads and IP options | here |
//! | flow tables grow with every SYN | here |
//! | crafted tuples hash to one bucket | `path::flow_key` |
//! | classic ECN without ECE until CWR | `shortcircuit` |
//! | AccECN counters go backwards | `shortcircuit::accecn` |
//! | acknowledgements of authenticated TCP are rewritten | here |
//! | application-limited flows are over-marked | `tests/estimate.rs` |
//! | reports of arrivals pass for reports of transmissions | `tests/estimate.rs` |
//! | reports are due every 5 or 10 ms, many SNs at once | `tests/estimate.rs` |
//! | reports that stop mark everything for good | `tests/estimate.rs` |
//! | late reports show a queue that is not there | `tests/jitter.rs` |
//! | CU and DU with SNs of different length mark everything | here |
//! | each report walks the whole standing queue | `benches/instructions.rs`: one limit at 4, 16 and 1024 SDUs |
//! | a stale pointer to the old bearer | here (`a_handover...`), and stale handles in `tests/hostile.rs` |
//! | memory grows with every packet | here (`a_million...`), `tests/invariants.rs`, `tests/hostile.rs` |

use crate::bytes::{Flow, checksums_are_valid, view};
use allocation_counter::measure;
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream, TcpView};
use tidemark_marker::path::{DrbId, FlowKey, SetupError, Ue};
use tidemark_marker::{DeliveryStatus, DualPi2Config, LawConfig, MarkerConfig, SnLength, StepConfig, Verdict};
use tidemark_wire::View;
use tidemark_wire::tcp::TcpOption;

const DRB: DrbId = DrbId(3);
const QFI: u8 = 1;

/// A UE whose DRB marks every L4S packet that finds anything standing for longer than a microsecond.
fn marking_ue(sn_length: SnLength, short_circuit: bool) -> Ue {
    let step = StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() };
    let config = MarkerConfig { short_circuit, ..MarkerConfig::with_law(LawConfig::Step(step)) };
    let mut ue = Ue::new(FlowKey::new(&[9; 16]));
    ue.add_drb(DRB, &[QFI], &config, sn_length, Stream::new(1, 0, "mark")).unwrap();
    ue
}
fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}
fn transmitted(sn: u32) -> DeliveryStatus {
    DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() }
}
/// The DU reports what it transmits, and one SDU has stood for 1 ms then.
fn stand(ue: &mut Ue, drb: DrbId) {
    for sn in 0..2 {
        ue.pdcp_pdu(ms(0), drb, sn, Bytes(131));
    }
    ue.feedback(ms(1), drb, &transmitted(0));
}
const FLOW: Flow = Flow { v6: false, port: 50_000 };

#[test]
fn sn_wrap_does_not_freeze_marking() {
    for sn_length in [SnLength::Bits12, SnLength::Bits18] {
        let mut ue = marking_ue(sn_length, false);
        let modulus = sn_length.modulus();
        for count in 0..modulus + modulus / 2 {
            let now = ms(u64::from(count));
            let mut packet = FLOW.udp(true, Ecn::Ect1, 100);
            let verdict = ue.downlink(now, QFI, &mut packet);
            // Two stand, since the report lags by two: from the first report on each packet is marked, before and after the wrap.
            assert_eq!(verdict == Verdict::Mark, count >= 3, "{sn_length:?}: {count}");
            ue.pdcp_pdu(now, DRB, count % modulus, Bytes(131));
            if count >= 2 {
                ue.feedback(now, DRB, &transmitted((count - 2) % modulus));
            }
        }
        assert_eq!(ue.estimate(ms(0), DRB).unwrap().packets, 2);
    }
}

#[test]
fn a_du_that_never_says_what_it_transmitted_gets_no_marks_by_age() {
    for law in [LawConfig::Step(StepConfig::default()), LawConfig::Dualpi2(DualPi2Config::default())] {
        let mut ue = Ue::new(FlowKey::new(&[9; 16]));
        let config = MarkerConfig::with_law(law);
        ue.add_drb(DRB, &[QFI], &config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        for count in 0..2_000u32 {
            let now = ms(u64::from(count));
            for ecn in [Ecn::Ect1, Ecn::NotEct] {
                assert_eq!(ue.downlink(now, QFI, &mut FLOW.udp(true, ecn, 100)), Verdict::Pass, "{config:?}: {count}");
            }
            ue.pdcp_pdu(now, DRB, count, Bytes(131));
            if count % 5 == 0 {
                ue.feedback(now, DRB, &DeliveryStatus::default());
            }
        }
        assert_eq!(ue.drb_counters(DRB).unwrap().empty_reports, 400);
    }
}

#[test]
fn a_report_of_an_sn_that_was_never_sent_says_nothing_of_the_egress_rate() {
    let mut ue = marking_ue(SnLength::Bits18, false);
    let mut rate = [0; 2];
    for count in 0..2_000u32 {
        let now = ms(u64::from(count));
        ue.pdcp_pdu(now, DRB, count, Bytes(1_250));
        ue.feedback(now, DRB, &transmitted(count.saturating_sub(20)));
        if count >= 1_000 {
            ue.feedback(now, DRB, &transmitted(77_777));
        }
        rate[count as usize / 1_000] = ue.estimate(now, DRB).unwrap().egress.map_or(0, |egress| egress.rate.as_bps());
    }
    // One of 1250 bytes a millisecond.
    assert!(rate.iter().all(|rate| rate.abs_diff(10_000_000) < 1_000_000), "{rate:?}");
    assert_eq!(ue.drb_counters(DRB).unwrap().unknown_sns, 1_000);
}

/// Sends packets to a DU that transmits all at once and names the SNs of its reports so: marks until and since the packet of this number.
fn marks_under_sns(sn_length: SnLength, named: fn(u32) -> u32, since: u32) -> ([u32; 2], Ue) {
    let mut ue = Ue::new(FlowKey::new(&[9; 16]));
    let config = MarkerConfig::with_law(LawConfig::Step(StepConfig::default()));
    ue.add_drb(DRB, &[QFI], &config, sn_length, Stream::new(1, 0, "mark")).unwrap();
    let mut marks = [0; 2];
    for count in 0..300_000u32 {
        let now = Instant::ZERO + Duration::from_micros(250) * u64::from(count);
        let verdict = ue.downlink(now, QFI, &mut FLOW.udp(true, Ecn::Ect1, 100));
        marks[usize::from(count >= since)] += u32::from(verdict == Verdict::Mark);
        ue.pdcp_pdu(now, DRB, count % sn_length.modulus(), Bytes(131));
        if count % 20 == 19 {
            ue.feedback(now, DRB, &transmitted(named(count)));
        }
    }
    (marks, ue)
}

#[test]
fn sns_of_another_length_at_the_du_are_noticed_and_nothing_is_marked() {
    let all = [
        // Low bits of an SN, those that a DU of 12 bits reads from a header of 18 (TS 38.323 6.2.2), and the reverse with a first byte of IPv4.
        (SnLength::Bits18, (|count| count % 4_096) as fn(u32) -> u32, 4_500),
        (SnLength::Bits18, |count| (count >> 8) % 1_024, 33_500),
        (SnLength::Bits12, |count| (count & 0x3ff) << 8 | 0x45, 4_500),
    ];
    for (index, (sn_length, named, since)) in all.into_iter().enumerate() {
        let (marks, ue) = marks_under_sns(sn_length, named, since);
        let counters = ue.drb_counters(DRB).unwrap();
        assert_eq!(marks[1], 0, "{index}: {counters:?}");
        assert!(counters.mismatched_reports > 10_000 && counters.reports_missing > 200_000, "{index}: {counters:?}");
    }
    // The same DU with the DRB's own SNs.
    let (marks, ue) = marks_under_sns(SnLength::Bits12, |count| count % 4_096, 0);
    assert_eq!((marks, ue.drb_counters(DRB).unwrap().mismatched_reports), ([0, 0], 0));
}

#[test]
fn sns_that_match_after_all_are_marked_by_once_more() {
    let mut ue = marking_ue(SnLength::Bits18, false);
    for sn in 0..100 {
        let now = ms(2_000 + u64::from(sn));
        ue.pdcp_pdu(now, DRB, sn, Bytes(131));
        ue.feedback(now, DRB, &transmitted(sn.saturating_sub(2)));
    }
    let mark = |ue: &mut Ue| ue.downlink(ms(2_100), QFI, &mut FLOW.udp(true, Ecn::Ect1, 100));
    assert_eq!(mark(&mut ue), Verdict::Mark);
    for _ in 0..15 {
        ue.feedback(ms(2_100), DRB, &transmitted(70_000));
    }
    assert_eq!((mark(&mut ue), ue.drb_counters(DRB).unwrap().mismatched_reports), (Verdict::Mark, 0));
    ue.feedback(ms(2_100), DRB, &transmitted(70_000));
    assert_eq!((mark(&mut ue), ue.drb_counters(DRB).unwrap().mismatched_reports), (Verdict::Pass, 1));
    ue.feedback(ms(2_100), DRB, &transmitted(98));
    assert_eq!(mark(&mut ue), Verdict::Mark);
}

#[test]
fn a_packets_own_ecn_field_says_which_rule_it_falls_under() {
    // A tunnel carries packets of every kind in one flow; the queue is so long that the classic rule signals to a few in a hundred.
    let mut ue = Ue::new(FlowKey::new(&[9; 16]));
    let config = MarkerConfig::with_law(LawConfig::Dualpi2(DualPi2Config::default()));
    ue.add_drb(DRB, &[QFI], &config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    let mut found = [(0, 0, 0); 3];
    for count in 0..4_000u32 {
        let now = ms(u64::from(count));
        for (ecn, (passed, marked, dropped)) in [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct].into_iter().zip(&mut found) {
            let verdict = ue.downlink(now, QFI, &mut FLOW.udp(true, ecn, 100));
            *match verdict {
                Verdict::Pass => passed,
                Verdict::Mark => marked,
                Verdict::Drop => dropped,
            } += 1;
        }
        ue.pdcp_pdu(now, DRB, count, Bytes(1_310));
        // The head has waited for 20 ms, five more than the target.
        ue.feedback(now, DRB, &transmitted(count.saturating_sub(20)));
    }
    let [l4s, classic, not_ect] = found;
    assert!(l4s.1 > 3_900 && l4s.2 == 0, "{found:?}");
    assert!(classic.1 > 10 && classic.1 < 2_000 && classic.2 == 0, "{found:?}");
    assert!(not_ect.2 > 10 && not_ect.2 < 2_000 && not_ect.1 == 0, "{found:?}");
}

#[test]
fn pdcp_drops_do_not_desynchronise_the_backlog() {
    let mut ue = marking_ue(SnLength::Bits12, false);
    let mut sn = 0;
    for count in 0..10_000u32 {
        let now = ms(u64::from(count));
        ue.downlink(now, QFI, &mut FLOW.udp(true, Ecn::Ect1, 100));
        if count % 3 == 0 {
            continue; // PDCP's window is full: no SN, no PDU
        }
        ue.pdcp_pdu(now, DRB, sn, Bytes(131));
        ue.feedback(now, DRB, &transmitted(sn));
        sn = (sn + 1) % 4096;
    }
    let estimate = ue.estimate(ms(10_000), DRB).unwrap();
    assert_eq!((estimate.standing, estimate.packets), (Bytes::ZERO, 0));
}

#[test]
fn a_tcp_option_list_with_length_0_or_an_end_of_list_ends() {
    for options in [[253, 0, 0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 172, 11, 0, 0], [172, 1, 0, 0, 174, 0, 0, 0]] {
        let mut ue = marking_ue(SnLength::Bits18, true);
        ue.uplink(ms(0), &mut FLOW.tcp(false, Ecn::NotEct, &view(0b111, true, None, 1, 0, None)));
        ue.downlink(ms(1), QFI, &mut FLOW.tcp(true, Ecn::NotEct, &view(0b010, true, Some(2), 999, 0, None)));
        // A segment with room for 8 bytes of options, which then are replaced.
        let mut ack = FLOW.tcp(false, Ecn::NotEct, &view(5, false, Some(5_000), 2, 8, None));
        ack[32] = 7 << 4;
        ack[40..48].copy_from_slice(&options);
        ue.uplink(ms(2), &mut ack);
    }
}

#[test]
fn an_unknown_drb_an_unmapped_qfi_or_an_sn_never_sent_is_counted_and_survived() {
    let mut ue = marking_ue(SnLength::Bits18, false);
    let mut packet = FLOW.udp(true, Ecn::Ect1, 100);
    for qfi in [0, 2, 63, 64, 255] {
        assert_eq!(ue.downlink(ms(0), qfi, &mut packet), Verdict::Pass);
    }
    for drb in [0, 1, 2, 32, 33, 255] {
        ue.feedback(ms(0), DrbId(drb), &transmitted(1));
        ue.pdcp_pdu(ms(0), DrbId(drb), 1, Bytes(100));
        ue.discard(ms(0), DrbId(drb), 1);
    }
    for sn in [0, 77, 1 << 18, u32::MAX] {
        ue.feedback(ms(0), DRB, &transmitted(sn));
    }
    assert_eq!((ue.counters().unknown_qfi, ue.counters().unknown_drb), (5, 18));
    assert_eq!(ue.drb_counters(DRB).unwrap().unknown_sns, 4);
    let config = MarkerConfig::default();
    let mut add = |drb, qfi| ue.add_drb(DrbId(drb), &[qfi], &config, SnLength::Bits18, Stream::new(1, 0, "mark"));
    assert_eq!(add(0, 1), Err(SetupError::Drb));
    assert_eq!(add(33, 1), Err(SetupError::Drb));
    assert_eq!(add(4, 64), Err(SetupError::Qfi));
    assert_eq!(add(DRB.0, 2), Err(SetupError::Exists));
}

#[test]
fn ipv6_is_marked_as_ipv6_and_nothing_else_of_it_changes() {
    let mut ue = marking_ue(SnLength::Bits18, false);
    let flow = Flow { v6: true, port: 7 };
    stand(&mut ue, DRB);
    let before = flow.udp(true, Ecn::Ect1, 100);
    let mut packet = before.clone();
    assert_eq!(ue.downlink(ms(5), QFI, &mut packet), Verdict::Mark);
    assert_eq!(packet, flow.udp(true, Ecn::Ce, 100));
    assert_eq!(before.iter().zip(&packet).filter(|(old, new)| old != new).count(), 1);
}

#[test]
fn checksums_hold_for_odd_payloads_and_ip_options() {
    for payload in [0, 1, 7, 1_361] {
        let mut ue = marking_ue(SnLength::Bits18, false);
        stand(&mut ue, DRB);
        let mut packet = FLOW.tcp(true, Ecn::Ect1, &view(0, false, Some(1), 1, payload, None));
        // A router alert option, and the header checksum that goes with it (RFC 1071 by hand).
        packet.splice(20..20, [0x94, 4, 0, 0]);
        packet[0] = 0x46;
        let total = packet.len() as u16;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet[10..12].fill(0);
        let sum: u32 = packet[..24].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
        let folded = (sum & 0xFFFF) + (sum >> 16);
        packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        assert!(checksums_are_valid(&packet));
        assert_eq!(ue.downlink(ms(5), QFI, &mut packet), Verdict::Mark);
        assert!(checksums_are_valid(&packet), "{payload} bytes of payload");
    }
}

/// Protection of a connection's headers.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Protection {
    None,
    /// An option of this kind in the SYN, in the SYN/ACK, or in both and all that follows.
    Option {
        kind: u8,
        in_syn: bool,
        in_answer: bool,
    },
    AuthenticationHeader,
}

impl Protection {
    fn segment(self, flow: &Flow, downlink: bool, ecn: Ecn, view: &TcpView) -> Vec<u8> {
        let signature = |kind| TcpOption::Unknown { kind, data: &[0xA5; 16] };
        match self {
            Self::Option { kind, in_syn, in_answer } => {
                let has_option = if view.flags.syn && view.flags.ack { in_answer } else { in_syn };
                if has_option {
                    flow.tcp_with(downlink, ecn, view, signature(kind))
                } else {
                    flow.tcp(downlink, ecn, view)
                }
            }
            Self::AuthenticationHeader => flow.tcp_behind_ah(downlink, ecn, view),
            Self::None => flow.tcp(downlink, ecn, view),
        }
    }
}

/// Opens a connection from the UE, marks a segment of it, and acknowledges it: the verdict, and whether the acknowledgement changed on its way.
fn mark_one(protection: Protection, [syn, answer, ace]: [u8; 3]) -> (Verdict, bool) {
    let flow = Flow { v6: true, port: 50_000 };
    let mut ue = marking_ue(SnLength::Bits18, true);
    stand(&mut ue, DRB);
    ue.uplink(ms(2), &mut protection.segment(&flow, false, Ecn::NotEct, &view(syn, true, None, 500, 0, None)));
    let opened = view(answer, true, Some(501), 999, 0, None);
    ue.downlink(ms(3), QFI, &mut protection.segment(&flow, true, Ecn::NotEct, &opened));
    let data = view(0, false, Some(501), 1_000, 1_200, None);
    let mut packet = protection.segment(&flow, true, Ecn::Ect1, &data);
    let verdict = ue.downlink(ms(4), QFI, &mut packet);
    let is_marked = View::parse(&mut packet).unwrap().headers().ecn == Ecn::Ce;
    assert_eq!(is_marked, verdict == Verdict::Mark);
    let mut ack =
        protection.segment(&flow, false, Ecn::NotEct, &view(ace, false, Some(2_200), 501, 0, Some([1, 0, 1])));
    let before = ack.clone();
    ue.uplink(ms(5), &mut ack);
    (verdict, ack != before)
}

#[test]
fn packets_of_authenticated_tcp_are_marked_and_its_acknowledgements_never_changed() {
    let options = [19, 29].into_iter().flat_map(|kind| {
        [(true, false), (false, true), (true, true)].map(|(in_syn, in_answer)| Protection::Option {
            kind,
            in_syn,
            in_answer,
        })
    });
    // AccECN and classic ECN: the fields of SYN, SYN/ACK and acknowledgement.
    for ecn in [[0b111, 0b010, 5], [0b011, 0b001, 0]] {
        assert_eq!(mark_one(Protection::None, ecn), (Verdict::Pass, true));
        // Another option of the same length, which nothing is signed with.
        let other = Protection::Option { kind: 253, in_syn: true, in_answer: true };
        assert_eq!(mark_one(other, ecn), (Verdict::Pass, true));
        for protection in options.clone().chain([Protection::AuthenticationHeader]) {
            assert_eq!(mark_one(protection, ecn), (Verdict::Mark, false), "{protection:?} {ecn:?}");
        }
    }
}

#[test]
fn an_authentication_header_that_comes_later_protects_what_is_behind_it() {
    let flow = Flow { v6: true, port: 50_000 };
    let mut ue = marking_ue(SnLength::Bits18, true);
    stand(&mut ue, DRB);
    ue.uplink(ms(2), &mut flow.tcp(false, Ecn::NotEct, &view(0b111, true, None, 500, 0, None)));
    ue.downlink(ms(3), QFI, &mut flow.tcp(true, Ecn::NotEct, &view(0b010, true, Some(501), 999, 0, None)));
    let data = view(0, false, Some(501), 1_000, 1_200, None);
    assert_eq!(ue.downlink(ms(4), QFI, &mut flow.tcp(true, Ecn::Ect1, &data)), Verdict::Pass);
    let mut ack = flow.tcp_behind_ah(false, Ecn::NotEct, &view(5, false, Some(2_200), 501, 0, None));
    let before = ack.clone();
    ue.uplink(ms(5), &mut ack);
    assert_eq!(ack, before);
    let next = view(0, false, Some(501), 2_200, 1_200, None);
    assert_eq!(ue.downlink(ms(6), QFI, &mut flow.tcp_behind_ah(true, Ecn::Ect1, &next)), Verdict::Mark);
}

#[test]
fn a_million_flows_and_a_flood_of_uplink_syns_leave_memory_where_it_was() {
    let mut ue = marking_ue(SnLength::Bits18, true);
    let in_use = Flow { v6: false, port: 1 };
    for k in 0..20 {
        ue.downlink(ms(k), QFI, &mut in_use.tcp(true, Ecn::Ect1, &view(0, false, Some(1), 1, 10, None)));
    }
    let mut data = in_use.tcp(true, Ecn::Ce, &view(0, false, Some(1), 1, 10, None));
    let mut udp = FLOW.udp(true, Ecn::NotEct, 10);
    let mut syn = FLOW.tcp(false, Ecn::NotEct, &view(0b111, true, None, 1, 0, None));
    let allocated = measure(|| {
        for k in 0..1_000_000u32 {
            let now = Instant::from_nanos(20_000_000 + u64::from(k) * 1_000);
            udp[12..16].copy_from_slice(&k.to_be_bytes());
            ue.downlink(now, QFI, &mut udp);
            syn[16..20].copy_from_slice(&k.to_be_bytes());
            ue.uplink(now, &mut syn);
            if k % 100_000 == 0 {
                ue.downlink(now, QFI, &mut data);
            }
        }
    });
    assert_eq!(allocated.count_total, 0);
    let counters = ue.drb_counters(DRB).unwrap();
    assert!(counters.flows_evicted > 1_900_000, "{counters:?}");
    // CE shows no class: that these packets count as L4S is because their flow is still known.
    assert_eq!(counters.l4s_packets, 20 + 10);
}

#[test]
fn what_cannot_be_read_passes_untouched() {
    let mut ue = marking_ue(SnLength::Bits18, true);
    stand(&mut ue, DRB);
    let whole = FLOW.tcp(true, Ecn::Ect1, &view(0, false, Some(1), 1, 100, None));
    for len in 0..whole.len() {
        let mut cut = whole[..len].to_vec();
        assert_eq!(ue.downlink(ms(1), QFI, &mut cut), Verdict::Pass, "{len} bytes");
        ue.uplink(ms(1), &mut cut);
        assert_eq!(cut, whole[..len]);
    }
    assert_eq!(ue.counters().unparsed, 2 * whole.len() as u64);
}

#[test]
fn a_handover_forgets_the_radio_and_keeps_the_flows() {
    let mut ue = marking_ue(SnLength::Bits12, true);
    for k in 0..10 {
        ue.downlink(ms(k), QFI, &mut FLOW.udp(true, Ecn::Ect1, 1_000));
        ue.pdcp_pdu(ms(k), DRB, k as u32, Bytes(1_031));
    }
    ue.handover(ms(20));
    let estimate = ue.estimate(ms(20), DRB).unwrap();
    assert_eq!((estimate.standing, estimate.egress, estimate.head_of_line), (Bytes::ZERO, None, None));
    // A report of the old bearer comes late, the new one begins at SN 0.
    ue.feedback(ms(21), DRB, &transmitted(9));
    ue.pdcp_pdu(ms(22), DRB, 0, Bytes(1_031));
    ue.feedback(ms(23), DRB, &transmitted(0));
    assert_eq!(ue.estimate(ms(23), DRB).unwrap().standing, Bytes::ZERO);
    assert!(ue.remove_drb(DRB).is_some() && ue.remove_drb(DRB).is_none());
    assert_eq!(ue.downlink(ms(30), QFI, &mut FLOW.udp(true, Ecn::Ect1, 10)), Verdict::Pass);
    assert_eq!(ue.counters().unknown_qfi, 1);
}

#[test]
fn a_handshake_is_timed_before_its_drb_is_known() {
    // Two DRBs: the SYN cannot say which will carry the flow, and is kept until the SYN/ACK does.
    let mut ue = marking_ue(SnLength::Bits18, true);
    let step = StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() };
    let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(LawConfig::Step(step)) };
    ue.add_drb(DrbId(4), &[2], &config, SnLength::Bits18, Stream::new(2, 0, "mark")).unwrap();
    ue.uplink(ms(0), &mut FLOW.tcp(false, Ecn::NotEct, &view(0b111, true, None, 1, 0, None)));
    ue.downlink(ms(1), 2, &mut FLOW.tcp(true, Ecn::NotEct, &view(0b010, true, Some(2), 999, 0, None)));
    ue.uplink(ms(2), &mut FLOW.tcp(false, Ecn::NotEct, &view(0b010, false, Some(1_000), 2, 0, None)));
    stand(&mut ue, DrbId(4));
    let mut data = FLOW.tcp(true, Ecn::Ect1, &view(0, false, Some(2), 1_000, 500, None));
    assert_eq!(ue.downlink(ms(5), 2, &mut data), Verdict::Pass, "AccECN was agreed: the mark goes into the ACK");
    let mut ack = FLOW.tcp(false, Ecn::NotEct, &view(5, false, Some(1_500), 2, 0, None));
    ue.uplink(ms(6), &mut ack);
    let view = View::parse(&mut ack).unwrap();
    assert_eq!(tidemark_core::Inspect::tcp(&view).unwrap().flags.ace(), 6);
}

#[test]
fn what_was_sent_again_after_a_handover_is_reported_in_fields_of_its_own() {
    let mut ue = marking_ue(SnLength::Bits12, false);
    for sn in 4_090..4_096 {
        ue.pdcp_pdu(ms(0), DRB, sn, Bytes(1_400));
    }
    ue.feedback(ms(5), DRB, &transmitted(4_091));
    ue.handover(ms(50));
    // Data forwarding, and then new data.
    for sn in [4_092, 4_093, 4_094, 4_095, 0, 1] {
        ue.pdcp_pdu(ms(50), DRB, sn, Bytes(1_400));
    }
    let standing = |ue: &Ue| ue.estimate(ms(60), DRB).unwrap().standing.0 / 1_400;
    let again = |sn| DeliveryStatus { highest_retransmitted: Some(sn), ..DeliveryStatus::default() };
    ue.feedback(ms(55), DRB, &again(4_093));
    assert_eq!(standing(&ue), 4, "no new PDU was transmitted, and two old ones were");
    ue.feedback(ms(60), DRB, &DeliveryStatus { highest_delivered_retransmitted: Some(4_092), ..again(4_095) });
    assert_eq!(standing(&ue), 2);
    // The report goes on saying so, whatever is transmitted then.
    for sn in [0, 1, 1] {
        ue.feedback(ms(65), DRB, &DeliveryStatus { highest_transmitted: Some(sn), ..again(4_095) });
        assert_eq!(standing(&ue), 1 - u64::from(sn));
    }
    let counters = ue.drb_counters(DRB).unwrap();
    assert_eq!((counters.unknown_sns, counters.empty_reports), (0, 0));
    assert_eq!(ue.estimate(ms(65), DRB).unwrap().retransmission, Some(tidemark_core::Duration::from_millis(5)));
}
