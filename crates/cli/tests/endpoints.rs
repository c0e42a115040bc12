//! `tidemark net send` and `receive` before peers that speak UDP Prague and nothing else, as the public implementation does
//! (L4STeam/udp_prague e8e3435): its receiver takes every datagram for data.

use std::net::SocketAddr;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidemark_core::Ecn;
use tidemark_emu::EcnSocket;

use crate::common::command;

const DATA_HEADER: usize = 13;
const ACK: usize = 26;

fn start(arguments: &[&str]) -> Child {
    command(&["net"]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn summary(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or_else(|| panic!("{output:?}"))).unwrap()
}

fn socket() -> (EcnSocket, String) {
    let socket = EcnSocket::bind(0).unwrap();
    socket.set_timeout(Some(Duration::from_millis(100))).unwrap();
    let here = format!("127.0.0.1:{}", socket.port().unwrap());
    (socket, here)
}

/// A port that nobody has just now.
fn free_port() -> u16 {
    EcnSocket::bind(0).unwrap().port().unwrap()
}

/// A receiver that reads as the public one: a datagram is laid over the last one, its fields are swapped to the host's order where
/// they lie, and whatever came is counted as a packet and acknowledged.
struct Receiver {
    buffer: [u8; 8192],
    began: Instant,
    frozen: i32,
    received: i32,
    marked: i32,
    lost: i32,
    error: bool,
    /// Datagrams that are no data: lengths and first bytes.
    strangers: Vec<(usize, u8)>,
}

impl Receiver {
    fn new() -> Self {
        let (began, strangers) = (Instant::now(), Vec::new());
        Self { buffer: [0; 8192], began, frozen: 0, received: 0, marked: 0, lost: 0, error: false, strangers }
    }

    /// Microseconds; 0 is no time.
    fn now(&self) -> i32 {
        (self.began.elapsed().as_micros() as i32).max(1)
    }

    /// Reads a field that came in the network's order and leaves it in the host's.
    fn field(&mut self, at: usize) -> i32 {
        let octets: [u8; 4] = self.buffer[at..at + 4].try_into().unwrap();
        let value = i32::from_be_bytes(octets);
        self.buffer[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        value
    }

    fn ack(&self, seq: i32) -> [u8; ACK] {
        let now = self.now();
        let echo = if self.received == 0 { 0 } else { now.wrapping_sub(self.frozen) };
        let fields = [seq, now, echo, self.received, self.marked, self.lost];
        let mut bytes = [0; ACK];
        bytes[0] = 17;
        for (field, word) in fields.iter().zip(bytes[1..25].chunks_mut(4)) {
            word.copy_from_slice(&field.to_be_bytes());
        }
        bytes[25] = u8::from(self.error);
        bytes
    }

    /// Reads a datagram of this length at the front of the buffer, and answers.
    fn read(&mut self, length: usize, ecn: Ecn) -> [u8; ACK] {
        if self.buffer[0] != 1 || length < DATA_HEADER {
            self.strangers.push((length, self.buffer[0]));
        }
        self.buffer[0] = 1;
        let [timestamp, _, seq] = [1, 5, 9].map(|at| self.field(at));
        self.frozen = self.now().wrapping_sub(timestamp);
        self.received += 1;
        match ecn {
            Ecn::Ce => self.marked += 1,
            Ecn::Ect1 => {}
            Ecn::NotEct | Ecn::Ect0 => self.error = true,
        }
        let skipped = seq.wrapping_sub(self.received).wrapping_sub(self.lost);
        if skipped >= 0 {
            self.lost = self.lost.wrapping_add(skipped);
        } else if self.lost > 0 {
            self.lost -= 1;
        }
        self.ack(seq)
    }

    /// Answers until nothing comes for a second after something came. `arrives` says which datagrams the path carries.
    fn serve(&mut self, socket: &EcnSocket, mut arrives: impl FnMut(i32) -> bool) {
        let (mut count, mut last) = (0, Instant::now());
        while last.elapsed() < Duration::from_secs(if count == 0 { 10 } else { 1 }) {
            let mut bytes = [0; 8192];
            let Ok((length, from, ecn)) = socket.receive(&mut bytes) else { continue };
            (count, last) = (count + 1, Instant::now());
            if arrives(count) {
                self.buffer[..length].copy_from_slice(&bytes[..length]);
                socket.send(&self.read(length, ecn), from, Ecn::Ect1).unwrap();
            }
        }
    }
}

const BRIEFLY: [&str; 4] = ["--time", "2 s", "--set", "sender.max_rate=8 Mbit/s"];

/// Counters of the public receiver, and the sender's own words.
fn check(receiver: &Receiver, sender: Child) {
    let output = sender.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = summary(&output);
    assert_eq!(receiver.strangers, [], "all that a receiver reads is data");
    assert_eq!((receiver.lost, receiver.error), (0, false));
    assert_eq!((&said["verdict"], &said["at_minimum"]), (&"kept".into(), &Value::Null));
    assert_eq!(said["packets"], receiver.received);
    assert!(said["target_mbps"].as_f64().unwrap() > 1.0, "{said}");
}

#[test]
fn a_receiver_that_listens_gets_data_and_nothing_else() {
    let (socket, here) = socket();
    let sender = start(&[&["send", &here], &BRIEFLY[..]].concat());
    let mut receiver = Receiver::new();
    receiver.serve(&socket, |_| true);
    check(&receiver, sender);
}

#[test]
fn a_receiver_that_calls_gets_data_and_nothing_else() {
    let (socket, _) = socket();
    let port = free_port();
    let sender = start(&[&["send", "--listen", &port.to_string()], &BRIEFLY[..]].concat());
    std::thread::sleep(Duration::from_millis(500));
    let mut receiver = Receiver::new();
    // Its first word is an acknowledgement of nothing.
    socket.send(&receiver.ack(0), SocketAddr::from(([127, 0, 0, 1], port)), Ecn::Ect1).unwrap();
    receiver.serve(&socket, |_| true);
    check(&receiver, sender);
}

#[test]
fn a_sender_that_never_leaves_its_least_rate_says_so() {
    let (socket, here) = socket();
    let sender = start(&["send", &here, "--time", "4 s"]);
    // Acknowledgements that come at once after a pause cut the rate once, so few of them may come.
    Receiver::new().serve(&socket, |count| count % 8 == 0);
    let output = sender.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(said.contains("never left its minimum rate") && said.contains("0.10 Mbit/s"), "{said}");
    assert_eq!(summary(&output)["at_minimum"], true);
}

/// A bulk packet as the public sender fills it: words that count.
fn data(seq: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..50u32).flat_map(u32::to_be_bytes).collect();
    bytes[0] = 1;
    for (field, word) in [1_000 * seq, 0, seq].iter().zip(bytes[1..DATA_HEADER].chunks_mut(4)) {
        word.copy_from_slice(&field.to_be_bytes());
    }
    bytes
}

/// Sends 20 packets to a receiver of ours and gives everything that comes back until it has ended.
fn answers(socket: &EcnSocket, to: SocketAddr, mut receiver: Child) -> (Vec<Vec<u8>>, Output) {
    let (mut seen, mut seq) = (Vec::new(), 0);
    let mut bytes = [0; 2048];
    socket.set_timeout(Some(Duration::from_millis(20))).unwrap();
    while receiver.try_wait().unwrap().is_none() {
        if seq < 20 {
            seq += 1;
            socket.send(&data(seq), to, Ecn::Ect1).unwrap();
        }
        if let Ok((length, ..)) = socket.receive(&mut bytes) {
            seen.push(bytes[..length].to_vec());
        }
    }
    (seen, receiver.wait_with_output().unwrap())
}

fn ack_seqs(answers: &[Vec<u8>]) -> Vec<u32> {
    for answer in answers {
        assert_eq!((answer.len(), answer[0]), (ACK, 17), "a sender hears acknowledgements and nothing else");
    }
    answers.iter().map(|answer| u32::from_be_bytes(answer[1..5].try_into().unwrap())).collect()
}

#[test]
fn a_sender_that_calls_hears_acknowledgements_of_what_it_sent() {
    let (socket, _) = socket();
    let port = free_port();
    let receiver = start(&["receive", "--listen", &port.to_string(), "--time", "1 s"]);
    std::thread::sleep(Duration::from_millis(500));
    let (answers, output) = answers(&socket, SocketAddr::from(([127, 0, 0, 1], port)), receiver);
    assert_eq!(ack_seqs(&answers), (1..=20).collect::<Vec<_>>());
    assert!(output.status.success() && summary(&output)["packets"] == 20, "{output:?}");
}

#[test]
fn a_sender_that_listens_is_triggered_by_one_acknowledgement_of_nothing() {
    let (socket, here) = socket();
    let receiver = start(&["receive", &here, "--time", "1 s"]);
    let mut bytes = [0; 2048];
    let mut received = None;
    let deadline = Instant::now() + Duration::from_secs(10);
    while received.is_none() && Instant::now() < deadline {
        received = socket.receive(&mut bytes).ok();
    }
    let (length, from, _) = received.unwrap();
    assert_eq!(ack_seqs(&[bytes[..length].to_vec()]), [0]);
    let (answers, output) = answers(&socket, from, receiver);
    assert_eq!(ack_seqs(&answers), (1..=20).collect::<Vec<_>>());
    assert!(output.status.success() && summary(&output)["packets"] == 20, "{output:?}");
}

#[test]
fn ends_of_ours_leave_together_whoever_calls() {
    for (listener, caller) in [("send", "receive"), ("receive", "send")] {
        let (port, began) = (free_port(), Instant::now());
        let time = |end: &str| if end == "send" { "1 s" } else { "60 s" };
        let limit = "sender.max_rate=8 Mbit/s";
        let listens = start(&[listener, "--listen", &port.to_string(), "--time", time(listener), "--set", limit]);
        std::thread::sleep(Duration::from_millis(300));
        let calls = start(&[caller, &format!("127.0.0.1:{port}"), "--time", time(caller), "--set", limit]);
        for end in [calls, listens] {
            let output = end.wait_with_output().unwrap();
            assert!(output.status.success(), "{output:?}");
            assert_eq!(summary(&output)["verdict"], "kept");
        }
        assert!(began.elapsed() < Duration::from_secs(30), "the receiver did not hear that the sender left");
    }
}
