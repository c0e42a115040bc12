//! Marks of a CU, recorded with their reasons.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tidemark_cell::DropReason;
use tidemark_emu::{CuObserver, CuSignal};
use tidemark_marker::Verdict;
use tidemark_record::files::MARKS;
use tidemark_record::marks::Decided;
use tidemark_record::staging;
use tidemark_record::{Limits, Recorder};
use tidemark_sim::scenario::{NamedUe, Scenario};

use crate::live::flows::Flows;

/// Marks of a CU, which knows neither the DU's queue nor the fate of a packet.
pub(super) struct Marks {
    recorder: Recorder,
    ues: Vec<NamedUe>,
    flows: Flows,
}

impl Marks {
    /// Starts a record of marks for a CU of this scenario.
    pub(super) fn new(scenario: &Scenario) -> Self {
        let ues = scenario.ues();
        let mut recorder = Recorder::new(scenario.warmup, &ues, 0, Limits::LIVE);
        recorder.marks.begin(1, false);
        Self { recorder, ues, flows: Flows::default() }
    }

    /// Observer of a CU that records its marks in `marks`.
    pub(super) fn observer(marks: &Arc<Mutex<Self>>) -> CuObserver {
        let marks = Arc::clone(marks);
        // The lock is always free: marks are read after the CU has ended.
        Box::new(move |signal| marks.lock().unwrap_or_else(PoisonError::into_inner).keep(signal))
    }

    fn keep(&mut self, signal: &CuSignal) {
        let CuSignal { at, bearer, flow, tuple, number: packet, size, came, decision } = *signal;
        let flow = self.flows.number(&mut self.recorder, &self.ues, (flow, bearer.ue), tuple);
        let (ue, drb, sent, queue) = (bearer.ue.0, bearer.drb, at, None);
        self.recorder.marks.decided(flow, &Decided { at, packet, sent, ue, drb, size, came, queue, decision });
        match decision.verdict {
            Verdict::Drop => self.recorder.marks.lost(flow, packet, DropReason::Law),
            Verdict::Mark | Verdict::Pass => self.recorder.marks.left(flow, packet),
        }
    }

    /// Text of `marks.csv`.
    pub(super) fn csv(&self) -> String {
        let flows = self.flows.iter().map(|flow| flow.name.as_str());
        self.recorder.marks.csv(flows, self.ues.iter().map(|ue| ue.name.as_str())).unwrap_or_default()
    }

    /// Writes marks and scenario into the folder of the run.
    ///
    /// # Errors
    /// A file that can't be written.
    pub(super) fn write(&self, folder: &Path, scenario: &Scenario) -> io::Result<()> {
        let files = [("scenario.toml", scenario.text.clone()), (MARKS, self.csv())];
        staging::replace(folder, [MARKS], files.map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tidemark_cell::{BearerId, UeId};
    use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Probability};
    use tidemark_marker::{Decision, Draw, Estimate, Odds, SnLength};
    use tidemark_record::output::read_marks;

    use super::*;

    #[test]
    fn a_cu_keeps_what_its_marker_knew_and_nothing_of_the_du() {
        let text = "name = \"gnb\"\nduration = \"1 s\"\n[[ue]]\nname = \"a\"\n";
        let scenario = Scenario::parse("test", text, Path::new(""), &[]).unwrap();
        let marks = Arc::new(Mutex::new(Marks::new(&scenario)));
        let mut observer = Marks::observer(&marks);
        for (number, verdict) in [(7, Verdict::Mark), (9, Verdict::Drop)] {
            let decision = Decision {
                law: "l4span",
                estimate: Estimate { sojourn: Some(Duration::from_millis(12)), ..Estimate::default() },
                age: Duration::ZERO,
                odds: Odds { mark: Probability::new(0.5), drop: Probability::ZERO, rule: "l4s sojourn" },
                draw: Draw::Random(0.25),
                verdict,
                short_circuited: false,
            };
            let bearer = BearerId { ue: UeId(0), drb: 1, sn_length: SnLength::Bits18 };
            let (at, flow, tuple) = (Instant::from_millis(number), FlowId(4), None);
            observer(&CuSignal { at, bearer, flow, tuple, number, size: Bytes(100), came: Ecn::Ect1, decision });
        }
        let folder = tempfile::TempDir::new().unwrap();
        marks.lock().unwrap().write(folder.path(), &scenario).unwrap();
        let rows = read_marks(&fs::read_to_string(folder.path().join(MARKS)).unwrap()).unwrap();
        let row = |index: usize| (rows[index].packet, &*rows[index].verdict, &*rows[index].lost, rows[index].queued_ms);
        assert_eq!((row(0), row(1)), ((7, "mark", "", None), (9, "drop", "law", None)));
        assert_eq!((rows[0].ue.as_str(), rows[0].estimated_ms, rows[0].arrived_s), ("a", Some(12.0), None));
    }
}
