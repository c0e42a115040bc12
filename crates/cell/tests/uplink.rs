//! The uplink: requests, reports, grants, and marks from reported buffers.

use tidemark_cell::channel::StaticConfig;
use tidemark_cell::{
    BsrFormat, Cell, CellConfig, ChannelConfig, ConfiguredGrant, DrbConfig, Duplex, EcnField, Output, PacketFilter,
    QosFlowConfig, RlcConfig, RlcMode, SchedulerConfig, UeConfig, UeId, UplinkConfig,
};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet};
use tidemark_marker::{LawConfig, MarkerConfig, StepConfig};
use tidemark_radio::mcs::McsTable;

use crate::sent::Sent;

/// Delays in the order of arrival, with the ECN field, of packets of a size that a UE hands over at these times.
fn delays(config: &CellConfig, ue: &UeConfig, size: u64, times: impl IntoIterator<Item = Instant>) -> Vec<(f64, Ecn)> {
    let mut cell = Cell::new(config, 1).unwrap();
    cell.add_ue(ue).unwrap();
    let (mut sent, mut arrived) = (0, Vec::new());
    let mut drain = |cell: &mut Cell<Sent>, until: Instant| {
        while let Some(now) = cell.next_deadline().filter(|at| *at <= until) {
            cell.handle_timeout(now);
            while let Some(output) = cell.poll_output() {
                let Output::Uplink { at, packet, .. } = output else { panic!("{output:?}") };
                let Sent { at: since, number, .. } = packet.payload;
                assert_eq!(number, arrived.len() as u64, "in order");
                arrived.push((at.since(since).as_millis_f64(), packet.ecn));
            }
        }
    };
    for at in times {
        drain(&mut cell, at);
        let payload = Sent { at, number: sent, ..Sent::default() };
        sent += 1;
        cell.handle_uplink(at, UeId(0), Packet { flow: FlowId(1), size: Bytes(size), ecn: Ecn::Ect1, payload });
    }
    drain(&mut cell, Instant::from_millis(60_000));
    assert_eq!(arrived.len() as u64, sent, "nothing is lost");
    assert!(cell.next_deadline().is_none(), "an idle cell has nothing to do");
    arrived
}

/// Outcome of flows that UEs sent for five seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    mbps: f64,
    delay_ms: f64,
    marked: u32,
    lost: u32,
}
/// Flow `n` is that of the `n`th load: UE, Mbit/s. Its packets are ECT(1) if its number is odd.
fn flows<const N: usize>(config: &CellConfig, ues: &[UeConfig], loads: [(u32, u64); N]) -> [Came; N] {
    offered(config, ues, loads.map(|(ue, mbps)| (ue, BitRate::from_mbps(mbps))))
}
fn offered<const N: usize>(config: &CellConfig, ues: &[UeConfig], loads: [(u32, BitRate); N]) -> [Came; N] {
    let mut cell = Cell::new(config, 1).unwrap();
    for ue in ues {
        cell.add_ue(ue).unwrap();
    }
    let size = Bytes(1_200);
    let mut next = [Instant::ZERO; N];
    let (mut count, mut came) = ([0u32; N], [Came::default(); N]);
    let end = Instant::from_millis(5_000);
    loop {
        let (index, at) = next.iter().copied().enumerate().min_by_key(|(_, at)| *at).unwrap();
        let at = at.min(end);
        while let Some(now) = cell.next_deadline().filter(|deadline| *deadline <= at) {
            cell.handle_timeout(now);
            while let Some(output) = cell.poll_output() {
                match output {
                    Output::Uplink { at, packet, .. } => {
                        let flow = packet.flow.0 as usize;
                        let Sent { at: since, .. } = packet.payload;
                        came[flow].mbps += packet.size.as_f64() * 8.0 / 5e6;
                        came[flow].delay_ms += at.since(since).as_millis_f64();
                        came[flow].marked += u32::from(packet.ecn == Ecn::Ce);
                        count[flow] += 1;
                    }
                    Output::Dropped { packet, .. } => came[packet.flow.0 as usize].lost += 1,
                    other => panic!("{other:?}"),
                }
            }
        }
        if at == end {
            break;
        }
        let (ue, rate) = loads[index];
        next[index] = at + rate.time_to_send(size);
        let ecn = if index % 2 == 1 { Ecn::Ect1 } else { Ecn::NotEct };
        let packet = Packet { flow: FlowId(index as u32), size, ecn, payload: Sent { at, ..Sent::default() } };
        cell.handle_uplink(at, UeId(ue), packet);
    }
    for (came, count) in came.iter_mut().zip(count) {
        came.delay_ms /= f64::from(count.max(1));
    }
    came
}
fn at_snr(snr_db: f64) -> UeConfig {
    UeConfig { channel: ChannelConfig::Static(StaticConfig { snr_db }), ..UeConfig::default() }
}
fn um(ue: UeConfig) -> UeConfig {
    UeConfig { rlc: RlcConfig { mode: RlcMode::Um, ..ue.rlc.clone() }, ..ue }
}

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
    // Half a period of 5 ms, the request's slot, two slots of the scheduler's lead, four of grant delay and the packet's slot of 0.5 ms each.
    assert!((delay - (2.5 + 0.5 + 1.0 + 2.0 + 0.5)).abs() < 0.4, "{delay} ms");
    let slow = UplinkConfig { sr_period: Duration::from_millis(20), grant_delay: 8, ..UplinkConfig::default() };
    let slow = mean(&delays(&fdd(slow), &good(), 100, times()));
    assert!((slow - (10.0 + 0.5 + 1.0 + 4.0 + 0.5)).abs() < 0.9, "{slow} ms");
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
    let interval = BitRate::from_mbps(1).time_to_send(Bytes(1_000));
    let times = || every(interval, 4_000);
    let good = mean(&delays(&CellConfig::default(), &good(), 1_000, times()));
    let harq = CellConfig { target_bler: 0.3, ..CellConfig::default() };
    let bad = mean(&delays(&harq, &at_snr(9.0), 1_000, times()));
    assert!(bad > good + 0.8, "{bad} ms against {good} ms without errors");
    // Without HARQ it is RLC that sends again, after t-Reassembly and a status report.
    let rlc = CellConfig { harq_transmissions: 1, ..harq };
    let worse = mean(&delays(&rlc, &at_snr(9.0), 1_000, times()));
    assert!(worse > bad + 5.0, "{worse} ms against {bad} ms with HARQ");
}

#[test]
fn retransmissions_take_resource_blocks() {
    let rate = |target_bler, ue| {
        let config = CellConfig { target_bler, ..fdd(UplinkConfig::default()) };
        flows(&config, &[ue], [(0, 60)])[0].mbps
    };
    for ue in [at_snr(10.0), um(at_snr(10.0))] {
        let [few, some, many] = [0.1, 0.3, 0.5].map(|target| rate(target, ue.clone()));
        assert!(few > 1.03 * some && some > 1.03 * many, "{:?}: {few}, {some}, {many} Mbit/s", ue.rlc.mode);
    }
}

#[test]
fn without_acknowledgements_what_harq_gives_up_is_lost() {
    let config = CellConfig { harq_transmissions: 1, target_bler: 0.2, ..CellConfig::default() };
    let [unacknowledged] = flows(&config, &[um(at_snr(10.0))], [(0, 2)]);
    // A packet is lost with each block that carries a part of it.
    assert!((100..600).contains(&unacknowledged.lost), "{unacknowledged:?}");
    let [acknowledged] = flows(&config, &[at_snr(10.0)], [(0, 2)]);
    assert!(acknowledged.lost == 0 && acknowledged.mbps > 1.9, "{acknowledged:?}");
}

#[test]
fn layers_and_tables_are_the_uplinks_own_and_every_uplink_slot_counts() {
    let rate = |config: &CellConfig, ue: UeConfig| flows(config, &[ue], [(0, 150)])[0].mbps;
    let (usual, table) = (CellConfig::default(), McsTable::Qam256);
    let before = rate(&usual, good());
    assert_eq!(rate(&CellConfig { layers: 4, mcs_table: table, ..usual.clone() }, good()), before);
    let uplink = UplinkConfig { layers: 2, mcs_table: table, ..UplinkConfig::default() };
    let more = rate(&CellConfig { uplink, ..usual.clone() }, good());
    assert!((2.2..3.0).contains(&(more / before)), "{more} against {before} Mbit/s");
    // 30 slots of 40 instead of 2 of 10, without a whole downlink slot in the pattern.
    let mostly_up = rate(&CellConfig { tdd: "SUUU".into(), ..usual.clone() }, good());
    assert!((3.6..3.9).contains(&(mostly_up / before)), "{mostly_up} against {before} Mbit/s");
}

#[test]
fn a_loss_of_power_is_a_loss_of_snr() {
    let rate = |snr_loss_db, snr_db| {
        let uplink = UplinkConfig { snr_loss_db, ..UplinkConfig::default() };
        flows(&CellConfig { uplink, ..CellConfig::default() }, &[at_snr(snr_db)], [(0, 20)])[0].mbps
    };
    assert_eq!(rate(6.0, 16.0), rate(0.0, 10.0));
    assert!(rate(6.0, 16.0) < 0.75 * rate(0.0, 16.0));
}

fn with_l4s_bearer(flow: QosFlowConfig) -> UeConfig {
    let filter = vec![PacketFilter { ecn: vec![EcnField::Ect1], ..PacketFilter::default() }];
    UeConfig {
        drb: vec![DrbConfig { qos_flow: vec![QosFlowConfig { filter, ..flow }], ..DrbConfig::default() }],
        ..good()
    }
}

#[test]
fn a_ue_sends_what_is_important_first() {
    let ue = with_l4s_bearer(QosFlowConfig { five_qi: 80, ..QosFlowConfig::default() });
    let [bulk, video] = flows(&CellConfig::default(), &[ue], [(0, 30), (0, 2)]);
    assert!(video.delay_ms < 12.0 && video.mbps > 1.9, "{video:?}");
    assert!(bulk.delay_ms > 300.0 && bulk.mbps > 7.0, "{bulk:?}");
}

#[test]
fn strict_priority_grants_the_important_ue_first_and_round_robin_does_not() {
    let ues = [good(), with_l4s_bearer(QosFlowConfig { five_qi: 80, ..QosFlowConfig::default() })];
    let rates = |scheduler| {
        let config = CellConfig { scheduler, ..CellConfig::default() };
        flows(&config, &ues, [(0, 30), (1, 30)]).map(|came| came.mbps)
    };
    let [bulk, video] = rates(SchedulerConfig::StrictPriority(Default::default()));
    assert!(bulk < 0.5 && video > 9.0, "{bulk} and {video} Mbit/s");
    let [bulk, video] = rates(SchedulerConfig::RoundRobin(Default::default()));
    assert!((bulk / video - 1.0).abs() < 0.1, "{bulk} and {video} Mbit/s");
}

#[test]
fn a_guaranteed_rate_is_granted_first_under_every_scheduler() {
    let (gbr, mbr) = (Some(BitRate::from_mbps(6)), Some(BitRate::from_mbps(7)));
    let flow = QosFlowConfig { five_qi: 3, gbr, mbr, ..QosFlowConfig::default() };
    let ues = [good(), with_l4s_bearer(flow), good(), good()];
    for scheduler in
        [SchedulerConfig::RoundRobin(Default::default()), SchedulerConfig::StrictPriority(Default::default())]
    {
        let config = CellConfig { scheduler, ..CellConfig::default() };
        let [first, guaranteed, others @ ..] = flows(&config, &ues, [(0, 20), (1, 20), (2, 20), (3, 20)]);
        assert!((5.8..7.2).contains(&guaranteed.mbps), "{guaranteed:?}");
        assert!(others.iter().all(|other| (other.mbps / first.mbps - 1.0).abs() < 0.2), "{others:?}");
    }
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

#[test]
fn a_bearer_is_marked_by_its_own_queue_and_not_by_that_of_another() {
    let law = LawConfig::Step(StepConfig { threshold: Duration::from_millis(20), ..StepConfig::default() });
    let video = with_l4s_bearer(QosFlowConfig { five_qi: 80, ..QosFlowConfig::default() });
    let ue = UeConfig { uplink_marker: Some(MarkerConfig::with_law(law)), ..video };
    // More than the uplink carries in the default bearer, a little that goes before it in its own.
    let [bulk, video] = flows(&CellConfig::default(), std::slice::from_ref(&ue), [(0, 20), (0, 1)]);
    assert!(bulk.delay_ms > 100.0, "{bulk:?}");
    assert!(video.marked == 0 && video.delay_ms < 20.0, "{video:?}");
    // Its own queue is marked, whatever the other's.
    let [_, video] = flows(&CellConfig::default(), &[ue], [(0, 1), (0, 20)]);
    assert!(video.marked > 1_000, "{video:?}");
}

#[test]
fn a_bearer_behind_a_busy_one_has_its_prioritised_bit_rate() {
    // TS 38.321 5.4.3.1. What the important one sends in the loop of a report takes the grant for a small backlog behind it.
    let video = with_l4s_bearer(QosFlowConfig { five_qi: 80, ..QosFlowConfig::default() });
    let behind = |kbps: u64| {
        let prioritised_bit_rate = BitRate::from_bps(kbps * 1_000);
        let uplink = UplinkConfig { prioritised_bit_rate, ..UplinkConfig::default() };
        let config = CellConfig { uplink, ..CellConfig::default() };
        // One packet of 1200 bytes each 240 ms, behind 3 Mbit/s.
        let rates = [40_000, 3_000_000].map(BitRate::from_bps);
        offered(&config, std::slice::from_ref(&video), [(0, rates[0]), (0, rates[1])])
    };
    // 64 kbyte/s carry it with the next blocks, 8 a bucket at a time; without any it waits until the other leaves a gap.
    let [fast, default, none] = [512, 64, 0].map(behind);
    assert!(
        fast[0].delay_ms < 15.0 && default[0].delay_ms < 80.0 && none[0].delay_ms > 150.0,
        "{fast:?} {default:?} {none:?}"
    );
    for [_, video] in [fast, default, none] {
        assert!(video.mbps > 2.95 && video.delay_ms < 10.0, "{video:?}");
    }
}

#[test]
fn a_ue_with_a_guaranteed_rate_has_its_turns_for_the_rest_as_others_do() {
    // Of what 2 Mbit/s leave, which are due to the first UE, its default bearer has as much as the others.
    let (gbr, mbr) = (Some(BitRate::from_mbps(2)), Some(BitRate::from_mbps(2)));
    let flow = QosFlowConfig { five_qi: 3, gbr, mbr, ..QosFlowConfig::default() };
    let ues = [with_l4s_bearer(flow), good(), good()];
    let [rest, due, other, _, another] =
        flows(&CellConfig::default(), &ues, [(0, 20), (0, 3), (1, 20), (1, 1), (2, 20)]);
    assert!((1.95..2.1).contains(&due.mbps), "{due:?}");
    let others = [other, another].map(|other| other.mbps / rest.mbps);
    assert!(others.iter().all(|share| (share - 1.0).abs() < 0.1), "{others:?}");
}

#[test]
fn data_more_important_than_all_that_the_gnb_knows_of_is_asked_for() {
    // TS 38.321 5.4.5. Another UE leaves nothing to what is less important, so that the bulk is known of and not granted.
    let video = UeConfig { five_qi: 9, ..with_l4s_bearer(QosFlowConfig { five_qi: 80, ..QosFlowConfig::default() }) };
    let greedy = UeConfig { five_qi: 8, ..good() };
    let config = CellConfig { scheduler: SchedulerConfig::StrictPriority(Default::default()), ..CellConfig::default() };
    let [bulk, video, greedy] = flows(&config, &[video, greedy], [(0, 5), (0, 1), (1, 30)]);
    assert!(bulk.mbps < 0.3 && greedy.mbps > 6.0, "{bulk:?} {greedy:?}");
    assert!(video.mbps > 0.95 && video.delay_ms < 20.0, "{video:?}");
}

#[test]
fn sixteen_harq_processes_fill_a_round_trip_of_sixteen_slots_and_no_longer_one() {
    // TS 38.214 6.1. A block's own slot and the grant delay make the round trip, in FDD, where each slot goes up.
    let rate = |grant_delay| {
        let uplink = UplinkConfig { grant_delay, ..UplinkConfig::default() };
        flows(&CellConfig { scheduling_lead: Some(0), ..fdd(uplink) }, &[good()], [(0, 80)])[0].mbps
    };
    let full = rate(4);
    let shares = [15, 31, 63].map(|grant_delay| rate(grant_delay) / full);
    assert!(shares.iter().zip([1.0, 0.5, 0.25]).all(|(share, ideal)| (share / ideal - 1.0).abs() < 0.05), "{shares:?}");
}
