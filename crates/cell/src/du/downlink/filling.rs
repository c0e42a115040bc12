//! Filling of a downlink block with what the bearers of a UE have to send.

use tidemark_core::{Bytes, Duration, Inspect, Instant, Packet, Slab};
use tidemark_marker::{RlcQueue, Verdict};

use crate::du::{Drb, Port};
use crate::event::{BearerId, Event};
use crate::index::DrbIndex;
use crate::multiplexing::{Channels, Content};
use crate::output::{DropReason, Output, UeId};
use crate::rlc::{DequeueGate, Open};

/// CU's law at the point where packets leave the RLC queue.
pub(super) struct AtDequeue<'a, Q> {
    pub(super) now: Instant,
    pub(super) bearer: BearerId,
    pub(super) ue: UeId,
    pub(super) port: &'a mut Q,
    /// Packets that the law dropped.
    pub(super) dropped: u64,
}

impl<P: Inspect, Q: Port<P>> DequeueGate<P> for AtDequeue<'_, Q> {
    fn decide(&mut self, packet: &Packet<P>, sn: u32, sojourn: Duration, behind: RlcQueue) -> Verdict {
        self.port.dequeue(self.now, self.bearer, (sn, packet), sojourn, behind)
    }
    fn dropped(&mut self, packet: Packet<P>) {
        self.dropped += 1;
        self.port.output(Output::Dropped { at: self.now, ue: self.ue, packet, reason: DropReason::Law });
    }
}

/// Bearers of a UE that fill a block of the downlink.
pub(super) struct Filling<'a, P, Q> {
    pub(super) drbs: &'a mut Slab<DrbIndex, Drb<P>>,
    pub(super) port: &'a mut Q,
    pub(super) now: Instant,
    /// Time at which the block is decoded.
    pub(super) due: Instant,
    pub(super) content: &'a mut Content,
    /// Bytes of SDUs in the block.
    pub(super) carried: u32,
    /// Packets that laws dropped on the way.
    pub(super) dropped: u64,
}

impl<P: Inspect, Q: Port<P>> Channels for Filling<'_, P, Q> {
    fn waiting(&mut self, drb: DrbIndex) -> u32 {
        let Drb { bearer, qos, .. } = &mut self.drbs[drb];
        // A flow above its maximum waits, whatever room there is.
        if bearer.has_data() && qos.may_send(self.now) { bearer.backlog() } else { 0 }
    }

    fn is_owed(&mut self, drb: DrbIndex) -> bool {
        self.drbs[drb].qos.is_owed(self.now)
    }

    /// The downlink's prioritised bit rates are the guaranteed ones.
    fn due(&mut self, _drb: DrbIndex) -> u32 {
        0
    }

    fn fill(&mut self, index: DrbIndex, limit: u32) -> u32 {
        let drb = &mut self.drbs[index];
        let (id, before) = (drb.id, self.content.segments.len());
        let (sent_before, pdus_before) = (drb.bearer.sent(), drb.bearer.sent_pdus());
        let segments = &mut self.content.segments;
        // A law that decides on arrival, or at a pacer, has done so: its bearer fills the block without a gate.
        let filled = if self.port.decides_at_dequeue(id) && !drb.bearer.is_paced() {
            let mut gate = AtDequeue { now: self.now, bearer: id, ue: id.ue, port: &mut *self.port, dropped: 0 };
            let filled = drb.bearer.fill(self.now, self.due, limit, segments, &mut gate);
            self.dropped += gate.dropped;
            drb.stats.dropped += gate.dropped;
            filled
        } else {
            drb.bearer.fill(self.now, self.due, limit, segments, &mut Open)
        };
        self.port.events().emit(self.now, id, || Event::Transmitted {
            bytes: Bytes(drb.bearer.sent_pdus() - pdus_before),
            backlog: drb.bearer.queue_state(self.now).backlog,
        });
        drb.qos.sent(filled.carried);
        self.carried += filled.carried;
        let later = self.content.segments[before..].iter().filter(|segment| segment.offset > 0).count() as u64;
        let sent = drb.bearer.sent() - sent_before + later * u64::from(drb.of_later_segment);
        self.content.add(index, before, filled.used, sent);
        filled.used
    }
}
