//! Arrivals: handed on at the UE, reported to the gNB by RLC, and by the DU to the CU.

use tidemark_core::{Inspect, Instant};
use tidemark_wire::mac::Direction;

use super::timers::Timer;
use super::{Drb, Du, Port};
use crate::event::Event;
use crate::index::DrbIndex;
use crate::output::{DropReason, Output};
use crate::rlc::{Released, Status};
use crate::ue_stack::control::Control;

impl<P: Inspect> Du<P> {
    /// Hands on what a UE has in order of a bearer; what is lost, the radio lost.
    pub(super) fn release(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        self.release_or_lose(now, index, DropReason::Radio, port);
    }
    /// Hands on what a UE has in order of a bearer; what is lost has this reason.
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

    /// Sets the timer for the bearer's next end of an RLC timer, unless an earlier one is set.
    pub(super) fn arm(&mut self, now: Instant, index: DrbIndex) {
        // A timer that is set is never taken out: one that ends too early finds nothing to do and sets the next.
        if let Some(at) = self.drbs[index].arm(now) {
            self.set_timer(at, index, Timer::Rlc);
        }
    }

    /// Sets the timer for the discardTimer of what waits. All SDUs of a bearer wait as long, so that one timer at a
    /// time is enough.
    pub(super) fn arm_discard(&mut self, index: DrbIndex) {
        let at = self.drbs[index].arm_discard(Direction::Downlink, |drb| drb.bearer.discards_at());
        if let Some(at) = at {
            self.set_timer(at, index, Timer::Discard(Direction::Downlink));
        }
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

    /// PDCP lets go of what waited for longer than its discardTimer.
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

    /// A timer of RLC, or t-Reordering, may have ended.
    pub(super) fn handle_rlc_timer(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        drb.disarm(now, Direction::Downlink);
        let status = drb.bearer.handle_timers(now);
        let (ue, has_data) = (drb.id.ue, drb.bearer.has_data());
        if let Some(status) = status {
            self.send_control(now, ue, Control::Status { drb: index, status }, port);
        }
        if has_data {
            self.activate(now, index);
        }
        self.release(now, index, port);
    }

    /// A status report of the UE reaches the gNB.
    pub(super) fn status_arrives(&mut self, now: Instant, index: DrbIndex, status: &Status, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        drb.acknowledged(status.delivered);
        drb.bearer.handle_status(status);
        if drb.bearer.has_data() {
            self.activate(now, index);
        }
        self.release(now, index, port);
        self.report(now, index, port);
    }

    /// Reports news of the bearer to the CU, at once or at the end of the reporting period.
    pub(super) fn report(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        let period = self.config.f1u.report_period;
        // A report without news would only cost F1-U and the CU time.
        if !drb.has_news() {
            return;
        }
        // Periods are counted from zero, not from the event: reports of all bearers come at the same ticks, as a DU's timer gives them.
        if period.is_zero() {
            self.send_report(now, index, port);
        } else if drb.schedule_report() {
            let at = Instant::ZERO + period * (now.as_nanos() / period.as_nanos() + 1);
            self.set_timer(at, index, Timer::Report);
        }
    }

    pub(super) fn send_report(&mut self, now: Instant, index: DrbIndex, port: &mut impl Port<P>) {
        let drb = &mut self.drbs[index];
        let status = drb.make_report();
        port.report(now, (index, drb.id), status);
    }
}
