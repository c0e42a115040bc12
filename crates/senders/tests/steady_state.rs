//! Windows against marking and loss probabilities, beside what the laws say.

mod link;

use link::{Fate, Link, is_data};
use tidemark_core::Bytes;
use tidemark_core::{Duration, Instant, Probability, Stream};
use tidemark_senders::controller::{CubicConfig, PragueConfig, RenoConfig};
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
