//! TUN device: IP packets by `read` and `write`.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};

use crate::error::Error;

/// TUN device of the network namespace that it was opened in. The device vanishes with the last process that holds it.
#[derive(Debug)]
pub struct Tun {
    name: String,
    fd: OwnedFd,
}

/// Result of a write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Written {
    Done,
    /// The kernel refuses this packet: the bytes are no IP packet, or the device is down.
    Refused,
    /// The UE may not send it, which was counted where that was found.
    NotAdmitted,
}

impl Tun {
    /// Makes the device in the calling thread's network namespace.
    ///
    /// # Errors
    /// A missing right, or an error of the system.
    pub fn open(name: &str) -> Result<Self, Error> {
        let what = || format!("TUN device {name}");
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = open("/dev/net/tun", flags, Mode::empty()).map_err(Error::errno("/dev/net/tun"))?;
        // SAFETY: `SetInterface` describes TUNSETIFF as linux/if_tun.h does.
        unsafe { ioctl(&fd, SetInterface::new(name)) }.map_err(|errno| match errno {
            Errno::PERM => Error::Privilege {
                what: "a TUN device",
                right: "CAP_NET_ADMIN",
                remedy: "run as root, or inside `unshare --user --map-root-user --net`",
            },
            errno => Error::errno(what())(errno),
        })?;
        Ok(Self { name: name.into(), fd })
    }

    /// Name of the device in its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads one packet, and gives its length; `None` where none waits.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>, Error> {
        match rustix::io::read(&self.fd, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(Errno::BADFD | Errno::IO | Errno::NODEV) => Err(Error::DeviceGone { device: self.name.clone() }),
            Err(errno) => Err(Error::errno(format!("reading from {}", self.name))(errno)),
        }
    }

    /// Writes one packet.
    pub(crate) fn write(&self, packet: &[u8]) -> Result<Written, Error> {
        match rustix::io::write(&self.fd, packet) {
            Ok(_) => Ok(Written::Done),
            Err(Errno::BADFD | Errno::NODEV) => Err(Error::DeviceGone { device: self.name.clone() }),
            // EINVAL: no IP packet; EIO: the device is down; the others: no memory for it now.
            Err(_) => Ok(Written::Refused),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// TUNSETIFF with `struct ifreq` (linux/if_tun.h, linux/if.h).
#[repr(C)]
struct SetInterface {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

const IFF_TUN: u16 = 0x0001;
const IFF_NO_PI: u16 = 0x1000;

impl SetInterface {
    fn new(name: &str) -> Self {
        let mut request = Self { name: [0; 16], flags: IFF_TUN | IFF_NO_PI, rest: [0; 22] };
        // The last byte stays zero: the name is a C string.
        request.name.iter_mut().take(15).zip(name.bytes()).for_each(|(to, from)| *to = from);
        request
    }
}

// SAFETY: TUNSETIFF reads an `ifreq` of 40 bytes behind the pointer and writes the device's name back into it.
unsafe impl Ioctl for SetInterface {
    type Output = ();
    const IS_MUTATING: bool = true;
    fn opcode(&self) -> Opcode {
        opcode::write::<i32>(b'T', 202)
    }
    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self).cast()
    }
    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}

/// True if the device file of TUN is missing, as in many containers.
pub(crate) fn device_file_is_missing() -> bool {
    matches!(std::fs::metadata("/dev/net/tun"), Err(error) if error.kind() == io::ErrorKind::NotFound)
}
