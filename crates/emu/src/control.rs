//! What a running driver can be told, from any thread.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use rustix::event::{EventfdFlags, eventfd};
use thiserror::Error;
use tidemark_cell::{ChannelConfig, ConfigError, UeId};
use tidemark_core::{Duration, Instant};
use tidemark_marker::MarkerConfig;

use crate::error::Error;

/// What a running driver can be told.
#[derive(Debug)]
pub enum Command {
    /// End.
    Stop,
    /// Change something, and say when the cell did, or why not.
    Change(Change, SyncSender<Result<Instant, Refusal>>),
}

/// A change of a running cell.
#[derive(Clone, Debug)]
pub enum Change {
    /// The radio channel of a UE.
    Channel(UeId, Box<ChannelConfig>),
    /// The law of a UE's bearer, or its thresholds.
    Marker(UeId, Box<MarkerConfig>),
    /// A UE is without coverage for this long.
    Outage(UeId, Duration),
    /// A UE moves to another cell.
    Handover(UeId),
    /// A UE's modem is asked to send a bit rate query, the octets of its control element, at the latest when its prohibit
    /// timer ends; refused while one waits for that already, and where there are no recommendations.
    Query(UeId, [u8; 2]),
}

/// Why a change was not made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Refusal {
    /// The cell refuses it.
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

/// Tells a running driver, or a CU, what to do, from any thread.
#[derive(Debug)]
pub struct Control<C = Command> {
    commands: Sender<C>,
    wake: Arc<OwnedFd>,
}

/// Where what was told arrives: the event is there for whoever waits for other things as well.
pub(crate) type Told<C> = (Receiver<C>, Arc<OwnedFd>);

impl<C> Clone for Control<C> {
    fn clone(&self) -> Self {
        Self { commands: self.commands.clone(), wake: Arc::clone(&self.wake) }
    }
}

impl<C> Control<C> {
    pub(crate) fn new() -> Result<(Self, Told<C>), Error> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(Error::errno("eventfd"))?;
        let wake = Arc::new(wake);
        let (commands, told) = channel();
        Ok((Self { commands, wake: Arc::clone(&wake) }, (told, wake)))
    }

    /// Hands over a command; what has ended hears nothing.
    pub fn tell(&self, command: C) {
        if self.commands.send(command).is_ok() {
            // A counter that is full wakes the driver as well.
            let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
        }
    }
}

impl Control {
    /// Changes something, waits until that is done, and gives the cell's time then.
    ///
    /// # Errors
    /// Why it was not done.
    pub fn change(&self, change: Change) -> Result<Instant, Refusal> {
        let (reply, answer) = sync_channel(1);
        self.tell(Command::Change(change, reply));
        answer.recv().unwrap_or(Err(Refusal::Ended))
    }
}
