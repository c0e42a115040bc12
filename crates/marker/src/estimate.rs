//! Estimated state of a DRB.

use tidemark_core::{Bytes, Duration, Probability};

use crate::egress::Egress;

/// State of a DRB as the marker estimates it. Unknown fields are `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Estimate {
    /// Estimate of the bytes that wait in the DU now, also between reports; zero if reports are missing, since the queue is then unknown.
    pub backlog: Bytes,
    /// Bytes handed to the DU that no report has covered yet.
    pub standing: Bytes,
    /// SDUs handed to the DU that no report has covered yet.
    pub packets: u32,
    /// Egress rate (Eq. 4) with its deviation, lowered while a report is overdue.
    pub egress: Option<Egress>,
    /// Eq. 5: predicted wait of a packet that arrives now.
    pub sojourn: Option<Duration>,
    /// Wait of the last SDU that was transmitted, as of its report.
    pub last_sojourn: Option<Duration>,
    /// Estimated age of the oldest SDU in the DU now, also between reports. `None` for an empty queue, and until the DU has reported
    /// a transmission.
    pub head_of_line: Option<Duration>,
    /// Time from first transmission to delivery of the last SDU delivered; RLC AM only.
    pub retransmission: Option<Duration>,
    /// Probability of a mark or a drop that the law gave the last packet.
    pub probability: Probability,
    /// Time since the last report, or since a queue began after it.
    pub report_age: Duration,
}
