//! Rights that a live cell needs, and how the process gets them.

use std::fs;

use rustix::thread::{CapabilitySet, UnshareFlags, capabilities, capability_is_in_ambient_set};

use crate::error::Error;
use crate::tun::device_file_is_missing;

/// Source of the rights of the calling process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rights {
    /// The process had the rights when it was started.
    Own,
    /// The process has the rights in a user namespace of its own, from which no network outside can be reached.
    UserNamespace,
}

/// Makes sure of the rights. A process without them moves into a user namespace of its own, if the system
/// allows that. Must be called before any thread is started.
///
/// # Errors
/// The right that is missing, with a remedy.
pub fn acquire() -> Result<Rights, Error> {
    if device_file_is_missing() {
        return Err(Error::Privilege {
            what: "a live cell",
            right: "/dev/net/tun",
            remedy: "load the kernel module `tun`, or give the container that device",
        });
    }
    if has_rights() {
        return Ok(Rights::Own);
    }
    enter_user_namespace().map(|()| Rights::UserNamespace).map_err(|_| Error::Privilege {
        what: "a live cell",
        right: "CAP_NET_ADMIN and CAP_SYS_ADMIN, as root or in the ambient set",
        remedy: "run it with sudo; this system gives no user namespace to ordinary users",
    })
}

/// True if this process has the rights, and the programs that it starts will: `ip` and `nft` inherit root's and ambient
/// capabilities, but none that the file of this program has (capabilities(7)).
fn has_rights() -> bool {
    let needed = [CapabilitySet::NET_ADMIN, CapabilitySet::SYS_ADMIN];
    let inherited = |right: &CapabilitySet| capability_is_in_ambient_set(*right).unwrap_or(false);
    capabilities(None).is_ok_and(|sets| needed.iter().all(|right| sets.effective.contains(*right)))
        && (rustix::process::geteuid().is_root() || needed.iter().all(inherited))
}

/// Moves the process into a new user namespace, as root there, and into a network namespace of its own.
fn enter_user_namespace() -> std::io::Result<()> {
    let (uid, gid) = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
    // SAFETY: no thread runs yet that could hold descriptors or file-system state in common with this one.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNET) }?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {gid} 1"))
}
