//! What has arrived: handed on at the UE, told to the gNB by RLC's status reports, and by the DU to the CU.

use tidemark_core::{Inspect, Instant};

use crate::cell::Cell;
use crate::observe::Passage;
use crate::output::{DropReason, Output, UeId};
use crate::rlc::{Released, Status};
use crate::timers::Timer;
use crate::uplink::Control;

impl<P: Inspect> Cell<P> {
    /// Hands on what a UE has in order of a bearer.
    pub(crate) fn release(&mut self, now: Instant, index: u32) {
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
                    drb.delivered(packet.size, &delay);
                    Output::Downlink { at: now, ue: id, drb: drb.id.drb, packet, delay }
                }
                Released::Lost(packet) => {
                    stats.dropped_by_radio += 1;
                    drb.stats.dropped += 1;
                    Output::Dropped { at: now, ue: id, packet, reason: DropReason::Radio }
                }
            });
        }
        self.arm(now, index);
    }

    /// Sees to it that the bearer's next timer is heard of.
    pub(crate) fn arm(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let Some(at) = drb.bearer.next_timer(now) else { return };
        if drb.armed.is_none_or(|armed| at < armed) {
            drb.armed = Some(at);
            self.timers.set(at, index, Timer::Rlc);
        }
    }

    /// A timer of RLC or PDCP may have ended.
    pub(crate) fn handle_rlc_timer(&mut self, now: Instant, index: u32) {
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
            self.timers.set(at, index, Timer::Report);
        }
    }

    pub(crate) fn send_report(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let status = drb.make_report();
        if self.config.f1u.delay.is_zero() {
            self.receive_report(now, index, &status);
        } else {
            self.f1_up.push_back((now + self.config.f1u.delay, index, status));
        }
    }
}
