//! `tidemark net hop`: a wired bottleneck between two interfaces.

mod record;
pub(super) mod status;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as Wait;

use clap::Args;
use miette::{Result, miette};
use tidemark_core::{BitRate, Duration};
use tidemark_emu::lease::Lease;
use tidemark_emu::signals::Signals;
use tidemark_emu::{Hop as Driver, HopCommand, HopPlan};
use tidemark_sim::RunResult;
use tidemark_sim::scenario::{SAMPLE_INTERVAL, Scenario};

use self::record::Recorder;
use self::status::Running;
use super::web;
use crate::folder::{self, Force};
use crate::results::write;
use tidemark_terminal::error::diagnostic;

/// Arguments of `tidemark net hop`.
#[derive(Args)]
pub(crate) struct Hop {
    /// Scenario with one `[[router]]` for both directions, or two: from left to right, and back
    file: Option<PathBuf>,
    /// Interface on the left
    #[arg(long, value_name = "INTERFACE")]
    left: String,
    /// Interface on the right
    #[arg(long, value_name = "INTERFACE")]
    right: String,
    /// Rate of the link from left to right, counted in IP packets, such as "100 Mbit/s"
    #[arg(long, value_name = "RATE", required_unless_present = "file", conflicts_with = "file")]
    rate: Option<BitRate>,
    /// Rate of the link from right to left [default: as from left to right]
    #[arg(long, value_name = "RATE", conflicts_with = "file")]
    rate_back: Option<BitRate>,
    /// One-way delay of the wire, in each direction
    #[arg(long, value_name = "TIME", conflicts_with = "file")]
    delay: Option<Duration>,
    /// Queue discipline in both directions: drop-tail, codel, dualpi2, sdn-port or fifo [default: drop-tail]
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    discipline: Option<String>,
    /// Replace a value of the scenario: router.0.queue.target="10 ms"; router 0 is left to right, 1 is back (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Time to run [default: the duration of the file, or until Ctrl-C]
    #[arg(long, value_name = "TIME")]
    time: Option<Duration>,
    /// Folder for results and report
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Serve the live view and Prometheus' counters at this port of loopback; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    web: Option<u16>,
}

/// Placeholder flow: a scenario without UEs needs one, and a hop has none.
const NO_FLOW: &str = "[[flow]]\nname = \"none\"\nround_trip = \"10 ms\"\nsender = { controller = \"cubic\" }\n";
/// Longest delay of a hop's wire.
const MAX_DELAY: Duration = Duration::from_secs(10);

impl Hop {
    /// Runs for its time, or until a signal.
    pub(crate) fn execute(&self) -> Result<u8> {
        let refused = |error: tidemark_emu::Error| miette!("{error}");
        let scenario = self.scenario()?;
        let routers = match scenario.router.as_slice() {
            [both] => [both.clone(), both.clone()],
            [right, left] => [right.clone(), left.clone()],
            others => {
                return Err(miette!(
                    "router: a hop has one [[router]] for both directions, or two: from left to right, and back; there are {}",
                    others.len()
                ));
            }
        };
        if let Some(router) = routers.iter().find(|router| router.delay > MAX_DELAY) {
            return Err(miette!("router.delay: must be at most {MAX_DELAY}; found {}", router.delay));
        }
        // A folder that can't be written is reported before the run, not after it.
        self.out.as_deref().map(|out| folder::for_run(out, &scenario, self.force)).transpose()?;
        let signals = Signals::take().map_err(refused)?;
        let lease = Lease::claim().map_err(refused)?;
        let running = Arc::new(Running::default());
        let recorder = Arc::new(Mutex::new(Recorder::new(&scenario, &routers, Arc::clone(&running))));
        let plan = HopPlan { interfaces: [self.left.clone(), self.right.clone()], routers, seed: scenario.seed };
        let (hop, control) =
            Driver::new(&plan, Arc::clone(&recorder), scenario.sample_interval.unwrap_or(SAMPLE_INTERVAL))
                .map_err(refused)?;
        running.listen(&lease.socket(), format!("{}, hop: {} to {}", scenario.name, self.left, self.right))?;
        if let Some(port) = self.web {
            eprintln!("tidemark: live view at http://{}/", web::start(port, Arc::clone(&running), None)?);
        }
        eprintln!("tidemark: hop between {} and {}", self.left, self.right);
        let ending = control.clone();
        std::thread::spawn(move || {
            signals.wait_for_any();
            ending.send(HopCommand::Stop);
        });
        if let Some(time) = self.time.or(self.file.as_ref().map(|_| scenario.duration)) {
            std::thread::spawn(move || {
                std::thread::sleep(Wait::from_nanos(time.as_nanos()));
                control.send(HopCommand::Stop);
            });
        }
        let outcome = hop.run();
        let mut result = recorder.lock().unwrap_or_else(PoisonError::into_inner).result();
        eprintln!("{}", outline(&result));
        result.warnings.iter().for_each(|warning| eprintln!("tidemark: {warning}"));
        println!("{}", running.status());
        if let Some(out) = &self.out {
            eprintln!("report: {}", write(out, &mut result)?.display());
        }
        outcome.map(|()| 0).map_err(refused)
    }

    /// The file's scenario, or the one that the options describe.
    fn scenario(&self) -> Result<Scenario> {
        match (&self.file, self.rate) {
            (Some(file), _) => Scenario::load(file, &self.overrides).map_err(diagnostic),
            (None, Some(rate)) => {
                let text = self.text(rate);
                let mut scenario =
                    Scenario::parse("the options of tidemark net hop", &text, Path::new(""), &self.overrides)
                        .map_err(diagnostic)?;
                scenario.text = scenario.text.replace(NO_FLOW, "");
                Ok(scenario)
            }
            (None, None) => Err(miette!("--rate: name the rate of the link, as in --rate \"100 Mbit/s\"")),
        }
    }

    /// The options as the text of a scenario.
    fn text(&self, rate: BitRate) -> String {
        // The duration is the longest that a scenario may have: a hop without a file ends by `--time` or a signal.
        let mut text = String::from("name = \"hop\"\nduration = \"86400 s\"\n");
        text += NO_FLOW;
        let discipline = self.discipline.as_deref().unwrap_or("drop-tail").escape_default();
        let delay = self.delay.unwrap_or_default();
        for (name, rate) in [("to-right", rate), ("to-left", self.rate_back.unwrap_or(rate))] {
            // Writing to a string can't fail.
            let _ = write!(
                text,
                "[[router]]\nname = \"{name}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = {{ discipline = \"{discipline}\" }}\n"
            );
        }
        text
    }
}

/// Writes the summary line of a hop that has ended.
fn outline(result: &RunResult) -> String {
    let ways = result.routers.iter().map(|router| {
        let queue = router.queue_ms.map_or("no packets".into(), |queue| {
            format!("queue delay p50 {:.1} ms, p99 {:.1} ms", queue.p50, queue.p99)
        });
        format!(
            "{}: {:.2} of {:.2} Mbit/s, {queue}, {} marks, {} drops",
            router.name, router.throughput_mbps, router.capacity_mbps, router.marked, router.dropped
        )
    });
    let late = result.live.as_ref().and_then(|live| live.lateness_us);
    let late =
        late.map_or(String::new(), |late| format!("; late by p50 {:.0} us, p99.9 {:.0} us", late.p50, late.p999));
    format!("tidemark: {}, {:.1} s: {}{late}", result.name, result.duration_s, ways.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(discipline: &str) -> Hop {
        Hop {
            file: None,
            left: "a".into(),
            right: "b".into(),
            rate: Some(BitRate::from_mbps(100)),
            rate_back: Some(BitRate::from_kbps(2_500)),
            delay: Some(Duration::from_millis(5)),
            discipline: Some(discipline.into()),
            overrides: vec!["router.1.delay=1 ms".into()],
            time: None,
            out: None,
            force: Force { force: false },
            web: None,
        }
    }

    #[test]
    fn the_options_are_a_scenario_of_two_routers() {
        for discipline in ["drop-tail", "codel", "dualpi2", "sdn-port", "fifo"] {
            let scenario = hop(discipline).scenario().unwrap();
            assert!(!scenario.text.contains("flow"), "{}", scenario.text);
            let routers = scenario.router;
            assert_eq!((routers[0].rate, routers[1].rate), (BitRate::from_mbps(100), BitRate::from_kbps(2_500)));
            assert_eq!((routers[0].delay, routers[1].delay), (Duration::from_millis(5), Duration::from_millis(1)));
        }
    }

    #[test]
    fn a_discipline_that_is_none_is_refused_with_those_that_are() {
        for wrong in ["fq_codel", "\" }"] {
            let error = hop(wrong).scenario().unwrap_err().to_string();
            assert!(error.contains("router.0.queue") && error.contains("dualpi2"), "{error}");
        }
    }
}
