//! DU of a gNB: RLC, MAC, schedulers, HARQ, reports and grants.
//!
//! The DU takes PDCP PDUs with their SNs, and gives delivery statuses to [`Port::report`]. UEs are behind [`Port::ue`]. Both ends of an
//! RLC entity are one object (decision 17), so the receiving end of a downlink bearer is here too.

pub(crate) mod anbr;
mod carrier;
mod downlink;
mod drb;
mod handover;
mod harq;
mod port;
mod queues;
mod recommendations;
mod reports;
pub(crate) mod scheduler;
mod shares;
mod surroundings;
mod timers;
mod ue;
pub(crate) mod uplink;

use tidemark_core::{ConfigError, Inspect, Instant, Packet};
use tidemark_radio::channel::ChannelConfig;
use tidemark_wire::mac::Direction;

use crate::config::{CellConfig, RlcMode, UeConfig};
use crate::handover::HandoverExecution;
use crate::index::{DrbIndex, UeDrbs};
use crate::output::{DropReason, UeId};
use crate::ue_stack::control::Control;

pub use anbr::{AnbrConfig, AnbrDirection, AnbrEstimate, AnbrMultiplier};
pub(crate) use carrier::Carrier;
pub(crate) use drb::Drb;
pub(crate) use handover::Leaving;
pub(crate) use port::Port;
pub use queues::Means;
pub(crate) use queues::Queues;
pub(crate) use surroundings::Surroundings;
pub(crate) use ue::Ue;
pub use uplink::{ConfiguredGrant, UplinkConfig};

use downlink::Downlink;
use recommendations::Query;
use timers::Timer;
use uplink::Uplink;

/// DU of one cell.
///
/// Both directions borrow the same carrier and queues, and neither sees the other; this object passes messages between them. With
/// nothing to send the DU has no deadline and costs nothing.
pub(crate) struct Du<P> {
    carrier: Carrier,
    queues: Queues<P>,
    downlink: Downlink,
    uplink: Uplink<P>,
}

impl<P: Inspect> Du<P> {
    /// Makes the DU of a cell without UEs.
    ///
    /// # Errors
    /// `tdd` where it is no pattern of slots.
    pub(crate) fn new(config: &CellConfig, seed: u64) -> Result<Self, ConfigError> {
        let carrier = Carrier::new(config)?;
        Ok(Self {
            queues: Queues::new(&carrier, seed),
            downlink: Downlink::new(&carrier, seed),
            uplink: Uplink::new(seed),
            carrier,
        })
    }

    /// Carrier of the cell.
    pub(crate) fn carrier(&self) -> &Carrier {
        &self.carrier
    }
    /// UEs and bearers that the DU serves.
    pub(crate) fn queues(&self) -> &Queues<P> {
        &self.queues
    }
    /// UEs and bearers, to be changed.
    pub(crate) fn queues_mut(&mut self) -> &mut Queues<P> {
        &mut self.queues
    }

    /// Indices of the next UE and of its first bearer.
    pub(crate) fn next_indices(&self) -> (UeId, DrbIndex) {
        self.queues.next_indices()
    }

    /// Admits a UE under an index that no other has, its bearers from `first` on.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub(crate) fn add_ue(
        &mut self,
        id: UeId,
        first: DrbIndex,
        config: &UeConfig,
        port: &mut impl Port<P>,
    ) -> Result<(), ConfigError> {
        self.queues.add_ue((id, first), config, &self.carrier, port)
    }

    /// Changes the channel of a UE from now on. A UE that does not exist is ignored.
    ///
    /// # Errors
    /// A field that cannot be used. A rate channel cannot become one with a radio quality, nor the reverse.
    pub(crate) fn set_channel(&mut self, id: UeId, config: &ChannelConfig) -> Result<(), ConfigError> {
        self.queues.set_channel(id, config, &self.carrier)
    }

    /// Takes a PDCP PDU with its SN, which came to the CU when it `entered`, into the RLC queue.
    pub(crate) fn handle_pdu(&mut self, now: Instant, entered: Instant, drb: DrbIndex, sn: u32, packet: Packet<P>) {
        let Self { carrier, queues, downlink, .. } = self;
        let bearer = &mut queues.drbs[drb].bearer;
        bearer.push(now, entered, sn, packet);
        // What a pacer holds back can't be sent before it has looked at it.
        if bearer.is_paced() { queues.arm_pacer(now, drb) } else { downlink.activate(now, drb, carrier, queues) }
    }

    /// Takes a packet from the IP stack of a UE. SDAP finds its bearer, and the bearer's queue takes it if there is room.
    pub(crate) fn handle_uplink(&mut self, now: Instant, id: UeId, packet: Packet<P>, port: &mut impl Port<P>) {
        let Self { carrier, queues, uplink, .. } = self;
        uplink.handle_packet(now, id, packet, carrier, queues, port);
    }

    /// Reports at `at`, once, since the CU asks for it.
    pub(crate) fn poll_report(&mut self, at: Instant, drb: DrbIndex) {
        self.queues.timers.set(at, drb, Timer::Poll);
    }

    /// Asks the UE's modem to send a query, given as the two octets of its control element. While bitRateQueryProhibitTimer runs, the
    /// query waits for its end (TS 38.321 5.18.10). False if a query already waits, which then serves both, or if the bearer gets no
    /// recommendations.
    pub(crate) fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2], port: &mut impl Port<P>) -> bool {
        let query = recommendations::ask(now, id, octets, &mut self.queues);
        let Some(Query { drb, direction, allowed }) = query else { return false };
        // The prohibit timer does not run: nothing to wait for.
        if allowed == now {
            self.send_query(now, drb, direction, port);
        } else {
            self.queues.timers.set(allowed, drb, Timer::Query(direction));
        }
        true
    }

    /// Time of the next event without a new packet; `FAR` if there is none.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.queues.timers.deadline()
    }

    /// Handles all events that are due at `now`: arrivals before the decisions that depend on them, and the uplink's slot before the
    /// downlink's. Downlink blocks go on the air last.
    pub(crate) fn handle_timeout(&mut self, now: Instant, port: &mut impl Port<P>) {
        let Self { carrier, queues, downlink, .. } = self;
        downlink.receive_due(now, queues, port);
        downlink.acknowledge_due(now, carrier, queues, port);
        while let Some((drb, timer)) = self.queues.timers.pop(now) {
            self.handle_timer(now, drb, timer, port);
        }
        self.receive_uplink(now, port);
        let Self { carrier, queues, downlink, uplink } = self;
        uplink.acknowledge_due(now, carrier, queues, port);
        uplink.run_due(now, carrier, queues, port);
        downlink.decide_due(now, carrier, queues, port);
        downlink.transmit_due(now, carrier, queues, port);
        self.plan();
    }

    /// Takes out a UE with its bearers, and drops what is in the air of it.
    pub(crate) fn take_ue(&mut self, now: Instant, id: UeId, port: &mut impl Port<P>) -> Option<Leaving<P>> {
        let own = self.queues.ue(id)?.drbs();
        self.conclude_unacknowledged(now, own, port);
        self.downlink.forget(id, own);
        self.uplink.forget(id, own);
        let leaving = Leaving::take(id, &self.carrier, &mut self.queues, port);
        self.plan();
        leaving
    }

    /// Places a UE. After the interruption it is sent the forwarded packets.
    pub(crate) fn place_ue(
        &mut self,
        now: Instant,
        id: UeId,
        leaving: Leaving<P>,
        config: &HandoverExecution,
        port: &mut impl Port<P>,
    ) {
        let Self { carrier, queues, downlink, uplink } = self;
        let drbs = leaving.drbs();
        let sends = leaving.place(now, id, config, queues, port);
        for index in drbs.iter() {
            queues.arm_uplink(now, index, port);
            queues.arm_uplink_discard(index, port);
            queues.arm_pacer(now, index);
            // What is forwarded with the UE waits for a slot of this cell.
            if queues.drbs[index].bearer.has_data() {
                downlink.activate(now, index, carrier, queues);
            }
        }
        // What the UE held back during the handover asks for a grant now.
        if sends {
            uplink.wake(now, id, carrier, queues, port);
        }
    }

    /// Finds the next deadline.
    fn plan(&mut self) {
        let Self { carrier, queues, downlink, uplink } = self;
        queues.timers.plan(downlink.next_deadline(carrier).min(uplink.next_deadline(carrier)));
    }

    fn handle_timer(&mut self, now: Instant, index: DrbIndex, timer: Timer, port: &mut impl Port<P>) {
        let Self { carrier, queues, downlink, uplink } = self;
        match timer {
            Timer::Rlc => {
                // Only some ends of a timer make a report; others send data once more.
                if let Some(status) = queues.handle_rlc_timer(now, index) {
                    let (id, control) = (queues.drbs[index].id.ue, Control::Status { drb: index, status });
                    uplink.send_control(now, (id, control), carrier, queues, port);
                }
                downlink.go_on(now, index, carrier, queues, port);
            }
            Timer::UplinkRlc => uplink.handle_rlc_timer(now, index, carrier, queues, port),
            Timer::Discard(Direction::Downlink) => queues.handle_discard_timer(now, index, port),
            Timer::Discard(Direction::Uplink) => uplink.handle_discard_timer(now, index, carrier, queues, port),
            Timer::Pacer => downlink.pace(now, index, carrier, queues, port),
            Timer::Report => queues.end_period(now, index, port),
            Timer::Poll => queues.send_report(now, index, port),
            Timer::Window(direction) => recommendations::end_window(now, index, direction, carrier, queues),
            Timer::Query(direction) => self.send_query(now, index, direction, port),
            Timer::Recommendation(octets, exact) => {
                recommendations::deliver(now, index, (octets, exact), queues, port);
            }
        }
    }

    /// Takes in uplink blocks, and what they carry for the downlink.
    fn receive_uplink(&mut self, now: Instant, port: &mut impl Port<P>) {
        let Self { carrier, queues, downlink, uplink } = self;
        while let Some((at, decoded, mut block)) = uplink.poll_block(now) {
            uplink.receive(at, decoded, &block, carrier, queues, port);
            // Control of a block that was lost is gone with it: MAC sends no control element twice.
            for control in block.control.drain(..).filter(|_| decoded) {
                match control {
                    Control::Query { drb, direction } => {
                        recommendations::recommend(at, drb, direction, carrier, queues);
                    }
                    Control::Status { drb, status } => {
                        downlink.handle_status(at, (drb, &status), carrier, queues, port);
                    }
                }
            }
            uplink.conclude(at, block, carrier, queues, port);
        }
    }

    /// The UE sends the query that waits.
    fn send_query(&mut self, now: Instant, drb: DrbIndex, direction: Direction, port: &mut impl Port<P>) {
        if let Some(query) = recommendations::query(now, drb, direction, &mut self.queues) {
            self.uplink.send_control(now, query, &self.carrier, &mut self.queues, port);
        }
    }

    /// Delivers the SDUs of UM's receivers. After a handover UM sends only SDUs that were not begun (TS 38.323 5.1.2); the rest of
    /// those begun is lost.
    fn conclude_unacknowledged(&mut self, now: Instant, drbs: UeDrbs, port: &mut impl Port<P>) {
        let Self { carrier, queues, uplink, .. } = self;
        for index in drbs.iter() {
            let drb = &mut queues.drbs[index];
            // In AM what was begun goes along with the UE and is sent again (TS 38.323 5.1.2).
            if drb.bearer.mode() == RlcMode::Um {
                drb.bearer.conclude();
                port.ue(drb.id.ue).receiver(index).conclude();
                queues.release_or_lose(now, index, DropReason::Handover, port);
                uplink.settle_or_lose(now, index, DropReason::Handover, carrier, queues, port);
            }
        }
    }
}
