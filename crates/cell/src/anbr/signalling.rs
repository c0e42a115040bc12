//! When recommendations and queries go, and the octets that they are.

use tidemark_core::{FlowId, Inspect, Instant};
use tidemark_wire::mac::{RecommendedBitRate, lcid};

use super::Counts;
use crate::cell::Cell;
use crate::downlink::DECODED_AFTER;
use crate::drb::LEAST_LCID;
use crate::output::{Output, UeId};
use crate::timers::Timer;
use crate::uplink::Control;

impl<P: Inspect> Cell<P> {
    /// The logical channel of a UE's flow.
    pub fn logical_channel(&self, id: UeId, flow: FlowId) -> Option<u8> {
        let ue = self.ues.get(id.0 as usize)?;
        Some(LEAST_LCID + (ue.sdap.uplink(flow) - ue.drbs.start) as u8)
    }

    /// The UE's modem is asked to send a query, the two octets of its control element. False where
    /// bitRateQueryProhibitTimer runs, or where the bearer knows no recommendations.
    pub fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2]) -> bool {
        let Ok(element) = RecommendedBitRate::parse(&octets) else { return false };
        let Some(ue) = self.ues.get(id.0 as usize) else { return false };
        let index = ue.drbs.start + u32::from(element.lcid.saturating_sub(LEAST_LCID));
        let Some(drb) = self.drbs.get_mut(index as usize).filter(|drb| drb.ue == id.0) else { return false };
        let Some(estimator) = drb.anbr.as_mut().filter(|estimator| now >= estimator.query_allowed) else {
            return false;
        };
        estimator.query_allowed = now + estimator.config.query_prohibit;
        self.send_control(now, id.0, Control::Query { drb: index });
        true
    }

    /// Something came to the bearer's queue: a window begins, unless one is open.
    pub(crate) fn begin_window(&mut self, now: Instant, index: u32) {
        if self.drbs[index as usize].anbr.as_ref().is_none_or(|estimator| estimator.begun.is_some()) {
            return;
        }
        let counts = self.counts(now, index);
        let Some(estimator) = &mut self.drbs[index as usize].anbr else { return };
        estimator.begun = Some(counts);
        self.timers.set(now + estimator.config.window, index, Timer::Window);
    }

    /// A window is over: the gNB recommends, and goes on if there is anything to go on with.
    pub(crate) fn end_window(&mut self, now: Instant, index: u32) {
        let counts = self.counts(now, index);
        let open = self.drbs.iter().filter(|drb| drb.anbr.as_ref().is_some_and(|anbr| anbr.begun.is_some())).count();
        let Some(begun) = self.drbs[index as usize].anbr.as_ref().and_then(|estimator| estimator.begun) else { return };
        let all = self.resources_between(begun.at, now);
        let sending = self.drbs.iter().filter(|drb| drb.last_sent >= begun.at).count();
        let free = all.saturating_sub(counts.taken_by_all - begun.taken_by_all) as f64 / open.max(1) as f64;
        let fair = ((counts.taken - begun.taken) as f64 + free).max(all as f64 / sending.max(1) as f64);
        let drb = &mut self.drbs[index as usize];
        let goes_on = counts.sent > begun.sent || drb.bearer.has_data();
        let Some(estimator) = &mut drb.anbr else { return };
        estimator.begun = goes_on.then_some(counts);
        if !goes_on {
            return;
        }
        estimator.end_window(begun, counts, fair);
        self.timers.set(now + estimator.config.window, index, Timer::Window);
        if estimator.config.unsolicited {
            self.recommend(now, index);
        }
    }

    /// Sends what is known now, with the next downlink slot. Control elements are small and go with a robust part of the
    /// block: they are not lost here.
    pub(crate) fn recommend(&mut self, now: Instant, index: u32) {
        let queued = self.drbs[index as usize].bearer.queue_state(now).backlog;
        let drb = &self.drbs[index as usize];
        let channel = LEAST_LCID + (index - self.ues[drb.ue as usize].drbs.start) as u8;
        let Some(estimator) = &drb.anbr else { return };
        let Some(rate) = estimator.recommended(queued) else { return };
        let Ok([first, second]) = estimator.element(channel, rate).emit() else { return };
        let slot = self.pattern.next_downlink(self.pattern.at_or_after(now));
        let octets = [lcid::RECOMMENDED_BIT_RATE, first, second];
        self.timers.set(self.pattern.start(slot + DECODED_AFTER), index, Timer::Recommendation(octets));
    }

    /// A recommendation reaches the UE's modem.
    pub(crate) fn deliver_recommendation(&mut self, at: Instant, index: u32, octets: [u8; 3]) {
        let ue = UeId(self.drbs[index as usize].ue);
        self.outputs.push_back(Output::Recommendation { at, ue, octets });
    }

    fn counts(&self, at: Instant, index: u32) -> Counts {
        let drb = &self.drbs[index as usize];
        Counts { at, sent: drb.bearer.sent(), taken: drb.resources, taken_by_all: self.stats.resources }
    }
}
