//! `tidemark net send` and `tidemark net receive`: an L4S sender and receiver on real sockets, with the simulated endpoints' code.

mod clock;
mod format;
mod modem;
mod session;

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use miette::{Result, miette};
use tidemark_core::{BitRate, Duration, FlowId};
use tidemark_emu::{EcnSocket, realtime};
use tidemark_record::endpoint_result::{Role, Verdict};
use tidemark_senders::media::ReportFormat;
use tidemark_senders::{AppConfig, CongestionControl as _, Properties, SenderConfig, Transport, connect};
use tidemark_sim::scenario::Scenario;

use crate::live::probe::codepoint_name;
use format::{Format, Prague, Rtp};
use modem::Modem;
use session::{Outcome, Session, Times};
use tidemark_terminal::error::diagnostic;

/// A value of `--controller`.
struct Named {
    name: &'static str,
    help: String,
    /// Sender and application, in the form of a scenario.
    flow: String,
}

/// Lists the values of `--controller`: the congestion controls with a format on the wire, by their names in a scenario.
fn named() -> Vec<Named> {
    let with_format = |sender: SenderConfig| Some((WireFormat::of(&sender)?, sender));
    let named = |(format, sender): (WireFormat, SenderConfig)| {
        let Properties { title, answers, recommended, .. } = sender.properties();
        let (name, app, ecn) = (sender.name(), format.app(), codepoint_name(sender.codepoint()));
        let modem = if *recommended { "; --modem takes the cell's recommendations" } else { "" };
        Named {
            name,
            help: format!("{title} ({ecn}); answers {answers}{modem}"),
            flow: format!("sender = {{ controller = \"{name}\" }}\napp = {{ app = \"{app}\" }}"),
        }
    };
    SenderConfig::all().into_iter().filter_map(with_format).map(named).collect()
}

/// Reads a value of `--controller`.
fn controllers() -> PossibleValuesParser {
    named().into_iter().map(|named| PossibleValue::new(named.name).help(named.help)).into()
}

/// Arguments of both ends.
#[derive(Args)]
pub(crate) struct End {
    /// Address at which the other end listens, such as host:4000
    #[arg(value_name = "HOST:PORT", required_unless_present = "listen")]
    to: Option<String>,
    /// Wait for the other end at this port
    #[arg(long, value_name = "PORT", conflicts_with = "to")]
    listen: Option<u16>,
    /// The sender's congestion controller; name the same one at both ends
    #[arg(long, value_name = "CONTROLLER", value_parser = controllers(), default_value = "udp-prague", conflicts_with = "scenario")]
    controller: String,
    /// Take sender and application from a flow of this scenario
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Name of that flow [default: the first]
    #[arg(long, value_name = "NAME", requires = "scenario")]
    flow: Option<String>,
    /// Replace a value: sender.rates.max="9 Mbit/s" or app.frame_rate=30; with --scenario, keys as in `tidemark run` (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
    /// Time to run, from the moment that both ends have met
    #[arg(long, value_name = "TIME", default_value = "10 s")]
    time: Duration,
    /// Follow the bit rate recommendations of the live cell around this end
    #[arg(long)]
    modem: bool,
    /// Time between two lines of output
    #[arg(long, value_name = "TIME", default_value = "1 s")]
    interval: Duration,
    /// Time to wait for the other end
    #[arg(long, value_name = "TIME", default_value = "10 s")]
    patience: Duration,
}

/// Arguments of `tidemark net send`.
#[derive(Args)]
pub(crate) struct Send {
    #[command(flatten)]
    end: End,
}

/// Arguments of `tidemark net receive`.
#[derive(Args)]
pub(crate) struct Receive {
    #[command(flatten)]
    end: End,
}

impl Send {
    /// Sends a flow to its end.
    ///
    /// # Errors
    /// A flow without a format on the wire, no peer, or a path that breaks ECN.
    pub(crate) fn execute(&self) -> Result<()> {
        self.end.run(Role::Sender)
    }
}

impl Receive {
    /// Receives a flow to its end.
    ///
    /// # Errors
    /// A flow without a format on the wire, no peer, or a path that breaks ECN.
    pub(crate) fn execute(&self) -> Result<()> {
        self.end.run(Role::Receiver)
    }
}

/// Packet format of a flow on a real network.
#[derive(Clone, Copy)]
enum WireFormat {
    /// Messages of the public UDP Prague code.
    Prague,
    /// RTP with RFC 8888 reports.
    Rtp,
}

impl WireFormat {
    /// Name of the application that it carries.
    fn app(self) -> &'static str {
        match self {
            Self::Prague => "bulk",
            Self::Rtp => "video",
        }
    }

    /// Finds the format of a sender's packets; `None` where it has none.
    fn of(sender: &SenderConfig) -> Option<Self> {
        match sender.transport() {
            Transport::Tcp(_) => None,
            Transport::Rtp(controller) => {
                (controller().report_policy().format == ReportFormat::Ccfb).then_some(Self::Rtp)
            }
            Transport::Udp { .. } => matches!(sender, SenderConfig::UdpPrague(_)).then_some(Self::Prague),
        }
    }
}

impl End {
    fn run(&self, role: Role) -> Result<()> {
        if self.interval < Duration::from_millis(10) || self.time.is_zero() || self.patience.is_zero() {
            return Err(miette!("--interval: must be at least 10 ms; --time and --patience: above zero"));
        }
        let scenario = self.flow_as_scenario()?;
        let ues = scenario.ues();
        let flows = scenario.flows(&ues);
        let wanted = self.flow.as_deref();
        let named = flows.iter().enumerate().find(|(_, flow)| wanted.is_none_or(|name| name == flow.name));
        let (index, flow) = named.ok_or_else(|| {
            let names: Vec<_> = flows.iter().map(|flow| flow.name.as_str()).collect();
            miette!("--flow: no flow has this name: use {}", names.join(", "))
        })?;
        let ssrc = std::process::id();
        let Some(wire) = WireFormat::of(flow.sender) else {
            let able: Vec<_> =
                SenderConfig::all().iter().filter(|it| WireFormat::of(it).is_some()).map(|it| it.name()).collect();
            return Err(miette!(
                "flow `{}`: only {} have a packet format for real networks",
                flow.name,
                able.join(", ")
            ));
        };
        let codepoint = flow.sender.codepoint();
        let format: Box<dyn Format> = match (wire, role) {
            (WireFormat::Prague, Role::Sender) => Box::new(Prague::sender(ssrc)),
            (WireFormat::Prague, Role::Receiver) => Box::new(Prague::receiver(ssrc)),
            (WireFormat::Rtp, Role::Sender) => Box::new(Rtp::sender(ssrc)),
            (WireFormat::Rtp, Role::Receiver) => Box::new(Rtp::receiver(ssrc)),
        };
        let min_rate = min_rate(flow.sender, flow.app).filter(|_| role == Role::Sender);
        let id = FlowId(u32::try_from(index).unwrap_or(u32::MAX));
        let (server, client) = connect(flow.sender, flow.app, id, scenario.seed).map_err(|error| miette!("{error}"))?;
        let socket = EcnSocket::bind(self.listen.unwrap_or(0)).map_err(|error| miette!("{error}"))?;
        let peer = self.to.as_deref().map(address).transpose()?;
        // Asks for real-time scheduling; where it is refused, deadlines are met a little later.
        realtime::prefer();
        let endpoint = if role == Role::Sender { server } else { client };
        let modem = self.modem.then(|| Modem::open(role)).transpose()?;
        let (start, _) = flow.app.times();
        let times = Times { time: self.time, interval: self.interval, patience: self.patience, start };
        let session = Session { socket, role, peer, endpoint, codepoint, format, times, ssrc, modem, min_rate };
        let Outcome { verdict, stuck } = session.run()?;
        match verdict {
            Verdict::Kept | Verdict::Unknown => stuck.map_or(Ok(()), |stuck| Err(miette!("{stuck}"))),
            Verdict::Bleached => Err(miette!("this path bleaches ECN: packets sent with ECT arrive as Not-ECT")),
            Verdict::BlackHoled => Err(miette!(
                "this path is a black hole for ECT: the other end answers, but nothing of the flow arrives"
            )),
        }
    }

    /// The scenario with the flow: the named one, or one made from the controller's name.
    fn flow_as_scenario(&self) -> Result<Scenario> {
        match &self.scenario {
            Some(file) => Scenario::load(file, &self.overrides).map_err(diagnostic),
            None => {
                let flow =
                    named().into_iter().find(|named| named.name == self.controller).map_or(String::new(), |it| it.flow);
                let text = format!(
                    "name = \"pair\"\nduration = \"1 s\"\n[[flow]]\nname = \"flow\"\nround_trip = \"0 s\"\n{flow}\n"
                );
                let overrides: Vec<_> =
                    self.overrides.iter().map(|assignment| format!("flow.0.{assignment}")).collect();
                Scenario::parse("--set", &text, Path::new(""), &overrides).map_err(diagnostic)
            }
        }
    }
}

/// Minimum rate that a sender should exceed; `None` where its application does not always have data to send.
fn min_rate(sender: &SenderConfig, app: &AppConfig) -> Option<BitRate> {
    sender.min_rate().filter(|_| matches!(app, AppConfig::Bulk(_) | AppConfig::Video(_)))
}

/// The first address of a name.
fn address(to: &str) -> Result<SocketAddr> {
    let mut addresses = to.to_socket_addrs().map_err(|error| miette!("{to}: {error}: write HOST:PORT"))?;
    addresses.next().ok_or_else(|| miette!("{to}: no address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_of_the_command_is_a_flow_with_a_format() {
        for Named { name, help, flow } in named() {
            let text = format!(
                "name = \"pair\"\nduration = \"1 s\"\n[[flow]]\nname = \"flow\"\nround_trip = \"0 s\"\n{flow}\n"
            );
            let scenario =
                Scenario::parse("flow", &text, Path::new(""), &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(WireFormat::of(&scenario.flow[0].sender).is_some() && !help.is_empty(), "{name}");
        }
    }
}
