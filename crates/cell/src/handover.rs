//! Cost of a handover, and the state that moves with the UE.

use tidemark_core::{Duration, Range, bounds};

/// Execution of a handover (TS 38.300 9.2.3.2): its interruption, and the state that moves with the UE.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<HandoverExecution>))]
pub struct HandoverExecution {
    /// Interruption, in which nothing is sent to or by the UE. Default 45 ms: a little below the mean of 49.5 ms for a handover without
    /// random-access failures (TR 36.881 table 5.2.1-1).
    pub interruption: Duration,
    /// Fate of the packets in RLC. Default `forwarded`.
    pub data: HandoverData,
    /// Fate of the marker's state. Default `moves`.
    pub marker: HandoverMarker,
}

impl Default for HandoverExecution {
    fn default() -> Self {
        Self {
            interruption: Duration::from_millis(45),
            data: HandoverData::default(),
            marker: HandoverMarker::default(),
        }
    }
}

/// Times that a handover may take.
pub(crate) const INTERRUPTION: Range<Duration> = Range::at_most(Duration::from_secs(10));

bounds! { HandoverExecution {
    interruption: INTERRUPTION,
    ..data, marker
} }

/// Fate of the packets in RLC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HandoverData {
    /// Retransmits in the new cell all packets that have not left the UE's PDCP in order (TS 38.300 9.2.3.2.3); in UM only those not begun.
    #[default]
    Forwarded,
    /// Drops them.
    Lost,
}

/// Fate of the marker's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HandoverMarker {
    /// Flows, their feedback and the law's state move with the UE; estimates of the old radio are forgotten.
    #[default]
    Moves,
    /// The new cell's marker starts without any state.
    StartsAnew,
}
