//! Treatment of QoS flows: a bearer and law of their own, a guaranteed rate, a maximum rate, a priority.

use tidemark_cell::channel::FixedConfig;
use tidemark_cell::{
    Cell, CellConfig, ChannelConfig, DelayBasedConfig, DrbConfig, EcnField, Output, PacketFilter, QosFlowConfig,
    SchedulerConfig, UeConfig, UeId,
};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet};
use tidemark_marker::{LawConfig, MarkerConfig, StepConfig};

use crate::sent::Sent;

/// A flow of 1500-byte packets at a constant rate.
#[derive(Clone, Copy)]
struct Load {
    ue: u32,
    flow: u32,
    ecn: Ecn,
    mbps: u64,
}

/// Rate in Mbit/s, longest delay of a packet and packets marked, of each load.
fn run(scheduler: SchedulerConfig, ues: &[UeConfig], loads: &[Load]) -> Vec<(f64, Duration, u32)> {
    let config = CellConfig { scheduler, ..CellConfig::default() };
    let mut cell = Cell::new(&config, 1).unwrap();
    for ue in ues {
        cell.add_ue(ue).unwrap();
    }
    let (seconds, mut outcome) = (4, vec![(0.0, Duration::ZERO, 0); loads.len()]);
    let end = Instant::from_millis(seconds * 1_000);
    let interval = |load: &Load| BitRate::from_mbps(load.mbps).time_to_send(Bytes(1_500));
    let mut next: Vec<_> = loads.iter().map(|_| Instant::ZERO).collect();
    loop {
        let (index, at) = next.iter().copied().enumerate().min_by_key(|(_, at)| *at).unwrap();
        let due = cell.next_deadline().unwrap_or(Instant::FAR);
        if at.min(due) >= end {
            break;
        }
        if due <= at {
            cell.handle_timeout(due);
        } else {
            let Load { ue, flow, ecn, .. } = loads[index];
            cell.handle_downlink(
                at,
                UeId(ue),
                Packet { flow: FlowId(flow), size: Bytes(1_500), ecn, payload: Sent::default() },
            );
            next[index] += interval(&loads[index]);
        }
        while let Some(output) = cell.poll_output() {
            let Output::Downlink { packet, delay, .. } = output else { panic!("{output:?}") };
            let place = loads.iter().position(|load| load.flow == packet.flow.0).unwrap();
            let (rate, longest, marked) = &mut outcome[place];
            *rate += packet.size.as_f64() * 8e-6 / seconds as f64;
            *longest = (*longest).max(delay.queuing + delay.scheduling + delay.harq + delay.rlc + delay.reordering);
            *marked += u32::from(packet.ecn == Ecn::Ce);
        }
    }
    outcome
}

/// A UE on a channel of 40 Mbit/s, with a dedicated bearer for L4S traffic.
fn ue(flow: QosFlowConfig) -> UeConfig {
    let l4s = PacketFilter { ecn: vec![EcnField::Ect1, EcnField::Ce], ..PacketFilter::default() };
    let flow = QosFlowConfig { filter: vec![l4s], ..flow };
    let step = MarkerConfig::with_law(LawConfig::Step(StepConfig::default()));
    // Sources here answer no mark. Protection would drop what the tests count.
    let marker = Some(MarkerConfig { overload_protection: false, ..step });
    let channel = ChannelConfig::Fixed(FixedConfig { rate: BitRate::from_mbps(40) });
    UeConfig {
        channel,
        drb: vec![DrbConfig { marker, qos_flow: vec![flow], ..DrbConfig::default() }],
        ..UeConfig::default()
    }
}
const L4S: Load = Load { ue: 0, flow: 1, ecn: Ecn::Ect1, mbps: 30 };
const CLASSIC: Load = Load { ue: 0, flow: 2, ecn: Ecn::Ect0, mbps: 30 };

#[test]
fn two_bearers_of_a_ue_share_it_as_two_ues_would_and_each_has_its_own_law() {
    let outcome =
        run(SchedulerConfig::RoundRobin(Default::default()), &[ue(QosFlowConfig::default())], &[L4S, CLASSIC]);
    let [(l4s, _, l4s_marks), (classic, _, classic_marks)] = outcome[..] else { panic!() };
    assert!((l4s / 20.0 - 1.0).abs() < 0.03 && (classic / 20.0 - 1.0).abs() < 0.03, "{l4s} {classic}");
    assert!(l4s_marks > 3_000 && classic_marks == 0, "{l4s_marks} {classic_marks}");
}

#[test]
fn strict_priority_serves_the_more_important_5qi_first() {
    let ue = ue(QosFlowConfig { five_qi: 80, ..QosFlowConfig::default() });
    let outcome = run(SchedulerConfig::StrictPriority(Default::default()), &[ue], &[L4S, CLASSIC]);
    assert!(outcome[0].0 > 29.5 && outcome[0].1 < Duration::from_millis(8), "{outcome:?}");
    assert!((8.5..10.5).contains(&outcome[1].0), "{outcome:?}");
}

#[test]
fn a_guaranteed_rate_is_had_under_any_scheduler_and_no_more_than_that_comes_first() {
    let gbr = Some(BitRate::from_mbps(28));
    let gbr = ue(QosFlowConfig { five_qi: 3, gbr, ..QosFlowConfig::default() });
    for scheduler in [
        SchedulerConfig::RoundRobin(Default::default()),
        SchedulerConfig::OldestFirst(Default::default()),
        SchedulerConfig::MaxRate(Default::default()),
    ] {
        let others: Vec<_> = (1..4).map(|ue| Load { ue, flow: 10 + ue, ecn: Ecn::NotEct, mbps: 20 }).collect();
        let loads = [&[L4S][..], &others].concat();
        let plain = UeConfig { drb: Vec::new(), ..gbr.clone() };
        let outcome = run(scheduler.clone(), &[gbr.clone(), plain.clone(), plain.clone(), plain], &loads);
        assert!(outcome[0].0 > 27.5, "{scheduler:?}: {outcome:?}");
        assert!(outcome[0].0 < 31.0, "{scheduler:?}: {outcome:?}");
        if matches!(scheduler, SchedulerConfig::RoundRobin(_)) {
            // What is left of 40 Mbit/s is the others' by turns.
            let others = &outcome[1..];
            assert!(others.iter().all(|other| (other.0 - 4.0).abs() < 0.2), "{others:?}");
        }
    }
}

#[test]
fn a_maximum_rate_is_kept_although_the_cell_is_free() {
    let mbr = Some(BitRate::from_mbps(10));
    let outcome = run(
        SchedulerConfig::RoundRobin(Default::default()),
        &[ue(QosFlowConfig { mbr, ..QosFlowConfig::default() })],
        &[L4S],
    );
    // And once what it brings within the delay budget of 300 ms, spread over the four seconds.
    assert!((9.9..10.8).contains(&outcome[0].0), "{outcome:?}");
}

#[test]
fn a_lifted_queue_goes_before_older_ones() {
    let video = ue(QosFlowConfig { five_qi: 80, ..QosFlowConfig::default() });
    let web = UeConfig { drb: Vec::new(), ..video.clone() };
    let loads = [Load { mbps: 10, ..L4S }, Load { ue: 1, ..CLASSIC }, Load { ue: 2, flow: 3, ..CLASSIC }];
    let longest = |lifts| {
        let scheduler = SchedulerConfig::DelayBased(DelayBasedConfig { lifts, ..DelayBasedConfig::default() });
        run(scheduler, &[video.clone(), web.clone(), web.clone()], &loads)[0].1
    };
    // 70 Mbit/s into 40: by age alone all wait alike, for seconds.
    let (lifted, alike) = (longest(vec![80]), longest(Vec::new()));
    assert!(lifted < Duration::from_millis(20) && alike > Duration::from_secs(1), "{lifted} {alike}");
}
