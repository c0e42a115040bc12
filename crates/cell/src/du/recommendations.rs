//! Sending of recommendations and queries: their times and their octets.

use tidemark_core::{BitRate, Bytes, Inspect, Instant};
use tidemark_wire::mac::{Direction, RecommendedBitRate, lcid};

use super::anbr::{Counts, Estimator};
use super::downlink::DECODED_AFTER;
use super::timers::Timer;
use super::{Du, Port};
use crate::event::Event;
use crate::index::DrbIndex;
use crate::output::{Output, UeId};
use crate::ue_stack::control::Control;

impl<P: Inspect> Du<P> {
    /// The UE's modem is asked to send a query, the two octets of its control element. While bitRateQueryProhibitTimer runs
    /// the query waits for its end (TS 38.321 5.18.10). False where one waits already, which is sent for both, or where the
    /// bearer knows no recommendations.
    pub(crate) fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2], port: &mut impl Port<P>) -> bool {
        let Ok(RecommendedBitRate { lcid, direction, .. }) = RecommendedBitRate::parse(&octets) else { return false };
        let Some(ue) = self.ues.get(id) else { return false };
        let Some(drb) = ue.drbs().with_lcid(lcid) else { return false };
        let Some(estimator) = self.drbs[drb].estimator(direction).as_mut() else { return false };
        let Some(allowed) = estimator.ask(now) else { return false };
        if allowed == now {
            self.send_query(now, drb, direction, port);
        } else {
            self.set_timer(allowed, drb, Timer::Query(direction));
        }
        true
    }

    /// The UE sends the query that waits.
    pub(super) fn send_query(&mut self, now: Instant, drb: DrbIndex, direction: Direction, port: &mut impl Port<P>) {
        let ue = self.drbs[drb].id.ue;
        let Some(estimator) = self.drbs[drb].estimator(direction) else { return };
        estimator.query_sent(now);
        self.send_control(now, ue, Control::Query { drb, direction }, port);
    }

    /// Begins a window, unless one is open: a packet came to the bearer's queue, or up from its UE.
    pub(super) fn begin_window(&mut self, now: Instant, index: DrbIndex, direction: Direction) {
        if self.drbs[index].estimator(direction).as_ref().is_none_or(|estimator| estimator.begun().is_some()) {
            return;
        }
        let counts = self.counts(now, index, direction);
        if let Some(estimator) = self.drbs[index].estimator(direction) {
            let end = estimator.begin_window(counts);
            self.set_timer(end, index, Timer::Window(direction));
        }
    }

    /// A window is over: the gNB recommends, and goes on if there is anything to go on with.
    pub(super) fn end_window(&mut self, now: Instant, index: DrbIndex, direction: Direction) {
        let counts = self.counts(now, index, direction);
        let begun = self.drbs[index].estimator(direction).as_ref().and_then(Estimator::begun);
        let Some(begun) = begun else { return };
        let (all, open, sending) = match direction {
            Direction::Downlink => {
                let sending = self.drbs.iter().filter(|drb| drb.has_sent_since(begun.at)).count();
                (self.resources_between(begun.at, now), self.open_windows(direction), sending)
            }
            Direction::Uplink => {
                let sending = self.ues.iter().filter(|ue| ue.has_sent_up_since(begun.at)).count();
                (self.uplink_resources_between(begun.at, now), self.open_windows(direction), sending)
            }
        };
        let free = all.saturating_sub(counts.taken_by_all - begun.taken_by_all) as f64 / open.max(1) as f64;
        let fair = ((counts.taken - begun.taken) as f64 + free).max(all as f64 / sending.max(1) as f64);
        let drb = &mut self.drbs[index];
        let goes_on = counts.sent > begun.sent || direction == Direction::Downlink && drb.bearer.has_data();
        let Some(estimator) = drb.estimator(direction) else { return };
        if !goes_on {
            estimator.close_window();
            return;
        }
        estimator.end_window(begun, counts, fair);
        let (end, unsolicited) = (estimator.begin_window(counts), estimator.is_unsolicited());
        self.set_timer(end, index, Timer::Window(direction));
        if unsolicited {
            self.recommend(now, index, direction);
        }
    }

    /// Sends what is known now, with the next downlink slot. Control elements are small and go with a robust part of the
    /// block: they are not lost here.
    pub(super) fn recommend(&mut self, now: Instant, index: DrbIndex, direction: Direction) {
        let drb = &mut self.drbs[index];
        let ue = &self.ues[drb.id.ue];
        let queued = match direction {
            Direction::Downlink => drb.bearer.queue_state(now).backlog,
            Direction::Uplink => {
                let group = ue.groups.iter().position(|group| group.drbs.contains(&index));
                ue.uplink.estimate.of_group(group.unwrap_or(0))
            }
        };
        let channel = ue.drbs().lcid(index);
        let Some(estimator) = drb.estimator(direction) else { return };
        let Some(rate) = estimator.recommended(queued) else { return };
        let Ok([first, second]) = estimator.element(channel, rate).emit() else { return };
        let exact = estimator.exact(rate);
        let slot = self.pattern.next_downlink(self.first_undecided(now));
        let octets = [lcid::RECOMMENDED_BIT_RATE, first, second];
        self.set_timer(self.pattern.start(slot + DECODED_AFTER), index, Timer::Recommendation(octets, exact));
    }

    /// A recommendation reaches the UE's modem.
    pub(super) fn deliver_recommendation(
        &mut self,
        at: Instant,
        index: DrbIndex,
        (octets, exact): ([u8; 3], Option<BitRate>),
        port: &mut impl Port<P>,
    ) {
        let ue = self.drbs[index].id.ue;
        port.events().emit(at, self.drbs[index].id, || Event::Recommended { octets });
        port.output(Output::Recommendation { at, ue, octets, exact });
    }

    /// A packet of so many bytes came up on a bearer.
    pub(super) fn count_uplink(&mut self, now: Instant, index: DrbIndex, size: Bytes) {
        if self.drbs[index].count_up(size) {
            self.begin_window(now, index, Direction::Uplink);
        }
    }

    fn open_windows(&self, direction: Direction) -> usize {
        self.drbs.iter().filter(|drb| drb.has_open_window(direction)).count()
    }

    fn counts(&self, at: Instant, index: DrbIndex, direction: Direction) -> Counts {
        let drb = &self.drbs[index];
        match direction {
            Direction::Downlink => {
                let (sent, taken) = drb.sent();
                Counts { at, sent, taken, taken_by_all: self.stats.resources }
            }
            Direction::Uplink => {
                let taken = self.ues[drb.id.ue].resources_up();
                Counts { at, sent: drb.came_up(), taken, taken_by_all: self.stats.uplink_resources }
            }
        }
    }
}
