//! Reports that are late by varying times show no queue that does not exist, and do show one that exists.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::{
    DeliveryStatus, DrbMarker, L4SpanConfig, LawConfig, MarkerConfig, SnLength, TideConfig, Verdict,
};

/// Size of a packet, and the time that the radio of 40 Mbit/s takes for it.
const SIZE: Bytes = Bytes(1_250);
const SERVICE: Duration = Duration::from_micros(250);
const STEP: Duration = Duration::from_micros(50);

/// A DRB of a cell of 40 Mbit/s whose DU reports by the clock.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// Share of the radio that is sent.
    load: f64,
    /// Period of the reports, and the longest delay of one, which is uniform, in milliseconds.
    period: u64,
    jitter: f64,
    /// Reports may overtake each other.
    reordered: bool,
    ecn: Ecn,
}

fn tide() -> LawConfig {
    LawConfig::Tide(TideConfig::default())
}

/// Share of the packets that are marked from the third second of so many on, and the longest true sojourn.
fn run(law: LawConfig, path: Path, seed: u64, seconds: u64) -> (f64, Duration) {
    let config = MarkerConfig { overload_protection: false, ..MarkerConfig::with_law(law) };
    let mut marker = DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    let mut random = Stream::new(seed, 0, "jitter");
    let (mut on_the_wire, mut queue) = (BinaryHeap::new(), VecDeque::new());
    let (mut transmitted, mut reported, mut sn) = (None, None, 0);
    let (mut now, mut next, mut idle_from, mut last) = (Instant::ZERO, Instant::ZERO, Instant::ZERO, Instant::ZERO);
    let (mut packets, mut marks, mut longest) = (0, 0, Duration::ZERO);
    while now < Instant::from_millis(seconds * 1_000) {
        while queue.front().is_some_and(|(begin, _)| *begin <= now) {
            transmitted = queue.pop_front().map(|(_, sn)| sn);
        }
        let is_due = now.as_nanos() % Duration::from_millis(path.period).as_nanos() == 0;
        if is_due && transmitted != reported {
            reported = transmitted;
            let arrival = now + Duration::from_secs_f64(random.uniform() * path.jitter * 1e-3);
            last = if path.reordered { arrival } else { arrival.max(last) };
            on_the_wire.push((Reverse(last), Reverse(reported)));
        }
        while on_the_wire.peek().is_some_and(|(arrival, _)| arrival.0 <= now) {
            let highest_transmitted = on_the_wire.pop().and_then(|(_, sn)| sn.0);
            marker.handle_report(now, &DeliveryStatus { highest_transmitted, ..DeliveryStatus::default() });
        }
        while next <= now {
            let packet = Packet { flow: FlowId(1), size: SIZE, ecn: path.ecn, payload: () };
            let verdict = marker.handle_downlink(now, &packet, None);
            let begin = idle_from.max(now);
            if now > Instant::from_millis(2_000) {
                packets += 1;
                marks += u32::from(verdict == Verdict::Mark);
                longest = longest.max(begin.since(now));
            }
            marker.handle_pdcp_pdu(now, sn, SIZE);
            queue.push_back((begin, sn));
            idle_from = begin + SERVICE;
            sn += 1;
            next += Duration::from_secs_f64(SERVICE.as_secs_f64() / path.load * (0.5 + random.uniform()));
        }
        now += STEP;
    }
    (f64::from(marks) / f64::from(packets), longest)
}

#[test]
fn reports_whose_delay_jitters_by_two_periods_mark_no_queue_that_is_not_there() {
    for (period, jitter) in [(5, 0.0), (5, 6.0), (5, 10.0), (10, 8.0), (10, 20.0)] {
        for (load, reordered) in [(0.1, true), (0.25, true), (0.25, false), (0.8, true)] {
            for ecn in [Ecn::Ect1, Ecn::Ect0] {
                let path = Path { load, period, jitter, reordered, ecn };
                let runs = [101, 102, 103].map(|seed| run(tide(), path, seed, 12));
                let marked = runs.iter().map(|(marked, _)| marked / 3.0).sum::<f64>();
                println!("{path:?}: {marked:.4}");
                assert!(runs.iter().all(|(_, longest)| *longest < Duration::from_millis(1)), "{path:?}");
                assert!(marked < 0.01, "{path:?}: {marked:.3} of the packets are marked");
            }
        }
    }
}

#[test]
fn a_queue_is_marked_behind_reports_whose_delay_jitters() {
    for (period, jitter) in [(5, 0.0), (5, 10.0), (10, 20.0)] {
        let path = Path { load: 1.05, period, jitter, reordered: true, ecn: Ecn::Ect1 };
        let (marked, _) = run(tide(), path, 101, 5);
        assert!(marked > 0.95, "{path:?}: {marked:.3} of the packets are marked");
    }
}

/// A law that uses the current backlog takes SDUs that reports have not covered yet for a queue (docs/concepts/life-of-a-report.md).
#[test]
fn l4span_marks_queues_that_are_not_there_behind_late_reports() {
    for (period, jitter) in [(5, 6.0), (5, 10.0), (10, 8.0), (10, 20.0)] {
        for load in [0.1, 0.25, 0.8] {
            let path = Path { load, period, jitter, reordered: true, ecn: Ecn::Ect1 };
            let (marked, longest) = run(LawConfig::L4span(L4SpanConfig::default()), path, 101, 12);
            assert!(longest < Duration::from_millis(1), "{path:?}");
            assert!((0.03..0.81).contains(&marked), "{path:?}: {marked:.3} of the packets are marked");
        }
    }
}
