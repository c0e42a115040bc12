//! Changes while a cell runs: they take effect and lose nothing.

use tidemark_cell::channel::{FixedConfig, StaticConfig};
use tidemark_cell::{
    AnbrConfig, Cell, CellConfig, ChannelConfig, DropReason, HandoverData, HandoverExecution, Numbering, Output,
    RlcConfig, RlcMode, UeConfig, UeId,
};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet};
use tidemark_marker::{DropHeadConfig, LawConfig, MarkerConfig, StepConfig};

use crate::sent::Sent;

/// A cell that is kept busy: 20 Mbit/s of 1500-byte packets from now on, told what arrived when.
struct Busy {
    cell: Cell<Sent>,
    now: Instant,
    sent: u64,
    arrived: Vec<(Instant, Ecn)>,
}

impl Busy {
    fn new() -> Self {
        let mut cell = Cell::new(&CellConfig::default(), 1).unwrap();
        cell.add_ue(&UeConfig::default()).unwrap();
        Self { cell, now: Instant::ZERO, sent: 0, arrived: Vec::new() }
    }

    fn run(&mut self, millis: u64, packet_every: Option<Duration>) {
        let end = self.now + Duration::from_millis(millis);
        let mut next = self.now;
        loop {
            let packet = if packet_every.is_some() { next } else { Instant::FAR };
            let cell = self.cell.next_deadline().unwrap_or(Instant::FAR);
            if packet.min(cell) > end {
                break;
            }
            if cell <= packet {
                self.cell.handle_timeout(cell);
            } else {
                let packet = Packet { flow: FlowId(1), size: Bytes(1_500), ecn: Ecn::Ect1, payload: Sent::default() };
                self.cell.handle_downlink(next, UeId(0), packet);
                self.sent += 1;
                next += packet_every.unwrap_or_default();
            }
            while let Some(output) = self.cell.poll_output() {
                let Output::Downlink { at, packet, .. } = output else { panic!("{output:?}") };
                self.arrived.push((at, packet.ecn));
            }
        }
        self.now = end;
    }

    fn longest_gap(&self) -> Duration {
        self.arrived.windows(2).map(|pair| pair[1].0.since(pair[0].0)).max().unwrap()
    }
}

const EVERY: Option<Duration> = Some(Duration::from_micros(600));

#[test]
fn an_outage_is_as_long_as_it_was_asked_for_and_its_packets_come_later() {
    let mut busy = Busy::new();
    busy.run(200, EVERY);
    busy.cell.interrupt(busy.now, UeId(0), Duration::from_millis(300));
    busy.run(1_000, EVERY);
    busy.run(1_000, None);
    assert_eq!(busy.arrived.len() as u64, busy.sent);
    assert!((299..310).contains(&busy.longest_gap().as_millis()), "{}", busy.longest_gap());
}

#[test]
fn uplink_packets_wait_for_the_end_of_an_outage_and_overtake_nobody() {
    let mut cell = Cell::new(&CellConfig::default(), 1).unwrap();
    let ues = [(); 2].map(|()| cell.add_ue(&UeConfig::default()).unwrap());
    cell.interrupt(Instant::ZERO, ues[0], Duration::from_millis(100));
    let packet = |flow| Packet { flow: FlowId(flow), size: Bytes(40), ecn: Ecn::NotEct, payload: Sent::default() };
    for (flow, ue) in [(0, ues[0]), (1, ues[1]), (2, ues[0])] {
        cell.handle_uplink(Instant::from_millis(1), ue, packet(flow));
    }
    let mut left = Vec::new();
    while let Some(now) = cell.next_deadline() {
        cell.handle_timeout(now);
        while let Some(Output::Uplink { at, packet, .. }) = cell.poll_output() {
            left.push((packet.flow.0, at >= Instant::from_millis(100)));
        }
    }
    assert_eq!(left, [(1, false), (0, true), (2, true)]);
}

#[test]
fn a_handover_interrupts_for_a_moment_and_loses_nothing() {
    let mut busy = Busy::new();
    busy.run(200, EVERY);
    busy.cell.hand_over(busy.now, UeId(0));
    busy.run(500, EVERY);
    busy.run(1_000, None);
    assert_eq!(busy.arrived.len() as u64, busy.sent);
    assert!((40..60).contains(&busy.longest_gap().as_millis()), "{}", busy.longest_gap());
}

/// RLC below a queue above PDCP, with a pacer between them or none.
fn paced(paced: bool) -> RlcConfig {
    RlcConfig { numbering: Numbering::OnLeaving, paced, ..RlcConfig::default() }
}

/// A cell with a queue of 200 packets and some in the air, which then hands its UE over; how many arrive, how many are lost to what, and the
/// marks afterwards.
fn hand_over(handover: HandoverExecution, rlc: RlcConfig) -> (u64, Vec<DropReason>, u64) {
    let mut cell = Cell::new(&CellConfig { handover, ..CellConfig::default() }, 1).unwrap();
    let ue = cell.add_ue(&UeConfig { rlc, ..UeConfig::default() }).unwrap();
    let packet = || Packet { flow: FlowId(1), size: Bytes(1_500), ecn: Ecn::Ect1, payload: Sent::default() };
    (0..250).for_each(|_| cell.handle_downlink(Instant::ZERO, ue, packet()));
    let (mut arrived, mut lost, mut handed_over) = (0, Vec::new(), None);
    while let Some(now) = cell.next_deadline().filter(|now| *now < Instant::from_millis(2_000)) {
        cell.handle_timeout(now);
        if now >= Instant::from_millis(10) && handed_over.is_none() {
            cell.hand_over(now, ue);
            handed_over = Some(now);
        }
        while let Some(output) = cell.poll_output() {
            match output {
                Output::Downlink { at, .. } => {
                    let silent = handed_over
                        .filter(|from| (*from + Duration::from_nanos(1)..*from + INTERRUPTION).contains(&at));
                    assert!(silent.is_none(), "a packet at {at:?}, within the interruption");
                    arrived += 1;
                }
                Output::Dropped { reason, .. } => lost.push(reason),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(cell.stats().handovers, 1);
    let stats = cell.ue(Instant::from_millis(2_000), ue).unwrap();
    assert_eq!(arrived + lost.len() as u64, 250, "{stats:?}");
    (arrived, lost, stats.dropped_by_handover)
}
const INTERRUPTION: Duration = Duration::from_millis(45);

#[test]
fn a_cells_handover_forwards_or_loses_as_one_of_a_network_does() {
    let (forwarded, am) = (HandoverExecution::default(), RlcConfig::default());
    let (um, paced) = (RlcConfig { mode: RlcMode::Um, ..am.clone() }, paced(true));
    for rlc in [&am, &paced] {
        assert_eq!(hand_over(forwarded.clone(), rlc.clone()), (250, Vec::new(), 0), "{rlc:?}");
    }
    // UM sends only what it had not begun: what is in the air is lost, some slots' packets.
    let (_, lost, counted) = hand_over(forwarded, um);
    assert!((1..50).contains(&lost.len()) && counted == lost.len() as u64, "{}", lost.len());
    assert!(lost.iter().all(|reason| *reason == DropReason::Handover));
    let (arrived, lost, counted) =
        hand_over(HandoverExecution { data: HandoverData::Lost, ..HandoverExecution::default() }, am);
    assert!(arrived < 100 && counted == lost.len() as u64, "{arrived} arrived, {counted} lost");
    assert!(lost.iter().all(|reason| *reason == DropReason::Handover));
}

#[test]
fn a_law_that_drops_on_leaving_holds_up_what_follows_for_t_reordering() {
    // 100 packets at once and a law that drops the head above 1 ms: the receiver waits for SNs that never come.
    let longest = |rlc| {
        let mut cell = Cell::new(&CellConfig::default(), 1).unwrap();
        let ue = cell.add_ue(&UeConfig { rlc, ..UeConfig::default() }).unwrap();
        let above = Duration::from_millis(1);
        let law = LawConfig::DropHead(DropHeadConfig { above, flush_above: Duration::from_secs(9) });
        // Set while it runs: the default of t-Reordering follows.
        cell.set_marker(Instant::ZERO, ue, &MarkerConfig::with_law(law)).unwrap();
        for _ in 0..100 {
            let packet = Packet { flow: FlowId(1), size: Bytes(1_500), ecn: Ecn::NotEct, payload: Sent::default() };
            cell.handle_downlink(Instant::ZERO, ue, packet);
        }
        let (mut longest, mut arrived, mut dropped) = (Duration::ZERO, 0, 0);
        while let Some(now) = cell.next_deadline().filter(|now| *now < Instant::from_millis(5_000)) {
            cell.handle_timeout(now);
            while let Some(output) = cell.poll_output() {
                match output {
                    Output::Downlink { delay, .. } => {
                        arrived += 1;
                        longest = longest.max(delay.reordering);
                    }
                    Output::Dropped { reason, .. } => {
                        assert_eq!(reason, DropReason::Law);
                        dropped += 1;
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert!(dropped > 10 && arrived + dropped == 100, "{arrived} and {dropped}");
        longest.as_millis()
    };
    // What comes while the timer runs waits for the next one, if it is behind another hole (TS 38.323 5.2.2.2).
    assert!((220..=440).contains(&longest(RlcConfig::default())));
    let t_reordering = Some(Duration::from_millis(60));
    assert!((60..=120).contains(&longest(RlcConfig { t_reordering, ..RlcConfig::default() })));
    for rlc in [false, true].map(paced) {
        assert!(longest(rlc) < 20, "HARQ only");
    }
}

#[test]
fn a_worse_channel_carries_less() {
    let mut busy = Busy::new();
    let rate = |busy: &mut Busy| {
        let before = busy.arrived.len();
        busy.run(1_000, Some(Duration::from_micros(100)));
        busy.arrived.len() - before
    };
    let good = rate(&mut busy);
    busy.cell.set_channel(UeId(0), &ChannelConfig::Static(StaticConfig { snr_db: 3.0 })).unwrap();
    let bad = rate(&mut busy);
    assert!(bad * 2 < good, "{good} packets, then {bad}");
    let other_kind = ChannelConfig::Fixed(FixedConfig::default());
    assert_eq!(busy.cell.set_channel(UeId(0), &other_kind).unwrap_err().field(), "channel.model");
}

#[test]
fn a_law_takes_effect_at_once_and_marks_stay_counted() {
    let mut busy = Busy::new();
    let fast = Some(Duration::from_micros(250));
    busy.run(300, fast);
    assert!(busy.arrived.iter().all(|(_, ecn)| *ecn == Ecn::Ect1));
    let step = MarkerConfig::with_law(LawConfig::Step(StepConfig::default()));
    busy.cell.set_marker(busy.now, UeId(0), &step).unwrap();
    busy.run(300, fast);
    let marked = busy.cell.ue(busy.now, UeId(0)).unwrap().marked;
    assert!(marked > 100, "{marked}");
    busy.cell.set_marker(busy.now, UeId(0), &MarkerConfig::default()).unwrap();
    busy.run(300, fast);
    assert_eq!(busy.cell.ue(busy.now, UeId(0)).unwrap().marked, marked);
}

#[test]
fn a_query_waits_for_the_prohibit_timer_and_is_sent_once() {
    // TS 38.321 5.18.10: a triggered query goes when bitRateQueryProhibitTimer, 400 ms, lets it.
    let mut cell = Cell::new(&CellConfig::default(), 1).unwrap();
    let anbr = Some(AnbrConfig { unsolicited: false, ..AnbrConfig::default() });
    let id = cell.add_ue(&UeConfig { anbr, ..UeConfig::default() }).unwrap();
    // Downlink, LCID 4 of the default bearer (TS 38.321 6.1.3.20: LCID, direction, rate, multiplier).
    let query = [4 << 2, 0];
    let packet = || Packet { flow: FlowId(1), size: Bytes(1_500), ecn: Ecn::Ect1, payload: Sent::default() };
    let (mut asked, mut answers) = (Vec::new(), Vec::new());
    for ms in 0..1_500 {
        let now = Instant::from_millis(ms);
        cell.handle_downlink(now, id, packet());
        if [200, 250, 300, 900].contains(&ms) {
            asked.push(cell.query_bit_rate(now, id, query));
        }
        while let Some(due) = cell.next_deadline().filter(|due| *due <= now) {
            cell.handle_timeout(due);
        }
        while let Some(output) = cell.poll_output() {
            if let Output::Recommendation { at, .. } = output {
                answers.push(at.since(Instant::ZERO).as_millis());
            }
        }
    }
    assert_eq!(asked, [true, true, false, true], "the third finds the second waiting");
    // At 200 ms, when the timer ends at 600 ms, and when it ends again at 1000 ms; each takes its way up and down.
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert!(answers.iter().zip([200, 600, 1_000]).all(|(at, sent)| (sent..sent + 20).contains(at)), "{answers:?}");
}
