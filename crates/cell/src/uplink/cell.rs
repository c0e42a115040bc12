//! The uplink slots of a cell.

use tidemark_core::{Bytes, Duration, FlowId, Inspect, Instant, Packet};
use tidemark_marker::Verdict;

use super::{Arrived, Control, earlier};
use crate::cell::Cell;
use crate::config::RlcMode;
use crate::output::{DelaySplit, DropReason, Output, UeId};
use crate::qos::Mapped;
use crate::radio::slots::SYMBOLS_PER_SLOT;

/// RLC sends a block again so often at most before it gives its bearer up.
const MOST_ROUNDS: u32 = 32;

/// A UE that has something to send or to be granted, and the first slot in which it can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    pub(crate) ue: u32,
    pub(crate) slot: Option<u64>,
}

impl Turn {
    fn has_come(self, slot: u64) -> bool {
        self.slot.is_some_and(|turn| turn <= slot)
    }
}

impl<P: Inspect> Cell<P> {
    /// The IP stack of a UE hands over a packet.
    pub fn handle_uplink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(ue) = self.ues.get_mut(id.0 as usize) else { return };
        let default = &self.drbs[ue.drbs.start as usize].bearer;
        if default.exceeds(ue.uplink.packets(), ue.uplink.packet_bytes() + packet.size) {
            self.outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason: DropReason::QueueFull });
            return;
        }
        ue.uplink.push(now, packet);
        self.wake_uplink(now, id.0);
    }

    /// RLC or MAC of a UE has something to say.
    pub(crate) fn send_control(&mut self, now: Instant, id: u32, control: Control) {
        self.ues[id as usize].uplink.push_control(now, control);
        self.wake_uplink(now, id);
    }

    pub(crate) fn wake_uplink(&mut self, now: Instant, id: u32) {
        let slot = self.next_turn(id, self.pattern.at_or_after(now).max(self.open_uplink));
        let turn = Turn { ue: id, slot };
        match self.turns.binary_search_by_key(&id, |turn| turn.ue) {
            Ok(place) => self.turns[place] = turn,
            Err(place) => self.turns.insert(place, turn),
        }
        self.next_uplink = earlier(self.next_uplink, slot);
        if let Some(slot) = slot {
            self.wake(self.pattern.start(slot));
        }
    }

    /// The first uplink slot from `earliest` on in which a UE requests, uses a configured grant or can be granted something.
    fn next_turn(&mut self, id: u32, earliest: u64) -> Option<u64> {
        let (config, pattern) = (&self.config.uplink, &self.pattern);
        let ue = &mut self.ues[id as usize];
        let is_silent = ue.silent_until > pattern.start(earliest);
        let earliest = if is_silent { pattern.at_or_after(ue.silent_until) } else { earliest };
        // UEs have their occasions by turns, in uplink slots.
        let occasion = |period: Duration| {
            let slots = (period.as_nanos() / pattern.slot().as_nanos()).max(1);
            let phase = pattern.start(pattern.next_uplink(u64::from(id) % slots)).since(Instant::ZERO);
            let since = pattern.start(earliest).since(Instant::ZERO + phase);
            let at = Instant::ZERO + phase + period * since.as_nanos().div_ceil(period.as_nanos());
            pattern.next_uplink(pattern.at_or_after(at))
        };
        let planned =
            |plan: Option<u64>, period| plan.filter(|slot| *slot >= earliest).unwrap_or_else(|| occasion(period));
        ue.request_in = ue.uplink.must_request().then(|| planned(ue.request_in, config.sr_period));
        let configured = config.configured_grant.as_ref().filter(|_| !ue.uplink.is_empty());
        ue.configured_in = configured.map(|grant| planned(ue.configured_in, grant.period));
        let granted = ue.uplink.next_grant(earliest).map(|slot| pattern.next_uplink(slot));
        earlier(earlier(ue.request_in, ue.configured_in), granted)
    }

    /// One uplink slot: configured grants, then what reports and requests ask for, by turns.
    pub(crate) fn run_uplink_slot(&mut self, slot: u64) {
        let mut free = self.config.prbs;
        let grant_delay = self.config.uplink.grant_delay;
        let (first, count) = (self.turns.partition_point(|turn| turn.ue < self.uplink_turn), self.turns.len());
        let configured = self.config.uplink.configured_grant.as_ref().map(|grant| grant.size.0);
        for by_configuration in [true, false].into_iter().skip(usize::from(configured.is_none())) {
            for place in (first..count).chain(0..first) {
                let turn = self.turns[place];
                if !turn.has_come(slot) {
                    continue;
                }
                let id = turn.ue;
                let ue = &mut self.ues[id as usize];
                if ue.silent_until > self.pattern.start(slot) {
                    continue;
                }
                let wanted = if by_configuration {
                    configured.filter(|_| ue.configured_in == Some(slot)).unwrap_or(0)
                } else {
                    if ue.request_in == Some(slot) && ue.uplink.must_request() {
                        ue.uplink.request(slot + 1 + grant_delay);
                    }
                    ue.uplink.wanted(slot, self.config.uplink.first_grant.0)
                };
                if wanted > 0 && free > 0 {
                    free -= self.send_up(slot, id, wanted, free);
                    self.uplink_turn = id + 1;
                }
            }
        }
        self.open_uplink = slot + 1;
        let mut turns = std::mem::take(&mut self.turns);
        turns.retain_mut(|turn| {
            if !turn.has_come(slot) {
                return true;
            }
            let uplink = &self.ues[turn.ue as usize].uplink;
            let stays = !uplink.is_empty() || uplink.next_grant(slot).is_some();
            if stays {
                turn.slot = self.next_turn(turn.ue, slot + 1);
            }
            stays
        });
        self.next_uplink = turns.iter().filter_map(|turn| turn.slot).min();
        self.turns = turns;
    }

    /// A block of a UE, of `wanted` bytes or what `free` resource blocks carry; returns the resource blocks.
    fn send_up(&mut self, slot: u64, id: u32, wanted: u64, free: u32) -> u32 {
        let now = self.pattern.start(slot);
        let ue = &mut self.ues[id as usize];
        let (mcs, snr_db) = ue.uplink_quality(now, &self.table, self.config.uplink.snr_loss_db);
        let sizes = &self.sizes.of(SYMBOLS_PER_SLOT, mcs)[..=free as usize];
        let prbs = sizes.partition_point(|bytes| u64::from(*bytes) < wanted).min(free as usize);
        let due = self.pattern.start(slot + 1);
        let heard = slot + 1 + self.config.uplink.grant_delay;
        // Its transmissions are drawn at once: nothing that happens meanwhile changes them.
        let bearer = &self.drbs[ue.drbs.start as usize].bearer;
        let (mode, t_reassembly) = (bearer.mode(), bearer.t_reassembly());
        let (mut sent_in, mut at, mut arrived, mut round, mut given_up) = (slot, due, false, 0, None);
        while !arrived && (round == 0 || mode == RlcMode::Am && round < MOST_ROUNDS) {
            let mut energy = 0.0;
            for transmission in 0..self.config.harq_transmissions {
                if round + transmission > 0 {
                    sent_in = self.pattern.next_uplink(sent_in + 1 + self.config.uplink.grant_delay);
                    at = at.max(self.pattern.start(sent_in + 1));
                }
                arrived =
                    ue.uplink_decoded(&self.table, (mcs, sizes[prbs]), snr_db, &mut energy, round + transmission == 0);
                if arrived {
                    break;
                }
            }
            if !arrived {
                given_up.get_or_insert(at);
                // The gNB's RLC waits for the gap to close, then asks.
                at += t_reassembly;
                sent_in = self.pattern.at_or_after(at);
                round += 1;
            }
        }
        let received = at;
        let first_round = given_up.unwrap_or(received);
        let at = ue.uplink.in_order(at);
        let format = self.config.uplink.bsr;
        let place = self.uplink.partition_point(|(other, ..)| *other <= at);
        let (uplink, outputs) = (&mut self.uplink, &mut self.outputs);
        let mut count = 0;
        let report = (format.octets(), |waiting| format.reported(waiting));
        let carried = ue.uplink.fill(now, sizes[prbs], heard, report, |mut item| {
            if let Arrived::Packet(_, delay) = &mut item {
                delay.scheduling += due.since(now);
                delay.harq = first_round.min(at).since(due);
                delay.rlc = received.since(first_round.max(due));
                delay.reordering = at.since(received);
            }
            match item {
                Arrived::Packet(packet, _) if !arrived => {
                    outputs.push_back(Output::Dropped { at, ue: UeId(id), packet, reason: DropReason::Radio });
                }
                item => {
                    uplink.insert(place + count, (at, id, item));
                    count += 1;
                }
            }
        });
        if ue.reported.is_some() {
            let waiting = ue.uplink.believed();
            self.uplink.insert(place + count, (at, id, Arrived::Report { carried, waiting }));
        }
        let taken = (prbs as u64) * u64::from(SYMBOLS_PER_SLOT);
        ue.uplink_resources += taken;
        ue.uplink_last = now;
        self.uplink_resources += taken;
        prbs as u32
    }

    /// Something arrives at the gNB.
    pub(crate) fn handle_uplink_arrival(&mut self, now: Instant, id: u32, arrived: Arrived<P>) {
        let ue = &mut self.ues[id as usize];
        match arrived {
            Arrived::Report { carried, waiting } => {
                if let Some(queue) = &mut ue.reported {
                    queue.heard(now, carried, waiting);
                }
            }
            Arrived::Control(Control::Query { drb, direction }) => self.recommend(now, drb, direction),
            Arrived::Control(Control::Status { drb, status }) => self.status_arrives(now, drb, &status),
            Arrived::Packet(packet, delay) => self.pass_up(now, id, packet, delay),
        }
    }

    /// A packet leaves the gNB towards the core, unless the law takes it.
    fn pass_up(&mut self, now: Instant, id: u32, mut packet: Packet<P>, delay: DelaySplit) {
        let ue = &mut self.ues[id as usize];
        // The UE classified it before the law looked at it.
        let Mapped { qfi, drb } = ue.sdap.uplink(&packet);
        self.count_uplink(now, drb, packet.size);
        let ue = &mut self.ues[id as usize];
        match ue.reported.as_mut().map(|queue| queue.verdict(now, &packet)) {
            None | Some(Verdict::Pass) => {}
            Some(Verdict::Mark) => packet.ecn = packet.ecn.marked(),
            Some(Verdict::Drop) => {
                let reason = DropReason::Law;
                self.outputs.push_back(Output::Dropped { at: now, ue: UeId(id), packet, reason });
                return;
            }
        }
        self.handle_from_ue(now, id, drb, &mut packet);
        self.outputs.push_back(Output::Uplink { at: now, ue: UeId(id), qfi, packet, delay });
    }

    /// IP bytes of a flow on their way up.
    pub(crate) fn held_up(&self, flow: FlowId) -> Bytes {
        let arriving = self.uplink.iter().map(|(.., item)| match item {
            Arrived::Packet(packet, _) if packet.flow == flow => packet.size,
            _ => Bytes(0),
        });
        self.ues.iter().map(|ue| ue.uplink.held(flow)).chain(arriving).sum()
    }
}
