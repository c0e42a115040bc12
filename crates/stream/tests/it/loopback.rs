//! A viewer on the loopback interface: the peer in memory with a socket, which joins by WHEP.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Instant;

use tidemark_emu::EcnSocket;
use tidemark_stream::Feedback;

use crate::peer::Peer;

pub(crate) struct Viewer {
    pub(crate) peer: Peer,
    socket: EcnSocket,
}

impl Viewer {
    /// Joins a server, whose answer has to be a stream; `query` is that of WHEP.
    pub(crate) fn join(page: SocketAddr, query: &str) -> Self {
        let socket = EcnSocket::bind_to((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let local = (Ipv4Addr::LOCALHOST, socket.port().unwrap()).into();
        let now = Instant::now();
        let (mut peer, offer) = Peer::offer(now, local, local, Feedback::Rfc8888);
        let answer = post(page, &format!("/whep?{query}"), &offer);
        let (head, answer) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 201"), "{head}\n{answer}");
        let candidate = answer.lines().find(|line| line.starts_with("a=candidate")).unwrap();
        let words: Vec<_> = candidate.split_whitespace().collect();
        peer.server = format!("{}:{}", words[4], words[5]).parse().unwrap();
        peer.accept(now, answer.to_string());
        Self { peer, socket }
    }

    /// Reads what has come, and sends what is due.
    pub(crate) fn step(&mut self) {
        let mut buffer = [0; 2048];
        while let Ok((length, _, ecn)) = self.socket.try_receive(&mut buffer) {
            self.peer.handle_datagram(Instant::now(), &buffer[..length], ecn);
        }
        self.peer.handle_timeout(Instant::now());
        while let Some(bytes) = self.peer.poll_transmit() {
            // A server that has gone is found out by what does not come.
            let _ = self.socket.send(&bytes, self.peer.server, tidemark_core::Ecn::NotEct);
        }
    }
}

/// Gives the whole answer to a request with a body.
pub(crate) fn post(page: SocketAddr, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(page).unwrap();
    write!(stream, "POST {path} HTTP/1.1\r\nHost: {page}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
