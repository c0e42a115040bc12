//! The interfaces for typed packets and for bytes are one engine: the same traffic gets the same verdicts and feedback.

use std::collections::VecDeque;

use crate::bytes::{Flow, Transport, checksums_are_valid, view};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Inspect, Instant, Packet, Stream, TcpView};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{
    DeliveryStatus, Dequeued, DrbMarker, DualQueue, DualQueueConfig, DualScheduler, L4SpanConfig, LawConfig,
    MarkerConfig, NotEctRule, SharedRule, SnLength, Verdict,
};
use tidemark_wire::{View, tcp, udp};

const DRB: DrbId = DrbId(1);
const QFI: u8 = 9;
const MSS: u32 = 1_361; // odd, as checksums like it least

/// The two interfaces side by side, with the same events.
struct Both {
    key: FlowKey,
    typed: DrbMarker,
    ue: Ue,
    verdicts: [u64; 3],
    rewritten: u64,
}

impl Both {
    fn new(config: &MarkerConfig) -> Self {
        let key = FlowKey::new(b"sixteen secrets!");
        let mut ue = Ue::new(key);
        ue.add_drb(DRB, &[QFI], config, SnLength::Bits18, Stream::new(4, 1, "mark")).unwrap();
        let typed = DrbMarker::new(config, SnLength::Bits18, Stream::new(4, 1, "mark")).unwrap();
        Self { key, typed, ue, verdicts: [0; 3], rewritten: 0 }
    }

    fn downlink(&mut self, now: Instant, flow: &Flow, ecn: Ecn, tcp: Option<&TcpView>, payload: u16) -> (Verdict, u64) {
        let mut bytes = match tcp {
            Some(view) => flow.tcp(true, ecn, view),
            None => flow.udp(true, ecn, payload),
        };
        let size = bytes.len() as u64;
        let protocol = if tcp.is_some() { tcp::PROTOCOL } else { udp::PROTOCOL };
        let packet = Packet {
            flow: self.key.flow(&flow.tuple(protocol)),
            size: Bytes(size),
            ecn,
            payload: Transport { tcp: tcp.copied(), rewritten: None },
        };
        let expected = self.typed.handle_downlink(now, &packet, None);
        let verdict = self.ue.downlink(now, QFI, &mut bytes);
        assert_eq!(verdict, expected, "{packet:?}");
        let after = View::parse(&mut bytes).unwrap().headers().ecn;
        assert_eq!(after, if verdict == Verdict::Mark { Ecn::Ce } else { ecn });
        assert!(checksums_are_valid(&bytes));
        self.verdicts[verdict as usize] += 1;
        (verdict, size)
    }

    fn uplink(&mut self, now: Instant, flow: &Flow, view: &TcpView) {
        let mut bytes = flow.tcp(false, Ecn::NotEct, view);
        let before = bytes.clone();
        let mut packet = Packet {
            flow: self.key.flow(&flow.tuple(tcp::PROTOCOL)),
            size: Bytes(bytes.len() as u64),
            ecn: Ecn::NotEct,
            payload: Transport { tcp: Some(*view), rewritten: None },
        };
        self.typed.handle_uplink(now, &mut packet);
        self.ue.uplink(now, &mut bytes);
        assert!(checksums_are_valid(&bytes));
        let after = View::parse(&mut bytes).unwrap().tcp().unwrap();
        let expected = packet.payload.rewritten.map_or(*view, |feedback| view.with_feedback(feedback));
        if packet.payload.rewritten.is_none() {
            assert_eq!(bytes, before);
        }
        self.rewritten += u64::from(packet.payload.rewritten.is_some());
        assert_eq!(after, expected);
    }
}

/// A random run over TCP of every feedback and UDP, IPv4 and IPv6, through a DU that reports every 5 ms.
fn run(config: &MarkerConfig, seed: u64) -> Both {
    let mut both = Both::new(config);
    let mut chance = Stream::new(seed, 0, "traffic");
    // Per flow: how it was opened, sequence numbers sent and acknowledged, and the client's counters.
    let ecns = [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1];
    let opened = [(0b111, 0b010), (0b011, 0b001), (0b000, 0b000), (0b111, 0b011)];
    let flows: Vec<Flow> = (0..4).map(|k| Flow { v6: k % 2 == 1, port: 50_000 + k }).collect();
    let mut sent = [1_001u32; 4];
    let mut acked = [1_001u32; 4];
    for (k, flow) in flows.iter().enumerate() {
        let (syn, syn_ack) = opened[k];
        both.uplink(Instant::from_millis(1), flow, &view(syn, true, None, 500, 0, None));
        both.downlink(
            Instant::from_millis(20),
            flow,
            Ecn::NotEct,
            Some(&view(syn_ack, true, Some(501), 1_000, 0, None)),
            0,
        );
        let third = if syn == 0b111 { 0b010 } else { 0 };
        both.uplink(Instant::from_millis(39), flow, &view(third, false, Some(501 + 500), 501, 0, None));
    }
    let mut queue: VecDeque<(u32, u64)> = VecDeque::new();
    let mut next_sn = 0u32;
    let mut transmitted = None;
    let mut credit = 0.0;
    for slot in 0..8_000u64 {
        let now = Instant::from_millis(40) + Duration::from_micros(500) * slot;
        for _ in 0..(chance.uniform() * 4.4) as u32 {
            let k = (chance.uniform() * 5.0) as usize;
            let (verdict, size) = if k == 4 {
                let flow = Flow { v6: chance.uniform() < 0.5, port: 60_000 + (chance.uniform() * 300.0) as u16 };
                let payload = (chance.uniform() * 1_200.0) as u16;
                both.downlink(now, &flow, ecns[payload as usize % 3], None, payload)
            } else {
                let mut segment = view(0, false, Some(501), sent[k], MSS, None);
                segment.flags.cwr = ecns[k] == Ecn::Ect0 && chance.uniform() < 0.1;
                let (verdict, size) = both.downlink(now, &flows[k], ecns[k], Some(&segment), 0);
                if verdict != Verdict::Drop {
                    sent[k] = sent[k].wrapping_add(MSS);
                }
                (verdict, size)
            };
            if verdict == Verdict::Drop {
                continue;
            }
            both.typed.handle_pdcp_pdu(now, next_sn, Bytes(size + 3));
            both.ue.pdcp_pdu(now, DRB, next_sn, Bytes(size + 3));
            if chance.uniform() < 0.01 {
                both.typed.handle_discard(now, next_sn);
                both.ue.discard(now, DRB, next_sn);
            } else {
                queue.push_back((next_sn, size + 3));
            }
            next_sn = (next_sn + 1) % (1 << 18);
        }
        credit += 2_000.0;
        while credit > 0.0 && !queue.is_empty() {
            let (sn, size) = queue.pop_front().unwrap();
            credit -= size as f64;
            transmitted = Some(sn);
        }
        if queue.is_empty() {
            credit = 0.0;
        }
        if slot % 10 == 9 {
            let report = DeliveryStatus { highest_transmitted: transmitted, ..DeliveryStatus::default() };
            both.typed.handle_report(now, &report);
            both.ue.feedback(now, DRB, &report);
        }
        let k = (chance.uniform() * 4.0) as usize;
        if acked[k] != sent[k] {
            acked[k] = sent[k];
            let ace = if k == 1 || k == 2 { 0 } else { 5 };
            let option = (k == 3).then(|| [1, 0, sent[k].wrapping_sub(1_000) & 0xFF_FFFF]);
            both.uplink(now, &flows[k], &view(ace, false, Some(acked[k]), 501, 0, option));
        }
        assert_eq!(both.ue.estimate(now, DRB), Some(both.typed.estimate(now)));
    }
    assert_eq!(both.ue.drb_counters(DRB), Some(both.typed.counters()));
    both
}

#[test]
fn both_faces_give_the_same_verdicts() {
    let shared = SharedRule::Separate;
    let law = LawConfig::L4span(L4SpanConfig { not_ect: NotEctRule::Drop, shared, ..L4SpanConfig::default() });
    for (seed, law) in
        [law, LawConfig::Ramp(Default::default()), LawConfig::Dualpi2(Default::default())].iter().enumerate()
    {
        let both = run(&MarkerConfig::with_law(*law), seed as u64);
        assert!(both.verdicts[Verdict::Mark as usize] > 200, "{law:?}: {:?}", both.verdicts);
        assert_eq!(both.rewritten, 0);
    }
}

#[test]
fn both_faces_write_the_same_feedback() {
    let law = LawConfig::L4span(L4SpanConfig { shared: SharedRule::L4s, ..L4SpanConfig::default() });
    let both = run(&MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(law) }, 9);
    let counters = both.typed.counters();
    assert!(both.rewritten > 200 && counters.short_circuited > 100, "{} rewritten, {counters:?}", both.rewritten);
    // UDP has no feedback that could be written: its packets are marked.
    assert!(both.verdicts[Verdict::Mark as usize] > 20, "{:?}", both.verdicts);
}

/// The two queues of DualPI2 hold any kind of packet: packets as bytes get the same order, marks and drops as the same packets as
/// values.
#[test]
fn two_queues_of_bytes_send_what_two_queues_of_values_send() {
    let shifted = DualScheduler::TimeShifted { shift: Duration::from_millis(50) };
    for scheduler in [shifted, DualScheduler::default()] {
        let config = DualQueueConfig { scheduler, ..DualQueueConfig::default() };
        let mut values = DualQueue::new(&config, Stream::new(6, 0, "dualq")).unwrap();
        let mut bytes = DualQueue::new(&config, Stream::new(6, 0, "dualq")).unwrap();
        let mut chance = Stream::new(6, 0, "traffic");
        // Sent, marked, dropped.
        let mut became = [0u32; 3];
        for tick in 0..20_000u64 {
            // A packet leaves every 250 us; the load swings between half of that and more than it.
            let now = Instant::ZERO + Duration::from_micros(250) * tick;
            let load = [0.5, 1.3][(tick / 4_000 % 2) as usize];
            for _ in 0..(chance.uniform() * 2.0 * load + 0.5) as u32 {
                let flow = Flow { v6: chance.uniform() < 0.5, port: (chance.uniform() * 8.0) as u16 };
                let ecn = [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1, Ecn::Ce][(chance.uniform() * 5.0) as usize];
                let mut packet = flow.udp(true, ecn, 200 + (chance.uniform() * 1_200.0) as u16);
                let headers = View::parse(&mut packet).unwrap().headers().clone();
                let (flow, size) = (FlowId(headers.five_tuple.ports.unwrap().1.into()), Bytes(headers.len as u64));
                values.enqueue(now, Packet { flow, size, ecn, payload: () }).unwrap();
                bytes.enqueue(now, Packet { flow, size, ecn: headers.ecn, payload: packet }).unwrap();
            }
            loop {
                match (bytes.dequeue(now), values.dequeue(now)) {
                    (Some(Dequeued::Drop(dropped)), Some(Dequeued::Drop(expected))) => {
                        assert_eq!(
                            (dropped.flow, dropped.size, dropped.ecn),
                            (expected.flow, expected.size, expected.ecn)
                        );
                        became[2] += 1;
                    }
                    (Some(Dequeued::Send(mut sent)), Some(Dequeued::Send(expected))) => {
                        assert_eq!((sent.flow, sent.size, sent.ecn), (expected.flow, expected.size, expected.ecn));
                        // What was decided is written where the packet leaves.
                        let mut view = View::parse(&mut sent.payload).unwrap();
                        became[usize::from(view.headers().ecn != sent.ecn)] += 1;
                        view.set_ecn(sent.ecn);
                        assert_eq!(View::parse(&mut sent.payload).unwrap().headers().ecn, expected.ecn);
                        assert!(checksums_are_valid(&sent.payload));
                        break;
                    }
                    (None, None) => break,
                    (bytes, values) => panic!("{bytes:?}, not {values:?}"),
                }
            }
        }
        assert!(became.iter().all(|count| *count > 200), "{scheduler:?}: {became:?}");
    }
}
