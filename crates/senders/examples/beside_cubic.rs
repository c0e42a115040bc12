//! CUBIC beside Prague under DualPI2, as a table: `cargo run --release -p tidemark-senders --example beside_cubic`.
//!
//! The link has 100 Mbit/s, and one flow of each. Rates are of payload, over 80 s after a warm-up of 20 s, in the mean of five seeds. The
//! second table plays the probability with which DualPI2 marked Prague, millisecond by millisecond, and its mean to a lone Prague over the
//! same path.

#[path = "../tests/dumbbell/mod.rs"]
mod dumbbell;
#[path = "../tests/link/mod.rs"]
mod link;

use dumbbell::{Dumbbell, Flow, Queue};
use link::{Fate, Link, is_data};
use tidemark_core::{BitRate, Bytes, Duration, Instant, Probability, Stream};
use tidemark_marker::DualQueueConfig;
use tidemark_senders::controller::{Ack, Congestion, Controller, CubicConfig, EcnResponse, Prague, PragueConfig};
use tidemark_senders::udp_prague::UdpPragueConfig;
use tidemark_senders::{
    AppConfig, ConfigError, CongestionControl, EcnMode, OverTcp, Properties, SenderConfig, Transport,
};

const RATE: BitRate = BitRate::from_mbps(100);
const WARM: Duration = Duration::from_secs(20);
const SECONDS: u64 = 80;
const ROUND_TRIPS: [u64; 3] = [10, 20, 40];
const SEEDS: u64 = 5;
/// Payload of a packet and the packet, of TCP and of UDP Prague (which counts its headers of 13 B as payload).
const TCP: f64 = 1448.0 / 1500.0;
const UDP: f64 = 1400.0 / 1428.0;

/// Results of a flow: Mbit/s of payload, the share of its packets that were marked, and marks in a second.
fn figures(flow: &Flow, payload: f64) -> [f64; 3] {
    let seconds = SECONDS as f64;
    let rate = flow.mbps(Duration::from_secs(SECONDS)) * payload;
    [rate, flow.marks as f64 / flow.delays.len() as f64, flow.marks as f64 / seconds]
}

/// Prague that adds nothing while a reduction lasts (CWR).
struct Waiting(PragueConfig);

impl CongestionControl for Waiting {
    fn properties(&self) -> &'static Properties {
        self.0.properties()
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.0.validate()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.0.clone();
        let least = if config.whole_rounds { Duration::ZERO } else { config.reference_rtt };
        let controller = move |sizes, _flow, _seed| {
            Box::new(Waits { prague: Prague::new(&config, sizes), least, reduced: None }) as _
        };
        Transport::Tcp(OverTcp { config: &self.0.tcp, usual_ecn: EcnMode::Accecn, controller: Box::new(controller) })
    }
}

/// The controller of [`Waiting`].
struct Waits {
    prague: Prague,
    /// Least time that a reduction lasts; a round trip if that is longer.
    least: Duration,
    /// Time of the reduction that lasts, and the payload delivered by then.
    reduced: Option<(Instant, Bytes)>,
}

impl Controller for Waits {
    fn on_established(&mut self, now: Instant, ecn: EcnMode, rtt: Option<Duration>) {
        self.prague.on_established(now, ecn, rtt);
    }
    fn on_ack(&mut self, ack: &Ack) {
        let is_over = |(start, delivered)| ack.prior_delivered >= delivered && ack.now.since(start) >= self.least;
        if self.reduced.is_some_and(is_over) {
            self.reduced = None;
        }
        // A window that is not used does not grow.
        self.prague.on_ack(&Ack { window_limited: ack.window_limited && self.reduced.is_none(), ..*ack });
        if ack.marked_packets > 0 && self.reduced.is_none() {
            self.reduced = Some((ack.now, ack.delivered));
        }
    }
    fn on_congestion(&mut self, congestion: &Congestion) {
        self.prague.on_congestion(congestion);
    }
    fn on_timeout(&mut self, congestion: &Congestion) {
        self.prague.on_timeout(congestion);
    }
    fn on_spurious(&mut self, now: Instant) {
        self.prague.on_spurious(now);
    }
    fn on_idle(&mut self, now: Instant, idle: Duration, rto: Duration) {
        self.prague.on_idle(now, idle, rto);
    }
    fn window(&self) -> Bytes {
        self.prague.window()
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        self.prague.pacing_rate()
    }
    fn burst(&self, rate: BitRate) -> Bytes {
        self.prague.burst(rate)
    }
    fn ecn_response(&self) -> EcnResponse {
        self.prague.ecn_response()
    }
}

/// Settled, with nothing counted yet.
fn dumbbell(prague: &SenderConfig, round_trip: Duration, seed: u64) -> Dumbbell {
    let cubic = SenderConfig::Cubic(CubicConfig::default());
    let flows = [cubic, prague.clone()].map(|sender| (sender, AppConfig::default(), round_trip));
    let mut dumbbell = Dumbbell::new(RATE, Queue::dual_pi2_with(&DualQueueConfig::default(), seed), &flows);
    dumbbell.run_for(WARM);
    dumbbell.clear();
    dumbbell
}

fn virtual_round_trip(round_trip: u64) -> f64 {
    round_trip.max(25) as f64 * 1e-3
}

fn beside(name: &str, prague: &SenderConfig, payload: f64) {
    for round_trip in ROUND_TRIPS {
        let mut sums = [[0.0; 3]; 2];
        for seed in 1..=SEEDS {
            let mut dumbbell = dumbbell(prague, Duration::from_millis(round_trip), seed);
            dumbbell.run_for(Duration::from_secs(SECONDS));
            for ((flow, payload), sums) in dumbbell.flows.iter().zip([TCP, payload]).zip(&mut sums) {
                figures(flow, payload).iter().zip(sums).for_each(|(figure, sum)| *sum += figure / SEEDS as f64);
            }
        }
        let [cubic, prague] = sums;
        println!(
            "| {round_trip} ms | {name} | {:.1} | {:.1} | {:.3} % | {:.2} % | {:.2} |",
            cubic[0],
            prague[0],
            cubic[1] * 100.0,
            prague[1] * 100.0,
            prague[2] * virtual_round_trip(round_trip),
        );
    }
}

/// A lone Prague under marks at random, with the probability of each millisecond: Mbit/s of payload and marks in a second.
fn alone(round_trip: u64, probabilities: Vec<f64>) -> (f64, f64) {
    let prague = SenderConfig::Prague(PragueConfig::default());
    let mut link = Link::new(&prague, &AppConfig::default(), Duration::from_millis(round_trip) / 2);
    let mut draws = Stream::new(1, 0, "replay");
    link.down = Box::new(move |now, packet| {
        let millisecond = (now.since(Instant::ZERO).as_secs_f64() * 1e3) as usize;
        let hit = draws.chance(Probability::new(probabilities[millisecond % probabilities.len()]));
        if is_data(packet) && hit { Fate::Mark } else { Fate::Deliver }
    });
    link.run_for(WARM);
    let before = link.stats().1;
    link.run_for(Duration::from_secs(SECONDS));
    let after = link.stats().1;
    let seconds = SECONDS as f64;
    let rate = (after.delivered - before.delivered).as_f64() * 8e-6 / seconds;
    (rate, (after.marks_received - before.marks_received) as f64 / seconds)
}

fn replay() {
    for round_trip in ROUND_TRIPS {
        let mut dumbbell =
            dumbbell(&SenderConfig::Prague(PragueConfig::default()), Duration::from_millis(round_trip), 1);
        let mut probabilities = Vec::new();
        for _ in 0..SECONDS * 1000 {
            dumbbell.run_for(Duration::from_millis(1));
            probabilities.push(dumbbell.coupled_probability());
        }
        let mean = probabilities.iter().sum::<f64>() / probabilities.len() as f64;
        let [rate, _, marks] = figures(&dumbbell.flows[1], TCP);
        let moving = alone(round_trip, probabilities);
        let steady = alone(round_trip, vec![mean]);
        let span = virtual_round_trip(round_trip);
        println!(
            "| {round_trip} ms | {:.1} / {:.2} | {:.1} / {:.2} | {:.1} / {:.2} |",
            rate,
            marks * span,
            moving.0,
            moving.1 * span,
            steady.0,
            steady.1 * span
        );
    }
}

fn main() {
    println!(
        "| round trip | L4S flow | CUBIC, Mbit/s | L4S flow, Mbit/s | CUBIC marked | L4S flow marked | marks a virtual round trip |"
    );
    println!("| ---: | --- | ---: | ---: | ---: | ---: | ---: |");
    let whole = PragueConfig { whole_rounds: true, ..PragueConfig::default() };
    beside("Prague", &SenderConfig::Prague(PragueConfig::default()), TCP);
    beside("Prague, `whole_rounds`", &SenderConfig::Prague(whole.clone()), TCP);
    beside("Prague, nothing added in CWR", &SenderConfig::custom("waiting", Waiting(PragueConfig::default())), TCP);
    beside("Prague, nothing added in CWR, `whole_rounds`", &SenderConfig::custom("waiting", Waiting(whole)), TCP);
    beside("UDP Prague", &SenderConfig::UdpPrague(UdpPragueConfig::default()), UDP);
    println!();
    println!("| round trip | beside CUBIC, Mbit/s / marks | alone, the same probabilities | alone, their mean |");
    println!("| ---: | ---: | ---: | ---: |");
    replay();
}
