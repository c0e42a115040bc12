//! Flight of a sender where nothing else stops it: what its socket holds, and what the receiver allows.

use crate::link::{Bottleneck, Link};
use tidemark_core::{BitRate, Bytes, Duration};
use tidemark_senders::controller::{BbrV1Config, CubicConfig, PragueConfig, RenoConfig};
use tidemark_senders::{AppConfig, EcnMode, SenderConfig, TcpConfig};

const ROUND_TRIP: Duration = Duration::from_millis(20);

fn tcp() -> TcpConfig {
    TcpConfig { ecn: Some(EcnMode::Off), ..TcpConfig::default() }
}

fn reno(tcp: TcpConfig) -> SenderConfig {
    SenderConfig::Reno(RenoConfig { tcp, ..RenoConfig::default() })
}

/// A path of 40.1 Mbit/s whose queue never overflows and never marks, ten seconds after the start.
fn bottomless(sender: &SenderConfig) -> Link {
    let mut link = Link::new(sender, &AppConfig::default(), ROUND_TRIP / 2);
    link.bottleneck = Some(Bottleneck::new(BitRate::from_kbps(40_100), Bytes(100_000_000), Duration::MAX));
    link.run_for(Duration::from_secs(10));
    link.rtts.clear();
    link
}

/// Linux 6.18's Reno through the live cell `5g-static` without marks (40.1 Mbit/s, 20 ms, iperf3): 636 ms of queue in the mean, at most
/// 745, and at the least the 530 of two thirds of its buffer.
#[test]
fn the_send_buffer_limits_the_standing_queue_as_the_kernels_does() {
    let mut link = bottomless(&reno(tcp()));
    link.run_for(Duration::from_secs(20));
    let queues: Vec<f64> = link.rtts.iter().map(|(_, rtt)| (*rtt - ROUND_TRIP).as_millis_f64()).collect();
    let mean = queues.iter().sum::<f64>() / queues.len() as f64;
    let (least, most) =
        queues.iter().fold((f64::MAX, 0.0f64), |(least, most), queue| (least.min(*queue), most.max(*queue)));
    println!("queue {least:.0} to {most:.0} ms, mean {mean:.0}");
    assert!((0.9..1.1).contains(&(mean / 636.0)), "a mean of {mean} ms");
    assert!((0.9..1.1).contains(&(least / 530.0)) && (0.9..1.15).contains(&(most / 745.0)), "{least} to {most} ms");
    assert_eq!(link.stats().0.losses, 0);
}

/// A writer that waits for room is woken once a third of the buffer is free, and fills it.
#[test]
fn the_flight_moves_between_two_thirds_of_the_buffer_and_all_of_it() {
    let buffer = Bytes(600_000);
    for sender in [
        reno(TcpConfig { send_buffer: buffer, ..tcp() }),
        SenderConfig::Cubic(CubicConfig { tcp: TcpConfig { send_buffer: buffer, ..tcp() }, ..CubicConfig::default() }),
    ] {
        let mut link = bottomless(&sender);
        let (mut least, mut most) = (Bytes(u64::MAX), Bytes::ZERO);
        for _ in 0..5_000 {
            link.run_for(Duration::from_millis(1));
            let flight = link.stats().0.in_flight.expect("a flow in full swing");
            (least, most) = (least.min(flight), most.max(flight));
        }
        println!("{least:?} to {most:?}");
        assert!(most <= buffer && most >= buffer - Bytes(10_000), "at most {most:?} of {buffer:?}");
        let two_thirds = Bytes(400_000);
        assert!(least <= two_thirds && least >= two_thirds - Bytes(10_000), "at least {least:?}");
        // Segments stay full.
        let (server, _) = link.stats();
        assert!(server.bytes_sent.as_f64() / server.packets_sent as f64 > 1490.0);
    }
}

/// Flights below two thirds of the buffer are never held up by it.
#[test]
fn a_window_within_the_buffer_is_used_in_full() {
    let marked = |buffer| TcpConfig { send_buffer: buffer, ..TcpConfig::default() };
    let configs = |buffer| {
        [
            SenderConfig::Prague(PragueConfig { tcp: marked(buffer), ..PragueConfig::default() }),
            SenderConfig::BbrV1(BbrV1Config { tcp: marked(buffer) }),
        ]
    };
    for (small, large) in configs(Bytes(1_000_000)).into_iter().zip(configs(Bytes(1 << 30))) {
        let delivered = |sender: &SenderConfig| {
            let mut link = Link::new(sender, &AppConfig::default(), ROUND_TRIP / 2);
            let rate = BitRate::from_mbps(40);
            link.bottleneck = Some(Bottleneck::new(rate, rate.bytes_in(ROUND_TRIP * 2), Duration::from_millis(1)));
            link.run_for(Duration::from_secs(10));
            link.stats().1.delivered
        };
        assert_eq!(delivered(&small), delivered(&large));
    }
}

#[test]
fn the_receivers_window_limits_where_it_is_smaller() {
    let window = Bytes(300_000);
    let mut link = bottomless(&reno(TcpConfig { receive_window: window, ..tcp() }));
    link.run_for(Duration::from_secs(1));
    let flight = link.stats().0.in_flight.expect("a flow in full swing");
    assert!(flight <= window && flight > window - Bytes(5_000), "{flight:?}");
}
