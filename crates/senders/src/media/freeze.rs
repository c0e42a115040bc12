//! Freezes of a picture, as WebRTC's statistics define them (`freezeCount`, `totalFreezesDuration`).

use tidemark_core::{Duration, Instant};

/// Times between frames that the mean is taken over.
const WINDOW: usize = 30;
/// Number of frames that are needed for a mean (libwebrtc; the definition does not say).
const MIN_INTERVALS: usize = 5;
const MIN_INCREASE: Duration = Duration::from_millis(150);

/// Counts freezes. There is no frame without a predecessor to be shown by: that a lost frame spoils those after it is
/// left to the picture's quality, which nobody measures here.
#[derive(Clone, Debug, Default)]
pub(super) struct Freezes {
    shown: Option<(u64, Instant)>,
    intervals: [Duration; WINDOW],
    /// Intervals so far; the last [`WINDOW`] of them are kept.
    count: usize,
    pub(super) freezes: u64,
    pub(super) frozen: Duration,
}

impl Freezes {
    /// A frame arrived whole and is shown, unless one after it has been. Gives the length of the freeze that it ends; `None` where the
    /// picture did not stand still.
    pub(super) fn on_frame(&mut self, now: Instant, number: u64) -> Option<Duration> {
        // The first frame has none before it to stand still.
        let Some((last, at)) = self.shown else {
            self.shown = Some((number, now));
            return None;
        };
        // A later frame is shown already: this one comes too late for the picture.
        if number <= last {
            return None;
        }
        self.shown = Some((number, now));
        let interval = now.since(at);
        let frozen = self.is_freeze(interval).then_some(interval);
        // Only what a viewer would call a freeze counts; the interval is one of the mean all the same.
        if frozen.is_some() {
            self.freezes += 1;
            self.frozen += interval;
        }
        self.intervals[self.count % WINDOW] = interval;
        self.count += 1;
        frozen
    }

    fn is_freeze(&self, interval: Duration) -> bool {
        let kept = self.count.min(WINDOW);
        // Few intervals have no mean to be measured by.
        if kept < MIN_INTERVALS {
            return false;
        }
        let mean = self.intervals[..kept].iter().copied().fold(Duration::ZERO, |sum, next| sum + next) / kept as u64;
        interval >= (mean * 3).max(mean + MIN_INCREASE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[u64]) -> (u64, Duration) {
        let mut freezes = Freezes::default();
        for (number, time) in times.iter().enumerate() {
            freezes.on_frame(Instant::from_millis(*time), number as u64 + 1);
        }
        (freezes.freezes, freezes.frozen)
    }

    #[test]
    fn a_gap_of_three_frames_is_a_freeze_if_it_is_150_ms_longer_than_one() {
        // 20 ms between frames: 3 * 20 = 60 ms is not enough, 20 + 150 = 170 ms is.
        assert_eq!(at(&[0, 20, 40, 60, 80, 100, 269]), (0, Duration::ZERO));
        assert_eq!(at(&[0, 20, 40, 60, 80, 100, 270]), (1, Duration::from_millis(170)));
        // 100 ms between frames: 300 ms.
        assert_eq!(at(&[0, 100, 200, 300, 400, 500, 799]), (0, Duration::ZERO));
        assert_eq!(at(&[0, 100, 200, 300, 400, 500, 800]), (1, Duration::from_millis(300)));
    }

    #[test]
    fn the_mean_forgets_after_thirty_frames() {
        // Thirty frames at 400 ms, then thirty-one at 20 ms: 200 ms is a freeze again.
        let mut times: Vec<u64> = (0..31).map(|frame| frame * 400).collect();
        times.extend((1..32).map(|frame| 12_000 + frame * 20));
        times.push(12_620 + 200);
        assert_eq!(at(&times), (1, Duration::from_millis(200)));
    }

    #[test]
    fn a_frame_that_comes_after_its_successor_is_not_shown() {
        let mut freezes = Freezes::default();
        for (number, time) in [(1, 0), (2, 20), (3, 40), (4, 60), (5, 80), (7, 100), (6, 260), (8, 280)] {
            freezes.on_frame(Instant::from_millis(time), number);
        }
        assert_eq!((freezes.freezes, freezes.frozen), (1, Duration::from_millis(180)));
    }
}
