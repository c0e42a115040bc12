//! Media rate of the program of 2021.

use tidemark_core::{BitRate, Instant};

use super::{Congestion, PACKET_PACING_HEADROOM, Scream2021Config};
use crate::media::RateLimits;

const INTERVAL: f64 = 0.02;
const FACTOR_LOSS: f64 = 0.9;
const FACTOR_ECN: f64 = 0.95;
const FLIGHT_HEADROOM: f64 = 1.25;
const RAMP_UP_SCALE: f64 = 0.2;
const TX_QUEUE_SIZE_FACTOR: f64 = 0.2;
const QUEUE_DELAY_GUARD: f64 = 0.1;
/// Time of the rate that the sender's queue counts up to, in seconds.
const QUEUE_LIMIT: f64 = 0.02;
/// Bits in the sender's queue above which the rate does not grow by what was sent.
const QUEUE_HOLDS: f64 = 12_000.0;
const MAX_QUEUE: f64 = 0.1;
/// Share of the window above which it counts as full, the factor of the rate then, and the least time between two of these.
const FULL_WINDOW: f64 = 0.9;
const FACTOR_FULL: f64 = 0.95;
const FULL_EVERY: f64 = 0.1;
/// `alpha` above which marks steer the rate, and only the ramp makes it climb.
const MARKED: f64 = 0.001;
const INFLECTION_EVERY: f64 = 0.5;
/// Rate below which the increase is helped by up to a twentieth.
const LOW_RATE: f64 = 50_000.0;

/// Conditions that a change goes by; rates in bits a second, times in seconds.
pub(super) struct Conditions {
    pub(super) now: Instant,
    pub(super) l4s: bool,
    pub(super) alpha: f64,
    /// Share of the window that is in flight.
    pub(super) window_used: f64,
    /// From 0 at a congestion to 1 after 100 ms.
    pub(super) post_congestion: f64,
    pub(super) in_fast_start: bool,
    pub(super) trend: f64,
    /// The higher of the rates sent and acknowledged.
    pub(super) highest: f64,
    /// The larger of that and the coded rate.
    pub(super) limit: f64,
    /// Bits in the sender's queue, without the last frame.
    pub(super) waiting_bits: f64,
    /// Time that the oldest of them has waited.
    pub(super) waited: f64,
}

/// The rate.
#[derive(Clone, Debug)]
pub(super) struct MediaRate {
    limits: RateLimits,
    ramp_up_speed: f64,
    target: f64,
    /// Rate of the last congestion, near which increases are careful.
    inflection: f64,
    inflection_at: Option<Instant>,
    adjusted: Option<Instant>,
    full_at: Option<Instant>,
    was_ramped: bool,
    waiting: f64,
    congestion: Option<Congestion>,
}

impl MediaRate {
    pub(super) fn new(config: &Scream2021Config) -> Self {
        Self {
            limits: config.rates,
            ramp_up_speed: config.ramp_up_speed.as_bps() as f64,
            target: config.rates.initial.as_bps() as f64,
            inflection: 1.0,
            inflection_at: None,
            adjusted: None,
            full_at: None,
            was_ramped: false,
            waiting: 0.0,
            congestion: None,
        }
    }

    /// The next frame answers a congestion; a loss goes before marks.
    pub(super) fn congested(&mut self, congestion: Congestion) {
        if self.congestion != Some(Congestion::Loss) {
            self.congestion = Some(congestion);
        }
    }

    pub(super) fn target(&self) -> BitRate {
        BitRate::from_bps_f64(self.target)
    }

    pub(super) fn on_frame(&mut self, at: &Conditions) {
        let since = |then: Option<Instant>| then.map_or(f64::INFINITY, |then| at.now.since(then).as_secs_f64());
        // A congestion is answered at once, whenever the rate last changed.
        if let Some(congestion) = self.congestion.take() {
            self.take_inflection(at);
            self.target *= match congestion {
                Congestion::Loss => FACTOR_LOSS,
                // Where marks come in proportion so does the answer, and less of it with an unused window.
                Congestion::Mark if at.l4s => {
                    1.0 - at.window_used * at.alpha / (2.0 * FLIGHT_HEADROOM * PACKET_PACING_HEADROOM)
                }
                Congestion::Mark => FACTOR_ECN,
            };
        } else if since(self.adjusted) < INTERVAL {
            // Frames may come more often than the rate may change.
            return;
        } else {
            // Frames that fill the window wait for it: a rate below it drains their queue.
            if at.window_used > FULL_WINDOW && since(self.full_at) > FULL_EVERY {
                self.target *= FACTOR_FULL;
                self.full_at = Some(at.now);
            }
            let is_marked = at.l4s && at.alpha > MARKED;
            let ramp = self.ramp_up_speed.min(RAMP_UP_SCALE * self.target) * INTERVAL;
            // Near the rate of the last congestion growth is slow; with L4S only very near it.
            let steps = if at.l4s { 16.0 } else { 4.0 };
            let distance = (self.target - self.inflection) / self.inflection * steps;
            let scale = (distance * distance).clamp(0.2, 1.0);
            self.waiting = (self.waiting + at.waiting_bits.min(QUEUE_LIMIT * self.target)) / 2.0;
            // Marks steer, or nothing has been seen of the path's limit: the ramp alone decides.
            if is_marked || at.in_fast_start && at.waited < MAX_QUEUE {
                self.target += ramp * scale * at.post_congestion * self.idle(at);
                self.was_ramped = true;
            } else {
                // The ramp ends here: near this rate the next one shall be careful.
                if std::mem::take(&mut self.was_ramped) && since(self.inflection_at) > INFLECTION_EVERY {
                    self.take_inflection(at);
                }
                self.target += self.follow(at, ramp, scale);
            }
        }
        self.adjusted = Some(at.now);
        self.target = self.target.clamp(self.limits.min.as_bps() as f64, self.limits.max.as_bps() as f64);
    }

    fn take_inflection(&mut self, at: &Conditions) {
        self.inflection = at.highest.min(self.target).max(1.0);
        self.inflection_at = Some(at.now);
    }

    /// Factor of a change while the encoder makes less than it may: 1 at its rate, and 0 at half of it.
    fn idle(&self, at: &Conditions) -> f64 {
        if self.target > at.limit { 1.0 + (2.0 * (at.limit / self.target - 1.0)).max(-1.0) } else { 1.0 }
    }

    /// Change towards the rate that gets through, less what waits in the sender's queue.
    fn follow(&mut self, at: &Conditions, ramp: f64, scale: f64) -> f64 {
        let through = at.highest * (1.0 - QUEUE_DELAY_GUARD * at.trend);
        let change = through - TX_QUEUE_SIZE_FACTOR * self.waiting - self.target;
        // Growth has bounds that a decrease has not.
        if change > 0.0 {
            // What waits already would wait for longer.
            if at.waiting_bits.min(QUEUE_LIMIT * self.target) > QUEUE_HOLDS {
                return 0.0;
            }
            self.was_ramped = true;
            let help = 1.0 + 0.05 * (LOW_RATE / self.target).min(1.0);
            return (change * at.post_congestion * help * scale).min(ramp) * self.idle(at);
        }
        // A large frame is no reason to slow down.
        if at.limit > 2.0 * self.target { 0.0 } else { change * self.idle(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate() -> MediaRate {
        let config = Scream2021Config { ramp_up_speed: BitRate::from_mbps(2), ..Scream2021Config::default() };
        MediaRate { target: 20e6, ..MediaRate::new(&config) }
    }

    /// A frame of a sender that sends 20 Mbit/s under marks of a tenth.
    fn conditions(at: u64) -> Conditions {
        Conditions {
            now: Instant::from_millis(at),
            l4s: true,
            alpha: 0.1,
            window_used: 0.8,
            post_congestion: 1.0,
            in_fast_start: false,
            trend: 0.0,
            highest: 20e6,
            limit: 20e6,
            waiting_bits: 0.0,
            waited: 0.0,
        }
    }

    #[test]
    fn marks_worked_by_hand() {
        let mut rate = rate();
        rate.congested(Congestion::Mark);
        // 0.8 * 0.1 / (2 * 1.25 * 1.25) = 2.56 %.
        rate.on_frame(&conditions(0));
        assert_eq!(rate.target().as_bps(), 19_488_000);
        // Within 20 ms nothing changes; after that 2 Mbit/s for 20 ms, a fifth of it near the inflection point:
        // (0.512 / 20 * 16)^2 = 0.168, so 0.2: 8000 bit/s.
        rate.on_frame(&conditions(10));
        rate.on_frame(&conditions(30));
        assert_eq!(rate.target().as_bps(), 19_496_000);
        // Right after a congestion not at all.
        rate.on_frame(&Conditions { post_congestion: 0.0, ..conditions(60) });
        assert_eq!(rate.target().as_bps(), 19_496_000);
    }

    #[test]
    fn without_l4s_a_mark_takes_a_twentieth_and_a_loss_a_tenth() {
        for (congestion, left) in [(Congestion::Mark, 19_000_000), (Congestion::Loss, 18_000_000)] {
            let mut rate = rate();
            rate.congested(congestion);
            rate.on_frame(&Conditions { l4s: false, ..conditions(0) });
            assert_eq!(rate.target().as_bps(), left);
        }
    }

    #[test]
    fn without_marks_the_rate_follows_what_gets_through() {
        let calm = |at| Conditions { alpha: 0.0, highest: 16e6, limit: 16e6, ..conditions(at) };
        let mut rate = rate();
        // Change -4 Mbit/s, times 1 + 2 * (0.8 - 1) = 0.6.
        rate.on_frame(&calm(0));
        assert_eq!(rate.target().as_bps(), 17_600_000);
        // A full window takes a twentieth, at most every 100 ms.
        let full = |at| Conditions { window_used: 1.0, highest: 17.6e6, limit: 17.6e6, ..conditions(at) };
        let mut rate = MediaRate { target: 17.6e6, ..rate };
        rate.on_frame(&Conditions { post_congestion: 0.0, ..full(30) });
        assert_eq!(rate.target().as_bps(), 16_720_000);
        rate.on_frame(&Conditions { post_congestion: 0.0, ..full(60) });
        assert_eq!(rate.target().as_bps(), 16_720_000);
    }
}
