//! Ends of slow start before a loss: HyStart++ (RFC 9406), which tries conservatively whether a
//! longer round trip was a false alarm, and Linux' HyStart, which leaves at once, and also when the
//! acknowledgements of one window span the round trip.

use tidemark_core::{Bytes, Duration, Instant};

use super::Ack;

const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;
/// L of RFC 9406 4.3 for senders without pacing: segments that one acknowledgement may add.
const L: f64 = 8.0;

/// Answer of slow start to an acknowledgement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum SlowStart {
    /// Grow by this many bytes.
    Grow(f64),
    /// Leave slow start at the present window.
    Exit,
}

/// The state of HyStart++ over one slow start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    /// The round ends when data sent after this much had been delivered is acknowledged.
    round_end: Bytes,
    last_round_min: Duration,
    current_round_min: Duration,
    samples: u32,
    /// Baseline and rounds of conservative slow start, while in it.
    conservative: Option<(Duration, u32)>,
}

impl HyStart {
    pub(super) fn new() -> Self {
        Self {
            round_end: Bytes::ZERO,
            last_round_min: Duration::MAX,
            current_round_min: Duration::MAX,
            samples: 0,
            conservative: None,
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, mss: f64, paced: bool) -> SlowStart {
        // Round trips are compared by rounds (RFC 9406 4.2).
        if ack.prior_delivered >= self.round_end {
            self.round_end = ack.delivered;
            self.last_round_min = self.current_round_min;
            self.current_round_min = Duration::MAX;
            self.samples = 0;
            // Five rounds in which the round trip did not come down: it was no false alarm.
            if let Some((_, rounds)) = &mut self.conservative {
                *rounds += 1;
                if *rounds >= CSS_ROUNDS {
                    return SlowStart::Exit;
                }
            }
        }
        // Acknowledgements of what was sent twice tell no round trip.
        if let Some(rtt) = ack.rtt {
            self.current_round_min = self.current_round_min.min(rtt);
            self.samples += 1;
        }
        self.judge_round();
        let acked = ack.acked.as_f64();
        // Without pacing a large acknowledgement is answered by a burst, which has to be small (RFC 9406 4.3).
        let growth = if paced { acked } else { acked.min(L * mss) };
        SlowStart::Grow(if self.conservative.is_some() { growth / CSS_GROWTH_DIVISOR } else { growth })
    }

    fn judge_round(&mut self) {
        // The least of a few samples is chance.
        if self.samples < N_RTT_SAMPLE {
            return;
        }
        match self.conservative {
            // The first round has none before it to be compared with.
            None if self.last_round_min != Duration::MAX => {
                let threshold = (self.last_round_min / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                // So much longer a round trip is a queue that grows.
                if self.current_round_min >= self.last_round_min + threshold {
                    self.conservative = Some((self.current_round_min, 0));
                }
            }
            // The growth was a false alarm: the round trip fell below what it was when the alarm came.
            Some((baseline, _)) if self.current_round_min < baseline => self.conservative = None,
            _ => {}
        }
    }
}

/// Linux: below this window, in segments, nothing is judged.
const LOW_WINDOW: f64 = 16.0;
/// Linux: acknowledgements closer than this are one train.
const TRAIN_GAP: Duration = Duration::from_millis(2);

/// The state of Linux' HyStart (`tcp_cubic.c`). Its allowance for delayed acknowledgements, up to 1 ms, is left out.
#[derive(Clone, Debug)]
pub(super) struct LinuxHyStart {
    round_end: Bytes,
    round_start: Instant,
    train_end: Instant,
    round_min: Duration,
    samples: u32,
}

impl LinuxHyStart {
    pub(super) fn new() -> Self {
        Self {
            round_end: Bytes::ZERO,
            round_start: Instant::ZERO,
            train_end: Instant::ZERO,
            round_min: Duration::MAX,
            samples: 0,
        }
    }

    pub(super) fn on_ack(&mut self, ack: &Ack, window: f64, paced: bool) -> SlowStart {
        // Train and round trip are judged within a round: each begins with nothing.
        if ack.prior_delivered >= self.round_end {
            self.round_end = ack.delivered;
            self.round_start = ack.now;
            self.train_end = ack.now;
            self.round_min = Duration::MAX;
            self.samples = 0;
        }
        // In a small window too few acknowledgements come to be judged.
        if window >= LOW_WINDOW && (self.is_train_long(ack, paced) || self.is_delay_high(ack)) {
            return SlowStart::Exit;
        }
        SlowStart::Grow(ack.acked.as_f64())
    }

    fn is_train_long(&mut self, ack: &Ack, paced: bool) -> bool {
        // A gap ends the train: what comes after it is no measure of this window.
        if ack.now.since(self.train_end) > TRAIN_GAP {
            return false;
        }
        self.train_end = ack.now;
        // Bursts of an unpaced sender spread over half a round trip already fill the path.
        ack.now.since(self.round_start) > if paced { ack.min_rtt } else { ack.min_rtt / 2 }
    }

    fn is_delay_high(&mut self, ack: &Ack) -> bool {
        // Acknowledgements of what was sent twice tell no round trip.
        let Some(rtt) = ack.rtt else { return false };
        self.round_min = self.round_min.min(rtt);
        // The least of a few samples is chance.
        if self.samples < N_RTT_SAMPLE {
            self.samples += 1;
            return false;
        }
        let threshold = (ack.min_rtt / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
        self.round_min > ack.min_rtt + threshold
    }
}
