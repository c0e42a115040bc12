//! Filling of a granted block: logical channel prioritisation (TS 38.321 5.4.3.1).

use tidemark_core::{BitRate, Duration, Inspect, Instant};

use super::block::UplinkBlock;
use super::buffer_status::Groups;
use super::{UeStack, UplinkBearer};
use crate::index::DrbIndex;
use crate::rlc::Open;

/// Rate that a bearer has of its UE's blocks, whatever more important ones have to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prioritisation {
    /// prioritisedBitRate.
    pub(crate) bit_rate: BitRate,
    /// bucketSizeDuration.
    pub(crate) bucket_size_duration: Duration,
}

impl<P: Inspect> UeStack<P> {
    /// Fills a block, which is sent at `now` and has arrived at `due`; gives what its buffer status report says, as the gNB reads it.
    pub(crate) fn send(&mut self, now: Instant, due: Instant, block: &mut UplinkBlock) -> Groups {
        // The report's length follows from what waits before anything is taken.
        let format = self.format.of_groups(self.buffer_status().iter().filter(|waiting| **waiting > 0).count());
        self.blocks += 1;
        let Self { drbs, bearers, groups, control, .. } = self;
        let drbs = *drbs;
        let mut room = block.bytes.saturating_sub(format.octets);
        let statuses = control.fill_statuses(room, &mut block.control);
        block.control_bytes += statuses;
        room -= statuses;
        // A guaranteed rate comes before importance.
        if self.has_gbr {
            for drb in groups.iter().flat_map(|group| &group.drbs) {
                let bearer = &mut bearers[drbs.position(*drb)];
                if bearer.qos.is_owed(now) {
                    room -= bearer.fill(*drb, (now, due), room, block);
                }
            }
        }
        // Who is more important leaves to those behind it what they are due of their prioritised bit rates.
        let mut behind: u32 = bearers.iter_mut().map(|bearer| bearer.due(now)).sum();
        for group in groups {
            // Equals go first by turns.
            let count = group.drbs.len();
            for drb in (0..count).map(|step| group.drbs[(self.blocks + step) % count]) {
                let bearer = &mut bearers[drbs.position(drb)];
                let own = bearer.due(now);
                behind -= own;
                let limit = room.saturating_sub(behind).max(own.min(room));
                room -= bearer.fill(drb, (now, due), limit, block);
            }
        }
        block.control_bytes += control.fill_queries(room, &mut block.control);
        self.buffer_status().map(|waiting| format.reported(waiting))
    }
}

impl<P: Inspect> UplinkBearer<P> {
    /// Bytes of what waits that the prioritised bit rate covers.
    fn due(&mut self, now: Instant) -> u32 {
        let waits = self.rlc.has_data() && self.qos.may_send(now);
        if waits { self.qos.prioritised_bytes(now).min(self.rlc.backlog()) } else { 0 }
    }

    /// Puts data of the bearer with this number into a block; gives the bytes of it with their headers.
    fn fill(&mut self, drb: DrbIndex, (now, due): (Instant, Instant), room: u32, block: &mut UplinkBlock) -> u32 {
        // Above its maximum rate it waits, with whatever it has.
        if !self.rlc.has_data() || !self.qos.may_send(now) {
            return 0;
        }
        let before = block.segments.len();
        let filled = self.rlc.fill(now, due, room, &mut block.segments, &mut Open);
        let own = block.segments.len() - before;
        // The room was too little for a segment.
        if own == 0 {
            return 0;
        }
        self.qos.sent(filled.carried);
        block.bearers.push((drb, own, filled.used));
        filled.used
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Ecn, FlowId, Packet};

    use super::*;
    use crate::config::{RlcConfig, RlcMode, UeConfig};
    use crate::index::{HarqProcess, UeDrbs};
    use crate::output::UeId;
    use crate::qos::{DrbConfig, QosFlowConfig};
    use crate::ue_stack::block::Allocation;
    use crate::ue_stack::buffer_status::BsrFormat;

    const PACKETS: u32 = 10;

    /// UE with a default bearer, 0, and a more important one, 1, in each of which ten packets of 1000 B wait.
    fn ue() -> UeStack<()> {
        let urgent =
            DrbConfig { qos_flow: vec![QosFlowConfig { five_qi: 5, ..Default::default() }], ..Default::default() };
        let rlc = RlcConfig { mode: RlcMode::Um, ..RlcConfig::default() };
        let config = UeConfig { rlc, drb: vec![urgent], ..UeConfig::default() };
        let bit_rate = BitRate::from_bps(64_000);
        let prioritisation = Prioritisation { bit_rate, bucket_size_duration: Duration::from_millis(100) };
        let mut ue = UeStack::new(UeDrbs::new(DrbIndex(0), 2), &config, BsrFormat::Long, prioritisation);
        for drb in [0, 1].map(DrbIndex).repeat(PACKETS as usize) {
            ue.push(
                Instant::ZERO,
                drb,
                1,
                Packet { flow: FlowId(0), size: Bytes(1_000), ecn: Ecn::NotEct, payload: () },
            );
        }
        ue
    }

    fn send(ue: &mut UeStack<()>, bytes: u32) -> (UplinkBlock, Groups) {
        let mut block = UplinkBlock::default();
        block.begin(UeId(0), HarqProcess::default(), Allocation { mcs: 0, prbs: 1, bytes });
        let (now, due) = (Instant::from_millis(100), Instant::from_millis(101));
        let report = ue.send(now, due, &mut block);
        (block, report)
    }

    #[test]
    fn the_important_bearer_goes_first_and_leaves_the_prioritised_rate() {
        let mut ue = ue();
        assert_eq!(ue.most_important(), Some(0));
        let before = ue.buffer_status();
        assert!(before[0] >= 10_000 && before[0] == before[1] && before[2] == 0, "{before:?}");
        let (block, report) = send(&mut ue, 4_000);
        let bytes: Vec<_> = block.bearers.iter().map(|(drb, _, bytes)| (*drb, *bytes)).collect();
        let [(DrbIndex(1), important), (DrbIndex(0), other)] = bytes[..] else { panic!("{bytes:?}") };
        // 64 kbit/s for 100 ms are 800 B.
        assert!((700..=900).contains(&other) && (3_000..=3_300).contains(&important), "{bytes:?}");
        assert!(important + other <= 4_000);
        let after = ue.buffer_status();
        assert!(report[0] >= after[0] && report[1] >= after[1], "a report rounds up");
        assert!(after[0] < before[0] && after[1] < before[1]);
    }

    #[test]
    fn what_the_gnb_has_not_received_waits_in_the_next_cell() {
        let mut ue = ue();
        send(&mut ue, 40_000);
        assert_eq!(ue.most_important(), None);
        assert!(ue.re_establish());
        assert_eq!(ue.held(FlowId(0)), Bytes(u64::from(2 * PACKETS) * 1_000));
        assert_eq!(ue.most_important(), Some(0));
    }
}
