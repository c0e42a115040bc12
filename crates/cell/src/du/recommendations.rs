//! Sending of recommendations and queries: their times and their octets.

use tidemark_core::{BitRate, Bytes, Inspect, Instant};
use tidemark_wire::mac::{Direction, RecommendedBitRate, lcid};

use super::Port;
use super::anbr::{Counts, Estimator};
use super::carrier::Carrier;
use super::queues::Queues;
use super::timers::Timer;
use crate::event::Event;
use crate::index::DrbIndex;
use crate::output::{Output, UeId};
use crate::ue_stack::control::Control;

/// Query that a UE's modem is asked for, the two octets of its control element.
pub(super) struct Query {
    pub(super) drb: DrbIndex,
    pub(super) direction: Direction,
    /// Time from which on it may be sent.
    pub(super) allowed: Instant,
}

/// Takes a query; `None` where one waits already, which is sent for both, or where the bearer knows no recommendations.
pub(super) fn ask<P: Inspect>(now: Instant, id: UeId, octets: [u8; 2], queues: &mut Queues<P>) -> Option<Query> {
    let RecommendedBitRate { lcid, direction, .. } = RecommendedBitRate::parse(&octets).ok()?;
    let drb = queues.ues.get(id)?.drbs().with_lcid(lcid)?;
    let allowed = queues.drbs[drb].estimator(direction).as_mut()?.ask(now)?;
    Some(Query { drb, direction, allowed })
}

/// The query that waits, which is sent now, and its UE.
pub(super) fn query<P: Inspect>(
    now: Instant,
    drb: DrbIndex,
    direction: Direction,
    queues: &mut Queues<P>,
) -> Option<(UeId, Control)> {
    let bearer = &mut queues.drbs[drb];
    bearer.estimator(direction).as_mut()?.query_sent(now);
    Some((bearer.id.ue, Control::Query { drb, direction }))
}

/// Begins a window, unless one is open: a packet came to the bearer's queue, or up from its UE.
pub(super) fn begin_window<P: Inspect>(now: Instant, index: DrbIndex, direction: Direction, queues: &mut Queues<P>) {
    // Most bearers have no recommendations, and of those that have most have a window.
    if queues.drbs[index].estimator(direction).as_ref().is_none_or(|estimator| estimator.begun().is_some()) {
        return;
    }
    let counts = counts(now, index, direction, queues);
    // The first packet begins the window: idle time before it would lower the rate.
    if let Some(estimator) = queues.drbs[index].estimator(direction) {
        let end = estimator.begin_window(counts);
        queues.timers.set(end, index, Timer::Window(direction));
    }
}

/// Ends a window: the gNB recommends, and begins another window if something was sent or waits.
pub(super) fn end_window<P: Inspect>(
    now: Instant,
    index: DrbIndex,
    direction: Direction,
    carrier: &Carrier,
    queues: &mut Queues<P>,
) {
    let counts = counts(now, index, direction, queues);
    let begun = queues.drbs[index].estimator(direction).as_ref().and_then(Estimator::begun);
    // Without a beginning there is nothing to measure from.
    let Some(begun) = begun else { return };
    // Shares are of those that send in this direction; the other has resources of its own.
    let (all, sending) = match direction {
        Direction::Downlink => {
            let sending = queues.drbs.iter().filter(|drb| drb.has_sent_since(begun.at)).count();
            (carrier.resources_between(begun.at, now), sending)
        }
        Direction::Uplink => {
            let sending = queues.ues.iter().filter(|ue| ue.has_sent_up_since(begun.at)).count();
            (carrier.uplink_resources_between(begun.at, now), sending)
        }
    };
    let open = queues.drbs.iter().filter(|drb| drb.has_open_window(direction)).count();
    let free = all.saturating_sub(counts.taken_by_all - begun.taken_by_all) as f64 / open.max(1) as f64;
    let fair = ((counts.taken - begun.taken) as f64 + free).max(all as f64 / sending.max(1) as f64);
    let drb = &mut queues.drbs[index];
    let goes_on = counts.sent > begun.sent || direction == Direction::Downlink && drb.bearer.has_data();
    let Some(estimator) = drb.estimator(direction) else { return };
    // Nothing was sent and nothing waits: the window says nothing of the rate.
    if !goes_on {
        estimator.close_window();
        return;
    }
    estimator.end_window(begun, counts, fair);
    let (end, unsolicited) = (estimator.begin_window(counts), estimator.is_unsolicited());
    queues.timers.set(end, index, Timer::Window(direction));
    // Without a query the network recommends by itself at each window's end (TS 38.321 5.18.10).
    if unsolicited {
        recommend(now, index, direction, carrier, queues);
    }
}

/// Sends what is known now, with the next downlink slot.
pub(super) fn recommend<P: Inspect>(
    now: Instant,
    index: DrbIndex,
    direction: Direction,
    carrier: &Carrier,
    queues: &mut Queues<P>,
) {
    let drb = &mut queues.drbs[index];
    let ue = &queues.ues[drb.id.ue];
    // The uplink's queue is in the UE: the gNB knows its buffer status alone.
    let queued = match direction {
        Direction::Downlink => drb.bearer.queue_state(now).backlog,
        Direction::Uplink => {
            let group = ue.groups.iter().position(|group| group.drbs.contains(&index));
            ue.uplink.estimate.of_group(group.unwrap_or(0))
        }
    };
    let channel = ue.drbs().lcid(index);
    // Without an estimator the bearer knows no recommendations; before its first window there is no rate to recommend.
    let Some(estimator) = drb.estimator(direction) else { return };
    let Some(rate) = estimator.recommended(queued) else { return };
    // A logical channel that the element can't name gets no recommendation (TS 38.321 6.1.3.20).
    let Ok([first, second]) = estimator.element(channel, rate).emit() else { return };
    let exact = estimator.exact(rate);
    let octets = [lcid::RECOMMENDED_BIT_RATE, first, second];
    queues.timers.set(carrier.control_decoded_at(now), index, Timer::Recommendation(octets, exact));
}

/// A recommendation reaches the UE's modem.
pub(super) fn deliver<P: Inspect>(
    at: Instant,
    index: DrbIndex,
    (octets, exact): ([u8; 3], Option<BitRate>),
    queues: &Queues<P>,
    port: &mut impl Port<P>,
) {
    let bearer = queues.drbs[index].id;
    port.events().emit(at, bearer, || Event::Recommended { octets });
    port.output(Output::Recommendation { at, ue: bearer.ue, octets, exact });
}

/// Counts a packet of this many bytes that came up on a bearer.
pub(super) fn count_uplink<P: Inspect>(now: Instant, index: DrbIndex, size: Bytes, queues: &mut Queues<P>) {
    if queues.drbs[index].count_up(size) {
        begin_window(now, index, Direction::Uplink, queues);
    }
}

/// Counters of a bearer and of the cell at the edge of a window.
fn counts<P: Inspect>(at: Instant, index: DrbIndex, direction: Direction, queues: &Queues<P>) -> Counts {
    let drb = &queues.drbs[index];
    match direction {
        Direction::Downlink => {
            let (sent, taken) = drb.sent();
            Counts { at, sent, taken, taken_by_all: queues.stats.resources }
        }
        Direction::Uplink => {
            let taken = queues.ues[drb.id.ue].resources_up();
            Counts { at, sent: drb.came_up(), taken, taken_by_all: queues.stats.uplink_resources }
        }
    }
}
