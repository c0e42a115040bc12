//! `PROBE_RTT`: a short time with a small flight, so that the queue drains (draft-ietf-ccwg-bbr-06 5.3.4).

use tidemark_core::{Bytes, Duration, Instant};

use super::rounds::Rounds;
use crate::controller::Ack;

/// The flight stays small for at least so long.
const TIME: Duration = Duration::from_millis(200);

/// One probe after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ProbeRtt {
    /// Earliest end of the present probe, once the flight is small.
    end: Option<Instant>,
    round_done: bool,
    /// Samples of segments sent before this much was delivered are as limited as if by the application.
    limited_until: Bytes,
    /// True from a pause until something is acknowledged: the pause itself has drained the queue.
    after_idle: bool,
}

impl ProbeRtt {
    pub(super) fn on_idle(&mut self) {
        self.after_idle = true;
    }

    /// True unless the connection has just been idle, until `ack`.
    pub(super) fn may_begin(&mut self, ack: &Ack) -> bool {
        let may = !self.after_idle;
        self.after_idle &= ack.acked == Bytes::ZERO;
        may
    }

    pub(super) fn begin(&mut self) {
        self.end = None;
    }

    /// True for a segment whose sample a probe held down.
    pub(super) fn limits(&self, ack: &Ack) -> bool {
        ack.prior_delivered < self.limited_until
    }

    /// Goes on with a probe for a flight of `target` bytes; true if it is over, after its time and a round.
    pub(super) fn on_ack(&mut self, ack: &Ack, rounds: &mut Rounds, target: f64) -> bool {
        self.limited_until = ack.delivered + ack.in_flight;
        // Time alone is not enough: what is acknowledged must have been sent with the small flight.
        if let Some(end) = self.end {
            self.round_done |= rounds.begins();
            return self.round_done && ack.now > end;
        }
        // The time counts from here: before, the queue was not yet drained.
        if ack.in_flight.as_f64() <= target {
            self.end = Some(ack.now + TIME);
            self.round_done = false;
            rounds.restart(ack.delivered);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_takes_its_time_and_a_round_from_the_small_flight_on() {
        let (mut probe, mut rounds) = (ProbeRtt::default(), Rounds::default());
        let ack = |ms, in_flight, prior_delivered, delivered| Ack {
            now: Instant::from_millis(ms),
            acked: Bytes(10),
            in_flight: Bytes(in_flight),
            prior_delivered: Bytes(prior_delivered),
            delivered: Bytes(delivered),
            ..Ack::default()
        };
        let mut on_ack = |ack: Ack| {
            rounds.on_ack(&ack);
            probe.on_ack(&ack, &mut rounds, 40.0)
        };
        assert!(!on_ack(ack(0, 100, 0, 100)));
        assert!(!on_ack(ack(300, 41, 100, 160)), "the flight is too large still");
        assert!(!on_ack(ack(310, 40, 160, 200)), "begins");
        assert!(!on_ack(ack(400, 40, 200, 240)), "a round, but not 200 ms");
        assert!(on_ack(ack(511, 40, 240, 280)));
        assert!(probe.limits(&ack(520, 0, 319, 320)) && !probe.limits(&ack(520, 0, 320, 330)));
    }

    #[test]
    fn a_pause_is_probe_enough_until_something_is_acknowledged() {
        let mut probe = ProbeRtt::default();
        probe.on_idle();
        let nothing = Ack::default();
        let something = Ack { acked: Bytes(1), ..nothing };
        assert_eq!([nothing, something, nothing].map(|ack| probe.may_begin(&ack)), [false, false, true]);
    }
}
