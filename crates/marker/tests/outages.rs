//! Outages that a law is told of: time in which a queue stood and nothing of it was transmitted.

mod common;
#[path = "common/listener.rs"]
mod listener;

use common::Du;
use listener::Listener;
use tidemark_core::{Duration, Ecn};
use tidemark_marker::{MarkerConfig, SnLength};

/// Outages in ms in two seconds of slots of 0.5 ms, with reports at this period, a queue where `queues` says so, and service where `serves` does.
fn told(period: u64, queues: impl Fn(u64) -> bool, serves: impl Fn(u64) -> bool) -> Vec<f64> {
    let law = Listener::default();
    let mut du = Du::new(&MarkerConfig::with_law(law.config()), SnLength::Bits18, Duration::from_millis(period));
    for slot in 0..4_000 {
        while queues(slot) && du.backlog() < 100_000 {
            du.send(0, Ecn::NotEct, 1_500);
        }
        du.slot(if serves(slot) { 2_500.0 } else { 0.0 });
    }
    let received = law.received();
    received.outages.iter().map(|seconds| (seconds * 1e3).round()).collect()
}

#[test]
fn an_outage_is_told_once_with_its_length_at_any_period_of_reports() {
    for period in [1, 5, 10] {
        // 100 ms from 1 s on.
        let outages = told(period, |_| true, |slot| !(2_000..2_200).contains(&slot));
        assert!(matches!(outages[..], [outage] if (outage - 100.0).abs() <= 11.0), "{period} ms: {outages:?}");
    }
}

#[test]
fn gaps_of_a_pattern_and_the_turns_of_others_are_no_outage() {
    for period in [1, 5, 10] {
        // 1.5 ms of uplink in 5 ms, and one slot of 16.
        assert_eq!(told(period, |_| true, |slot| slot % 10 < 7), [0.0; 0]);
        assert_eq!(told(period, |_| true, |slot| slot % 16 == 0), [0.0; 0]);
        // Others have 35 ms of turns while the UE fades.
        assert_eq!(told(period, |_| true, |slot| !(2_000..2_070).contains(&slot)), [0.0; 0]);
    }
}

#[test]
fn rare_reports_and_time_without_a_queue_are_no_outage() {
    assert_eq!(told(40, |_| true, |_| true), [0.0; 0]);
    // A pause of 250 ms.
    assert_eq!(told(5, |slot| !(2_000..2_500).contains(&slot), |_| true), [0.0; 0]);
}
