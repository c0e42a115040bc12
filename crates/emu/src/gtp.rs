//! GTP-U tunnels over a UDP socket (TS 29.281): packets of tunnels, and messages about the path itself.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use tidemark_core::Ecn;
use tidemark_wire::gtpu::{
    self, ErrorIndication, Extension, ExtensionType, MessageType, Packet, Repr, emit_echo_response,
    emit_supported_extension_headers,
};

use crate::core::Incoming;
use crate::ecn_socket::EcnSocket;
use crate::error::Error;

/// Bytes for a header, its optional fields and one extension header of any length.
const HEADROOM: usize = 8 + 4 + 1024;
/// Bytes for a message about the path: more than any has.
const MAX_SIGNAL: usize = 64;

/// Tunnel, with its ends on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tunnel {
    /// TEID that packets come with.
    pub teid: u32,
    /// TEID that packets are sent with.
    pub peer_teid: u32,
    /// Address that packets are sent to.
    pub peer: SocketAddr,
}

/// Socket, with the tunnels that end there.
#[derive(Debug)]
pub(crate) struct Gtp {
    socket: EcnSocket,
    address: SocketAddr,
    tunnels: Vec<Tunnel>,
    /// Type of the extension header whose content the owner reads.
    known: ExtensionType,
    /// Buffer of a packet on its way out.
    outgoing: RefCell<Vec<u8>>,
}

/// Result of a read from the socket.
pub(crate) enum Received {
    /// No message waits.
    Nothing,
    /// A message about the path, which was answered, or bytes that are no GTP-U.
    Other,
    /// A user's packet.
    Packet(Arrived),
}

/// A user's packet within the buffer that it was received into.
pub(crate) struct Arrived {
    /// Index of the tunnel in the list.
    pub(crate) tunnel: usize,
    /// Offsets of the whole message.
    pub(crate) message: Range<usize>,
    /// Offsets of the user's packet.
    pub(crate) payload: Range<usize>,
    /// ECN field of the outer packet.
    pub(crate) outer: Ecn,
}

impl Received {
    /// Turns a read from the socket into one from the core side; `packet` reads a user's packet.
    pub(crate) fn incoming(self, packet: impl FnOnce(Arrived) -> Incoming) -> Incoming {
        match self {
            Self::Nothing => Incoming::Nothing,
            Self::Other => Incoming::Other,
            Self::Packet(arrived) => packet(arrived),
        }
    }
}

impl Gtp {
    /// Binds a socket for these tunnels to an address; GTP-U's port is 2152. `known` is the type of their packets' extension header.
    ///
    /// # Errors
    /// An error of the system.
    pub(crate) fn bind(address: SocketAddr, tunnels: Vec<Tunnel>, known: ExtensionType) -> Result<Self, Error> {
        let socket = EcnSocket::bind_to(address)?;
        Ok(Self { socket, address, tunnels, known, outgoing: RefCell::default() })
    }

    /// Address that the socket was bound to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes the first message that waits. Answers echo requests (TS 29.281 7.2.1), packets for tunnels that are not there, and
    /// packets with extension headers that must be understood and are not.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Result<Received, Error> {
        let (length, from, outer) = match self.socket.try_receive(buffer) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Ok(Received::Nothing);
            }
            // An ICMP error about a packet that was sent before: the peer is not up.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(Received::Other),
            Err(error) => return Err(Error::system(format!("receiving at {}", self.address))(error)),
        };
        // Bytes that are no GTP-U are ignored: anybody can send them here.
        let Ok(message) = Packet::new_checked(&buffer[..length]) else { return Ok(Received::Other) };
        let mut signal = [0; MAX_SIGNAL];
        let answer = match message.message_type() {
            MessageType::EchoRequest => emit_echo_response(message.sequence().unwrap_or(0), &mut signal),
            MessageType::GPdu => match self.tunnels.iter().position(|tunnel| tunnel.teid == message.teid()) {
                None => ErrorIndication { teid: message.teid(), address: self.address.ip() }.emit(&mut signal),
                Some(_) if message.not_understood(&[self.known]).is_some() => {
                    emit_supported_extension_headers(&[self.known], &mut signal)
                }
                Some(tunnel) => {
                    let payload = message.payload_range();
                    return Ok(Received::Packet(Arrived { tunnel, message: 0..length, payload, outer }));
                }
            },
            // End markers and the peers' error indications change nothing: tunnels are there by configuration.
            _ => return Ok(Received::Other),
        };
        if let Ok(length) = answer {
            // An answer that the kernel does not take is lost, as on any network: the peer asks once more.
            let _ = self.socket.send(&signal[..length], from, Ecn::NotEct);
        }
        Ok(Received::Other)
    }

    /// Sends a user's packet, or an extension header alone; false where the kernel does not take it.
    pub(crate) fn send(&self, tunnel: usize, extension: Option<&[u8]>, payload: &[&[u8]], outer: Ecn) -> bool {
        let Some(tunnel) = self.tunnels.get(tunnel) else { return false };
        let length = payload.iter().map(|part| part.len()).sum();
        let mut outgoing = self.outgoing.borrow_mut();
        outgoing.resize(HEADROOM, 0);
        let extension = extension.map(|content| Extension { kind: self.known, content });
        let header = Repr::g_pdu(tunnel.peer_teid).emit(&mut outgoing, extension.as_slice(), length);
        let Ok(header) = header else { return false };
        outgoing.truncate(header);
        payload.iter().for_each(|part| outgoing.extend_from_slice(part));
        self.socket.send(&outgoing, tunnel.peer, outer).is_ok()
    }
}

impl AsFd for Gtp {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The port that GTP-U has unless another is named.
pub const PORT: u16 = gtpu::PORT;

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const KNOWN: ExtensionType = ExtensionType::PDU_SESSION_CONTAINER;

    fn here(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    /// A tunnel endpoint on a free port, and a peer of it.
    fn pair() -> (Gtp, EcnSocket, SocketAddr) {
        let peer = EcnSocket::bind_to(here(0)).unwrap();
        peer.set_timeout(Some(Duration::from_secs(5))).unwrap();
        let tunnel = Tunnel { teid: 9, peer_teid: 10, peer: here(peer.port().unwrap()) };
        let gtp = Gtp::bind(here(0), vec![tunnel], KNOWN).unwrap();
        let address = here(gtp.socket.port().unwrap());
        (gtp, peer, address)
    }

    fn receive(gtp: &Gtp, buffer: &mut [u8]) -> Received {
        gtp.socket.wait(Duration::from_secs(5)).unwrap();
        gtp.receive(buffer).unwrap()
    }

    #[test]
    fn a_packet_goes_through_with_its_extension_header_and_outer_ecn() {
        let (gtp, peer, address) = pair();
        let mut buffer = [0; 2000];
        assert!(gtp.send(0, Some(&[0x10, 5]), &[b"user ", b"data"], Ecn::Ect1));
        let (length, _, ecn) = peer.receive(&mut buffer).unwrap();
        let message = Packet::new_checked(&buffer[..length]).unwrap();
        assert_eq!((message.teid(), message.payload(), ecn), (10, &b"user data"[..], Ecn::Ect1));
        assert_eq!(message.extension(KNOWN), Some(&[0x10, 5][..]));
        // The same bytes come back for another tunnel of the peer's making.
        buffer[4..8].copy_from_slice(&9u32.to_be_bytes());
        peer.send(&buffer[..length], address, Ecn::Ce).unwrap();
        let mut buffer = [0; 2000];
        let Received::Packet(arrived) = receive(&gtp, &mut buffer) else { panic!() };
        assert_eq!((arrived.tunnel, &buffer[arrived.payload], arrived.outer), (0, &b"user data"[..], Ecn::Ce));
    }

    #[test]
    fn messages_about_the_path_are_answered() {
        let (gtp, peer, address) = pair();
        let mut buffer = [0; 2000];
        let mut request = [0; 64];
        let length = Repr::echo_request(7).emit(&mut request, &[], 0).unwrap();
        let ask = |bytes: &[u8]| {
            peer.send(bytes, address, Ecn::NotEct).unwrap();
            assert!(matches!(receive(&gtp, &mut [0; 2000]), Received::Other));
        };
        ask(&request[..length]);
        let (length, ..) = peer.receive(&mut buffer).unwrap();
        let answer = Packet::new_checked(&buffer[..length]).unwrap();
        assert_eq!((answer.message_type(), answer.sequence()), (MessageType::EchoResponse, Some(7)));
        // A tunnel that is not there.
        let length = Repr::g_pdu(77).emit(&mut request, &[], 0).unwrap();
        ask(&request[..length]);
        let (length, ..) = peer.receive(&mut buffer).unwrap();
        let answer = Packet::new_checked(&buffer[..length]).unwrap();
        assert_eq!(answer.message_type(), MessageType::ErrorIndication);
        assert_eq!(ErrorIndication::parse(answer.payload()).unwrap().teid, 77);
        // An extension header that must be understood.
        let unknown = Extension { kind: ExtensionType::NR_RAN_CONTAINER, content: &[0; 6] };
        let length = Repr::g_pdu(9).emit(&mut request, &[unknown], 0).unwrap();
        ask(&request[..length]);
        let (length, ..) = peer.receive(&mut buffer).unwrap();
        let answer = Packet::new_checked(&buffer[..length]).unwrap();
        assert_eq!(answer.message_type(), MessageType::SupportedExtensionHeaders);
        // Noise is ignored.
        ask(b"noise");
        peer.set_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(peer.receive(&mut buffer).is_err());
    }
}
