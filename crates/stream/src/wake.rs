//! A bell between two threads: one waits for it and for its socket at the same time (eventfd(2)).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// The bell, held by both threads. Several rings before a wait count as one.
#[derive(Clone, Debug)]
pub struct Wake(Arc<OwnedFd>);

impl Wake {
    /// Makes a bell.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Wakes the thread that waits.
    pub fn wake(&self) {
        // It fails only after 2^64 rings.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Waits for the bell or for data on `socket`, at most for `timeout`.
    ///
    /// # Errors
    /// An error of the system; `Interrupted` for a signal.
    pub fn wait(&self, socket: BorrowedFd<'_>, timeout: Duration) -> io::Result<()> {
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        let mut both =
            [PollFd::from_borrowed_fd(socket, PollFlags::IN), PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        poll(&mut both, Some(&timeout))?;
        // It fails if the bell has not been rung.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
        Ok(())
    }
}
