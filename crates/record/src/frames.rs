//! Record of a flow's frames.

use tidemark_core::{Duration, Instant};
use tidemark_senders::FrameArrival;
use tidemark_senders::media::FrameBudget;

use crate::distribution::Distribution;
use crate::flow::Ends;
use crate::result::{Freeze, MediaResult};
use crate::series::Mean;

/// Freezes that are kept by their times; later ones are only counted.
const MAX_FREEZES: usize = 1_000;

/// One flow's frames, after the warm-up but for series and freezes.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameRecord {
    pub(crate) delay: Distribution,
    pub(crate) sender_queue: Distribution,
    /// Budget that frames should meet, where they have one.
    pub(crate) budget: Option<FrameBudget>,
    /// Frames that arrived beyond the budget.
    late: u64,
    /// Frames captured before the warm-up's end, which have the numbers up to this one.
    before: u64,
    /// Frames captured since then that arrived whole.
    received: u64,
    /// Ends of freezes, and how long the picture had stood still.
    freezes: Vec<(Instant, Duration)>,
    /// Delays in the open interval of the series.
    pub(crate) point: Mean,
}

impl FrameRecord {
    /// Ends the warm-up, in which the sender has captured this many frames.
    pub(crate) fn begin(&mut self, captured: u64) {
        (self.before, self.received) = (captured, 0);
    }

    /// Counts a frame whose last packet spent `wire` on the wire.
    pub(crate) fn arrived(&mut self, at: Instant, frame: &FrameArrival, wire: Duration, counts: bool) {
        self.point.add(frame.delay);
        if let Some(frozen) = frame.frozen.filter(|_| self.freezes.len() < MAX_FREEZES) {
            self.freezes.push((at, frozen));
        }
        self.received += u64::from(frame.number > self.before);
        if counts {
            self.delay.record(frame.delay);
            self.sender_queue.record(frame.sender_queue);
            self.late += u64::from(self.budget.is_some_and(|budget| frame.delay - wire > budget.delay));
        }
    }

    /// Result between two states of the counters; `None` for a flow that sent no frames.
    pub(crate) fn result(&self, Ends { server, client }: Ends<'_>) -> Option<MediaResult> {
        let frames_sent = server.1.frames_sent - server.0.frames_sent;
        // A frame counts by its capture: one of the warm-up that is found missing later is none of those that were sent since.
        let begun = client.1.frames_lost + client.1.frames_received;
        let frames_lost = begun.saturating_sub(self.before + self.received);
        let in_budget = self.in_budget(frames_sent, frames_lost);
        (server.1.frames_sent > 0).then(|| MediaResult {
            frames_sent,
            frames_discarded: server.1.frames_discarded - server.0.frames_discarded,
            frames_received: self.received,
            frames_lost,
            freezes: client.1.freezes - client.0.freezes,
            frozen_s: (client.1.frozen - client.0.frozen).as_secs_f64(),
            delay_ms: self.delay.quantiles(),
            sender_queue_ms: self.sender_queue.quantiles(),
            delay_budget_ms: self.budget.map(|budget| budget.delay.as_millis_f64()),
            in_budget,
            satisfied: in_budget.zip(self.budget).map(|(in_budget, budget)| in_budget >= budget.share),
        })
    }

    /// Share of the frames that met the budget. Frames that are lost, or older than the budget and still under way, did not.
    fn in_budget(&self, sent: u64, lost: u64) -> Option<f64> {
        let budget = self.budget?;
        let arrived = self.delay.count();
        let young = (budget.delay.as_secs_f64() * f64::from(budget.frame_rate)).ceil() as u64;
        let due = sent.saturating_sub(young).max(arrived + lost);
        (due > 0).then(|| (arrived - self.late) as f64 / due as f64)
    }

    /// Freezes of the flow of this name, in the order of time.
    pub(crate) fn freezes(&self, flow: &str) -> impl Iterator<Item = Freeze> {
        self.freezes.iter().map(move |(end, frozen)| Freeze {
            flow: flow.into(),
            t_s: end.before(*frozen).as_secs_f64(),
            frozen_s: frozen.as_secs_f64(),
        })
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;
    use tidemark_senders::Stats;

    use super::*;

    const BUDGET: FrameBudget = FrameBudget { delay: Duration::from_millis(10), share: 0.9, frame_rate: 60 };

    fn frame(number: u64, delay: u64, frozen: Option<Duration>) -> FrameArrival {
        let delay = Duration::from_millis(delay);
        let (captured, rest) = (Instant::ZERO, Duration::ZERO);
        FrameArrival {
            number,
            size: Bytes(1),
            captured,
            delay,
            sender_queue: rest,
            network_queue: rest,
            propagation: rest,
            frozen,
        }
    }

    /// Result of frames with these delays, 5 ms of them on the wire, where this many were sent and lost.
    fn result(delays: &[u64], sent: u64, lost: u64) -> MediaResult {
        let mut record = FrameRecord { budget: Some(BUDGET), ..FrameRecord::default() };
        for (number, delay) in (1..).zip(delays) {
            record.arrived(Instant::ZERO, &frame(number, *delay, None), Duration::from_millis(5), true);
        }
        let server = Stats { frames_sent: sent, ..Stats::default() };
        let client = Stats { frames_received: delays.len() as u64, frames_lost: lost, ..Stats::default() };
        let zero = Stats::default();
        record.result(Ends { server: (&zero, &server), client: (&zero, &client) }).unwrap()
    }

    #[test]
    fn a_frame_meets_its_budget_without_its_time_on_the_wire() {
        // 15 ms are 10 ms and the wire.
        let met = result(&[15, 15, 15, 15, 15, 15, 15, 15, 15, 16], 10, 0);
        assert_eq!((met.in_budget, met.satisfied, met.delay_budget_ms), (Some(0.9), Some(true), Some(10.0)));
        assert_eq!(result(&[15, 15, 15, 16], 4, 0).satisfied, Some(false));
    }

    #[test]
    fn lost_frames_and_those_that_should_have_come_miss_the_budget() {
        assert_eq!(result(&[9; 9], 10, 1).in_budget, Some(0.9));
        // Of a hundred that were sent, one can still be in time.
        assert_eq!(result(&[9; 50], 100, 0).in_budget, Some(50.0 / 99.0));
        assert_eq!(result(&[], 100, 0).satisfied, Some(false));
        assert_eq!(result(&[], 1, 0).satisfied, None, "its only frame may come in time");
    }

    /// Forty frames of the warm-up are lost, and known to be only when the first frame behind them arrives; of the ten of the window
    /// one is lost.
    #[test]
    fn a_frame_counts_by_its_capture_so_that_no_more_are_lost_than_were_sent() {
        let mut record = FrameRecord::default();
        let stats = |sent, received, lost| Stats {
            frames_sent: sent,
            frames_received: received,
            frames_lost: lost,
            ..Stats::default()
        };
        for number in 1..=60 {
            record.arrived(Instant::ZERO, &frame(number, 9, None), Duration::ZERO, false);
        }
        record.begin(100);
        for number in 101..110 {
            record.arrived(Instant::ZERO, &frame(number, 9, None), Duration::ZERO, true);
        }
        let (server, client) = ([stats(100, 0, 0), stats(110, 0, 0)], [stats(0, 60, 0), stats(0, 69, 41)]);
        let ends = Ends { server: (&server[0], &server[1]), client: (&client[0], &client[1]) };
        let media = record.result(ends).unwrap();
        assert_eq!((media.frames_sent, media.frames_received, media.frames_lost), (10, 9, 1));
    }

    #[test]
    fn a_freeze_begins_with_the_frame_that_stood() {
        let mut record = FrameRecord::default();
        record.arrived(
            Instant::from_millis(900),
            &frame(1, 9, Some(Duration::from_millis(400))),
            Duration::ZERO,
            false,
        );
        let freezes: Vec<_> = record.freezes("call").collect();
        assert_eq!(freezes, [Freeze { flow: "call".into(), t_s: 0.5, frozen_s: 0.4 }]);
        for _ in 0..2 * MAX_FREEZES {
            record.arrived(Instant::from_millis(900), &frame(1, 9, Some(Duration::ZERO)), Duration::ZERO, false);
        }
        assert_eq!(record.freezes("call").count(), MAX_FREEZES);
    }
}
