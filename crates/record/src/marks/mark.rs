//! One mark: a decision, the fate of its packet, and the answer of the sender.

use tidemark_cell::DelaySplit;
use tidemark_core::{Bytes, Duration, Ecn, Instant};
use tidemark_marker::{Decision, Draw, Egress, Estimate, Odds, RlcQueue, Verdict};

use super::row::Row;
use super::{Answer, Decided, DropReason, Sending};

/// One mark with what is known of it so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) at: Instant,
    pub(super) packet: u64,
    sent: Instant,
    ue: u32,
    drb: u8,
    came: Ecn,
    verdict: Verdict,
    pub(super) short_circuited: bool,
    size: Bytes,
    queue: Option<RlcQueue>,
    law: &'static str,
    odds: Odds,
    draw: Draw,
    age: Duration,
    backlog: Bytes,
    egress: Option<Egress>,
    sojourn: Option<Duration>,
    report_age: Duration,
    pub(super) fate: Fate,
    /// Number of the first feedback packet that can bring it to the sender.
    pub(super) feedback: Option<u64>,
    pub(super) answer: Option<Answer>,
}

/// Fate of a marked packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// Not known yet, or never.
    UnderWay,
    /// Arrived; `in_routers` is absent where there is no router on its way.
    Arrived { at: Instant, in_routers: Option<Duration>, delay: DelaySplit },
    /// Lost in the network.
    Lost(DropReason),
}

/// Mark as a live view shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latest {
    /// Number of the flow.
    pub flow: usize,
    /// Time of the decision.
    pub at: Instant,
    /// Number of the packet.
    pub packet: u64,
    /// `mark`, `short-circuit` or `drop`.
    pub verdict: &'static str,
    /// Marking law.
    pub law: &'static str,
    /// Rule of the law that gave the odds.
    pub rule: &'static str,
    /// Sojourn time that the marker estimated.
    pub estimated: Option<Duration>,
    /// True age of the oldest SDU in the RLC queue; `None` in a CU.
    pub queued: Option<Duration>,
}

impl Mark {
    pub(super) fn new(decided: &Decided) -> Self {
        let Decided { at, packet, sent, ue, drb, size, came, queue, ref decision } = *decided;
        let Decision { law, ref estimate, age, odds, draw, verdict, short_circuited } = *decision;
        let Estimate { backlog, egress, sojourn, report_age, .. } = *estimate;
        Self {
            at,
            packet,
            sent,
            ue,
            drb,
            came,
            verdict,
            short_circuited,
            size,
            queue,
            law,
            odds,
            draw,
            age,
            backlog,
            egress,
            sojourn,
            report_age,
            fate: Fate::UnderWay,
            feedback: None,
            answer: None,
        }
    }

    /// One-way delay of the packet; zero for one that is lost or under way.
    pub(super) fn delay(&self) -> Duration {
        match self.fate {
            Fate::Arrived { at, .. } => at.since(self.sent),
            Fate::UnderWay | Fate::Lost(_) => Duration::ZERO,
        }
    }

    pub(super) fn latest(&self, flow: usize) -> Latest {
        Latest {
            flow,
            at: self.at,
            packet: self.packet,
            verdict: self.verdict(),
            law: self.law,
            rule: self.odds.rule,
            estimated: self.sojourn,
            queued: self.queue.map(|queue| queue.head_of_line),
        }
    }

    fn verdict(&self) -> &'static str {
        match self.verdict {
            _ if self.short_circuited => "short-circuit",
            Verdict::Drop => "drop",
            Verdict::Mark | Verdict::Pass => "mark",
        }
    }

    /// Writes the row of `marks.csv`; `flow` and `ues` are names as CSV has them.
    pub(super) fn write(&self, flow: &str, ues: &[String], row: &mut Row<'_>) {
        row.word("flow", flow);
        row.count("packet", Some(self.packet));
        row.seconds("sent_s", Some(self.sent));
        row.seconds("t_s", Some(self.at));
        row.word("ue", ues.get(self.ue as usize).map_or("", String::as_str));
        row.count("drb", Some(self.drb.into()));
        row.count("bytes", Some(self.size.0));
        self.write_decision(row);
        self.write_fate(row);
        self.write_answer(row);
        row.end();
    }

    /// Writes what was decided, and what the law knew.
    fn write_decision(&self, row: &mut Row<'_>) {
        let (draw_kind, draw) = match self.draw {
            Draw::Certain => ("certain", None),
            Draw::Random(drawn) => ("random", Some(drawn)),
            Draw::Regular(sum) => ("regular", Some(sum)),
        };
        row.word("came", ecn(self.came));
        row.word("verdict", self.verdict());
        row.text("law", self.law);
        row.text("rule", self.odds.rule);
        row.float("mark_odds", Some(self.odds.mark.get()));
        row.float("drop_odds", Some(self.odds.drop.get()));
        row.word("draw_kind", draw_kind);
        row.float("draw", draw);
        row.milliseconds("age_ms", Some(self.age));
        row.kilobytes("estimated_kb", Some(self.backlog));
        row.megabits("estimated_mbps", self.egress.map(|egress| egress.rate));
        row.megabits("deviation_mbps", self.egress.map(|egress| egress.deviation));
        row.milliseconds("estimated_ms", self.sojourn);
        row.milliseconds("report_age_ms", Some(self.report_age));
        row.kilobytes("queued_kb", self.queue.map(|queue| queue.backlog));
        row.count("queued_packets", self.queue.map(|queue| queue.packets.into()));
        row.milliseconds("queued_ms", self.queue.map(|queue| queue.head_of_line));
    }

    /// Writes what became of the packet, and where it waited.
    fn write_fate(&self, row: &mut Row<'_>) {
        let (mut arrived, mut lost, mut in_routers, mut parts) = (None, "", None, None);
        match self.fate {
            Fate::UnderWay => {}
            Fate::Arrived { at, in_routers: routers, delay } => {
                (arrived, in_routers, parts) = (Some(at), routers, Some(delay));
            }
            Fate::Lost(reason) => lost = reason.name(),
        }
        let propagation = arrived.zip(parts).map(|(at, parts): (Instant, DelaySplit)| {
            at.since(self.sent).saturating_sub(parts.total() + in_routers.unwrap_or_default())
        });
        let part = |of: fn(&DelaySplit) -> Duration| parts.as_ref().map(of);
        row.word("lost", lost);
        row.seconds("arrived_s", arrived);
        row.milliseconds("propagation_ms", propagation);
        row.milliseconds("router_ms", in_routers);
        row.milliseconds("cu_ms", part(|parts| parts.cu));
        row.milliseconds("queuing_ms", part(|parts| parts.queuing));
        row.milliseconds("scheduling_ms", part(|parts| parts.scheduling));
        row.milliseconds("harq_ms", part(|parts| parts.harq));
        row.milliseconds("rlc_ms", part(|parts| parts.rlc));
        row.milliseconds("reordering_ms", part(|parts| parts.reordering));
    }

    /// Writes what the sender did once it knew.
    fn write_answer(&self, row: &mut Row<'_>) {
        let sending = |of: fn(&Answer) -> Sending| self.answer.as_ref().map(of).unwrap_or_default();
        let (before, after) = (sending(|answer| answer.before), sending(|answer| answer.after));
        row.seconds("answered_s", self.answer.as_ref().map(|answer| answer.at));
        row.kilobytes("window_before_kb", before.window);
        row.kilobytes("window_after_kb", after.window);
        row.megabits("rate_before_mbps", before.rate);
        row.megabits("rate_after_mbps", after.rate);
    }
}

fn ecn(field: Ecn) -> &'static str {
    match field {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ce => "CE",
    }
}
