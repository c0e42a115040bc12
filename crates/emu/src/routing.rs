//! Routing between a cell and the host's network: the core device, forwarding and address translation.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::addresses::{PREFIX_V4, PREFIX_V6, gateway};
use crate::error::Error;
use crate::journal::Change;
use crate::lease::Lease;
use crate::tun::Tun;

/// Packets that a device queues while the driver's thread is busy: more than the burst that an RLC queue takes.
pub(crate) const DEVICE_QUEUE: u32 = 16_384;

/// Makes the cell's core device, with its addresses, in the calling thread's network namespace.
///
/// # Errors
/// A missing right, or an error of `ip`.
pub fn core_device(cell: u32, mtu: u16) -> Result<Tun, Error> {
    let name = format!("tidemark{cell}");
    let tun = Tun::open(&name)?;
    let (v4, v6) = gateway(cell);
    let ipv6 = if has_ipv6() { format!("address add {v6}/{PREFIX_V6} dev {name} nodad\n") } else { String::new() };
    ip(&format!(
        "link set {name} mtu {mtu} txqueuelen {DEVICE_QUEUE} addrgenmode none\n\
         address add {v4}/{PREFIX_V4} dev {name}\n\
         link set {name} up\n\
         {ipv6}"
    ))?;
    Ok(tun)
}

/// Connects the cell's UEs to the networks that this namespace reaches, under its addresses. Every change is noted in the lease.
///
/// # Errors
/// A setting that cannot be written, or an error of `nft`.
pub fn connect(lease: &mut Lease) -> Result<(), Error> {
    let cell = lease.number();
    forward(lease)?;
    let table = format!("tidemark{cell}");
    lease.note(&Change::Table(table.clone()))?;
    let (v4, v6) = gateway(cell);
    run(
        "nft",
        &["-f", "-"],
        &format!(
            "table inet {table} {{\n\
               chain postrouting {{\n\
                 type nat hook postrouting priority srcnat;\n\
                 ip saddr {v4}/{PREFIX_V4} oifname != \"{table}\" masquerade\n\
                 ip6 saddr {v6}/{PREFIX_V6} oifname != \"{table}\" masquerade\n\
               }}\n\
             }}\n"
        ),
    )
}

/// True if the system has IPv6 and it is not switched off.
pub fn has_ipv6() -> bool {
    fs::read_to_string("/proc/sys/net/ipv6/conf/all/disable_ipv6").is_ok_and(|value| value.trim() == "0")
}

/// Switches forwarding on for every interface. Not by `ip_forward`, which would reset other settings as well.
fn forward(lease: &mut Lease) -> Result<(), Error> {
    for interface in interfaces("/proc/sys/net/ipv4/conf") {
        set(lease, interface.join("forwarding"), "1", |_| true)?;
    }
    if has_ipv6() {
        // A router ignores router advertisements unless `accept_ra` is 2: the host would lose its own default route.
        for interface in interfaces("/proc/sys/net/ipv6/conf") {
            set(lease, interface.join("accept_ra"), "2", |old| old == "1")?;
        }
        set(lease, "/proc/sys/net/ipv6/conf/all/forwarding".into(), "1", |_| true)?;
    }
    Ok(())
}

fn interfaces(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.path()).collect();
    // `all` and `default` are no interfaces, and nothing is forwarded to the loopback.
    found.retain(|path| !["all", "default", "lo"].iter().any(|name| path.ends_with(name)));
    found.sort();
    found
}

/// Writes a setting that differs, if `when` is true for its old value, and notes the old value first.
fn set(lease: &mut Lease, path: PathBuf, value: &str, when: impl Fn(&str) -> bool) -> Result<(), Error> {
    let what = || path.display().to_string();
    let old = fs::read_to_string(&path).map_err(Error::system(what()))?.trim().to_string();
    if old != value && when(&old) {
        lease.note(&Change::Sysctl(path.clone(), old))?;
        fs::write(&path, value).map_err(Error::system(what()))?;
    }
    Ok(())
}

/// Number of packets that a device of the calling thread's namespace lost because they were not read in time.
pub fn device_drops(device: &str) -> u64 {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'));
    // Eight columns of what the device received, then of what it sent: bytes, packets, errors, drops (proc(5)).
    line.and_then(|columns| columns.split_whitespace().nth(11)?.parse().ok()).unwrap_or(0)
}

/// Runs `ip` commands, one a line, in the calling thread's network namespace.
pub(crate) fn ip(commands: &str) -> Result<(), Error> {
    run("ip", &["-batch", "-"], commands)
}

/// Runs a program to its end with this input. Its output is part of the error of a program that fails.
pub(crate) fn run(program: &str, arguments: &[&str], input: &str) -> Result<(), Error> {
    let missing = |error: std::io::Error| Error::System {
        what: format!("`{program}` (Debian: package {})", if program == "ip" { "iproute2" } else { "nftables" }),
        source: error,
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(missing)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes()).map_err(Error::system(format!("`{program}`")))?;
    }
    let output = child.wait_with_output().map_err(Error::system(format!("`{program}`")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = [output.stdout, output.stderr].concat();
    Err(Error::Program { command: program.into(), output: String::from_utf8_lossy(&text).trim().into() })
}
