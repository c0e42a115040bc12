//! What a running driver can be told, from any thread.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender, sync_channel};

use tidemark_cell::{ChannelConfig, ConfigError, UeId};
use tidemark_core::Duration;
use tidemark_marker::MarkerConfig;

/// What a running driver can be told.
#[derive(Debug)]
pub enum Command {
    /// End.
    Stop,
    /// Change something, and say whether the cell took it.
    Change(Change, SyncSender<Result<(), ConfigError>>),
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
}

/// Tells a running driver what to do, from any thread.
#[derive(Clone, Debug)]
pub struct Control {
    pub(crate) commands: Sender<Command>,
    pub(crate) wake: Arc<OwnedFd>,
}

impl Control {
    /// Hands over a command; a driver that has ended hears nothing.
    pub fn tell(&self, command: Command) {
        if self.commands.send(command).is_ok() {
            // A counter that is full wakes the driver as well.
            let _ = rustix::io::write(&*self.wake, &1u64.to_ne_bytes());
        }
    }

    /// Changes something and waits until that is done.
    ///
    /// # Errors
    /// What the cell refuses; `None` if the driver has ended.
    pub fn change(&self, change: Change) -> Result<(), Option<ConfigError>> {
        let (reply, answer) = sync_channel(1);
        self.tell(Command::Change(change, reply));
        answer.recv().map_err(|_| None)?.map_err(Some)
    }
}
