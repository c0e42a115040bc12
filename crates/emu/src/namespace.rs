//! Network namespace of a UE, a server or a core network, and the command that runs in it.
//!
//! A namespace has no name and no process of its own: it lives as long as the command's process namespace does, and that ends with
//! the thread that started it. So no part of it outlives a `kill -9`.

use std::ffi::OsString;
use std::fs;
use std::net::IpAddr;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::mount::{MountPropagationFlags, mount_bind, mount_change};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use crate::addresses::{PREFIX_V4, PREFIX_V6, gateway, server, server_gateway, ue};
use crate::error::Error;
use crate::realtime::die_with_parent;
use crate::routing::{DEVICE_QUEUE, core_device, device_drops, has_ipv6, ip, run};
use crate::signals::Signals;
use crate::tun::Tun;

/// Name of a UE's device.
const DEVICE: &str = "cell0";

/// Variable of a command's environment, and its value.
pub type Variable = (String, String);

/// Namespace, ready for its command.
#[derive(Debug)]
pub struct Namespace {
    network: OwnedFd,
    commands: Sender<(Vec<OsString>, Vec<Variable>)>,
    started: Receiver<Result<Guard, Error>>,
}

/// Guard of a command that runs in a namespace: dropping it ends every process there. It holds a descriptor of process
/// 1, since after the end its number may belong to another process.
#[derive(Debug)]
pub struct Guard(OwnedFd);

impl Namespace {
    /// Makes the namespace of a UE, whose default route leads to the device that is given back. The UE has its addresses in the
    /// cell, or the `address` that a core network gave it. After the end of its command `ended` is called with
    /// the exit code and the number of packets that the device lost.
    ///
    /// # Errors
    /// A missing right, or an error of the system.
    pub fn ue(
        cell: u32,
        index: u32,
        mtu: u16,
        address: Option<IpAddr>,
        ended: impl FnOnce(u8, u64) + Send + 'static,
    ) -> Result<(Self, Tun), Error> {
        let device = move || match address {
            None => ue_device(cell, index, mtu),
            Some(address) => ue_device_at(address, mtu),
        };
        Self::make(format!("ue{index}"), device, ended)
    }

    /// Makes a core network of the cell's own, with the core device, which is given back. The namespace ends when it is dropped.
    ///
    /// # Errors
    /// A missing right, or an error of the system.
    pub fn core(cell: u32, mtu: u16) -> Result<(Self, Tun), Error> {
        let device = move || {
            let tun = core_device(cell, mtu)?;
            forward_everything()?;
            Ok(tun)
        };
        Self::make("core".into(), device, |_, _| {})
    }

    /// Makes the namespace of a server behind a core network. After the end of its command `ended` is called with the exit code.
    ///
    /// # Errors
    /// A missing right, or an error of the system.
    pub fn server(
        cell: u32,
        index: u32,
        mtu: u16,
        core: &Self,
        ended: impl FnOnce(u8, u64) + Send + 'static,
    ) -> Result<Self, Error> {
        let core = core.network.try_clone().map_err(Error::system("the core's namespace"))?;
        Ok(Self::make(format!("server{index}"), move || link_to_core(cell, index, mtu, core), ended)?.0)
    }

    /// Makes a namespace on a thread of its own, in which `setup` runs.
    fn make<T: Send + 'static>(
        name: String,
        setup: impl FnOnce() -> Result<T, Error> + Send + 'static,
        ended: impl FnOnce(u8, u64) + Send + 'static,
    ) -> Result<(Self, T), Error> {
        let (commands, received) = channel::<(Vec<OsString>, Vec<Variable>)>();
        let (ready, made) = channel();
        let (report, started) = channel();
        let body = move || {
            let made = enter().and_then(|network| Ok((network, setup()?)));
            let failed = made.is_err();
            if ready.send(made).is_err() || failed {
                return;
            }
            // The namespace was dropped before it had a command.
            let Ok((command, variables)) = received.recv() else { return };
            match spawn(&command, variables) {
                Ok((mut child, guard)) => {
                    let _ = report.send(Ok(guard));
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
        thread::Builder::new().name(name).spawn(body).map_err(Error::system("a thread"))?;
        let gone = |_| Error::system("the thread of a namespace")(std::io::ErrorKind::BrokenPipe.into());
        let (network, made) = made.recv().map_err(gone)??;
        Ok((Self { network, commands, started }, made))
    }

    /// Listens at an abstract Unix socket of this name in the namespace. The socket belongs to the network namespace: nobody
    /// outside can reach it, and it ends with the namespace.
    ///
    /// # Errors
    /// An error of the system.
    pub fn listen(&self, name: &str) -> Result<UnixListener, Error> {
        let address = SocketAddr::from_abstract_name(name).map_err(Error::system("a socket's name"))?;
        let network = self.network.try_clone().map_err(Error::system("the namespace"))?;
        let visit = move || {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))
                .map_err(Error::errno("the namespace"))?;
            UnixListener::bind_addr(&address).map_err(Error::system("a socket inside"))
        };
        let failed = |_| Error::system("the namespace")(std::io::ErrorKind::Other.into());
        thread::spawn(visit).join().map_err(failed)?
    }

    /// Starts the command, with these variables beside those of this process.
    ///
    /// # Errors
    /// An error of the system.
    pub fn start(self, command: Vec<OsString>, variables: Vec<Variable>) -> Result<Guard, Error> {
        let gone = || Error::system("the thread of a namespace")(std::io::ErrorKind::BrokenPipe.into());
        self.commands.send((command, variables)).map_err(|_| gone())?;
        self.started.recv().map_err(|_| gone())?
    }
}

impl Guard {
    /// Ends every process of the namespace: kills its process 1, and the kernel the others.
    pub fn end(&self) {
        // The signal is refused for a process that has ended already.
        let _ = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end();
    }
}

/// Moves the calling thread into new namespaces, and gives the network namespace as a file.
fn enter() -> Result<OwnedFd, Error> {
    // SAFETY: of what threads have in common only the file-system state is unshared, and this thread has no use of it.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET | UnshareFlags::NEWNS) }
        .map_err(Error::errno("a network namespace"))?;
    // Without this a mount here would show up in the host's mount namespace.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(Error::errno("a mount namespace"))?;
    use_upstream_resolvers();
    ip("link set lo up\n")?;
    let network = fs::File::open("/proc/thread-self/ns/net").map_err(Error::system("the new namespace"))?;
    Ok(network.into())
}

/// Makes the UE's device in the calling thread's namespace.
fn ue_device(cell: u32, index: u32, mtu: u16) -> Result<Tun, Error> {
    let tun = Tun::open(DEVICE)?;
    let (v4, v6) = ue(cell, index);
    let (next_hop, next_hop_v6) = gateway(cell);
    let ipv6 = format!(
        "address add {v6}/{PREFIX_V6} dev {DEVICE} nodad\n\
         route add default via {next_hop_v6} dev {DEVICE}\n"
    );
    ip(&format!(
        "link set {DEVICE} mtu {mtu} txqueuelen {DEVICE_QUEUE} addrgenmode none\n\
         address add {v4}/{PREFIX_V4} dev {DEVICE}\n\
         link set {DEVICE} up\n\
         route add default via {next_hop} dev {DEVICE}\n\
         {}",
        if has_ipv6() { &ipv6 } else { "" }
    ))?;
    Ok(tun)
}

/// Makes the UE's device with an address that a core network gave the UE: alone on its link, as a PDU session is.
fn ue_device_at(address: IpAddr, mtu: u16) -> Result<Tun, Error> {
    let tun = Tun::open(DEVICE)?;
    let (prefix, options, version) = if address.is_ipv4() { (32, "", "-4") } else { (128, " nodad", "-6") };
    ip(&format!(
        "link set {DEVICE} mtu {mtu} txqueuelen {DEVICE_QUEUE} addrgenmode none\n\
         address add {address}/{prefix} dev {DEVICE}{options}\n\
         link set {DEVICE} up\n"
    ))?;
    run("ip", &[version, "route", "add", "default", "dev", DEVICE], "")?;
    Ok(tun)
}

/// Links the calling thread's namespace to the core's, with an address of its own.
fn link_to_core(cell: u32, index: u32, mtu: u16, core: OwnedFd) -> Result<(), Error> {
    let (v4, v6) = server(cell, index);
    let (next_hop, next_hop_v6) = server_gateway(cell, index);
    let peer = format!("server{index}");
    let path = format!("/proc/{}/fd/{}", std::process::id(), core.as_raw_fd());
    let with_v6 = |commands: String| if has_ipv6() { commands } else { String::new() };
    ip(&format!("link add eth0 type veth peer name {peer} netns {path}\n"))?;
    // The other end is configured where it is, by a thread that goes there.
    let there = format!(
        "link set {peer} mtu {mtu} up\naddress add {next_hop}/30 dev {peer}\n{}",
        with_v6(format!("address add {next_hop_v6}/126 dev {peer} nodad\n"))
    );
    let visit = move || {
        move_into_link_name_space(core.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(Error::errno("the core's namespace"))?;
        ip(&there)
    };
    let failed = |_| Error::system("the core's namespace")(std::io::ErrorKind::Other.into());
    thread::spawn(visit).join().map_err(failed)??;
    ip(&format!(
        "link set eth0 mtu {mtu} up\n\
         address add {v4}/30 dev eth0\n\
         route add default via {next_hop} dev eth0\n\
         {}",
        with_v6(format!("address add {v6}/126 dev eth0 nodad\nroute add default via {next_hop_v6} dev eth0\n"))
    ))
}

/// Makes a router of the calling thread's namespace, which has no other user.
fn forward_everything() -> Result<(), Error> {
    for setting in ["/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv6/conf/all/forwarding"] {
        if fs::exists(setting).unwrap_or(false) {
            fs::write(setting, "1").map_err(Error::system(setting))?;
        }
    }
    Ok(())
}

/// Replaces a name server on the host's loopback, which cannot be reached from here, by the real ones that systemd-resolved lists.
fn use_upstream_resolvers() {
    let loopback =
        |text: &str| text.lines().any(|line| line.starts_with("nameserver 127.") || line == "nameserver ::1");
    let upstream = Path::new("/run/systemd/resolve/resolv.conf");
    if fs::read_to_string("/etc/resolv.conf").is_ok_and(|text| loopback(&text)) && upstream.exists() {
        // If that fails, names are not resolved; addresses still work.
        let _ = mount_bind(upstream, "/etc/resolv.conf");
    }
}

/// Starts process 1 of a new process namespace, which starts the command.
fn spawn(command: &[OsString], variables: Vec<Variable>) -> Result<(Child, Guard), Error> {
    // SAFETY: nothing but the ids that children of this thread get is unshared.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWPID) }.map_err(Error::errno("a process namespace"))?;
    let mut init = Command::new("/proc/self/exe");
    init.arg(crate::init::ARGUMENT).args(command).envs(variables);
    let prepare = || {
        Signals::give_back()?;
        die_with_parent().map_err(Into::into)
    };
    // SAFETY: the closure makes system calls and touches no memory but its own.
    unsafe { init.pre_exec(prepare) };
    let child = init.spawn().map_err(Error::system("process 1 of the namespace"))?;
    // Nobody has waited for the child yet: its number can't be another process'.
    let process = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).map_err(Error::errno("pidfd_open"))?;
    Ok((child, Guard(process)))
}
