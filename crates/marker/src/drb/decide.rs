//! Turns the odds of a law into the verdict on a packet.

use tidemark_core::{Bytes, Ecn, FlowId, Instant, Probability, Stream, TcpView};

use super::DrbMarker;
use crate::decision::Draw;
use crate::law::Odds;
use crate::overload;
use crate::qos_flow::{Marking, QosFlow};
use crate::verdict::{Class, Verdict};

impl DrbMarker {
    /// Applies the law's odds in an overload to packets that the flow's score lets pass.
    #[cold]
    #[inline(never)]
    pub(super) fn decide_in_overload(
        &mut self,
        now: Instant,
        (flow, size): (FlowId, Bytes),
        (ecn, class): (Ecn, Class),
        odds: Odds,
        unmarked: Option<&QosFlow>,
    ) -> (Verdict, Draw, Odds) {
        // The UPF tells the sender of a flow that is not marked here, or nobody does.
        let is_told = unmarked.is_none_or(|flow| flow.marking() == Marking::Report);
        if is_told && let Some((odds, draw)) = self.score(now, flow, size, odds) {
            return (Verdict::Drop, draw, odds);
        }
        let (verdict, draw) = self.decide(ecn, class, odds);
        (verdict, draw, odds)
    }

    /// Books a packet to its flow in an overload. Gives the odds and the draw of a drop if the flow's score drops it.
    fn score(&mut self, now: Instant, flow: FlowId, size: Bytes, law: Odds) -> Option<(Odds, Draw)> {
        // Nothing is known of the queue then.
        if self.lacks_reports(now) {
            return None;
        }
        let p = law.likelier();
        let pressure = self.apart.overload.pressure(p.get());
        let flow = self.flows.get(flow).map(|flow| (&mut flow.account, flow.packets));
        let odds = Odds { drop: self.apart.overload.odds(flow.as_ref()), rule: overload::RULE, ..law };
        let (dropped, draw) = chance(&mut self.stream, odds.drop);
        self.apart.overload.book(now, flow, pressure, size.as_f64(), dropped);
        dropped.then(|| {
            self.probability = p;
            self.tally.drops += 1;
            (odds, draw)
        })
    }

    /// Leaves a mark to the flow's acknowledgements instead of the packet; false for flows that do not allow this.
    #[inline]
    pub(super) fn defer_mark(&mut self, flow: FlowId, tcp: Option<TcpView>) -> bool {
        tcp.is_some_and(|tcp| self.flows.get(flow).is_some_and(|flow| flow.feedback.mark(&tcp)))
    }

    /// Marks a packet that the law let pass, instead of marks for which its flow's acknowledgements had no room. False for a packet that can't
    /// be marked.
    #[cold]
    pub(super) fn settle(&mut self, flow: FlowId, ecn: Ecn, class: Class) -> bool {
        // CE says already what a mark could say, and a sender without ECN would not hear it (RFC 3168 5).
        if !is_markable(ecn) {
            return false;
        }
        // A flow that the table lost owes nothing any more; its packet may be marked all the same.
        if let Some(flow) = self.flows.get(flow) {
            flow.feedback.settle();
            self.count_mark(class);
        }
        true
    }

    #[inline]
    fn count_mark(&mut self, class: Class) {
        match class {
            Class::L4s => self.tally.l4s_marks += 1,
            Class::Classic | Class::NotEct => self.tally.classic_marks += 1,
        }
    }

    /// Applies the law's odds, as far as the packet allows.
    #[inline(always)]
    pub(super) fn decide(&mut self, ecn: Ecn, class: Class, odds: Odds) -> (Verdict, Draw) {
        self.probability = odds.likelier();
        // The drop is drawn first, and without odds draws nothing: the marks of a law that never drops are those of one draw a packet.
        let mut draw = Draw::Certain;
        if odds.drop > Probability::ZERO {
            let dropped;
            // An end, and not a mark besides: the sender of a dropped packet would answer both.
            (dropped, draw) = self.happens(class, odds.drop);
            if dropped {
                self.tally.drops += 1;
                return (Verdict::Drop, draw);
            }
        }
        // CE stays CE, and a mark on Not-ECT would tell a sender that does not listen (RFC 3168 5).
        if !is_markable(ecn) {
            return (Verdict::Pass, draw);
        }
        let (marked, draw) = self.happens(class, odds.mark);
        // Most packets end here: the odds are per packet, and small where the law works as meant.
        if !marked {
            return (Verdict::Pass, draw);
        }
        self.count_mark(class);
        (Verdict::Mark, draw)
    }

    /// True if an event of this likelihood happens to the packet at hand, of this class, with the draw that said so.
    #[inline]
    fn happens(&mut self, class: Class, likelihood: Probability) -> (bool, Draw) {
        // A law with regular marks adds the odds up and marks at each whole: as often, without the chance of bursts.
        if let Some(recurrence) = self.law.recurrence(class) {
            let (happens, sum) = recurrence.add(likelihood);
            return (happens, Draw::Regular(sum));
        }
        chance(&mut self.stream, likelihood)
    }
}

/// True for a packet that a mark changes, and whose sender understands it.
fn is_markable(ecn: Ecn) -> bool {
    Class::of(ecn).is_some_and(|shown| shown != Class::NotEct)
}

/// True if an event of this likelihood happens, by the next number of the stream, with the draw that said so.
#[inline(always)]
fn chance(stream: &mut Stream, likelihood: Probability) -> (bool, Draw) {
    let p = likelihood.get();
    // A certain event draws nothing, so that the stream of the uncertain ones does not depend on it.
    if p <= 0.0 || p >= 1.0 {
        return (p >= 1.0, Draw::Certain);
    }
    let drawn = stream.uniform();
    (drawn < p, Draw::Random(drawn))
}
