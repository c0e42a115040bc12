//! Scheduling of a thread that has to wake in time.

/// Scheduling class of the emulator's thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Priority {
    /// Real time, before every ordinary thread (`SCHED_FIFO`).
    Fifo,
    /// Shared with other programs, which may delay a slot.
    Ordinary,
}

/// Lowest of the real-time priorities that still goes before every ordinary thread.
const FIFO_PRIORITY: i32 = 10;

/// Asks for `SCHED_FIFO` for the calling thread, and for timers that are exact to the nanosecond where that is refused
/// (an ordinary thread's are 50 us late by default).
pub fn prefer() -> Priority {
    let (policy, parameters) = (libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, FIFO_PRIORITY);
    // The system's own call: musl's function of this name does nothing, and its `sched_param` is not the kernel's, which is one number.
    // SAFETY: 0 names the calling thread, and `parameters` lives through the call.
    let refused = unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const parameters) };
    if refused == 0 {
        return Priority::Fifo;
    }
    // SAFETY: this option takes one number and changes nothing but the timer slack of the calling thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    Priority::Ordinary
}

/// Makes the calling process end with its parent thread.
pub(crate) fn die_with_parent() -> rustix::io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
}
