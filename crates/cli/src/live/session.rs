//! One live cell from its set-up to its results.

use std::ffi::OsString;
use std::net::IpAddr;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration as Wait, Instant as Clock};

use clap::Args;
use miette::{Report, Result, miette};
use tidemark_cell::UeConfig;
use tidemark_core::Duration;
use tidemark_emu::lease::Lease;
use tidemark_emu::namespace::{Guard, Namespace, Variable};
use tidemark_emu::privilege::{self, Rights};
use tidemark_emu::signals::Signals;
use tidemark_emu::{Command, Control, Core, Driver, Link, Plan, Tun, addresses, routing};
use tidemark_sim::scenario::{NamedUe, SAMPLE_INTERVAL, Scenario, Server};
use tidemark_sim::{Lateness, RunResult};
use tidemark_terminal::note;

use super::modem::Inbox;
use super::watch::{Shared, Watch};
use super::web::Desk;
use super::{control, modem, pcap, web};
use crate::folder::{self, Force};
use crate::results::write;

/// Options of every live cell.
#[derive(Args)]
pub(super) struct Options {
    /// Replace a value of the scenario: marker.law=none, ue.0.channel.snr_db=12 (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub overrides: Vec<String>,
    /// Round-trip time of a wired path behind the gNB, such as "20 ms"
    #[arg(long, value_name = "TIME", default_value = "0 s")]
    round_trip: Duration,
    /// MTU of the cell's devices
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(1280..=65_521))]
    mtu: u16,
    /// Folder for results and report
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    /// Folder for captures of both sides of the cell: core.pcap and one file for each UE
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Serve the live view and Prometheus' counters at this port of loopback; 0 takes a free one
    #[arg(long, value_name = "PORT")]
    web: Option<u16>,
    /// Let the page change channels and laws, and cause outages and handovers, as `tidemark ctl` does; its address has a secret
    /// token
    #[arg(long, requires = "web")]
    web_control: bool,
}

/// Commands at a live cell's UEs and servers, and the cell's surroundings.
pub(super) struct Jobs {
    /// The command of each UE, if it has one.
    pub ues: Vec<Option<Vec<OsString>>>,
    /// Addresses that a core network gave the UEs, in order. Default: the cell's own addresses.
    pub addresses: Vec<Option<IpAddr>>,
    /// Network side of the cell.
    pub side: OtherSide,
    /// Time after which the cell ends, if nothing else ends it.
    pub duration: Option<Duration>,
}

/// Network side of the cell.
pub(super) enum OtherSide {
    /// The host.
    Host,
    /// A private core network with servers that run these commands.
    Servers(Vec<Vec<OsString>>),
    /// Tunnels to another program. The UEs' addresses are those of the cell with this number.
    Tunnels(Box<Core>, u32),
}

impl Jobs {
    /// Writes a line that identifies this cell: name, kind and commands.
    fn about(&self, name: &str) -> String {
        let kind = match &self.side {
            OtherSide::Host => "shell",
            OtherSide::Servers(_) => "lab",
            OtherSide::Tunnels(core, _) if matches!(**core, Core::N3(_)) => "n3",
            OtherSide::Tunnels(..) => "du",
        };
        let command = |words: &Vec<OsString>| {
            // Leave out the shell that runs a scenario's command.
            let words = words.strip_prefix(&["sh".into(), "-c".into()][..]).unwrap_or(words);
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        let commands: Vec<_> = self.ues.iter().flatten().map(command).collect();
        format!("{name}, {kind}: {}", commands.join(" | "))
    }
}

/// Event that ends a live cell or a part of it.
enum Ending {
    /// A UE's command ended, with this exit code and this many packets lost at the UE's device.
    Ue(u8, u64),
    /// A server's command ended.
    Server,
    /// The driver ended.
    Driver,
    /// A signal arrived.
    Signal,
}

/// Guard that reports the driver's end when it is dropped, even if the thread panics.
struct DriverGuard(Sender<Ending>);

impl Drop for DriverGuard {
    fn drop(&mut self) {
        // The receiver may have ended before.
        let _ = self.0.send(Ending::Driver);
    }
}

/// Network side of a cell, once it is open.
struct Site {
    /// Number of the cell, which determines its addresses.
    cell: u32,
    /// Private core network, which ends with this value.
    network: Option<Namespace>,
    /// The servers' commands.
    servers: Vec<Vec<OsString>>,
}

/// UEs of a cell before their commands start.
struct Ues<'a> {
    /// Namespace of each, with its command if it has one.
    namespaces: Vec<(Namespace, Option<Vec<OsString>>)>,
    tuns: Vec<Tun>,
    /// Modem sockets of the UEs that get recommendations.
    modems: Vec<(u32, &'a UeConfig, UnixListener)>,
}

/// Record of a running cell, and its control.
struct Recording {
    control: Control,
    watch: Arc<Mutex<Watch>>,
    shared: Shared,
    writer: Option<pcap::Writer>,
}

impl Recording {
    /// Stops the driver and gives the results and a sentence for each flow. Counts this many packets lost at devices.
    fn finish(
        self,
        driver: JoinHandle<Result<(), tidemark_emu::Error>>,
        drops: u64,
    ) -> Result<(RunResult, Vec<String>)> {
        self.control.send(Command::Stop);
        let outcome = driver.join().map_err(|_| miette!("the cell's thread failed"))?;
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        // The writer ends with its capture.
        let lost = watch.capture.take().map_or(0, |capture| capture.lost());
        match self.writer.map(pcap::Writer::finish) {
            Some(Err(error)) => eprintln!("tidemark: the capture is not complete, {lost} packets are missing: {error}"),
            _ if lost > 0 => eprintln!("tidemark: the disk was too slow: {lost} packets are missing in the capture"),
            _ => {}
        }
        outcome.map_err(refused)?;
        Ok((watch.recorder.result(drops, &self.shared.history()), watch.recorder.verdicts()))
    }
}

impl Options {
    /// Runs a live cell to its end and writes the requested files; gives the first exit code that is not 0.
    pub(super) fn run(&self, scenario: &Scenario, jobs: Jobs) -> Result<u8> {
        if self.round_trip > Duration::from_secs(10) {
            return Err(miette!("--round-trip: must be at most 10 s"));
        }
        if scenario.network.is_some() {
            return Err(miette!("network: a live cell is one cell: `tidemark run` runs a [network]"));
        }
        // A folder that can't be written is reported before the run, not after it.
        if let Some(out) = &self.out {
            folder::for_run(out, scenario, self.force)?;
        }
        let rights = privilege::acquire().map_err(|error| miette!("{error}"))?;
        let signals = Signals::take().map_err(|error| miette!("{error}"))?;
        let (code, mut result, verdicts) = self.serve(scenario, jobs, rights, signals)?;
        note!("{}", outline(&result));
        verdicts.iter().for_each(|verdict| note!("tidemark: {verdict}"));
        result.warnings.iter().for_each(|warning| eprintln!("tidemark: {warning}"));
        if let Some(out) = &self.out {
            let page = write(out, &mut result)?;
            note!("report: {}", page.display());
        }
        Ok(code)
    }

    fn serve(
        &self,
        scenario: &Scenario,
        jobs: Jobs,
        rights: Rights,
        signals: Signals,
    ) -> Result<(u8, RunResult, Vec<String>)> {
        let about = jobs.about(&scenario.name);
        let named = scenario.ues();
        let (endings, ending) = channel();
        let mut lease = Lease::claim().map_err(refused)?;
        let variables = variables(&jobs.side, lease.number(), &named, &scenario.server);
        let (site, core) = self.open_site(jobs.side, &mut lease, rights)?;
        let core_device = core.device().map(str::to_string);
        let Ues { namespaces, tuns, modems } = self.open_ues(site.cell, jobs.ues, jobs.addresses, &named, &endings)?;
        let servers = self.open_servers(&site, &endings)?;

        let (inbox, outbox) = modem::channel();
        let link = Link { cell: site.cell, core, ues: tuns, wire: self.round_trip / 2 };
        let (driver, cell) = self.prepare(scenario, link, inbox)?;
        modem::serve(modems, outbox, &cell.control);
        let server = control::Server::new(scenario, cell.control.clone(), cell.shared.clone(), about);
        server.listen(&lease.socket())?;
        if let Some(port) = self.web {
            let desk = self.web_control.then(|| Desk::new(server)).transpose()?;
            let fragment = desk.as_ref().map(Desk::fragment).unwrap_or_default();
            eprintln!("tidemark: live view at http://{}/{fragment}", web::start(port, cell.shared.clone(), desk)?);
        }
        let ended = endings.clone();
        let driver = thread::spawn(move || {
            let _guard = DriverGuard(ended);
            driver.run()
        });
        pass_on(signals, endings, namespaces.iter().any(|(_, command)| command.is_some()));

        let start = |(namespace, command): (Namespace, Vec<OsString>)| {
            namespace.start(command, variables.clone()).map_err(refused)
        };
        let servers = servers.into_iter().map(start).collect::<Result<Vec<Guard>>>()?;
        // Threads without a command are kept: a UE's namespace ends with its thread.
        let (idle, busy): (Vec<_>, Vec<_>) = namespaces.into_iter().partition(|(_, command)| command.is_none());
        let busy = busy.into_iter().filter_map(|(namespace, command)| Some((namespace, command?)));
        let ues = busy.map(start).collect::<Result<Vec<Guard>>>()?;

        let (code, mut drops) = wait(&ues, &ending, jobs.duration);
        drop((servers, idle));
        drops += core_device.map_or(0, |device| routing::device_drops(&device));
        let (result, verdicts) = cell.finish(driver, drops)?;
        Ok((code, result, verdicts))
    }

    /// Opens the network side of the cell.
    fn open_site(&self, side: OtherSide, lease: &mut Lease, rights: Rights) -> Result<(Site, Core)> {
        let (cell, network, core, servers) = match side {
            OtherSide::Host => (lease.number(), None, Core::Tun(self.host_core(lease, rights)?), Vec::new()),
            OtherSide::Servers(servers) => {
                let (network, tun) = Namespace::core(ALONE, self.mtu).map_err(refused)?;
                (ALONE, Some(network), Core::Tun(tun), servers)
            }
            OtherSide::Tunnels(core, number) => (number, None, *core, Vec::new()),
        };
        Ok((Site { cell, network, servers }, core))
    }

    /// Opens a namespace for each UE, with its device and, if it gets recommendations, its modem.
    fn open_ues<'a>(
        &self,
        cell: u32,
        commands: Vec<Option<Vec<OsString>>>,
        addresses: Vec<Option<IpAddr>>,
        named: &'a [NamedUe],
        endings: &Sender<Ending>,
    ) -> Result<Ues<'a>> {
        let mut ues = Ues { namespaces: Vec::new(), tuns: Vec::new(), modems: Vec::new() };
        let addresses = addresses.into_iter().chain(std::iter::repeat(None));
        for ((index, command), address) in (0..).zip(commands).zip(addresses) {
            let (ended, last_packets) =
                (endings.clone(), LAST_PACKETS + Wait::from_nanos(2 * self.round_trip.as_nanos()));
            let ended = move |code, drops| {
                thread::sleep(last_packets);
                drop(ended.send(Ending::Ue(code, drops)));
            };
            let (namespace, tun) = Namespace::ue(cell, index, self.mtu, address, ended).map_err(refused)?;
            ues.tuns.push(tun);
            if let Some(ue) = named.get(index as usize).filter(|ue| ue.config.anbr.is_some()) {
                ues.modems.push((index, &ue.config, namespace.listen(modem::NAME).map_err(refused)?));
            }
            ues.namespaces.push((namespace, command));
        }
        Ok(ues)
    }

    /// Opens a namespace for each server, if the cell has a private core network.
    fn open_servers(&self, site: &Site, endings: &Sender<Ending>) -> Result<Vec<(Namespace, Vec<OsString>)>> {
        let Some(network) = &site.network else { return Ok(Vec::new()) };
        let open = |(index, command): (u32, &Vec<OsString>)| {
            let ended = endings.clone();
            let ended = move |_, _| drop(ended.send(Ending::Server));
            let namespace = Namespace::server(site.cell, index, self.mtu, network, ended).map_err(refused)?;
            Ok((namespace, command.clone()))
        };
        (0..).zip(&site.servers).map(open).collect()
    }

    /// Makes the cell's driver and its recorder.
    fn prepare(&self, scenario: &Scenario, link: Link, modems: Inbox) -> Result<(Driver<Watch>, Recording)> {
        let ues = scenario.ues();
        let names: Vec<_> = ues.iter().map(|ue| ue.name.clone()).collect();
        let (capture, writer) = match &self.pcap {
            Some(folder) => pcap::open(folder, &names).map(|(capture, writer)| (Some(capture), Some(writer)))?,
            None => (None, None),
        };
        let (watch, shared) = Watch::new(scenario, capture, modems, matches!(link.core, Core::F1u(_)));
        let plan = Plan {
            cell: scenario.cell.clone(),
            seed: scenario.seed,
            ues: ues.into_iter().map(|ue| ue.config).collect(),
        };
        let watch = Arc::new(Mutex::new(watch));
        let (driver, control) =
            Driver::new(&plan, link, Arc::clone(&watch), scenario.sample_interval.unwrap_or(SAMPLE_INTERVAL))
                .map_err(refused)?;
        Ok((driver, Recording { control, watch, shared, writer }))
    }

    /// Opens the core device on the host, and its route to other machines.
    fn host_core(&self, lease: &mut Lease, rights: Rights) -> Result<tidemark_emu::Tun> {
        let core = routing::core_device(lease.number(), self.mtu).map_err(|error| miette!("{error}"))?;
        match rights {
            Rights::Own => routing::connect(lease).map_err(|error| miette!("{error}"))?,
            Rights::UserNamespace => eprintln!(
                "tidemark: without root the shell is alone with its cell: no other machine can be reached from it. Use sudo."
            ),
        }
        Ok(core)
    }
}

fn refused(error: tidemark_emu::Error) -> Report {
    miette!("{error}")
}

/// Passes signals on as endings while somebody waits for those. Without commands, nobody else gets a Ctrl-C.
fn pass_on(signals: Signals, endings: Sender<Ending>, has_commands: bool) {
    thread::spawn(move || {
        loop {
            if has_commands {
                signals.wait();
            } else {
                signals.wait_for_any();
            }
            if endings.send(Ending::Signal).is_err() {
                return;
            }
        }
    });
}

/// Waits until the UEs' commands end or, without commands, for a signal. Ends the commands after `duration`. Gives the first exit code
/// that is not 0 and the packets lost at the UEs' devices.
fn wait(ues: &[Guard], ending: &Receiver<Ending>, duration: Option<Duration>) -> (u8, u64) {
    let deadline = duration.map(|span| Clock::now() + Wait::from_nanos(span.as_nanos()));
    let (mut code, mut drops, mut running) = (0, 0, ues.len());
    let mut asked_to_end = false;
    while running > 0 || (ues.is_empty() && !asked_to_end) {
        let wait = deadline.filter(|_| !asked_to_end).map(|at| at.saturating_duration_since(Clock::now()));
        let next = match wait {
            Some(wait) => ending.recv_timeout(wait),
            None => ending.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(Ending::Ue(its, lost)) => {
                running -= 1;
                drops += lost;
                // A command that is ended because the time is over has not failed.
                if code == 0 && !(asked_to_end && deadline.is_some()) {
                    code = its;
                }
            }
            Ok(Ending::Server) => {}
            // The commands end next.
            Ok(Ending::Driver | Ending::Signal) | Err(_) => {
                asked_to_end = true;
                ues.iter().for_each(Guard::end);
            }
        }
    }
    (code, drops)
}

/// Time for a command's last packets, besides two round trips: a server must see its connections closed before it accepts others.
const LAST_PACKETS: Wait = Wait::from_millis(100);

/// Cell number for the addresses of a cell with a private core network, which meets no other cell.
const ALONE: u32 = 0;

/// Variables with other machines' addresses: the host for the host's cell of this number, or every UE and server in a cell with a
/// private core network. They are named `TIDEMARK_` and the name in capitals.
fn variables(side: &OtherSide, cell: u32, ues: &[NamedUe], servers: &[Server]) -> Vec<Variable> {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let variable = |name: &str, address: IpAddr| {
        (format!("TIDEMARK_{}", name.chars().map(letter).collect::<String>()), address.to_string())
    };
    match side {
        OtherSide::Host => {
            let (v4, v6) = addresses::gateway(cell);
            let v6 = routing::has_ipv6().then(|| variable("host6", v6.into()));
            [variable("host", v4.into())].into_iter().chain(v6).collect()
        }
        OtherSide::Servers(_) => {
            let ues = (0..).zip(ues).map(|(index, ue)| variable(&ue.name, addresses::ue(ALONE, index).0.into()));
            let servers = (0..).zip(servers);
            let servers = servers.map(|(index, of)| variable(&of.name, addresses::server(ALONE, index).0.into()));
            ues.chain(servers).collect()
        }
        OtherSide::Tunnels(..) => Vec::new(),
    }
}

/// Writes the summary line of a cell that has ended.
fn outline(result: &RunResult) -> String {
    if result.duration_s < result.warmup_s {
        return format!(
            "tidemark: {}, {:.1} s: ended within the warm-up of {} s, which is not counted (--set warmup=\"0 s\")",
            result.name, result.duration_s, result.warmup_s
        );
    }
    let queues = result.ues.iter().filter_map(|ue| ue.queue_ms);
    let worst = queues.max_by(|a, b| a.p95.total_cmp(&b.p95));
    let of = if result.ues.len() > 1 { " of the worst UE" } else { "" };
    let queue = worst.map_or("no packets".into(), |q| {
        format!("queue delay{of} p50 {:.1} ms, p95 {:.1} ms, p99 {:.1} ms", q.p50, q.p95, q.p99)
    });
    let late = result.live.as_ref().and_then(|live| live.lateness_us);
    let late = late.map_or(String::new(), |Lateness { p50, p99, p999, .. }| {
        format!("; slots late by p50 {p50:.0} us, p99 {p99:.0} us, p99.9 {p999:.0} us")
    });
    let (marks, of_marks) = match result.ues.iter().map(|ue| ue.marked).sum::<Option<u64>>() {
        Some(marks) => (marks, "marks"),
        // A DU sees packets that arrived over F1-U with CE, whoever marked them.
        None => (result.flows.iter().map(|flow| flow.marked).sum(), "packets with CE"),
    };
    let drops: u64 = result.ues.iter().map(|ue| ue.dropped).sum();
    format!(
        "tidemark: {}, {:.1} s: {:.2} Mbit/s down, {queue}, {marks} {of_marks}, {drops} drops{}{late}",
        result.name,
        result.duration_s,
        result.cell.throughput_mbps,
        uplink(result)
    )
}

/// Describes the uplink, with the queue delay of the UE whose packets waited longest.
fn uplink(result: &RunResult) -> String {
    let uplinks: Vec<_> = result.ues.iter().filter_map(|ue| ue.uplink).collect();
    let Some(used) = result.cell.uplink_utilisation.filter(|_| !uplinks.is_empty()) else { return String::new() };
    let rate: f64 = uplinks.iter().map(|uplink| uplink.throughput_mbps).sum();
    let worst = uplinks.iter().filter_map(|uplink| uplink.queue_ms).map(|queue| queue.p95).reduce(f64::max);
    let queue = worst.map_or(String::new(), |p95| format!(", queue delay p95 {p95:.1} ms"));
    format!("; {rate:.2} Mbit/s up{queue}, {:.0} % of the uplink used", used * 100.0)
}
