//! Demands on every controller, whatever its law. A new one is put through them as soon as it is declared.

use crate::link::{Bottleneck, Fate, Link, is_data};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};
use tidemark_senders::app::{ConstantConfig, OnOffConfig, Times};
use tidemark_senders::controller::{CubicConfig, PragueConfig, RenoConfig};
use tidemark_senders::media::{
    Al4sConfig, Al4sHintConfig, AnbrConfig, AnbrRule, GccConfig, GccLosses, L4sCcConfig, PragueVideoConfig, RateLimits,
    Scream2021Config, ScreamConfig, ScreamHintConfig, ScreamV1Config, SdnL4sConfig, VideoConfig,
};
use tidemark_senders::udp_prague::{FrameConfig, UdpPragueConfig};
use tidemark_senders::{AppConfig, CongestionControl, SenderConfig, TcpConfig, Transport};

const MIN_RATE: BitRate = BitRate::from_kbps(500);

/// Every controller that adapts, in each of its variants, with an application that uses all that it gets.
fn senders() -> Vec<(String, SenderConfig, AppConfig)> {
    let with_app = |(variant, sender): (&str, SenderConfig)| {
        let app = match sender.transport() {
            Transport::Tcp(_) | Transport::Udp { .. } => AppConfig::default(),
            Transport::Rtp(_) => AppConfig::Video(VideoConfig::default()),
        };
        (format!("{}{variant}", sender.name()), sender, app)
    };
    SenderConfig::all().into_iter().flat_map(variants).map(with_app).collect()
}

/// Variants of a controller, by what they add to the name. One that is declared and not named here runs with its defaults.
fn variants(sender: SenderConfig) -> Vec<(&'static str, SenderConfig)> {
    let rates = RateLimits { min: MIN_RATE, ..RateLimits::default() };
    let frames = Some(FrameConfig { budget: Duration::from_millis(16), ..FrameConfig::default() });
    let report_interval = Some(Duration::from_millis(25));
    match sender {
        SenderConfig::Reno(it) => vec![("", it.clone().into()), (" paced", RenoConfig { pacing: true, ..it }.into())],
        SenderConfig::Cubic(it) => vec![("", it.clone().into()), (" paced", CubicConfig { pacing: true, ..it }.into())],
        SenderConfig::Prague(it) => {
            vec![("", it.clone().into()), (" with its fallback", PragueConfig { classic_fallback: true, ..it }.into())]
        }
        SenderConfig::UdpPrague(it) => vec![
            ("", it.clone().into()),
            (" with reports", UdpPragueConfig { report_interval, ..it.clone() }.into()),
            (" in frames", UdpPragueConfig { frames, ..it }.into()),
        ],
        SenderConfig::ScreamV1(_) => vec![("", ScreamV1Config { ramp_up_speed: BitRate::from_mbps(5), rates }.into())],
        SenderConfig::Scream2021(it) => {
            let it = Scream2021Config { ramp_up_speed: BitRate::from_mbps(5), rates, ..it };
            vec![("", it.clone().into()), (" without L4S", Scream2021Config { l4s: false, ..it }.into())]
        }
        SenderConfig::Scream(it) => vec![
            ("", ScreamConfig { rates, ..it.clone() }.into()),
            (" without L4S", ScreamConfig { l4s: false, rates, ..it.clone() }.into()),
            (" that reduces jitter", ScreamConfig { reduce_jitter: true, rates, ..it }.into()),
        ],
        SenderConfig::Gcc(it) => vec![
            ("", GccConfig { rates, ..it.clone() }.into()),
            (" with thresholds", GccConfig { rates, losses: GccLosses::Thresholds, ..it.clone() }.into()),
            (" that wakes every 5 ms", GccConfig { rates, wake_interval: Duration::from_millis(5), ..it }.into()),
        ],
        SenderConfig::L4sCc(it) => vec![("", L4sCcConfig { rates, ..it }.into())],
        SenderConfig::PragueVideo(it) => vec![("", PragueVideoConfig { rates, ..it }.into())],
        SenderConfig::Al4s(it) => vec![("", Al4sConfig { rates, ..it }.into())],
        SenderConfig::ScreamHint(it) => {
            let scream = ScreamConfig { rates, ..it.scream };
            vec![("", ScreamHintConfig { scream, ..it }.into())]
        }
        SenderConfig::Al4sHint(it) => {
            let al4s = Al4sConfig { rates, ..it.al4s };
            vec![("", Al4sHintConfig { al4s, ..it }.into())]
        }
        // Without a cell there is no recommendation to follow: only the hybrids adapt.
        SenderConfig::Anbr(it) => vec![
            (" max", AnbrConfig { rule: AnbrRule::Max, rates, ..it.clone() }.into()),
            (" gradual", AnbrConfig { rule: AnbrRule::Gradual, rates, ..it }.into()),
        ],
        SenderConfig::SdnL4s(it) => {
            let it = SdnL4sConfig { window: Some(Duration::from_millis(500)), rates, ..it };
            let over_tcp = SdnL4sConfig { tcp: Some(TcpConfig::default()), ..it.clone() };
            vec![("", it.into()), (" over TCP", over_tcp.into())]
        }
        // Neither adapts.
        SenderConfig::Udp(_) | SenderConfig::Fixed(_) => vec![],
        // It has nothing to follow without a cell.
        SenderConfig::Oracle(_) => vec![],
        other => vec![("", other)],
    }
}

/// 20 Mbit/s, 20 ms, marks from 5 to 20 ms of queue.
fn link(sender: &SenderConfig, app: &AppConfig, delay: Duration) -> Link {
    let rate = BitRate::from_mbps(20);
    let mut link = Link::new(sender, app, delay);
    let mut bottleneck = Bottleneck::new(rate, rate.bytes_in(Duration::from_millis(200)), Duration::from_millis(5));
    bottleneck.mark_all = Duration::from_millis(20);
    link.bottleneck = Some(bottleneck);
    link
}

/// True if it carries what an application writes, false for a video.
fn carries_bytes(sender: &SenderConfig) -> bool {
    match sender {
        SenderConfig::UdpPrague(prague) => prague.frames.is_none(),
        other => matches!(other.transport(), Transport::Tcp(_) | Transport::Udp { .. }),
    }
}

/// Least part of 20 Mbit/s that it takes.
fn least(name: &str) -> f64 {
    match name {
        // The published rate rule swings between its extremes, and aL4S-CC by its drops.
        "sdn-l4s" | "al4s" | "al4s-hint" => 4.0,
        // The same rule above a window that losses halve.
        "sdn-l4s over TCP" => 3.0,
        // A tenth off for marks that come as early as L4S wants them; a quarter off when all are marked.
        "scream-v1" | "l4s-cc" => 10.0,
        // 8.1 Mbit/s by the public program over a link like this one: a mark in a round trip takes a twentieth off the rate.
        "scream-2021 without L4S" => 5.0,
        _ => 14.0,
    }
}

/// Mbit/s of payload over the next `seconds`, with the state checked on the way.
fn watch(name: &str, link: &mut Link, seconds: u64) -> f64 {
    let before = link.stats().1.delivered;
    for _ in 0..seconds * 20 {
        link.run_for(Duration::from_millis(50));
        let stats = link.stats().0;
        if let Some(window) = stats.window {
            assert!(window > Bytes::ZERO && window < Bytes(1 << 30), "{name}: a window of {window}");
        }
        for rate in [stats.pacing_rate, stats.target_rate].into_iter().flatten() {
            assert!(rate > BitRate::ZERO && rate < BitRate::from_mbps(1_000_000), "{name}: a rate of {rate}");
        }
        if let Some(alpha) = stats.alpha {
            assert!((0.0..=1.0).contains(&alpha), "{name}: a marked share of {alpha}");
        }
    }
    (link.stats().1.delivered - before).as_f64() * 8e-6 / seconds as f64
}

#[test]
fn it_uses_the_link() {
    for (name, sender, app) in senders() {
        let mut link = link(&sender, &app, Duration::from_millis(10));
        watch(&name, &mut link, 20);
        let rate = watch(&name, &mut link, 20);
        println!("{name}: {rate:.1} Mbit/s");
        let least = least(&name);
        assert!(rate > least && rate < 20.0, "{name}: {rate} of 20 Mbit/s");
    }
}

#[test]
fn it_recovers_after_an_outage_in_both_directions() {
    for (name, sender, app) in senders() {
        let mut link = link(&sender, &app, Duration::from_millis(10));
        let outage = Instant::from_millis(10_000)..Instant::from_millis(15_000);
        let other = outage.clone();
        link.down = Box::new(move |now, _| if outage.contains(&now) { Fate::Drop } else { Fate::Deliver });
        link.up = Box::new(move |now, _| if other.contains(&now) { Fate::Drop } else { Fate::Deliver });
        watch(&name, &mut link, 40);
        let rate = watch(&name, &mut link, 20);
        let least = least(&name);
        assert!(rate > least, "{name}: {rate} Mbit/s after the outage");
    }
}

#[test]
fn it_answers_when_everything_is_marked_if_it_says_that_it_answers() {
    for (name, sender, app) in senders() {
        let mut link = link(&sender, &app, Duration::from_millis(10));
        link.bottleneck = None;
        link.keep = true;
        let limit = BitRate::from_mbps(40);
        link.bottleneck = Some(Bottleneck::new(limit, limit.bytes_in(Duration::from_millis(200)), Duration::MAX));
        link.down =
            Box::new(
                |now, packet| {
                    if is_data(packet) && now > Instant::from_millis(3_000) { Fate::Mark } else { Fate::Deliver }
                },
            );
        watch(&name, &mut link, 25);
        let rate = watch(&name, &mut link, 10);
        let data: Vec<Ecn> =
            link.sent_down.iter().filter(|(_, packet)| is_data(packet)).map(|(_, packet)| packet.ecn).collect();
        let answers = data.iter().any(|ecn| ecn.is_ect());
        println!("{name}: {rate:.2} Mbit/s, ECT: {answers}");
        // aL4S-CC does nothing while the delay does not vary (its Eq. 10).
        if answers && name != "al4s" {
            assert!(rate < 4.0, "{name}: {rate} Mbit/s although every packet is marked");
        }
        assert!(rate > 0.05, "{name}: {rate} Mbit/s: stuck");
    }
}

#[test]
fn it_works_over_a_long_path() {
    for (name, sender, app) in senders() {
        let mut link = link(&sender, &app, Duration::from_millis(250));
        watch(&name, &mut link, 60);
        let rate = watch(&name, &mut link, 20);
        println!("{name}: {rate:.2} Mbit/s over 500 ms");
        assert!(rate > 0.4, "{name}: {rate} Mbit/s");
    }
}

#[test]
fn it_restarts_after_idleness() {
    let second = Duration::from_secs(1);
    let app = AppConfig::OnOff(OnOffConfig {
        rate: BitRate::from_mbps(10),
        on: Times::Fixed { mean: second },
        off: Times::Fixed { mean: second * 3 },
        ..OnOffConfig::default()
    });
    for (name, sender, _) in senders().into_iter().filter(|(_, sender, _)| carries_bytes(sender)) {
        let mut link = link(&sender, &app, Duration::from_millis(10));
        let rate = watch(&name, &mut link, 40);
        assert!((2.4..2.6).contains(&rate), "{name}: {rate} of 2.5 Mbit/s");
        assert_eq!(link.stats().0.timeouts, 0, "{name}");
    }
}

/// An application that writes 2 Mbit/s, and a path that gives no sign of congestion: 5 kB in flight prove nothing
/// about what the path carries.
#[test]
fn its_window_stays_bounded_while_nobody_uses_it() {
    let rate = BitRate::from_mbps(2);
    let app = AppConfig::Constant(ConstantConfig { rate, ..ConstantConfig::default() });
    for (name, sender, _) in senders().into_iter().filter(|(_, sender, _)| carries_bytes(sender)) {
        let mut link = Link::new(&sender, &app, Duration::from_millis(10));
        watch(&name, &mut link, 300);
        let stats = link.stats().0;
        println!("{name}: a window of {:?}, {:?}", stats.window, stats.pacing_rate);
        assert!(stats.window.is_none_or(|window| window < Bytes(200_000)), "{name}: {:?}", stats.window);
    }
}
