//! UDP socket that sets the ECN field of each datagram and reads it from each.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tidemark_core::Ecn;

use crate::error::Error;

/// Size of the socket's receive buffer, in bytes: a burst that comes while the owner does something else.
const RECEIVE_BUFFER: libc::c_int = 4 << 20;

/// Buffer for the control messages of one datagram, aligned as the kernel wants it.
#[repr(align(8))]
struct ControlMessages([u8; 128]);

/// UDP socket for both versions of IP.
#[derive(Debug)]
pub struct EcnSocket(UdpSocket);

impl EcnSocket {
    /// Listens on every address at this port; 0 takes a free one.
    ///
    /// # Errors
    /// An error of the system.
    pub fn bind(port: u16) -> Result<Self, Error> {
        // An IPv6 socket takes IPv4 as well (Linux's default), unless there is no IPv6.
        let any_v6 = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
        let socket = UdpSocket::bind(any_v6).or_else(|_| UdpSocket::bind(("0.0.0.0", port)));
        socket.map_err(Error::system(format!("UDP port {port}"))).map(Self::prepared)
    }

    /// Listens at one address.
    ///
    /// # Errors
    /// An error of the system.
    pub fn bind_to(address: SocketAddr) -> Result<Self, Error> {
        UdpSocket::bind(address).map_err(Error::system(format!("UDP {address}"))).map(Self::prepared)
    }

    fn prepared(socket: UdpSocket) -> Self {
        let socket = Self(socket);
        // A refusal is no error: an IPv4 socket has no IPv6 option, and without privilege the usual buffer must do.
        let _ = socket.set(libc::IPPROTO_IP, libc::IP_RECVTOS, 1);
        let _ = socket.set(libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS, 1);
        let _ = socket.set(libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, RECEIVE_BUFFER);
        socket
    }

    /// Sets an option whose value is an int.
    fn set(&self, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
        // SAFETY: the option's value is an int, whose address and size are given.
        let refused = unsafe {
            let length = size_of::<libc::c_int>() as libc::socklen_t;
            libc::setsockopt(self.0.as_raw_fd(), level, option, (&raw const value).cast(), length)
        };
        if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Port of the socket.
    ///
    /// # Errors
    /// An error of the system.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.0.local_addr()?.port())
    }

    /// Sets how long [`receive`](Self::receive) waits; `None` for ever.
    ///
    /// # Errors
    /// An error of the system.
    pub fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        self.0.set_read_timeout(timeout)
    }

    /// Sends a datagram with this ECN field.
    ///
    /// # Errors
    /// An error of the system.
    pub fn send(&self, bytes: &[u8], to: SocketAddr, ecn: Ecn) -> io::Result<()> {
        let v6 = self.0.local_addr()?.is_ipv6();
        let to_v4 = to.ip().to_canonical().is_ipv4();
        let value = libc::c_int::from(ecn.bits());
        let (level, option) =
            if to_v4 { (libc::IPPROTO_IP, libc::IP_TOS) } else { (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) };
        self.set(level, option, value)?;
        let to = match to.ip() {
            IpAddr::V4(v4) if v6 => SocketAddrV6::new(v4.to_ipv6_mapped(), to.port(), 0, 0).into(),
            _ => to,
        };
        self.0.send_to(bytes, to).map(drop)
    }

    /// Receives a datagram; gives its length, its source and its ECN field.
    ///
    /// # Errors
    /// An error of the system; `WouldBlock` after the timeout.
    pub fn receive(&self, bytes: &mut [u8]) -> io::Result<(usize, SocketAddr, Ecn)> {
        self.receive_with(bytes, 0)
    }

    /// Receives a datagram that waits already; gives its length, its source and its ECN field.
    ///
    /// # Errors
    /// An error of the system; `WouldBlock` where none waits.
    pub fn try_receive(&self, bytes: &mut [u8]) -> io::Result<(usize, SocketAddr, Ecn)> {
        self.receive_with(bytes, libc::MSG_DONTWAIT)
    }

    /// Waits until a datagram is there, at most for `timeout`, to the nanosecond.
    ///
    /// # Errors
    /// An error of the system; `Interrupted` for a signal.
    pub fn wait(&self, timeout: Duration) -> io::Result<()> {
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout))?;
        Ok(())
    }

    fn receive_with(&self, bytes: &mut [u8], flags: libc::c_int) -> io::Result<(usize, SocketAddr, Ecn)> {
        let mut control = ControlMessages([0; 128]);
        let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        // SAFETY: zeros are a valid address of no family, and a valid message header without any buffers.
        let (mut name, mut message): (libc::sockaddr_storage, libc::msghdr) =
            unsafe { (MaybeUninit::zeroed().assume_init(), MaybeUninit::zeroed().assume_init()) };
        message.msg_name = (&raw mut name).cast();
        message.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        // Its type differs between C libraries.
        message.msg_controllen = control.0.len() as _;
        // SAFETY: all three buffers of the header live through the call, with their lengths.
        let length = unsafe { libc::recvmsg(self.0.as_raw_fd(), &raw mut message, flags) };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        Ok((length, address_of(&name), ecn_of(&message)))
    }
}

impl AsFd for EcnSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Reads an address that the kernel wrote. An IPv4-mapped IPv6 address (RFC 4291 2.5.5.2) becomes the IPv4 one.
fn address_of(name: &libc::sockaddr_storage) -> SocketAddr {
    let family = name.ss_family;
    let name = &raw const *name;
    match libc::c_int::from(family) {
        libc::AF_INET => {
            // SAFETY: the family says that it is one of these, and the storage has room and alignment for any.
            let v4 = unsafe { &*name.cast::<libc::sockaddr_in>() };
            SocketAddr::from((v4.sin_addr.s_addr.to_ne_bytes(), u16::from_be(v4.sin_port)))
        }
        _ => {
            // SAFETY: as above; a UDP socket has no third family.
            let v6 = unsafe { &*name.cast::<libc::sockaddr_in6>() };
            let address = IpAddr::from(v6.sin6_addr.s6_addr).to_canonical();
            SocketAddr::new(address, u16::from_be(v6.sin6_port))
        }
    }
}

/// Reads the ECN field from the control messages that the kernel wrote; Not-ECT where there is none.
fn ecn_of(message: &libc::msghdr) -> Ecn {
    // SAFETY: `message` was filled by `recvmsg`, and its control buffer still lives.
    let mut header = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !header.is_null() {
        // SAFETY: the macros give null or a whole header inside the control buffer.
        let (level, kind) = unsafe { ((*header).cmsg_level, (*header).cmsg_type) };
        let is_tos = (level, kind) == (libc::IPPROTO_IP, libc::IP_TOS)
            || (level, kind) == (libc::IPPROTO_IPV6, libc::IPV6_TCLASS);
        if is_tos {
            // SAFETY: both messages hold a byte at least (the IPv4 one a byte, the other an int, little end first or last:
            // `read_unaligned` of the whole int is right for it).
            return Ecn::from_bits(unsafe {
                if level == libc::IPPROTO_IP {
                    *libc::CMSG_DATA(header)
                } else {
                    libc::CMSG_DATA(header).cast::<libc::c_int>().read_unaligned() as u8
                }
            });
        }
        // SAFETY: as above.
        header = unsafe { libc::CMSG_NXTHDR(message, header) };
    }
    Ecn::NotEct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codepoint_arrives_as_it_was_sent_over_both_versions_of_ip() {
        let (sender, receiver) = (EcnSocket::bind(0).unwrap(), EcnSocket::bind(0).unwrap());
        receiver.set_timeout(Some(Duration::from_secs(5))).unwrap();
        for address in ["127.0.0.1", "::1"] {
            let to = SocketAddr::new(address.parse().unwrap(), receiver.port().unwrap());
            for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
                if sender.send(b"probe", to, ecn).is_err() && address == "::1" {
                    // A machine without IPv6.
                    continue;
                }
                let mut bytes = [0; 16];
                let (length, from, seen) = receiver.receive(&mut bytes).unwrap();
                assert_eq!((&bytes[..length], from.ip(), seen), (&b"probe"[..], address.parse().unwrap(), ecn));
            }
        }
    }
}
