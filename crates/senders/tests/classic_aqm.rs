//! Prague's fallback: where a classic AQM marks it is to leave a classic flow its share, where an L4S AQM marks it is to stay
//! as it is (RFC 9331 4.3, arXiv:1911.00710).

use crate::dumbbell::{Dumbbell, Queue};
use tidemark_core::{BitRate, Duration};
use tidemark_senders::controller::{CubicConfig, PragueConfig};
use tidemark_senders::{AppConfig, SenderConfig};

/// Prague's share beside CUBIC, and the mean delay of its packets in the queue in ms: a minute after half a minute.
fn share(queue: Queue, classic_fallback: bool) -> (f64, f64) {
    let rtt = Duration::from_millis(20);
    let flows = [
        (SenderConfig::Cubic(CubicConfig::default()), AppConfig::default(), rtt),
        (SenderConfig::Prague(PragueConfig { classic_fallback, ..PragueConfig::default() }), AppConfig::default(), rtt),
    ];
    let mut dumbbell = Dumbbell::new(BitRate::from_mbps(40), queue, &flows);
    dumbbell.run_for(Duration::from_secs(30));
    dumbbell.clear();
    let span = Duration::from_secs(60);
    dumbbell.run_for(span);
    let [cubic, prague] = [0, 1].map(|index: usize| dumbbell.flows[index].mbps(span));
    let shares = (prague / (prague + cubic), dumbbell.flows[1].mean_delay());
    println!("Prague {:.1} %, {:.2} ms of queue, fallback {classic_fallback}", shares.0 * 100.0, shares.1);
    shares
}

#[test]
fn behind_a_classic_aqm_the_fallback_leaves_cubic_its_share() {
    let (without, delay) = share(Queue::pi2(), false);
    assert!(without > 0.75 && delay > 5.0, "{without}");
    let (with, _) = share(Queue::pi2(), true);
    assert!((0.35..0.65).contains(&with), "{with}");
}

#[test]
fn behind_dualpi2_the_fallback_changes_nothing() {
    assert_eq!(share(Queue::dual_pi2(), true), share(Queue::dual_pi2(), false));
}
