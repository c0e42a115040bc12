//! Times and rates of probes for more: libwebrtc's `ProbeController` with its defaults of 2025.
//!
//! At the start two clusters at three and six times the rate; whenever the result is more than 70 % of what was probed,
//! another at twice the result; every five seconds one at twice the rate while the application is the limit; and one at
//! 85 % of the former rate after a deep fall from which the delay has recovered, if the application was the limit. None
//! while the delay grows or falls or losses limit. libwebrtc also probes when the allocation among streams changes and
//! by an estimate of the network's state; a single video has neither.

use tidemark_core::{BitRate, Bytes, Duration, Instant};

use super::Cause;
use crate::media::Probe;

const INITIAL: [f64; 2] = [3.0, 6.0];
const FURTHER: f64 = 2.0;
/// A result above this share of what was probed is reason to go on.
const WORTH_MORE: f64 = 0.7;
const MAX_WAIT: Duration = Duration::from_secs(1);
const ALR_INTERVAL: Duration = Duration::from_secs(5);
const ALR_SCALE: f64 = 2.0;
/// A fall to less than this share is deep.
const DEEP: f64 = 0.66;
const AFTER_FALL: f64 = 0.85;
const FALL_TIMEOUT: Duration = Duration::from_secs(5);
const ALR_ENDED_TIMEOUT: Duration = Duration::from_secs(3);
/// A result is so uncertain: there must be at least this to win.
const UNCERTAINTY: f64 = 0.05;
const LOSS_LIMITED_SCALE: f64 = 1.5;
/// Least content of a cluster.
const PACKETS: u32 = 5;
const DURATION: Duration = Duration::from_millis(15);

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Start,
    /// A result above this many bits a second leads to another probe.
    Waiting(f64),
    Complete,
}

/// The control; bits a second.
#[derive(Clone, Debug)]
pub(super) struct ProbeControl {
    max: f64,
    periodic: bool,
    state: State,
    estimate: f64,
    cause: Cause,
    initiated: Instant,
    alr_ended: Option<Instant>,
    /// Time at which the estimate fell deeply, and the rate from which it fell.
    fall: (Instant, f64),
    fall_probed: Instant,
    next: u32,
    pending: Vec<Probe>,
}

impl ProbeControl {
    pub(super) fn new(initial: f64, max: f64, periodic: bool) -> Self {
        Self {
            max,
            periodic,
            state: State::Start,
            estimate: initial,
            cause: Cause::Delay,
            initiated: Instant::ZERO,
            alr_ended: None,
            fall: (Instant::ZERO, 0.0),
            fall_probed: Instant::ZERO,
            next: 0,
            pending: Vec::with_capacity(4),
        }
    }

    /// A cluster to be sent.
    pub(super) fn take(&mut self) -> Option<Probe> {
        (!self.pending.is_empty()).then(|| self.pending.remove(0))
    }

    pub(super) fn on_alr_end(&mut self, now: Instant) {
        self.alr_ended = Some(now);
    }

    /// The estimate, and what limits it.
    pub(super) fn set_estimate(&mut self, now: Instant, estimate: f64, cause: Cause) {
        self.cause = cause;
        if estimate < DEEP * self.estimate {
            self.fall = (now, self.estimate);
        }
        self.estimate = estimate;
        if matches!(self.state, State::Waiting(above) if estimate > above) {
            self.initiate(now, &[FURTHER * estimate], true);
        }
    }

    /// Time goes by; `alr` is since when the application has been the limit.
    pub(super) fn process(&mut self, now: Instant, alr: Option<Instant>) {
        match self.state {
            State::Start => self.initiate(now, &INITIAL.map(|scale| scale * self.estimate), true),
            // No result will come any more: its packets or their reports were lost.
            State::Waiting(_) if now.since(self.initiated) > MAX_WAIT => self.state = State::Complete,
            State::Waiting(_) => {}
            State::Complete => {
                // An application that sends little never shows what the path has: only a probe can.
                if self.periodic && alr.is_some_and(|since| now >= since.max(self.initiated) + ALR_INTERVAL) {
                    self.initiate(now, &[ALR_SCALE * self.estimate], true);
                }
            }
        }
    }

    /// The delay is as it should be again after a time of overuse.
    pub(super) fn on_recovery(&mut self, now: Instant, alr: Option<Instant>) {
        let recently = self.alr_ended.is_some_and(|ended| now.since(ended) < ALR_ENDED_TIMEOUT);
        // A stream that fills its rate finds the way back by itself, and one probe at a time is enough.
        if alr.is_none() && !recently || self.state != State::Complete {
            return;
        }
        let (fell, before) = self.fall;
        let rate = AFTER_FALL * before;
        // Only if there is something to win, and the fall is recent: else the path may be another.
        if (1.0 - UNCERTAINTY) * rate > self.estimate
            && now.since(fell) < FALL_TIMEOUT
            && now.since(self.fall_probed) > ALR_INTERVAL
        {
            self.fall_probed = now;
            self.initiate(now, &[rate], false);
        }
    }

    fn initiate(&mut self, now: Instant, rates: &[f64], mut further: bool) {
        // No probe goes into a queue or into losses; while losses ease it goes less far.
        let max = match self.cause {
            Cause::DelayChanged | Cause::Losses => return,
            Cause::LossesEasing => self.max.min(LOSS_LIMITED_SCALE * self.estimate),
            Cause::Delay => self.max,
        };
        let mut last = 0.0;
        for rate in rates {
            further &= *rate < max;
            last = rate.min(max);
            let size = Bytes((last / 8.0 * DURATION.as_secs_f64()) as u64);
            self.pending.push(Probe { id: self.next, rate: BitRate::from_bps_f64(last), size, packets: PACKETS });
            self.next += 1;
        }
        self.initiated = now;
        // At the limit no result could lead any further.
        self.state = if further { State::Waiting(WORTH_MORE * last) } else { State::Complete };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }
    fn rates(control: &mut ProbeControl) -> Vec<u64> {
        std::iter::from_fn(|| control.take()).map(|probe| probe.rate.as_bps() / 1000).collect()
    }

    #[test]
    fn it_goes_on_as_long_as_results_are_near_what_was_probed() {
        let mut control = ProbeControl::new(1e6, 70e6, false);
        control.process(at(0), None);
        assert_eq!(rates(&mut control), [3000, 6000]);
        control.set_estimate(at(100), 2.9e6, Cause::Delay);
        assert!(rates(&mut control).is_empty(), "less than 4.2 Mbit/s");
        control.set_estimate(at(150), 5.9e6, Cause::Delay);
        assert_eq!(rates(&mut control), [11_800]);
        control.set_estimate(at(250), 8e6, Cause::Delay);
        assert!(rates(&mut control).is_empty(), "that is what the path carries");
        control.process(at(1300), None);
        control.set_estimate(at(1400), 11e6, Cause::Delay);
        assert!(rates(&mut control).is_empty(), "too late");
    }

    #[test]
    fn the_largest_rate_ends_it_and_overuse_forbids_it() {
        let mut control = ProbeControl::new(1e6, 5e6, false);
        control.process(at(0), None);
        assert_eq!(rates(&mut control), [3000, 5000]);
        control.set_estimate(at(100), 5e6, Cause::Delay);
        assert!(rates(&mut control).is_empty());
        let mut control = ProbeControl::new(1e6, 70e6, false);
        control.process(at(0), None);
        rates(&mut control);
        control.set_estimate(at(100), 6e6, Cause::DelayChanged);
        assert!(rates(&mut control).is_empty());
    }

    #[test]
    fn an_application_that_is_the_limit_is_probed_for_every_five_seconds() {
        let mut control = ProbeControl::new(1e6, 70e6, true);
        control.process(at(0), None);
        rates(&mut control);
        let mut probes = 0;
        for tick in 1..2100 {
            control.process(at(tick * 10), Some(at(1000)));
            probes += rates(&mut control).len();
        }
        assert_eq!(probes, 3, "at 6, 11 and 16 s");
    }

    #[test]
    fn a_deep_fall_of_a_limited_application_is_tested() {
        let mut control = ProbeControl::new(10e6, 70e6, false);
        control.process(at(0), None);
        rates(&mut control);
        control.process(at(1500), None);
        control.set_estimate(at(8000), 4e6, Cause::DelayChanged);
        control.set_estimate(at(8500), 4e6, Cause::Delay);
        control.on_recovery(at(8500), None);
        assert!(rates(&mut control).is_empty());
        control.on_recovery(at(8600), Some(at(7000)));
        assert_eq!(rates(&mut control), [8500]);
    }
}
