//! Laws of the controllers at a fixed probability of marks or losses over a path of fixed delay, as measured and as
//! known of it: the laws in their own words, and the measurements.
#![allow(dead_code, reason = "each user takes a part")]

use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant, Probability, Stream};
use tidemark_senders::controller::{BbrV2Config, CubicConfig, PragueConfig, RenoConfig};
use tidemark_senders::media::{Feedback, MediaController, PacketResult, RateLimits, Scream, ScreamConfig, VideoConfig};
use tidemark_senders::udp_prague::UdpPragueConfig;
use tidemark_senders::{AppConfig, SenderConfig, TcpConfig};

use crate::link::{Bottleneck, Fate, Link, is_data};

fn tcp() -> TcpConfig {
    TcpConfig { send_buffer: Bytes(1 << 30), receive_window: Bytes(1 << 30), ..TcpConfig::default() }
}
pub fn reno() -> SenderConfig {
    SenderConfig::Reno(RenoConfig { tcp: tcp(), ..RenoConfig::default() })
}
pub fn cubic() -> SenderConfig {
    SenderConfig::Cubic(CubicConfig { tcp: tcp(), ..CubicConfig::default() })
}
pub fn prague() -> SenderConfig {
    SenderConfig::Prague(PragueConfig { tcp: tcp(), ..PragueConfig::default() })
}
/// Prague that reduces as Linux does where the round trip is short.
pub fn prague_whole() -> SenderConfig {
    SenderConfig::Prague(PragueConfig { whole_rounds: true, tcp: tcp(), ..PragueConfig::default() })
}

/// Choice of the packets that are hit: every 1/p-th, or each with the probability p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    Regular,
    Random,
}

fn hits(p: f64, how: How) -> impl FnMut() -> bool + Send {
    let mut since = 0.0;
    let mut stream = Stream::new(1, 0, "mark");
    move || match how {
        How::Regular => {
            since += p;
            let hit = since >= 1.0;
            since -= if hit { 1.0 } else { 0.0 };
            hit
        }
        How::Random => stream.chance(Probability::new(p)),
    }
}

fn hit(link: &mut Link, p: f64, fate: Fate, how: How) {
    let mut hits = hits(p, how);
    link.down = Box::new(move |_, packet| if is_data(packet) && hits() { fate } else { Fate::Deliver });
}

/// The mean window in segments of a flow of TCP over `span` seconds, after 50 s.
pub fn window(config: &SenderConfig, rtt_ms: u64, p: f64, fate: Fate, how: How, span: u64) -> f64 {
    let mut link = Link::new(config, &AppConfig::default(), Duration::from_millis(rtt_ms) / 2);
    hit(&mut link, p, fate, how);
    link.run_until(Instant::from_millis(50_000));
    link.mean_window(Duration::from_secs(span), 1448.0)
}

/// Mathis et al. 1997: every 1/p-th packet, no delayed acknowledgements.
pub fn reno_regular(p: f64) -> f64 {
    (1.5 / p).sqrt()
}

/// Random losses leave larger windows than regular ones: sqrt(p) E[W] = 1.3098 (Ott, Kemperman, Mathis 1996).
pub fn reno_random(p: f64) -> f64 {
    1.3098 / p.sqrt()
}

/// RFC 9438 5.1, equation 5, over a round trip in seconds: W = (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4).
pub fn cubic_regular(p: f64, rtt: f64) -> f64 {
    libm::pow(0.4 * 3.7 / 1.2, 0.25) * libm::pow(rtt / p, 0.75)
}

/// One segment a round trip from the unmarked, p/2 of the window from the marked: two marks in a round trip,
/// if there is a reduction in every round.
pub fn prague_regular(p: f64) -> f64 {
    2.0 * (1.0 - p) / p
}

/// Window with marks at random: a reduction is followed by a round without one and then by the wait for the next
/// mark, 1 / (p W) rounds on average. With x = p W marks in a round, x / 2 = 1 + 1 / x: x = 1 + sqrt(3), not 2.
pub fn prague_random(p: f64) -> f64 {
    (1.0 + 3f64.sqrt()) * (1.0 - p) / p
}

/// Prague's law where reductions wait for whole rounds (Linux), for a round trip of 9 to 25 ms. A round of congestion takes one round trip
/// of r virtual ones, the next begins with the next mark, and reduces if the virtual round trip has passed since the last reduction:
/// for at least two rounds if r is above a half, three if it is above a third. x/2 is the mean time from reduction to reduction.
pub fn prague_whole_rounds(p: f64, rtt: f64) -> f64 {
    let r = rtt / 25.0;
    let between = |x: f64| {
        let early = |rounds: f64| (1.0 - rounds * r).max(0.0) * x;
        // The first wait, and the sum of two, are shorter than what is left of the virtual round trip.
        let first = 1.0 - libm::exp(-early(1.0));
        let two = 1.0 - libm::exp(-early(2.0)) * (1.0 + early(2.0));
        (r + 1.0 / x) * (1.0 + first + two)
    };
    // The right side grows more slowly than the left.
    let mut x = 2.0;
    for _ in 0..100 {
        x = 2.0 * between(x);
    }
    x * (1.0 - p) / p * r
}

/// UDP Prague's rate in Mbit/s of packets of 1400 B under random marks, over two minutes.
pub fn udp_prague_rate(rtt_ms: u64, p: f64) -> f64 {
    let config = SenderConfig::UdpPrague(UdpPragueConfig::default());
    let mut link = Link::new(&config, &AppConfig::default(), Duration::from_millis(rtt_ms) / 2);
    hit(&mut link, p, Fate::Mark, How::Random);
    link.run_until(Instant::from_millis(30_000));
    let before = link.stats().1.delivered;
    link.run_for(Duration::from_secs(120));
    (link.stats().1.delivered - before).as_f64() * 8e-6 / 120.0
}

/// Prague's law as UDP Prague's rate in Mbit/s: from the first packet on, flows behave as if their round trip were 25 ms.
pub fn udp_prague_law(rtt_ms: u64, p: f64) -> f64 {
    prague_random(p) * 1400.0 * 8e-6 / (rtt_ms.max(25) as f64 * 1e-3)
}

const BBR_RATE: BitRate = BitRate::from_mbps(200);
const BBR_RTT: Duration = Duration::from_millis(25);

/// BBR v2 over 200 Mbit/s and 25 ms with random marks, for 40 s: the response to a round with marks as a share of what
/// it should be, and the share of the link that is used.
pub fn bbr_v2(p: f64) -> (f64, f64) {
    let config = SenderConfig::BbrV2(BbrV2Config { tcp: tcp(), ..BbrV2Config::default() });
    let mut link = Link::new(&config, &AppConfig::default(), BBR_RTT / 2);
    link.bottleneck = Some(Bottleneck::new(BBR_RATE, BBR_RATE.bytes_in(BBR_RTT * 10), Duration::MAX));
    hit(&mut link, p, Fate::Mark, How::Random);
    link.run_for(Duration::from_secs(5));
    let product = BBR_RATE.bytes_in(BBR_RTT).as_f64() / 1500.0;
    let before = link.stats().1.delivered;
    let (mut falls, mut rounds, mut last) = (0.0, 0.0, f64::INFINITY);
    for _ in 0..1600 {
        link.run_for(BBR_RTT);
        let window = link.stats().0.window.map_or(0.0, |window| window.as_f64()) / 1448.0;
        // What the end of a probe takes is no response to marks.
        if window < last && window > 0.8 * last && last < 1.8 * product && window > 20.0 {
            falls += libm::log(last / window);
            rounds += 1.0;
        }
        last = window;
    }
    let possible = BBR_RATE.as_bps() as f64 / 8.0 * 40.0 * 1448.0 / 1500.0;
    (falls / rounds / -libm::log(1.0 - p / 3.0), (link.stats().1.delivered - before).as_f64() / possible)
}

/// Share of the link that marks of `p` leave BBR v2, after the rules of `tcp_bbr2.c`: from a window of two bandwidth-delay products each
/// round takes p/3, until as many rounds as the flight has segments, 63 at the most, have passed (the first
/// is counted with a chance of one half); then the window doubles each round, from one round at the old one, until the
/// flight is 1.25 products. Every 5 s half a product for 200 ms costs 2 %.
pub fn bbr_v2_law(p: f64) -> f64 {
    let product = BBR_RATE.bytes_in(BBR_RTT).as_f64() / 1500.0;
    let (mut window, mut carried, mut rounds) = (2.0f64, 0.0, 0.0);
    while rounds + 0.5 < (window.min(1.0) * product).min(63.0) {
        window *= 1.0 - p / 3.0;
        carried += window.min(1.0);
        rounds += 1.0;
    }
    while window < 1.25 {
        carried += window.min(1.0);
        rounds += 1.0;
        window *= 2.0;
    }
    carried / rounds * 0.98
}

/// The window in units of 1000 B of a SCReAM v2 that uses it to the last byte, with every 1/p-th unit marked and
/// ten reports in a round trip of 10 ms.
pub fn scream_window(p: f64) -> f64 {
    const REPORTS: u32 = 60_000;
    let (rtt, max) = (Duration::from_millis(10), BitRate::from_mbps(100_000));
    let rates = RateLimits { min: BitRate::from_kbps(10), max, ..RateLimits::default() };
    let mut controller = Scream::new(&ScreamConfig { rates, ..ScreamConfig::default() });
    let mut hits = hits(p, How::Regular);
    let (mut now, mut seq, mut earned, mut sum) = (Instant::from_millis(1000), 0, 0.0, 0.0);
    for report in 0..REPORTS {
        now += rtt / 10;
        // It allows a flight of three reference windows, for the bursts of a video.
        let window = controller.window().map_or(0.0, |window| window.as_f64()) / 3.0;
        sum += if report >= REPORTS / 2 { window } else { 0.0 };
        earned += window / 10.0;
        let mut results = Vec::new();
        while earned >= 1000.0 {
            earned -= 1000.0;
            let ecn = if hits() { Ecn::Ce } else { Ecn::Ect1 };
            let (sent_at, received_at) = (now.before(rtt), Some(now.before(rtt / 2)));
            results.push(PacketResult { seq, size: Bytes(1000), sent_at, received_at, ecn, probe: None });
            seq += 1;
        }
        let in_flight = Bytes(window as u64);
        let feedback = Feedback { now, results: &results, rtt: Some(rtt), in_flight, sent: seq, outstanding: 0 };
        controller.on_feedback(&feedback);
    }
    sum / f64::from(REPORTS / 2) / 1000.0
}

/// Two marks in a virtual round trip of 25 ms, its authors' rule, where the marked share is averaged over a
/// round trip: up to one of 10 ms.
pub fn scream_law(p: f64) -> f64 {
    2.0 * (1.0 - p) / p * 10.0 / 25.0
}

/// Marks in a round trip of 25 ms of a video under SCReAM v2, at random, over two minutes; and its rate in Mbit/s.
pub fn scream_video(p: f64) -> (f64, f64) {
    let (min, max) = (BitRate::from_kbps(100), BitRate::from_mbps(1000));
    let rates = RateLimits { min, max, ..RateLimits::default() };
    let config = SenderConfig::Scream(ScreamConfig { rates, ..ScreamConfig::default() });
    let mut link = Link::new(&config, &AppConfig::Video(VideoConfig::default()), Duration::from_micros(12_500));
    hit(&mut link, p, Fate::Mark, How::Random);
    link.run_until(Instant::from_millis(30_000));
    let before = link.stats().1;
    link.run_until(Instant::from_millis(150_000));
    let after = link.stats().1;
    let marks = (after.marks_received - before.marks_received) as f64 / (120.0 / 0.025);
    (marks, (after.bytes_received - before.bytes_received).as_f64() * 8e-6 / 120.0)
}
