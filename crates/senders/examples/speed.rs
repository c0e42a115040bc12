//! Packets through a dumbbell of two flows of each controller in a second of this machine's processor: `cargo run --profile dist -p
//! tidemark-senders --example speed`. The link has 100 Mbit/s, a round trip of 10 ms and DualPI2; each run takes 60 s.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures real time")]

#[path = "../tests/dumbbell/mod.rs"]
mod dumbbell;

use dumbbell::{Dumbbell, Queue};
use tidemark_core::{BitRate, Duration};
use tidemark_senders::media::VideoConfig;
use tidemark_senders::{AppConfig, CongestionControl, SenderConfig, Transport};

fn main() {
    // UDP without a controller has no endless transfer.
    for sender in SenderConfig::all().into_iter().filter(|sender| sender.check_bulk(None).is_ok()) {
        let name = sender.name();
        let app = match sender.transport() {
            Transport::Tcp(_) | Transport::Udp { .. } => AppConfig::default(),
            Transport::Rtp(_) => AppConfig::Video(VideoConfig::default()),
        };
        let flow = (sender, app, Duration::from_millis(10));
        let mut dumbbell = Dumbbell::new(BitRate::from_mbps(100), Queue::dual_pi2(), &[flow.clone(), flow]);
        let begun = processor_seconds();
        dumbbell.run_for(Duration::from_secs(60));
        let seconds = processor_seconds() - begun;
        let packets = dumbbell.flows.iter().map(|flow| flow.delays.len()).sum::<usize>() as f64;
        let (packets, nanos) = (packets / seconds / 1e6, seconds / packets * 1e9);
        println!("{name:>10}: {packets:.2} million packets a second, {nanos:.0} ns each");
    }
}

/// Time that this process has had a processor for (Linux), whatever else the machine does.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux counts it");
    let nanos = text.split_whitespace().next().and_then(|field| field.parse::<f64>().ok());
    nanos.expect("nanoseconds come first") * 1e-9
}
