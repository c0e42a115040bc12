//! The load that both benchmarks put on the packet path.
#![allow(dead_code)] // each benchmark uses its own part of it

#[path = "../../tests/common/bytes.rs"]
mod bytes;

use std::hint::black_box;

use bytes::{Flow, view};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Shard, Ue, UeHandle};
use tidemark_marker::{DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, SnLength};

const DRB: DrbId = DrbId(1);
const FLOWS: u16 = 4;
/// Packets that make a queue which every law marks.
const MARKED: u32 = 128;
/// Packets that a caller has at hand at once, as from one call of `recvmmsg`.
pub const BURST: usize = 16;

/// Many UEs under steady load, each with so many SDUs queued.
pub struct Load {
    shard: Shard,
    ues: Vec<UeHandle>,
    /// Each UE's next SN, and the next that will be reported as transmitted.
    sn: Vec<u32>,
    transmitted: Vec<u32>,
    acked: Vec<u32>,
    data: Vec<Vec<u8>>,
    acks: Vec<Vec<u8>>,
    /// The acknowledgement at hand.
    ack: Vec<u8>,
    acks_at_hand: Vec<Vec<u8>>,
    now: Instant,
    turn: usize,
}

impl Load {
    pub fn new(ues: u32, queued: u32) -> Self {
        let law = LawConfig::L4span(L4SpanConfig::default());
        let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(law) };
        let mut shard = Shard::new(ues);
        let handles = (0..ues)
            .map(|id| {
                let mut ue = Ue::new(FlowKey::new(&[3; 16]));
                ue.add_drb(DRB, &[1], &config, SnLength::Bits18, Stream::new(1, id, "mark")).unwrap();
                for port in 0..FLOWS {
                    let flow = Flow { v6: false, port };
                    ue.uplink(Instant::ZERO, &mut flow.tcp(false, Ecn::NotEct, &view(0b111, true, None, 1, 0, None)));
                    let answer = view(0b010, true, Some(2), 999, 0, None);
                    ue.downlink(Instant::ZERO, 1, &mut flow.tcp(true, Ecn::NotEct, &answer));
                }
                shard.add(Box::new(ue)).ok().unwrap()
            })
            .collect();
        let data = (0..FLOWS)
            .map(|port| Flow { v6: false, port }.tcp(true, Ecn::Ect1, &view(0, false, Some(2), 1_000, 1_360, None)))
            .collect();
        let acks = (0..FLOWS)
            .map(|port| {
                Flow { v6: false, port }.tcp(false, Ecn::NotEct, &view(5, false, Some(1_000), 2, 0, Some([1, 0, 1])))
            })
            .collect();
        let mut load = Self {
            shard,
            ues: handles,
            sn: vec![0; ues as usize],
            transmitted: vec![0; ues as usize],
            acked: vec![1_000; ues as usize],
            data,
            acks,
            ack: Vec::new(),
            acks_at_hand: vec![Vec::new(); BURST],
            now: Instant::from_millis(100),
            turn: 0,
        };
        for _ in 0..ues * (queued + 8) {
            load.downlink();
            load.pdu();
        }
        for _ in 0..ues * 8 {
            load.next();
            load.report();
        }
        // Every flow is marked in a queue once, so that its acknowledgements carry marks from then on, in packets and,
        // since the client's counters were seen before, in bytes.
        for _ in 0..ues {
            load.ack();
        }
        for _ in 0..ues * MARKED {
            load.downlink();
            load.pdu();
        }
        for _ in 0..ues {
            load.ack();
        }
        for _ in 0..ues * MARKED {
            load.next();
            load.report();
        }
        load
    }

    /// Acknowledgements that were rewritten so far.
    pub fn rewritten(&mut self) -> u64 {
        let counters = |ue: &UeHandle| self.shard.ue(*ue).unwrap().drb_counters(DRB).unwrap();
        self.ues.iter().map(counters).map(|counters| counters.rewritten_acks).sum()
    }

    pub fn ues(&self) -> usize {
        self.ues.len()
    }

    /// The turn moves on by so many UEs, at the same time.
    pub fn skip(&mut self, ues: usize) {
        self.turn = (self.turn + ues) % self.ues.len();
    }

    /// The turn is the next UE's.
    pub fn next(&mut self) -> usize {
        self.turn = (self.turn + 1) % self.ues.len();
        if self.turn == 0 {
            self.now += Duration::from_micros(700);
        }
        self.turn
    }

    /// One packet.
    pub fn downlink(&mut self) {
        let k = self.next();
        let flow = (self.sn[k] % u32::from(FLOWS)) as usize;
        black_box(self.shard.ue(self.ues[k]).unwrap().downlink(self.now, 1, &mut self.data[flow]));
    }

    /// Hands over so many packets at once, each of another UE.
    pub fn downlink_burst(&mut self) {
        self.warm();
        for _ in 0..BURST {
            self.downlink();
        }
    }

    /// Hands over so many reports at once, each of another UE.
    pub fn report_burst(&mut self) {
        self.warm();
        for _ in 0..BURST {
            self.next();
            self.report();
        }
    }

    fn warm(&self) {
        for ahead in 1..=BURST {
            self.shard.warm(self.ues[(self.turn + ahead) % self.ues.len()], 1);
        }
    }

    /// PDCP numbers the packet that just came.
    pub fn pdu(&mut self) {
        let k = self.turn;
        self.shard.ue(self.ues[k]).unwrap().pdcp_pdu(self.now, DRB, self.sn[k], Bytes(1_403));
        self.sn[k] = (self.sn[k] + 1) % (1 << 18);
    }

    /// One report that moves one SDU of the UE whose turn it is, so that the load stays as it is.
    pub fn report(&mut self) {
        let k = self.turn;
        let sn = self.transmitted[k];
        self.transmitted[k] = (sn + 1) % (1 << 18);
        let report =
            DeliveryStatus { highest_transmitted: Some(sn), highest_delivered: Some(sn), ..Default::default() };
        self.shard.ue(self.ues[k]).unwrap().feedback(self.now, DRB, &report);
    }

    /// One acknowledgement of one more segment, with the option's counter of its bytes.
    pub fn ack(&mut self) {
        let k = self.next();
        let mut ack = core::mem::take(&mut self.ack);
        self.make_ack(k, &mut ack);
        self.shard.ue(self.ues[k]).unwrap().uplink(self.now, &mut ack);
        self.ack = ack;
    }

    /// The acknowledgements of the next UEs' turns, each in a buffer of its own.
    pub fn make_acks(&mut self) {
        let mut acks = core::mem::take(&mut self.acks_at_hand);
        for (ahead, ack) in (1..).zip(&mut acks) {
            self.make_ack((self.turn + ahead) % self.ues.len(), ack);
        }
        self.acks_at_hand = acks;
    }

    /// Hands all of them over at once.
    pub fn ack_burst(&mut self) {
        for at in 0..BURST {
            let k = self.next();
            self.shard.ue(self.ues[k]).unwrap().uplink(self.now, &mut self.acks_at_hand[at]);
        }
    }

    fn make_ack(&mut self, k: usize, ack: &mut Vec<u8>) {
        // What is acknowledged has to be sent, now and then at least.
        if self.acked[k] % (1 << 23) < 1_360 {
            let data = &mut self.data[k % usize::from(FLOWS)];
            data[24..28].copy_from_slice(&self.acked[k].to_be_bytes());
            black_box(self.shard.ue(self.ues[k]).unwrap().downlink(self.now, 1, data));
        }
        self.acked[k] = self.acked[k].wrapping_add(1_360);
        ack.clone_from(&self.acks[k % usize::from(FLOWS)]);
        // Both move on under a checksum that is wrong by then, which nobody looks at.
        ack[28..32].copy_from_slice(&self.acked[k].to_be_bytes());
        ack[42..45].copy_from_slice(&(self.acked[k] - 999).to_be_bytes()[1..]);
    }
}
