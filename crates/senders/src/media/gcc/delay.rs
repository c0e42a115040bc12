//! The delay detector: packet groups, trendline filter, adaptive threshold.

use std::collections::VecDeque;

use tidemark_core::{Duration, Instant};

/// A group is what was sent within this time of its first packet.
const GROUP: Duration = Duration::from_millis(5);
/// Arrivals closer than this, and faster than they were sent, belong to a burst.
const BURST_GAP: Duration = Duration::from_millis(5);
const MAX_BURST: Duration = Duration::from_millis(100);
/// Points of the trendline.
const WINDOW: usize = 20;
const SMOOTHING: f64 = 0.9;
const GAIN: f64 = 4.0;
const MAX_DELTAS: u32 = 60;
const INITIAL_THRESHOLD: f64 = 12.5;
const THRESHOLD: (f64, f64) = (6.0, 600.0);
const GAIN_UP: f64 = 0.0087;
const GAIN_DOWN: f64 = 0.039;
/// Milliseconds beyond the threshold of a spike, which is not adapted to.
const MAX_ADAPT: f64 = 15.0;
/// Milliseconds from which overuse counts.
const OVERUSE_TIME: f64 = 10.0;

/// Judgement of the path by the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Usage {
    Normal,
    Over,
    Under,
}

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Instant,
    last_sent: Instant,
    first_arrival: Instant,
    last_arrival: Instant,
}

/// Detects over- and underuse.
#[derive(Clone, Debug)]
pub(super) struct DelayDetector {
    current: Option<Group>,
    previous: Option<Group>,
    /// Arrival time since the first, in ms, and smoothed delay.
    points: VecDeque<(f64, f64)>,
    first_arrival: Option<Instant>,
    deltas: u32,
    accumulated: f64,
    smoothed: f64,
    slope: f64,
    previous_slope: f64,
    threshold: f64,
    threshold_at: Option<Instant>,
    over_for: Option<f64>,
    over_count: u32,
}

impl DelayDetector {
    pub(super) fn new() -> Self {
        Self {
            current: None,
            previous: None,
            points: VecDeque::with_capacity(WINDOW + 1),
            first_arrival: None,
            deltas: 0,
            accumulated: 0.0,
            smoothed: 0.0,
            slope: 0.0,
            previous_slope: 0.0,
            threshold: INITIAL_THRESHOLD,
            threshold_at: None,
            over_for: None,
            over_count: 0,
        }
    }

    /// A packet arrived; a judgement where it begins a new group.
    pub(super) fn on_packet(&mut self, sent: Instant, arrival: Instant) -> Option<Usage> {
        // The first packet begins the first group.
        let Some(current) = &mut self.current else {
            self.current =
                Some(Group { first_sent: sent, last_sent: sent, first_arrival: arrival, last_arrival: arrival });
            return None;
        };
        // Sent before the group began: it was overtaken, and its group is judged.
        if sent < current.first_sent {
            return None;
        }
        let arrival_gap = arrival.since(current.last_arrival);
        let faster = arrival_gap < sent.since(current.last_sent);
        let is_burst = arrival_gap <= BURST_GAP && faster && arrival.since(current.first_arrival) < MAX_BURST;
        // Packets of one burst wait for each other: only the group as a whole tells what the path does.
        if is_burst || sent.since(current.first_sent) <= GROUP {
            current.last_sent = current.last_sent.max(sent);
            current.last_arrival = current.last_arrival.max(arrival);
            return None;
        }
        let complete = *current;
        self.current = Some(Group { first_sent: sent, last_sent: sent, first_arrival: arrival, last_arrival: arrival });
        let before = self.previous.replace(complete)?;
        let send_delta = complete.last_sent.since(before.last_sent).as_millis_f64();
        let arrival_delta =
            complete.last_arrival.as_nanos() as f64 * 1e-6 - before.last_arrival.as_nanos() as f64 * 1e-6;
        Some(self.on_group(send_delta, arrival_delta, complete.last_arrival))
    }

    fn on_group(&mut self, send_delta: f64, arrival_delta: f64, arrival: Instant) -> Usage {
        let first = *self.first_arrival.get_or_insert(arrival);
        self.deltas = (self.deltas + 1).min(1000);
        self.accumulated += arrival_delta - send_delta;
        self.smoothed = SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * self.accumulated;
        self.points.push_back((arrival.since(first).as_millis_f64(), self.smoothed));
        // The trend is that of the last groups alone.
        if self.points.len() > WINDOW {
            self.points.pop_front();
        }
        // A line through fewer points is no trend.
        if self.points.len() == WINDOW {
            self.slope = slope(&self.points).unwrap_or(self.slope);
        }
        self.judge(send_delta, arrival)
    }

    fn judge(&mut self, send_delta: f64, now: Instant) -> Usage {
        // One difference has no trend.
        if self.deltas < 2 {
            return Usage::Normal;
        }
        let trend = f64::from(self.deltas.min(MAX_DELTAS)) * self.slope * GAIN;
        // The threshold adapts, since other flows on the path make the delay swing.
        let usage = if trend > self.threshold {
            let over_for = self.over_for.map_or(send_delta / 2.0, |time| time + send_delta);
            self.over_for = Some(over_for);
            self.over_count += 1;
            // A spike is no overuse: the delay must have risen for a while, and not be on its way down.
            if over_for > OVERUSE_TIME && self.over_count > 1 && self.slope >= self.previous_slope {
                self.over_for = Some(0.0);
                self.over_count = 0;
                Usage::Over
            } else {
                Usage::Normal
            }
        } else {
            self.over_for = None;
            self.over_count = 0;
            // The delay falls: a queue drains, which the rate must not disturb.
            if trend < -self.threshold { Usage::Under } else { Usage::Normal }
        };
        self.previous_slope = self.slope;
        self.adapt(trend.abs(), now);
        usage
    }

    fn adapt(&mut self, trend: f64, now: Instant) {
        let since = self.threshold_at.map_or(0.0, |then| now.since(then).as_millis_f64()).min(100.0);
        self.threshold_at = Some(now);
        // A sudden spike would leave the detector deaf for what follows.
        if trend > self.threshold + MAX_ADAPT {
            return;
        }
        // The threshold follows a delay above it slowly, so that overuse is noticed, and returns faster.
        let gain = if trend < self.threshold { GAIN_DOWN } else { GAIN_UP };
        self.threshold = (self.threshold + gain * (trend - self.threshold) * since).clamp(THRESHOLD.0, THRESHOLD.1);
    }
}

/// Least squares.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (mean_x, mean_y) = (x / n, y / n);
    let (above, below) = points.iter().fold((0.0, 0.0), |(above, below), point| {
        let distance = point.0 - mean_x;
        (above + distance * (point.1 - mean_y), below + distance * distance)
    });
    (below > 0.0).then(|| above / below)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets every 10 ms, each delayed by `delay` more than the one before it.
    fn run(detector: &mut DelayDetector, from: u64, packets: u64, mut delay: impl FnMut(u64) -> f64) -> Vec<Usage> {
        (from..from + packets)
            .filter_map(|number| {
                let sent = Instant::from_millis(number * 10);
                detector.on_packet(sent, sent + Duration::from_secs_f64(0.02 + delay(number) * 1e-3))
            })
            .collect()
    }

    #[test]
    fn a_growing_delay_is_overuse_and_a_falling_one_underuse() {
        let mut detector = DelayDetector::new();
        assert!(run(&mut detector, 0, 100, |_| 0.0).iter().all(|usage| *usage == Usage::Normal));
        // A queue that grows by a tenth of the time.
        assert!(run(&mut detector, 100, 60, |number| (number - 100) as f64).contains(&Usage::Over));
        assert!(run(&mut detector, 160, 40, |number| 60.0 - (number - 160) as f64).contains(&Usage::Under));
    }

    #[test]
    fn a_steady_slope_is_measured() {
        let points: VecDeque<(f64, f64)> =
            (0..20).map(|x| (f64::from(x) * 7.0, 3.0 + 0.25 * f64::from(x) * 7.0)).collect();
        assert!((slope(&points).unwrap() - 0.25).abs() < 1e-12);
    }
}
