//! A progress bar on a terminal; nothing where the output is piped.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tidemark_core::{Duration, Instant};

/// The bar of a run.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Draws an empty bar for a run of this length.
    pub(crate) fn new(label: &str, duration: Duration) -> Self {
        // Standard error: the tables on standard output stay clean. Hidden unless it is a terminal.
        let bar = ProgressBar::with_draw_target(Some(duration.as_millis()), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {percent} % of the scenario, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_message(label.to_string());
        Self(bar)
    }
    /// Moves the bar to the run's time.
    pub(crate) fn at(&self, now: Instant) {
        self.0.set_position(now.as_nanos() / 1_000_000);
    }
    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
