//! Cost of a data packet to both ends of a connection, in nanoseconds of this machine:
//! `cargo run --release -p tidemark-senders --example packet_cost`.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures real time")]

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, FlowId, Instant, Packet};
use tidemark_senders::controller::{CubicConfig, PragueConfig};
use tidemark_senders::{Payload, SenderConfig, TcpConfig, connect};

/// A path of `delay` at 10 us a packet with every `hit`-th packet marked (or lost); returns packets and nanoseconds.
fn run(config: &SenderConfig, delay: Duration, hit: u64, drop: bool) -> (u64, f64) {
    let (mut server, mut client) = connect(config, &Default::default(), FlowId(0), 1).expect("valid");
    let mut down: VecDeque<(Instant, Packet<Payload>)> = VecDeque::new();
    let mut up: VecDeque<(Instant, Packet<Payload>)> = VecDeque::new();
    let mut now = Instant::ZERO;
    let mut packets = 0;
    let mut slot = Instant::ZERO;
    client.handle_timeout(now);
    let mut begun = std::time::Instant::now();
    let mut counted_from = 0;
    while packets < 4_000_000 {
        while let Some(packet) = client.poll_transmit(now) {
            up.push_back((now + delay, packet));
        }
        while let Some(mut packet) = server.poll_transmit(now) {
            packets += 1;
            slot = slot.max(now) + Duration::from_micros(10);
            if packets % hit != 0 || packets < 100 {
                down.push_back((slot + delay, packet));
            } else if !drop {
                packet.ecn = packet.ecn.marked();
                down.push_back((slot + delay, packet));
            }
        }
        let next = [
            down.front().map(|flight| flight.0),
            up.front().map(|flight| flight.0),
            server.next_deadline(),
            client.next_deadline(),
        ];
        now = next.into_iter().flatten().min().expect("something is under way").max(now);
        while down.front().is_some_and(|flight| flight.0 <= now) {
            let (_, packet) = down.pop_front().expect("just seen");
            client.handle_packet(now, packet.as_ref());
        }
        while up.front().is_some_and(|flight| flight.0 <= now) {
            let (_, packet) = up.pop_front().expect("just seen");
            server.handle_packet(now, packet.as_ref());
        }
        for end in [&mut server, &mut client] {
            if end.next_deadline().is_some_and(|deadline| deadline <= now) {
                end.handle_timeout(now);
            }
        }
        if counted_from == 0 && packets > 1_000_000 {
            counted_from = packets;
            begun = std::time::Instant::now();
        }
    }
    let nanos = begun.elapsed().as_nanos() as f64 / (packets - counted_from) as f64;
    println!("  window {:?}, {:?} retransmissions", server.stats().window, server.stats().retransmissions);
    (packets, nanos)
}

fn main() {
    let tcp = || TcpConfig { send_buffer: Bytes(1 << 30), receive_window: Bytes(1 << 30), ..TcpConfig::default() };
    let cubic = SenderConfig::Cubic(CubicConfig { tcp: tcp(), ..CubicConfig::default() });
    let prague = SenderConfig::Prague(PragueConfig { tcp: tcp(), ..PragueConfig::default() });
    for (name, config, delay, hit, drop) in [
        ("CUBIC, 10 ms, 1 of 10,000 marked", &cubic, 10, 10_000, false),
        ("CUBIC, 10 ms, 1 of 1000 lost", &cubic, 10, 1000, true),
        ("CUBIC, 200 ms, 1 of 200,000 lost", &cubic, 200, 200_000, true),
        ("Prague, 10 ms, 1 of 100 marked", &prague, 10, 100, false),
    ] {
        let (_, nanos) = run(config, Duration::from_millis(delay), hit, drop);
        println!("{name}: {nanos:.0} ns a packet");
    }
}
