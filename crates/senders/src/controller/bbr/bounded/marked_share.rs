//! Moving average of the marked share, as DCTCP has it; BBR specifies no response to ECN (draft-ietf-ccwg-bbr-06 3.7).

use tidemark_core::Duration;

use crate::controller::Ack;

const GAIN: f64 = 1.0 / 16.0;

/// Average of the marked share, and the bytes of the present round.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkedShare {
    /// Marks count up to this round-trip time.
    max_rtt: Duration,
    negotiated: bool,
    alpha: f64,
    marked: f64,
    acked: f64,
}

impl MarkedShare {
    pub(super) fn new(max_rtt: Duration) -> Self {
        Self { max_rtt, negotiated: false, alpha: 1.0, marked: 0.0, acked: 0.0 }
    }

    pub(super) fn negotiate(&mut self, is_accecn: bool) {
        self.negotiated = is_accecn;
    }

    /// True if marks count over a path of this minimum round trip.
    pub(super) fn counts(&self, min_rtt: Option<Duration>) -> bool {
        self.negotiated && min_rtt.is_some_and(|min| min <= self.max_rtt)
    }

    pub(super) fn on_ack(&mut self, ack: &Ack) {
        self.marked += ack.marked.as_f64();
        self.acked += ack.acked.as_f64();
    }

    /// Ends a round; its marked share, where marks count and there was something to mark.
    pub(super) fn end_round(&mut self, min_rtt: Option<Duration>) -> Option<f64> {
        // Nothing was acknowledged of which there could be a share.
        if self.acked <= 0.0 {
            return None;
        }
        let share = (self.marked / self.acked).min(1.0);
        (self.marked, self.acked) = (0.0, 0.0);
        // Google's code answers marks on short paths alone; over others the average has to stay.
        if !self.counts(min_rtt) {
            return None;
        }
        self.alpha += GAIN * (share - self.alpha);
        Some(share)
    }

    pub(super) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Average, where marks are reported at all.
    pub(super) fn reported(&self) -> Option<f64> {
        self.negotiated.then_some(self.alpha)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;

    use super::*;

    #[test]
    fn marks_count_up_to_a_round_trip_time() {
        let mut share = MarkedShare::new(Duration::from_millis(5));
        share.negotiate(true);
        let ack = Ack { acked: Bytes(1000), marked: Bytes(250), ..Ack::default() };
        share.on_ack(&ack);
        assert_eq!(share.end_round(Some(Duration::from_millis(6))), None);
        assert_eq!(share.end_round(Some(Duration::from_millis(5))), None, "nothing was acknowledged since");
        share.on_ack(&ack);
        assert_eq!(share.end_round(Some(Duration::from_millis(5))), Some(0.25));
        assert_eq!(share.alpha(), 1.0 - 0.75 / 16.0);
    }
}
