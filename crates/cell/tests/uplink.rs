//! The way up: requests, reports, grants, and marks by what was reported.

use tidemark_cell::channel::StaticConfig;
use tidemark_cell::{
    BsrFormat, Cell, CellConfig, ChannelConfig, ConfiguredGrant, Duplex, Output, UeConfig, UeId, UplinkConfig,
};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet};
use tidemark_marker::{LawConfig, MarkerConfig, StepConfig};

/// Delays in the order of arrival, with the ECN field, of packets of a size that a UE hands over at these times.
fn delays(config: &CellConfig, ue: &UeConfig, size: u64, times: impl IntoIterator<Item = Instant>) -> Vec<(f64, Ecn)> {
    let mut cell = Cell::new(config, 1).unwrap();
    cell.add_ue(ue).unwrap();
    let (mut sent, mut arrived) = (std::collections::VecDeque::new(), Vec::new());
    let mut drain = |cell: &mut Cell<SentAt>, until: Instant| {
        while let Some(now) = cell.next_deadline().filter(|at| *at <= until) {
            cell.handle_timeout(now);
            while let Some(output) = cell.poll_output() {
                let Output::Uplink { at, packet, .. } = output else { panic!("{output:?}") };
                arrived.push((at.since(packet.payload.0).as_millis_f64(), packet.ecn));
            }
        }
    };
    for at in times {
        drain(&mut cell, at);
        sent.push_back(at);
        let packet = Packet { flow: FlowId(1), size: Bytes(size), ecn: Ecn::Ect1, payload: SentAt(at) };
        cell.handle_uplink(at, UeId(0), packet);
    }
    drain(&mut cell, Instant::from_millis(60_000));
    assert_eq!(arrived.len(), sent.len(), "nothing is lost");
    assert!(cell.next_deadline().is_none(), "an idle cell has nothing to do");
    arrived
}
/// When a packet was sent.
#[derive(Clone, Debug)]
struct SentAt(Instant);
impl tidemark_core::Inspect for SentAt {}

fn every(span: Duration, count: u64) -> impl Iterator<Item = Instant> {
    (0..count).map(move |index| Instant::ZERO + span * index)
}
fn mean(delays: &[(f64, Ecn)]) -> f64 {
    delays.iter().map(|(delay, _)| delay).sum::<f64>() / delays.len() as f64
}
fn good() -> UeConfig {
    // So good that nothing fails.
    UeConfig { channel: ChannelConfig::Static(StaticConfig { snr_db: 40.0 }), ..UeConfig::default() }
}
fn fdd(uplink: UplinkConfig) -> CellConfig {
    CellConfig { duplex: Duplex::Fdd, uplink, ..CellConfig::default() }
}

#[test]
fn a_lone_packet_waits_for_its_request_the_grant_and_its_slot() {
    // At times that fall anywhere in a period of requests.
    let times = || every(Duration::from_micros(50_313), 200);
    let delay = mean(&delays(&fdd(UplinkConfig::default()), &good(), 100, times()));
    // Half a period of 5 ms, the request's slot, four slots of grant delay and the packet's slot of 0.5 ms each.
    assert!((delay - (2.5 + 0.5 + 2.0 + 0.5)).abs() < 0.4, "{delay} ms");
    let slow = UplinkConfig { sr_period: Duration::from_millis(20), grant_delay: 8, ..UplinkConfig::default() };
    let slow = mean(&delays(&fdd(slow), &good(), 100, times()));
    assert!((slow - (10.0 + 0.5 + 4.0 + 0.5)).abs() < 0.9, "{slow} ms");
    // In the default TDD pattern both the request and the packet wait for uplink slots.
    let tdd = mean(&delays(&CellConfig::default(), &good(), 100, times()));
    assert!((6.0..11.0).contains(&tdd), "{tdd} ms");
}

#[test]
fn a_configured_grant_saves_the_request() {
    let times = || every(Duration::from_micros(50_313), 200);
    let grant = ConfiguredGrant { period: Duration::from_millis(1), size: Bytes(200) };
    let configured = UplinkConfig { configured_grant: Some(grant), ..UplinkConfig::default() };
    let delay = mean(&delays(&fdd(configured.clone()), &good(), 100, times()));
    assert!((0.5..1.6).contains(&delay), "{delay} ms");
    // What does not fit is reported with it and granted.
    let longer = mean(&delays(&fdd(configured), &good(), 1_000, times()));
    assert!((2.5..5.0).contains(&longer), "{longer} ms");
}

#[test]
fn a_stream_is_granted_by_its_reports_whichever_table_they_use() {
    // 4 Mbit/s in TDD, whose two uplink slots in ten carry twice as much.
    let interval = BitRate::from_mbps(4).time_to_send(Bytes(1_200));
    for bsr in [BsrFormat::Short, BsrFormat::Long] {
        let config = CellConfig { uplink: UplinkConfig { bsr, ..UplinkConfig::default() }, ..CellConfig::default() };
        let delays = delays(&config, &good(), 1_200, every(interval, 4_000));
        assert!(mean(&delays) < 15.0, "{bsr:?}: {} ms", mean(&delays));
    }
}

#[test]
fn failed_blocks_delay_and_never_overtake() {
    let channel = ChannelConfig::Static(StaticConfig { snr_db: 9.0 });
    let ue = UeConfig { channel, ..UeConfig::default() };
    let interval = BitRate::from_mbps(1).time_to_send(Bytes(1_000));
    let order = delays(&CellConfig::default(), &ue, 1_000, every(interval, 4_000));
    let (good, bad) = (mean(&delays(&CellConfig::default(), &good(), 1_000, every(interval, 4_000))), mean(&order));
    assert!(bad > good + 0.3, "{bad} ms against {good} ms without errors");
}

#[test]
fn a_reported_queue_is_marked_once_it_is_too_old_and_a_short_one_is_not() {
    let law = LawConfig::Step(StepConfig { threshold: Duration::from_millis(20), ..StepConfig::default() });
    let ue = UeConfig { uplink_marker: Some(MarkerConfig::with_law(law)), ..good() };
    let marked = |mbps| {
        let interval = BitRate::from_mbps(mbps).time_to_send(Bytes(1_200));
        let delays = delays(&CellConfig::default(), &ue, 1_200, every(interval, 6_000));
        delays.iter().filter(|(_, ecn)| *ecn == Ecn::Ce).count()
    };
    assert_eq!(marked(3), 0);
    // Two slots in ten carry 8 Mbit/s.
    assert!(marked(12) > 5_000, "{}", marked(12));
}
