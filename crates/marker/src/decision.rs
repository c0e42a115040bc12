//! The reasons for a verdict, for whoever asks right after it.

use tidemark_core::Duration;

use crate::estimate::Estimate;
use crate::law::Odds;
use crate::verdict::Verdict;

/// The draw that made a verdict of odds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Draw {
    /// Odds of 0 or 1: nothing was left to chance.
    #[default]
    Certain,
    /// A number drawn evenly from 0 to 1: below the odds it happens.
    Random(f64),
    /// Sum of the odds of the packets so far, this one included: above 1 it happens (`recur()` of RFC 9332 A).
    Regular(f64),
}

/// One decision of a marker: verdict, and what led to it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Decision {
    /// Name of the law, as a scenario has it.
    pub law: &'static str,
    /// State of the queue that the marker assumed.
    pub estimate: Estimate,
    /// Age that the law was given: of the oldest SDU in the queue for a packet that arrives, of the packet itself for one that
    /// leaves. Zero for laws that look at neither.
    pub age: Duration,
    /// Chances of a mark and of a drop, with the rule that gave them.
    pub odds: Odds,
    /// The draw that settled it: the drop's where the packet is dropped, else the mark's.
    pub draw: Draw,
    /// Fate of the packet. A mark that goes into acknowledgements is a mark here, and the caller passes the packet.
    pub verdict: Verdict,
    /// True for a mark that goes into acknowledgements.
    pub short_circuited: bool,
}

/// Answer of a marker to one packet, with the reasons that are at hand anyway: all of a [`Decision`] that costs nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outcome {
    /// Chances of a mark and of a drop, with the rule that gave them.
    pub odds: Odds,
    /// Age that the law was given, as in [`Decision::age`].
    pub age: Duration,
    /// The draw that settled it, as in [`Decision::draw`].
    pub draw: Draw,
    /// Fate of the packet, as in [`Decision::verdict`].
    pub verdict: Verdict,
    /// True for a mark that goes into acknowledgements.
    pub short_circuited: bool,
}

impl Outcome {
    /// Gives the verdict that the caller applies: a mark that goes into acknowledgements leaves the packet as it is.
    #[inline]
    pub fn applied(&self) -> Verdict {
        if self.short_circuited { Verdict::Pass } else { self.verdict }
    }
}
