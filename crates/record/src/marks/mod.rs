//! Marks that a run keeps with their reasons: what the marker estimated, what was true, what became of the packet, and what the sender did.
//!
//! A bounded number of marks is kept for each flow, in three parts: the last ones, those of the slowest packets, and
//! one for each span of time, so that any moment of the run has a mark near it. A span has the length of a slot at
//! first, and doubles whenever there are too many spans. A drop that a law decides on is kept like a mark.

mod mark;
mod ring;
mod row;

use tidemark_cell::{DelaySplit, DropReason};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant, Slab};
use tidemark_marker::{Decision, RlcQueue};

use self::mark::{Fate, Mark};
use self::ring::Ring;
use self::row::Row;
use crate::fields::Declared;
use crate::files::quoted;
use crate::result::MarkResult;

pub use self::mark::Latest;

/// Marks of all flows together, as long as each flow can have [`MIN_OF_FLOW`].
pub const MAX_MARKS: usize = 8_192;
/// Largest number of marks of one flow.
pub const MAX_OF_FLOW: usize = 512;
/// Marks that each flow can have, however many flows there are.
pub const MIN_OF_FLOW: usize = 16;
/// Bytes of a row, about.
const ROW: usize = 288;

/// Decision that marked or dropped a packet, at the time when it was made.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    /// Time of the decision.
    pub at: Instant,
    /// Number of the packet, which rises in the order in which packets are decided on.
    pub packet: u64,
    /// Time at which its sender sent it; in a live cell, at which it came from the core.
    pub sent: Instant,
    /// UE of the bearer, from 0.
    pub ue: u32,
    /// Bearer: the DRB identity, from 1.
    pub drb: u8,
    /// Length of the IP packet.
    pub size: Bytes,
    /// ECN field before the decision.
    pub came: Ecn,
    /// True state of the RLC queue; `None` in a CU, which does not see the queue.
    pub queue: Option<RlcQueue>,
    /// Law, estimate, odds, draw and verdict.
    pub decision: Decision,
}

/// Window and rate of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sending {
    /// Congestion window.
    pub window: Option<Bytes>,
    /// Rate of its pacing, or the target of its encoder.
    pub rate: Option<BitRate>,
}

/// Answer of a sender to feedback that brought a mark.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// Arrival of the feedback.
    pub at: Instant,
    /// Sender before the feedback.
    pub before: Sending,
    /// Sender after it.
    pub after: Sending,
}

/// Marks of all flows.
#[derive(Debug, Default)]
pub struct Marks {
    flows: Slab<usize, Ring>,
    /// Flows that are known to come.
    expected: usize,
    /// Marks of each flow that are kept, which is the fewer the more flows there are; 0 where none are.
    of_flow: usize,
    /// True where the senders are known, so that a mark is kept until its sender has answered.
    knows_senders: bool,
}

impl Marks {
    /// Keeps marks from now on, of this many flows and of those that are added later; with `knows_senders`, it follows
    /// marks until their senders have answered.
    pub fn begin(&mut self, flows: usize, knows_senders: bool) {
        (self.expected, self.knows_senders) = (flows, knows_senders);
        self.bound();
    }

    /// Keeps marks of flows that are handed to it, as many as this keeps.
    pub(crate) fn part(&self) -> Self {
        Self { flows: Slab::new(), ..*self }
    }

    /// Hands the marks of a flow to another part.
    pub(crate) fn hand_flow(&mut self, to: &mut Self, flow: usize) {
        self.flows.hand(&mut to.flows, flow);
    }

    /// True where marks are kept.
    pub fn are_kept(&self) -> bool {
        self.of_flow > 0
    }

    /// A law marked or dropped a packet of this flow.
    pub fn decided(&mut self, flow: usize, decided: &Decided) {
        if !self.are_kept() {
            return;
        }
        if self.flows.get(flow).is_none() {
            self.flows.insert(flow, Box::new(Ring::new()));
            self.bound();
        }
        self.flows[flow].open(Mark::new(decided), self.of_flow);
    }

    /// True while a packet with a mark of the flow is under way, or its sender has not learned of one.
    #[inline]
    pub fn follow(&self, flow: usize) -> bool {
        self.flows.get(flow).is_some_and(Ring::has_open)
    }

    /// A packet of the flow arrived; what its receiver sends from the feedback with this number on can bring its mark to the sender.
    /// `in_routers` is absent where there is no router on its way.
    pub fn arrived(
        &mut self,
        flow: usize,
        packet: u64,
        at: Instant,
        (in_routers, delay): (Option<Duration>, DelaySplit),
        feedback: u64,
    ) {
        self.end_way(flow, packet, Fate::Arrived { at, in_routers, delay }, Some(feedback));
    }

    /// The network lost a packet of the flow.
    pub fn lost(&mut self, flow: usize, packet: u64, reason: DropReason) {
        self.end_way(flow, packet, Fate::Lost(reason), None);
    }

    /// A packet of the flow left the part of the network that is observed.
    pub fn left(&mut self, flow: usize, packet: u64) {
        self.end_way(flow, packet, Fate::UnderWay, None);
    }

    /// The acknowledgement with this number passed the CU, which writes marks of the short-circuit into it.
    pub fn acknowledgement_passed(&mut self, flow: usize, feedback: u64) {
        if let Some(ring) = self.flows.get_mut(flow) {
            ring.acknowledgement_passed(feedback);
        }
    }

    /// True if the feedback with this number can bring a mark to the flow's sender.
    #[inline]
    pub fn await_feedback(&self, flow: usize, feedback: u64) -> bool {
        self.flows.get(flow).is_some_and(|ring| ring.awaits(feedback))
    }

    /// The feedback with this number brought marks to the flow's sender.
    pub fn answered(&mut self, flow: usize, feedback: u64, answer: Answer) {
        if let Some(ring) = self.flows.get_mut(flow) {
            ring.answered(feedback, answer, self.of_flow);
        }
    }

    /// The last `count` marks of all flows, in the order of time.
    pub fn latest(&self, count: usize) -> Vec<Latest> {
        let of_flow =
            |(flow, ring): (usize, &Ring)| ring.latest(count).map(|mark| mark.latest(flow)).collect::<Vec<_>>();
        let mut latest: Vec<_> = self.flows.entries().flat_map(of_flow).collect();
        latest.sort_by_key(|mark| (mark.at, mark.packet));
        latest.split_off(latest.len().saturating_sub(count))
    }

    /// Text of `marks.csv`: rows of all flows, each flow's by time. `flows` are their names, in the order of their numbers, and `ues` those
    /// of UEs; `None` where no marks are kept.
    pub fn csv<'a>(&self, flows: impl Iterator<Item = &'a str>, ues: impl Iterator<Item = &'a str>) -> Option<String> {
        if !self.are_kept() {
            return None;
        }
        let ues: Vec<_> = ues.map(quoted).collect();
        let kept = self.flows.iter().map(Ring::len).sum::<usize>();
        let mut text = Vec::with_capacity((kept + 2) * ROW);
        let heading = MarkResult::STRUCT.fields.iter().map(|field| field.name);
        text.extend_from_slice(heading.collect::<Vec<_>>().join(",").as_bytes());
        text.push(b'\n');
        for (flow, name) in flows.map(quoted).enumerate() {
            for mark in self.flows.get(flow).map(Ring::marks).unwrap_or_default() {
                mark.write(&name, &ues, &mut Row::begin(&mut text));
            }
        }
        // Names and rules are text, and the rest is ASCII.
        String::from_utf8(text).ok()
    }

    fn end_way(&mut self, flow: usize, packet: u64, fate: Fate, feedback: Option<u64>) {
        if let Some(ring) = self.flows.get_mut(flow) {
            ring.end_way(packet, fate, feedback, self.knows_senders, self.of_flow);
        }
    }

    /// Divides the marks among the flows; each lets go of what it has beyond its part.
    fn bound(&mut self) {
        let flows = self.expected.max(self.flows.next()).max(1);
        self.of_flow = (MAX_MARKS / flows).clamp(MIN_OF_FLOW, MAX_OF_FLOW);
        self.flows.iter_mut().for_each(|ring| ring.bound(self.of_flow));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidemark_core::Probability;
    use tidemark_marker::{Draw, Estimate, Odds, Verdict};

    use super::*;
    use crate::output::read_marks;

    /// Mark of a packet that was sent 5 ms before.
    fn decided(packet: u64, at: Instant, short_circuited: bool) -> Decided {
        let odds = Odds { mark: Probability::new(0.5), drop: Probability::ZERO, rule: "L4S" };
        let decision = Decision {
            law: "l4span",
            estimate: Estimate::default(),
            age: Duration::ZERO,
            odds,
            draw: Draw::Random(0.25),
            verdict: Verdict::Mark,
            short_circuited,
        };
        let sent = at.before(Duration::from_millis(5));
        let (size, came, queue) = (Bytes(1_500), Ecn::Ect1, Some(RlcQueue::default()));
        Decided { at, packet, sent, ue: 0, drb: 1, size, came, queue, decision }
    }

    fn delay(queuing: Duration) -> (Option<Duration>, DelaySplit) {
        (None, DelaySplit { queuing, ..DelaySplit::default() })
    }

    fn rows(marks: &Marks) -> Vec<MarkResult> {
        read_marks(&marks.csv(["f"].into_iter(), ["ue"].into_iter()).unwrap()).unwrap()
    }

    fn answer(at: Instant) -> Answer {
        let sending = |window| Sending { window: Some(Bytes(window)), rate: None };
        Answer { at, before: sending(60_000), after: sending(50_000) }
    }

    proptest! {
        /// However many marks there are, and however they lie in time: no more than the bound stays, the slowest and the last among them,
        /// and none is further from the next than the rest of the run demands.
        #[test]
        fn a_bounded_number_stays_and_every_moment_has_a_mark_near_it(
            gaps in prop::collection::vec((1_u64..30, 0_u64..200), 1..4_000),
        ) {
            let mut marks = Marks::default();
            marks.begin(1, false);
            let mut at = Instant::ZERO;
            let mut times = Vec::new();
            let mut slowest = 0.0_f64;
            for (packet, (gap, queuing)) in (1..).zip(&gaps) {
                at += Duration::from_millis(*gap);
                let queuing = Duration::from_millis(*queuing);
                marks.decided(0, &decided(packet, at, false));
                marks.arrived(0, packet, at + queuing, delay(queuing), 0);
                times.push(at.as_secs_f64());
                slowest = slowest.max(queuing.as_millis_f64());
            }
            let rows = rows(&marks);
            prop_assert!(rows.len() <= MAX_OF_FLOW && rows.len() >= gaps.len().min(MAX_OF_FLOW / 4));
            prop_assert_eq!(rows.last().map(|row| row.packet), Some(gaps.len() as u64));
            let queuing = |row: &MarkResult| row.queuing_ms.unwrap_or(0.0);
            prop_assert_eq!(rows.iter().map(queuing).fold(0.0, f64::max), slowest);
            // Half of the bound is spread over spans that are at most twice as long as they have to be.
            let span = 4.0 * times.last().unwrap() / (MAX_OF_FLOW / 2) as f64;
            for time in times {
                let near = rows.iter().any(|row| (row.t_s - time).abs() <= span.max(1e-3));
                prop_assert!(near, "no mark within {span} s of {time} s");
            }
        }
    }

    #[test]
    fn a_mark_is_answered_by_feedback_sent_after_its_arrival() {
        let mut marks = Marks::default();
        marks.begin(1, true);
        marks.decided(0, &decided(7, Instant::from_millis(10), false));
        assert!(marks.follow(0) && !marks.await_feedback(0, 3));
        marks.arrived(0, 7, Instant::from_millis(20), delay(Duration::from_millis(10)), 4);
        assert!(!marks.await_feedback(0, 3) && marks.await_feedback(0, 4));
        // Feedback number 4 was lost: 5 says the same.
        marks.answered(0, 5, answer(Instant::from_millis(30)));
        assert!(!marks.follow(0));
        let row = &rows(&marks)[0];
        assert_eq!((row.packet, row.answered_s, row.window_after_kb), (7, Some(0.03), Some(50.0)));
        assert_eq!((row.propagation_ms, row.queuing_ms), (Some(5.0), Some(10.0)));
    }

    #[test]
    fn a_short_circuited_mark_is_answered_before_its_packet_arrives() {
        let mut marks = Marks::default();
        marks.begin(1, true);
        marks.decided(0, &decided(7, Instant::from_millis(10), true));
        marks.acknowledgement_passed(0, 9);
        assert!(marks.await_feedback(0, 9));
        marks.answered(0, 9, answer(Instant::from_millis(15)));
        assert!(marks.follow(0), "the packet is still under way");
        marks.arrived(0, 7, Instant::from_millis(20), delay(Duration::from_millis(10)), 10);
        assert!(!marks.follow(0));
        let row = &rows(&marks)[0];
        assert_eq!((row.verdict.as_ref(), row.answered_s, row.arrived_s), ("short-circuit", Some(0.015), Some(0.02)));
    }

    #[test]
    fn a_packet_that_is_lost_keeps_its_mark_and_the_cause() {
        let mut marks = Marks::default();
        marks.begin(1, true);
        marks.decided(0, &decided(7, Instant::from_millis(10), false));
        marks.lost(0, 7, DropReason::QueueFull);
        assert!(!marks.follow(0));
        assert_eq!((rows(&marks)[0].lost.as_ref(), rows(&marks)[0].queuing_ms), ("full queue", None));
    }

    #[test]
    fn marks_that_nobody_answers_do_not_add_up() {
        let mut marks = Marks::default();
        marks.begin(1, true);
        for packet in 0..5_000 {
            marks.decided(0, &decided(packet, Instant::from_millis(packet), false));
        }
        assert_eq!(marks.flows[0].count_open(), ring::MAX_OPEN);
    }

    #[test]
    fn a_file_of_marks_names_the_line_and_the_field_that_cannot_be_read() {
        let mut marks = Marks::default();
        marks.begin(1, true);
        marks.decided(0, &decided(1, Instant::from_millis(10), false));
        let text = marks.csv(["a, b"].into_iter(), ["ue"].into_iter()).unwrap();
        assert_eq!(read_marks(&text).unwrap()[0].flow, "a, b");
        let error = |text: String| read_marks(&text).unwrap_err().to_string();
        let wrong = error(text.replacen(",1500,", ",many,", 1));
        assert!(wrong.contains("line: 2") && wrong.contains("field 6"), "{wrong}");
        assert!(error(text.replacen(",packet,", ",number,", 1)).contains("missing field `packet`"));
    }

    #[test]
    fn what_a_cu_cannot_see_is_absent() {
        let mut marks = Marks::default();
        marks.begin(1, false);
        marks.decided(0, &Decided { queue: None, ..decided(1, Instant::from_millis(10), false) });
        marks.left(0, 1);
        assert!(!marks.follow(0));
        let row = &rows(&marks)[0];
        assert_eq!((row.queued_kb, row.queued_packets, row.queued_ms), (None, None, None));
        assert_eq!((row.arrived_s, row.propagation_ms, row.lost.as_ref()), (None, None, ""));
    }

    #[test]
    fn flows_that_come_up_share_the_bound() {
        let mut marks = Marks::default();
        marks.begin(1, false);
        let mark = |marks: &mut Marks, flow, packet: u64| {
            let at = Instant::from_millis(packet);
            marks.decided(flow, &decided(packet, at, false));
            marks.arrived(flow, packet, at, delay(Duration::ZERO), 0);
        };
        (0..2_000).for_each(|packet| mark(&mut marks, 0, packet));
        let of_first = |marks: &Marks| rows(marks).len();
        assert!(of_first(&marks) > MAX_OF_FLOW / 2);
        (1..64).for_each(|flow| mark(&mut marks, flow, 2_000));
        assert!(of_first(&marks) <= MAX_MARKS / 64, "{}", of_first(&marks));
    }

    #[test]
    fn the_last_marks_are_those_of_all_flows() {
        let mut marks = Marks::default();
        marks.begin(2, false);
        for packet in 0..10 {
            marks.decided((packet % 2) as usize, &decided(packet, Instant::from_millis(packet), false));
            // One of them is still under way.
            if packet != 8 {
                marks.left((packet % 2) as usize, packet);
            }
        }
        let latest: Vec<_> = marks.latest(3).iter().map(|mark| (mark.flow, mark.packet, mark.rule)).collect();
        assert_eq!(latest, [(1, 7, "L4S"), (0, 8, "L4S"), (1, 9, "L4S")]);
    }
}
