//! The reasons for a verdict, for whoever asks right after it.

use tidemark_core::{Duration, Probability};

use crate::drb::Estimate;
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
    /// Fate of the packet. A mark that goes into acknowledgements is a mark here, and the caller was told to pass the packet.
    pub verdict: Verdict,
    /// True for a mark that goes into acknowledgements.
    pub short_circuited: bool,
}

/// State that a marker keeps of its last decision, for [`Decision`].
#[derive(Clone, Copy)]
pub(crate) struct Last {
    pub(crate) odds: Odds,
    pub(crate) age: Duration,
    pub(crate) draw: Draw,
    pub(crate) verdict: Verdict,
    pub(crate) short_circuited: bool,
}

impl Last {
    /// The larger chance, of a mark or a drop.
    pub(crate) fn probability(&self) -> Probability {
        Probability::new(self.odds.mark.get().max(self.odds.drop.get()))
    }
}
