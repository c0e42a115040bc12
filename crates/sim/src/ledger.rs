//! Conservation: every byte that was sent is delivered, dropped or still on its way.

use thiserror::Error;
use tidemark_core::{Bytes, FlowId};

/// Fate of the bytes of one direction of one flow, counted where packets change hands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Bytes that the endpoint handed to the network.
    pub sent: Bytes,
    /// Bytes that the network handed to the other endpoint.
    pub delivered: Bytes,
    /// Bytes that the network dropped.
    pub dropped: Bytes,
}

/// Bytes appeared or vanished: a defect of the simulator, never of a scenario.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "flow {flow:?}: {sent} sent, but {delivered} delivered + {dropped} dropped + {queued} queued: \
     this is a defect of the simulator, please report it with the scenario and seed"
)]
pub struct NotConserved {
    /// The flow that does not add up.
    pub flow: FlowId,
    /// Bytes sent by both endpoints.
    pub sent: Bytes,
    /// Bytes delivered to both endpoints.
    pub delivered: Bytes,
    /// Bytes dropped.
    pub dropped: Bytes,
    /// Bytes found by walking every queue.
    pub queued: Bytes,
}

impl Ledger {
    /// Checks sent = delivered + dropped + queued, where `queued` was counted by walking the queues.
    pub fn check(&self, flow: FlowId, queued: Bytes) -> Result<(), NotConserved> {
        if self.sent == self.delivered + self.dropped + queued {
            return Ok(());
        }
        let Self { sent, delivered, dropped } = *self;
        Err(NotConserved { flow, sent, delivered, dropped, queued })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_vanishes_is_noticed() {
        let ledger = Ledger { sent: Bytes(3000), delivered: Bytes(1000), dropped: Bytes(500) };
        assert_eq!(ledger.check(FlowId(0), Bytes(1500)), Ok(()));
        let error = ledger.check(FlowId(0), Bytes(1499)).unwrap_err();
        assert_eq!(error.queued, Bytes(1499));
    }
}
