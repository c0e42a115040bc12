//! The rules of TS 38.322 and TS 38.323, one test each.

use proptest::prelude::*;

use super::super::{Open, RlcSn};
use super::tests::{fill, push, released};
use super::*;
use crate::output::DelaySplit;

/// A PDU of 1000 B, its PDCP header (3 B) and the headers of one segment (6 B).
const ROOM: u32 = 1_009;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}
/// A bearer of this many packets of 1000 B, in PDUs of their own, sent at 0 ms.
fn sent(config: RlcConfig, count: u32) -> (Bearer<()>, Vec<Segment>) {
    let mut bearer = with(config);
    (0..count).for_each(|sn| push(&mut bearer, sn, 1_000));
    let block = (0..count).flat_map(|_| fill(&mut bearer, 0, ROOM)).collect();
    (bearer, block)
}
fn with(config: RlcConfig) -> Bearer<()> {
    assert_eq!(config.validate(), Ok(()));
    let overhead = Overhead::of(&config);
    Bearer::new(config, overhead)
}
fn polling(config: RlcConfig) -> RlcConfig {
    RlcConfig { poll_pdus: Some(1), ..config }
}
fn ms(span: u64) -> Duration {
    Duration::from_millis(span)
}
fn polls(block: &[Segment]) -> Vec<bool> {
    block.iter().map(|segment| segment.poll).collect()
}

#[test]
fn within_status_prohibit_no_report_is_made_and_one_right_after_it_38_322_5_3_4() {
    let config = RlcConfig { t_status_prohibit: ms(10), ..polling(RlcConfig::default()) };
    let (mut bearer, pdus) = sent(config, 4);
    bearer.arrived(at(1), pdus[0]);
    assert_eq!(bearer.handle_timers(at(1)).map(|status| status.ack_sn), Some(1), "the first poll is answered at once");
    for (now, pdu) in [(3, pdus[1]), (5, pdus[2])] {
        bearer.arrived(at(now), pdu);
        assert_eq!(bearer.next_timer(at(now)), Some(at(11)));
        assert!(bearer.handle_timers(at(now)).is_none(), "{now} ms");
    }
    // One report answers both polls, and nothing is left to be said.
    assert_eq!(bearer.handle_timers(at(11)).map(|status| status.ack_sn), Some(3));
    assert!(bearer.handle_timers(at(40)).is_none());
    // The timer has ended long ago.
    bearer.arrived(at(40), pdus[3]);
    assert_eq!(bearer.handle_timers(at(40)).map(|status| status.ack_sn), Some(4));
}

#[test]
fn a_poll_waits_until_its_sdu_can_be_reported_an_earlier_sdus_does_not_38_322_5_3_4() {
    let (mut bearer, pdus) = sent(RlcConfig { t_status_prohibit: ms(0), ..polling(RlcConfig::default()) }, 3);
    bearer.arrived(at(1), pdus[0]);
    assert!(bearer.handle_timers(at(1)).is_some());
    bearer.arrived(at(2), pdus[2]);
    assert!(bearer.handle_timers(at(2)).is_none(), "of what lies before it nothing is known yet");
    bearer.arrived(at(3), pdus[0]);
    assert_eq!(bearer.handle_timers(at(3)).map(|status| status.ack_sn), Some(1));
    bearer.arrived(at(4), pdus[1]);
    assert_eq!(bearer.handle_timers(at(4)).map(|status| status.ack_sn), Some(3), "the delayed poll is not forgotten");
}

#[test]
fn polls_count_pdus_and_bytes_that_are_sent_for_the_first_time_38_322_5_3_3_2() {
    for (config, expected) in [
        (RlcConfig { poll_pdus: Some(3), ..RlcConfig::default() }, [false, false, true, false, false, true]),
        (
            RlcConfig { poll_pdus: None, poll_bytes: Some(Bytes(2_006)), ..RlcConfig::default() },
            [false, true, false, true, false, true],
        ),
    ] {
        let mut bearer = with(config);
        (0..7).for_each(|sn| push(&mut bearer, sn, 1_000));
        let missing = vec![Segment { sdu: 0, offset: 0, bytes: 1_003, poll: false }];
        let mut seen = Vec::new();
        for sent in 0..6 {
            if sent == 1 {
                // A retransmission does not count.
                bearer.handle_status(&Status { ack_sn: 1, missing: missing.clone(), ..Status::default() });
                assert_eq!(polls(&fill(&mut bearer, 1, ROOM + 2)), [false]);
            }
            seen.extend(polls(&fill(&mut bearer, 1, ROOM)));
        }
        assert_eq!(seen, expected);
        assert_eq!(polls(&fill(&mut bearer, 2, ROOM)), [true], "the last one empties the buffer");
    }
}

#[test]
fn after_poll_retransmit_the_next_pdu_or_a_retransmission_polls_38_322_5_3_3_4() {
    let config = RlcConfig { poll_pdus: Some(2), t_poll_retransmit: ms(45), ..RlcConfig::default() };
    let mut bearer = with(config);
    (0..6).for_each(|sn| push(&mut bearer, sn, 1_000));
    let pdus = [fill(&mut bearer, 0, ROOM), fill(&mut bearer, 0, ROOM)].concat();
    assert_eq!(polls(&pdus), [false, true]);
    assert_eq!(bearer.next_timer(at(0)), Some(at(45)));
    assert!(bearer.handle_timers(at(44)).is_none());
    assert_eq!(bearer.poll.ends(), Some(at(45)));
    bearer.handle_timers(at(45));
    // New data carries the poll: nothing is retransmitted.
    let next = fill(&mut bearer, 46, ROOM);
    assert_eq!((next[0].sdu, next[0].poll), (2, true));
    // A report that speaks of POLL_SN, here as missing, stops the timer.
    let missing = vec![Segment { sdu: 2, offset: 0, bytes: 1_003, poll: false }];
    bearer.handle_status(&Status { ack_sn: 3, missing, delivered: Some(1), ..Status::default() });
    assert_eq!(bearer.poll.ends(), None);
}

#[test]
fn an_sdu_is_retransmitted_up_to_the_threshold_and_later_sdus_go_on_38_322_5_3_2() {
    let (mut bearer, pdus) = sent(RlcConfig { max_retransmissions: 3, ..polling(RlcConfig::default()) }, 2);
    bearer.arrived(at(1), pdus[1]);
    let (mut retransmitted, mut now) = (0, 1);
    while retransmitted < 10 {
        now = bearer.next_timer(at(now)).unwrap().since(Instant::ZERO).as_millis();
        bearer.handle_timers(at(now)).into_iter().for_each(|status| bearer.handle_status(&status));
        let sent = fill(&mut bearer, now, ROOM + 2);
        if sent.is_empty() {
            break;
        }
        // It is always the first that gets lost. Its repetition polls for the report that asks for it once more.
        assert_eq!((sent.len(), sent[0].sdu), (1, 0));
        retransmitted += 1;
        bearer.arrived(at(now), Segment { poll: true, ..pdus[1] });
    }
    assert_eq!(retransmitted, 3);
    // The receiver waits for nothing any more: what comes next is in order at once.
    assert!(matches!(released(&mut bearer, now)[..], [None, Some(_)]));
    push(&mut bearer, 2, 1_000);
    let next = fill(&mut bearer, now, ROOM);
    bearer.arrived(at(now), next[0]);
    assert_eq!(released(&mut bearer, now).len(), 1);
    assert_eq!(bearer.receiver.reassembly_ends(), None);
    let status = bearer.handle_timers(at(now + 10)).unwrap();
    assert_eq!((status.ack_sn, status.missing.len(), status.delivered), (3, 0, Some(2)));
    bearer.handle_status(&status);
    assert_eq!((bearer.window.base(), bearer.next_timer(at(now + 10))), (3, None));
}

#[test]
fn reassembly_ends_with_a_report_if_a_gap_stays_and_stops_if_not_38_322_5_2_3_2() {
    let config = RlcConfig { poll_pdus: None, t_reassembly: ms(20), ..RlcConfig::default() };
    let (mut bearer, pdus) = sent(config, 5);
    bearer.arrived(at(1), pdus[1]);
    assert_eq!(bearer.receiver.reassembly_ends(), Some(at(21)));
    bearer.arrived(at(15), pdus[0]);
    assert_eq!(bearer.receiver.reassembly_ends(), None, "nothing is missing before what came");
    // Another gap, then a second one while the timer of the first runs.
    bearer.arrived(at(16), Segment { poll: false, ..pdus[3] });
    assert_eq!(bearer.receiver.reassembly_ends(), Some(at(36)));
    assert!(bearer.handle_timers(at(35)).is_none());
    let status = bearer.handle_timers(at(36)).unwrap();
    let missing: Vec<_> = status.missing.iter().map(|segment| segment.sdu).collect();
    assert_eq!((status.ack_sn, missing, status.delivered), (4, vec![2], Some(1)));
    assert_eq!(bearer.receiver.reassembly_ends(), None, "of what is missing now nothing came after the report");
}

#[test]
fn a_gap_in_an_sdu_starts_reassembly_and_the_report_names_it_38_322_5_2_3_2_3() {
    let mut bearer = with(RlcConfig { t_reassembly: ms(20), ..RlcConfig::default() });
    push(&mut bearer, 0, 1_000);
    let parts = [fill(&mut bearer, 0, 406), fill(&mut bearer, 1, 408), fill(&mut bearer, 2, 408)].concat();
    assert_eq!(parts.iter().map(|part| part.bytes).collect::<Vec<_>>(), [400, 400, 203]);
    bearer.arrived(at(3), parts[2]);
    bearer.arrived(at(4), parts[0]);
    let status = bearer.handle_timers(at(23)).unwrap();
    // ACK_SN lies beyond the SDU, whose lack is named.
    assert_eq!((status.ack_sn, &status.missing[..]), (1, &[Segment { offset: 400, bytes: 400, ..parts[1] }][..]));
    assert_eq!(status.delivered, None);
}

/// Three SDUs of UM, the first two in two segments each, the third whole.
fn segmented() -> (Bearer<()>, Vec<Segment>) {
    let mut bearer = with(RlcConfig { mode: RlcMode::Um, t_reassembly: ms(20), ..RlcConfig::default() });
    (0..3).for_each(|sn| push(&mut bearer, sn, 1_000));
    let parts: Vec<_> = [605, 410, 605, 410, ROOM].into_iter().flat_map(|room| fill(&mut bearer, 0, room)).collect();
    let expected = [(0, 600), (0, 403), (1, 600), (1, 403), (2, 1_003)];
    assert_eq!(parts.iter().map(|part| (part.sdu, part.bytes)).collect::<Vec<_>>(), expected);
    (bearer, parts)
}

#[test]
fn um_discards_parts_after_reassembly_and_later_ones_are_useless_38_322_5_2_2_2_4() {
    let (mut bearer, parts) = segmented();
    bearer.arrived(at(1), parts[0]);
    assert_eq!(bearer.reassembly.ends(), None, "nothing is missing before what came");
    for part in &parts[2..4] {
        bearer.arrived(at(2), *part);
    }
    assert_eq!(bearer.next_timer(at(2)), Some(at(22)));
    bearer.handle_timers(at(21));
    assert!(released(&mut bearer, 21).is_empty());
    bearer.handle_timers(at(22));
    assert!(matches!(released(&mut bearer, 22)[..], [None]), "RLC has given it up");
    bearer.arrived(at(23), parts[1]);
    assert!(released(&mut bearer, 23).is_empty());
    // The other is whole, and PDCP waits for the first as long as t-Reordering, 50 ms, says.
    assert!(matches!(released(&mut bearer, 52)[..], [Some(_)]));
    assert_eq!(bearer.reassembly.ends(), None);
}

#[test]
fn ums_reassembly_stops_when_the_gap_closes_without_whole_sdus_38_322_5_2_2_2_3() {
    let (mut bearer, parts) = segmented();
    // A whole SDU has no SN, so nothing is known to be missing before it.
    bearer.arrived(at(1), parts[4]);
    assert_eq!(bearer.reassembly.ends(), None);
    bearer.arrived(at(2), parts[1]);
    assert_eq!(bearer.reassembly.ends(), Some(at(22)), "the beginning of the SDU is missing");
    bearer.arrived(at(21), parts[0]);
    assert_eq!(bearer.reassembly.ends(), None);
    assert_eq!(released(&mut bearer, 21).len(), 1);
    bearer.arrived(at(22), parts[3]);
    assert_eq!(bearer.reassembly.ends(), Some(at(42)));
    bearer.arrived(at(41), parts[2]);
    assert_eq!((bearer.reassembly.ends(), released(&mut bearer, 41).len()), (None, 2));
}

#[test]
fn ums_receiver_keeps_no_part_from_before_its_window_38_322_5_2_2_2_3() {
    let um = |rlc_sn| RlcConfig { mode: RlcMode::Um, rlc_sn: Some(rlc_sn), ..RlcConfig::default() };
    for (config, window) in [(um(RlcSn::Bits6), 32), (um(RlcSn::Bits12), 2_048)] {
        let mut bearer = with(config);
        // Of each SDU the second part is missing, and between any two lies a whole one, which has no SN.
        let first_part = |bearer: &mut Bearer<()>, sn: u32| {
            push(bearer, 2 * sn, 1_000);
            push(bearer, 2 * sn + 1, 1_000);
            let part = fill(bearer, 0, 600);
            let rest = bearer.backlog();
            fill(bearer, 0, rest);
            bearer.arrived(at(1), part[0]);
        };
        (0..window).for_each(|sn| first_part(&mut bearer, sn));
        assert!(released(&mut bearer, 1).is_empty(), "all are inside of the window of {window}");
        first_part(&mut bearer, window);
        assert!(matches!(released(&mut bearer, 1)[..], [None]), "t-Reassembly has not ended, but the first is outside");
        // Its rest is of no use now, while that of the second completes it.
        let rest = |sdu| Segment { sdu, offset: 0, bytes: 1_003, poll: false };
        for sdu in [0, 2] {
            bearer.arrived(at(2), rest(sdu));
        }
        assert!(bearer.window.is_over(2) && !bearer.window.is_over(4));
        assert!(bearer.window.get(0).is_some_and(|first| first.complete.is_none()));
    }
}

#[test]
fn a_status_report_is_as_long_as_what_it_names_38_322_6_2_2_5() {
    // ACK_SN, and for each run of missing SDUs an SN, offsets where one is missing in part, and a range where they are several.
    let part = |sdu, offset, bytes| Segment { sdu, offset, bytes, poll: false };
    let whole = |sdu| part(sdu, 0, 1_003);
    for (arrive, expected) in [
        (vec![], [3 + 3 + 1, 3 + 2 + 1]),
        (vec![whole(0), whole(2)], [3 + 2 * 3, 3 + 2 * 2]),
        (vec![whole(0), part(1, 0, 100), whole(3)], [3 + 3 + 4 + 1, 3 + 2 + 4 + 1]),
        (vec![whole(0), part(1, 100, 100), whole(2), whole(3)], [3 + 2 * (3 + 4), 3 + 2 * (2 + 4)]),
        (vec![whole(0), whole(1), whole(2), whole(3)], [3, 3]),
    ] {
        for (rlc_sn, expected) in [RlcSn::Bits18, RlcSn::Bits12].into_iter().zip(expected) {
            let (mut bearer, pdus) = sent(RlcConfig { rlc_sn: Some(rlc_sn), ..RlcConfig::default() }, 5);
            for segment in pdus[4..].iter().chain(&arrive) {
                bearer.arrived(at(1), *segment);
            }
            let status = bearer.handle_timers(at(21)).unwrap();
            assert_eq!((status.ack_sn, status.octets), (5, expected), "{rlc_sn:?}: the last and {arrive:?} arrived");
        }
    }
}

#[test]
fn am_stalls_at_its_own_window_where_it_is_smaller_than_pdcps_38_322_7_2() {
    let config = RlcConfig { rlc_sn: Some(RlcSn::Bits12), ..RlcConfig::default() };
    let mut bearer = Bearer::new(config, Overhead::NONE);
    (0..2_049).for_each(|sn| push(&mut bearer, sn, 100));
    let room = bearer.backlog();
    assert_eq!(fill(&mut bearer, 0, room).len(), 2_048);
    assert!(!bearer.has_data() && !bearer.is_full(Bytes(100)));
}

proptest! {
    #[test]
    fn a_block_of_what_is_needed_empties_the_bearer_and_is_full(
        um in any::<bool>(), long in any::<bool>(), first in 20u32..2_000, sizes in prop::collection::vec(20u64..1_500, 1..20),
    ) {
        let mode = if um { RlcMode::Um } else { RlcMode::Am };
        let rlc_sn = match (um, long) {
            (true, false) => RlcSn::Bits6,
            (false, true) => RlcSn::Bits18,
            _ => RlcSn::Bits12,
        };
        let mut bearer = with(RlcConfig { mode, rlc_sn: Some(rlc_sn), ..RlcConfig::default() });
        (0..).zip(&sizes).for_each(|(sn, size)| push(&mut bearer, sn, *size));
        let into = |bearer: &mut Bearer<()>, room| {
            bearer.fill(at(0), at(1), room, &mut Vec::new(), &mut crate::rlc::Open)
        };
        let before = bearer.backlog();
        let sent = into(&mut bearer, first);
        prop_assert!(sent.used <= first && sent.carried < sent.used.max(1));
        let needed = bearer.backlog();
        prop_assert!(sent.used == 0 || needed < before);
        let rest = into(&mut bearer, needed);
        prop_assert_eq!(rest.used, needed);
        prop_assert_eq!(u64::from(sent.carried + rest.carried), sizes.iter().map(|size| size + 3).sum::<u64>());
        prop_assert!(!bearer.has_data() && bearer.backlog() == 0);
    }
}

#[test]
fn a_full_window_stalls_until_its_first_sdu_is_acknowledged_38_322_5_2_3_1_1() {
    let config = RlcConfig { pdcp_sn: tidemark_marker::SnLength::Bits12, queue_sdus: 2_048, ..RlcConfig::default() };
    let (mut bearer, mut pdus) = (Bearer::new(config, Overhead::NONE), Vec::new());
    for sn in 0..2_048 {
        assert!(!bearer.is_full(Bytes(100)));
        push(&mut bearer, sn, 100);
        pdus.extend(fill(&mut bearer, 0, 106));
    }
    assert!(bearer.is_full(Bytes(100)), "no other can have an SN (TS 38.323 5.2.1)");
    push(&mut bearer, 2_048, 100);
    assert_eq!((pdus.len(), bearer.has_data(), fill(&mut bearer, 1, 5_000).len()), (2_048, false, 0));
    // All but the first arrive: TX_Next_Ack stays.
    for pdu in &pdus[1..] {
        bearer.arrived(at(2), *pdu);
    }
    let status = bearer.handle_timers(at(22)).unwrap();
    bearer.handle_status(&status);
    let retransmitted = fill(&mut bearer, 23, 5_000);
    assert_eq!(
        retransmitted.iter().map(|pdu| (pdu.sdu, pdu.poll)).collect::<Vec<_>>(),
        [(0, true)],
        "and it polls: 5.3.3.2"
    );
    bearer.arrived(at(24), retransmitted[0]);
    assert_eq!(released(&mut bearer, 24).len(), 2_048);
    let status = bearer.handle_timers(at(32)).unwrap();
    bearer.handle_status(&status);
    assert!(bearer.has_data() && !bearer.is_full(Bytes(100)));
    assert_eq!(fill(&mut bearer, 33, 5_000)[0].sdu, 2_048);
}

#[test]
fn the_window_is_half_of_the_sns_and_no_queue_is_longer_38_322_7_2() {
    use tidemark_marker::SnLength::{Bits12, Bits18};
    for (pdcp_sn, most) in [(Bits12, 2_048), (Bits18, 131_072)] {
        let config = |queue_sdus| RlcConfig { pdcp_sn, queue_sdus, ..RlcConfig::default() };
        assert_eq!(config(most).validate(), Ok(()));
        let error = config(most + 1).validate().unwrap_err();
        assert_eq!(error.field(), "rlc.queue_sdus");
        assert!(error.problem().contains(&most.to_string()), "{error}");
        assert_eq!(config(1).max_under_way(), most);
    }
}

fn discarding() -> RlcConfig {
    RlcConfig { discard_timer: Some(ms(10)), t_reordering: Some(ms(20)), ..RlcConfig::default() }
}
fn discard(bearer: &mut Bearer<()>, now: u64) -> Vec<u32> {
    let mut list = Vec::new();
    bearer.discard(at(now), |sn, _| list.push(sn));
    list
}

#[test]
fn an_sdu_of_which_a_segment_was_sent_is_not_discarded_38_322_5_4() {
    let mut bearer = with(discarding());
    (0..2).for_each(|sn| push(&mut bearer, sn, 1_000));
    let first = fill(&mut bearer, 9, 500);
    assert_eq!(discard(&mut bearer, 100), [1]);
    let rest = fill(&mut bearer, 100, 5_000);
    for part in first.into_iter().chain(rest) {
        bearer.arrived(at(101), part);
    }
    assert_eq!(released(&mut bearer, 101).len(), 1);
}

#[test]
fn rlc_does_not_wait_for_what_pdcp_discarded_38_322_5_2_3_2() {
    let mut bearer = with(RlcConfig { t_status_prohibit: ms(0), ..discarding() });
    push(&mut bearer, 0, 1_000);
    let first = fill(&mut bearer, 0, ROOM);
    bearer.arrived(at(1), first[0]);
    assert_eq!(released(&mut bearer, 1).len(), 1);
    let status = bearer.handle_timers(at(1)).unwrap();
    bearer.handle_status(&status);
    // SN 1 is discarded after the receiver has begun to wait for the next SDU.
    push(&mut bearer, 1, 1_000);
    assert_eq!(discard(&mut bearer, 10), [1]);
    push(&mut bearer, 2, 1_000);
    let next = fill(&mut bearer, 11, ROOM);
    bearer.arrived(at(12), next[0]);
    assert_eq!(bearer.receiver.reassembly_ends(), None, "RLC has no gap");
    let status = bearer.handle_timers(at(12)).unwrap();
    assert_eq!((status.missing.len(), status.delivered), (0, Some(2)));
}

/// Law that drops the SDU with SN 1, and counts.
struct DropSecond<'a>(&'a mut u32);
impl DequeueGate<()> for DropSecond<'_> {
    fn decide(&mut self, _: &Packet<()>, sn: u32, _: Duration, _: RlcQueue) -> Verdict {
        if sn == 1 { Verdict::Drop } else { Verdict::Pass }
    }
    fn dropped(&mut self, _: Packet<()>) {
        *self.0 += 1;
    }
}

#[test]
fn a_drop_at_dequeue_is_a_hole_for_pdcp_unless_sns_are_given_behind_the_queue() {
    for (numbering, t_reordering, handed_on) in [
        (Numbering::OnArrival, None, 1 + 220),
        (Numbering::OnArrival, Some(ms(20)), 1 + 20),
        (Numbering::OnLeaving, None, 1),
    ] {
        let mut bearer = with(RlcConfig { numbering, t_reordering, ..RlcConfig::default() });
        bearer.expect_holes();
        (0..3).for_each(|sn| push(&mut bearer, sn, 1_000));
        let (mut block, mut dropped, room) = (Vec::new(), 0, bearer.backlog());
        bearer.fill(at(0), at(1), room, &mut block, &mut DropSecond(&mut dropped));
        assert_eq!((block.len(), dropped, bearer.backlog(), bearer.queue_state(at(1)).packets), (2, 1, 0, 0));
        for segment in &block {
            bearer.arrived(at(1), *segment);
        }
        let status = bearer.handle_timers(at(1)).unwrap();
        assert_eq!((status.missing.len(), status.delivered), (0, Some(2)), "RLC misses nothing");
        bearer.handle_status(&status);
        let mut arrived: Vec<_> = [1, handed_on - 1, handed_on].map(|now| released(&mut bearer, now).len()).into();
        arrived.dedup();
        let expected: &[usize] = if handed_on > 1 { &[1, 0, 1] } else { &[2, 0] };
        assert_eq!(arrived, expected, "{numbering:?} {t_reordering:?}");
        assert_eq!(bearer.window.base(), bearer.window.next(), "nothing is remembered");
    }
}

#[test]
fn a_law_judges_the_wait_above_pdcp_and_rlc_sends_what_passed() {
    let mut bearer = with(RlcConfig { numbering: Numbering::OnLeaving, paced: true, ..RlcConfig::default() });
    (0..20).for_each(|sn| push(&mut bearer, sn, 1_000));
    assert!(!bearer.has_data() && bearer.is_paced());
    let (mut block, mut dropped) = (Vec::new(), 0);
    bearer.pace(at(1), &mut DropSecond(&mut dropped));
    // 15 kB pass, a third of the next packet more or less, and one is dropped before RLC has it.
    assert_eq!((dropped, bearer.waiting(), bearer.queue_state(at(1)).packets), (1, 15, 19));
    assert_eq!(bearer.backlog(), 15 * ROOM);
    bearer.fill(at(1), at(2), 20 * ROOM, &mut block, &mut Open);
    assert_eq!((block.len(), bearer.has_data()), (15, false));
    // Nothing more passes until RLC's queue is looked at once more.
    assert_eq!(bearer.next_look(at(1)), Some(at(1) + Duration::from_micros(200)));
    bearer.pace(at(1) + Duration::from_micros(200), &mut Open);
    assert_eq!(bearer.waiting(), 0);
    bearer.pace(at(2), &mut Open);
    assert_eq!((bearer.waiting(), bearer.next_look(at(2))), (4, None));
    assert_eq!(
        bearer.re_establish().iter().map(|(sn, ..)| *sn).collect::<Vec<_>>(),
        (0..20).filter(|sn| *sn != 1).collect::<Vec<_>>()
    );
    assert_eq!((bearer.waiting(), bearer.backlog()), (0, 0));
}

#[test]
fn pdcp_waits_for_an_sn_that_never_comes_as_long_as_reordering_says_38_323_5_2_2() {
    let mut bearer = with(discarding());
    push(&mut bearer, 0, 1_000);
    let first = fill(&mut bearer, 0, ROOM);
    bearer.arrived(at(1), first[0]);
    assert_eq!(released(&mut bearer, 1).len(), 1);
    push(&mut bearer, 1, 1_000);
    assert_eq!(discard(&mut bearer, 10), [1]);
    // Nothing came after it, but the receiver learns nothing of that either.
    assert!(released(&mut bearer, 10).is_empty());
    (2..4).for_each(|sn| push(&mut bearer, sn, 1_000));
    let next = fill(&mut bearer, 30, ROOM);
    bearer.arrived(at(32), next[0]);
    assert!(released(&mut bearer, 32).is_empty());
    assert_eq!(bearer.window.reordering_ends(), Some(at(52)));
    let last = fill(&mut bearer, 40, ROOM);
    bearer.arrived(at(42), last[0]);
    assert!(released(&mut bearer, 51).is_empty());
    let waits: Vec<_> =
        released(&mut bearer, 52).into_iter().flatten().map(|split: DelaySplit| split.reordering).collect();
    assert_eq!(waits, [ms(20), ms(10)]);
}
