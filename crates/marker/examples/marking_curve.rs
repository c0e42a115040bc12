//! Prints the share of packets that each law marks or drops, by the length of the queue, as CSV:
//!
//! `cargo run --release -p tidemark-marker --example marking_curve > curve.csv`
//!
//! The queue is held at a length for six seconds behind a radio of 40 Mbit/s whose slots vary by a third, with reports
//! every 5 ms. The last five seconds are counted. Laws that act on the time above a target (CoDel, DualPI2's PI controller)
//! have the state that they reach by then. `probability` is the mean probability of the law, which is smoother than the shares
//! if marks are rare. `results/draw` plots the pictures of `docs/reference/laws.md` from it.

#[path = "../tests/common/mod.rs"]
mod common;

use common::Du;
use tidemark_core::{Duration, Ecn, Stream};
use tidemark_marker::{LawConfig, MarkerConfig, SnLength};

const SLOT_BYTES: f64 = 2_500.0;

fn main() {
    println!("law,class,queue_ms,marked,dropped,probability");
    for law in LawConfig::all().into_iter().filter(|law| *law != LawConfig::None {}) {
        let name = law.properties().name;
        for (class, ecn) in [("l4s", Ecn::Ect1), ("classic", Ecn::Ect0)] {
            for queue_ms in (0..=30).chain((35..=150).step_by(5)) {
                let [marked, dropped, probability] = shares(law, ecn, queue_ms);
                println!("{name},{class},{queue_ms},{marked:.6},{dropped:.6},{probability:.6}");
            }
        }
    }
    for law in [LawConfig::L4span(Default::default()), LawConfig::Tide(Default::default())] {
        let name = law.properties().name;
        for queue_ms in (0..=30).chain((35..=150).step_by(5)) {
            let [l4s, classic] = shared(law, queue_ms);
            for (class, marked) in [("shared-l4s", l4s), ("shared-classic", classic)] {
                println!("{name},{class},{queue_ms},{marked:.6},0.000000,{marked:.6}");
            }
        }
    }
}

/// Shares of the packets of an L4S flow and of a classic one that were marked, which send by turns in one DRB.
fn shared(law: LawConfig, queue_ms: u64) -> [f64; 2] {
    let mut du = Du::new(&MarkerConfig::with_law(law), SnLength::Bits18, Duration::from_millis(5));
    let mut radio = Stream::new(1, 0, "radio");
    let mut turn = 0;
    let mut before = du.marker.counters();
    for slot in 0..12_000 {
        if slot == 2_000 {
            before = du.marker.counters();
        }
        while du.backlog() < (queue_ms * 5_000).max(1) {
            turn = 1 - turn;
            du.send(turn, if turn == 0 { Ecn::Ect1 } else { Ecn::Ect0 }, 1_500);
        }
        du.slot(SLOT_BYTES * (1.0 + 0.33 * radio.normal()).max(0.0));
    }
    let now = du.marker.counters();
    let share = |marks: u64, packets: u64| marks as f64 / packets.max(1) as f64;
    [
        share(now.l4s_marks - before.l4s_marks, now.l4s_packets - before.l4s_packets),
        share(now.classic_marks - before.classic_marks, now.classic_packets - before.classic_packets),
    ]
}

/// Shares of the packets sent that were marked and that were dropped, and the mean probability.
fn shares(law: LawConfig, ecn: Ecn, queue_ms: u64) -> [f64; 3] {
    let mut du = Du::new(&MarkerConfig::with_law(law), SnLength::Bits18, Duration::from_millis(5));
    let mut radio = Stream::new(1, 0, "radio");
    let hold = queue_ms * 5_000;
    let (mut sent, mut probability) = (0u64, 0.0);
    for slot in 0..12_000 {
        if slot == 2_000 {
            (du.marks, du.drops, sent, probability) = (0, 0, 0, 0.0);
        }
        // A law may drop what is sent to fill the queue: so many attempts, and the rest in the next slot.
        for _ in 0..200 {
            if du.backlog() >= hold.max(1) {
                break;
            }
            du.send(0, ecn, 1_500);
            sent += 1;
            probability += du.marker.estimate(du.now).probability.get();
        }
        du.slot(SLOT_BYTES * (1.0 + 0.33 * radio.normal()).max(0.0));
    }
    [du.marks as f64, du.drops as f64, probability].map(|sum| sum / sent as f64)
}
