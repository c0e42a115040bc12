//! The reasons for a verdict, available right after it.

use tidemark_core::Duration;

use crate::estimate::Estimate;
use crate::law::Odds;
use crate::verdict::Verdict;

/// The draw that turned odds into a verdict.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Draw {
    /// Odds of 0 or 1: nothing was left to chance.
    #[default]
    Certain,
    /// A number drawn uniformly from 0 to 1. The event happens if it is below the odds.
    Random(f64),
    /// Sum of the odds of the packets so far, including this one. The event happens above 1 (`recur()` of RFC 9332 A).
    Regular(f64),
}

/// One decision of a marker: the verdict and its reasons.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// Name of the law, as a scenario has it.
    pub law: &'static str,
    /// State of the queue as the marker estimated it.
    pub estimate: Estimate,
    /// Age given to the law: that of the oldest SDU in the queue for a packet that arrives, or of the packet itself for one that
    /// leaves. Zero for laws that use neither.
    pub age: Duration,
    /// Probabilities of a mark and of a drop, with the rule that gave them.
    pub odds: Odds,
    /// The draw that decided: that of the drop if the packet is dropped, else that of the mark.
    pub draw: Draw,
    /// Verdict on the packet. A mark that goes into acknowledgements is a mark here, though the caller passes the packet unchanged.
    pub verdict: Verdict,
    /// True for a mark that goes into acknowledgements.
    pub short_circuited: bool,
}

/// Answer of a marker to one packet, with the parts of a [`Decision`] that cost nothing to give.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Probabilities of a mark and of a drop, with the rule that gave them.
    pub odds: Odds,
    /// Age given to the law, as in [`Decision::age`].
    pub age: Duration,
    /// The draw that decided, as in [`Decision::draw`].
    pub draw: Draw,
    /// Verdict on the packet, as in [`Decision::verdict`].
    pub verdict: Verdict,
    /// True for a mark that goes into acknowledgements.
    pub short_circuited: bool,
}

impl Outcome {
    /// Gives the verdict that the caller applies. For a mark that goes into acknowledgements the packet passes unchanged.
    #[inline]
    pub fn applied(&self) -> Verdict {
        if self.short_circuited { Verdict::Pass } else { self.verdict }
    }
}
