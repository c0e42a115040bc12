//! Prints how many packets of a video are marked without a queue that justifies it, for several report periods.
//!
//! Each frame arrives at once and leaves at 40 Mbit/s in seven slots of ten, with slots that vary by 30 %. The DU reports periodically.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::{DeliveryStatus, DrbMarker, LawConfig, MarkerConfig, SnLength, Verdict};

const SIZE: u64 = 1_200;
/// Bytes that leave in a second.
const CAPACITY: f64 = 5e6;
/// Threshold of the law, in seconds.
const TAU_S: f64 = 0.010;

fn main() {
    println!("| video | waits beyond 10 ms | marked, reports every 5 ms | 10 ms | 20 ms | 40 ms |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for (mbps, fps) in [(12.0, 60), (20.0, 60), (12.0, 30)] {
        let shares = [5, 10, 20, 40].map(|period| run(mbps, fps, period));
        let marked: Vec<_> = shares.iter().map(|(_, marked)| format!("{marked:.1} %")).collect();
        println!("| {mbps} Mbit/s, {fps} frames a second | {:.1} % | {} |", shares[0].0, marked.join(" | "));
    }
}

/// Percentages of the packets that meet more than the threshold, and that are marked, with a report every so many milliseconds.
fn run(mbps: f64, fps: u64, period: u64) -> (f64, f64) {
    let config = MarkerConfig::with_law(LawConfig::L4span(tidemark_marker::L4SpanConfig::default()));
    let mut marker =
        DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "mark")).expect("it has defaults alone");
    let (mut chance, mut queue) = (Stream::new(9, 0, "video"), VecDeque::new());
    let packets_a_frame = mbps * 1e6 / 8.0 / fps as f64 / SIZE as f64;
    let (mut frames, mut sn, mut long, mut marks, mut credit) = (0, 0, 0u32, 0u32, 0.0);
    let (mut transmitted, mut reported) = (None, None);
    for slot in 1..60_000 {
        let micros = 500 * slot;
        let now = Instant::ZERO + Duration::from_micros(micros);
        if micros * fps >= frames * 1_000_000 {
            frames += 1;
            for _ in 0..(packets_a_frame * (1.0 + 0.3 * chance.normal())).max(1.0) as u64 {
                let packet = Packet { flow: FlowId(0), size: Bytes(SIZE), ecn: Ecn::Ect1, payload: () };
                long += u32::from(queue.len() as f64 * SIZE as f64 / CAPACITY > TAU_S);
                match marker.handle_downlink(now, &packet, None) {
                    Verdict::Pass => {}
                    Verdict::Mark => marks += 1,
                    Verdict::Drop => continue,
                }
                marker.handle_pdcp_pdu(now, sn, Bytes(SIZE));
                queue.push_back(sn);
                sn += 1;
            }
        }
        if slot % 10 < 7 {
            credit += CAPACITY * 500e-6 / 0.7 * (1.0 + 0.3 * chance.normal()).max(0.0);
        }
        while credit > 0.0
            && let Some(sn) = queue.pop_front()
        {
            credit -= SIZE as f64;
            transmitted = Some(sn);
        }
        if queue.is_empty() {
            credit = credit.min(0.0);
        }
        if micros % (1_000 * period) == 0 && transmitted != reported {
            reported = transmitted;
            marker
                .handle_report(now, &DeliveryStatus { highest_transmitted: transmitted, ..DeliveryStatus::default() });
        }
    }
    let percent = |part: u32| 100.0 * f64::from(part) / f64::from(sn);
    (percent(long), percent(marks))
}
