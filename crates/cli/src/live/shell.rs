//! `tidemark shell`: a command that runs as a UE of the cell.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::thread;

use clap::Args;
use miette::{Result, miette};
use tidemark_core::Duration;
use tidemark_emu::lease::Lease;
use tidemark_emu::namespace::Namespace;
use tidemark_emu::privilege::{self, Rights};
use tidemark_emu::signals::Signals;
use tidemark_emu::{Command, Driver, Link, Plan, outside};
use tidemark_sim::RunResult;
use tidemark_sim::scenario::Scenario;

use super::preset;
use super::record::Recorder;
use crate::run::{diagnostic, write};

#[derive(Args)]
pub struct Shell {
    /// A scenario, whose cell and first UE are taken [default: the preset of --cell]
    file: Option<PathBuf>,
    /// A cell with a name: 5g-walking, 5g-static, 5g-driving, lte-edge, 5g-wide, trace:FILE or trace:FILE.csv#COLUMN
    #[arg(long, value_name = "PRESET", default_value = preset::DEFAULT, conflicts_with = "file")]
    cell: String,
    /// Replace a value of the scenario: marker.law=none, ue.0.channel.snr_db=12 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Round-trip time of a wired path behind the gNB, as in "20 ms"
    #[arg(long, value_name = "TIME", default_value = "0 s")]
    round_trip: Duration,
    /// MTU of the cell's devices
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..=65_521))]
    mtu: u16,
    /// Folder for results and report [default: none are written]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The command to run inside [default: your shell]
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// What ends a live cell.
enum Ending {
    /// The command ended: its exit code, and packets lost at the UE's device.
    Command(u8, u64),
    /// The driver ended.
    Driver,
    /// A signal asks for it.
    Signal,
}

impl Shell {
    /// Runs the command and gives its exit code.
    pub fn execute(&self) -> Result<u8> {
        let mut scenario = match &self.file {
            Some(file) => Scenario::load(file, &self.overrides).map_err(diagnostic)?,
            None => preset::load(&self.cell, &self.overrides)?,
        };
        // One command is one UE.
        scenario.ue.truncate(1);
        scenario.ue.iter_mut().for_each(|ue| ue.count = 1);
        scenario.flow.clear();
        let rights = privilege::acquire().map_err(|error| miette!("{error}"))?;
        let signals = Signals::take().map_err(|error| miette!("{error}"))?;
        let (code, result) = self.run(&scenario, rights, signals)?;
        eprintln!("{}", outline(&result));
        if let Some(warning) = overload(&result) {
            eprintln!("{warning}");
        }
        if let Some(out) = &self.out {
            eprintln!("report: {}", write(out, &result)?.display());
        }
        Ok(code)
    }

    fn run(&self, scenario: &Scenario, rights: Rights, signals: Signals) -> Result<(u8, RunResult)> {
        let refused = |error: tidemark_emu::Error| miette!("{error}");
        let mut lease = Lease::claim().map_err(refused)?;
        let cell = lease.number();
        let core = outside::core_device(cell, self.mtu).map_err(refused)?;
        let core_name = core.name().to_string();
        match rights {
            Rights::Own => outside::open(&mut lease).map_err(refused)?,
            Rights::UserNamespace => eprintln!(
                "tidemark: without root the shell is alone with its cell: no other machine can be reached from it. Use sudo."
            ),
        }
        let (endings, ending) = channel();
        let ended = endings.clone();
        let (namespace, tun) = Namespace::make(cell, 0, self.mtu, move |code, drops| {
            let _ = ended.send(Ending::Command(code, drops));
        })
        .map_err(refused)?;
        let plan = Plan {
            cell: scenario.cell.clone(),
            seed: scenario.seed,
            ues: scenario.ues().into_iter().map(|ue| ue.config).collect(),
        };
        let link = Link { cell, core, ues: vec![tun], wire: self.round_trip / 2 };
        let (driver, control) =
            Driver::new(&plan, link, Recorder::new(scenario), scenario.sample_interval).map_err(refused)?;
        let ended = endings.clone();
        let driver = thread::spawn(move || {
            let outcome = driver.run();
            let _ = ended.send(Ending::Driver);
            outcome
        });
        thread::spawn(move || {
            loop {
                signals.wait();
                if endings.send(Ending::Signal).is_err() {
                    return;
                }
            }
        });
        let inside = namespace.start(self.command()).map_err(refused)?;
        let (mut code, mut drops) = (1, 0);
        for ending in ending.iter() {
            match ending {
                Ending::Command(its, lost) => {
                    (code, drops) = (its, lost);
                    break;
                }
                // The command's end follows.
                Ending::Driver | Ending::Signal => inside.end(),
            }
        }
        drops += outside::device_drops(&core_name);
        control.tell(Command::Stop);
        let (recorder, outcome) = driver.join().map_err(|_| miette!("the cell's thread failed"))?;
        outcome.map_err(refused)?;
        Ok((code, recorder.result(drops)))
    }

    fn command(&self) -> Vec<OsString> {
        if self.command.is_empty() {
            vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())]
        } else {
            self.command.clone()
        }
    }
}

/// One line: how the cell was.
fn outline(result: &RunResult) -> String {
    let queue = result.ues.first().and_then(|ue| ue.queue_ms);
    let queue = queue.map_or("no packets".into(), |q| {
        format!("queue delay p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms", q.p50, q.p95, q.p99)
    });
    let late = result.live.as_ref().and_then(|live| live.lateness_us);
    let late =
        late.map_or(String::new(), |late| format!("; slots late by p50 {:.0} us, p99 {:.0} us", late.p50, late.p99));
    let marks: u64 = result.ues.iter().map(|ue| ue.marked).sum();
    let drops: u64 = result.ues.iter().map(|ue| ue.dropped).sum();
    format!(
        "tidemark: {}, {:.1} s: {:.2} Mbit/s down, {queue}, {marks} marks, {drops} drops{late}",
        result.name, result.duration_s, result.cell.throughput_mbps
    )
}

/// What to say where the machine could not keep up.
fn overload(result: &RunResult) -> Option<String> {
    let live = result.live.as_ref()?;
    let lost = live.overload + live.device_drops;
    (lost > 0).then(|| {
        let rate = result.cell.throughput_mbps / live.busy.max(1e-3);
        format!(
            "tidemark: OVERLOAD: {lost} packets were dropped because the cell's thread was too slow for them; \
             this machine can carry {rate:.0} Mbit/s of this cell"
        )
    })
}
