//! Windows against marking and loss probabilities, beside what the laws say.

mod link;

use link::{Bottleneck, Fate, Link, is_data};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant, Probability, Stream};
use tidemark_senders::controller::{BbrV2Config, CubicConfig, PragueConfig, RenoConfig};
use tidemark_senders::media::{Feedback, MediaController, PacketResult, RateLimits, Scream, ScreamConfig};
use tidemark_senders::{AppConfig, SenderConfig, TcpConfig};

fn tcp() -> TcpConfig {
    TcpConfig { receive_window: Bytes(1 << 30), ..TcpConfig::default() }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Periodic,
    Random,
}

fn window(config: &SenderConfig, rtt: Duration, p: f64, fate: Fate, how: How, warm: u64, span: u64) -> f64 {
    let mut link = Link::new(config, &AppConfig::default(), rtt / 2);
    let mut since = 0.0;
    let mut stream = Stream::new(1, 0, "mark");
    link.down = Box::new(move |_, packet| {
        if !is_data(packet) {
            return Fate::Deliver;
        }
        let hit = match how {
            How::Periodic => {
                since += p;
                if since >= 1.0 {
                    since -= 1.0;
                    true
                } else {
                    false
                }
            }
            How::Random => stream.chance(Probability::new(p)),
        };
        if hit { fate } else { Fate::Deliver }
    });
    link.run_until(Instant::ZERO + Duration::from_secs(warm));
    link.mean_window(Duration::from_secs(span), 1448.0)
}

/// Within a tenth of `law`, over a decade of probabilities.
fn check(config: &SenderConfig, rtt_ms: u64, ps: [f64; 3], fate: Fate, how: How, span: u64, law: impl Fn(f64) -> f64) {
    for p in ps {
        let measured = window(config, Duration::from_millis(rtt_ms), p, fate, how, 50, span);
        let ratio = measured / law(p);
        println!("{how:?} {fate:?} rtt {rtt_ms} ms p {p}: {measured:.2} segments, {ratio:.3} of the law");
        assert!((0.9..1.1).contains(&ratio), "{measured} at {p} is {ratio} of the law");
    }
}

/// Mathis et al. 1997: every 1/p-th packet, no delayed acknowledgements: W = sqrt(3 / 2p).
#[test]
fn reno() {
    let config = SenderConfig::Reno(RenoConfig { tcp: tcp(), ..RenoConfig::default() });
    let law = |p: f64| (1.5 / p).sqrt();
    check(&config, 40, [0.001, 0.003, 0.01], Fate::Mark, How::Periodic, 300, law);
    check(&config, 40, [0.0005, 0.0015, 0.005], Fate::Drop, How::Periodic, 300, law);
}

/// Random losses leave larger windows than regular ones: sqrt(p) E[W] = 1.3098 (Ott, Kemperman, Mathis 1996).
#[test]
fn reno_under_random_loss() {
    let config = SenderConfig::Reno(RenoConfig { tcp: tcp(), ..RenoConfig::default() });
    check(&config, 40, [0.001, 0.003, 0.01], Fate::Drop, How::Random, 300, |p| 1.3098 / p.sqrt());
}

/// RFC 9438 4.3: in the Reno-friendly region its window is Reno's.
#[test]
fn cubic_where_reno_would_be_faster() {
    let config = SenderConfig::Cubic(CubicConfig { tcp: tcp(), ..CubicConfig::default() });
    let law = |p: f64| (1.5 / p).sqrt();
    check(&config, 10, [0.001, 0.003, 0.01], Fate::Mark, How::Periodic, 200, law);
    check(&config, 10, [0.001, 0.003, 0.01], Fate::Drop, How::Periodic, 200, law);
}

/// RFC 9438 5.1, equation 5: W = (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4).
#[test]
fn cubic_in_its_own_region() {
    let config = SenderConfig::Cubic(CubicConfig { tcp: tcp(), ..CubicConfig::default() });
    let law = |p: f64| libm::pow(0.4 * 3.7 / 1.2, 0.25) * libm::pow(0.1 / p, 0.75);
    check(&config, 100, [3e-5, 1e-4, 3e-4], Fate::Mark, How::Periodic, 600, law);
    check(&config, 100, [3e-5, 1e-4, 3e-4], Fate::Drop, How::Periodic, 600, law);
}

/// One segment a round trip from the unmarked, p/2 of the window from the marked:
/// W = 2 (1 - p) / p, if there is a reduction in every round.
#[test]
fn prague() {
    let config = SenderConfig::Prague(PragueConfig { tcp: tcp(), ..PragueConfig::default() });
    for rtt in [25, 40] {
        check(&config, rtt, [0.01, 0.03, 0.1], Fate::Mark, How::Periodic, 120, |p| 2.0 * (1.0 - p) / p);
    }
}

/// With marks at random a reduction is followed by a round without one and then by the wait for the next
/// mark, 1 / (p W) rounds on average. With x = p W marks in a round, x / 2 = 1 + 1 / x: x = 1 + sqrt(3), not 2.
/// Below the reference of 25 ms the flow behaves as one with that round-trip time: the window goes by RTT / 25 ms.
#[test]
fn prague_under_random_marks() {
    let config = SenderConfig::Prague(PragueConfig { tcp: tcp(), ..PragueConfig::default() });
    for rtt in [10, 25, 40] {
        let share = (rtt as f64 / 25.0).min(1.0);
        let law = |p: f64| (1.0 + 3f64.sqrt()) * (1.0 - p) / p * share;
        check(&config, rtt, [0.01, 0.03, 0.1], Fate::Mark, How::Random, 120, law);
    }
}

/// Bytes of payload in flight of a SCReAM that uses its window to the last byte, in units of 1000 B of which every
/// 1/p-th is marked, with ten reports in a round trip.
fn scream_window(rtt: Duration, p: f64) -> f64 {
    let max = BitRate::from_mbps(100_000);
    let rates = RateLimits { min: BitRate::from_kbps(10), max, ..RateLimits::default() };
    let mut controller = Scream::new(&ScreamConfig { rates, ..ScreamConfig::default() });
    let (mut now, mut seq, mut earned, mut since, mut sum) = (Instant::from_millis(1000), 0, 0.0, 0.0, 0.0);
    const REPORTS: u32 = 60_000;
    for report in 0..REPORTS {
        now += rtt / 10;
        // It allows a flight of three reference windows, for the bursts of a video.
        let window = controller.window().unwrap().as_f64() / 3.0;
        sum += if report >= REPORTS / 2 { window } else { 0.0 };
        earned += window / 10.0;
        let mut results = Vec::new();
        while earned >= 1000.0 {
            earned -= 1000.0;
            since += p;
            let ecn = if since >= 1.0 { Ecn::Ce } else { Ecn::Ect1 };
            since -= since.floor();
            let (sent_at, received_at) = (now.before(rtt), Some(now.before(rtt / 2)));
            results.push(PacketResult { seq, size: Bytes(1000), sent_at, received_at, ecn });
            seq += 1;
        }
        let in_flight = Bytes(window as u64);
        let feedback = Feedback { now, results: &results, rtt: Some(rtt), in_flight, sent: seq, recommended: None };
        controller.on_feedback(&feedback);
    }
    sum / f64::from(REPORTS / 2)
}

/// Two marks in a virtual round trip of 25 ms, its authors' rule, where the marked share is averaged over a
/// round trip: up to one of 10 ms.
#[test]
fn scream() {
    for p in [0.01, 0.03, 0.1] {
        let law = 2.0 * (1.0 - p) / p * 0.4;
        let measured = scream_window(Duration::from_millis(10), p) / 1000.0;
        println!("SCReAM at {p}: {measured:.1} units of {law:.1}");
        assert!((0.9..1.1).contains(&(measured / law)), "{measured} of {law} at {p}");
    }
}

/// What marks of `p` at random leave of a bandwidth-delay product of `product` segments, after the rules of `tcp_bbr2.c`: from
/// a window of two products each round takes p/3, until as many rounds as the flight has segments, 63 at the
/// most, have passed (the first is counted with a chance of one half); then the window doubles each round, from one round at the
/// old one, until the flight is 1.25 products. Every 5 s half a product for 200 ms costs 2 %.
fn bbr_v2_share(p: f64, product: f64) -> f64 {
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

/// The DCTCP-like response of BBR version 2 is `1 - alpha / 3` a round, from probe to probe; the mean rate follows.
#[test]
fn bbr_v2() {
    let config = SenderConfig::BbrV2(BbrV2Config { tcp: tcp(), ..BbrV2Config::default() });
    let (rate, rtt) = (BitRate::from_mbps(200), Duration::from_millis(25));
    let product = rate.bytes_in(rtt).as_f64() / 1500.0;
    for p in [0.03, 0.1, 0.3] {
        let mut link = Link::new(&config, &AppConfig::default(), rtt / 2);
        link.bottleneck = Some(Bottleneck::new(rate, rate.bytes_in(rtt * 10), Duration::MAX));
        let mut stream = Stream::new(1, 0, "mark");
        link.down =
            Box::new(
                move |_, packet| {
                    if is_data(packet) && stream.chance(Probability::new(p)) { Fate::Mark } else { Fate::Deliver }
                },
            );
        link.run_for(Duration::from_secs(5));
        let before = link.stats().1.delivered;
        let (mut falls, mut rounds, mut last) = (0.0, 0.0, f64::INFINITY);
        for _ in 0..800 {
            link.run_for(rtt);
            let window = link.stats().0.window.unwrap().as_f64() / 1448.0;
            if window < last && last < 0.9 * product && window > 20.0 {
                falls += libm::log(last / window);
                rounds += 1.0;
            }
            last = window;
        }
        let response = falls / rounds / -libm::log(1.0 - p / 3.0);
        let possible = rate.as_bps() as f64 / 8.0 * 20.0 * 1448.0 / 1500.0;
        let measured = (link.stats().1.delivered - before).as_f64() / possible;
        let law = bbr_v2_share(p, product);
        println!("BBR v2 at {p}: {response:.3} of the response; {measured:.3} of the link, by the law {law:.3}");
        assert!((0.97..1.03).contains(&response), "{response} at {p}");
        assert!((0.9..1.1).contains(&(measured / law)), "{measured} of {law} at {p}");
    }
}
