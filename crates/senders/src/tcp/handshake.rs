//! Opening a connection, and what its two ends agree on about ECN (RFC 9293 3.5, RFC 3168 6.1.1, RFC 9768 3.1).

use tidemark_core::{Duration, Ecn, Instant, TcpFlags};

use super::ecn::handshake_ace;
use crate::config::EcnMode;

/// First timeout of a SYN, doubled each time (RFC 6298 2.1).
const TIMEOUT: Duration = Duration::from_secs(1);
/// SYNs sent before giving up: Linux' `tcp_syn_retries` of 6.
const ATTEMPTS: u32 = 7;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Client: the SYN is due at the deadline. Server: waits for one.
    Closed,
    /// A SYN or SYN/ACK is under way.
    Waiting,
    Established,
    GaveUp,
}

/// One end's handshake.
#[derive(Clone, Debug)]
pub(super) struct Handshake {
    is_client: bool,
    state: State,
    willing: EcnMode,
    agreed: EcnMode,
    /// IP-ECN field of the peer's latest SYN or SYN/ACK.
    peer_ecn: Ecn,
    attempts: u32,
    sent_at: Instant,
    deadline: Instant,
    send_now: bool,
}

/// Meaning of a segment to the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// No change.
    None,
    /// The client got a SYN/ACK, for the first time or again: it answers with an acknowledgement that has this ACE field.
    Acknowledge {
        /// Handshake encoding, `None` without AccECN.
        ace: Option<u8>,
        /// True for the first.
        first: bool,
    },
    /// The server got the third segment of the handshake.
    Established,
}

impl Handshake {
    /// The end that opens the connection at `start`.
    pub(super) fn client(willing: EcnMode, start: Instant) -> Self {
        Self { deadline: start, ..Self::closed(true, willing) }
    }

    /// The end that answers.
    pub(super) fn server(willing: EcnMode) -> Self {
        Self::closed(false, willing)
    }

    fn closed(is_client: bool, willing: EcnMode) -> Self {
        Self {
            is_client,
            state: State::Closed,
            willing,
            agreed: EcnMode::Off,
            peer_ecn: Ecn::NotEct,
            attempts: 0,
            sent_at: Instant::ZERO,
            deadline: Instant::FAR,
            send_now: false,
        }
    }

    pub(super) fn is_established(&self) -> bool {
        self.state == State::Established
    }

    pub(super) fn gave_up(&self) -> bool {
        self.state == State::GaveUp
    }

    /// Feedback that both ends agreed on.
    pub(super) fn agreed(&self) -> EcnMode {
        self.agreed
    }

    /// The handshake's round-trip time, unless a retransmission makes it ambiguous.
    pub(super) fn rtt(&self, now: Instant) -> Option<Duration> {
        (self.attempts == 1).then(|| now.since(self.sent_at))
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        (self.deadline != Instant::FAR).then_some(self.deadline)
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        // The call may be for another timer of the endpoint.
        if now >= self.deadline {
            self.retry(now);
        }
    }

    #[cold]
    fn retry(&mut self, now: Instant) {
        // Nobody answers: a connection that can't be opened must end and not hang.
        if self.attempts == ATTEMPTS {
            self.state = State::GaveUp;
            self.deadline = Instant::FAR;
        } else {
            self.state = State::Waiting;
            self.send(now);
        }
    }

    fn send(&mut self, now: Instant) {
        self.send_now = true;
        self.deadline = now + TIMEOUT * (1 << self.attempts);
        self.attempts += 1;
        self.sent_at = now;
    }

    /// True if a SYN or SYN/ACK is due.
    pub(super) fn is_due(&self) -> bool {
        self.send_now
    }

    /// The flags of a SYN or SYN/ACK that is due.
    #[cold]
    pub(super) fn poll_transmit(&mut self) -> Option<TcpFlags> {
        // One segment at a start or retry; the next waits for its deadline.
        if !std::mem::take(&mut self.send_now) {
            return None;
        }
        let syn = TcpFlags { syn: true, ..TcpFlags::default() };
        Some(if self.is_client {
            // RFC 9768 3.1.4.1: the first retry still asks, later ones do without.
            let asks = if self.attempts > 2 { EcnMode::Off } else { self.willing };
            syn.with_ace(match asks {
                EcnMode::Off => 0b000,
                EcnMode::Classic => 0b011,
                EcnMode::Accecn => 0b111,
            })
        } else {
            TcpFlags { ack: true, ..syn }.with_ace(match self.agreed {
                EcnMode::Off => 0b000,
                EcnMode::Classic => 0b001,
                // The SYN/ACK says how the SYN arrived with the code that the third segment uses as well.
                EcnMode::Accecn => handshake_ace(self.peer_ecn),
            })
        })
    }

    /// A segment arrives.
    #[cold]
    pub(super) fn handle_segment(&mut self, now: Instant, flags: TcpFlags, ecn: Ecn) -> Step {
        match (self.is_client, flags.syn, self.state) {
            // A repeated SYN/ACK is acknowledged again: the first acknowledgement was lost.
            (true, true, State::Waiting | State::Established) if flags.ack => {
                self.peer_ecn = ecn;
                let first = self.state != State::Established;
                // The first SYN/ACK decides: a later one may have been changed by a middlebox.
                if first {
                    self.agreed = client_mode(self.willing, flags.ace());
                    self.state = State::Established;
                    self.deadline = Instant::FAR;
                    self.send_now = false;
                }
                let ace = (self.agreed == EcnMode::Accecn).then(|| handshake_ace(ecn));
                Step::Acknowledge { ace, first }
            }
            // A repeated SYN asks for the SYN/ACK once more.
            (false, true, State::Closed | State::Waiting) if !flags.ack => {
                self.peer_ecn = ecn;
                // The first SYN decides (RFC 9768 3.1.5).
                if self.state == State::Closed {
                    self.agreed = server_mode(self.willing, flags.ace());
                    self.state = State::Waiting;
                }
                self.send(now);
                Step::None
            }
            // The client's acknowledgement: the round trip of the handshake is over.
            (false, false, State::Waiting) if flags.ack => {
                self.state = State::Established;
                self.deadline = Instant::FAR;
                self.send_now = false;
                Step::Established
            }
            _ => Step::None,
        }
    }
}

/// RFC 9768 table 2, as the server reads it: its mode by the SYN.
fn server_mode(willing: EcnMode, syn: u8) -> EcnMode {
    match (willing, syn) {
        (EcnMode::Off, _) | (_, 0b000) => EcnMode::Off,
        (_, 0b011) => EcnMode::Classic,
        // RFC 3168 6.1.1 knows nothing but ECE and CWR: all three bits look like the request of RFC 3168.
        (EcnMode::Classic, 0b111) => EcnMode::Classic,
        (EcnMode::Classic, _) => EcnMode::Off,
        (EcnMode::Accecn, _) => EcnMode::Accecn,
    }
}

/// RFC 9768 table 2, as the client reads it: its mode by the SYN/ACK.
fn client_mode(willing: EcnMode, syn_ack: u8) -> EcnMode {
    match (willing, syn_ack) {
        (EcnMode::Off, _) => EcnMode::Off,
        (EcnMode::Classic, 0b001) => EcnMode::Classic,
        (EcnMode::Classic, _) => EcnMode::Off,
        (EcnMode::Accecn, 0b001) => EcnMode::Classic,
        (EcnMode::Accecn, 0b000 | 0b111) => EcnMode::Off,
        (EcnMode::Accecn, _) => EcnMode::Accecn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ace(flags: Option<TcpFlags>) -> u8 {
        flags.expect("a segment is due").ace()
    }

    /// Runs a handshake; `mark` changes the IP-ECN field under way. Returns both modes and the ACE fields of
    /// SYN, SYN/ACK and third segment.
    fn shake(client: EcnMode, server: EcnMode, syn: Ecn, syn_ack: Ecn) -> ((EcnMode, EcnMode), [u8; 3]) {
        let now = Instant::ZERO;
        let mut client = Handshake::client(client, now);
        let mut server = Handshake::server(server);
        client.handle_timeout(now);
        let first = client.poll_transmit().unwrap();
        server.handle_segment(now, first, syn);
        let second = server.poll_transmit().unwrap();
        let Step::Acknowledge { ace: third, first: true } = client.handle_segment(now, second, syn_ack) else {
            panic!("the client must answer");
        };
        let third = TcpFlags { ack: true, ..TcpFlags::default() }.with_ace(third.unwrap_or(0));
        assert_eq!(server.handle_segment(now, third, Ecn::NotEct), Step::Established);
        ((client.agreed(), server.agreed()), [first.ace(), second.ace(), third.ace()])
    }

    /// RFC 9768 table 2, the rows between ends that follow it, and table 3.
    #[test]
    fn two_ends_agree_as_the_tables_say() {
        use Ecn::{Ce, Ect0, Ect1, NotEct};
        use EcnMode::{Accecn, Classic, Off};
        let rows = [
            (Accecn, Accecn, NotEct, NotEct, Accecn, [0b111, 0b010, 0b010]),
            (Accecn, Accecn, Ect1, Ect1, Accecn, [0b111, 0b011, 0b011]),
            (Accecn, Accecn, Ect0, Ect0, Accecn, [0b111, 0b100, 0b100]),
            (Accecn, Accecn, Ce, Ce, Accecn, [0b111, 0b110, 0b110]),
            (Accecn, Classic, NotEct, NotEct, Classic, [0b111, 0b001, 0]),
            (Accecn, Off, NotEct, NotEct, Off, [0b111, 0, 0]),
            (Classic, Accecn, NotEct, NotEct, Classic, [0b011, 0b001, 0]),
            (Classic, Classic, NotEct, NotEct, Classic, [0b011, 0b001, 0]),
            (Classic, Off, NotEct, NotEct, Off, [0b011, 0, 0]),
            (Off, Accecn, NotEct, NotEct, Off, [0, 0, 0]),
        ];
        for (client, server, syn, syn_ack, agreed, fields) in rows {
            assert_eq!(shake(client, server, syn, syn_ack), ((agreed, agreed), fields), "{client:?} {server:?}");
        }
    }

    #[test]
    fn unknown_flags_are_accecn_to_the_server_and_broken_to_the_client() {
        for syn in [0b001, 0b010, 0b100, 0b101, 0b110] {
            assert_eq!(server_mode(EcnMode::Accecn, syn), EcnMode::Accecn);
        }
        assert_eq!(client_mode(EcnMode::Accecn, 0b111), EcnMode::Off);
        assert_eq!(client_mode(EcnMode::Accecn, 0b101), EcnMode::Accecn);
    }

    #[test]
    fn a_lost_syn_is_retransmitted_and_the_third_one_asks_for_nothing() {
        let mut client = Handshake::client(EcnMode::Accecn, Instant::ZERO);
        let mut asked = Vec::new();
        let mut at = Vec::new();
        while let Some(deadline) = client.next_deadline() {
            client.handle_timeout(deadline);
            if let Some(flags) = client.poll_transmit() {
                at.push(deadline.as_nanos() / 1_000_000_000);
                asked.push(flags.ace());
            }
        }
        assert_eq!(at, [0, 1, 3, 7, 15, 31, 63]);
        assert_eq!(asked, [7, 7, 0, 0, 0, 0, 0]);
        assert!(!client.is_established());
    }

    #[test]
    fn a_lost_third_segment_is_repaired_by_the_servers_timer() {
        let (now, later) = (Instant::ZERO, Instant::from_millis(1000));
        let mut client = Handshake::client(EcnMode::Accecn, now);
        let mut server = Handshake::server(EcnMode::Accecn);
        client.handle_timeout(now);
        server.handle_segment(now, client.poll_transmit().unwrap(), Ecn::NotEct);
        client.handle_segment(now, server.poll_transmit().unwrap(), Ecn::NotEct);
        assert_eq!(server.next_deadline(), Some(later));
        server.handle_timeout(later);
        let repeated = server.poll_transmit();
        assert_eq!(ace(repeated), 0b010);
        let step = client.handle_segment(later, repeated.unwrap(), Ecn::NotEct);
        assert_eq!(step, Step::Acknowledge { ace: Some(0b010), first: false });
    }
}
