//! The network namespace of a UE, and the command that runs inside.
//!
//! It has no name and no process of its own: it lives as long as the command's process namespace does, and that ends with
//! the thread that started it. So nothing of it outlives a `kill -9`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::UnshareFlags;

use crate::addresses::{PREFIX_V4, PREFIX_V6, gateway, ue};
use crate::error::Error;
use crate::outside::{DEVICE_QUEUE, device_drops, has_ipv6, ip};
use crate::realtime::die_with_parent;
use crate::tun::Tun;

/// The device that a UE sees its cell through.
const DEVICE: &str = "cell0";

/// A UE's namespace, ready for its command.
#[derive(Debug)]
pub struct Namespace {
    commands: Sender<Vec<OsString>>,
    started: Receiver<Result<Pid, Error>>,
}

/// A command that runs inside; dropping it ends everything there.
#[derive(Debug)]
pub struct Inside(Pid);

impl Namespace {
    /// Makes a namespace whose default route leads to the device that is given back. Once its command has ended,
    /// `ended` is called with the exit code and the packets that the UE's device lost.
    ///
    /// # Errors
    /// A missing right, or what the system says.
    pub fn make(
        cell: u32,
        index: u32,
        mtu: u16,
        ended: impl FnOnce(u8, u64) + Send + 'static,
    ) -> Result<(Self, Tun), Error> {
        let (commands, wanted) = channel::<Vec<OsString>>();
        let (ready, made) = channel();
        let (report, started) = channel();
        let body = move || {
            let tun = enter(cell, index, mtu);
            let failed = tun.is_err();
            if ready.send(tun).is_err() || failed {
                return;
            }
            // The owner went away before it had a command.
            let Ok(command) = wanted.recv() else { return };
            match spawn(&command) {
                Ok(mut child) => {
                    let _ = report.send(Ok(Pid::from_child(&child)));
                    let code = child.wait().map_or(1, |status| match (status.code(), status.signal()) {
                        (Some(code), _) => code as u8,
                        (None, signal) => 128 + signal.unwrap_or(0) as u8,
                    });
                    ended(code, device_drops(DEVICE));
                }
                Err(error) => {
                    let _ = report.send(Err(error));
                }
            }
        };
        // The thread lives as long as the command: the command dies with it.
        thread::Builder::new().name(format!("ue{index}")).spawn(body).map_err(Error::system("a thread"))?;
        let gone = |_| Error::system("the thread of a namespace")(std::io::ErrorKind::BrokenPipe.into());
        let tun = made.recv().map_err(gone)??;
        Ok((Self { commands, started }, tun))
    }

    /// Starts the command.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(self, command: Vec<OsString>) -> Result<Inside, Error> {
        let gone = || Error::system("the thread of a namespace")(std::io::ErrorKind::BrokenPipe.into());
        self.commands.send(command).map_err(|_| gone())?;
        self.started.recv().map_err(|_| gone())?.map(Inside)
    }
}

impl Inside {
    /// Ends everything inside: it is the namespace's process 1 that is killed.
    pub fn end(&self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.end();
    }
}

/// Moves the calling thread into new namespaces and makes the UE's device there.
fn enter(cell: u32, index: u32, mtu: u16) -> Result<Tun, Error> {
    // SAFETY: of what threads have in common only the file-system state is unshared, and this thread has no use of it.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET | UnshareFlags::NEWNS) }
        .map_err(Error::errno("a network namespace"))?;
    // What is mounted here is nobody else's.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(Error::errno("a mount namespace"))?;
    let tun = Tun::open(DEVICE)?;
    let (v4, v6) = ue(cell, index);
    let (next_hop, next_hop_v6) = gateway(cell);
    let ipv6 = format!(
        "address add {v6}/{PREFIX_V6} dev {DEVICE} nodad\n\
         route add default via {next_hop_v6} dev {DEVICE}\n"
    );
    ip(&format!(
        "link set lo up\n\
         link set {DEVICE} mtu {mtu} txqueuelen {DEVICE_QUEUE} addrgenmode none\n\
         address add {v4}/{PREFIX_V4} dev {DEVICE}\n\
         link set {DEVICE} up\n\
         route add default via {next_hop} dev {DEVICE}\n\
         {}",
        if has_ipv6() { &ipv6 } else { "" }
    ))?;
    resolve_outside();
    Ok(tun)
}

/// A name server on the host's loopback cannot be reached from here; systemd-resolved says where the real ones are.
fn resolve_outside() {
    let loopback =
        |text: &str| text.lines().any(|line| line.starts_with("nameserver 127.") || line == "nameserver ::1");
    let upstream = Path::new("/run/systemd/resolve/resolv.conf");
    if fs::read_to_string("/etc/resolv.conf").is_ok_and(|text| loopback(&text)) && upstream.exists() {
        // Where that fails names are not resolved, and addresses still work.
        let _ = mount_bind(upstream, "/etc/resolv.conf");
    }
}

/// Starts process 1 of a new process namespace, which starts the command.
fn spawn(command: &[OsString]) -> Result<Child, Error> {
    // SAFETY: nothing but the ids that children of this thread get is unshared.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) }.map_err(Error::errno("a process namespace"))?;
    let mut init = Command::new("/proc/self/exe");
    init.arg(crate::init::ARGUMENT).args(command);
    // SAFETY: the closure makes one system call and touches no memory.
    unsafe { init.pre_exec(|| die_with_parent().map_err(Into::into)) };
    init.spawn().map_err(Error::system("process 1 of the namespace"))
}
