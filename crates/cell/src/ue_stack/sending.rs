//! Filling of a granted block: logical channel prioritisation (TS 38.321 5.4.3.1).

use tidemark_core::{BitRate, Duration, Inspect, Instant};

use super::block::UplinkBlock;
use super::buffer_status::Groups;
use super::{UeStack, UplinkBearer};
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
        let Self { first, bearers, groups, control, .. } = self;
        let index = |drb: u32| (drb - *first) as usize;
        let mut room = block.bytes.saturating_sub(format.octets);
        let statuses = control.fill_statuses(room, &mut block.control);
        block.control_bytes += statuses;
        room -= statuses;
        // A guaranteed rate comes before importance.
        if self.has_gbr {
            for drb in groups.iter().flat_map(|group| &group.drbs) {
                let bearer = &mut bearers[index(*drb)];
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
                let bearer = &mut bearers[index(drb)];
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
    fn fill(&mut self, drb: u32, (now, due): (Instant, Instant), room: u32, block: &mut UplinkBlock) -> u32 {
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
