//! A transfer over a network that does its worst: everything arrives, in order and once, and then there is silence.

use crate::link::{self, Bottleneck, Fate, Link, WithTcp};
use proptest::prelude::*;
use tidemark_core::{BitRate, Bytes, Duration, Instant, Stream};
use tidemark_senders::app::BulkConfig;
use tidemark_senders::controller::{CubicConfig, SlowStartExit};
use tidemark_senders::{AppConfig, EcnMode, SenderConfig, TcpConfig};

/// A queue of two bandwidth-delay products at 20 ms that only drops, or one that marks at 1 ms for the scalable one.
fn bottleneck(config: &SenderConfig, rate: BitRate) -> Bottleneck {
    let mark_above = if matches!(config, SenderConfig::Prague(_)) { Duration::from_millis(1) } else { Duration::MAX };
    Bottleneck::new(rate, rate.bytes_in(Duration::from_millis(80)), mark_above)
}

fn bulk(size: u64) -> AppConfig {
    AppConfig::Bulk(BulkConfig { size: Some(Bytes(size)), ..BulkConfig::default() })
}

#[test]
fn a_clean_path_carries_everything_without_a_retransmission() {
    for config in link::over_tcp() {
        let mut link = Link::new(&config, &bulk(5_000_000), Duration::from_millis(20));
        assert!(link.run_for(Duration::from_secs(60)), "{config:?}");
        let (server, client) = link.stats();
        assert_eq!(client.delivered, Bytes(5_000_000));
        assert_eq!(server.acknowledged, Bytes(5_000_000));
        assert_eq!((server.retransmissions, server.losses, server.timeouts), (0, 0, 0), "{config:?}");
        assert_eq!(server.packets_sent, client.packets_received);
        assert_eq!(server.bytes_sent, client.bytes_received);
        assert!(link.rtts.iter().all(|(_, rtt)| *rtt >= Duration::from_millis(40)));
    }
}

#[test]
fn a_fixed_rate_is_used_to_the_last_percent() {
    for config in link::finding_their_rate() {
        let mut link = Link::new(&config, &AppConfig::default(), Duration::from_millis(10));
        let rate = BitRate::from_mbps(40);
        link.bottleneck = Some(bottleneck(&config, rate));
        link.run_for(Duration::from_secs(5));
        let before = link.stats().1.delivered;
        link.run_for(Duration::from_secs(20));
        let goodput = (link.stats().1.delivered - before).as_f64() * 8.0 / 20.0;
        let possible = 40e6 * 1448.0 / 1500.0;
        // BBR gives away 1 % of margin, and its flight for 200 ms of 5 s or 10 s to learn the round trip.
        let least = match config {
            SenderConfig::BbrV1(_) | SenderConfig::BbrV2(_) | SenderConfig::BbrV3(_) => 0.95,
            _ => 0.97,
        };
        assert!(goodput > least * possible, "{config:?}: {goodput}");
        assert!(goodput <= possible * 1.001);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn everything_arrives_in_order_and_once(
        seed in any::<u64>(),
        which in any::<prop::sample::Index>(),
        ecn in 0usize..3,
        loss in 0.0..0.15f64,
        late in 0.0..0.1f64,
        twice in 0.0..0.05f64,
        mark in 0.0..0.3f64,
        size in 1u64..400_000,
    ) {
        let modes = [EcnMode::Off, EcnMode::Classic, EcnMode::Accecn];
        let tcp = TcpConfig { ecn: Some(modes[ecn]), ..TcpConfig::default() };
        let sender = which.get(&link::over_tcp()).clone();
        let config = WithTcp { sender, tcp };
        let mut link = Link::new(&config, &bulk(size), Duration::from_millis(15));
        for (down, purpose) in [(true, "down"), (false, "up")] {
            let mut stream = Stream::new(seed, 0, purpose);
            let fates: Box<dyn FnMut(_, &_) -> Fate> = Box::new(move |_, _: &_| {
                let draw = stream.uniform();
                let extra = Duration::from_millis(1 + (stream.uniform() * 60.0) as u64);
                if draw < loss {
                    Fate::Drop
                } else if draw < loss + late {
                    Fate::Late(extra)
                } else if draw < loss + late + twice {
                    Fate::Twice
                } else if draw < loss + late + twice + mark {
                    Fate::Mark
                } else {
                    Fate::Deliver
                }
            });
            if down { link.down = fates } else { link.up = fates }
        }
        // The handshake alone gives up with a probability of (1 - 0.85^2)^7, about 2 in 10,000.
        let silent = link.run_for(Duration::from_secs(3000));
        let (server, client) = link.stats();
        prop_assert!(silent, "not silent: {:?} {:?}", server, client);
        if server.window.is_some() {
            prop_assert_eq!(client.delivered, Bytes(size));
            prop_assert_eq!(server.acknowledged, Bytes(size));
            prop_assert_eq!(server.in_flight, Some(Bytes::ZERO));
        }
    }
}

#[test]
fn an_outage_ends_in_a_timeout_and_then_in_full_speed_again() {
    for config in link::finding_their_rate() {
        let mut link = Link::new(&config, &AppConfig::default(), Duration::from_millis(20));
        link.bottleneck = Some(bottleneck(&config, BitRate::from_mbps(20)));
        let outage = Instant::from_millis(10_000)..Instant::from_millis(12_000);
        link.down = Box::new(move |now, _| if outage.contains(&now) { Fate::Drop } else { Fate::Deliver });
        link.run_until(Instant::from_millis(12_000));
        let at_end = link.stats().1.delivered;
        assert!(link.stats().0.timeouts >= 1, "{config:?}");
        link.run_until(Instant::from_millis(20_000));
        let before = link.stats().1.delivered;
        assert!(before > at_end);
        link.run_until(Instant::from_millis(30_000));
        let goodput = (link.stats().1.delivered - before).as_f64() * 8.0 / 10.0;
        assert!(goodput > 18e6, "{config:?}: {goodput}");
    }
}

#[test]
fn a_delay_spike_is_no_loss() {
    let config = SenderConfig::Cubic(CubicConfig::default());
    let mut link = Link::new(&config, &AppConfig::default(), Duration::from_millis(20));
    link.bottleneck = Some(Bottleneck::new(BitRate::from_mbps(20), Bytes(10_000_000), Duration::MAX));
    // A handover: for 600 ms packets only wait.
    let (start, end) = (Instant::from_millis(1500), Instant::from_millis(2100));
    link.down =
        Box::new(move |now, _| if (start..end).contains(&now) { Fate::Late(end.since(now)) } else { Fate::Deliver });
    link.run_until(start);
    let window = link.stats().0.window;
    link.run_until(Instant::from_millis(2300));
    let (server, _) = link.stats();
    assert!(server.timeouts >= 1);
    assert_eq!(server.spurious, 1, "{server:?}");
    assert!(server.window >= window, "the window is given back: {:?} after {window:?}", server.window);
}

#[test]
fn slow_start_ends_before_the_queue_overflows() {
    // 20 Mbit/s and 40 ms: 67 segments in the path, eight times as many in the queue. Conservative slow start
    // may treble the window at which the delay rose.
    let run = |slow_start| {
        let config = SenderConfig::Cubic(CubicConfig { slow_start, ..CubicConfig::default() });
        let mut link = Link::new(&config, &AppConfig::default(), Duration::from_millis(20));
        let rate = BitRate::from_mbps(20);
        link.bottleneck = Some(Bottleneck::new(rate, rate.bytes_in(Duration::from_millis(320)), Duration::MAX));
        link.run_until(Instant::from_millis(3000));
        (link.stats().0.losses, link.stats().0.window.unwrap())
    };
    let (with, without) = (run(SlowStartExit::HystartPlusPlus), run(SlowStartExit::Standard));
    assert!(without.0 > 50, "without HyStart++ half of the last window is lost: {without:?}");
    assert_eq!(with.0, 0, "{with:?}");
    assert!(with.1 > Bytes(67 * 1448), "and the path is full: {with:?}");
    let linux = run(SlowStartExit::Hystart);
    assert!(linux.0 == 0 && linux.1 < with.1, "Linux leaves at once: {linux:?}");
}

#[test]
fn the_receivers_window_is_respected() {
    let tcp = TcpConfig { receive_window: Bytes(50_000), ..TcpConfig::default() };
    let config = SenderConfig::Cubic(CubicConfig { tcp, ..CubicConfig::default() });
    let mut link = Link::new(&config, &AppConfig::default(), Duration::from_millis(50));
    for _ in 0..1000 {
        link.run_for(Duration::from_millis(5));
        assert!(link.stats().0.in_flight <= Some(Bytes(50_000)));
    }
    let (_, client) = link.stats();
    // 34 segments fit, once a round trip.
    let rounds = 5.0 / 0.1;
    assert!(client.delivered.as_f64() > 0.9 * 34.0 * 1448.0 * rounds);
}

#[test]
fn a_lost_tail_is_probed_before_the_timer_expires() {
    let config = SenderConfig::Cubic(CubicConfig::default());
    let mut link = Link::new(&config, &bulk(14480), Duration::from_millis(20));
    let mut count = 0;
    link.down = Box::new(move |_, packet| {
        count += u32::from(link::is_data(packet));
        if link::is_data(packet) && (9..=10).contains(&count) { Fate::Drop } else { Fate::Deliver }
    });
    assert!(link.run_for(Duration::from_secs(10)));
    let (server, client) = link.stats();
    assert_eq!(client.delivered, Bytes(14480));
    assert_eq!((server.timeouts, server.retransmissions), (0, 2));
}
