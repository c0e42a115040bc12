//! UEs of a DU, and the RLC queues of their bearers with timers, reports and counters.

use tidemark_core::{ConfigError, Duration, Inspect, Instant, Packet, Slab, Stream};
use tidemark_radio::channel::{Channel, ChannelConfig};
use tidemark_wire::mac::Direction;

use super::carrier::Carrier;
use super::reports::{self, Reports};
use super::timers::{Timer, Timers};
use super::uplink::UplinkConfig;
use super::{Drb, Port, Ue};
use crate::config::UeConfig;
use crate::event::Event;
use crate::index::{DrbIndex, UeDrbs};
use crate::output::{CellStats, DropReason, Output, UeId, UeStats};
use crate::qos::Qos;
use crate::rlc::{Released, Status};
use crate::ue_stack::{Prioritisation, UeStack};

/// Means of a deployed UE's fading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// Mean SINR in dB.
    pub sinr_db: f64,
    /// Mean SNR in dB at the gNB if the UE sends on the whole carrier. There is no uplink interference.
    pub uplink_db: f64,
    /// Power of the wave in line of sight over that of all others.
    pub rice_k: f64,
}

/// UEs of a DU with their bearers.
pub(crate) struct Queues<P> {
    seed: u64,
    pub(super) ues: Slab<UeId, Ue>,
    /// Bearers of all UEs, those of one UE side by side.
    pub(super) drbs: Slab<DrbIndex, Drb<P>>,
    /// True if a bearer has a guaranteed rate.
    pub(super) has_gbr: bool,
    pub(super) timers: Timers,
    reports: Reports,
    pub(super) stats: CellStats,
}

impl<P: Inspect> Queues<P> {
    /// Queues without UEs. Random numbers for later UEs follow from `seed`.
    pub(super) fn new(carrier: &Carrier, seed: u64) -> Self {
        Self {
            seed,
            ues: Slab::new(),
            drbs: Slab::new(),
            has_gbr: false,
            timers: Timers::new(),
            reports: Reports::new(carrier.config.f1u.report_period),
            stats: CellStats::default(),
        }
    }

    /// Indices of the next UE and of its first bearer.
    pub(super) fn next_indices(&self) -> (UeId, DrbIndex) {
        (self.ues.next(), self.drbs.next())
    }

    /// Admits a UE under an index that no other has, its bearers from `first` on.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub(super) fn add_ue(
        &mut self,
        (id, first): (UeId, DrbIndex),
        config: &UeConfig,
        carrier: &Carrier,
        port: &mut impl Port<P>,
    ) -> Result<(), ConfigError> {
        let drbs = UeDrbs::new(first, config.bearers().count());
        let UplinkConfig { bsr, prioritised_bit_rate: bit_rate, bucket_size_duration, .. } = carrier.config.uplink;
        let stack = UeStack::new(drbs, config, bsr, Prioritisation { bit_rate, bucket_size_duration });
        let mut ue = Ue::new(&carrier.config, config, id, drbs, self.seed)?;
        let has_headers = !ue.has_rate_channel();
        for ((position, index), bearer) in drbs.iter().enumerate().zip(config.bearers()) {
            let qos = Qos::of_bearer(config.five_qi, bearer.qos_flows);
            self.has_gbr |= qos.is_gbr();
            let mut drb = Drb::new((id, position), bearer, qos, config.anbr.as_ref(), has_headers);
            // A law that drops what leaves makes holes, for which the receiver must not wait for ever.
            if port.decides_at_dequeue(drb.id) {
                drb.bearer.expect_holes();
            }
            self.drbs.insert(index, Box::new(drb));
        }
        ue.groups = stack.groups().to_vec();
        self.ues.insert(id, Box::new(ue));
        port.surroundings().ues.insert(id, Box::new(stack));
        Ok(())
    }

    /// UE with this number, if the DU serves it.
    pub(crate) fn ue(&self, id: UeId) -> Option<&Ue> {
        self.ues.get(id)
    }
    /// Bearer with this index, which the DU serves.
    pub(crate) fn drb(&self, index: DrbIndex) -> &Drb<P> {
        &self.drbs[index]
    }
    /// Bearer with this index, to be changed.
    pub(crate) fn drb_mut(&mut self, index: DrbIndex) -> &mut Drb<P> {
        &mut self.drbs[index]
    }
    /// Bearers of a UE, the default one first; none if there is no such UE.
    pub(crate) fn drbs_of(&self, id: UeId) -> impl Iterator<Item = &Drb<P>> + '_ {
        let drbs = self.ue(id).into_iter().flat_map(|ue| ue.drbs().iter());
        drbs.map(|drb| self.drb(drb))
    }
    /// Counters of the cell.
    pub(crate) fn stats(&self) -> CellStats {
        self.stats
    }
    /// State and counters of a UE, but for marks; `None` if there is no such UE.
    pub(crate) fn ue_stats(&self, now: Instant, id: UeId) -> Option<UeStats> {
        let mut stats = self.ue(id)?.stats();
        for queue in self.drbs_of(id).map(|drb| drb.queue_state(now)) {
            stats.queue.backlog += queue.backlog;
            stats.queue.packets += queue.packets;
            stats.queue.head_of_line = stats.queue.head_of_line.max(queue.head_of_line);
        }
        Some(stats)
    }
    /// Packets in the bearers of the downlink.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.drbs.iter().flat_map(|drb| drb.bearer.packets())
    }
    /// Number of timers that are set to discard something.
    #[cfg(test)]
    pub(crate) fn discards(&self) -> usize {
        self.timers.discards()
    }

    /// Changes the channel of a UE from now on. A UE that does not exist is ignored.
    ///
    /// # Errors
    /// A field that cannot be used. A rate channel cannot become one with a radio quality, nor the reverse, because RLC
    /// headers count in only one of them.
    pub(super) fn set_channel(
        &mut self,
        id: UeId,
        config: &ChannelConfig,
        carrier: &Carrier,
    ) -> Result<(), ConfigError> {
        let stream = Stream::new(self.seed, id.0, "channel");
        // It may have gone to another cell meanwhile.
        let Some(ue) = self.ues.get_mut(id) else { return Ok(()) };
        ue.set_channel(Channel::new(config, carrier.config.band(), stream)?)
    }
    /// Changes the means of a deployed UE's fading.
    pub(crate) fn set_means(&mut self, id: UeId, means: Means) {
        if let Some(ue) = self.ues.get_mut(id) {
            ue.set_means(means.sinr_db, means.uplink_db, means.rice_k);
        }
    }
    /// Takes a UE out of coverage: nothing is sent to it or by it for `span`. Its packets wait.
    pub(crate) fn interrupt(&mut self, now: Instant, id: UeId, span: Duration) {
        if let Some(ue) = self.ues.get_mut(id) {
            ue.silence(now + span);
        }
    }
    /// Counts a downlink packet that the CU did not send on.
    pub(crate) fn count_dropped(&mut self, index: DrbIndex, reason: DropReason) {
        let drb = &mut self.drbs[index];
        drb.count_dropped();
        self.ues[drb.id.ue].count_dropped(reason);
    }

    /// Delivers the packets of a bearer that a UE has in order. Lost packets count as lost by the radio.
    pub(super) fn release(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        self.release_or_lose(now, index, DropReason::Radio, port);
    }
    /// Delivers the packets of a bearer that a UE has in order. Lost packets get this reason.
    pub(super) fn release_or_lose(
        &mut self,
        now: Instant,
        index: DrbIndex,
        reason: DropReason,
        port: &mut impl Port<P>,
    ) {
        let Drb { id, bearer, stats, qos, .. } = &mut self.drbs[index];
        let ue = id.ue;
        let (of_ue, of_cell) = (&mut self.ues[ue], &mut self.stats);
        bearer.release(now, |Released { packet, sn, delay }| match delay {
            Some(delay) => {
                port.events().emit(now, *id, || Event::Delivered { packet: &packet, sn, delay });
                of_ue.count_delivered(packet.size);
                of_cell.delivered += packet.size;
                stats.delivered(packet.size, delay.total() > qos.delay_budget);
                port.output(Output::Downlink { at: now, ue, drb: id.drb, packet, delay });
            }
            // PDCP waits for it no longer (t-Reordering, TS 38.323 5.2.2.2).
            None => {
                of_ue.count_dropped(reason);
                stats.dropped += 1;
                let direction = Direction::Downlink;
                port.events().emit(now, *id, || Event::Dropped { packet: &packet, direction, reason });
                port.output(Output::Dropped { at: now, ue, packet, reason });
            }
        });
        self.arm(now, index);
    }

    /// The discardTimer has ended of what waited first when it was set, which may have left.
    pub(super) fn handle_discard_timer(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        self.drbs[index].disarm_discard(Direction::Downlink);
        self.discard(now, index, port);
        // More SNs were discarded than the UE's window holds: it waits no longer for the first.
        if self.drbs[index].bearer.outruns_receiver() {
            self.release(now, index, port);
        }
        self.arm_discard(index);
    }
    /// Discards SDUs that waited for longer than PDCP's discardTimer.
    fn discard(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let Drb { id, bearer, stats, .. } = &mut self.drbs[index];
        let ue = id.ue;
        let of_ue = &mut self.ues[ue];
        bearer.discard(now, |sn, packet| {
            port.discard(now, *id, sn);
            let (direction, reason) = (Direction::Downlink, DropReason::Discarded);
            port.events().emit(now, *id, || Event::Discarded { sn });
            port.events().emit(now, *id, || Event::Dropped { packet: &packet, direction, reason });
            of_ue.count_dropped(reason);
            stats.dropped += 1;
            port.output(Output::Dropped { at: now, ue, packet, reason });
        });
    }
    /// A timer of RLC, or t-Reordering, may have ended; the status report that the UE owes the gNB.
    pub(super) fn handle_rlc_timer(&mut self, now: Instant, index: DrbIndex) -> Option<Status> {
        let drb = &mut self.drbs[index];
        drb.disarm(now, Direction::Downlink);
        drb.bearer.handle_timers(now)
    }

    /// Reports news of the bearer to the CU, at once or at the end of the reporting period.
    pub(super) fn report(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        self.reports.report(now, index, &mut self.drbs[index], &mut self.timers, port);
    }
    /// The reporting period has ended: reports what is news, since a poll may have reported it already.
    pub(super) fn end_period(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        if self.drbs[index].end_period() {
            self.send_report(now, index, port);
        }
    }
    /// Reports the bearer to the CU as it is now.
    pub(super) fn send_report(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        reports::send(now, index, &mut self.drbs[index], port);
    }

    /// Sets the timer for the bearer's next end of an RLC timer, unless an earlier one is set.
    pub(super) fn arm(&mut self, now: Instant, index: DrbIndex) {
        // A timer that is set is never taken out: one that ends too early finds nothing to do and sets the next.
        if let Some(at) = self.drbs[index].arm(now) {
            self.timers.set(at, index, Timer::Rlc);
        }
    }
    /// Sets the timer for the discardTimer of what waits. All SDUs of a bearer wait as long, so that one timer at a
    /// time is enough.
    pub(super) fn arm_discard(&mut self, index: DrbIndex) {
        let at = self.drbs[index].arm_discard(Direction::Downlink, |drb| drb.bearer.discards_at());
        if let Some(at) = at {
            self.timers.set(at, index, Timer::Discard(Direction::Downlink));
        }
    }
    /// Sets the timer for the pacer's next look, if something waits above PDCP.
    pub(super) fn arm_pacer(&mut self, now: Instant, index: DrbIndex) {
        if let Some(at) = self.drbs[index].arm_pacer(now) {
            self.timers.set(at, index, Timer::Pacer);
        }
    }
    /// Sets the timer for the next end of an RLC timer of what a bearer sends up, unless an earlier one is set.
    pub(super) fn arm_uplink(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        let Some(at) = port.ue(drb.id.ue).next_timer(now, index) else { return };
        // An earlier timer stands, which sets the next one.
        if let Some(at) = drb.arm_uplink(at) {
            self.timers.set(at, index, Timer::UplinkRlc);
        }
    }
    /// Sets the timer for the discardTimer of what waits at the UE, as in the downlink.
    pub(super) fn arm_uplink_discard(&mut self, index: DrbIndex, port: &mut impl Port<P>) {
        let ends = |drb: &Drb<P>| port.ue(drb.id.ue).discards_at(index);
        if let Some(at) = self.drbs[index].arm_discard(Direction::Uplink, ends) {
            self.timers.set(at, index, Timer::Discard(Direction::Uplink));
        }
    }
}
