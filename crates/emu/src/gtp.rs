//! GTP-U tunnels over a UDP socket (TS 29.281): packets of tunnels, and messages about the path itself.

use std::cell::{Cell, RefCell};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use tidemark_core::Ecn;
use tidemark_wire::gtpu::{
    self, ErrorIndication, Extension, ExtensionType, MessageType, Packet, Repr, emit_echo_response,
    emit_supported_extension_headers,
};

use crate::clock::Clock;
use crate::core::Incoming;
use crate::ecn_socket::EcnSocket;
use crate::error::Error;
use crate::rate_limit::RateLimit;
use crate::refused::Refused;

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
    /// True if packets may come from any address, and not from the peer's alone. Their port is the sender's choice (TS 29.281 4.4.2).
    pub any_peer: bool,
}

impl Tunnel {
    /// Draws a TEID at random that none of `taken` is, so that nobody can guess it.
    ///
    /// # Errors
    /// An error of the system.
    pub fn random_teid(taken: &[u32]) -> Result<u32, Error> {
        loop {
            let mut bytes = [0; 4];
            rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
                .map_err(Error::errno("random bytes"))?;
            let teid = u32::from_ne_bytes(bytes);
            // TEID 0 is of messages about the path (TS 29.281 5.1).
            if teid != 0 && !taken.contains(&teid) {
                return Ok(teid);
            }
        }
    }

    /// True if messages from this address may be the peer's.
    fn admits(&self, from: IpAddr) -> bool {
        self.any_peer || self.peer.ip().to_canonical() == from.to_canonical()
    }
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
    clock: Clock,
    /// Limit of error messages: without it a peer that sends to no tunnel gets one for each packet.
    errors: RefCell<RateLimit>,
    refused: Cell<Refused>,
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
        Ok(Self {
            socket,
            address,
            tunnels,
            known,
            outgoing: RefCell::default(),
            clock: Clock::start(),
            errors: RefCell::default(),
            refused: Cell::default(),
        })
    }

    /// Counters of what was refused.
    pub(crate) fn refused(&self) -> Refused {
        self.refused.get()
    }

    /// Counts what is refused.
    pub(crate) fn refuse(&self, counter: impl FnOnce(&mut Refused) -> &mut u64) {
        let mut refused = self.refused.get();
        *counter(&mut refused) += 1;
        self.refused.set(refused);
    }

    /// True if an error message may be sent now; counted if not.
    fn may_answer(&self) -> bool {
        let may = self.errors.borrow_mut().admits(self.clock.now());
        if !may {
            self.refuse(|refused| &mut refused.unanswered);
        }
        may
    }

    /// Address that the socket was bound to.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes the first message that waits. Answers echo requests (TS 29.281 7.2.1) and, up to a rate, packets for tunnels that are not
    /// there and packets with extension headers that must be understood and are not. An address that is no tunnel's peer gets no answer:
    /// by answers it could find out what TEIDs there are.
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
        if !self.tunnels.iter().any(|tunnel| tunnel.admits(from.ip())) {
            self.refuse(|refused| &mut refused.other_peers);
            return Ok(Received::Other);
        }
        // Bytes that are no GTP-U are ignored: anybody can send them here.
        let Ok(message) = Packet::new_checked(&buffer[..length]) else { return Ok(Received::Other) };
        let mut signal = [0; MAX_SIGNAL];
        let answer = match message.message_type() {
            MessageType::EchoRequest => emit_echo_response(message.sequence().unwrap_or(0), &mut signal),
            MessageType::GPdu => match self.tunnel(message.teid(), from.ip()) {
                None => {
                    self.refuse(|refused| &mut refused.unknown_teids);
                    if !self.may_answer() {
                        return Ok(Received::Other);
                    }
                    ErrorIndication { teid: message.teid(), address: self.address.ip() }.emit(&mut signal)
                }
                Some(_) if message.not_understood(&[self.known]).is_some() => {
                    if !self.may_answer() {
                        return Ok(Received::Other);
                    }
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

    /// Index of the tunnel with this TEID whose packets may come from this address. Another peer's tunnel is none.
    fn tunnel(&self, teid: u32, from: IpAddr) -> Option<usize> {
        self.tunnels.iter().position(|tunnel| tunnel.teid == teid && tunnel.admits(from))
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
        endpoint(false)
    }

    fn endpoint(any_peer: bool) -> (Gtp, EcnSocket, SocketAddr) {
        let peer = EcnSocket::bind_to(here(0)).unwrap();
        peer.set_timeout(Some(Duration::from_secs(5))).unwrap();
        let tunnel = Tunnel { teid: 9, peer_teid: 10, peer: here(peer.port().unwrap()), any_peer };
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

    /// A socket of a third host, at another address.
    fn stranger() -> EcnSocket {
        let stranger = EcnSocket::bind_to(SocketAddr::from(([127, 0, 0, 9], 0))).unwrap();
        stranger.set_timeout(Some(Duration::from_millis(50))).unwrap();
        stranger
    }

    /// A packet for this TEID.
    fn packet(teid: u32) -> Vec<u8> {
        let mut bytes = [0; 64];
        let length = Repr::g_pdu(teid).emit(&mut bytes, &[], 4).unwrap();
        [&bytes[..length], b"data"].concat()
    }

    #[test]
    fn a_third_host_is_neither_let_in_nor_answered() {
        let (gtp, peer, address) = pair();
        let (stranger, mut buffer) = (stranger(), [0; 2000]);
        let mut echo = [0; 64];
        let length = Repr::echo_request(7).emit(&mut echo, &[], 0).unwrap();
        for message in [&packet(9)[..], &packet(77), &echo[..length], b"noise"] {
            stranger.send(message, address, Ecn::NotEct).unwrap();
            assert!(matches!(receive(&gtp, &mut buffer), Received::Other));
        }
        assert!(stranger.receive(&mut buffer).is_err(), "no answer says which TEIDs there are");
        assert_eq!(gtp.refused(), Refused { other_peers: 4, ..Refused::default() });
        // The peer is let in, from whichever port.
        for port in [&peer, &EcnSocket::bind_to(here(0)).unwrap()] {
            port.send(&packet(9), address, Ecn::NotEct).unwrap();
            assert!(matches!(receive(&gtp, &mut buffer), Received::Packet(_)));
        }
    }

    #[test]
    fn where_any_peer_may_send_a_third_host_is_let_in() {
        let (gtp, _peer, address) = endpoint(true);
        stranger().send(&packet(9), address, Ecn::NotEct).unwrap();
        assert!(matches!(receive(&gtp, &mut [0; 2000]), Received::Packet(_)));
        assert_eq!(gtp.refused(), Refused::default());
    }

    #[test]
    fn a_tunnel_of_one_peer_is_closed_to_another_peer() {
        let to = |teid, peer: &str| {
            let peer = peer.parse().unwrap();
            Tunnel { teid, peer_teid: 1, peer, any_peer: false }
        };
        let gtp = Gtp::bind(here(0), vec![to(9, "127.0.0.1:2152"), to(10, "127.0.0.9:2152")], KNOWN).unwrap();
        let address = here(gtp.socket.port().unwrap());
        stranger().send(&packet(9), address, Ecn::NotEct).unwrap();
        assert!(matches!(receive(&gtp, &mut [0; 2000]), Received::Other));
        assert_eq!(gtp.refused().unknown_teids, 1);
    }

    #[test]
    fn error_indications_have_a_rate_that_no_scan_passes() {
        let (gtp, peer, address) = pair();
        let (mut buffer, scanned) = ([0; 2000], 200);
        let start = gtp.clock.now();
        for teid in 100..100 + scanned {
            peer.send(&packet(teid), address, Ecn::NotEct).unwrap();
            assert!(matches!(receive(&gtp, &mut buffer), Received::Other));
        }
        let refused = gtp.refused();
        // However long that took: one more for each tenth of a second.
        let most = RateLimit::BURST + 1 + gtp.clock.now().since(start).as_nanos() / 100_000_000;
        let answered = refused.unknown_teids - refused.unanswered;
        assert_eq!(refused.unknown_teids, u64::from(scanned));
        assert!((RateLimit::BURST..=most).contains(&answered), "{answered}");
        for _ in 0..answered {
            peer.receive(&mut buffer).unwrap();
        }
        peer.set_timeout(Some(Duration::from_millis(50))).unwrap();
        assert!(peer.receive(&mut buffer).is_err());
    }

    #[test]
    fn teids_at_random_differ_and_none_is_taken_or_zero() {
        let mut teids = Vec::new();
        for _ in 0..100 {
            teids.push(Tunnel::random_teid(&teids).unwrap());
        }
        let distinct: std::collections::BTreeSet<_> = teids.iter().collect();
        assert!(distinct.len() == 100 && !teids.contains(&0));
        // 25 bits of a random number are the same in a hundred draws with a chance of 1 in 10^700.
        assert!(teids.iter().any(|teid| teid >> 7 != teids[0] >> 7));
    }
}
