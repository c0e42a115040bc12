//! A flow at work: its two ends, its way, and its books.

use tidemark_cell::UeId;
use tidemark_core::{FlowId, Instant};
use tidemark_senders::{Endpoint, Stats};

use crate::ledger::Ledger;
use crate::recorder::FlowRecord;

/// One flow: a server and, at a UE or on the wire, its client.
pub(crate) struct Flow {
    pub(crate) id: FlowId,
    pub(crate) ue: Option<UeId>,
    /// Which of the wires it takes.
    pub(crate) wire: usize,
    /// The router between the wire and the access network, and the one on the way back.
    pub(crate) router: Option<usize>,
    pub(crate) return_router: Option<usize>,
    /// True if its ends listen to bit rate recommendations.
    pub(crate) listens: bool,
    pub(crate) server: End,
    pub(crate) client: End,
    pub(crate) ledger: Ledger,
    pub(crate) record: FlowRecord,
}

/// An endpoint and the earliest event that is scheduled for it.
pub(crate) struct End {
    pub(crate) endpoint: Box<dyn Endpoint + Send>,
    scheduled: Instant,
}

impl Flow {
    /// The server's counters.
    pub(crate) fn server_stats(&self) -> Stats {
        self.server.endpoint.stats()
    }
    /// The client's counters.
    pub(crate) fn client_stats(&self) -> Stats {
        self.client.endpoint.stats()
    }
}

impl End {
    pub(crate) fn new(endpoint: Box<dyn Endpoint + Send>) -> Self {
        Self { endpoint, scheduled: Instant::FAR }
    }
    /// True if its deadline has come; forgets the event that has just fired.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        if self.scheduled <= now {
            self.scheduled = Instant::FAR;
        }
        self.endpoint.next_deadline().is_some_and(|deadline| deadline <= now)
    }
    /// When to schedule an event, if the ones under way all come too late.
    pub(crate) fn reschedule(&mut self, now: Instant) -> Option<Instant> {
        let deadline = self.endpoint.next_deadline()?.max(now);
        let sooner = deadline < self.scheduled;
        self.scheduled = self.scheduled.min(deadline);
        sooner.then_some(deadline)
    }
}
