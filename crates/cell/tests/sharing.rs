//! UEs share a slot, and the bearers of a UE its block.

use std::collections::BTreeMap;
use std::sync::mpsc;

use proptest::prelude::*;
use tidemark_cell::channel::StaticConfig;

use tidemark_cell::{Cell, CellConfig, ChannelConfig, DrbConfig, EcnField, Event, PacketFilter, QosFlowConfig};
use tidemark_cell::{Output, RlcConfig, RlcMode, SchedulerConfig, UeConfig, UeId};
use tidemark_core::{BitRate, Bytes, Ecn, FlowId, Instant, Packet};
use tidemark_wire::mac::Direction;

use crate::sent::Sent;

/// Blocks of a slot: their UEs and resource blocks.
type Blocks = Vec<(UeId, u32)>;

/// So many milliseconds of a cell in each of which a UE is sent so many packets of 500 bytes, half of them ECT(1); downlink blocks by slot,
/// and the bytes that UEs have on each bearer.
fn run(
    config: &CellConfig,
    ue: &UeConfig,
    packets: &[u32],
    span: u64,
) -> (BTreeMap<Instant, Blocks>, BTreeMap<(UeId, u8), u64>) {
    let mut cell: Cell<Sent> = Cell::new(config, 1).unwrap();
    for _ in packets {
        cell.add_ue(ue).unwrap();
    }
    let (sender, blocks) = mpsc::channel();
    cell.observe(Box::new(move |at, bearer, event| {
        if let Event::Block { direction: Direction::Downlink, prbs, .. } = event {
            sender.send((at, bearer.ue, prbs)).unwrap();
        }
    }));
    let mut had = BTreeMap::new();
    for ms in 0..span {
        let now = Instant::from_millis(ms);
        while let Some(at) = cell.next_deadline().filter(|at| *at <= now) {
            cell.handle_timeout(at);
            while let Some(output) = cell.poll_output() {
                if let Output::Downlink { ue, drb, packet, .. } = output {
                    *had.entry((ue, drb)).or_default() += packet.size.0;
                }
            }
        }
        for (ue, count) in (0..).map(UeId).zip(packets) {
            for number in 0..*count {
                let (ecn, flow) = if number % 2 == 0 { (Ecn::Ect1, 1) } else { (Ecn::NotEct, 2) };
                cell.handle_downlink(
                    now,
                    ue,
                    Packet { flow: FlowId(flow), size: Bytes(500), ecn, payload: Sent::default() },
                );
            }
        }
    }
    let mut by_slot: BTreeMap<Instant, Blocks> = BTreeMap::new();
    blocks.try_iter().for_each(|(at, ue, prbs)| by_slot.entry(at).or_default().push((ue, prbs)));
    (by_slot, had)
}

fn ue(snr_db: f64, drb: Vec<DrbConfig>) -> UeConfig {
    let rlc = RlcConfig { mode: RlcMode::Um, ..RlcConfig::default() };
    let marker = tidemark_marker::MarkerConfig::with_law(tidemark_marker::LawConfig::None {});
    UeConfig { channel: ChannelConfig::Static(StaticConfig { snr_db }), rlc, drb, marker, ..UeConfig::default() }
}
/// A bearer for what is ECT(1).
fn l4s(flow: QosFlowConfig) -> Vec<DrbConfig> {
    let filter = vec![PacketFilter { ecn: vec![EcnField::Ect1], ..PacketFilter::default() }];
    vec![DrbConfig { qos_flow: vec![QosFlowConfig { filter, ..flow }], ..DrbConfig::default() }]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    /// Of a carrier no more is handed out than it has, to no more UEs than the limit, and nothing is idle while all have a queue.
    #[test]
    fn a_slot_has_no_more_resource_blocks_and_no_more_ues_than_it_may(
        scheduler in prop::sample::select(SchedulerConfig::all()),
        prbs in prop::sample::select(vec![24u32, 51, 106, 273]),
        packets in prop::collection::vec(0u32..6, 1..40),
        rbg_size in prop::option::of(1u32..275),
        ues_per_slot in 1u32..20,
        snr_db in 2.0f64..30.0,
    ) {
        let config = CellConfig { scheduler, prbs, rbg_size, ues_per_slot, ..CellConfig::default() };
        let (slots, _) = run(&config, &ue(snr_db, l4s(QosFlowConfig::default())), &packets, 200);
        for (at, blocks) in &slots {
            let taken = blocks.iter().map(|(_, prbs)| prbs).sum::<u32>();
            prop_assert!(taken <= prbs && blocks.len() <= ues_per_slot as usize, "{at:?}: {blocks:?}");
        }
        // At most 54 of these packets a millisecond go through the widest.
        let each = 1 + 80 / packets.len() as u32;
        let (slots, _) = run(&config, &ue(30.0, Vec::new()), &vec![each; packets.len()], 200);
        // Retransmissions keep their size, and a whole one may not fit in what another left.
        for (at, blocks) in slots.iter().skip(20) {
            let taken = blocks.iter().map(|(_, prbs)| prbs).sum::<u32>();
            prop_assert!(taken == prbs, "{at:?}: {taken} of {prbs} in {blocks:?}");
        }
    }
}

/// Two bearers had two thirds of the cell beside another UE's one, when each had blocks of its own.
#[test]
fn a_ue_has_one_block_a_slot_and_no_more_for_its_second_bearer() {
    for scheduler in [SchedulerConfig::RoundRobin(Default::default()), SchedulerConfig::default()] {
        let config = CellConfig { scheduler, ..CellConfig::default() };
        let mut cell_of_two = ue(30.0, l4s(QosFlowConfig::default()));
        cell_of_two.drb[0].marker = Some(cell_of_two.marker.clone());
        let (slots, had) = run(&config, &cell_of_two, &[20, 20], 1_000);
        for blocks in slots.values() {
            let ues: Vec<_> = blocks.iter().map(|(ue, _)| ue).collect();
            assert!(ues.len() <= 2 && ues.windows(2).all(|pair| pair[0] != pair[1]), "{blocks:?}");
        }
        let all = had.values().sum::<u64>() as f64;
        assert_eq!(had.len(), 4);
        // Bearers of one priority level have equal shares too.
        assert!(had.values().all(|had| (*had as f64 / all - 0.25).abs() < 0.01), "{had:?}");
    }
}

#[test]
fn of_a_ues_bearers_the_more_important_fills_the_block_first() {
    for scheduler in SchedulerConfig::all() {
        let config = CellConfig { scheduler, ..CellConfig::default() };
        // 5QI 80 has a lower priority level than 9. Each bearer is sent 40 Mbit/s, as much as the cell carries.
        let (_, had) =
            run(&config, &ue(30.0, l4s(QosFlowConfig { five_qi: 80, ..QosFlowConfig::default() })), &[20], 1_000);
        let mbps = |drb| had.get(&(UeId(0), drb)).map_or(0.0, |bytes| *bytes as f64 * 8e-6);
        assert!(mbps(2) > 35.0 && mbps(1) < 2.0, "{config:?}: {had:?}");
    }
}

/// What waits behind its maximum rate keeps no other bearer of its UE waiting.
#[test]
fn a_maximum_rate_holds_back_a_bearer_and_not_its_ue() {
    let mbr = Some(BitRate::from_mbps(5));
    let flow = QosFlowConfig { five_qi: 80, mbr, ..QosFlowConfig::default() };
    let (_, had) = run(&CellConfig::default(), &ue(30.0, l4s(flow)), &[20], 1_000);
    let mbps = |drb| had.get(&(UeId(0), drb)).map_or(0.0, |bytes| *bytes as f64 * 8e-6);
    assert!((4.5..6.0).contains(&mbps(2)) && mbps(1) > 30.0, "{had:?}");
}

/// The limit is no share: with one UE a slot all have as much in the end.
#[test]
fn ues_beyond_the_limit_have_the_next_slots() {
    for limit in [1, 3, 16] {
        let config = CellConfig {
            scheduler: SchedulerConfig::RoundRobin(Default::default()),
            ues_per_slot: limit,
            ..CellConfig::default()
        };
        let (_, had) = run(&config, &ue(30.0, Vec::new()), &[10; 10], 1_000);
        let (least, most) = (had.values().min().unwrap(), had.values().max().unwrap());
        assert!(had.len() == 10 && *most as f64 / (*least as f64) < 1.02, "{limit}: {had:?}");
    }
}
