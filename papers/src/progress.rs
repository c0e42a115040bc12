//! Progress of many runs on a terminal, with an estimate of the remaining time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress of runs with different costs.
pub(super) struct Progress {
    bar: ProgressBar,
    state: Mutex<State>,
}

struct State {
    began: Instant,
    /// Cost of the ended runs, and of all.
    done: u64,
    all: u64,
}

impl Progress {
    /// Draws an empty bar for this many runs of this total cost.
    pub(super) fn new(cost: u64, runs: usize) -> Self {
        // Standard error: the tables on standard output stay clean. Hidden unless it is a terminal.
        let bar = ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, state: Mutex::new(State { began: Instant::now(), done: 0, all: cost }) }
    }

    /// Notes the end of a run of this cost.
    pub(super) fn ended(&self, cost: u64) {
        self.bar.inc(1);
        let Ok(mut state) = self.state.lock() else { return };
        state.done += cost;
        if let Some(left) = left(state.began.elapsed(), state.done, state.all) {
            self.bar.set_message(format!(", {} left", HumanDuration(left)));
        }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Remaining time at the pace so far.
fn left(elapsed: Duration, done: u64, all: u64) -> Option<Duration> {
    (done > 0).then(|| elapsed.mul_f64(all.saturating_sub(done) as f64 / done as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_by_its_cost() {
        assert_eq!(left(Duration::from_secs(10), 0, 100), None);
        assert_eq!(left(Duration::from_secs(10), 25, 100), Some(Duration::from_secs(30)));
        assert_eq!(left(Duration::from_secs(10), 100, 100), Some(Duration::ZERO));
    }
}
