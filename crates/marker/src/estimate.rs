//! Estimated state of a DRB.

use tidemark_core::{Bytes, Duration, Probability};

use crate::egress::Egress;

/// State of a DRB as the marker estimates it. A field that it cannot know is `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    /// Estimate of the bytes that wait in the DU now, between reports too; zero where reports are missing, since nothing is known.
    pub backlog: Bytes,
    /// Bytes handed to the DU that no report has covered yet.
    pub standing: Bytes,
    /// SDUs handed to the DU that no report has covered yet.
    pub packets: u32,
    /// Egress rate (Eq. 4) with its deviation, lowered while a report is overdue.
    pub egress: Option<Egress>,
    /// Eq. 5: how long a packet that arrives now will wait.
    pub sojourn: Option<Duration>,
    /// Wait of the last SDU that was transmitted, as its report came in.
    pub last_sojourn: Option<Duration>,
    /// Estimated age of the oldest SDU in the DU now, between reports too. `None` where none is, and until the DU has reported
    /// a transmission.
    pub head_of_line: Option<Duration>,
    /// Time from first transmission to delivery of the last SDU delivered; RLC AM only.
    pub retransmission: Option<Duration>,
    /// The law's probability for the last packet, of a mark or a drop.
    pub probability: Probability,
    /// Time since the last report, or since a queue began to stand after it.
    pub report_age: Duration,
}
