//! Filling of a granted block.

use tidemark_core::{BitRate, Duration, Inspect, Instant};

use super::block::UplinkBlock;
use super::buffer_status::Groups;
use super::{UeStack, UplinkBearer};
use crate::index::{DrbIndex, UeDrbs};
use crate::multiplexing::{Channels, Content, prioritise};
use crate::rlc::Open;

/// Rate that a bearer has in its UE's blocks, regardless of more important ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prioritisation {
    /// prioritisedBitRate.
    pub(crate) bit_rate: BitRate,
    /// bucketSizeDuration.
    pub(crate) bucket_size_duration: Duration,
}

impl<P: Inspect> UeStack<P> {
    /// Fills a block that is sent at `now` and arrives at `due`; gives its buffer status report as the gNB reads it.
    pub(crate) fn send(&mut self, now: Instant, due: Instant, block: &mut UplinkBlock) -> Groups {
        // The report's length follows from what waits before anything is taken.
        let format = self.format.of_groups(self.buffer_status().iter().filter(|waiting| **waiting > 0).count());
        let Self { drbs, bearers, groups, control, .. } = self;
        let mut room = block.bytes.saturating_sub(format.octets);
        let statuses = control.fill_statuses(room, &mut block.control);
        block.control_bytes += statuses;
        room -= statuses;
        let content = &mut block.content;
        room = prioritise(groups, room, &mut Uplink { drbs: *drbs, bearers, now, due, content });
        block.control_bytes += control.fill_queries(room, &mut block.control);
        self.buffer_status().map(|waiting| format.reported(waiting))
    }
}

/// Bearers of a UE that fill a block of the uplink.
struct Uplink<'a, P> {
    drbs: UeDrbs,
    bearers: &'a mut [UplinkBearer<P>],
    now: Instant,
    /// Time at which the block has arrived.
    due: Instant,
    content: &'a mut Content,
}

impl<P> Uplink<'_, P> {
    fn bearer(&mut self, drb: DrbIndex) -> &mut UplinkBearer<P> {
        &mut self.bearers[self.drbs.position(drb)]
    }
}

impl<P: Inspect> Channels for Uplink<'_, P> {
    fn waiting(&mut self, drb: DrbIndex) -> u32 {
        let now = self.now;
        let UplinkBearer { rlc, qos } = self.bearer(drb);
        // A flow above its maximum does not wait for this grant.
        if rlc.has_data() && qos.may_send(now) { rlc.backlog() } else { 0 }
    }

    fn is_owed(&mut self, drb: DrbIndex) -> bool {
        let now = self.now;
        self.bearer(drb).qos.is_owed(now)
    }

    fn due(&mut self, drb: DrbIndex) -> u32 {
        let (now, waiting) = (self.now, self.waiting(drb));
        // An empty queue has no part of what is guaranteed.
        if waiting > 0 { self.bearer(drb).qos.prioritised_bytes(now).min(waiting) } else { 0 }
    }

    fn fill(&mut self, drb: DrbIndex, limit: u32) -> u32 {
        let UplinkBearer { rlc, qos } = &mut self.bearers[self.drbs.position(drb)];
        // Above its maximum rate it waits, with whatever it has.
        if !rlc.has_data() || !qos.may_send(self.now) {
            return 0;
        }
        let (before, sent) = (self.content.segments.len(), rlc.sent());
        let filled = rlc.fill(self.now, self.due, limit, &mut self.content.segments, &mut Open);
        // The room was too little for a segment.
        if !self.content.add(drb, before, filled.used, rlc.sent() - sent) {
            return 0;
        }
        qos.sent(filled.carried);
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
        let bytes: Vec<_> = block.content.parts.iter().map(|part| (part.drb, part.bytes)).collect();
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
        assert_eq!(ue.packets().map(|packet| packet.size).sum::<Bytes>(), Bytes(u64::from(2 * PACKETS) * 1_000));
        assert_eq!(ue.most_important(), Some(0));
    }
}
