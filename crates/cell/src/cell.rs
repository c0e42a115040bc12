//! The cell as one state machine.

use std::collections::VecDeque;

use tidemark_core::{Bytes, FlowId, Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, Estimate, Verdict};

use crate::config::{CellConfig, ConfigError, UeConfig};
use crate::drb::{Drb, UPLINK_MARKER, new_marker};
use crate::harq::{Again, Block, Feedback, Pool};
use crate::observe::{Observer, Passage, Sdu};
use crate::output::{CellStats, DropReason, Output, UeId, UeStats};
use crate::places::Places;
use crate::qos::Qos;
use crate::radio::blocks::BlockSizes;
use crate::radio::link::LinkTable;
use crate::radio::slots::{SYMBOLS_PER_SLOT, SlotPattern};
use crate::rlc::{Released, Segment, Status};
use crate::scheduler::{Candidate, Scheduler};
use crate::timers::{Timer, Timers};
use crate::ue::{Offer, Ue};
use crate::uplink::{Arrived, Control, ReportedQueue};

/// Slots from the start of a transport block until the UE has decoded it: its own and one of processing
/// (N1 of TS 38.214 5.3).
pub(crate) const DECODED_AFTER: u64 = 2;

/// One NR cell: CU and DU of its gNB, and the radio side of its UEs.
///
/// Packets and the passing of time go in; [`poll_output`](Self::poll_output) says what came of it. With nothing to send it
/// has no deadline and costs nothing.
pub struct Cell<P> {
    pub(crate) config: CellConfig,
    pub(crate) seed: u64,
    pub(crate) pattern: SlotPattern,
    pub(crate) table: LinkTable,
    pub(crate) sizes: BlockSizes,
    scheduler: Scheduler,
    pub(crate) ues: Places<Ue<P>>,
    /// Bearers of all UEs, those of one UE side by side.
    pub(crate) drbs: Places<Drb<P>>,
    /// True if a bearer has a guaranteed rate.
    pub(crate) has_gbr: bool,
    /// Bearers for which a slot has something to do, in order.
    pub(crate) active: Vec<u32>,
    /// The next slot to be run.
    next_slot: Option<u64>,
    /// The first slot that has not been run.
    open_slot: u64,
    /// On the way from CU to DU, by bearer.
    pub(crate) f1_down: VecDeque<(Instant, u32, u32, Packet<P>)>,
    /// On the way from DU to CU.
    pub(crate) f1_up: VecDeque<(Instant, u32, DeliveryStatus)>,
    /// Blocks that the UE will have decoded.
    pub(crate) decoded: VecDeque<(Instant, u32, Vec<Segment>)>,
    pub(crate) feedback: VecDeque<Feedback>,
    /// On the way to the gNB, by UE.
    pub(crate) uplink: VecDeque<(Instant, u32, Arrived<P>)>,
    /// UEs for which an uplink slot has something to do, in order.
    pub(crate) active_uplink: Vec<u32>,
    /// The next uplink slot to be run, and the first that has not been run.
    pub(crate) next_uplink: Option<u64>,
    pub(crate) open_uplink: u64,
    /// The first UE to be granted something.
    pub(crate) uplink_turn: u32,
    pub(crate) timers: Timers,
    pool: Pool,
    pub(crate) outputs: VecDeque<Output<P>>,
    pub(crate) stats: CellStats,
    pub(crate) observer: Option<Observer<P>>,
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
            table: LinkTable::new(config.mcs_table),
            sizes: BlockSizes::new(config, &pattern),
            scheduler: Scheduler::new(&config.scheduler, config.slot()),
            pattern,
            ues: Places::new(),
            drbs: Places::new(),
            has_gbr: false,
            active: Vec::new(),
            next_slot: None,
            open_slot: 0,
            f1_down: VecDeque::new(),
            f1_up: VecDeque::new(),
            decoded: VecDeque::new(),
            feedback: VecDeque::new(),
            uplink: VecDeque::new(),
            active_uplink: Vec::new(),
            next_uplink: None,
            open_uplink: 0,
            uplink_turn: 0,
            timers: Timers::default(),
            pool: Pool::default(),
            outputs: VecDeque::new(),
            stats: CellStats::default(),
            observer: None,
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
        if let Some(marker) = &config.uplink_marker {
            let marker = new_marker(marker, config.rlc.pdcp_sn, (id.0, UPLINK_MARKER), self.seed)?;
            ue.reported = Some(ReportedQueue::new(marker));
        }
        let has_headers = !ue.channel.is_rate();
        let default = (&config.rlc, &config.marker, Qos::of_default_flow(config.five_qi));
        let dedicated = config.drb.iter().map(|drb| {
            let (rlc, marker) = (drb.rlc.as_ref(), drb.marker.as_ref());
            (rlc.unwrap_or(&config.rlc), marker.unwrap_or(&config.marker), Qos::of_flows(&drb.qos_flow))
        });
        let drbs = std::iter::once(default).chain(dedicated).enumerate();
        let drbs = drbs.map(|(index, drb)| Drb::new((id.0, index), drb, config.anbr.as_ref(), has_headers, self.seed));
        let drbs = drbs.collect::<Result<Vec<_>, _>>()?;
        self.has_gbr |= drbs.iter().any(|drb| drb.qos.is_gbr());
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
        let Some(ue) = self.ues.get_mut(id.0 as usize) else { return Ok(()) };
        let known = ue.sdap.name(flow, qfi);
        known.then_some(()).ok_or_else(|| ConfigError::new("qfi", "must be that of a QoS flow of the UE"))
    }

    /// `observer` hears from now on of everything that passes the CU.
    pub fn observe(&mut self, observer: Observer<P>) {
        self.observer = Some(observer);
    }

    /// A downlink packet reaches the CU: SDAP finds its bearer, the law decides, PDCP numbers it, F1-U carries it to the RLC
    /// queue.
    pub fn handle_downlink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(ue) = self.ues.get_mut(id.0 as usize) else { return };
        let index = ue.sdap.downlink(&packet);
        self.admit(now, id, index, packet);
    }

    /// The same for a packet whose QoS flow the UPF has named (N3's PDU session container). A QoS flow that no bearer was set up
    /// for goes to the default one.
    pub fn handle_qos_flow(&mut self, now: Instant, id: UeId, qfi: u8, packet: Packet<P>) {
        let Some(ue) = self.ues.get(id.0 as usize) else { return };
        let index = ue.sdap.carrier(qfi);
        self.admit(now, id, index, packet);
    }

    fn admit(&mut self, now: Instant, id: UeId, index: u32, mut packet: Packet<P>) {
        let Some(ue) = self.ues.get_mut(id.0 as usize) else { return };
        let drb = &mut self.drbs[index as usize];
        let f1u = &self.config.f1u;
        let queue = f1u.rlc_in_sight.then(|| drb.bearer.queue_state(now));
        let came = packet.ecn;
        let estimate = if self.observer.is_some() { drb.marker.estimate(now) } else { Estimate::default() };
        let verdict = drb.marker.handle_downlink(now, &packet, queue);
        if verdict == Verdict::Mark {
            packet.ecn = packet.ecn.marked();
        }
        let dropped = match verdict {
            Verdict::Drop => Some(DropReason::Law),
            // The CU knows the DU's limit and does not number what would not fit.
            _ => drb.bearer.is_full(packet.size).then_some(DropReason::QueueFull),
        };
        let sdu = dropped.is_none().then(|| {
            let sn = drb.number(now, &packet);
            // Where each slot reports, asking for a report would tell nothing new.
            let poll = !f1u.report_period.is_zero() && drb.marker.wants_report(now) && drb.schedule_report();
            Sdu { sn, poll }
        });
        if let Some(observer) = &mut self.observer {
            observer(now, drb.id, Passage::Downlink { packet: &packet, came, estimate, verdict, sdu });
        }
        let Some(Sdu { sn, poll }) = sdu else {
            let reason = dropped.unwrap_or(DropReason::Law);
            match reason {
                DropReason::Law => ue.stats.dropped_by_law += 1,
                _ => ue.stats.dropped_by_queue += 1,
            }
            self.outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason });
            return;
        };
        if poll {
            self.timers.set(now + f1u.delay, index, Timer::Report);
        }
        if f1u.delay.is_zero() {
            drb.bearer.push(now, now, sn, packet);
            self.activate(now, index);
        } else {
            self.f1_down.push_back((now + f1u.delay, index, sn, packet));
        }
    }

    /// When something happens next, if nothing comes in.
    pub fn next_deadline(&self) -> Option<Instant> {
        let mut first = self.next_slot.map_or(Instant::FAR, |slot| self.pattern.start(slot));
        let mut consider = |at: Option<Instant>| first = first.min(at.unwrap_or(Instant::FAR));
        consider(self.decoded.front().map(|(at, ..)| *at));
        consider(self.feedback.front().map(|feedback| feedback.at));
        consider(self.uplink.front().map(|(at, ..)| *at));
        consider(self.next_uplink_slot());
        consider(self.f1_down.front().map(|(at, ..)| *at));
        consider(self.f1_up.front().map(|(at, ..)| *at));
        consider(self.timers.next());
        (first != Instant::FAR).then_some(first)
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
            let Some((at, ue, arrived)) = self.uplink.pop_front() else { break };
            self.handle_uplink_arrival(at, ue, arrived);
        }
        while let Some(slot) = self.next_uplink.filter(|slot| self.pattern.start(*slot) <= now) {
            self.run_uplink_slot(slot);
        }
        while let Some(slot) = self.next_slot.filter(|slot| self.pattern.start(*slot) <= now) {
            self.run_slot(slot);
        }
    }

    /// The next thing that left the cell.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.outputs.pop_front()
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// What the DU would report of a UE's default bearer now; `None` if there is no such UE. For a CU that is somewhere else: SNs are
    /// those of this cell, which numbers what it accepts.
    pub fn delivery_status(&self, ue: UeId) -> Option<DeliveryStatus> {
        let drb = self.ues.get(ue.0 as usize)?.drbs.start;
        Some(self.drbs[drb as usize].current_status())
    }

    /// State and counters of a UE; `None` if there is no such UE.
    pub fn ue(&self, now: Instant, ue: UeId) -> Option<UeStats> {
        let ue = self.ues.get(ue.0 as usize)?;
        let mut stats = ue.stats();
        for drb in ue.drbs.clone().filter_map(|drb| self.drbs.get(drb as usize)) {
            let queue = drb.bearer.queue_state(now);
            stats.queue.backlog += queue.backlog;
            stats.queue.packets += queue.packets;
            stats.queue.head_of_line = stats.queue.head_of_line.max(queue.head_of_line);
            stats.marked += drb.marked();
        }
        stats.uplink_marked = ue.reported.as_ref().map_or(0, ReportedQueue::marked);
        Some(stats)
    }

    /// Counters of the cell as a whole.
    pub fn stats(&self) -> CellStats {
        self.stats
    }

    /// Resource blocks x symbols that the downlink slots between two instants have.
    pub fn resources_between(&self, from: Instant, to: Instant) -> u64 {
        let (first, end) = (self.pattern.at_or_after(from), self.pattern.at_or_after(to));
        let symbols: u64 = (first..end).map(|slot| u64::from(self.pattern.downlink_symbols(slot))).sum();
        symbols * u64::from(self.config.prbs)
    }

    /// IP bytes of a flow inside the cell, counted packet by packet.
    pub fn held(&self, flow: FlowId) -> Bytes {
        let size = |packet: &Packet<P>| if packet.flow == flow { packet.size } else { Bytes(0) };
        self.drbs.iter().map(|drb| drb.bearer.held(flow)).sum::<Bytes>()
            + self.f1_down.iter().map(|(.., packet)| size(packet)).sum()
            + self.held_up(flow)
            + self
                .outputs
                .iter()
                .map(|output| match output {
                    Output::Recommendation { .. } => Bytes(0),
                    Output::Downlink { packet, .. }
                    | Output::Uplink { packet, .. }
                    | Output::Dropped { packet, .. } => size(packet),
                })
                .sum()
    }

    /// Notes that a bearer has something to send.
    pub(crate) fn activate(&mut self, now: Instant, drb: u32) {
        self.begin_window(now, drb);
        if let Err(position) = self.active.binary_search(&drb) {
            self.active.insert(position, drb);
        }
        let earliest = self.pattern.at_or_after(now).max(self.open_slot);
        let slot = self.pattern.next_downlink(earliest);
        self.next_slot = Some(self.next_slot.map_or(slot, |next| next.min(slot)));
    }

    /// Hands on what a UE has in order of a bearer.
    fn release(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let (id, stats) = (UeId(drb.ue), &mut self.ues[drb.ue as usize].stats);
        while let Some(released) = drb.bearer.release(now) {
            self.outputs.push_back(match released {
                Released::Delivered(packet, sn, delay) => {
                    if let Some(observer) = &mut self.observer {
                        observer(now, drb.id, Passage::Delivered { sn, delay });
                    }
                    stats.delivered += packet.size;
                    self.stats.delivered += packet.size;
                    Output::Downlink { at: now, ue: id, packet, delay }
                }
                Released::Lost(packet) => {
                    stats.dropped_by_radio += 1;
                    Output::Dropped { at: now, ue: id, packet, reason: DropReason::Radio }
                }
            });
        }
        self.arm(now, index);
    }

    /// Sees to it that the bearer's next timer is heard of.
    fn arm(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let Some(at) = drb.bearer.next_timer(now) else { return };
        if drb.armed.is_none_or(|armed| at < armed) {
            drb.armed = Some(at);
            self.timers.set(at, index, Timer::Rlc);
        }
    }

    /// A timer of RLC or PDCP may have ended.
    fn handle_rlc_timer(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        drb.armed = drb.armed.filter(|armed| *armed > now);
        let status = drb.bearer.handle_timers(now);
        let (ue, has_data) = (drb.ue, drb.bearer.has_data());
        if let Some(status) = status {
            self.send_control(now, ue, Control::Status { drb: index, status });
        }
        if has_data {
            self.activate(now, index);
        }
        self.release(now, index);
    }

    fn handle_feedback(&mut self, now: Instant, feedback: Feedback) {
        let ue = &mut self.ues[feedback.ue as usize];
        if feedback.first {
            ue.learn(&self.table, feedback.failed.is_none());
        }
        let Some(block) = feedback.failed else { return };
        if block.transmissions < self.config.harq_transmissions {
            let slot = self.pattern.next_downlink(feedback.slot + self.config.harq_processing);
            let drb = block.drb;
            ue.again.push_back(Again { slot, block });
            self.activate(self.pattern.start(slot), drb);
        } else {
            ue.stats.lost_blocks += 1;
            let drb = block.drb;
            self.drbs[drb as usize].bearer.lost(now, &block.segments);
            self.pool.give_back(block.segments);
            self.release(now, drb);
        }
    }

    fn handle_timer(&mut self, now: Instant, index: u32, timer: Timer) {
        match timer {
            Timer::Rlc => self.handle_rlc_timer(now, index),
            Timer::Report => self.send_report(now, index),
            Timer::Window => self.end_window(now, index),
            Timer::Recommendation(octets) => self.deliver_recommendation(now, index, octets),
        }
    }

    /// A status report of the UE reaches the gNB.
    pub(crate) fn status_arrives(&mut self, now: Instant, index: u32, status: &Status) {
        let drb = &mut self.drbs[index as usize];
        drb.acknowledged(status.delivered);
        drb.bearer.handle_status(status);
        if drb.bearer.has_data() {
            self.activate(now, index);
        }
        self.release(now, index);
        self.report(now, index);
    }

    /// The DU has news for the CU: it tells them now or at the end of its reporting period.
    fn report(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let period = self.config.f1u.report_period;
        if !drb.has_news() {
            return;
        }
        if period.is_zero() {
            self.send_report(now, index);
        } else if drb.schedule_report() {
            let at = Instant::ZERO + period * (now.as_nanos() / period.as_nanos() + 1);
            self.timers.set(at, index, Timer::Report);
        }
    }
    fn send_report(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let status = drb.make_report();
        if self.config.f1u.delay.is_zero() {
            self.receive_report(now, index, &status);
        } else {
            self.f1_up.push_back((now + self.config.f1u.delay, index, status));
        }
    }

    /// A report reaches the CU.
    fn receive_report(&mut self, now: Instant, index: u32, status: &DeliveryStatus) {
        let drb = &mut self.drbs[index as usize];
        drb.marker.handle_report(now, status);
        if let Some(observer) = &mut self.observer {
            observer(now, drb.id, Passage::Report(*status));
        }
    }

    /// One downlink slot: retransmissions first, then whom the scheduler chooses.
    fn run_slot(&mut self, slot: u64) {
        let now = self.pattern.start(slot);
        let symbols = self.pattern.downlink_symbols(slot);
        let mut free = self.config.prbs;
        for index in 0..self.active.len() {
            let ue = self.drbs[self.active[index] as usize].ue;
            free -= self.send_again(slot, ue, symbols, free);
        }
        let before = self.pattern.start(self.pattern.previous_downlink(slot));
        let mut only_owed = self.has_gbr;
        while free > 0 {
            let (ues, drbs, table, sizes, all) =
                (&mut self.ues, &mut self.drbs, &self.table, &self.sizes, self.config.prbs as usize);
            let candidate = |index: u32| {
                let drb = &mut drbs[index as usize];
                let ue = &mut ues[drb.ue as usize];
                if drb.tried_in == Some(slot) || !drb.bearer.has_data() || ue.silent_until > now {
                    return None;
                }
                if only_owed && !drb.qos.is_owed(now) || !drb.qos.may_send(now) {
                    return None;
                }
                let offer = ue.offer(table, before, now);
                let capacity = match offer {
                    Offer::Mcs(mcs) => f64::from(sizes.of(symbols, mcs)[all]),
                    Offer::Bytes(bytes) => bytes,
                };
                let head_of_line = drb.bearer.head_of_line(now);
                let (priority, five_qi) = (drb.qos.priority, drb.qos.five_qi);
                Some(Candidate { drb: index, capacity, head_of_line, priority, five_qi, offer })
            };
            let whole_slot = symbols == SYMBOLS_PER_SLOT;
            let Some(chosen) = self.scheduler.choose(&self.active, whole_slot, candidate) else {
                if std::mem::take(&mut only_owed) {
                    continue;
                }
                break;
            };
            let (prbs, bytes) = self.send_new(slot, &chosen, symbols, free);
            free -= prbs;
            self.scheduler.served(chosen.drb, bytes);
            self.drbs[chosen.drb as usize].qos.sent(bytes);
            self.report(now, chosen.drb);
            self.arm(now, chosen.drb);
        }
        self.scheduler.end_slot();
        self.open_slot = slot + 1;
        self.plan_next(slot + 1);
    }

    /// Forgets bearers that have nothing to do, and finds the slot in which others have.
    fn plan_next(&mut self, earliest: u64) {
        let (ues, drbs, pattern) = (&self.ues, &self.drbs, &self.pattern);
        let again = |drb: &Drb<P>| ues[drb.ue as usize].again.front().map(|again| again.slot);
        let is_active = |index: &u32| {
            let drb = &drbs[*index as usize];
            drb.bearer.has_data() || again(drb).is_some()
        };
        if !self.active.iter().all(is_active) {
            self.active.retain(is_active);
        }
        let mut active = self.active.iter().map(|index| &drbs[*index as usize]);
        self.next_slot = if active.clone().any(|drb| drb.bearer.has_data()) {
            Some(pattern.next_downlink(earliest))
        } else {
            let waiting = active.by_ref().filter_map(again).min();
            waiting.map(|slot| pattern.next_downlink(slot.max(earliest)))
        };
    }

    /// Retransmissions of a UE that are due and fit; returns the resource blocks they took.
    fn send_again(&mut self, slot: u64, id: u32, symbols: u32, free: u32) -> u32 {
        let mut taken = 0;
        if self.ues[id as usize].silent_until > self.pattern.start(slot) {
            return taken;
        }
        loop {
            let waiting = &mut self.ues[id as usize].again;
            let fits = waiting.front().is_some_and(|again| {
                again.slot <= slot && again.block.symbols <= symbols && again.block.prbs <= free - taken
            });
            let Some(again) = fits.then(|| waiting.pop_front()).flatten() else { return taken };
            taken += again.block.prbs;
            self.transmit(slot, again.block);
        }
    }

    /// A new transport block for a bearer; returns its resource blocks and bytes.
    fn send_new(&mut self, slot: u64, chosen: &Candidate, symbols: u32, free: u32) -> (u32, u32) {
        let now = self.pattern.start(slot);
        let due = self.pattern.start(slot + DECODED_AFTER);
        let drb = &mut self.drbs[chosen.drb as usize];
        let ue = &mut self.ues[drb.ue as usize];
        drb.tried_in = Some(slot);
        let backlog = drb.bearer.backlog();
        let (prbs, room, mcs) = match chosen.offer {
            Offer::Mcs(mcs) => {
                let sizes = &self.sizes.of(symbols, mcs)[..=free as usize];
                let prbs = sizes.partition_point(|bytes| *bytes < backlog).min(free as usize);
                (prbs as u32, f64::from(sizes[prbs]), Some(mcs))
            }
            Offer::Bytes(bytes) => match ue.share_of(backlog, bytes, free, self.config.prbs) {
                Some((prbs, room)) => (prbs, room, None),
                None => return (0, 0),
            },
        };
        let mut segments = self.pool.take();
        let (outputs, id) = (&mut self.outputs, UeId(drb.ue));
        drb.bearer.discard(now, &mut drb.marker, |packet| {
            ue.stats.dropped_by_timer += 1;
            outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason: DropReason::Discarded });
        });
        let mut dropped = 0;
        let carried = drb.bearer.fill(now, due, room as u32, &mut drb.marker, &mut segments, |packet| {
            dropped += 1;
            outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason: DropReason::Law });
        });
        ue.stats.dropped_by_law += dropped;
        if mcs.is_none() {
            ue.keep(drb.bearer.has_data(), room, carried);
        }
        if segments.is_empty() {
            self.pool.give_back(segments);
            return (0, 0);
        }
        let (ue, drb) = (drb.ue, chosen.drb);
        self.transmit(slot, Block { ue, drb, mcs, prbs, symbols, energy: 0.0, transmissions: 0, segments });
        (prbs, carried)
    }

    fn transmit(&mut self, slot: u64, mut block: Block) {
        let id = block.ue;
        let ue = &mut self.ues[id as usize];
        let decoded = ue.transmit(self.pattern.start(slot), &self.table, &mut block);
        let taken = u64::from(block.prbs * block.symbols);
        self.stats.resources += taken;
        let drb = &mut self.drbs[block.drb as usize];
        drb.resources += taken;
        drb.last_sent = self.pattern.start(slot);
        let acknowledged = self.pattern.next_uplink(slot + self.config.harq_k1);
        let (first, radio) = (block.transmissions == 1, block.mcs.is_some());
        let failed = if decoded {
            self.decoded.push_back((self.pattern.start(slot + DECODED_AFTER), block.drb, block.segments));
            None
        } else {
            Some(block)
        };
        if radio {
            let at = self.pattern.start(acknowledged + 1);
            self.feedback.push_back(Feedback { at, slot: acknowledged, ue: id, first, failed });
        }
    }
}
