//! User who called sudo: a command in a namespace runs as that user, as it would without the cell.

use std::env;
use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::fs;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};

/// Bytes for one entry of the user database: more than any line of /etc/passwd.
const MAX_ENTRY: usize = 16 * 1024;
/// Groups of a user for a first try.
const GROUPS: usize = 64;

/// A user of this machine who called sudo.
#[derive(Clone, Debug)]
pub struct Caller {
    uid: Uid,
    gid: Gid,
    account: Option<Account>,
}

/// Entry of the user database.
#[derive(Clone, Debug)]
struct Account {
    name: CString,
    home: OsString,
    shell: OsString,
}

impl Caller {
    /// Reads sudo's variables. `None` without sudo, and where this process may not become another user: root of an ordinary
    /// user's namespace can't.
    pub fn from_sudo() -> Option<Self> {
        let id = |name: &str| env::var(name).ok()?.parse::<u32>().ok();
        let (uid, gid) = (id("SUDO_UID")?, id("SUDO_GID")?);
        let is_root = rustix::process::getuid().is_root()
            && fs::read_to_string("/proc/self/setgroups").is_ok_and(|may| may.trim() == "allow");
        is_root.then(|| Self { uid: Uid::from_raw(uid), gid: Gid::from_raw(gid), account: Account::of(uid) })
    }

    /// Login shell of the caller; `None` if the user database has none.
    pub fn shell(&self) -> Option<&OsStr> {
        self.account.as_ref().map(|account| account.shell.as_os_str()).filter(|shell| !shell.is_empty())
    }

    /// Gives a command the caller's user, groups, home and shell.
    pub(crate) fn give_to(&self, command: &mut Command) {
        let (uid, gid) = (self.uid, self.gid);
        let groups = self.account.as_ref().map_or_else(|| vec![gid], |account| account.groups(gid));
        if let Some(Account { name, home, .. }) = &self.account {
            let name = OsString::from_vec(name.to_bytes().to_vec());
            command.env("USER", &name).env("LOGNAME", name).env("HOME", home);
        }
        if let Some(shell) = self.shell() {
            command.env("SHELL", shell);
        }
        let become_caller = move || {
            set_thread_groups(&groups)?;
            set_thread_gid(gid)?;
            Ok(set_thread_uid(uid)?)
        };
        // SAFETY: the closure makes system calls and reads memory of its own.
        unsafe { command.pre_exec(become_caller) };
    }
}

impl Account {
    fn of(uid: u32) -> Option<Self> {
        let mut entry = MaybeUninit::<libc::passwd>::uninit();
        let mut buffer = [0; MAX_ENTRY];
        let mut found = std::ptr::null_mut();
        // SAFETY: entry and buffer, of this length, live through the call.
        let refused =
            unsafe { libc::getpwuid_r(uid, entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &raw mut found) };
        if refused != 0 || found.is_null() {
            return None;
        }
        // SAFETY: what was found is the entry, which is initialised then.
        let entry = unsafe { &*found };
        // SAFETY: its texts end with a zero, within the buffer.
        let text = |text: *const c_char| (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_owned());
        let path = |path| text(path).map(|path| OsString::from_vec(path.into_bytes()));
        Some(Self {
            name: text(entry.pw_name)?,
            home: path(entry.pw_dir)?,
            shell: path(entry.pw_shell).unwrap_or_default(),
        })
    }

    /// Groups of the account, `gid` among them; `gid` alone where the database can't be read.
    fn groups(&self, gid: Gid) -> Vec<Gid> {
        let mut groups = vec![0; GROUPS];
        loop {
            let mut length = groups.len() as i32;
            // SAFETY: the name ends with a zero, and there is room for as many groups as it says.
            let found =
                unsafe { libc::getgrouplist(self.name.as_ptr(), gid.as_raw(), groups.as_mut_ptr(), &raw mut length) };
            let is_complete = found >= 0;
            if !is_complete && length as usize <= groups.len() {
                return vec![gid];
            }
            groups.resize(length as usize, 0);
            if is_complete {
                return groups.into_iter().map(Gid::from_raw).collect();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_what_the_user_database_says() {
        let root = Account::of(0).unwrap();
        assert_eq!(root.name.as_c_str(), c"root");
        assert!(root.groups(Gid::from_raw(7)).contains(&Gid::from_raw(7)));
        assert!(Account::of(u32::MAX - 7).is_none());
    }
}
