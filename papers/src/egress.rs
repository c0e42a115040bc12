//! Error of the marker's estimated egress rate against RLC's true rate (L4Span, Fig. 20).
//!
//! At regular times each marker's `r_hat` (Eq. 4), computed from the reports of two windows `tau_c`, is compared with RLC's own log of
//! the same time: the bytes that RLC sent for the first time, divided by the time. The estimate serves to predict, so it is also
//! compared with the following window. Only times during which RLC always had data are compared, because an empty queue sends nothing
//! whatever the radio could carry. An estimate over all time, as the equations are printed, is compared with the log over all time.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};

use miette::{IntoDiagnostic, Result, miette};
use tidemark_cell::{BearerId, Event, UeId};
use tidemark_core::{Bytes, Duration, Instant};
use tidemark_marker::Estimate;
use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

use super::target::Targets;
use tidemark_terminal::error::diagnostic;

const SCENARIO: &str = "l4span.fig9";
const SEEDS: u64 = 3;
/// An error of at most this many percent is near.
const NEAR: f64 = 10.0;
/// Not a multiple of a slot, so that comparisons meet all positions of the TDD pattern.
const EVERY: Duration = Duration::from_micros(7_300);

/// Figures in percent for a case of `l4span.fig9`: quantiles of the relative error, `error_p25`, `error_p50`, `error_p75`, and the share of
/// errors within 10 %, `error_near`; the same against the following window as `next_p50` and so on; the same at all times with a transmission,
/// also with empty queues, as `all_p50` and so on; at each report, against Eq. 3 on RLC's log at its last transmission, as `eq3_p50` and so on;
/// and the share of comparable time, `compared`.
pub(super) fn run(case: &str) -> Result<BTreeMap<String, f64>> {
    let targets = Targets::load()?;
    let (text, overrides) = (targets.scenario(SCENARIO)?, targets.overrides(SCENARIO, case)?);
    let mut errors = Errors::default();
    for seed in 1..=SEEDS {
        let all: Vec<_> = overrides.iter().cloned().chain([format!("seed={seed}")]).collect();
        let scenario = Scenario::parse(SCENARIO, &text, Path::new("."), &all).map_err(diagnostic)?;
        errors.append(observe(&scenario)?);
    }
    let compared = 100.0 * errors.past.len() as f64 / errors.times.max(1) as f64;
    let mut figures = BTreeMap::from([("compared".into(), compared)]);
    for (name, of) in
        [("error", &mut errors.past), ("next", &mut errors.next), ("all", &mut errors.all), ("eq3", &mut errors.eq3)]
    {
        of.sort_by(f64::total_cmp);
        let last = of.len().checked_sub(1).ok_or_else(|| miette!("{case}: there was never a queue"))?;
        for (quantile, percent) in [("p25", 25), ("p50", 50), ("p75", 75)] {
            figures.insert(format!("{name}_{quantile}"), of[last * percent / 100]);
        }
        let near = of.iter().filter(|error| error.abs() <= NEAR).count();
        figures.insert(format!("{name}_near"), 100.0 * near as f64 / of.len() as f64);
    }
    Ok(figures)
}

/// Runs a scenario and compares after the warm-up.
fn observe(scenario: &Scenario) -> Result<Errors> {
    let windows: Vec<_> = scenario.ues().iter().map(|ue| ue.config.marker.tau_c).collect();
    let from = Instant::ZERO + scenario.warmup;
    let seen = Arc::new(Mutex::new((BTreeMap::<(UeId, u8), Log>::new(), Errors::default())));
    let out = Arc::clone(&seen);
    let mut simulation = Simulation::new(scenario).map_err(|error| miette!("{error}"))?;
    simulation.observe(Box::new(move |now, BearerId { ue, drb, .. }, event| {
        let Ok(mut out) = out.lock() else { return };
        let (logs, errors) = &mut *out;
        let log = logs.entry((ue, drb)).or_insert_with(|| Log::new(windows[ue.0 as usize], from));
        log.compare_up_to(now, errors);
        match event {
            Event::Decided { decision, .. } => log.estimated(&decision.estimate),
            Event::Reported { estimate, .. } => {
                log.estimated(&estimate);
                log.compare_with_eq3(errors);
            }
            Event::Numbered { .. } => _ = log.busy.get_or_insert(now),
            Event::Transmitted { bytes, backlog } => log.sent(now, bytes, backlog),
            _ => {}
        }
    }));
    simulation.run(|_| !tidemark_terminal::interrupt::happened()).into_diagnostic()?;
    let seen = Arc::into_inner(seen).and_then(|seen| seen.into_inner().ok());
    seen.map(|(_, errors)| errors).ok_or_else(|| miette!("the simulation is still running"))
}

/// Relative errors in percent.
#[derive(Default)]
struct Errors {
    past: Vec<f64>,
    next: Vec<f64>,
    /// Errors at all times with a transmission, also with empty queues.
    all: Vec<f64>,
    /// Errors against Eq. 3 on the log.
    eq3: Vec<f64>,
    /// Number of comparisons, usable or not.
    times: u64,
}

impl Errors {
    fn append(&mut self, mut others: Self) {
        self.past.append(&mut others.past);
        self.next.append(&mut others.next);
        self.all.append(&mut others.all);
        self.eq3.append(&mut others.eq3);
        self.times += others.times;
    }
}

/// Log of one bearer: RLC's transmissions, and its marker's estimate.
struct Log {
    window: Duration,
    /// Time of the next comparison.
    next: Instant,
    /// Time since which RLC has always had data to send.
    busy: Option<Instant>,
    /// Transmissions with the bytes sent up to each; only the first may be older than two windows.
    sent: VecDeque<(Instant, u64)>,
    total: u64,
    /// Last transmission without a report.
    unreported: Option<(Instant, u64)>,
    /// Start of the comparisons.
    from: Instant,
    /// The marker's estimated egress rate in bytes per second.
    rate: Option<f64>,
    /// Estimates whose following window has not ended: time, bytes sent up to then, and the estimate.
    waiting: VecDeque<(Instant, u64, f64)>,
}

impl Log {
    fn new(window: Duration, from: Instant) -> Self {
        Self {
            window,
            next: from,
            from,
            busy: None,
            sent: VecDeque::new(),
            total: 0,
            unreported: None,
            rate: None,
            waiting: VecDeque::new(),
        }
    }

    fn estimated(&mut self, estimate: &Estimate) {
        self.rate = estimate.egress.map(|egress| egress.rate.as_bytes_per_sec());
    }

    fn sent(&mut self, now: Instant, bytes: Bytes, waiting: Bytes) {
        self.total += bytes.0;
        self.sent.push_back((now, self.total));
        if bytes.0 > 0 && now >= self.from {
            self.unreported = Some((now, self.total));
        }
        while self.sent.get(1).is_some_and(|(at, _)| *at + self.window * 2 <= now) {
            self.sent.pop_front();
        }
        if waiting.0 == 0 {
            self.busy = None;
            self.waiting.clear();
        }
    }

    /// Makes the comparisons that are due before an event.
    fn compare_up_to(&mut self, now: Instant, errors: &mut Errors) {
        while self.next < now {
            self.compare(self.next, errors);
            self.next += EVERY;
        }
        // Nothing was sent since the last event, so that every window that ends in between has sent the same.
        while let Some((_, from, rate)) = self.waiting.front().filter(|(at, ..)| *at + self.window < now) {
            errors.next.push(error(*rate, self.total - from, self.window));
            self.waiting.pop_front();
        }
    }

    /// Compares the estimate of a report with Eq. 3 at the last transmission, if that is after the warm-up and was not compared yet.
    fn compare_with_eq3(&mut self, errors: &mut Errors) {
        let (Some(rate), Some((at, total))) = (self.rate, self.unreported.take()) else { return };
        let before =
            self.sent.iter().take_while(|(sent, _)| *sent + self.window <= at).last().map_or(0, |(_, total)| *total);
        errors.eq3.push(error(rate, total - before, self.window));
    }

    fn compare(&mut self, at: Instant, errors: &mut Errors) {
        errors.times += 1;
        let span = self.window * 2;
        let Some(rate) = self.rate else { return };
        let before = self.sent.iter().take_while(|(sent, _)| *sent + span <= at).last().map_or(0, |(_, total)| *total);
        let sent = self.total - before;
        if sent > 0 {
            errors.all.push(error(rate, sent, span));
        }
        if self.busy.is_none_or(|since| at.since(since) < span) {
            return;
        }
        errors.past.push(error(rate, sent, span));
        self.waiting.push_back((at, self.total, rate));
    }
}

/// Relative error of a rate, in percent of the true rate.
fn error(rate: f64, bytes: u64, window: Duration) -> f64 {
    let sent = bytes as f64 / window.as_secs_f64();
    if rate == sent { 0.0 } else { 100.0 * (rate / sent - 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn worked_by_hand() {
        // A window of 20 ms; 1000 bytes leave at 5, 10, ... 60 ms, 0.2 MB/s. Comparisons at 50, 57.3 and 64.6 ms, of 40 ms:
        // 8000 bytes of the first, those at 15 ... 50 ms; 8000 at 20 ... 55 ms; 8000 at 25 ... 60 ms.
        let (mut log, mut errors) = (Log::new(Duration::from_millis(20), ms(50)), Errors::default());
        log.busy = Some(ms(0));
        log.rate = Some(220_000.0);
        for k in 1..=12 {
            log.compare_up_to(ms(5 * k), &mut errors);
            log.sent(ms(5 * k), Bytes(1_000), Bytes(9));
        }
        // Eq. 3 at 60 ms: 4000 bytes after 40 ms. A transmission is compared with once.
        log.compare_with_eq3(&mut errors);
        log.compare_with_eq3(&mut errors);
        log.rate = Some(300_000.0);
        // From here on 2000 bytes: what follows 50 ms up to 70 ms is 2000 + 2 * 2000.
        for k in 13..=16 {
            log.compare_up_to(ms(5 * k), &mut errors);
            log.sent(ms(5 * k), Bytes(2_000), Bytes(if k < 16 { 9 } else { 0 }));
        }
        let rounded = |errors: &[f64]| errors.iter().map(|error| error.round()).collect::<Vec<_>>();
        assert_eq!(rounded(&errors.past)[..3], [10.0, 10.0, 50.0]);
        assert_eq!(rounded(&errors.next), [-27.0, -37.0]);
        assert_eq!(rounded(&errors.eq3), [10.0]);
        // An empty queue is not compared with, nor one that does not stand for long enough.
        let before = errors.past.len();
        log.compare_up_to(ms(100), &mut errors);
        log.busy = Some(ms(100));
        log.compare_up_to(ms(139), &mut errors);
        assert_eq!((errors.past.len(), log.waiting.len()), (before, 0));
        // At all times it is, but for those after 120 ms, which find nothing sent for 40 ms: 123, 130.3 and 137.6 ms.
        assert_eq!(rounded(&errors.all)[..3], [10.0, 10.0, 50.0]);
        assert_eq!(errors.all.len(), 10);
        assert_eq!(errors.times, 13);
    }

    #[test]
    fn the_estimate_is_near_what_rlc_sends_on_a_static_channel() {
        let text = r#"
name = "egress"
duration = "4 s"
warmup = "1 s"
marker = { law = "l4span" }
[[ue]]
name = "ue"
channel = { model = "static" }
[[flow]]
name = "flow"
ue = "ue"
round_trip = "20 ms"
sender = { controller = "prague" }
"#;
        let scenario = Scenario::parse("egress", text, Path::new("."), &[]).map_err(diagnostic).unwrap();
        let errors = observe(&scenario).unwrap();
        assert!(errors.past.len() > 100 && errors.next.len() > 100, "{} of {}", errors.past.len(), errors.times);
        let near = errors.past.iter().filter(|error| error.abs() <= NEAR).count();
        assert!(near * 10 > errors.past.len() * 9, "{near} of {}", errors.past.len());
    }

    #[test]
    fn a_case_is_one_of_the_scenario() {
        assert!(run("unknown").unwrap_err().to_string().contains("no part unknown"));
    }
}
