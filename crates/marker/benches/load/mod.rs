//! The load of both benchmarks on the packet path.
#![allow(dead_code)] // each benchmark uses its own part of it

#[path = "../../tests/common/bytes.rs"]
mod bytes;

use std::hint::black_box;

use bytes::{Flow, view};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Shard, Ue, UeHandle};
use tidemark_marker::{DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, SnLength};

const DRB: DrbId = DrbId(1);
const FLOWS: usize = 4;
/// Packets that make a queue which every law marks.
const MARKED: u32 = 128;
/// Packets that a caller has at hand at once, as from one call of `recvmmsg`.
pub const BURST: usize = 16;

/// Order in which UEs have their turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Order of set-up, each UE with the flow that is its next packet's.
    Kept,
    /// Drawn anew for each pass over all UEs, each with a flow that is drawn. A UE has an address of its own, and so other slots
    /// for its flows.
    Scattered,
}

/// A UE that something happens to, on one of its flows.
#[derive(Clone, Copy, Default)]
struct Turn {
    ue: usize,
    flow: usize,
    /// Its packet among those at hand.
    packet: usize,
}

/// Many UEs under steady load, each with the same number of SDUs queued.
pub struct Load {
    shard: Shard,
    ues: Vec<UeHandle>,
    /// Each UE's next SN, and the next that will be reported as transmitted.
    sn: Vec<u32>,
    transmitted: Vec<u32>,
    acked: Vec<[u32; FLOWS]>,
    /// Packets at hand: those of each flow, for each turn of a burst.
    data: Vec<Vec<u8>>,
    /// Acknowledgements of each flow, and the one of each turn.
    acks: Vec<Vec<u8>>,
    acks_at_hand: Vec<Vec<u8>>,
    /// Acknowledgements to come, and whose they are.
    acks_ahead: Vec<(usize, Vec<u8>)>,
    now: Instant,
    order: Order,
    /// UEs in the order of their turns, and how many of them had theirs.
    passing: Vec<u32>,
    passed: usize,
    chance: Stream,
    turn: Turn,
    turns: [Turn; BURST],
}

impl Load {
    /// A load of L4S flows under `l4span`.
    pub fn new(ues: u32, queued: u32, order: Order) -> Self {
        Self::under(LawConfig::L4span(L4SpanConfig::default()), 0, ues, queued, order)
    }

    /// A load under a law, where `classic` of a UE's four flows are classic.
    pub fn under(law: LawConfig, classic: u16, ues: u32, queued: u32, order: Order) -> Self {
        let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(law) };
        let mut shard = Shard::new(ues);
        let handles = (0..ues)
            .map(|id| {
                let mut ue = Ue::new(FlowKey::new(&[3; 16]));
                ue.add_drb(DRB, &[1], &config, SnLength::Bits18, Stream::new(1, id, "mark")).unwrap();
                for flow in flows() {
                    let mut syn = flow.tcp(false, Ecn::NotEct, &view(0b111, true, None, 1, 0, None));
                    let mut answer = flow.tcp(true, Ecn::NotEct, &view(0b010, true, Some(2), 999, 0, None));
                    if order == Order::Scattered {
                        address(&mut syn[14..16], id as usize);
                        address(&mut answer[18..20], id as usize);
                    }
                    ue.uplink(Instant::ZERO, &mut syn);
                    ue.downlink(Instant::ZERO, 1, &mut answer);
                }
                shard.add(Box::new(ue)).ok().unwrap()
            })
            .collect();
        let ecn = |flow: &Flow| if flow.port < classic { Ecn::Ect0 } else { Ecn::Ect1 };
        let data = |flow: Flow| flow.tcp(true, ecn(&flow), &view(0, false, Some(2), 1_000, 1_360, None));
        let ack = |flow: Flow| flow.tcp(false, Ecn::NotEct, &view(5, false, Some(1_000), 2, 0, Some([1, 0, 1])));
        let mut load = Self {
            shard,
            ues: handles,
            sn: vec![0; ues as usize],
            transmitted: vec![0; ues as usize],
            acked: vec![[1_000; FLOWS]; ues as usize],
            data: (0..BURST).flat_map(|_| flows().map(data)).collect(),
            acks: flows().map(ack).collect(),
            acks_at_hand: vec![Vec::new(); BURST],
            acks_ahead: Vec::new(),
            now: Instant::from_millis(100),
            order,
            passing: (0..ues).collect(),
            passed: 0,
            chance: Stream::new(1, 0, "turns"),
            turn: Turn::default(),
            turns: [Turn::default(); BURST],
        };
        load.fill(queued);
        load
    }

    /// Brings the load to where it stands.
    fn fill(&mut self, queued: u32) {
        let ues = self.ues.len() as u32;
        for _ in 0..ues * (queued + 8) {
            self.next();
            self.packet();
        }
        for _ in 0..ues * 8 {
            self.next();
            self.report();
        }
        // Every flow is marked in a queue once, so that its acknowledgements carry marks from then on, in packets and,
        // since the client's counters were seen before, in bytes.
        self.acknowledge_all();
        for _ in 0..ues {
            self.next();
            for packet in 0..MARKED as usize {
                self.take(packet % FLOWS);
                self.packet();
            }
        }
        // As many as there are marks to a flow: what is measured carries the counters on, and has no new mark to make room for.
        for _ in 0..MARKED {
            self.acknowledge_all();
        }
        for _ in 0..ues * MARKED {
            self.next();
            self.report();
        }
    }

    fn acknowledge_all(&mut self) {
        for _ in 0..self.ues.len() {
            self.next();
            for flow in 0..FLOWS {
                self.take(flow);
                self.make_ack();
                self.ack();
            }
        }
    }

    /// Acknowledgements that were rewritten so far.
    pub fn rewritten(&mut self) -> u64 {
        let counters = |ue: &UeHandle| self.shard.ue(*ue).unwrap().drb_counters(DRB).unwrap();
        self.ues.iter().map(counters).map(|counters| counters.rewritten_acks).sum()
    }

    /// Passes the turn to the next UE.
    pub fn next(&mut self) {
        self.passed += 1;
        if self.passed == self.passing.len() {
            self.begin_pass();
        }
        self.turn.ue = self.passing[self.passed] as usize;
        match self.order {
            Order::Kept => self.turn.flow = self.sn[self.turn.ue] as usize % FLOWS,
            Order::Scattered => {
                let flow = self.draw(FLOWS);
                self.take(flow);
            }
        }
    }

    #[inline(never)]
    fn begin_pass(&mut self) {
        self.passed = 0;
        self.now += Duration::from_micros(700);
        if self.order == Order::Scattered {
            for last in (1..self.passing.len()).rev() {
                let other = self.draw(last + 1);
                self.passing.swap(last, other);
            }
        }
    }

    /// A number below `bound`.
    fn draw(&mut self, bound: usize) -> usize {
        (self.chance.uniform() * bound as f64) as usize
    }

    /// The turn is this flow's, whose packet is at hand.
    fn take(&mut self, flow: usize) {
        self.turn.flow = flow;
        if self.order == Order::Scattered {
            let packet = self.data_at_hand();
            packet[1] = packet[1] & !3 | Ecn::Ect1 as u8;
            let ue = self.turn.ue;
            address(&mut self.data_at_hand()[18..20], ue);
        }
    }

    fn data_at_hand(&mut self) -> &mut [u8] {
        &mut self.data[self.turn.packet * FLOWS + self.turn.flow]
    }

    /// Takes one packet.
    pub fn downlink(&mut self) {
        let Turn { ue, flow, packet } = self.turn;
        let packet = &mut self.data[packet * FLOWS + flow];
        black_box(self.shard.ue(self.ues[ue]).unwrap().downlink(self.now, 1, packet));
    }

    /// Takes the SN that PDCP gives to the last packet.
    pub fn pdu(&mut self) {
        let ue = self.turn.ue;
        self.shard.ue(self.ues[ue]).unwrap().pdcp_pdu(self.now, DRB, self.sn[ue], Bytes(1_403));
        self.sn[ue] = (self.sn[ue] + 1) % (1 << 18);
    }

    /// Takes one packet with its PDU.
    pub fn packet(&mut self) {
        self.downlink();
        self.pdu();
    }

    /// Takes a report that moves one SDU of the UE whose turn it is, so that the load stays as it is.
    pub fn report(&mut self) {
        let ue = self.turn.ue;
        let sn = self.transmitted[ue];
        self.transmitted[ue] = (sn + 1) % (1 << 18);
        let report =
            DeliveryStatus { highest_transmitted: Some(sn), highest_delivered: Some(sn), ..Default::default() };
        self.shard.ue(self.ues[ue]).unwrap().feedback(self.now, DRB, &report);
    }

    /// Takes the acknowledgement that was made last.
    pub fn ack(&mut self) {
        let Turn { ue, packet, .. } = self.turn;
        self.shard.ue(self.ues[ue]).unwrap().uplink(self.now, &mut self.acks_at_hand[packet]);
    }

    /// Makes an acknowledgement of one more segment, with the option's counter of its bytes.
    pub fn make_ack(&mut self) {
        let Turn { ue, flow, packet } = self.turn;
        let acked = self.acked[ue][flow];
        // What is acknowledged has to be sent, now and then at least.
        if acked % (1 << 23) < 1_360 {
            self.data_at_hand()[24..28].copy_from_slice(&acked.to_be_bytes());
            self.downlink();
        }
        let acked = acked.wrapping_add(1_360);
        self.acked[ue][flow] = acked;
        let ack = &mut self.acks_at_hand[packet];
        ack.clone_from(&self.acks[flow]);
        // Both move on under a checksum that is wrong by then, which nobody looks at.
        ack[28..32].copy_from_slice(&acked.to_be_bytes());
        ack[42..45].copy_from_slice(&(acked - 999).to_be_bytes()[1..]);
        if self.order == Order::Scattered {
            address(&mut ack[14..16], ue);
        }
    }

    /// Makes this many acknowledgements ahead.
    pub fn make_acks_ahead(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
            self.make_ack();
            self.acks_ahead.push((self.turn.ue, self.acks_at_hand[self.turn.packet].clone()));
        }
    }

    /// Takes the acknowledgements that were made ahead.
    pub fn take_acks_ahead(&mut self) {
        for (ue, ack) in &mut self.acks_ahead {
            self.shard.ue(self.ues[*ue]).unwrap().uplink(self.now, ack);
        }
    }

    /// Draws the turns of a burst, and calls `before` for each.
    pub fn draw_burst(&mut self, before: fn(&mut Self)) {
        for at in 0..BURST {
            self.turn.packet = at;
            self.next();
            before(self);
            self.turns[at] = self.turn;
        }
    }

    /// Announces the UEs of the burst, as a caller does that has all of its packets or frames at hand.
    pub fn warm(&self) {
        for turn in &self.turns {
            self.shard.warm(self.ues[turn.ue], 1);
        }
    }

    /// Makes the call for each turn of the burst.
    pub fn each_of_burst(&mut self, call: fn(&mut Self)) {
        for turn in self.turns {
            self.turn = turn;
            call(self);
        }
    }

    /// Ends the burst: the next turn is that of a single call.
    pub fn end_burst(&mut self) {
        self.turn.packet = 0;
    }
}

fn flows() -> impl Iterator<Item = Flow> {
    (0..FLOWS as u16).map(|port| Flow { v6: false, port })
}

/// Lower half of a UE's IPv4 address; the checksum is wrong by then, which nobody looks at.
fn address(lower: &mut [u8], ue: usize) {
    lower.copy_from_slice(&(ue as u16).to_be_bytes());
}
