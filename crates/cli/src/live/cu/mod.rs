//! `tidemark gnb cu`: the half of a gNB without the radio.

mod control;
mod marks;
pub(super) mod status;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration as Wait;

use clap::Args;
use miette::{Result, miette};
use tidemark_cell::UeConfig;
use tidemark_core::Duration;
use tidemark_emu::lease::Lease;
use tidemark_emu::privilege::{self, Rights};
use tidemark_emu::signals::Signals;
use tidemark_emu::{Cu as Half, CuCommand, laws, routing};
use tidemark_marker::{Decides, LawConfig};
use tidemark_sim::scenario::Scenario;

use self::control::Running;
use self::marks::Marks;
use self::status::CuStatus;
use super::tunnels::{Keys, bearers, configs, endpoint, tunnels};
use super::{admission, preset, web};
use crate::folder::{self, Force};
use tidemark_terminal::error::diagnostic;

/// Arguments of `tidemark gnb cu`.
#[derive(Args)]
pub(crate) struct Cu {
    /// Scenario with the UEs' bearers, packet filters and laws [default: one UE with the law tide]
    file: Option<PathBuf>,
    /// Replace a value of the scenario: marker.law=ramp (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Own address; the default port is GTP-U's
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = endpoint)]
    bind: SocketAddr,
    /// The DU's address
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = endpoint)]
    du: SocketAddr,
    /// F1-U tunnel of the next bearer, UE by UE with the default bearer first: peer-teid=0x4001[,teid=0x3001]; the default teid
    /// is random
    #[arg(long = "tunnel", value_name = "KEYS", required = true)]
    tunnels: Vec<Keys>,
    /// Take packets from any address, not only from the DU's
    #[arg(long)]
    any_peer: bool,
    /// Let UEs send from any address, not only from their own
    #[arg(long)]
    any_source: bool,
    /// MTU of the core device
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..=65_000))]
    mtu: u16,
    /// Folder for marks and their reasons, for `tidemark explain`
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Serve the live view and Prometheus' counters at this port of loopback; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    web: Option<u16>,
    /// Time to run [default: until Ctrl-C]
    #[arg(long, value_name = "TIME")]
    time: Option<Duration>,
}

impl Cu {
    /// Runs for its time, or until a signal.
    pub(crate) fn execute(&self) -> Result<u8> {
        let refused = |error: tidemark_emu::Error| miette!("{error}");
        let scenario = match &self.file {
            Some(file) => Scenario::load(file, &self.overrides).map_err(diagnostic)?,
            None => preset::load("5g-static", &self.overrides)?,
        };
        let tunnels = tunnels(&self.tunnels, self.du, self.any_peer)?;
        let ues = configs(&scenario);
        bearers(&ues, tunnels.len())?;
        without_dequeuing(&ues).map_err(|problem| miette!("{problem}"))?;
        // A folder that can't be written is reported before the run, not after it.
        if let Some(out) = &self.out {
            folder::for_run(out, &scenario, self.force)?;
        }
        if privilege::acquire().map_err(refused)? == Rights::UserNamespace {
            // Without root the core's side would be a separate namespace, which nobody else is in.
            return Err(miette!("a CU connects the host and its DU, which needs root: run it with sudo"));
        }
        let signals = Signals::take().map_err(refused)?;
        let mut lease = Lease::claim().map_err(refused)?;
        let core = routing::core_device(lease.number(), self.mtu).map_err(refused)?;
        routing::connect(&mut lease).map_err(refused)?;
        let (mut cu, control) =
            Half::new(lease.number(), core, self.bind, tunnels, &ues, self.any_source, scenario.seed)
                .map_err(refused)?;
        let running = Arc::new(Running::new(scenario, control.clone()));
        running.listen(&lease.socket())?;
        eprintln!("tidemark: CU at {}: start its DU with --number {}", self.bind, lease.number());
        if let Some(port) = self.web {
            running.sample();
            eprintln!("tidemark: live view at http://{}/", web::start(port, Arc::clone(&running), None)?);
        }
        let ending = control.clone();
        std::thread::spawn(move || {
            signals.wait_for_any();
            ending.send(CuCommand::Stop);
        });
        if let Some(time) = self.time {
            std::thread::spawn(move || {
                std::thread::sleep(Wait::from_nanos(time.as_nanos()));
                control.send(CuCommand::Stop);
            });
        }
        let marks = Arc::new(Mutex::new(Marks::new(&running.scenario())));
        if self.out.is_some() {
            cu.observe(Marks::observer(&marks));
        }
        let (state, outcome) = cu.run();
        let status = CuStatus::of(&running.scenario(), &state);
        for warning in status.warning.clone().into_iter().chain(admission::warning(state.counters.refused.total())) {
            eprintln!("tidemark: {warning}");
        }
        if let Some(out) = &self.out {
            let marks = marks.lock().unwrap_or_else(PoisonError::into_inner);
            marks.write(out, &running.scenario()).map_err(|error| miette!("{}: {error}", out.display()))?;
            eprintln!("marks: tidemark explain {}", out.display());
        }
        println!("{}", serde_json::to_string(&status).unwrap_or_default());
        outcome.map(|()| 0).map_err(refused)
    }
}

/// Refuses laws that decide as packets leave the RLC queue, and names their place in the scenario.
fn without_dequeuing(ues: &[UeConfig]) -> std::result::Result<(), String> {
    match laws(ues).find(|marker| marker.law.decides_on_leaving()) {
        None => Ok(()),
        Some(marker) => Err(format!(
            "marker.law: `{}` decides as packets leave the RLC queue, which is in the DU and which a CU does not see: name one that \
             decides on arrival ({}), or run a cell with its own queue (`tidemark gnb n3`)",
            marker.law.properties().name,
            LawConfig::names(|law| law.decides == Decides::OnArrival).join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_cell::DrbConfig;
    use tidemark_marker::MarkerConfig;

    #[test]
    fn a_law_that_decides_where_packets_leave_is_refused_by_name() {
        let ue = |law, dedicated| UeConfig {
            marker: MarkerConfig::with_law(law),
            drb: vec![DrbConfig { marker: Some(MarkerConfig::with_law(dedicated)), ..DrbConfig::default() }],
            ..UeConfig::default()
        };
        let none = LawConfig::None {};
        for law in LawConfig::all() {
            for config in [ue(law, none), ue(none, law)] {
                match without_dequeuing(&[config]) {
                    Ok(()) => assert_ne!(law.properties().decides, Decides::OnLeaving, "{law:?}"),
                    Err(refusal) => {
                        assert_eq!(law.properties().decides, Decides::OnLeaving, "{law:?}");
                        let name = format!("`{}`", law.properties().name);
                        assert!(refusal.contains(&name) && refusal.contains("l4span"), "{refusal}");
                    }
                }
            }
        }
        assert!(without_dequeuing(&[ue(LawConfig::EcnCodel(Default::default()), none)]).is_err());
    }
}
