//! A flow at work: its two ends, its way, and its ledger.

use tidemark_cell::UeId;
use tidemark_core::{FlowId, Instant, Packet};
use tidemark_senders::{Endpoint, Stats};

use crate::addresses::Addresses;
use crate::ledger::Ledger;
use crate::stamped::Stamped;

/// One flow: a server, which sends the data, and a client; one of them on the wire, the other at a UE or on the wire as well.
pub(crate) struct Flow {
    pub(crate) id: FlowId,
    pub(crate) ue: Option<UeId>,
    /// Index of its wire.
    pub(crate) wire: usize,
    /// The routers that its data passes, in that order, and those of its feedback.
    pub(crate) routers: Vec<usize>,
    pub(crate) return_routers: Vec<usize>,
    /// True if its data goes from the UE to the network.
    pub(crate) uplink: bool,
    /// Headers of its packets.
    pub(crate) addresses: Addresses,
    /// True if its ends listen to bit rate recommendations.
    pub(crate) listens: bool,
    pub(crate) server: End,
    pub(crate) client: End,
    pub(crate) ledger: Ledger,
}

/// An endpoint and the earliest event that is scheduled for it.
pub(crate) struct End {
    pub(crate) endpoint: Box<dyn Endpoint + Send>,
    scheduled: Instant,
    /// Packets that it sent.
    sent: u64,
}

impl Flow {
    /// True for its packets that go from the UE to the network: the feedback of a download, the data of an upload.
    pub(crate) fn goes_up(&self, packet: &Packet<Stamped>) -> bool {
        packet.payload.up
    }
    /// The router that a packet reaches after the router `passed`, or its first router.
    pub(crate) fn next_router(&self, packet: &Packet<Stamped>, passed: Option<usize>) -> Option<usize> {
        let path = if packet.payload.back { &self.return_routers } else { &self.routers };
        match passed {
            None => path.first().copied(),
            Some(router) => path.iter().skip_while(|other| **other != router).nth(1).copied(),
        }
    }
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
        Self { endpoint, scheduled: Instant::FAR, sent: 0 }
    }
    /// Counts a packet that it sends, and gives its number.
    pub(crate) fn count(&mut self) -> u64 {
        self.sent += 1;
        self.sent
    }
    /// Number of the packet that it sends next.
    pub(crate) fn next_number(&self) -> u64 {
        self.sent + 1
    }
    /// True if its deadline has come; forgets the event that has just fired.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        if self.scheduled <= now {
            self.scheduled = Instant::FAR;
        }
        self.endpoint.next_deadline().is_some_and(|deadline| deadline <= now)
    }
    /// Time at which to schedule an event, if the ones under way all come too late.
    pub(crate) fn reschedule(&mut self, now: Instant) -> Option<Instant> {
        let deadline = self.endpoint.next_deadline()?.max(now);
        let sooner = deadline < self.scheduled;
        self.scheduled = self.scheduled.min(deadline);
        sooner.then_some(deadline)
    }
}
