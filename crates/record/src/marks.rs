//! Marks that a run keeps with their reasons: what the marker estimated, what was true, what became of the packet, and what the sender did.
//!
//! Of each flow a bounded number is kept, in three parts: the last ones, those of the slowest packets, and one for each span of time, so
//! that any moment of the run has a mark near it. Spans begin at `SPAN` and double whenever there are too many. A drop that a law
//! decides on is kept as a mark is.

use std::collections::{BTreeMap, VecDeque};

use tidemark_cell::{DelaySplit, DropReason};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};
use tidemark_marker::{Decision, Draw, RlcQueue, Verdict};

use crate::fields::Rounded as _;
use crate::result::MarkResult;

/// Marks of all flows together, as long as each flow can have [`MIN_OF_FLOW`].
pub const MAX_MARKS: usize = 8_192;
/// Most marks of one flow.
pub const MAX_OF_FLOW: usize = 512;
/// Marks that each flow can have, however many flows there are.
pub const MIN_OF_FLOW: usize = 16;
/// Marks of a flow that are under way, or that its sender has not learned of; the oldest is let go with what is known of it.
const MAX_OPEN: usize = 1_024;
/// Time that has one mark of a flow, at first: a slot.
const SPAN: Duration = Duration::from_millis(1);

/// Decision that marked or dropped a packet, as it fell.
#[derive(Clone, Copy, Debug)]
pub struct Decided {
    /// Time of the decision.
    pub at: Instant,
    /// Number of the packet, which rises in the order in which packets are decided on.
    pub packet: u64,
    /// Time at which its sender sent it; in a live cell, at which it came from the core.
    pub sent: Instant,
    /// UE of the bearer, from 0.
    pub ue: usize,
    /// Bearer: the DRB identity, from 1.
    pub drb: u8,
    /// Length of the IP packet.
    pub size: Bytes,
    /// ECN field before the decision.
    pub came: Ecn,
    /// True state of the RLC queue.
    pub queue: RlcQueue,
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
    flows: Vec<FlowMarks>,
    of_flow: usize,
    /// True where the senders are known, so that a mark is kept until its sender has answered.
    knows_senders: bool,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    decided: Decided,
    fate: Fate,
    /// Number of the first feedback packet that can bring it to the sender.
    feedback: Option<u64>,
    answer: Option<Answer>,
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    UnderWay,
    Arrived { at: Instant, in_routers: Option<Duration>, delay: DelaySplit },
    Lost(DropReason),
}

#[derive(Debug)]
struct FlowMarks {
    /// Marks under way or unanswered, by the numbers of their packets.
    open: VecDeque<Mark>,
    /// Least feedback number that can bring an open mark; the largest number where there is none.
    next_feedback: u64,
    /// Open marks that wait for an acknowledgement to be written into.
    without_feedback: u32,
    last: VecDeque<Mark>,
    /// Marks of the slowest packets, by delay and number.
    slowest: BTreeMap<(Duration, u64), Mark>,
    /// One mark for each span: the slowest packet's.
    spread: VecDeque<(u64, Mark)>,
    span: Duration,
}

impl Marks {
    /// Keeps marks of so many flows from now on; with `knows_senders`, until their senders have answered.
    pub fn begin(&mut self, flows: usize, knows_senders: bool) {
        self.of_flow = (MAX_MARKS / flows.max(1)).clamp(MIN_OF_FLOW, MAX_OF_FLOW);
        self.knows_senders = knows_senders;
    }

    /// True where marks are kept.
    pub fn are_kept(&self) -> bool {
        self.of_flow > 0
    }

    /// A law marked or dropped a packet of this flow.
    pub fn decided(&mut self, flow: usize, decided: Decided) {
        if self.flows.len() <= flow {
            self.flows.resize_with(flow + 1, FlowMarks::new);
        }
        let marks = &mut self.flows[flow];
        marks.without_feedback += u32::from(decided.decision.short_circuited);
        let position = marks.open.partition_point(|other| other.decided.packet < decided.packet);
        marks.open.insert(position, Mark { decided, fate: Fate::UnderWay, feedback: None, answer: None });
        if marks.open.len() > MAX_OPEN {
            marks.close(0, self.of_flow);
        }
    }

    /// True while a packet with a mark of the flow is under way, or its sender has not learned of one.
    #[inline]
    pub fn follow(&self, flow: usize) -> bool {
        self.flows.get(flow).is_some_and(|marks| !marks.open.is_empty())
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
        let Some((marks, position)) = self.find(flow, packet) else { return };
        let mark = &mut marks.open[position];
        mark.fate = Fate::Arrived { at, in_routers, delay };
        if !mark.decided.decision.short_circuited {
            mark.feedback = Some(feedback);
            marks.next_feedback = marks.next_feedback.min(feedback);
        }
        if mark.answer.is_some() || !self.knows_senders {
            self.flows[flow].close(position, self.of_flow);
        }
    }

    /// The network lost a packet of the flow.
    pub fn lost(&mut self, flow: usize, packet: u64, reason: DropReason) {
        let Some((marks, position)) = self.find(flow, packet) else { return };
        let mark = &mut marks.open[position];
        mark.fate = Fate::Lost(reason);
        if !mark.decided.decision.short_circuited || mark.answer.is_some() || !self.knows_senders {
            self.flows[flow].close(position, self.of_flow);
        }
    }

    /// The acknowledgement with this number passed the CU, which writes marks of the short-circuit into it.
    pub fn acknowledgement_passed(&mut self, flow: usize, feedback: u64) {
        let Some(marks) = self.flows.get_mut(flow).filter(|marks| marks.without_feedback > 0) else { return };
        marks.without_feedback = 0;
        for mark in
            marks.open.iter_mut().filter(|mark| mark.decided.decision.short_circuited && mark.feedback.is_none())
        {
            mark.feedback = Some(feedback);
        }
        marks.next_feedback = marks.next_feedback.min(feedback);
    }

    /// True if the feedback with this number can bring a mark to the flow's sender.
    #[inline]
    pub fn await_feedback(&self, flow: usize, feedback: u64) -> bool {
        self.flows.get(flow).is_some_and(|marks| marks.next_feedback <= feedback)
    }

    /// The feedback with this number told the flow's sender of marks.
    pub fn answered(&mut self, flow: usize, feedback: u64, answer: Answer) {
        let Some(marks) = self.flows.get_mut(flow) else { return };
        marks.next_feedback = u64::MAX;
        let mut position = 0;
        while position < marks.open.len() {
            let mark = &mut marks.open[position];
            match mark.feedback {
                Some(number) if number <= feedback && mark.answer.is_none() => mark.answer = Some(answer),
                Some(number) if mark.answer.is_none() => marks.next_feedback = marks.next_feedback.min(number),
                _ => {}
            }
            if mark.answer.is_some() && !matches!(mark.fate, Fate::UnderWay) {
                marks.close(position, self.of_flow);
            } else {
                position += 1;
            }
        }
    }

    fn find(&mut self, flow: usize, packet: u64) -> Option<(&mut FlowMarks, usize)> {
        let marks = self.flows.get_mut(flow)?;
        let position = marks.open.binary_search_by_key(&packet, |mark| mark.decided.packet).ok()?;
        Some((marks, position))
    }

    /// The latest mark of the flow with this number.
    pub fn last(&self, flow: usize, name: &str, ue: &str) -> Option<MarkResult> {
        let marks = self.flows.get(flow)?;
        marks.open.back().or(marks.last.back()).map(|mark| mark.result(name, ue).rounded())
    }

    /// Rows of all flows, each flow's by time. `flows` are their names, in the order of their numbers, and `ues` those of UEs; `None`
    /// where no marks are kept.
    pub(crate) fn results<'a>(&self, flows: impl Iterator<Item = &'a str>, ues: &[&str]) -> Option<Vec<MarkResult>> {
        let rows = flows.zip(&self.flows).flat_map(|(name, marks)| {
            let all = marks.all();
            all.into_values().map(move |mark| mark.result(name, ues.get(mark.decided.ue).copied().unwrap_or_default()))
        });
        self.are_kept().then(|| rows.collect())
    }
}

impl FlowMarks {
    fn new() -> Self {
        Self {
            open: VecDeque::new(),
            next_feedback: u64::MAX,
            without_feedback: 0,
            last: VecDeque::new(),
            slowest: BTreeMap::new(),
            spread: VecDeque::new(),
            span: SPAN,
        }
    }

    /// Keeps the mark at this position, of which nothing more is to come, with those that are `most` together.
    fn close(&mut self, position: usize, most: usize) {
        let Some(mark) = self.open.remove(position) else { return };
        let number = mark.decided.packet;
        let [last, slowest] = [most / 4, most / 4];
        self.last.push_back(mark);
        if self.last.len() > last {
            self.last.pop_front();
        }
        let delay = mark.delay();
        let is_slow = self.slowest.len() < slowest
            || self.slowest.first_key_value().is_some_and(|((least, _), _)| *least < delay);
        if is_slow {
            self.slowest.insert((delay, number), mark);
            if self.slowest.len() > slowest {
                self.slowest.pop_first();
            }
        }
        self.spread(mark, most - last - slowest);
    }

    /// Keeps the mark as its span's, unless the span has that of a slower packet.
    fn spread(&mut self, mark: Mark, most: usize) {
        let index = mark.decided.at.as_nanos() / self.span.as_nanos();
        match self.spread.binary_search_by_key(&index, |(index, _)| *index) {
            Ok(position) if self.spread[position].1.delay() < mark.delay() => self.spread[position].1 = mark,
            Ok(_) => {}
            Err(position) => self.spread.insert(position, (index, mark)),
        }
        while self.spread.len() > most {
            self.span = self.span * 2;
            let mut wider: VecDeque<(u64, Mark)> = VecDeque::with_capacity(most + 1);
            for (index, mark) in self.spread.drain(..) {
                match wider.back_mut().filter(|(last, _)| *last == index / 2) {
                    Some((_, kept)) if kept.delay() < mark.delay() => *kept = mark,
                    Some(_) => {}
                    None => wider.push_back((index / 2, mark)),
                }
            }
            self.spread = wider;
        }
    }

    /// Marks that are kept and those that are open, by time and number.
    fn all(&self) -> BTreeMap<(Instant, u64), Mark> {
        let spread = self.spread.iter().map(|(_, mark)| mark);
        let all = self.last.iter().chain(self.slowest.values()).chain(spread).chain(&self.open);
        all.map(|mark| ((mark.decided.at, mark.decided.packet), *mark)).collect()
    }
}

impl Mark {
    /// One-way delay of the packet; zero for one that is lost or under way.
    fn delay(&self) -> Duration {
        match self.fate {
            Fate::Arrived { at, .. } => at.since(self.decided.sent),
            Fate::UnderWay | Fate::Lost(_) => Duration::ZERO,
        }
    }

    fn result(&self, flow: &str, ue: &str) -> MarkResult {
        let Decided { at, packet, sent, drb, size, came, queue, decision, .. } = self.decided;
        let Decision { law, estimate, age, odds, draw, verdict, short_circuited } = decision;
        let seconds = Instant::as_secs_f64;
        let ms = Duration::as_millis_f64;
        let kb = |bytes: Bytes| bytes.as_f64() / 1e3;
        let mbps = BitRate::as_mbps;
        let (draw_kind, draw) = match draw {
            Draw::Certain => ("certain", None),
            Draw::Random(drawn) => ("random", Some(drawn)),
            Draw::Regular(sum) => ("regular", Some(sum)),
        };
        let (arrived, lost) = match self.fate {
            Fate::UnderWay => (None, ""),
            Fate::Arrived { at, in_routers, delay } => (Some((at, in_routers, delay)), ""),
            Fate::Lost(reason) => (None, cause(reason)),
        };
        let part = |of: fn(&DelaySplit) -> Duration| arrived.as_ref().map(|(.., delay)| ms(of(delay)));
        let propagation = |(at, in_routers, delay): (Instant, Option<Duration>, DelaySplit)| {
            ms(at.since(sent).saturating_sub(delay.total() + in_routers.unwrap_or_default()))
        };
        let answer = self.answer.as_ref();
        MarkResult {
            flow: flow.into(),
            packet,
            sent_s: seconds(sent),
            t_s: seconds(at),
            ue: ue.into(),
            drb,
            bytes: size.0,
            came: match came {
                Ecn::NotEct => "Not-ECT",
                Ecn::Ect1 => "ECT(1)",
                Ecn::Ect0 => "ECT(0)",
                Ecn::Ce => "CE",
            }
            .into(),
            verdict: match verdict {
                _ if short_circuited => "short-circuit",
                Verdict::Drop => "drop",
                Verdict::Mark | Verdict::Pass => "mark",
            }
            .into(),
            law: law.into(),
            rule: odds.rule.into(),
            mark_odds: odds.mark.get(),
            drop_odds: odds.drop.get(),
            draw_kind: draw_kind.into(),
            draw,
            age_ms: ms(age),
            estimated_kb: kb(estimate.backlog),
            estimated_mbps: estimate.egress.map(|egress| mbps(egress.rate)),
            deviation_mbps: estimate.egress.map(|egress| mbps(egress.deviation)),
            estimated_ms: estimate.sojourn.map(ms),
            report_age_ms: ms(estimate.report_age),
            queued_kb: kb(queue.backlog),
            queued_packets: queue.packets.into(),
            queued_ms: ms(queue.head_of_line),
            lost: lost.into(),
            arrived_s: arrived.map(|(at, ..)| seconds(at)),
            propagation_ms: arrived.map(propagation),
            router_ms: arrived.and_then(|(_, in_routers, _)| in_routers).map(ms),
            cu_ms: part(|delay| delay.cu),
            queuing_ms: part(|delay| delay.queuing),
            scheduling_ms: part(|delay| delay.scheduling),
            harq_ms: part(|delay| delay.harq),
            rlc_ms: part(|delay| delay.rlc),
            reordering_ms: part(|delay| delay.reordering),
            answered_s: answer.map(|answer| seconds(answer.at)),
            window_before_kb: answer.and_then(|answer| answer.before.window).map(kb),
            window_after_kb: answer.and_then(|answer| answer.after.window).map(kb),
            rate_before_mbps: answer.and_then(|answer| answer.before.rate).map(mbps),
            rate_after_mbps: answer.and_then(|answer| answer.after.rate).map(mbps),
        }
    }
}

fn cause(reason: DropReason) -> &'static str {
    match reason {
        DropReason::Law => "law",
        DropReason::QueueFull => "full queue",
        DropReason::Radio => "radio",
        DropReason::Handover => "handover",
        DropReason::Discarded => "discard timer",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidemark_core::Probability;
    use tidemark_marker::{Estimate, Odds};

    use super::*;

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
        let (size, came, queue) = (Bytes(1_500), Ecn::Ect1, RlcQueue::default());
        Decided { at, packet, sent, ue: 0, drb: 1, size, came, queue, decision }
    }

    fn delay(queuing: Duration) -> (Option<Duration>, DelaySplit) {
        (None, DelaySplit { queuing, ..DelaySplit::default() })
    }

    fn rows(marks: &Marks) -> Vec<MarkResult> {
        marks.results(["f"].into_iter(), &["ue"]).unwrap().rounded()
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
                marks.decided(0, decided(packet, at, false));
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
        marks.decided(0, decided(7, Instant::from_millis(10), false));
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
        marks.decided(0, decided(7, Instant::from_millis(10), true));
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
        marks.decided(0, decided(7, Instant::from_millis(10), false));
        marks.lost(0, 7, DropReason::QueueFull);
        assert!(!marks.follow(0));
        assert_eq!((rows(&marks)[0].lost.as_ref(), rows(&marks)[0].queuing_ms), ("full queue", None));
    }

    #[test]
    fn marks_that_nobody_answers_do_not_add_up() {
        let mut marks = Marks::default();
        marks.begin(1, true);
        for packet in 0..5_000 {
            marks.decided(0, decided(packet, Instant::from_millis(packet), false));
        }
        assert_eq!(marks.flows[0].open.len(), MAX_OPEN);
    }

    #[test]
    fn a_file_of_marks_is_read_as_it_was_written() {
        let mut marks = Marks::default();
        marks.begin(1, true);
        for (packet, lost) in [(1, false), (2, true)] {
            marks.decided(0, decided(packet, Instant::from_millis(10), false));
            match lost {
                true => marks.lost(0, packet, DropReason::Radio),
                false => marks.arrived(0, packet, Instant::from_millis(20), delay(Duration::from_millis(10)), 4),
            }
        }
        let rows = rows(&marks);
        let text = crate::output::marks_csv(&rows).unwrap();
        assert_eq!(crate::output::read_marks(&text).unwrap(), rows);
        let error = |text: String| crate::output::read_marks(&text).unwrap_err().to_string();
        let wrong = error(text.replacen(",1500,", ",many,", 1));
        assert!(wrong.contains("line: 2") && wrong.contains("field 6"), "{wrong}");
        assert!(error(text.replacen(",packet,", ",number,", 1)).contains("missing field `packet`"));
    }
}
