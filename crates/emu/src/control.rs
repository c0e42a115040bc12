//! Commands to a running driver, from any thread.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rustix::event::{EventfdFlags, eventfd};
use thiserror::Error;
use tidemark_cell::{ChannelConfig, ConfigError, UeId};
use tidemark_core::{Duration, Instant};
use tidemark_marker::MarkerConfig;

use crate::error::Error;

/// Command to a running driver.
#[derive(Debug)]
pub enum Command {
    /// Ends the driver.
    Stop,
    /// Changes something; the answer is the cell's time of the change, or the reason why it was refused.
    Change(Change, SyncSender<Result<Instant, Refusal>>),
}

/// Change of a running cell.
#[derive(Clone, Debug)]
pub enum Change {
    /// Gives a UE another radio channel.
    Channel(UeId, Box<ChannelConfig>),
    /// Gives a UE's bearer another law, or other thresholds.
    Marker(UeId, Box<MarkerConfig>),
    /// Takes a UE's coverage away for this long.
    Outage(UeId, Duration),
    /// Hands a UE over to another cell.
    Handover(UeId),
    /// Sends a bit rate query by a UE's modem: the octets of its control element, at the latest when the prohibit timer
    /// ends. Refused while another query waits for that, and where there are no recommendations.
    Query(UeId, [u8; 2]),
}

/// Reason why a change was refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Refusal {
    /// The cell refuses the configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The cell is a DU.
    #[error("marker: the law of a DU's bearers decides in its CU: set it there")]
    AtCu,
    /// The modem may not send a query now.
    #[error("no bit rate query is sent: one waits for the prohibit timer already, or the UE has no `anbr`")]
    Query,
    /// The driver has ended.
    #[error("the cell has ended")]
    Ended,
}

/// Sender of commands to a running driver, or to a CU, for any thread.
#[derive(Debug)]
pub struct Control<C = Command> {
    commands: Sender<C>,
    wake: Arc<OwnedFd>,
}

/// Receiver of commands. The event wakes a loop that waits for packets as well.
pub(crate) type Commands<C> = (Receiver<C>, Arc<OwnedFd>);

impl<C> Clone for Control<C> {
    fn clone(&self) -> Self {
        Self { commands: self.commands.clone(), wake: Arc::clone(&self.wake) }
    }
}

impl<C> Control<C> {
    pub(crate) fn new() -> Result<(Self, Commands<C>), Error> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(Error::errno("eventfd"))?;
        let wake = Arc::new(wake);
        let (commands, received) = channel();
        Ok((Self { commands, wake: Arc::clone(&wake) }, (received, wake)))
    }

    /// Sends a command. One to a driver that has ended is lost.
    pub fn send(&self, command: C) {
        if self.commands.send(command).is_ok() {
            // A counter that is full wakes the driver as well.
            let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
        }
    }
}

impl Control {
    /// Changes something, waits until that is done, and gives the cell's time of the change.
    ///
    /// # Errors
    /// Reason why the change was refused.
    pub fn change(&self, change: Change) -> Result<Instant, Refusal> {
        let (reply, answer) = sync_channel(1);
        self.send(Command::Change(change, reply));
        answer.recv().unwrap_or(Err(Refusal::Ended))
    }
}
