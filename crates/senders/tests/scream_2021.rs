//! SCReAM of 2021 against the public program itself: its rates were measured over links like these (commit 92a6808 of EricssonResearch/scream
//! with 60 frames a second that deviate by a tenth, packets of 1248 bytes, two draws of frames and marks).

use crate::link::{Bottleneck, Link};
use tidemark_core::{BitRate, Bytes, Duration};
use tidemark_senders::AppConfig;
use tidemark_senders::media::{Scream2021Config, VideoConfig};

/// A link, and the program's rates over it.
struct Case {
    mbps: u64,
    one_way_ms: u64,
    l4s: bool,
    /// Ages between which the share of marked packets rises from nothing to all, in ms.
    marks_ms: (u64, u64),
    /// True if the rate is half for 4 of every 8 seconds.
    halves: bool,
    /// Mbit/s of IP packets, with either draw.
    program: [f64; 2],
}

const CASES: [Case; 7] = [
    Case { mbps: 50, one_way_ms: 25, l4s: true, marks_ms: (5, 10), halves: false, program: [44.13, 43.88] },
    Case { mbps: 40, one_way_ms: 10, l4s: true, marks_ms: (1, 2), halves: false, program: [32.36, 29.25] },
    Case { mbps: 20, one_way_ms: 10, l4s: true, marks_ms: (5, 20), halves: false, program: [16.47, 18.16] },
    Case { mbps: 10, one_way_ms: 40, l4s: true, marks_ms: (5, 10), halves: false, program: [9.07, 9.31] },
    Case { mbps: 40, one_way_ms: 25, l4s: true, marks_ms: (5, 10), halves: true, program: [16.20, 15.29] },
    Case { mbps: 20, one_way_ms: 10, l4s: false, marks_ms: (5, 20), halves: false, program: [5.51, 5.79] },
    // Never a mark: the delay alone.
    Case { mbps: 20, one_way_ms: 25, l4s: false, marks_ms: (1_000, 2_000), halves: false, program: [19.89, 19.93] },
];

const STEP: Duration = Duration::from_secs(4);

/// Mbit/s of IP packets from 40 s to 80 s.
fn rate(case: &Case) -> f64 {
    let config =
        Scream2021Config { l4s: case.l4s, ramp_up_speed: BitRate::from_mbps(5), ..Scream2021Config::default() };
    let app = AppConfig::Video(VideoConfig::default());
    let full = BitRate::from_mbps(case.mbps);
    let mut link = Link::new(&config, &app, Duration::from_millis(case.one_way_ms));
    let [low, high] = [case.marks_ms.0, case.marks_ms.1].map(Duration::from_millis);
    let mut bottleneck = Bottleneck::new(full, full.bytes_in(Duration::from_secs(2)), low);
    bottleneck.mark_all = high;
    link.bottleneck = Some(bottleneck);
    let mut before = Bytes::ZERO;
    for step in 0..20u32 {
        if step == 10 {
            before = link.stats().0.bytes_sent;
        }
        if let Some(bottleneck) = link.bottleneck.as_mut().filter(|_| case.halves) {
            bottleneck.rate = BitRate::from_mbps(if step % 2 == 0 { case.mbps } else { case.mbps / 2 });
        }
        link.run_for(STEP);
    }
    (link.stats().0.bytes_sent - before).as_f64() * 8e-6 / 40.0
}

#[test]
fn rates_are_those_of_the_program() {
    for case in CASES {
        let ours = rate(&case);
        let [low, high] = [case.program[0].min(case.program[1]), case.program[0].max(case.program[1])];
        println!("{} Mbit/s, {} ms: {ours:.2}, the program {low} to {high}", case.mbps, case.one_way_ms);
        assert!(
            (0.85 * low..1.15 * high).contains(&ours),
            "{ours} Mbit/s of {}, where the program has {low} to {high}",
            case.mbps
        );
    }
}
