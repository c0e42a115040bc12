//! Senders that listen to the access network's recommendations.

use crate::link::{Bottleneck, Link};
use tidemark_core::{BitRate, Duration};
use tidemark_senders::media::{AnbrConfig, AnbrRule, RateLimits, VideoConfig};
use tidemark_senders::{AppConfig, SenderConfig};

fn rates() -> RateLimits {
    RateLimits { min: BitRate::from_kbps(500), ..RateLimits::default() }
}

/// 20 Mbit/s with marks from 5 to 20 ms, and a delay each way.
fn link(sender: &SenderConfig, delay_ms: u64) -> Link {
    let rate = BitRate::from_mbps(20);
    let mut link = Link::new(sender, &AppConfig::Video(VideoConfig::default()), Duration::from_millis(delay_ms));
    let mut bottleneck = Bottleneck::new(rate, rate.bytes_in(Duration::from_millis(300)), Duration::from_millis(5));
    bottleneck.mark_all = Duration::from_millis(20);
    link.bottleneck = Some(bottleneck);
    link
}

fn anbr(rule: AnbrRule) -> SenderConfig {
    SenderConfig::Anbr(AnbrConfig { rule, rates: rates(), ..AnbrConfig::default() })
}

/// Recommends `rate` every 100 ms, so many times; target at the end and largest frame delay, in Mbit/s and ms.
fn run(link: &mut Link, rate: BitRate, times: u64) -> (f64, f64) {
    let from = link.now;
    for _ in 0..times {
        link.client.handle_recommendation(link.now, rate);
        link.run_for(Duration::from_millis(100));
    }
    let late = link.frames.iter().filter(|frame| frame.captured > from);
    let longest = late.map(|frame| frame.delay.as_millis_f64()).fold(0.0, f64::max);
    (link.stats().0.target_rate.unwrap().as_mbps(), longest)
}

#[test]
fn a_recommendation_is_followed() {
    let mut link = link(&anbr(AnbrRule::Follow), 10);
    assert!((run(&mut link, BitRate::from_mbps(15), 20).0 - 15.0).abs() < 0.01);
    assert!((run(&mut link, BitRate::from_mbps(6), 20).0 - 6.0).abs() < 0.01);
}

#[test]
fn hybrids_are_fast_with_a_recommendation_and_answer_marks_beside_it() {
    for rule in [AnbrRule::Max, AnbrRule::Gradual] {
        let (alone, _) = run(&mut link(&anbr(rule), 50), BitRate::from_mbps(1), 20);
        let mut link = link(&anbr(rule), 50);
        let (soon, _) = run(&mut link, BitRate::from_mbps(15), 20);
        assert!(soon >= 13.0 && soon > alone + 4.0, "{rule:?}: {soon} Mbit/s after 2 s, {alone} without help");
        // A recommendation of twice what the link carries: marks keep the delay in bounds.
        let (rate, longest) = run(&mut link, BitRate::from_mbps(40), 100);
        println!("{rule:?}: {rate:.1} Mbit/s, longest frame delay {longest:.0} ms");
        assert!(longest < 400.0, "{rule:?}: {longest} ms");
    }
}

#[test]
fn drawn_gradually_a_false_recommendation_does_less_harm() {
    let longest = |rule| {
        let mut link = link(&anbr(rule), 10);
        run(&mut link, BitRate::from_mbps(15), 100);
        let from = link.now;
        run(&mut link, BitRate::from_mbps(40), 200);
        let mut delays: Vec<f64> =
            link.frames.iter().filter(|frame| frame.captured > from).map(|frame| frame.delay.as_millis_f64()).collect();
        delays.sort_by(f64::total_cmp);
        delays[delays.len() * 95 / 100]
    };
    let (max, gradual) = (longest(AnbrRule::Max), longest(AnbrRule::Gradual));
    println!("95 % of frames within {max:.1} ms by the max rule, {gradual:.1} ms gradually");
    assert!(gradual < max, "{gradual} ms against {max} ms");
}
