//! Verdict on each flow of a live cell: whether it asked for marks, was marked and gave way.

use tidemark_core::Ecn;

/// Least number of packets of a flow with a verdict.
const MIN_PACKETS: u64 = 100;
/// Least number of marks for a verdict on the answer to them.
const MIN_MARKS: u64 = 20;
/// Share of marked or dropped packets since the first mark above which a flow does not give way: it keeps the queue above the law's
/// threshold. A sender that answers gets a few marks per round trip.
const UNANSWERED: f64 = 0.5;
/// Most flows with a sentence; if there are more, those with the most packets get one.
const MAX_FLOWS: usize = 12;

/// Downlink packets of a flow by their codepoint on arrival, with the law's marks and drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Codepoints {
    /// Arrivals by the two bits of the codepoint: Not-ECT, ECT(1), ECT(0), CE.
    came: [u64; 4],
    marked: u64,
    /// Packets that arrived since the first mark.
    since: u64,
    dropped: u64,
}

impl Codepoints {
    /// Counts a packet that came from the core.
    pub(super) fn came(&mut self, ecn: Ecn) {
        self.came[usize::from(ecn.bits() & 3)] += 1;
        self.since += u64::from(self.marked > 0);
    }

    /// Counts a mark.
    pub(super) fn marked(&mut self) {
        self.marked += 1;
    }

    /// Counts a packet that the law or a full queue dropped. A flood is dropped before it can be marked.
    pub(super) fn dropped(&mut self) {
        self.dropped += u64::from(self.marked > 0);
    }

    /// Packets that arrived with this codepoint.
    pub(super) fn with(&self, ecn: Ecn) -> u64 {
        self.came[usize::from(ecn.bits() & 3)]
    }

    /// Marks of the law.
    pub(super) fn marks(&self) -> u64 {
        self.marked
    }

    fn packets(&self) -> u64 {
        self.came.iter().sum()
    }

    /// Marks and drops over packets since the first mark.
    fn share(&self) -> f64 {
        ((self.marked + self.dropped) as f64 / self.since.max(1) as f64).min(1.0)
    }

    /// True if the flow gave way to its marks; `None` if there are too few packets or marks to tell.
    pub(super) fn gave_way(&self) -> Option<bool> {
        (self.packets() >= MIN_PACKETS && self.marked >= MIN_MARKS).then(|| self.share() < UNANSWERED)
    }

    fn verdict(&self) -> String {
        let (l4s, classic) = (self.with(Ecn::Ect1), self.with(Ecn::Ect0));
        let asked = match (l4s, classic) {
            (0, 0) if self.with(Ecn::Ce) > 0 => {
                return "all of its packets arrived with CE: another hop marks them".into();
            }
            (0, 0) => return "sent without ECN: it can't be marked".into(),
            (l4s, classic) if l4s >= classic => "L4S",
            _ => "classic ECN",
        };
        let (marks, share) = (format!("marked {} times", self.marked), self.share() * 100.0);
        match self.gave_way() {
            None if self.marked == 0 => {
                format!("asked for {asked} but was not marked: its response is unknown")
            }
            None => format!("asked for {asked}, {marks}: too few to judge its response"),
            Some(false) => {
                format!("{marks}, {share:.0} % of its packets marked or dropped, did not give way: it harms others")
            }
            Some(true) => format!("{marks}, {share:.1} % of its packets, gave way: it does {asked}"),
        }
    }
}

/// Sentences on flows by their names, those with the most packets first.
pub(super) fn sentences<'a>(flows: impl Iterator<Item = (&'a str, Codepoints)>) -> Vec<String> {
    let mut flows: Vec<_> = flows.filter(|(_, of)| of.packets() >= MIN_PACKETS).collect();
    flows.sort_by_key(|(_, of)| std::cmp::Reverse(of.packets()));
    let counts = |of: Codepoints| {
        let names = ["Not-ECT", "ECT(1)", "ECT(0)", "CE"];
        let counted = names.iter().zip(of.came).filter(|(_, count)| *count > 0);
        counted.map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    };
    let sentence = |(name, of): &(&str, Codepoints)| format!("{name}: {} ({})", of.verdict(), counts(*of));
    let hidden = flows.len().saturating_sub(MAX_FLOWS);
    let more = (hidden > 0).then(|| format!("and {hidden} more flows"));
    flows.iter().take(MAX_FLOWS).map(sentence).chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(ecn: Ecn, packets: u64, marks: impl Fn(u64) -> bool) -> Codepoints {
        let mut flow = Codepoints::default();
        for number in 0..packets {
            flow.came(ecn);
            if marks(number) {
                flow.marked();
            }
        }
        flow
    }

    /// A flood at twice the cell's rate: half of it is dropped, and most of what is left is marked.
    #[test]
    fn a_flood_that_is_dropped_as_much_as_it_is_marked_did_not_give_way() {
        let mut flood = Codepoints::default();
        for number in 0..10_000 {
            flood.came(Ecn::Ect1);
            if number % 20 < 9 { flood.marked() } else { flood.dropped() }
        }
        assert_eq!(flood.gave_way(), Some(false));
    }

    #[test]
    fn every_flow_has_a_sentence_on_its_answer() {
        let flows = [
            ("call", flow(Ecn::Ect1, 9_000, |number| number > 500 && number % 20 == 0)),
            ("rude", flow(Ecn::Ect1, 10_000, |number| number > 1_000)),
            ("old", flow(Ecn::NotEct, 800, |_| false)),
            ("short", flow(Ecn::Ect1, 700, |_| false)),
            ("kernel", flow(Ecn::Ect0, 600, |number| number % 25 == 0)),
            ("ping", flow(Ecn::NotEct, 5, |_| false)),
        ];
        assert_eq!(
            sentences(flows.into_iter()),
            [
                "rude: marked 8999 times, 100 % of its packets marked or dropped, did not give way: it harms others (10000 ECT(1))",
                "call: marked 424 times, 5.0 % of its packets, gave way: it does L4S (9000 ECT(1))",
                "old: sent without ECN: it can't be marked (800 Not-ECT)",
                "short: asked for L4S but was not marked: its response is unknown (700 ECT(1))",
                "kernel: marked 24 times, 4.0 % of its packets, gave way: it does classic ECN (600 ECT(0))",
            ]
        );
    }
}
