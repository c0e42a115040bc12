//! `tidemark cu`: the half of a gNB without the radio.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration as Wait;

use clap::Args;
use miette::{Result, miette};
use serde::Serialize;
use tidemark_core::Duration;
use tidemark_emu::lease::Lease;
use tidemark_emu::signals::Signals;
use tidemark_emu::{Cu as Half, outside, privilege};
use tidemark_marker::{Counters, LawConfig};
use tidemark_sim::scenario::Scenario;

use super::preset;
use super::tunnels::{Keys, bearers, configs, endpoint, tunnels};
use crate::run::diagnostic;

#[derive(Args)]
pub struct Cu {
    /// A scenario, whose UEs' bearers, packet filters and laws are taken [default: one UE with the law l4span]
    file: Option<PathBuf>,
    /// Replace a value of the scenario: marker.law=ramp (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Own address, of GTP-U's port unless another is named
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = endpoint)]
    bind: SocketAddr,
    /// The DU's address
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = endpoint)]
    du: SocketAddr,
    /// F1-U tunnel of the next bearer, UE by UE and of each the default one first: teid=0x3001,peer-teid=0x4001
    #[arg(long = "tunnel", value_name = "KEYS", required = true)]
    tunnels: Vec<Keys>,
    /// MTU of the core device
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..=65_000))]
    mtu: u16,
    /// How long it runs [default: until Ctrl-C]
    #[arg(long, value_name = "TIME")]
    time: Option<Duration>,
}

/// What a CU counted: its line of output.
#[derive(Serialize)]
struct Counted {
    downlink: u64,
    uplink: u64,
    marked: u64,
    dropped: u64,
    held: u64,
    overflow: u64,
    reports: u64,
    unroutable: u64,
    marker: MarkerCounted,
}

/// What its markers counted of the reports and of their flows.
#[derive(Serialize, Default)]
struct MarkerCounted {
    rewritten_acks: u64,
    empty_reports: u64,
    unknown_sns: u64,
    flows_evicted: u64,
    flows_refused: u64,
    /// Bearers whose reports say nothing of a queue.
    blind_bearers: u64,
}

impl MarkerCounted {
    fn of(bearers: &[Counters]) -> Self {
        let sum = |counter: fn(&Counters) -> u64| bearers.iter().map(counter).sum();
        Self {
            rewritten_acks: sum(|bearer| bearer.rewritten_acks),
            empty_reports: sum(|bearer| bearer.empty_reports),
            unknown_sns: sum(|bearer| bearer.unknown_sns),
            flows_evicted: sum(|bearer| bearer.flows_evicted),
            flows_refused: sum(|bearer| bearer.flows_refused),
            blind_bearers: sum(|bearer| bearer.reports_are_blind.into()),
        }
    }
}

impl Cu {
    /// Runs for its time, or until a signal.
    pub fn execute(&self) -> Result<u8> {
        let refused = |error: tidemark_emu::Error| miette!("{error}");
        let scenario = match &self.file {
            Some(file) => Scenario::load(file, &self.overrides).map_err(diagnostic)?,
            None => preset::load("5g-static", &self.overrides)?,
        };
        let tunnels = tunnels(&self.tunnels, self.du)?;
        let ues = configs(&scenario);
        bearers(&ues, tunnels.len())?;
        for config in ues.iter().flat_map(|ue| ue.drb.iter().filter_map(|drb| drb.marker.as_ref()).chain([&ue.marker]))
        {
            if matches!(config.law, LawConfig::Codel(_) | LawConfig::DropHead(_)) {
                return Err(miette!(
                    "marker.law: this one decides when a packet leaves the RLC queue, which a CU does not see: use another"
                ));
            }
        }
        privilege::acquire().map_err(refused)?;
        let signals = Signals::take().map_err(refused)?;
        let mut lease = Lease::claim().map_err(refused)?;
        let core = outside::core_device(lease.number(), self.mtu).map_err(refused)?;
        outside::open(&mut lease).map_err(refused)?;
        let (cu, stop) = Half::new(lease.number(), core, self.bind, tunnels, &ues, scenario.seed).map_err(refused)?;
        let counters = cu.counters();
        eprintln!("tidemark: CU at {}: start its DU with --number {}", self.bind, lease.number());
        let ending = std::sync::Arc::clone(&stop);
        std::thread::spawn(move || {
            signals.wait();
            tidemark_emu::ring(&ending);
        });
        if let Some(time) = self.time {
            std::thread::spawn(move || {
                std::thread::sleep(Wait::from_nanos(time.as_nanos()));
                tidemark_emu::ring(&stop);
            });
        }
        let (bearers, outcome) = cu.run();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counted = Counted {
            downlink: read(&counters.downlink),
            uplink: read(&counters.uplink),
            marked: read(&counters.marked),
            dropped: read(&counters.dropped),
            held: read(&counters.held),
            overflow: read(&counters.overflow),
            reports: read(&counters.reports),
            unroutable: read(&counters.unroutable),
            marker: MarkerCounted::of(&bearers),
        };
        if counted.marker.blind_bearers > 0 {
            eprintln!(
                "tidemark: the DU's reports of {} bearers follow what it was sent and not what it transmitted: they say nothing of its queue, and marks by them are blind",
                counted.marker.blind_bearers
            );
        }
        println!("{}", serde_json::to_string(&counted).unwrap_or_default());
        outcome.map(|()| 0).map_err(refused)
    }
}
