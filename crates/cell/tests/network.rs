//! Many cells: UEs attach, interfere, move and change cells, without unnecessary losses.

use std::ops::{Deref, DerefMut};

use tidemark_cell::network::{DeployedConfig, Environment, HandoverConfig, Mobility, NetworkConfig, UeRadio};
use tidemark_cell::{
    CellConfig, Cells, ChannelConfig, ConfigError, DrbIndex, DropReason, HandoverData, HandoverMarker, Output, Radio,
    RlcConfig, RlcMode, UeConfig, UeId,
};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, TcpFlags, TcpView};
use tidemark_marker::{LawConfig, MarkerConfig, StepConfig};

use crate::sent::Sent;

fn ue(deployed: DeployedConfig) -> UeConfig {
    UeConfig { channel: ChannelConfig::Deployed(deployed), ..UeConfig::default() }
}
fn at(position: [f64; 2]) -> DeployedConfig {
    DeployedConfig { position: Some(position), fading: false, ..DeployedConfig::default() }
}

/// All cells of a network and their radio, driven as one.
struct Network {
    cells: Cells<Sent>,
    radio: Radio,
    ues: u32,
}

impl Network {
    fn new(config: &NetworkConfig) -> Self {
        let cells = Cells::new(&CellConfig::default(), config.cells(), 3).unwrap();
        Self { cells, radio: Radio::new(config, &CellConfig::default()).unwrap(), ues: 0 }
    }

    fn add_ue(&mut self, config: &UeConfig) -> Result<UeId, ConfigError> {
        let (id, mut config) = (UeId(self.ues), config.clone());
        let cell = self.radio.add_ue(&mut config, 3)?;
        self.cells.add_ue(cell, id, DrbIndex(self.ues), &config)?;
        self.cells.set_means(id, self.radio.means(id));
        self.ues += 1;
        Ok(id)
    }

    fn next_deadline(&self) -> Option<Instant> {
        Some(self.cells.next_deadline().unwrap_or(Instant::FAR).min(self.radio.next_measurement()))
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.cells.handle_timeout(now);
        if self.radio.next_measurement() > now {
            return;
        }
        for to in self.radio.measure(now, self.cells.stats(), |from| self.cells.resources_between(from, now)) {
            let leaving = self.cells.take_ue(now, to.ue).unwrap();
            self.cells.place_ue(now, &to, leaving, &self.radio.execution());
        }
        (0..self.ues).map(UeId).for_each(|ue| self.cells.set_means(ue, self.radio.means(ue)));
    }

    fn radio(&self, id: UeId) -> UeRadio {
        self.radio.ue(id).unwrap()
    }
}

impl Deref for Network {
    type Target = Cells<Sent>;
    fn deref(&self) -> &Cells<Sent> {
        &self.cells
    }
}

impl DerefMut for Network {
    fn deref_mut(&mut self) -> &mut Cells<Sent> {
        &mut self.cells
    }
}

/// A network whose UEs are sent packets at a steady rate, numbered by their order.
struct Steady {
    network: Network,
    now: Instant,
    /// Packets sent to each UE.
    sent: Vec<u64>,
    arrived: Vec<Vec<(Instant, u64, Ecn)>>,
    dropped: Vec<(UeId, DropReason)>,
}

impl Steady {
    fn new(config: &NetworkConfig, ues: &[UeConfig]) -> Self {
        let mut network = Network::new(config);
        for ue in ues {
            network.add_ue(ue).unwrap();
        }
        let arrived = vec![Vec::new(); ues.len()];
        Self { network, now: Instant::ZERO, sent: vec![0; ues.len()], arrived, dropped: Vec::new() }
    }

    /// Runs for a time in which each of `ues` is sent 1500 bytes every `period`.
    fn run(&mut self, span: Duration, ues: &[u32], period: Duration) {
        let end = self.now + span;
        let mut next = self.now;
        loop {
            let deadline = self.network.next_deadline().unwrap_or(Instant::FAR);
            if deadline.min(next) > end {
                break;
            }
            if deadline <= next {
                self.network.handle_timeout(deadline);
            } else {
                for ue in ues {
                    let number = self.sent[*ue as usize];
                    let packet = Packet {
                        flow: FlowId(*ue),
                        size: Bytes(1_500),
                        ecn: Ecn::Ect1,
                        payload: Sent { number, ..Sent::default() },
                    };
                    self.network.handle_downlink(next, UeId(*ue), packet);
                    self.sent[*ue as usize] += 1;
                }
                next += period;
            }
            while let Some(output) = self.network.poll_output() {
                match output {
                    Output::Downlink { at, ue, packet, .. } => {
                        self.arrived[ue.0 as usize].push((at, packet.payload.number, packet.ecn));
                    }
                    Output::Dropped { ue, reason, .. } => self.dropped.push((ue, reason)),
                    Output::Uplink { .. } | Output::Recommendation { .. } | Output::ShortCircuited { .. } => {}
                }
            }
        }
        self.now = end;
    }

    fn handovers(&self, ue: u32) -> u64 {
        self.network.radio(UeId(ue)).handovers
    }
}

/// Moves from one site to the next and back, 500 m at 90 km/h in 20 s: once through the border each way.
fn commuter() -> DeployedConfig {
    DeployedConfig { mobility: Mobility::Line { to: [465.0, 0.0], speed_kmh: 90.0 }, ..at([35.0, 0.0]) }
}
const MS: Duration = Duration::from_millis(1);

#[test]
fn a_handover_forwards_everything_in_order_and_once() {
    for mode in [RlcMode::Am, RlcMode::Um] {
        let rlc = RlcConfig { mode, ..RlcConfig::default() };
        let mut steady = Steady::new(&NetworkConfig::default(), &[UeConfig { rlc, ..ue(commuter()) }]);
        let first = steady.network.cell_of(UeId(0));
        steady.run(Duration::from_secs(17), &[0], MS);
        assert!(steady.handovers(0) >= 1 && steady.network.cell_of(UeId(0)) != first);
        steady.run(Duration::from_secs(1), &[], MS);
        let numbers: Vec<_> = steady.arrived[0].iter().map(|(_, number, _)| *number).collect();
        if mode == RlcMode::Am {
            assert_eq!(numbers, (0..steady.sent[0]).collect::<Vec<_>>());
        } else {
            // What the radio loses stays lost, at a handover too, but nothing comes twice or out of order.
            assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
            assert_eq!(numbers.len() + steady.dropped.len(), steady.sent[0] as usize);
        }
        let with_reason = |other| steady.dropped.iter().filter(|(_, reason)| *reason == other).count();
        let [radio, handover] = [DropReason::Radio, DropReason::Handover].map(with_reason);
        assert_eq!(radio + handover, steady.dropped.len());
        let stats = steady.network.ue(steady.now, UeId(0)).unwrap();
        assert_eq!((stats.dropped_by_radio, stats.dropped_by_handover), (radio as u64, handover as u64));
        assert!((handover > 0) == (mode == RlcMode::Um), "{handover}");
    }
}

#[test]
fn what_was_begun_is_retransmitted_after_a_handover_with_acknowledgements_only() {
    // TS 38.323 5.1.2. A queue stands, so that something is always in the air.
    let interruption = Duration::from_millis(200);
    let handover = HandoverConfig { interruption, ..HandoverConfig::default() };
    for mode in [RlcMode::Am, RlcMode::Um] {
        let rlc = RlcConfig { mode, ..RlcConfig::default() };
        let config = NetworkConfig { handover: handover.clone(), ..NetworkConfig::default() };
        let mut steady = Steady::new(&config, &[UeConfig { rlc, ..ue(commuter()) }]);
        steady.run(Duration::from_secs(17), &[0], Duration::from_micros(250));
        let around = steady.arrived[0].windows(2).filter(|pair| pair[1].0.since(pair[0].0) >= interruption);
        let missing: Vec<_> = around.map(|pair| pair[1].1 - pair[0].1 - 1).collect();
        assert_eq!(missing.len() as u64, steady.handovers(0));
        match mode {
            RlcMode::Am => assert!(missing.iter().all(|missing| *missing == 0), "{missing:?}"),
            // Some slots' packets, not the queue.
            RlcMode::Um => assert!(missing.iter().all(|missing| (1..200).contains(missing)), "{missing:?}"),
        }
    }
}

#[test]
fn a_handover_interrupts_for_as_long_as_it_says() {
    // It ends between two measurements, so that no block meets another channel than it was planned for.
    let interruption = Duration::from_millis(210);
    let handover = HandoverConfig { interruption, ..HandoverConfig::default() };
    let mut steady = Steady::new(&NetworkConfig { handover, ..NetworkConfig::default() }, &[ue(commuter())]);
    steady.run(Duration::from_secs(17), &[0], MS);
    let gaps = steady.arrived[0].windows(2).map(|pair| pair[1].0.since(pair[0].0));
    let long = gaps.filter(|gap| *gap >= interruption).collect::<Vec<_>>();
    assert_eq!(long.len() as u64, steady.handovers(0));
    // The new cell plans its first slot when the interruption is over.
    let cell = CellConfig::default();
    let most = interruption + cell.slot() * cell.scheduling_lead() + Duration::from_millis(15);
    assert!(long.iter().all(|gap| *gap < most), "{long:?}");
}

#[test]
fn without_forwarding_what_the_old_cell_holds_is_lost_and_counted() {
    let handover = HandoverConfig { data: HandoverData::Lost, ..HandoverConfig::default() };
    let mut steady = Steady::new(&NetworkConfig { handover, ..NetworkConfig::default() }, &[ue(commuter())]);
    // More than the cell carries, so that a queue stands.
    steady.run(Duration::from_secs(17), &[0], Duration::from_micros(250));
    let left_behind = steady.dropped.iter().filter(|(_, reason)| *reason == DropReason::Handover).count() as u64;
    assert!(left_behind > 100, "{left_behind}");
    assert_eq!(steady.network.ue(steady.now, UeId(0)).unwrap().dropped_by_handover, left_behind);
}

#[test]
fn marks_go_on_in_the_new_cell_whether_the_marker_moves_or_starts_anew() {
    for marker in [HandoverMarker::Moves, HandoverMarker::StartsAnew] {
        let handover = HandoverConfig { marker, ..HandoverConfig::default() };
        let law = MarkerConfig::with_law(LawConfig::Step(StepConfig::default()));
        // The source does not answer: without protection its packets stay in the queue, marked.
        let law = MarkerConfig { overload_protection: false, ..law };
        let busy = UeConfig { marker: law, ..ue(commuter()) };
        let mut steady = Steady::new(&NetworkConfig { handover, ..NetworkConfig::default() }, &[busy]);
        steady.run(Duration::from_secs(17), &[0], Duration::from_micros(250));
        let marked = steady.network.ue(steady.now, UeId(0)).unwrap().marked;
        let late =
            steady.arrived[0].iter().filter(|(at, _, ecn)| *at > Instant::from_millis(16_000) && *ecn == Ecn::Ce);
        assert!(late.count() > 1_000);
        // Marks of every marker are in the counter; some of their packets still wait.
        let arrived = steady.arrived[0].iter().filter(|(.., ecn)| *ecn == Ecn::Ce).count() as u64;
        assert!(marked >= arrived, "{marked} and {arrived}");
    }
}

#[test]
fn a_marker_that_moves_knows_its_connections_and_one_that_starts_anew_does_not() {
    // While a marker knows that acknowledgements can tell marks, it leaves packets as they are.
    let marked_packets = |marker| {
        let handover = HandoverConfig { marker, ..HandoverConfig::default() };
        let law =
            MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(LawConfig::Step(StepConfig::default())) };
        let mut network = Network::new(&NetworkConfig { handover, ..NetworkConfig::default() });
        let id = network.add_ue(&UeConfig { marker: law, ..ue(commuter()) }).unwrap();
        let packet = |ace, syn, ack: Option<u32>, seq| {
            let flags = TcpFlags { syn, ack: ack.is_some(), ..TcpFlags::default() }.with_ace(ace);
            // A segment of a connection that asked for AccECN.
            let tcp = TcpView {
                is_authenticated: false,
                flags,
                seq,
                ack: ack.unwrap_or(0),
                payload: if syn { 0 } else { 1_448 },
                accecn: None,
            };
            let payload = Sent { tcp: Some(tcp), ..Sent::default() };
            Packet { flow: FlowId(0), size: Bytes(1_500), ecn: if syn { Ecn::NotEct } else { Ecn::Ect1 }, payload }
        };
        let (mut ce, mut seq, mut next) = ([0, 0], 1_000u32, Instant::ZERO);
        while next < Instant::from_millis(17_000) {
            while let Some(at) = network.next_deadline().filter(|at| *at <= next) {
                network.handle_timeout(at);
            }
            let handovers = network.radio(id).handovers;
            while let Some(output) = network.poll_output() {
                if let Output::Downlink { packet, .. } = output {
                    ce[handovers.min(1) as usize] += u32::from(packet.ecn == Ecn::Ce);
                }
            }
            match next.as_nanos() / 1_000 {
                0 => network.handle_uplink(next, id, packet(0b111, true, None, 100)),
                20_000 => network.handle_downlink(next, id, packet(0b010, true, Some(101), 999)),
                40_000.. => {
                    network.handle_downlink(next, id, packet(5, false, Some(101), seq));
                    seq = seq.wrapping_add(1_448);
                }
                _ => {}
            }
            next += Duration::from_micros(250);
        }
        ce
    };
    assert_eq!(marked_packets(HandoverMarker::Moves), [0, 0]);
    let [before, after] = marked_packets(HandoverMarker::StartsAnew);
    assert!(before == 0 && after > 1_000, "{before} and {after}");
}

#[test]
fn hysteresis_keeps_a_ue_from_changing_to_and_fro() {
    let handovers = |hysteresis_db| {
        let handover = HandoverConfig { hysteresis_db, time_to_trigger: Duration::ZERO, ..HandoverConfig::default() };
        let config = NetworkConfig { handover, ..NetworkConfig::default() };
        let mobility = Mobility::RandomWaypoint { speed_kmh: 120.0, pause: Duration::ZERO };
        let ues: Vec<_> =
            (0..20).map(|_| ue(DeployedConfig { mobility: mobility.clone(), ..at([0.0, 100.0]) })).collect();
        let mut steady = Steady::new(&config, &ues);
        steady.run(Duration::from_secs(60), &[], MS);
        (0..20).map(|ue| steady.handovers(ue)).sum::<u64>()
    };
    let (none, some, much) = (handovers(0.0), handovers(3.0), handovers(6.0));
    assert!(none > some + some / 2 && some > much + much / 4 && much > 20, "{none} {some} {much}");
}

#[test]
fn a_handover_waits_until_the_neighbour_has_been_better_for_the_time_to_trigger() {
    let left_at = |time_to_trigger| {
        let handover = HandoverConfig { time_to_trigger, ..HandoverConfig::default() };
        let mut steady = Steady::new(&NetworkConfig { handover, ..NetworkConfig::default() }, &[ue(commuter())]);
        let first = steady.network.cell_of(UeId(0));
        while steady.network.cell_of(UeId(0)) == first {
            steady.run(Duration::from_millis(10), &[], MS);
        }
        steady.now
    };
    let at_once = left_at(Duration::ZERO);
    for wait in [320, 1_280] {
        let late = left_at(Duration::from_millis(wait)).since(at_once);
        // Shadowing may take the lead away once more, and the wait begins anew.
        assert!((wait..wait + 600).contains(&(late.as_nanos() / 1_000_000)), "{late} for {wait} ms");
    }
}

#[test]
fn a_ue_is_admitted_to_the_sector_that_looks_at_it() {
    let config = NetworkConfig { sites: 1, environment: Environment::Umi, ..NetworkConfig::default() };
    let places: Vec<_> = [30.0f64, 150.0, 270.0]
        .into_iter()
        .map(|degrees| {
            let (sin, cos) = libm::sincos(degrees.to_radians());
            ue(at([60.0 * cos, 60.0 * sin]))
        })
        .collect();
    let steady = Steady::new(&config, &places);
    assert_eq!([0, 1, 2].map(|ue| steady.network.cell_of(UeId(ue))), [Some(0), Some(1), Some(2)]);
}

#[test]
fn a_busy_neighbour_interferes_and_an_idle_one_does_not() {
    // One on its way to the border of two sites, one near the next site.
    let mut steady = Steady::new(&NetworkConfig::default(), &[ue(at([180.0, 60.0])), ue(at([420.0, 20.0]))]);
    assert_ne!(steady.network.cell_of(UeId(0)), steady.network.cell_of(UeId(1)));
    let sinr = |steady: &Steady| steady.network.radio(UeId(0)).sinr_db;
    let alone = sinr(&steady);
    steady.run(Duration::from_secs(1), &[0], MS);
    assert!((sinr(&steady) - alone).abs() < 1e-9, "its own cell does not interfere");
    steady.run(Duration::from_secs(1), &[1], Duration::from_micros(250));
    let beside = sinr(&steady);
    assert!(beside < alone - 6.0, "{beside} after {alone} dB");
    steady.run(Duration::from_secs(3), &[], MS);
    assert!((sinr(&steady) - alone).abs() < 1e-9, "the neighbour is silent again");
}

#[test]
fn another_ue_changes_nobodys_position_way_or_power() {
    let mobility = Mobility::RandomWaypoint { speed_kmh: 50.0, pause: Duration::ZERO };
    let rover = ue(DeployedConfig { mobility, ..DeployedConfig::default() });
    let after = |ues: &[UeConfig]| {
        let mut steady = Steady::new(&NetworkConfig::default(), ues);
        steady.run(Duration::from_secs(30), &[0], Duration::from_millis(10));
        let radio = steady.network.radio(UeId(0));
        (radio, steady.arrived[0].len(), steady.arrived[0].last().copied())
    };
    let alone = after(std::slice::from_ref(&rover));
    assert!(alone.0.handovers > 0);
    assert_eq!(after(&[rover.clone(), rover]), alone);
}

#[test]
fn positions_and_networks_go_together() {
    let mut alone = Cells::<Sent>::new(&CellConfig::default(), 1, 1).unwrap();
    let refused = alone.add_ue(0, UeId(0), DrbIndex(0), &ue(at([0.0, 100.0]))).unwrap_err();
    assert_eq!(refused.field(), "channel.model");
    let mut network = Network::new(&NetworkConfig::default());
    assert_eq!(network.add_ue(&UeConfig::default()).unwrap_err().field(), "channel.model");
    assert!(network.add_ue(&ue(at([0.0, 100.0]))).is_ok());
}

/// Gives the uplink rate of a lone UE at a distance over two seconds, in Mbit/s.
fn upload(metres: f64, ue_power_dbm: f64) -> f64 {
    let config = NetworkConfig { sites: 1, sectors: 1, ue_power_dbm, ..NetworkConfig::default() };
    let mut network = Network::new(&config);
    let place = [0.866 * metres, 0.5 * metres];
    let id = network.add_ue(&ue(at(place))).unwrap();
    let mut came = Bytes(0);
    for step in 0..4_000 {
        let now = Instant::from_nanos(500_000 * step);
        let packet = Packet { flow: FlowId(0), size: Bytes(1_200), ecn: Ecn::NotEct, payload: Sent::default() };
        network.handle_uplink(now, id, packet);
        while let Some(due) = network.next_deadline().filter(|due| *due <= now) {
            network.handle_timeout(due);
        }
        while let Some(output) = network.poll_output() {
            let Output::Uplink { packet, .. } = output else { panic!("{output:?}") };
            came += packet.size;
        }
    }
    came.as_f64() * 8.0 / 2e6
}

#[test]
fn what_a_ue_brings_up_follows_from_its_power_and_its_distance() {
    let near = upload(100.0, 23.0);
    assert!(near > 9.0, "{near} Mbit/s");
    let rates = [23.0, 15.0, 8.0].map(|dbm| upload(250.0, dbm));
    assert!(rates[0] < near + 0.1 && rates.is_sorted_by(|a, b| *a > 1.5 * b) && rates[2] > 0.0, "{rates:?} Mbit/s");
}
