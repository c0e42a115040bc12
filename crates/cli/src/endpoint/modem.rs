//! Reads the bit rates that the live cell around this process recommends, from the UE's modem.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use miette::{IntoDiagnostic as _, Result, miette};
use tidemark_core::BitRate;
use tidemark_record::endpoint_result::Role;
use tidemark_sim::modem;
use tidemark_wire::mac::Direction;

use crate::live::MODEM;

/// Source of recommendations.
pub(super) struct Modem(Receiver<BitRate>);

impl Modem {
    /// Opens the modem of this process's UE, and listens for recommendations for this end: a sender at a UE uses the uplink.
    ///
    /// # Errors
    /// A UE without a modem, or a process outside a live cell.
    pub(super) fn open(role: Role) -> Result<Self> {
        let address = SocketAddr::from_abstract_name(MODEM).into_diagnostic()?;
        let stream = UnixStream::connect_addr(&address).map_err(|error| {
            miette!("--modem: {error}: run this inside `tidemark shell`, at a UE whose scenario has `anbr`")
        })?;
        (&stream).write_all(b"AT+CGBRRREP=1\r\n").into_diagnostic()?;
        let wanted = if role == Role::Sender { Direction::Uplink } else { Direction::Downlink };
        let (recommendations, received) = channel();
        thread::spawn(move || {
            let lines = BufReader::new(stream).lines().map_while(|line| line.ok());
            let rates = lines.filter_map(|line| modem::received(&line)).filter(|(_, direction)| *direction == wanted);
            for (rate, _) in rates {
                if recommendations.send(rate).is_err() {
                    return;
                }
            }
        });
        Ok(Self(received))
    }

    /// Newest recommendation since the last call; `None` if there is none.
    pub(super) fn latest(&self) -> Option<BitRate> {
        self.0.try_iter().last()
    }
}
