//! The gNB's uplink: the estimate of the UEs' buffers, their radio, and the grants.
//!
//! A UE with data and no grant sends a scheduling request at its next occasion and gets a small grant. With every block it
//! reports the bytes that remain (BSR, TS 38.321 5.4.5), quantised by the standard's tables, and the gNB grants the reported
//! bytes. A configured grant comes without a request. RLC and PDCP are those of the downlink in the other direction. Failed
//! blocks are retransmitted in later slots.

mod config;
mod context;
pub(super) mod delay;
mod estimate;
mod grants;
pub(super) mod radio;
mod receiving;
mod sending;
mod turns;

pub use config::{ConfiguredGrant, UplinkConfig};
pub(crate) use context::UplinkContext;
pub(crate) use delay::ReportedQueue;
pub(crate) use radio::{UplinkCarrier, UplinkRadio};

use tidemark_core::{Inspect, Instant, Packet, Stream};
use tidemark_radio::slots::Slot;
use tidemark_wire::mac::Direction;

use super::Port;
use super::carrier::Carrier;
use super::queues::Queues;
use crate::event::Event;
use crate::index::{DrbIndex, UeDrbs};
use crate::output::{DropReason, Output, UeId};
use crate::qos::Mapped;
use crate::ue_stack::block::UplinkBlock;
use crate::ue_stack::control::Control;
use grants::{Grant, Grants, allocate};
use receiving::Receiving;
use sending::Sending;
use turns::Turns;

/// Uplink of a cell: both ends, without the parts of single UEs.
pub(super) struct Uplink<P> {
    turns: Turns,
    grants: Grants,
    sending: Sending,
    receiving: Receiving<P>,
    /// List for what is discarded.
    discarded: Vec<Packet<P>>,
}

impl<P: Inspect> Uplink<P> {
    /// An uplink in which nobody sends. The draw between equal UEs follows from `seed`.
    pub(super) fn new(seed: u64) -> Self {
        Self {
            turns: Turns::default(),
            grants: Grants::new(Stream::new(seed, 1, "turn")),
            sending: Sending::default(),
            receiving: Receiving::new(),
            discarded: Vec::new(),
        }
    }

    /// Time of the next event without a new packet; `FAR` if there is none.
    pub(super) fn next_deadline(&self, carrier: &Carrier) -> Instant {
        let slot = self.turns.next_deadline(carrier);
        slot.min(self.sending.next_deadline()).min(self.receiving.next_deadline())
    }

    /// Takes a packet from the IP stack of a UE. SDAP finds its bearer, and the bearer's queue takes it if there is room.
    pub(super) fn handle_packet(
        &mut self,
        now: Instant,
        id: UeId,
        packet: Packet<P>,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        // A UE that is between two cells, or that never was, has no stack here.
        if queues.ue(id).is_none() {
            return;
        }
        let Mapped { qfi, drb, .. } = port.ue(id).sdap_mut().map(&packet);
        let bearer = queues.drbs[drb].id;
        port.events().emit(now, bearer, || Event::UplinkArrived { packet: &packet, qfi });
        let stack = port.ue(id);
        // A UE's buffer is a modem's: what does not fit is lost there, before any law.
        if stack.is_full(drb, packet.size) {
            let (direction, reason) = (Direction::Uplink, DropReason::QueueFull);
            port.events().emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
            port.output(Output::Dropped { at: now, ue: id, packet, reason });
            return;
        }
        let is_first = stack.push(now, drb, qfi, packet);
        queues.arm_uplink_discard(drb, port);
        // Behind others it changes nothing of when the UE asks and is granted.
        if is_first {
            self.wake(now, id, carrier, queues, port);
        }
    }

    /// Finds the next slot in which a UE has something to do.
    pub(super) fn wake(
        &mut self,
        now: Instant,
        id: UeId,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        self.turns.wake(now, id, carrier, queues, port);
    }

    /// Takes a message of a UE's RLC or MAC.
    pub(super) fn send_control(
        &mut self,
        now: Instant,
        (id, control): (UeId, Control),
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        port.ue(id).push_control(control);
        self.wake(now, id, carrier, queues, port);
    }

    /// Next block that has come, with its time and whether it is decoded.
    pub(super) fn poll_block(&mut self, now: Instant) -> Option<(Instant, bool, Box<UplinkBlock>)> {
        self.sending.poll(now)
    }

    /// Takes in the data and the report of a block that was decoded, or that HARQ has given up.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        decoded: bool,
        block: &UplinkBlock,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        self.receiving.receive(now, decoded, block, carrier, queues, port);
    }

    /// Concludes a block: its UE continues with the changes of its report.
    pub(super) fn conclude(
        &mut self,
        now: Instant,
        block: Box<UplinkBlock>,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        self.wake(now, block.ue, carrier, queues, port);
        self.sending.give_back(block);
    }

    /// Brings to UEs the status reports that have come.
    pub(super) fn acknowledge_due(
        &mut self,
        now: Instant,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        while let Some((index, status)) = self.receiving.poll_status(now) {
            port.ue(queues.drbs[index].id.ue).receive_status(index, &status);
            self.go_on(now, index, carrier, queues, port);
        }
    }

    /// A timer of RLC or PDCP of what a bearer sends up may have ended.
    pub(super) fn handle_rlc_timer(
        &mut self,
        now: Instant,
        index: DrbIndex,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        queues.drbs[index].disarm(now, Direction::Uplink);
        self.go_on(now, index, carrier, queues, port);
    }

    /// The discardTimer has ended of what waited first at the UE when it was set, which may have left.
    pub(super) fn handle_discard_timer(
        &mut self,
        now: Instant,
        index: DrbIndex,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        let drb = &mut queues.drbs[index];
        drb.disarm_discard(Direction::Uplink);
        let (bearer, ue) = (drb.id, drb.id.ue);
        let discarded = &mut self.discarded;
        port.ue(ue).discard(now, index, |packet| discarded.push(packet));
        for packet in discarded.drain(..) {
            let (direction, reason) = (Direction::Uplink, DropReason::Discarded);
            port.events().emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
            port.output(Output::Dropped { at: now, ue, packet, reason });
        }
        // More SNs were discarded than the gNB's window holds: it waits no longer for the first.
        if port.ue(ue).receiver(index).is_outrun() {
            self.go_on(now, index, carrier, queues, port);
        }
        queues.arm_uplink_discard(index, port);
    }

    /// Delivers the packets of a bearer that the gNB has in order. Lost packets get this reason.
    pub(super) fn settle_or_lose(
        &mut self,
        now: Instant,
        index: DrbIndex,
        reason: DropReason,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        self.receiving.settle(now, index, reason, carrier, queues, port);
    }

    /// Hands on what came up of a bearer, and sees to it that its UE asks for what is still to be sent.
    fn go_on(
        &mut self,
        now: Instant,
        index: DrbIndex,
        carrier: &Carrier,
        queues: &mut Queues<P>,
        port: &mut impl Port<P>,
    ) {
        self.receiving.settle(now, index, DropReason::Radio, carrier, queues, port);
        // A timer or a report may have brought up a retransmission or a poll.
        let id = queues.drbs[index].id.ue;
        if port.ue(id).has_data(index) {
            self.wake(now, id, carrier, queues, port);
        }
    }

    /// Runs the slots that have begun.
    pub(super) fn run_due(&mut self, now: Instant, carrier: &Carrier, queues: &mut Queues<P>, port: &mut impl Port<P>) {
        while let Some(slot) = self.turns.due(now, carrier) {
            self.run_slot(slot, carrier, queues, port);
        }
    }

    /// One slot: retransmissions, configured grants, then what reports and requests ask for.
    fn run_slot(&mut self, slot: Slot, carrier: &Carrier, queues: &mut Queues<P>, port: &mut impl Port<P>) {
        let Self { turns, grants, sending, .. } = self;
        let now = carrier.pattern.start(slot);
        let mut free = carrier.config.prbs;
        for turn in turns.all() {
            // Whose turn is later has nothing to do yet; without coverage nothing that a UE sends arrives.
            let id = turn.ue;
            if !turn.has_come(slot) || queues.ues[id].is_silent(now) {
                continue;
            }
            // Retransmissions before new blocks, since delivery in order waits for them; then configured grants, whose resource blocks
            // were given away long before this slot.
            free -= sending.retransmit(slot, (id, free), carrier, queues, port);
            free -= use_configured_grant(slot, (id, free), sending, carrier, queues, port);
            grants.ask(slot, id, carrier, queues, port);
        }
        grants.share(slot, free, carrier, queues, port);
        for Grant { ue, allocation, .. } in grants.drain() {
            sending.send(slot, (ue, allocation), carrier, queues, port);
        }
        // Requests last: a block in this slot has a report, and its UE need not ask.
        for turn in turns.all() {
            if turn.has_come(slot) && !queues.ues[turn.ue].is_silent(now) {
                request(slot, turn.ue, carrier, queues, port);
            }
        }
        turns.end_slot(slot, carrier, queues, port);
    }

    /// Drops everything of a UE that leaves with its bearers.
    pub(super) fn forget(&mut self, ue: UeId, drbs: UeDrbs) {
        self.turns.forget(ue);
        self.sending.forget(ue);
        self.receiving.forget(drbs);
    }
}

/// Sends a block of a UE's configured grant, if its slot has come; returns the resource blocks, out of `free`.
fn use_configured_grant<P: Inspect>(
    slot: Slot,
    (id, free): (UeId, u32),
    sending: &mut Sending,
    carrier: &Carrier,
    queues: &mut Queues<P>,
    port: &mut impl Port<P>,
) -> u32 {
    // Without a configured grant a UE has to ask for every block.
    let Some(grant) = &carrier.config.uplink.configured_grant else { return 0 };
    let ue = &queues.ues[id];
    // The occasion is lost where nothing is free for it: a configured grant can't be put off.
    if ue.configured_in != Some(slot) || free == 0 || !ue.uplink.processes.has_free(slot) {
        return 0;
    }
    let allocation = allocate(slot, id, (grant.size.0, free), carrier, queues);
    sending.send(slot, (id, allocation), carrier, queues, port);
    allocation.prbs
}

/// A UE sends its request, if it still has to: a block in the same slot has a report.
fn request<P: Inspect>(slot: Slot, id: UeId, carrier: &Carrier, queues: &mut Queues<P>, port: &mut impl Port<P>) {
    let ue = &mut queues.ues[id];
    // UEs have occasions of their own, so that requests don't collide.
    if ue.request_in != Some(slot) {
        return;
    }
    // Discarded, or sent in this slot: nothing is left to ask for.
    let Some(group) = port.ue(id).most_important() else { return };
    if ue.uplink.estimate.must_request(group) {
        ue.uplink.estimate.request(slot + 1 + carrier.grant_delay());
    }
}
