//! A run as a Perfetto trace: a track for each layer that a packet passes, and on it a slice for each packet's stay.
//!
//! Each bearer and direction has tracks of its own. Packets stay in a layer at the same time, so a layer has as many lanes
//! as packets that were in it at once. Lanes have one name, which Perfetto draws as one track: its height is the queue.

use std::collections::BTreeMap;
use std::io::{Result, Write};

use tidemark_cell::{BearerId, DelaySplit, DropReason, Event};
use tidemark_core::{Ecn, Instant, Packet};
use tidemark_marker::{Decision, RlcQueue, Verdict};
use tidemark_wire::mac::Direction;

use super::perfetto::{DebugAnnotation, File, Type, count, number, text};
use crate::stamped::Stamped;

/// Layers in the order in which a packet passes them; the last is where the network speaks of packets.
const LAYERS: [&str; 8] = [
    "network",
    "PDCP and F1-U",
    "RLC queue",
    "scheduling and air",
    "HARQ retransmission",
    "RLC retransmission",
    "PDCP reordering",
    "marks and losses",
];
/// Layer of instants.
const SIGNALS: usize = LAYERS.len() - 1;

/// Bearer and direction.
type Key = (u32, u8, bool);

/// Trace of a run.
pub(super) struct Trace<W> {
    file: File<W>,
    flows: Vec<String>,
    ues: Vec<String>,
    bearers: BTreeMap<Key, u64>,
    /// Lanes of each layer, with the end of the last stay.
    lanes: BTreeMap<(Key, usize), Vec<(Instant, u64)>>,
}

impl<W: Write> Trace<W> {
    pub(super) fn new(out: W) -> Self {
        let (flows, ues) = (Vec::new(), Vec::new());
        Self { file: File::new(out), flows, ues, bearers: BTreeMap::new(), lanes: BTreeMap::new() }
    }

    /// Names the flows and the UEs, in the order of their numbers.
    pub(super) fn name(&mut self, flows: Vec<String>, ues: Vec<String>) {
        (self.flows, self.ues) = (flows, ues);
    }

    pub(super) fn finish(self) -> Result<()> {
        self.file.finish()
    }

    /// Writes what an event says of a packet.
    pub(super) fn happens(&mut self, now: Instant, bearer: BearerId, event: &Event<'_, Stamped>) {
        match event {
            Event::Delivered { packet, delay, .. } => self.arrives(now, key(bearer, false), packet, delay),
            Event::UplinkDelivered { packet, delay, .. } => self.arrives(now, key(bearer, true), packet, delay),
            Event::Decided { packet, queue, decision, .. } => self.decides(now, bearer, packet, queue, decision),
            // A drop by the law is a decision.
            Event::Dropped { packet, direction, reason } if *reason != DropReason::Law => {
                let what = vec![text("reason", reason.name())];
                self.signals(now, key(bearer, *direction == Direction::Uplink), "lost", packet, what);
            }
            _ => {}
        }
    }

    /// Writes the stays of a packet that arrives now.
    fn arrives(&mut self, now: Instant, key: Key, packet: &Packet<Stamped>, delay: &DelaySplit) {
        let DelaySplit { cu, queuing, scheduling, harq, rlc, reordering } = *delay;
        let came = now.before(delay.total());
        let stays = [came.since(packet.payload.sent), cu, queuing, scheduling, harq, rlc, reordering];
        let mut begin = packet.payload.sent;
        for (layer, stay) in stays.into_iter().enumerate() {
            let end = begin + stay;
            if end > begin {
                self.stays(key, layer, (begin, end), packet);
            }
            begin = end;
        }
    }

    fn stays(&mut self, key: Key, layer: usize, (begin, end): (Instant, Instant), packet: &Packet<Stamped>) {
        let track = self.lane(key, layer, begin, end);
        let name = self.name_of(packet);
        self.file.event(begin, track, Type::SliceBegin, &name, said(packet));
        self.file.event(end, track, Type::SliceEnd, "", Vec::new());
    }

    fn decides(
        &mut self,
        now: Instant,
        bearer: BearerId,
        packet: &Packet<Stamped>,
        queue: &RlcQueue,
        decision: &Decision,
    ) {
        let (name, odds) = match decision.verdict {
            Verdict::Pass => return,
            Verdict::Mark => ("marked", decision.odds.mark),
            Verdict::Drop => ("dropped", decision.odds.drop),
        };
        let mut what = vec![text("law", decision.law), text("rule", decision.odds.rule), number("odds", odds.get())];
        what.extend(decision.estimate.sojourn.map(|sojourn| number("estimated_ms", sojourn.as_millis_f64())));
        what.push(number("queued_ms", queue.head_of_line.as_millis_f64()));
        self.signals(now, key(bearer, false), name, packet, what);
    }

    /// Writes what the network says of a packet.
    fn signals(&mut self, now: Instant, key: Key, name: &str, packet: &Packet<Stamped>, what: Vec<DebugAnnotation>) {
        let track = self.lane(key, SIGNALS, now, now);
        let flow = text("flow", &self.name_of(packet));
        let all = [flow].into_iter().chain(said(packet)).chain(what).collect();
        self.file.event(now, track, Type::Instant, name, all);
    }

    /// Track of a layer on which nothing is between these times.
    fn lane(&mut self, key: Key, layer: usize, begin: Instant, end: Instant) -> u64 {
        let lanes = self.lanes.entry((key, layer)).or_default();
        if let Some((last, track)) = lanes.iter_mut().find(|(last, _)| *last <= begin) {
            *last = end;
            return *track;
        }
        let bearer = *self.bearers.entry(key).or_insert_with(|| {
            let (ue, drb, up) = key;
            let ue = self.ues.get(ue as usize).map_or("", String::as_str);
            let direction = if up { "uplink" } else { "downlink" };
            self.file.track(None, 0, &format!("{ue}, DRB {drb}, {direction}"))
        });
        let track = self.file.track(Some(bearer), layer as i32, LAYERS[layer]);
        lanes.push((end, track));
        track
    }

    /// Name of a packet's flow; a mark makes another name, and so another colour.
    fn name_of(&self, packet: &Packet<Stamped>) -> String {
        let flow = self.flows.get(packet.flow.0 as usize).map_or("", String::as_str);
        let back = if packet.payload.back { " feedback" } else { "" };
        let marked = if packet.ecn == Ecn::Ce { " CE" } else { "" };
        format!("{flow}{back}{marked}")
    }
}

fn key(bearer: BearerId, up: bool) -> Key {
    (bearer.ue.0, bearer.drb, up)
}

/// Number and size of a packet.
fn said(packet: &Packet<Stamped>) -> Vec<DebugAnnotation> {
    vec![count("packet", packet.payload.number), count("bytes", packet.size.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_at_the_same_time_have_a_lane_each_and_later_ones_reuse_it() {
        let mut trace = Trace::new(Vec::new());
        let at = Instant::from_millis;
        let mut lane = |layer, begin, end| trace.lane((0, 1, false), layer, at(begin), at(end));
        let (first, second, third) = (lane(2, 0, 10), lane(2, 5, 12), lane(2, 10, 11));
        assert_ne!(first, second);
        assert_eq!(first, third);
        assert!(![first, second].contains(&lane(3, 20, 30)), "another layer has its own");
        assert_eq!(lane(SIGNALS, 7, 7), lane(SIGNALS, 7, 7), "instants take no time");
    }
}
