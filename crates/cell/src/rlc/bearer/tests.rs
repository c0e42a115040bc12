//! Tests of a bearer, step by step.

use tidemark_core::{Ecn, FlowId};

use super::super::Open;
use super::*;
use crate::output::DelaySplit;

pub(super) fn bearer(mode: RlcMode) -> Bearer<()> {
    let config = RlcConfig { mode, ..RlcConfig::default() };
    let overhead = Overhead::of(&config);
    Bearer::new(config, overhead)
}
pub(super) fn push(bearer: &mut Bearer<()>, sn: u32, size: u64) {
    let packet = Packet { flow: FlowId(0), size: Bytes(size), ecn: Ecn::NotEct, payload: () };
    bearer.push(Instant::ZERO, Instant::ZERO, sn, packet);
}
pub(super) fn fill(bearer: &mut Bearer<()>, ms: u64, room: u32) -> Vec<Segment> {
    let mut block = Vec::new();
    let now = Instant::from_millis(ms);
    bearer.fill(now, now + Duration::from_millis(1), room, &mut block, &mut Open);
    block
}
/// Takes what leaves: the parts of its delay, or nothing for what is lost.
pub(super) fn released(bearer: &mut Bearer<()>, ms: u64) -> Vec<Option<DelaySplit>> {
    let mut list = Vec::new();
    bearer.release(Instant::from_millis(ms), |released| list.push(released.delay));
    list
}
fn delivered(bearer: &mut Bearer<()>, ms: u64) -> Vec<DelayMs> {
    let split = |split: Option<DelaySplit>| {
        let split = split.unwrap();
        let ms = |span: Duration| span.as_millis();
        (ms(split.queuing), ms(split.scheduling), ms(split.harq + split.rlc), ms(split.reordering))
    };
    released(bearer, ms).into_iter().map(split).collect()
}
type DelayMs = (u64, u64, u64, u64);

#[test]
fn a_block_takes_whole_packets_and_a_part_and_never_more_than_its_room() {
    let mut bearer = bearer(RlcMode::Am);
    (0..3).for_each(|sn| push(&mut bearer, sn, 1_000));
    // A packet takes 1000 + 3 and 6 bytes of headers.
    let block = fill(&mut bearer, 1, 1_500);
    let segment = |sdu, bytes| Segment { sdu, offset: 0, bytes, poll: false };
    assert_eq!(block, [segment(0, 1_003), segment(1, 1_500 - 1_009 - 6)]);
    assert_eq!(bearer.highest_transmitted(), Some(1));
    assert_eq!(bearer.backlog(), (1_003 - 485) + 8 + 1_009);
    let room = bearer.backlog();
    let rest = fill(&mut bearer, 2, room);
    assert_eq!(rest.len(), 2);
    assert!(!bearer.has_data());
}

#[test]
fn an_sdu_that_was_begun_or_is_to_be_retransmitted_grows_older() {
    let mut bearer = bearer(RlcMode::Am);
    (0..2).for_each(|sn| push(&mut bearer, sn, 1_000));
    let age = |bearer: &Bearer<()>, ms| {
        (
            bearer.head_of_line(Instant::from_millis(ms)).as_millis(),
            bearer.queue_state(Instant::from_millis(ms)).head_of_line.as_millis(),
        )
    };
    let room = bearer.backlog();
    fill(&mut bearer, 1, room - 100);
    assert_eq!(age(&bearer, 5), (5, 0), "a part of the second waits");
    fill(&mut bearer, 6, room);
    assert_eq!(age(&bearer, 7), (0, 0));
    bearer.push(
        Instant::from_millis(8),
        Instant::from_millis(8),
        2,
        Packet { flow: FlowId(0), size: Bytes(100), ecn: Ecn::NotEct, payload: () },
    );
    bearer.handle_status(&Status {
        ack_sn: 2,
        missing: vec![Segment { sdu: 0, offset: 0, bytes: 1_003, poll: false }],
        ..Status::default()
    });
    assert_eq!(age(&bearer, 10), (10, 2), "laws look at what was not sent");
}

#[test]
fn a_poll_without_an_answer_is_retransmitted_as_often_as_a_pdu_then_given_up() {
    let mut bearer = bearer(RlcMode::Am);
    let most = u64::from(bearer.config.max_retransmissions);
    push(&mut bearer, 0, 500);
    let (mut sent, mut ms) = (0, 0);
    while bearer.has_data() {
        sent += u64::try_from(fill(&mut bearer, ms, 1_000).len()).unwrap();
        ms += bearer.config.t_poll_retransmit.as_millis() + 1;
        bearer.handle_timers(Instant::from_millis(ms));
    }
    assert_eq!(sent, 1 + most);
    assert_eq!(bearer.next_timer(Instant::from_millis(ms)), None);
}

#[test]
fn the_delay_of_a_packet_is_taken_apart_to_the_last_nanosecond() {
    let mut bearer = bearer(RlcMode::Am);
    (0..2).for_each(|sn| push(&mut bearer, sn, 1_000));
    let first = fill(&mut bearer, 4, 1_009);
    let second = fill(&mut bearer, 7, 1_009);
    // The second arrives first and waits for the first, which comes at 30 ms.
    let ms = Instant::from_millis;
    for segment in second {
        bearer.arrived(ms(8), segment);
    }
    assert!(released(&mut bearer, 8).is_empty());
    for segment in first {
        bearer.arrived(ms(30), segment);
    }
    assert_eq!(delivered(&mut bearer, 30), [(0, 5, 25, 0), (4, 4, 0, 22)]);
}

#[test]
fn harq_is_distinguished_from_rlc() {
    let mut bearer = bearer(RlcMode::Am);
    push(&mut bearer, 0, 1_000);
    let block = fill(&mut bearer, 1, 2_000);
    bearer.lost(Instant::from_millis(10), &block);
    bearer.arrived(Instant::from_millis(25), block[0]);
    let split = released(&mut bearer, 25)[0].unwrap();
    // Due at 2 ms.
    assert_eq!([split.harq, split.rlc].map(|part| part.as_millis()), [8, 15]);
}

#[test]
fn the_last_pdu_polls_and_its_report_asks_for_what_is_missing_in_parts_that_fit() {
    let mut bearer = bearer(RlcMode::Am);
    (0..2).for_each(|sn| push(&mut bearer, sn, 1_000));
    let block = fill(&mut bearer, 1, 5_000);
    assert_eq!(block.iter().map(|segment| segment.poll).collect::<Vec<_>>(), [false, true]);
    // The first is lost. The poll is answered when t-Reassembly, 20 ms, lets the gap be reported.
    let now = Instant::from_millis(3);
    bearer.arrived(now, block[1]);
    assert!(bearer.handle_timers(now).is_none());
    assert_eq!(bearer.next_timer(now), Some(Instant::from_millis(23)));
    let status = bearer.handle_timers(Instant::from_millis(23)).unwrap();
    assert_eq!((status.ack_sn, status.missing.len(), status.missing[0].bytes), (2, 1, 1_003));
    bearer.handle_status(&status);
    let parts = [fill(&mut bearer, 30, 600), fill(&mut bearer, 31, 600)].concat();
    assert_eq!(parts.iter().map(|part| (part.offset, part.bytes)).collect::<Vec<_>>(), [(0, 594), (594, 409)]);
    // One part comes twice, which changes nothing.
    for part in [parts[1], parts[1], parts[0]] {
        bearer.arrived(Instant::from_millis(33), part);
    }
    assert_eq!(delivered(&mut bearer, 33).len(), 2);
    assert!(delivered(&mut bearer, 34).is_empty());
}

#[test]
fn a_lost_tail_is_found_by_another_poll() {
    let mut bearer = bearer(RlcMode::Am);
    push(&mut bearer, 0, 1_000);
    fill(&mut bearer, 1, 5_000);
    // Nothing came, so nobody reports: t-PollRetransmit, 100 ms.
    assert_eq!(bearer.next_timer(Instant::from_millis(2)), Some(Instant::from_millis(101)));
    assert!(!bearer.has_data());
    assert!(bearer.handle_timers(Instant::from_millis(101)).is_none());
    let retransmitted = fill(&mut bearer, 101, 5_000);
    assert!(retransmitted[0].poll && retransmitted[0].bytes == 1_003);
}

#[test]
fn without_acknowledgements_reordering_waits_and_then_goes_on() {
    let mut bearer = bearer(RlcMode::Um);
    (0..2).for_each(|sn| push(&mut bearer, sn, 1_000));
    let block = fill(&mut bearer, 1, 5_000);
    bearer.arrived(Instant::from_millis(3), block[1]);
    bearer.lost(Instant::from_millis(9), &block[..1]);
    // A loss is told at once; what came after it waits, since the receiver does not know.
    assert!(matches!(released(&mut bearer, 9)[..], [None]));
    assert_eq!(bearer.next_timer(Instant::from_millis(9)), Some(Instant::from_millis(53)));
    assert!(matches!(released(&mut bearer, 53)[..], [Some(_)]));
    assert_eq!(bearer.packets().count(), 0);
    assert_eq!(bearer.window.base(), bearer.window.next(), "nothing is remembered");
}

#[test]
fn what_was_begun_is_over_at_a_handover_without_acknowledgements() {
    let mut bearer = bearer(RlcMode::Um);
    (0..4).for_each(|sn| push(&mut bearer, sn, 1_000));
    // Two whole ones and half of the third are sent; only the second arrives.
    let block = fill(&mut bearer, 1, 2_500);
    bearer.arrived(Instant::from_millis(3), block[1]);
    assert!(released(&mut bearer, 3).is_empty());
    bearer.conclude();
    // TS 38.323 5.1.2: stored SDUs are delivered, and only what was never submitted is transmitted once more.
    assert!(matches!(released(&mut bearer, 4)[..], [None, Some(_), None]));
    let forwarded: Vec<_> = bearer.re_establish().into_iter().map(|(sn, ..)| sn).collect();
    assert_eq!(forwarded, [3]);
    assert_eq!(bearer.packets().count(), 0);
}

#[test]
fn what_waits_too_long_is_discarded_and_leaves_a_hole_that_reordering_waits_for() {
    let mut bearer = bearer(RlcMode::Am);
    bearer.config.discard_timer = Some(Duration::from_millis(10));
    bearer.config.t_reordering = Some(Duration::from_millis(20));
    push(&mut bearer, 0, 1_000);
    let first = fill(&mut bearer, 0, 1_009);
    push(&mut bearer, 1, 1_000);
    let mut discarded = Vec::new();
    bearer.discard(Instant::from_millis(9), |sn, _| discarded.push(sn));
    assert!(discarded.is_empty());
    bearer.discard(Instant::from_millis(10), |sn, _| discarded.push(sn));
    assert_eq!(discarded, [1]);
    push(&mut bearer, 2, 1_000);
    let third = fill(&mut bearer, 11, 1_009);
    for segment in first.into_iter().chain(third) {
        bearer.arrived(Instant::from_millis(12), segment);
    }
    assert_eq!(delivered(&mut bearer, 12).len(), 1);
    assert_eq!(delivered(&mut bearer, 31).len(), 0);
    assert_eq!(delivered(&mut bearer, 32).len(), 1);
}

#[test]
fn a_full_queue_is_full_by_packets_and_by_bytes() {
    let mut bearer = bearer(RlcMode::Am);
    bearer.config.queue_sdus = 2;
    (0..2).for_each(|sn| push(&mut bearer, sn, 100));
    assert!(bearer.is_full(Bytes(1)));
    bearer.config = RlcConfig { queue_bytes: Some(Bytes(250)), ..RlcConfig::default() };
    assert!(bearer.is_full(Bytes(51)) && !bearer.is_full(Bytes(50)));
}
