//! Process 1 of a namespace: starts the command and collects the processes that it leaves behind. When process 1 ends, the
//! kernel ends every other process of the namespace.

use std::ffi::OsString;
use std::process::Command;

use rustix::mount::{MountFlags, mount};
use rustix::process::{Pid, WaitOptions, wait};

use crate::caller::Caller;

/// First argument of a process that is to be process 1: its `main` calls [`run`] with the other arguments before anything else.
pub const ARGUMENT: &str = "--tidemark-init";

/// Exit code of a command that cannot be started, which shells use as well.
const NOT_STARTED: i32 = 127;

/// Runs the command to its end, and this process with it.
pub fn run(command: &[OsString]) -> ! {
    // Programs here see the processes and devices of the namespace, where mounting is allowed.
    let _ = mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None);
    let _ = mount("sysfs", "/sys", "sysfs", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None);
    let Some((program, arguments)) = command.split_first() else { std::process::exit(NOT_STARTED) };
    let mut child = Command::new(program);
    child.args(arguments);
    if let Some(caller) = Caller::from_sudo() {
        caller.give_to(&mut child);
    }
    let main = match child.spawn() {
        Ok(child) => Pid::from_child(&child),
        Err(error) => {
            eprintln!("{}: {error}", program.display());
            std::process::exit(NOT_STARTED);
        }
    };
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == main => {
                let signal = status.terminating_signal().map_or(0, |signal| 128 + signal);
                std::process::exit(status.exit_status().unwrap_or(signal));
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => std::process::exit(NOT_STARTED),
        }
    }
}
