//! What has arrived: handed on at the UE, told to the gNB by RLC's status reports, and by the DU to the CU.

use tidemark_core::{Inspect, Instant};

use crate::cell::Cell;
use crate::drb::Drb;
use crate::observe::Passage;
use crate::output::{DropReason, Output, UeId};
use crate::rlc::{Released, Status};
use crate::timers::Timer;
use crate::uplink::Control;

impl<P: Inspect> Cell<P> {
    /// Hands on what a UE has in order of a bearer; what is lost, the radio lost.
    pub(crate) fn release(&mut self, now: Instant, index: u32) {
        self.release_or_lose(now, index, DropReason::Radio);
    }
    /// The same where what is lost has this reason.
    pub(crate) fn release_or_lose(&mut self, now: Instant, index: u32, reason: DropReason) {
        let Drb { ue, id, bearer, stats, qos, .. } = &mut self.drbs[index as usize];
        let of_ue = &mut self.ues[*ue as usize].stats;
        let (ue, outputs, observer, of_cell) = (UeId(*ue), &mut self.outputs, &mut self.observer, &mut self.stats);
        bearer.release(now, |Released { packet, sn, delay }| match delay {
            Some(delay) => {
                if let Some(observer) = observer {
                    observer(now, *id, Passage::Delivered { sn, delay });
                }
                of_ue.delivered += packet.size;
                of_cell.delivered += packet.size;
                stats.delivered(packet.size, delay.total() > qos.delay_budget);
                outputs.push_back(Output::Downlink { at: now, ue, drb: id.drb, packet, delay });
            }
            None => {
                match reason {
                    DropReason::Handover => of_ue.dropped_by_handover += 1,
                    _ => of_ue.dropped_by_radio += 1,
                }
                stats.dropped += 1;
                outputs.push_back(Output::Dropped { at: now, ue, packet, reason });
            }
        });
        self.arm(now, index);
    }

    /// Sees to it that the bearer's next timer is heard of.
    pub(crate) fn arm(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let Some(at) = drb.bearer.next_timer(now) else { return };
        if drb.armed.is_none_or(|armed| at < armed) {
            drb.armed = Some(at);
            self.set_timer(at, index, Timer::Rlc);
        }
    }

    /// PDCP lets go of what waited for longer than its discardTimer.
    fn discard(&mut self, now: Instant, index: u32) {
        let Drb { ue, id, bearer, marker, stats, .. } = &mut self.drbs[index as usize];
        let (of_ue, ue) = (&mut self.ues[*ue as usize].stats, UeId(*ue));
        let (outputs, observer) = (&mut self.outputs, &mut self.observer);
        bearer.discard(now, |sn, packet| {
            marker.handle_discard(now, sn);
            if let Some(observer) = observer.as_mut() {
                observer(now, *id, Passage::Discarded { sn });
            }
            of_ue.dropped_by_timer += 1;
            stats.dropped += 1;
            outputs.push_back(Output::Dropped { at: now, ue, packet, reason: DropReason::Discarded });
        });
    }

    /// A timer of RLC or PDCP may have ended.
    pub(crate) fn handle_rlc_timer(&mut self, now: Instant, index: u32) {
        self.discard(now, index);
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
    pub(crate) fn report(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let period = self.config.f1u.report_period;
        if !drb.has_news() {
            return;
        }
        if period.is_zero() {
            self.send_report(now, index);
        } else if drb.schedule_report() {
            let at = Instant::ZERO + period * (now.as_nanos() / period.as_nanos() + 1);
            self.set_timer(at, index, Timer::Report);
        }
    }

    pub(crate) fn send_report(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let status = drb.make_report();
        if self.config.f1u.delay.is_zero() {
            self.receive_report(now, index, &status);
        } else {
            let at = now + self.config.f1u.delay;
            self.f1_up.push_back((at, index, status));
            self.wake(at);
        }
    }
}
