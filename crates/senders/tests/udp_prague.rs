//! UDP Prague, bulk and in frames.

use crate::link::{Bottleneck, Fate, Link, is_data};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};
use tidemark_senders::udp_prague::{FrameConfig, UdpPragueConfig};
use tidemark_senders::{AppConfig, SenderConfig};

fn bulk() -> SenderConfig {
    SenderConfig::UdpPrague(UdpPragueConfig::default())
}

fn frames() -> SenderConfig {
    SenderConfig::UdpPrague(UdpPragueConfig { frames: Some(FrameConfig::default()), ..UdpPragueConfig::default() })
}

#[test]
fn a_marking_bottleneck_is_used_with_a_short_queue() {
    let mut link = Link::new(&bulk(), &AppConfig::default(), Duration::from_millis(10));
    let rate = BitRate::from_mbps(40);
    link.bottleneck = Some(Bottleneck::new(rate, Bytes(400_000), Duration::from_millis(1)));
    link.keep = true;
    link.run_until(Instant::from_millis(10_000));
    let before = link.stats().1.delivered;
    link.rtts.clear();
    link.run_for(Duration::from_secs(20));
    let share = (link.stats().1.delivered - before).as_f64() * 8.0 / 20.0 / (40e6 * 1400.0 / 1428.0);
    assert!(share > 0.95, "{share}");
    let mean = link.rtts.iter().map(|(_, rtt)| rtt.as_millis_f64()).sum::<f64>() / link.rtts.len() as f64;
    assert!(mean < 22.5, "{mean} ms");
    assert!(link.sent_down.iter().all(|(_, packet)| packet.ecn == Ecn::Ect1));
    assert_eq!(link.stats().0.losses, 0);
}

#[test]
fn frames_come_at_their_times_and_fill_their_budget() {
    let mut link = Link::new(&frames(), &AppConfig::default(), Duration::from_millis(10));
    let rate = BitRate::from_mbps(20);
    link.bottleneck = Some(Bottleneck::new(rate, Bytes(400_000), Duration::from_millis(1)));
    link.run_until(Instant::from_millis(20_000));
    let before = link.stats().1;
    link.run_for(Duration::from_secs(10));
    let after = link.stats().1;
    let whole = after.frames_received - before.frames_received;
    assert!((595..=601).contains(&whole), "{whole} frames in 10 s at 60 a second");
    // 10 ms of every 16.7 ms: six tenths of the rate.
    let media = (after.delivered - before.delivered).as_f64() * 8.0 / 10.0;
    assert!((0.45 * 20e6..0.65 * 20e6).contains(&media), "{media}");
    let recent: Vec<_> = link.frames.iter().filter(|frame| frame.captured > Instant::from_millis(20_000)).collect();
    assert!(recent.windows(2).all(|pair| pair[1].captured.since(pair[0].captured) == Duration::from_nanos(16_666_666)));
    let mean = recent.iter().map(|frame| frame.delay.as_millis_f64()).sum::<f64>() / recent.len() as f64;
    // 10 ms of path and 10 ms of budget.
    assert!((18.0..24.0).contains(&mean), "{mean} ms");
}

fn with_reports(frames: Option<FrameConfig>) -> SenderConfig {
    let report_interval = Some(Duration::from_millis(25));
    SenderConfig::UdpPrague(UdpPragueConfig { frames, report_interval, ..UdpPragueConfig::default() })
}

/// The window is that of the round trip of 20 ms alone, and a packet waits for 12.5 ms in the mean until it is reported:
/// 20 / 32.5 of the link. Frames are limited by their number, not by a window of packets.
#[test]
fn reports_come_at_their_interval() {
    let in_frames = Some(FrameConfig { budget: Duration::from_millis(16), ..FrameConfig::default() });
    for (frames, expected) in [(None, 0.5..0.7), (in_frames, 0.8..1.0)] {
        let mut link = Link::new(&with_reports(frames.clone()), &AppConfig::default(), Duration::from_millis(10));
        let rate = BitRate::from_mbps(40);
        link.bottleneck = Some(Bottleneck::new(rate, Bytes(400_000), Duration::from_millis(2)));
        link.keep = true;
        link.run_until(Instant::from_millis(10_000));
        let before = link.stats().1.delivered;
        link.run_for(Duration::from_secs(20));
        let share = (link.stats().1.delivered - before).as_f64() * 8.0 / 20.0 / 40e6;
        let reports = link.sent_up.len() as f64 / 30.0;
        println!("{frames:?}: {share:.2} of the link, {reports:.1} reports a second");
        assert!(expected.contains(&share), "{frames:?}: {share}");
        assert!((39.0..41.0).contains(&reports), "{reports}");
        // A word of 1024 us is as exact as it gets.
        let rtts: Vec<f64> = link.rtts.iter().map(|(_, rtt)| rtt.as_millis_f64()).collect();
        assert!(rtts.iter().all(|rtt| (19.4..40.0).contains(rtt)), "{rtts:?}");
        assert_eq!(link.stats().0.timeouts, 0);
    }
}

/// A lost report is the loss of all that it told, and halves the rate. It gets over it.
#[test]
fn lost_reports_count_as_losses() {
    let mut link = Link::new(&with_reports(None), &AppConfig::default(), Duration::from_millis(10));
    link.bottleneck = Some(Bottleneck::new(BitRate::from_mbps(40), Bytes(400_000), Duration::from_millis(2)));
    let mut reports = 0;
    link.up = Box::new(move |_, _| {
        reports += 1;
        if reports > 1 && reports % 100 == 0 { Fate::Drop } else { Fate::Deliver }
    });
    link.run_until(Instant::from_millis(30_000));
    let (server, client) = link.stats();
    assert_eq!(server.packets_sent - client.packets_received, 0, "nothing was lost on the way");
    assert!(server.losses > 100, "{}", server.losses);
    let rate = client.delivered.as_f64() * 8.0 / 30.0;
    assert!((5e6..35e6).contains(&rate), "{rate}");
}

#[test]
fn a_loss_halves_and_a_late_packet_gives_it_back() {
    let run = |fate: Fate| {
        let mut link = Link::new(&bulk(), &AppConfig::default(), Duration::from_millis(20));
        let mut hit = false;
        link.down = Box::new(move |now, packet| {
            if !hit && is_data(packet) && now > Instant::from_millis(10_000) {
                hit = true;
                return fate;
            }
            Fate::Deliver
        });
        link.run_until(Instant::from_millis(10_000));
        let before = link.stats().0.window.unwrap().as_f64();
        link.run_until(Instant::from_millis(10_060));
        link.stats().0.window.unwrap().as_f64() / before
    };
    let lost = run(Fate::Drop);
    let late = run(Fate::Late(Duration::from_millis(3)));
    assert!((0.45..0.6).contains(&lost), "{lost}");
    assert!(late > 0.95, "{late}");
}

#[test]
fn an_outage_restarts_it() {
    for config in [bulk(), frames()] {
        let mut link = Link::new(&config, &AppConfig::default(), Duration::from_millis(10));
        link.bottleneck = Some(Bottleneck::new(BitRate::from_mbps(20), Bytes(400_000), Duration::from_millis(1)));
        let outage = Instant::from_millis(10_000)..Instant::from_millis(13_000);
        link.down = Box::new(move |now, _| if outage.contains(&now) { Fate::Drop } else { Fate::Deliver });
        link.run_until(Instant::from_millis(13_000));
        assert!((1..=3).contains(&link.stats().0.timeouts), "{:?}", link.stats().0);
        link.run_until(Instant::from_millis(25_000));
        let before = link.stats().1.delivered;
        link.run_until(Instant::from_millis(30_000));
        let rate = (link.stats().1.delivered - before).as_f64() * 8.0 / 5.0;
        assert!(rate > 9e6, "{config:?}: {rate}");
    }
}
