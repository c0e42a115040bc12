//! Signals that end a live cell.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};

use crate::error::Error;

/// SIGTERM, SIGHUP and SIGINT, taken from the calling thread and all threads that it starts from now on.
#[derive(Debug)]
pub struct Signals(OwnedFd);

impl Signals {
    /// Takes the signals. To be called before any other thread is started.
    ///
    /// # Errors
    /// An error of the system.
    pub fn take() -> Result<Self, Error> {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the set is initialised by `sigemptyset` before anything reads it.
        let fd = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in [libc::SIGTERM, libc::SIGHUP, libc::SIGINT] {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
            libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC)
        };
        if fd < 0 {
            return Err(Error::system("signalfd")(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and nobody else's.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Unblocks all signals for a program that this process starts, which would inherit the mask of the thread that starts it. To
    /// be called between fork and exec.
    pub(crate) fn give_back() -> io::Result<()> {
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: the set is initialised before it is read, and both functions may be called after a fork (signal-safety(7)).
        let refused = unsafe {
            libc::sigemptyset(none.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut())
        };
        if refused == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(refused)) }
    }

    /// Waits for a signal that asks this process to end.
    ///
    /// Ctrl-C goes to every process in the terminal's foreground, hence also to the commands in namespaces, which decide what
    /// it means: an editor goes on. So SIGINT counts only if a process sent it.
    pub fn wait(&self) {
        self.wait_for(|signal, code| signal != libc::SIGINT || code != libc::SI_KERNEL);
    }

    /// Waits for any of the signals, Ctrl-C as well, in a program that runs no commands.
    pub fn wait_for_any(&self) {
        self.wait_for(|_, _| true);
    }

    fn wait_for(&self, ends: impl Fn(libc::c_int, libc::c_int) -> bool) {
        let mut info = [0; size_of::<libc::signalfd_siginfo>()];
        loop {
            match rustix::io::read(&self.0, &mut info) {
                Ok(length) if length == info.len() => {
                    let word = |at: usize| i32::from_ne_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]]);
                    // ssi_signo at 0, ssi_code at 8 (signalfd(2)).
                    let (signal, code) = (word(0), word(8));
                    if ends(signal, code) {
                        return;
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                _ => return,
            }
        }
    }
}
