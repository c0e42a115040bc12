//! Answers of a running CU to `tidemark ctl` and to Prometheus.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use miette::Result;
use tidemark_cell::{DrbConfig, UeConfig};
use tidemark_emu::{Control, CuCommand, laws};
use tidemark_marker::MarkerConfig;
use tidemark_sim::scenario::Scenario;

use super::status::{BearerStatus, CuStatus};
use super::without_dequeuing;
use crate::live::control::{UNKNOWN, listen, state};
use crate::live::past::Past;
use crate::live::tunnels::configs;
use crate::live::web::Source;

/// Time between two samples of the state.
const PERIOD: Duration = Duration::from_millis(100);

/// State of a running CU and its past, for other threads.
pub(super) struct Running {
    /// The scenario with all changes so far.
    scenario: Mutex<Scenario>,
    control: Control<CuCommand>,
    past: Past<BearerStatus>,
}

impl Running {
    /// Wraps a CU of this scenario.
    pub(super) fn new(scenario: Scenario, control: Control<CuCommand>) -> Self {
        Self { scenario: Mutex::new(scenario), control, past: Past::default() }
    }

    /// The scenario with all changes so far.
    pub(super) fn scenario(&self) -> Scenario {
        self.scenario.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Samples the state until the CU ends.
    pub(super) fn sample(self: &Arc<Self>) {
        let running = Arc::clone(self);
        thread::spawn(move || {
            while let Some(now) = running.now() {
                running.past.push(now.t_s, &now.bearers);
                thread::sleep(PERIOD);
            }
        });
    }

    /// State; `None` once the CU has ended.
    fn now(&self) -> Option<CuStatus> {
        Some(CuStatus::of(&self.scenario(), &self.control.state()?))
    }

    /// Answers at this socket until the process ends.
    pub(super) fn listen(self: &Arc<Self>, socket: &Path) -> Result<()> {
        let running = Arc::clone(self);
        listen(socket, move |words| match words {
            ["about"] => Ok(format!("{}, cu\n", running.scenario().name)),
            ["status" | "metrics"] => state(&*running, words[0]),
            ["set", assignments @ ..] => running.set(assignments),
            ["outage" | "handover", ..] => Err("a CU has no radio: ask the DU".into()),
            _ => Err(UNKNOWN.into()),
        })
    }

    /// Applies assignments to the scenario and passes changed laws on.
    fn set(&self, assignments: &[&str]) -> std::result::Result<String, String> {
        let mut scenario = self.scenario.lock().unwrap_or_else(PoisonError::into_inner);
        let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
        let wanted = Scenario::parse("the running scenario", &scenario.text, &scenario.folder, &assignments)
            .map_err(|error| error.to_string())?;
        let (old, new) = (configs(&scenario), configs(&wanted));
        if wanted.cell != scenario.cell || !old.iter().map(without_laws).eq(new.iter().map(without_laws)) {
            return Err("only `marker` can change at a running CU; `channel` is the DU's".into());
        }
        without_dequeuing(&new)?;
        let mut text = String::new();
        let named = wanted.ues();
        let bearers = named.iter().flat_map(|ue| (1..=1 + ue.config.drb.len()).map(|drb| (&ue.name, drb)));
        for (tunnel, ((ue, drb), (old, new))) in bearers.zip(laws(&old).zip(laws(&new))).enumerate() {
            if old != new {
                self.control.set_marker(tunnel, new.clone()).map_err(|refusal| refusal.to_string())?;
                text += &format!("{ue}, bearer {drb}: changed law or threshold\n");
            }
        }
        *scenario = wanted;
        Ok(if text.is_empty() { "nothing changed\n".into() } else { text })
    }
}

impl Source for Running {
    fn past(&self) -> String {
        self.past.json()
    }
    fn status(&self) -> Option<String> {
        serde_json::to_string(&self.now()?).ok()
    }
    fn metrics(&self) -> Option<String> {
        Some(self.now()?.prometheus())
    }
}

/// A UE without the parts that may change.
fn without_laws(ue: &UeConfig) -> UeConfig {
    let drb = ue.drb.iter().map(|drb| DrbConfig { marker: None, ..drb.clone() }).collect();
    UeConfig { marker: MarkerConfig::default(), drb, ..ue.clone() }
}
