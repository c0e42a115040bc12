//! What applications write arrives, over TCP and over UDP.

mod link;

use link::Link;
use tidemark_core::{BitRate, Bytes, Duration, Instant};
use tidemark_senders::app::{ConstantConfig, OnOffConfig, WebConfig};
use tidemark_senders::controller::CubicConfig;
use tidemark_senders::media::{FixedConfig, VideoConfig};
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

/// TR 38.838: 30 Mbit/s at 60 frames a second, 62.5 kB each.
#[test]
fn xr_sends_its_frames_whatever_happens() {
    let sender = SenderConfig::Fixed(FixedConfig::default());
    let mut link = Link::new(&sender, &AppConfig::Video(VideoConfig::xr()), Duration::from_millis(5));
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
