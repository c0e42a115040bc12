//! DU of a gNB: RLC, MAC, schedulers, HARQ, reports and grants.
//!
//! PDCP PDUs go in with their SNs, delivery statuses come out by [`Port::report`]. UEs stand behind [`Port::ue`]. Both ends of an RLC
//! entity are one object (decision 17), so that what a UE has received of a downlink bearer stands here as well.

pub(crate) mod anbr;
mod control;
mod delivery;
mod downlink;
mod drb;
mod handover;
pub(crate) mod harq;
mod port;
mod recommendations;
pub(crate) mod scheduler;
mod shares;
mod state;
mod surroundings;
mod timers;
mod ue;
pub(crate) mod uplink;
mod uplink_receiving;
mod uplink_sending;
mod uplink_slot;

use std::collections::BTreeMap;

use tidemark_core::{ConfigError, Inspect, Instant, Packet, Stream};
use tidemark_radio::blocks::BlockSizes;
use tidemark_radio::link::LinkTable;
use tidemark_radio::slots::{Slot, SlotPattern};
use tidemark_wire::mac::Direction;

use crate::air::Air;
use crate::config::{CellConfig, UeConfig};
use crate::index::{DrbIndex, UeDrbs};
use crate::output::{CellStats, UeId};
use crate::qos::Qos;
use crate::rlc::Released;
use crate::slab::Slab;
use crate::ue_stack::block::UplinkBlock;
use crate::ue_stack::{Prioritisation, UeStack};

pub use anbr::{AnbrConfig, AnbrDirection, AnbrEstimate, AnbrMultiplier};
pub(crate) use control::Means;
pub(crate) use drb::Drb;
pub(crate) use handover::Leaving;
pub(crate) use harq::{Block, Feedback};
pub(crate) use port::Port;
pub(crate) use surroundings::Surroundings;
pub(crate) use ue::Ue;
pub use uplink::{ConfiguredGrant, UplinkConfig};

use harq::Pool;
use scheduler::{Contender, Scheduler};
use shares::Shares;
use timers::{Timer, Timers};
use uplink::UplinkCarrier;
use uplink_slot::{Grant, Round, Turn};

/// DU of one cell.
///
/// With nothing to send it has no deadline and costs nothing.
pub(crate) struct Du<P> {
    config: CellConfig,
    seed: u64,
    pattern: SlotPattern,
    /// Slots from a decision to the downlink slot that it is for.
    lead: u64,
    table: LinkTable,
    sizes: BlockSizes,
    scheduler: Scheduler,
    ues: Slab<UeId, Ue>,
    /// Bearers of all UEs, those of one UE side by side.
    drbs: Slab<DrbIndex, Drb<P>>,
    /// True if a bearer has a guaranteed rate.
    has_gbr: bool,
    /// Bearers for which a slot has something to do, in order.
    active: Vec<DrbIndex>,
    /// UEs to which something was sent in the slot that is being run.
    served: Vec<UeId>,
    /// UEs that can be sent something in that slot, and those that were given something before.
    contenders: Vec<Contender>,
    given: Vec<Contender>,
    /// Not later than when something happens next.
    deadline: Instant,
    /// Next slot to be decided on.
    next_slot: Option<Slot>,
    /// First downlink slot that has not been decided on.
    soonest: Slot,
    /// First slot that has not been decided on.
    open_slot: Slot,
    air: Air,
    /// UEs that have blocks to be retransmitted, in order.
    retransmitting: Vec<UeId>,
    uplink_carrier: UplinkCarrier,
    /// Lists for later blocks, for what leaves a bearer, and for grants.
    #[expect(clippy::vec_box, reason = "what is reused is the box")]
    spare_blocks: Vec<Box<UplinkBlock>>,
    released: Vec<Released<P>>,
    discarded: Vec<Packet<P>>,
    grants: Vec<Grant>,
    /// Grants that UEs have had, by round.
    uplink_shares: BTreeMap<Round, Shares>,
    uplink_draws: Stream,
    /// UEs for which an uplink slot has something to do, in order.
    turns: Vec<Turn>,
    /// Next uplink slot to be run, and the first that has not been run.
    next_uplink: Option<Slot>,
    open_uplink: Slot,
    timers: Timers,
    pool: Pool,
    stats: CellStats,
}

impl<P: Inspect> Du<P> {
    /// Makes the DU of a cell without UEs.
    ///
    /// # Errors
    /// `tdd` where it is no pattern of slots.
    pub(crate) fn new(config: &CellConfig, seed: u64) -> Result<Self, ConfigError> {
        let pattern = config.pattern().ok_or(ConfigError::new("tdd", "cannot be used"))?;
        Ok(Self {
            seed,
            lead: config.scheduling_lead(),
            table: LinkTable::new(&config.pdsch()),
            sizes: BlockSizes::new(&config.pdsch(), &pattern),
            scheduler: Scheduler::new(
                &config.scheduler,
                config.slot(),
                (config.prbs, config.resource_block_group()),
                Stream::new(seed, 0, "turn"),
            ),
            pattern,
            ues: Slab::new(),
            drbs: Slab::new(),
            has_gbr: false,
            active: Vec::new(),
            served: Vec::new(),
            contenders: Vec::new(),
            given: Vec::new(),
            deadline: Instant::FAR,
            next_slot: None,
            soonest: Slot::default(),
            open_slot: Slot::default(),
            air: Air::default(),
            retransmitting: Vec::new(),
            uplink_carrier: UplinkCarrier::new(config),
            spare_blocks: Vec::new(),
            released: Vec::new(),
            discarded: Vec::new(),
            grants: Vec::new(),
            uplink_shares: BTreeMap::new(),
            uplink_draws: Stream::new(seed, 1, "turn"),
            turns: Vec::new(),
            next_uplink: None,
            open_uplink: Slot::default(),
            timers: Timers::default(),
            pool: Pool::default(),
            stats: CellStats::default(),
            config: config.clone(),
        })
    }

    /// Indices of the next UE and of its first bearer.
    pub(crate) fn next_indices(&self) -> (UeId, DrbIndex) {
        (self.ues.next(), self.drbs.next())
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
        let drbs = UeDrbs::new(first, config.bearers().count());
        let UplinkConfig { bsr, prioritised_bit_rate: bit_rate, bucket_size_duration, .. } = self.config.uplink;
        let stack = UeStack::new(drbs, config, bsr, Prioritisation { bit_rate, bucket_size_duration });
        let mut ue = Ue::new(&self.config, config, id, drbs, self.seed)?;
        let has_headers = !ue.has_rate_channel();
        let bearers = config.bearers().enumerate().map(|(index, bearer)| {
            let qos = Qos::of_bearer(config.five_qi, bearer.qos_flows);
            let mut drb = Drb::new((id, index), bearer, qos, config.anbr.as_ref(), has_headers);
            if port.decides_at_dequeue(drb.id) {
                drb.bearer.expect_holes();
            }
            drb
        });
        let bearers: Vec<_> = bearers.collect();
        self.has_gbr |= bearers.iter().any(|drb| drb.qos.is_gbr());
        ue.groups = stack.groups().to_vec();
        drbs.iter().zip(bearers).for_each(|(index, drb)| self.drbs.insert(index, Box::new(drb)));
        self.ues.insert(id, Box::new(ue));
        port.surroundings().ues.insert(id, Box::new(stack));
        Ok(())
    }

    /// Takes a PDCP PDU with its SN, which came to the CU when it `entered`, into the RLC queue.
    pub(crate) fn handle_pdu(&mut self, now: Instant, entered: Instant, drb: DrbIndex, sn: u32, packet: Packet<P>) {
        let bearer = &mut self.drbs[drb].bearer;
        bearer.push(now, entered, sn, packet);
        if bearer.is_paced() { self.arm_pacer(now, drb) } else { self.activate(now, drb) }
    }

    /// Reports at `at`, once, since the CU asks for it.
    pub(crate) fn poll_report(&mut self, at: Instant, drb: DrbIndex) {
        self.set_timer(at, drb, Timer::Poll);
    }

    /// Time of the next event without a new packet; `FAR` if there is none.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.deadline
    }

    /// Moves the deadline to this time, unless it is earlier already.
    fn wake(&mut self, at: Instant) {
        self.deadline = self.deadline.min(at);
    }

    /// Finds the next deadline.
    fn plan(&mut self) {
        let slot = self.next_slot.map_or(Instant::FAR, |slot| self.decided_at(slot));
        let uplink = self.next_uplink.map_or(Instant::FAR, |slot| self.pattern.start(slot));
        let timer = self.timers.next().unwrap_or(Instant::FAR);
        self.deadline = slot.min(uplink).min(timer).min(self.air.next_deadline(&self.pattern));
    }

    fn set_timer(&mut self, at: Instant, drb: DrbIndex, timer: Timer) {
        self.timers.set(at, drb, timer);
        self.wake(at);
    }

    /// Does what is due at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Instant, port: &mut impl Port<P>) {
        while let Some(content) = self.air.poll_decoded(now) {
            for (part, segments) in content.parts() {
                segments.iter().for_each(|segment| self.drbs[part.drb].bearer.arrived(now, *segment));
                self.release(now, part.drb, port);
            }
            self.pool.give_back(content);
        }
        while let Some(feedback) = self.air.poll_feedback(now) {
            self.handle_feedback(now, feedback, port);
        }
        while let Some((drb, timer)) = self.timers.pop(now) {
            self.handle_timer(now, drb, timer, port);
        }
        while let Some((at, decoded, block)) = self.air.poll_uplink(now) {
            self.handle_uplink_block(at, decoded, block, port);
        }
        while let Some((drb, status)) = self.air.poll_status(now) {
            self.status_arrives_down(now, drb, &status, port);
        }
        while let Some(slot) = self.next_uplink.filter(|slot| self.pattern.start(*slot) <= now) {
            self.run_uplink_slot(slot, port);
        }
        while let Some(slot) = self.next_slot.filter(|slot| self.decided_at(*slot) <= now) {
            self.run_slot(slot, port);
        }
        while let Some((slot, block)) = self.air.poll_planned(now, &self.pattern) {
            self.transmit(slot, block, port);
        }
        self.plan();
    }

    /// Time at which a downlink slot is decided on.
    fn decided_at(&self, slot: Slot) -> Instant {
        self.pattern.start(slot.saturating_sub(self.lead))
    }
    /// First slot that is decided on at `now` or later.
    fn first_undecided(&self, now: Instant) -> Slot {
        self.pattern.at_or_after(now) + self.lead
    }

    /// Notes that a bearer has something to send.
    fn activate(&mut self, now: Instant, drb: DrbIndex) {
        self.begin_window(now, drb, Direction::Downlink);
        self.arm_discard(drb);
        if let Err(position) = self.active.binary_search(&drb) {
            self.active.insert(position, drb);
        }
        if self.next_slot.is_some_and(|next| next <= self.soonest) {
            return;
        }
        let earliest = self.first_undecided(now).max(self.open_slot);
        let slot = self.pattern.next_downlink(earliest);
        self.next_slot = Some(self.next_slot.map_or(slot, |next| next.min(slot)));
        self.wake(self.decided_at(slot));
    }

    fn handle_timer(&mut self, now: Instant, index: DrbIndex, timer: Timer, port: &mut impl Port<P>) {
        match timer {
            Timer::Rlc => self.handle_rlc_timer(now, index, port),
            Timer::UplinkRlc => self.handle_uplink_timer(now, index, port),
            Timer::Discard(Direction::Downlink) => self.handle_discard_timer(now, index, port),
            Timer::Discard(Direction::Uplink) => self.handle_uplink_discard_timer(now, index, port),
            Timer::Pacer => self.pace(now, index, port),
            // What a poll has reported since is no news.
            Timer::Report if !self.drbs[index].end_period() => {}
            Timer::Report | Timer::Poll => self.send_report(now, index, port),
            Timer::Window(direction) => self.end_window(now, index, direction),
            Timer::Query(direction) => self.send_query(now, index, direction, port),
            Timer::Recommendation(octets, exact) => self.deliver_recommendation(now, index, (octets, exact), port),
        }
    }
}
