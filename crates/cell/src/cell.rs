//! The cell as one state machine.

use std::collections::{BTreeMap, VecDeque};

use tidemark_core::{Bytes, ConfigError, FlowId, Inspect, Instant, Packet, Stream};
use tidemark_marker::DeliveryStatus;
use tidemark_wire::mac::Direction;

use crate::config::{CellConfig, UeConfig};
use crate::cu_up::CuUp;
use crate::drb::Drb;
use crate::event::{Events, Observer};
use crate::harq::{Block, Feedback, Pool};
use crate::output::{CellStats, DrbStats, Output, UeId, UeStats};
use crate::places::Places;
use crate::qos::{Qos, Sdap};
use crate::rlc::{Released, Segment, Status};
use crate::scheduler::Scheduler;
use crate::timers::{Timer, Timers};
use crate::ue::Ue;
use crate::uplink::{Grant, Round, Shares, Turn, UplinkBlock, UplinkCarrier, UplinkConfig, groups};
use tidemark_radio::blocks::BlockSizes;
use tidemark_radio::link::LinkTable;
use tidemark_radio::slots::{SYMBOLS_PER_SLOT, SlotPattern};

/// One NR cell: CU and DU of its gNB, and the radio side of its UEs.
///
/// Packets and the passing of time go in; [`poll_output`](Self::poll_output) says what came of it. With nothing to send it
/// has no deadline and costs nothing.
pub struct Cell<P> {
    pub(crate) config: CellConfig,
    pub(crate) seed: u64,
    pub(crate) pattern: SlotPattern,
    /// Slots from a decision to the downlink slot that it is for.
    pub(crate) lead: u64,
    pub(crate) table: LinkTable,
    pub(crate) sizes: BlockSizes,
    pub(crate) scheduler: Scheduler,
    pub(crate) cu: CuUp,
    pub(crate) ues: Places<Ue>,
    /// Bearers of all UEs, those of one UE side by side.
    pub(crate) drbs: Places<Drb<P>>,
    /// True if a bearer has a guaranteed rate.
    pub(crate) has_gbr: bool,
    /// Bearers for which a slot has something to do, in order.
    pub(crate) active: Vec<u32>,
    /// Bearers of which something was sent in the slot that is being run.
    pub(crate) served: Vec<u32>,
    /// Not later than when something happens next.
    deadline: Instant,
    /// The next slot to be decided on.
    pub(crate) next_slot: Option<u64>,
    /// The first downlink slot that has not been decided on.
    pub(crate) soonest: u64,
    /// The first slot that has not been decided on.
    pub(crate) open_slot: u64,
    /// Blocks of slots that were decided on and have not begun.
    pub(crate) planned: VecDeque<(u64, Block)>,
    /// On the way from CU to DU, by bearer.
    pub(crate) f1_down: VecDeque<(Instant, u32, u32, Packet<P>)>,
    /// On the way from DU to CU.
    pub(crate) f1_up: VecDeque<(Instant, u32, DeliveryStatus)>,
    /// Blocks that the UE will have decoded.
    pub(crate) decoded: VecDeque<(Instant, u32, Vec<Segment>)>,
    pub(crate) feedback: VecDeque<Feedback>,
    /// UEs that have blocks to be sent again, in order.
    pub(crate) sending_again: Vec<u32>,
    pub(crate) uplink_carrier: UplinkCarrier,
    /// Blocks that the gNB will have decoded, or not.
    pub(crate) uplink: VecDeque<(Instant, bool, Box<UplinkBlock>)>,
    /// Lists for later blocks, for what leaves a bearer, and for grants.
    #[expect(clippy::vec_box, reason = "what is reused is the box")]
    pub(crate) spare_blocks: Vec<Box<UplinkBlock>>,
    pub(crate) released: Vec<Released<P>>,
    pub(crate) grants: Vec<Grant>,
    /// Grants that UEs have had, by round.
    pub(crate) uplink_shares: BTreeMap<Round, Shares>,
    pub(crate) uplink_draws: Stream,
    /// On the way to the UEs, by bearer: what RLC says of what came up.
    pub(crate) statuses_down: VecDeque<(Instant, u32, Status)>,
    /// UEs for which an uplink slot has something to do, in order.
    pub(crate) turns: Vec<Turn>,
    /// The next uplink slot to be run, and the first that has not been run.
    pub(crate) next_uplink: Option<u64>,
    pub(crate) open_uplink: u64,
    pub(crate) timers: Timers,
    pub(crate) pool: Pool,
    pub(crate) outputs: VecDeque<Output<P>>,
    pub(crate) stats: CellStats,
    pub(crate) events: Events<P>,
}

impl<P: Inspect> Cell<P> {
    /// An empty cell, whose random numbers all follow from `seed`.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn new(config: &CellConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let config = &CellConfig { prbs: config.resource_blocks(), ..config.clone() };
        let pattern = config.pattern().ok_or(ConfigError::new("tdd", "cannot be used"))?;
        Ok(Self {
            seed,
            lead: config.scheduling_lead(),
            table: LinkTable::new(&config.pdsch()),
            sizes: BlockSizes::new(&config.pdsch(), &pattern),
            scheduler: Scheduler::new(&config.scheduler, config.slot(), Stream::new(seed, 0, "turn")),
            pattern,
            cu: CuUp::new(seed),
            ues: Places::new(),
            drbs: Places::new(),
            has_gbr: false,
            active: Vec::new(),
            served: Vec::new(),
            deadline: Instant::FAR,
            next_slot: None,
            soonest: 0,
            open_slot: 0,
            planned: VecDeque::new(),
            f1_down: VecDeque::new(),
            f1_up: VecDeque::new(),
            decoded: VecDeque::new(),
            feedback: VecDeque::new(),
            sending_again: Vec::new(),
            uplink_carrier: UplinkCarrier::new(config),
            uplink: VecDeque::new(),
            spare_blocks: Vec::new(),
            released: Vec::new(),
            grants: Vec::new(),
            uplink_shares: BTreeMap::new(),
            uplink_draws: Stream::new(seed, 1, "turn"),
            statuses_down: VecDeque::new(),
            turns: Vec::new(),
            next_uplink: None,
            open_uplink: 0,
            timers: Timers::default(),
            pool: Pool::default(),
            outputs: VecDeque::new(),
            stats: CellStats::default(),
            events: Events::new(),
            config: config.clone(),
        })
    }

    /// Admits a UE.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn add_ue(&mut self, config: &UeConfig) -> Result<UeId, ConfigError> {
        let (id, first) = (UeId(self.ues.len() as u32), self.drbs.len() as u32);
        self.add_ue_as(id, first, config)?;
        Ok(id)
    }
    /// Admits a UE under a number that no other has, from which its random numbers follow, its bearers from `first` on.
    pub(crate) fn add_ue_as(&mut self, id: UeId, first: u32, config: &UeConfig) -> Result<(), ConfigError> {
        config.validate()?;
        let mut ue = Ue::new(&self.config, config, id.0, first, self.seed)?;
        let has_headers = !ue.channel.is_rate();
        self.cu.add_ue(id, first, config)?;
        let drbs = config.bearers().enumerate().map(|(index, bearer)| {
            let qos = match index {
                0 => Qos::of_default_flow(config.five_qi),
                _ => Qos::of_flows(bearer.qos_flows),
            };
            let mut drb = Drb::new((id.0, index), bearer, qos, config.anbr.as_ref(), has_headers);
            if self.cu.decides_at_dequeue(drb.id) {
                drb.bearer.expect_holes();
            }
            drb
        });
        let mut drbs: Vec<_> = drbs.collect();
        let UplinkConfig { prioritised_bit_rate, bucket_size_duration, .. } = self.config.uplink;
        drbs.iter_mut().for_each(|drb| drb.uplink_qos.prioritise(prioritised_bit_rate, bucket_size_duration));
        self.has_gbr |= drbs.iter().any(|drb| drb.qos.is_gbr());
        ue.groups = groups((first..).zip(&drbs));
        (first..).zip(drbs).for_each(|(number, drb)| self.drbs.put(number, Box::new(drb)));
        self.ues.put(id.0, Box::new(ue));
        Ok(())
    }

    /// Puts a flow of a UE into the QoS flow with this QFI, whatever the packet filters say: a packet detection rule for its
    /// addresses and ports.
    ///
    /// # Errors
    /// There is no such QoS flow.
    pub fn name_qos_flow(&mut self, id: UeId, flow: FlowId, qfi: u8) -> Result<(), ConfigError> {
        let Some(sdap) = self.cu.sdap_mut(id) else { return Ok(()) };
        let known = sdap.name(flow, qfi);
        known.then_some(()).ok_or_else(|| ConfigError::new("qfi", "must be that of a QoS flow of the UE"))
    }

    /// Shows `observer` from now on every event of the cell, in place of the observer before it.
    pub fn observe(&mut self, observer: Observer<P>) {
        self.events.observe(observer);
    }

    /// When something happens next, if nothing comes in.
    pub fn next_deadline(&self) -> Option<Instant> {
        (self.deadline != Instant::FAR).then_some(self.deadline)
    }
    /// Something happens at this time, or earlier.
    pub(crate) fn wake(&mut self, at: Instant) {
        self.deadline = self.deadline.min(at);
    }
    /// Finds out when something happens next.
    pub(crate) fn plan(&mut self) {
        let mut first = self.next_slot.map_or(Instant::FAR, |slot| self.decided_at(slot));
        let mut consider = |at: Option<Instant>| first = first.min(at.unwrap_or(Instant::FAR));
        consider(self.next_uplink.map(|slot| self.pattern.start(slot)));
        consider(self.planned.front().map(|(slot, _)| self.pattern.start(*slot)));
        consider(self.decoded.front().map(|(at, ..)| *at));
        consider(self.feedback.front().map(|feedback| feedback.at));
        consider(self.uplink.front().map(|(at, ..)| *at));
        consider(self.statuses_down.front().map(|(at, ..)| *at));
        consider(self.f1_down.front().map(|(at, ..)| *at));
        consider(self.f1_up.front().map(|(at, ..)| *at));
        consider(self.timers.next());
        self.deadline = first;
    }
    pub(crate) fn set_timer(&mut self, at: Instant, drb: u32, timer: Timer) {
        self.timers.set(at, drb, timer);
        self.wake(at);
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while self.f1_down.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((at, drb, sn, packet)) = self.f1_down.pop_front() else { break };
            let entered = Instant::ZERO + at.since(Instant::ZERO + self.config.f1u.delay);
            self.drbs[drb as usize].bearer.push(now, entered, sn, packet);
            self.activate(now, drb);
        }
        while self.f1_up.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((_, drb, status)) = self.f1_up.pop_front() else { break };
            self.receive_report(now, drb, &status);
        }
        while self.decoded.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((_, drb, segments)) = self.decoded.pop_front() else { break };
            segments.iter().for_each(|segment| self.drbs[drb as usize].bearer.arrived(now, *segment));
            self.pool.give_back(segments);
            self.release(now, drb);
        }
        while self.feedback.front().is_some_and(|feedback| feedback.at <= now) {
            let Some(feedback) = self.feedback.pop_front() else { break };
            self.handle_feedback(now, feedback);
        }
        while let Some((drb, timer)) = self.timers.pop(now) {
            self.handle_timer(now, drb, timer);
        }
        while self.uplink.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((at, decoded, block)) = self.uplink.pop_front() else { break };
            self.handle_uplink_block(at, decoded, block);
        }
        while self.statuses_down.front().is_some_and(|(at, ..)| *at <= now) {
            let Some((_, drb, status)) = self.statuses_down.pop_front() else { break };
            self.status_arrives_down(now, drb, &status);
        }
        while let Some(slot) = self.next_uplink.filter(|slot| self.pattern.start(*slot) <= now) {
            self.run_uplink_slot(slot);
        }
        while let Some(slot) = self.next_slot.filter(|slot| self.decided_at(*slot) <= now) {
            self.run_slot(slot);
        }
        while self.planned.front().is_some_and(|(slot, _)| self.pattern.start(*slot) <= now) {
            let Some((slot, block)) = self.planned.pop_front() else { break };
            self.transmit(slot, block);
        }
        self.plan();
    }

    /// The next thing that left the cell.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// What the DU would report of a UE's bearer with this DRB identity, from 1, now; `None` if there is none. For a CU that is somewhere
    /// else: SNs are those of this cell, which numbers what it accepts.
    pub fn delivery_status(&self, ue: UeId, drb: u8) -> Option<DeliveryStatus> {
        let drb = self.ues.get(ue.0 as usize)?.drbs.clone().nth(usize::from(drb).checked_sub(1)?)?;
        Some(self.drbs[drb as usize].current_status())
    }

    /// State and counters of a UE; `None` if there is no such UE.
    pub fn ue(&self, now: Instant, id: UeId) -> Option<UeStats> {
        let ue = self.ues.get(id.0 as usize)?;
        let mut stats = ue.stats();
        for drb in ue.drbs.clone().filter_map(|drb| self.drbs.get(drb as usize)) {
            let queue = drb.bearer.queue_state(now);
            stats.queue.backlog += queue.backlog;
            stats.queue.packets += queue.packets;
            stats.queue.head_of_line = stats.queue.head_of_line.max(queue.head_of_line);
            stats.marked += self.cu.marked(drb.id);
            stats.uplink_marked += self.cu.uplink_marked(drb.id);
        }
        stats.forgotten_flows = self.cu.sdap(id).map_or(0, Sdap::evicted);
        Some(stats)
    }

    /// Counters of a UE's bearers, the default one first; none if there is no such UE.
    pub fn bearers(&self, ue: UeId) -> impl Iterator<Item = DrbStats> + '_ {
        let drbs = self.ues.get(ue.0 as usize).map_or(0..0, |ue| ue.drbs.clone());
        drbs.filter_map(|drb| self.drbs.get(drb as usize)).map(|drb| DrbStats {
            marked: self.cu.marked(drb.id),
            uplink_marked: self.cu.uplink_marked(drb.id),
            ..drb.stats
        })
    }

    /// The bearer that carries a flow from its UE: the DRB identity, from 1; `None` if there is no such UE.
    pub fn carries_up(&self, id: UeId, flow: FlowId) -> Option<u8> {
        let ue = self.ues.get(id.0 as usize)?;
        Some((self.cu.sdap(id)?.carries_up(flow) - ue.drbs.start) as u8 + 1)
    }

    /// Counters of the cell as a whole.
    pub fn stats(&self) -> CellStats {
        self.stats
    }

    /// Resource blocks x symbols that the downlink slots between two instants have.
    pub fn resources_between(&self, from: Instant, to: Instant) -> u64 {
        let (first, end) = (self.pattern.at_or_after(from), self.pattern.at_or_after(to));
        self.pattern.downlink_symbols_between(first, end) * u64::from(self.config.prbs)
    }

    /// The same of the uplink slots between two instants.
    pub fn uplink_resources_between(&self, from: Instant, to: Instant) -> u64 {
        let (first, end) = (self.pattern.at_or_after(from), self.pattern.at_or_after(to));
        self.pattern.uplink_slots_between(first, end) * u64::from(SYMBOLS_PER_SLOT * self.config.prbs)
    }

    /// IP bytes of a flow inside the cell, counted packet by packet.
    pub fn held(&self, flow: FlowId) -> Bytes {
        let size = |packet: &Packet<P>| if packet.flow == flow { packet.size } else { Bytes(0) };
        self.drbs.iter().map(|drb| drb.bearer.held(flow) + drb.uplink.held(flow)).sum::<Bytes>()
            + self.f1_down.iter().map(|(.., packet)| size(packet)).sum()
            + self
                .outputs
                .iter()
                .map(|output| match output {
                    Output::Recommendation { .. } | Output::ShortCircuited { .. } => Bytes(0),
                    Output::Downlink { packet, .. }
                    | Output::Uplink { packet, .. }
                    | Output::Dropped { packet, .. } => size(packet),
                })
                .sum()
    }

    /// When a downlink slot is decided on.
    pub(crate) fn decided_at(&self, slot: u64) -> Instant {
        self.pattern.start(slot.saturating_sub(self.lead))
    }
    /// The first slot that is decided on at `now` or later.
    pub(crate) fn first_undecided(&self, now: Instant) -> u64 {
        self.pattern.at_or_after(now) + self.lead
    }

    /// Notes that a bearer has something to send.
    pub(crate) fn activate(&mut self, now: Instant, drb: u32) {
        self.begin_window(now, drb, Direction::Downlink);
        self.arm_discard(drb, Direction::Downlink);
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

    fn handle_timer(&mut self, now: Instant, index: u32, timer: Timer) {
        match timer {
            Timer::Rlc => self.handle_rlc_timer(now, index),
            Timer::UplinkRlc => self.handle_uplink_timer(now, index),
            Timer::Discard(direction) => self.handle_discard_timer(now, index, direction),
            Timer::Report => self.send_report(now, index),
            Timer::Window(direction) => self.end_window(now, index, direction),
            Timer::Query(direction) => self.send_query(now, index, direction),
            Timer::Recommendation(octets) => self.deliver_recommendation(now, index, octets),
        }
    }
}
