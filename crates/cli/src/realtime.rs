//! Commands that move real packets in real time. They need Linux, for TUN devices, network namespaces and ECN on sockets.

use clap::Subcommand;
use miette::Result;

use crate::{endpoint, live};

/// A command in real time.
#[derive(Subcommand)]
pub(crate) enum Realtime {
    /// Run a command as a UE behind a cell, or a scenario's UEs and servers, with real packets in real time
    Shell(live::shell::Shell),
    /// Run a command without marks, with marks, with throughput first and with an outage, and compare them
    Test(live::trial::Test),
    /// Query or change a running live cell
    Ctl(live::control::Ctl),
    /// Act as a gNB's user plane, or as one half of it, with a live cell
    #[command(subcommand)]
    Gnb(Gnb),
    /// Put a bottleneck into a network, send L4S flows over a path, or find out whether it keeps ECN
    #[command(subcommand)]
    Net(Net),
    /// Stream video over WebRTC to a browser, by the program `tidemark-stream`
    #[command(hide = true)]
    Stream(live::stream::Stream),
}

/// Part of a gNB.
#[derive(Subcommand)]
pub(crate) enum Gnb {
    /// Act as the user plane of a gNB: a cell between a UPF's GTP-U tunnels and UEs
    N3(live::tunnels::N3),
    /// Act as the CU of a gNB: PDCP and the marker, between the host and a DU's F1-U tunnels
    Cu(live::cu::Cu),
    /// Act as the DU of a gNB: a cell between a CU's F1-U tunnels and UEs
    Du(live::tunnels::Du),
}

/// Part of a network.
#[derive(Subcommand)]
pub(crate) enum Net {
    /// Act as a wired bottleneck between two interfaces, with a rate, a delay and a queue discipline
    Hop(live::hop::Hop),
    /// Send an L4S flow over a real path
    Send(endpoint::Send),
    /// Receive an L4S flow over a real path
    Receive(endpoint::Receive),
    /// Find out whether a path keeps ECT(1) and CE
    Probe(live::probe::Probe),
}

impl Realtime {
    /// True for a command that handles signals itself and needs a process without other threads.
    pub(crate) fn takes_signals(&self) -> bool {
        !matches!(self, Self::Test(_) | Self::Net(Net::Send(_) | Net::Receive(_)))
    }

    /// Runs the command; gives the exit code, which for a live cell is that of the command behind it.
    ///
    /// # Errors
    /// Bad input, or a command that could not be run.
    pub(crate) fn execute(self) -> Result<u8> {
        match self {
            Self::Shell(shell) => shell.execute(),
            Self::Test(test) => test.execute(),
            Self::Ctl(ctl) => ctl.execute().map(|()| 0),
            Self::Gnb(Gnb::N3(n3)) => n3.execute(),
            Self::Gnb(Gnb::Cu(cu)) => cu.execute(),
            Self::Gnb(Gnb::Du(du)) => du.execute(),
            Self::Stream(stream) => stream.execute(),
            Self::Net(Net::Hop(hop)) => hop.execute(),
            Self::Net(Net::Probe(probe)) => probe.execute(),
            Self::Net(Net::Send(send)) => send.execute().map(|()| 0),
            Self::Net(Net::Receive(receive)) => receive.execute().map(|()| 0),
        }
    }
}
