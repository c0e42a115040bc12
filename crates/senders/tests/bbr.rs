//! BBR over a bottleneck of known rate and delay.

use crate::link::{Bottleneck, Fate, Link, is_data};
use tidemark_core::{BitRate, Duration, Instant, Probability, Stream};
use tidemark_senders::controller::{BbrV1Config, BbrV2Config, BbrV3Config};
use tidemark_senders::{AppConfig, EcnMode, SenderConfig, TcpConfig};

const RATE: BitRate = BitRate::from_mbps(40);

fn v1() -> SenderConfig {
    SenderConfig::BbrV1(BbrV1Config::default())
}
fn v2() -> SenderConfig {
    SenderConfig::BbrV2(BbrV2Config::default())
}
fn v3() -> SenderConfig {
    SenderConfig::BbrV3(BbrV3Config::default())
}

/// 40 Mbit/s and 40 ms, with a queue of `queue`.
fn link(config: &SenderConfig, queue: Duration) -> Link {
    let mut link = Link::new(config, &AppConfig::default(), Duration::from_millis(20));
    link.bottleneck = Some(Bottleneck::new(RATE, RATE.bytes_in(queue), Duration::MAX));
    link
}

/// Share of what headers leave of 40 Mbit/s.
fn share(link: &mut Link, span: Duration) -> f64 {
    let before = link.stats().1.delivered;
    link.run_for(span);
    (link.stats().1.delivered - before).as_f64() * 8.0 / span.as_secs_f64() / (40e6 * 1448.0 / 1500.0)
}

fn mean_rtt(link: &Link, from: Instant) -> f64 {
    let rtts: Vec<f64> = link.rtts.iter().filter(|(at, _)| *at >= from).map(|(_, rtt)| rtt.as_millis_f64()).collect();
    rtts.iter().sum::<f64>() / rtts.len() as f64
}

#[test]
fn startup_doubles_each_round_and_drains_its_queue() {
    for config in [v1(), v2(), v3()] {
        let mut link = link(&config, Duration::from_millis(400));
        link.run_for(Duration::from_millis(1000));
        assert!(share(&mut link, Duration::from_secs(1)) > 0.95, "{config:?}: full speed after a second");
        let rtt = link.rtts.last().unwrap().1;
        assert!(rtt < Duration::from_millis(60), "{config:?}: {rtt:?} with the queue of startup drained");
    }
}

#[test]
fn a_deep_queue_is_neither_needed_nor_filled() {
    for config in [v1(), v2(), v3()] {
        let mut link = link(&config, Duration::from_millis(400));
        link.run_for(Duration::from_secs(5));
        let share = share(&mut link, Duration::from_secs(30));
        let rtt = mean_rtt(&link, Instant::from_millis(5000));
        // PROBE_RTT costs at the most 200 ms and a round of 10 s (version 1).
        assert!(share > 0.95, "{config:?}: {share}");
        assert!((40.0..52.0).contains(&rtt), "{config:?}: {rtt} ms");
        assert_eq!(link.stats().0.losses, 0);
    }
}

#[test]
fn the_minimum_round_trip_is_probed_for() {
    // Version 1 every 10 s down to four segments, version 3 every 5 s down to half the product.
    for (config, least, probes) in [(v1(), 0.0, 2..=3), (v2(), 60_000.0, 4..=7), (v3(), 60_000.0, 4..=7)] {
        let mut link = link(&config, Duration::from_millis(400));
        link.run_for(Duration::from_secs(3));
        let (mut count, mut below) = (0, false);
        for _ in 0..3000 {
            link.run_for(Duration::from_millis(10));
            let window = link.stats().0.window.unwrap().as_f64();
            let now_below = window < 110_000.0;
            count += i32::from(now_below && !below);
            below = now_below;
            assert!(window > least);
        }
        assert!(probes.contains(&count), "{config:?}: {count} probes in 30 s");
    }
}

#[test]
fn random_loss_below_the_threshold_costs_little() {
    for (config, loss, least) in [(v1(), 0.05, 0.85), (v2(), 0.005, 0.85), (v3(), 0.005, 0.85)] {
        let mut link = link(&config, Duration::from_millis(100));
        let mut stream = Stream::new(1, 0, "loss");
        link.down =
            Box::new(
                move |_, packet| {
                    if is_data(packet) && stream.chance(Probability::new(loss)) { Fate::Drop } else { Fate::Deliver }
                },
            );
        link.run_for(Duration::from_secs(5));
        let share = share(&mut link, Duration::from_secs(20));
        assert!(share > least, "{config:?}: {share}");
    }
}

#[test]
fn versions_2_and_3_keep_losses_in_a_shallow_queue_low() {
    // A fifth of the bandwidth-delay product.
    let lost_share = |config: &SenderConfig| {
        let mut link = link(config, Duration::from_millis(8));
        link.run_for(Duration::from_secs(5));
        let before = link.stats().0;
        let share = share(&mut link, Duration::from_secs(30));
        let after = link.stats().0;
        ((after.losses - before.losses) as f64 / (after.packets_sent - before.packets_sent) as f64, share)
    };
    for config in [v2(), v3()] {
        let (lost, share) = lost_share(&config);
        assert!(lost < 0.02 && share > 0.85, "{config:?}: lost {lost}, share {share}");
    }
}

#[test]
fn version_2_answers_marks_and_version_3_if_asked_to() {
    let tcp = TcpConfig { ecn: Some(EcnMode::Accecn), ..TcpConfig::default() };
    let asked = SenderConfig::BbrV3(BbrV3Config { ecn_max_rtt: Duration::from_millis(100), tcp });
    let run = |config: &SenderConfig| {
        let mut link = Link::new(config, &AppConfig::default(), Duration::from_millis(20));
        link.bottleneck =
            Some(Bottleneck::new(RATE, RATE.bytes_in(Duration::from_millis(400)), Duration::from_millis(1)));
        link.run_for(Duration::from_secs(5));
        let share = share(&mut link, Duration::from_secs(30));
        (share, mean_rtt(&link, Instant::from_millis(5000)))
    };
    let tcp = TcpConfig { ecn: Some(EcnMode::Off), ..TcpConfig::default() };
    let deaf = SenderConfig::BbrV2(BbrV2Config { tcp, ..BbrV2Config::default() });
    for (config, without) in [(v2(), deaf), (asked, v3())] {
        let (share, rtt) = run(&config);
        let (_, rtt_without) = run(&without);
        println!("{config:?}: {share}, {rtt} ms, {rtt_without} ms without ECN");
        assert!(share > 0.75, "{share}");
        assert!(rtt < rtt_without && rtt < 43.0, "{rtt} ms, {rtt_without} ms without ECN");
    }
}

#[test]
fn more_bandwidth_is_found_and_less_is_noticed() {
    // Where a quarter of the rate is left, the queue holds out until two cycles and a probe for the round trip are over.
    for (config, wait) in [(v1(), 12), (v2(), 24), (v3(), 12)] {
        let mut link = link(&config, Duration::from_millis(400));
        link.run_for(Duration::from_secs(8));
        for (rate, expected) in [(BitRate::from_mbps(10), 0.25), (BitRate::from_mbps(40), 1.0)] {
            link.bottleneck.as_mut().unwrap().rate = rate;
            link.run_for(Duration::from_secs(wait));
            let share = share(&mut link, Duration::from_secs(10));
            assert!(share > 0.9 * expected, "{config:?}: {share} of {expected}");
            let rtt = mean_rtt(&link, link.now.before(Duration::from_secs(5)));
            assert!(rtt < 80.0, "{config:?}: {rtt} ms");
        }
    }
}
