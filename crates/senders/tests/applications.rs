//! Data that applications write arrives, over TCP and over UDP.

use crate::link::{Bottleneck, Fate, Link, is_data};
use tidemark_core::{BitRate, Bytes, Duration, Instant, Probability, Stream};
use tidemark_senders::app::{BulkConfig, ConstantConfig, OnOffConfig, ShortFlowsConfig, Times, WebConfig};
use tidemark_senders::controller::CubicConfig;
use tidemark_senders::media::{FixedConfig, VideoConfig, XrConfig};
use tidemark_senders::udp::UdpConfig;
use tidemark_senders::{AppConfig, SenderConfig, connect};

fn transports() -> [SenderConfig; 2] {
    [SenderConfig::Udp(UdpConfig::default()), SenderConfig::Cubic(CubicConfig::default())]
}

#[test]
fn a_constant_rate_arrives_as_it_was_written() {
    for sender in transports() {
        let app = AppConfig::Constant(ConstantConfig { rate: BitRate::from_mbps(2), ..ConstantConfig::default() });
        let mut link = Link::new(&sender, &app, Duration::from_millis(20));
        link.run_until(Instant::from_millis(20_000));
        let rate = link.stats().1.delivered.as_f64() * 8.0 / 20.0;
        assert!((1.97e6..2.01e6).contains(&rate), "{sender:?}: {rate}");
        assert_eq!(link.stats().0.retransmissions, 0);
        assert_eq!(link.stats().0.timeouts, 0);
    }
}

#[test]
fn pauses_are_pauses() {
    for sender in transports() {
        for app in [AppConfig::OnOff(OnOffConfig::default()), AppConfig::Web(WebConfig::default())] {
            let mut link = Link::new(&sender, &app, Duration::from_millis(20));
            let (mut busy, mut before) = (0, Bytes::ZERO);
            for _ in 0..3000 {
                link.run_for(Duration::from_millis(100));
                let delivered = link.stats().1.delivered;
                busy += u32::from(delivered > before);
                before = delivered;
            }
            assert!((10..2400).contains(&busy), "{sender:?} {app:?}: busy in {busy} of 3000 intervals");
            assert!(before > Bytes(100_000));
        }
    }
}

/// Data that an application writes while lost segments wait for the window must not wake the sender before the window opens.
#[test]
fn losses_hold_an_application_up_and_time_goes_on() {
    for app in [
        AppConfig::OnOff(OnOffConfig::default()),
        AppConfig::Web(WebConfig { reading: Duration::from_millis(50), ..WebConfig::default() }),
    ] {
        let sender = SenderConfig::Cubic(CubicConfig::default());
        let mut link = Link::new(&sender, &app, Duration::from_millis(100));
        let mut losses = Stream::new(7, 0, "losses");
        link.down =
            Box::new(move |_, _| if losses.chance(Probability::new(0.15)) { Fate::Drop } else { Fate::Deliver });
        link.run_until(Instant::from_millis(300_000));
        assert!(link.stats().0.retransmissions > 100, "{app:?}: {:?}", link.stats().0);
    }
}

/// TR 38.838: 30 Mbit/s at 60 frames a second, 62.5 kB each.
#[test]
fn xr_sends_its_frames_whatever_happens() {
    let sender = SenderConfig::Fixed(FixedConfig::default());
    let mut link = Link::new(&sender, &AppConfig::Xr(XrConfig::default()), Duration::from_millis(5));
    link.run_until(Instant::from_millis(10_000));
    assert!((598..=601).contains(&link.frames.len()));
    let mean = link.frames.iter().map(|frame| frame.size.as_f64()).sum::<f64>() / link.frames.len() as f64;
    let media = 62_500.0 * 1200.0 / 1248.0;
    assert!((mean / media - 1.0).abs() < 0.02, "{mean}");
    assert!(link.frames.iter().all(|frame| frame.delay < Duration::from_micros(5_100)));
}

#[test]
fn what_does_not_fit_together_is_said() {
    let video = AppConfig::Video(VideoConfig::default());
    let error = connect(&SenderConfig::default(), &video, tidemark_core::FlowId(0), 1).err().unwrap();
    assert!(error.to_string().contains("controller for video"), "{error}");
    let sender = SenderConfig::Fixed(FixedConfig::default());
    let error = connect(&sender, &AppConfig::default(), tidemark_core::FlowId(0), 1).err().unwrap();
    assert!(error.to_string().contains("app = \"video\""), "{error}");
}

fn short_flows(size: u64, count: u32) -> AppConfig {
    let think = Times::Fixed { mean: Duration::from_millis(500) };
    AppConfig::ShortFlows(ShortFlowsConfig { size: Bytes(size), think, count: Some(count), ..Default::default() })
}

/// SYN, SYN/ACK, acknowledgement, data: two round trips for what fits into ten segments of 1448 B, one more for what
/// fits into thirty, and one more for what fits into seventy.
#[test]
fn a_short_flow_takes_its_round_trips_each_time() {
    for (size, round_trips) in [(14_000, 2), (14_480, 2), (14_481, 3), (43_440, 3), (100_000, 4)] {
        let sender = SenderConfig::Cubic(CubicConfig::default());
        let mut link = Link::new(&sender, &short_flows(size, 5), Duration::from_millis(20));
        assert!(link.run_until(Instant::from_millis(60_000)), "the fifth was the last");
        assert_eq!(link.completions.len(), 5);
        let period = Duration::from_millis(40) * round_trips + Duration::from_millis(500);
        for (index, completion) in link.completions.iter().enumerate() {
            assert_eq!((completion.number, completion.size), (index as u64 + 1, Bytes(size)));
            assert_eq!(completion.started, Instant::ZERO + period * index as u64);
            assert_eq!(completion.duration, Duration::from_millis(40) * round_trips, "{size} B");
        }
        let (server, client) = link.stats();
        assert_eq!((client.completed, client.delivered, server.acknowledged), (5, Bytes(5 * size), Bytes(5 * size)));
        assert_eq!((server.packets_sent, server.retransmissions), (client.packets_received, 0));
    }
}

#[test]
fn sizes_are_drawn_evenly_and_both_ends_agree_on_them() {
    let AppConfig::ShortFlows(flows) = short_flows(10_000, 400) else { unreachable!() };
    let app = AppConfig::ShortFlows(ShortFlowsConfig { largest: Some(Bytes(50_000)), pause_first: true, ..flows });
    let mut link = Link::new(&SenderConfig::default(), &app, Duration::from_millis(5));
    assert!(link.run_until(Instant::from_millis(600_000)));
    let sizes: Vec<_> = link.completions.iter().map(|completion| completion.size.as_f64()).collect();
    assert_eq!((sizes.len(), link.completions[0].started), (400, Instant::from_millis(500)));
    assert!(sizes.iter().all(|size| (10_000.0..=50_000.0).contains(size)));
    // 40 kB wide: a mean of 30 kB, whose deviation over 400 draws is 11.5 kB / 20.
    let mean = sizes.iter().sum::<f64>() / 400.0;
    assert!((mean - 30_000.0).abs() < 3.0 * 580.0, "{mean}");
    assert_eq!(link.stats().1.delivered.as_f64(), sizes.iter().sum::<f64>());
}

#[test]
fn short_flows_survive_losses_and_what_is_left_of_the_connection_before() {
    for sender in [SenderConfig::Cubic(CubicConfig::default()), SenderConfig::default()] {
        let mut link = Link::new(&sender, &short_flows(60_000, 40), Duration::from_millis(20));
        let rate = BitRate::from_mbps(5);
        link.bottleneck = Some(Bottleneck::new(rate, Bytes(30_000), Duration::from_millis(5)));
        let mut number = 0;
        let arrived = std::rc::Rc::new(std::cell::Cell::new(0));
        let counter = arrived.clone();
        link.down = Box::new(move |_, packet| {
            number += 1;
            counter.set(
                counter.get()
                    + match number % 23 {
                        0 => 0,
                        7 => 2,
                        _ => 1,
                    },
            );
            match number % 23 {
                0 => Fate::Drop,
                7 => Fate::Twice,
                // Some of what is late belongs to a connection that the client has done with.
                13 if is_data(packet) => Fate::Late(Duration::from_millis(700)),
                _ => Fate::Deliver,
            }
        });
        link.run_until(Instant::from_millis(600_000));
        let (server, client) = link.stats();
        assert_eq!((client.completed, client.delivered), (40, Bytes(40 * 60_000)), "{sender:?} {server:?}");
        assert_eq!(client.packets_received, arrived.get(), "what comes late counts as well");
        assert!(client.duplicate > Bytes::ZERO && server.retransmissions > 0);
        let least = Duration::from_millis(80) + rate.time_to_send(Bytes(60_000));
        assert!(link.completions.iter().all(|completion| completion.duration >= least));
    }
}

#[test]
fn a_transfer_of_known_size_completes_once() {
    let app = AppConfig::Bulk(BulkConfig { size: Some(Bytes(14_000)), ..BulkConfig::default() });
    let mut link = Link::new(&SenderConfig::default(), &app, Duration::from_millis(20));
    link.run_until(Instant::from_millis(10_000));
    assert_eq!((link.completions.len(), link.stats().1.completed), (1, 1));
}

#[test]
fn a_stalled_video_freezes_and_its_delay_is_in_the_network() {
    let sender = SenderConfig::Fixed(FixedConfig { rate: BitRate::from_mbps(4) });
    let mut link = Link::new(&sender, &AppConfig::Video(VideoConfig::default()), Duration::from_millis(10));
    // Three times half a second in which nothing leaves: what was sent meanwhile comes at once afterwards.
    link.down = Box::new(|now, _| {
        let second = now.as_nanos() % 2_000_000_000;
        let stalled = second > 1_000_000_000 && second < 1_500_000_000 && now < Instant::from_millis(6_000);
        if stalled { Fate::Late(Duration::from_nanos(1_500_000_000 - second)) } else { Fate::Deliver }
    });
    link.run_until(Instant::from_millis(10_000));
    let client = link.stats().1;
    assert_eq!((client.freezes, client.frames_lost), (3, 0));
    assert!((1400.0..1600.0).contains(&client.frozen.as_millis_f64()), "{:?}", client.frozen);
    for frame in &link.frames {
        assert_eq!(frame.sender_queue + frame.network_queue + frame.propagation, frame.delay);
        assert_eq!(frame.propagation, Duration::from_millis(10));
    }
    let most = link.frames.iter().map(|frame| frame.network_queue).max();
    assert!(most > Some(Duration::from_millis(480)), "{most:?}");
}

/// Requests of the page cross the path, then its main object, then its embedded ones after they were found.
#[test]
fn every_page_of_the_web_tells_how_long_it_took() {
    let app = AppConfig::Web(WebConfig {
        reading: Duration::from_secs(2),
        stop: Some(Duration::from_secs(100)),
        ..WebConfig::default()
    });
    let mut link = Link::new(&SenderConfig::Cubic(CubicConfig::default()), &app, Duration::from_millis(20));
    let mut pages = Vec::new();
    // Silent after the last page: the link's time stands still then.
    let mut silent = false;
    while !silent && link.now < Instant::from_millis(110_000) {
        silent = link.run_for(Duration::from_secs(1));
        pages.extend(std::iter::from_fn(|| link.server.take_completion()));
    }
    assert!(pages.len() > 20, "{} pages", pages.len());
    assert!(pages.iter().zip(1..).all(|(page, number)| page.number == number));
    assert!(pages.iter().all(|page| page.duration >= Duration::from_millis(40)), "a round trip at the least");
    let bytes: u64 = pages.iter().map(|page| page.size.0).sum();
    assert_eq!(Bytes(bytes), link.stats().1.delivered, "every byte belongs to a page");
    // A page that fits into the initial window without parts to be found: nothing but the round trip and a delayed acknowledgement.
    let quickest = pages.iter().map(|page| page.duration).min();
    assert!(quickest.is_some_and(|quickest| quickest < Duration::from_millis(300)), "{quickest:?}");
}
