//! Port of a hop: every Ethernet frame that comes to an interface, and a way out of it (packet(7)).

use std::io::{self, IoSlice};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::process::Command;

use crate::error::Error;

/// Receive and send buffer in bytes. The kernel counts a small frame as 768 bytes, so that ten thousand frames have room.
const SOCKET_BUFFER: libc::c_int = 32 << 20;
/// Length of `struct virtio_net_hdr` (linux/virtio_net.h), which comes before each frame.
pub(super) const OFFLOAD_HEADER: usize = 10;
/// Longest frame that is read: a bundle of segments of 64 kB with its headers.
pub(super) const MAX_FRAME: usize = 66_000;

/// Names of packet(7) and linux/if_packet.h that the bindings lack.
const PACKET_VNET_HDR: libc::c_int = 15;
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;

/// Frame in a buffer, as the kernel describes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    /// Bytes in the buffer, the offload header included.
    pub(super) length: usize,
    /// VLAN tag that the kernel took out of the frame: protocol and TCI.
    pub(super) vlan: Option<(u16, u16)>,
    /// True for a frame that was longer than the buffer.
    pub(super) is_cut: bool,
}

/// Socket at one interface. Nothing is changed at the interface but that it is promiscuous while the socket is open.
#[derive(Debug)]
pub(super) struct Port {
    name: String,
    mtu: u32,
    fd: OwnedFd,
}

/// Room for the control messages of one frame, aligned as the kernel wants it.
#[repr(align(8))]
struct ControlMessages([u8; 64]);

impl Port {
    /// Opens the interface of this name.
    ///
    /// # Errors
    /// An interface that is missing, down, or a part of a bridge or bond; a missing right; or an error of the system.
    pub(super) fn open(name: &str) -> Result<Self, Error> {
        let Interface { index, mtu, .. } = Interface::find(name)?.checked(name)?;
        let right = |source: io::Error| match source.raw_os_error() {
            Some(libc::EPERM | libc::EACCES) => Error::Privilege {
                what: "a port of the hop",
                right: "CAP_NET_RAW and CAP_NET_ADMIN",
                remedy: "run it with sudo, or inside `unshare --user --map-root-user --net`",
            },
            _ => Error::System { what: format!("packet socket at {name}"), source },
        };
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: no pointer is passed. With protocol 0 nothing is received before the socket is bound.
        let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
        if fd < 0 {
            return Err(right(io::Error::last_os_error()));
        }
        // SAFETY: the descriptor is new and nobody else's.
        let port = Self { name: name.into(), mtu, fd: unsafe { OwnedFd::from_raw_fd(fd) } };
        for option in [PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING, libc::PACKET_AUXDATA] {
            port.set(libc::SOL_PACKET, option, &1i32).map_err(right)?;
        }
        // Refused without privilege, where the usual buffers must do.
        let _ = port.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &SOCKET_BUFFER);
        let _ = port.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SOCKET_BUFFER);
        let promiscuous = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        port.set(libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &promiscuous).map_err(right)?;
        // SAFETY: zeros are a valid address of no protocol.
        let mut address: libc::sockaddr_ll = unsafe { MaybeUninit::zeroed().assume_init() };
        address.sll_family = libc::AF_PACKET as libc::c_ushort;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index;
        // SAFETY: the address lives through the call, with its length.
        let refused = unsafe {
            let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            libc::bind(port.fd.as_raw_fd(), (&raw const address).cast(), length)
        };
        if refused != 0 {
            return Err(right(io::Error::last_os_error()));
        }
        Ok(port)
    }

    /// Largest IP packet that the interface sends, in bytes.
    pub(super) fn mtu(&self) -> u32 {
        self.mtu
    }

    fn set<T>(&self, level: libc::c_int, option: libc::c_int, value: &T) -> io::Result<()> {
        // SAFETY: the value's address and size are given.
        let refused = unsafe {
            let length = size_of::<T>() as libc::socklen_t;
            libc::setsockopt(self.fd.as_raw_fd(), level, option, std::ptr::from_ref(value).cast(), length)
        };
        if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Reads one frame behind its offload header; `None` where none waits.
    pub(super) fn receive(&self, buffer: &mut [u8]) -> Result<Option<Received>, Error> {
        let mut control = ControlMessages([0; 64]);
        let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
        // SAFETY: zeros are a valid message header without any buffers.
        let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        (message.msg_control, message.msg_controllen) = (control.0.as_mut_ptr().cast(), control.0.len() as _);
        // SAFETY: both buffers of the header live through the call, with their lengths.
        let length = unsafe { libc::recvmsg(self.fd.as_raw_fd(), &raw mut message, libc::MSG_DONTWAIT) };
        if let Ok(length) = usize::try_from(length) {
            let is_cut = message.msg_flags & libc::MSG_TRUNC != 0;
            return Ok(Some(Received { length, vlan: vlan_of(&message), is_cut }));
        }
        let source = io::Error::last_os_error();
        match source.raw_os_error() {
            Some(libc::EAGAIN | libc::EINTR) => Ok(None),
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => Err(self.gone()),
            // A bundle of a kind that the offload header can't say: it is lost, and what comes after it is not.
            Some(libc::EINVAL) => Ok(Some(Received { length: 0, vlan: None, is_cut: true })),
            _ => Err(Error::System { what: format!("reading from {}", self.name), source }),
        }
    }

    /// Sends a frame of these parts; false where the kernel takes none.
    pub(super) fn send(&self, parts: &[&[u8]; 2]) -> Result<bool, Error> {
        // All zero: the checksum is complete, and it is one frame.
        let offload = [0; OFFLOAD_HEADER];
        let parts = [IoSlice::new(&offload), IoSlice::new(parts[0]), IoSlice::new(parts[1])];
        match rustix::io::writev(&self.fd, &parts) {
            Ok(_) => Ok(true),
            Err(rustix::io::Errno::NXIO | rustix::io::Errno::NODEV | rustix::io::Errno::NETDOWN) => Err(self.gone()),
            Err(_) => Ok(false),
        }
    }

    /// Frames that were lost because nobody read them in time, since the last call.
    pub(super) fn take_lost(&self) -> u64 {
        // SAFETY: zeros are valid counters.
        let mut counters: libc::tpacket_stats = unsafe { MaybeUninit::zeroed().assume_init() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the counters live through the call, with their length.
        let refused = unsafe {
            let value = (&raw mut counters).cast();
            libc::getsockopt(self.fd.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, value, &raw mut length)
        };
        if refused == 0 { u64::from(counters.tp_drops) } else { 0 }
    }

    fn gone(&self) -> Error {
        Error::InterfaceGone { interface: self.name.clone() }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Interface as `ip -oneline link show` describes it. sysfs would show those of the namespace that it was mounted in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Interface {
    index: libc::c_int,
    mtu: u32,
    is_up: bool,
    is_ethernet: bool,
    /// Bridge or bond that it belongs to.
    master: Option<String>,
}

impl Interface {
    /// Looks an interface up.
    fn find(name: &str) -> Result<Self, Error> {
        let show = |device: &[&str]| {
            let output = Command::new("ip").args(["-oneline", "link", "show"]).args(device).output();
            let output = output.map_err(Error::system("`ip` of iproute2, which looks interfaces up"))?;
            Ok::<_, Error>(String::from_utf8_lossy(&output.stdout).into_owned())
        };
        if let Some(found) = Self::parse(&show(&["dev", name])?) {
            return Ok(found);
        }
        let all = show(&[])?;
        let names = all.lines().filter_map(|line| line.split(": ").nth(1)?.split('@').next());
        let names: Vec<_> = names.collect();
        let problem = format!("there is no such interface here: use one of {}", names.join(", "));
        Err(Error::Interface { interface: name.into(), problem })
    }

    fn parse(line: &str) -> Option<Self> {
        let (index, rest) = line.split_once(": ")?;
        let mut words = rest.split_whitespace();
        let mut found = Self { index: index.parse().ok()?, ..Self::default() };
        while let Some(word) = words.next() {
            match word {
                "mtu" => found.mtu = words.next()?.parse().ok()?,
                "master" => found.master = words.next().map(str::to_string),
                "link/ether" | "\\link/ether" => found.is_ethernet = true,
                flags if flags.starts_with('<') => {
                    found.is_up = flags.trim_matches(['<', '>']).split(',').any(|flag| flag == "UP");
                }
                _ => {}
            }
        }
        Some(found)
    }

    /// Gives the interface where it can be a port.
    fn checked(self, name: &str) -> Result<Self, Error> {
        let problem = if !self.is_ethernet {
            "it has no Ethernet frames: use a veth, a network card or a VLAN of one".into()
        } else if let Some(master) = &self.master {
            format!("it belongs to {master}, which would forward its frames as well: `ip link set {name} nomaster`")
        } else if !self.is_up {
            format!("it is down: `ip link set {name} up`")
        } else {
            return Ok(self);
        };
        Err(Error::Interface { interface: name.into(), problem })
    }
}

/// VLAN tag among the control messages that the kernel wrote.
fn vlan_of(message: &libc::msghdr) -> Option<(u16, u16)> {
    // SAFETY: `message` was filled by `recvmsg`, and its control buffer still lives.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: the macros give null or a whole header inside the control buffer.
        let (level, kind) = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
        if (level, kind) == (libc::SOL_PACKET, libc::PACKET_AUXDATA) {
            // SAFETY: this message holds a `tpacket_auxdata`.
            let data = unsafe { libc::CMSG_DATA(header).cast::<libc::tpacket_auxdata>().read_unaligned() };
            let is_tagged = data.tp_status & libc::TP_STATUS_VLAN_VALID != 0;
            let protocol =
                if data.tp_status & libc::TP_STATUS_VLAN_TPID_VALID != 0 { data.tp_vlan_tpid } else { 0x8100 };
            return is_tagged.then_some((protocol, data.tp_vlan_tci));
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_read_as_ip_prints_them() {
        let line = "8: hl@if7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP mode DEFAULT group default qlen 1000\\    link/ether 92:b1:06:19:49:39 brd ff:ff:ff:ff:ff:ff link-netns l";
        let found = Interface::parse(line).unwrap();
        let master = Some("br0".into());
        assert_eq!(found, Interface { index: 8, mtu: 1500, is_up: true, is_ethernet: true, master });
        assert!(found.checked("hl").unwrap_err().to_string().contains("`ip link set hl nomaster`"));
        let down = Interface::parse(&line.replace("UP,LOWER_UP", "M-DOWN").replace("master br0 ", "")).unwrap();
        assert!(down.checked("hl").unwrap_err().to_string().contains("`ip link set hl up`"));
        assert_eq!(Interface::parse(""), None);
    }
}
