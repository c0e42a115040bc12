//! GTP-U tunnels over a UDP socket (TS 29.281): the packets of tunnels, and everything about the path itself.

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

/// Header, its optional fields and one extension header of any length.
const HEADROOM: usize = 8 + 4 + 1024;
/// Longer than any message of the path.
const SIGNAL: usize = 64;

/// One tunnel: where it ends on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tunnel {
    /// The identifier that packets come with.
    pub teid: u32,
    /// The identifier that packets are sent with.
    pub peer_teid: u32,
    /// Where to.
    pub peer: SocketAddr,
}

/// A socket and the tunnels that end there.
#[derive(Debug)]
pub struct Gtp {
    socket: EcnSocket,
    address: SocketAddr,
    tunnels: Vec<Tunnel>,
    /// The extension header whose content the owner reads.
    known: ExtensionType,
    /// A packet on its way out.
    outgoing: RefCell<Vec<u8>>,
}

/// What came.
pub(crate) enum Received {
    /// Nothing: the socket is empty.
    Nothing,
    /// Something that concerns the path, or nobody.
    Other,
    /// A user's packet.
    Packet(Arrived),
}

/// A user's packet within the buffer that it was received into.
pub(crate) struct Arrived {
    /// Of which tunnel, by its place in the list.
    pub(crate) tunnel: usize,
    /// The whole message.
    pub(crate) message: Range<usize>,
    /// What it carries.
    pub(crate) payload: Range<usize>,
    /// The ECN field of the packet outside.
    pub(crate) outer: Ecn,
}

impl Received {
    /// The same for whoever reads several kinds of cores: only a user's packet has more to tell.
    pub(crate) fn incoming(self, packet: impl FnOnce(Arrived) -> Incoming) -> Incoming {
        match self {
            Self::Nothing => Incoming::Nothing,
            Self::Other => Incoming::Other,
            Self::Packet(arrived) => packet(arrived),
        }
    }
}

impl Gtp {
    /// Tunnels that end at this address; port 2152 is GTP-U's. `known` is the type of their packets' extension header.
    ///
    /// # Errors
    /// What the system says.
    pub fn bind(address: SocketAddr, tunnels: Vec<Tunnel>, known: ExtensionType) -> Result<Self, Error> {
        let socket = EcnSocket::bind_to(address)?;
        Ok(Self { socket, address, tunnels, known, outgoing: RefCell::default() })
    }

    /// The address that it was bound to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes what waits first. Echo requests are answered, and so are packets for tunnels that are not there and those
    /// with extension headers that must be understood and are not.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Result<Received, Error> {
        let (length, from, outer) = match self.socket.try_receive(buffer) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                return Ok(Received::Nothing);
            }
            // An ICMP error about a packet that was sent before.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => return Ok(Received::Other),
            Err(error) => return Err(Error::system(format!("receiving at {}", self.address))(error)),
        };
        // What is none of GTP-U's is nobody's.
        let Ok(message) = Packet::new_checked(&buffer[..length]) else { return Ok(Received::Other) };
        let mut signal = [0; SIGNAL];
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
            // End markers and the complaints of others change nothing here: tunnels are there by configuration.
            _ => return Ok(Received::Other),
        };
        if let Ok(length) = answer {
            // An answer that the kernel does not take is one that got lost.
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
        peer.set_patience(Some(Duration::from_secs(5))).unwrap();
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
    fn what_concerns_the_path_is_answered() {
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
        // Noise is nobody's.
        ask(b"noise");
        peer.set_patience(Some(Duration::from_millis(50))).unwrap();
        assert!(peer.receive(&mut buffer).is_err());
    }
}
