//! A bearer's queue and its segmentation.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, FlowId, Inspect, Instant, Packet};
use tidemark_marker::{DrbMarker, RlcQueue, Verdict};

use super::window::{Released, Sent, Window};
use super::{Overhead, Segment};
use crate::config::{RlcConfig, RlcMode};

/// Less of an SDU than this is not worth a segment of its own.
const LEAST_SEGMENT: u32 = 8;

/// An SDU of which nothing has been sent.
#[derive(Debug)]
struct Waiting<P> {
    packet: Packet<P>,
    sn: u32,
    arrived: Instant,
}

/// The RLC entities of one bearer.
#[derive(Debug)]
pub(crate) struct Bearer<P> {
    config: RlcConfig,
    overhead: Overhead,
    queue: VecDeque<Waiting<P>>,
    /// IP bytes in the queue.
    queued: Bytes,
    window: Window<P>,
    /// Bytes of the window's last SDU that wait to be sent.
    unsent: u32,
    /// When the SDU at the head came there, unless it arrived later.
    head_since: Instant,
    /// Segments that a status report asked for.
    retransmissions: VecDeque<Segment>,
    /// PDCP SN of the SDU that was begun last.
    highest_transmitted: Option<u32>,
    /// IP bytes that were sent for the first time.
    sent: u64,
}

impl<P: Inspect> Bearer<P> {
    pub(crate) fn new(config: RlcConfig, overhead: Overhead) -> Self {
        Self {
            config,
            overhead,
            queue: VecDeque::new(),
            queued: Bytes(0),
            window: Window::default(),
            unsent: 0,
            head_since: Instant::ZERO,
            retransmissions: VecDeque::new(),
            highest_transmitted: None,
            sent: 0,
        }
    }

    /// True if another packet of this size would exceed a limit.
    pub(crate) fn is_full(&self, size: Bytes) -> bool {
        self.exceeds(self.queue.len() as u32, self.queued + size)
    }
    /// True if a queue of so many SDUs takes no other, or would exceed its limit with so many bytes.
    pub(crate) fn exceeds(&self, sdus: u32, bytes: Bytes) -> bool {
        sdus >= self.config.queue_sdus || self.config.queue_bytes.is_some_and(|limit| bytes > limit)
    }
    pub(crate) fn push(&mut self, now: Instant, sn: u32, packet: Packet<P>) {
        self.queued += packet.size;
        self.queue.push_back(Waiting { packet, sn, arrived: now });
    }
    /// The SDUs of which nothing has been sent with their PDCP SNs, oldest first.
    pub(crate) fn standing(&self) -> impl Iterator<Item = (u32, &Packet<P>)> + '_ {
        self.queue.iter().map(|waiting| (waiting.sn, &waiting.packet))
    }
    /// True if a transport block would carry something.
    pub(crate) fn has_data(&self) -> bool {
        self.unsent > 0 || !self.queue.is_empty() || !self.retransmissions.is_empty()
    }
    /// Bytes that a transport block would need to empty the bearer.
    pub(crate) fn backlog(&self) -> u32 {
        let Overhead { sdu, segment, offset } = self.overhead;
        let queued = self.queued.0 as u32 + self.queue.len() as u32 * (sdu + segment);
        let begun = if self.unsent > 0 { self.unsent + segment + offset } else { 0 };
        let again: u32 = self.retransmissions.iter().map(|lost| lost.bytes + segment + offset).sum();
        queued + begun + again
    }
    /// The queue as laws see it.
    pub(crate) fn queue_state(&self, now: Instant) -> RlcQueue {
        RlcQueue {
            backlog: self.queued + Bytes(u64::from(self.unsent)),
            packets: self.queue.len() as u32 + u32::from(self.unsent > 0),
            head_of_line: self.head_of_line(now),
        }
    }
    /// Age of the oldest SDU that waits.
    pub(crate) fn head_of_line(&self, now: Instant) -> Duration {
        self.queue.front().map_or(Duration::ZERO, |first| now.since(first.arrived))
    }
    pub(crate) fn highest_transmitted(&self) -> Option<u32> {
        self.highest_transmitted
    }
    /// IP bytes that were sent for the first time, of no header.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }
    pub(crate) fn t_reassembly(&self) -> Duration {
        self.config.t_reassembly
    }
    pub(crate) fn t_status_prohibit(&self) -> Duration {
        self.config.t_status_prohibit
    }
    pub(crate) fn mode(&self) -> RlcMode {
        self.config.mode
    }

    /// Fills a transport block with at most `room` bytes, which arrives at `due` if it does not fail: first what a
    /// status report asked for, then the SDU that was begun, then new ones, which the law may mark or drop.
    ///
    /// Returns the IP bytes of it, headers excluded.
    pub(crate) fn fill(
        &mut self,
        now: Instant,
        due: Instant,
        room: u32,
        marker: &mut DrbMarker,
        block: &mut Vec<Segment>,
        mut dropped: impl FnMut(Packet<P>),
    ) -> u32 {
        let mut left = room;
        let mut carried = 0;
        let overhead = self.overhead;
        while let Some(lost) = self.retransmissions.front_mut() {
            let taken = lost.bytes.min(left.saturating_sub(overhead.segment + overhead.offset));
            if taken < LEAST_SEGMENT.min(lost.bytes) {
                return carried;
            }
            block.push(Segment { bytes: taken, ..*lost });
            left -= taken + overhead.segment + overhead.offset;
            carried += taken;
            lost.bytes -= taken;
            if lost.bytes == 0 {
                self.retransmissions.pop_front();
            }
        }
        loop {
            let mut header = overhead.segment + overhead.offset;
            if self.unsent == 0 {
                header = overhead.segment;
                if left < header + LEAST_SEGMENT || !self.begin_next(now, marker, &mut dropped) {
                    return carried;
                }
            }
            let taken = self.unsent.min(left.saturating_sub(header));
            let Some(sent) = self.window.last_mut() else { return carried };
            if taken < LEAST_SEGMENT.min(self.unsent) {
                return carried;
            }
            sent.due = due;
            // The PDCP header goes first.
            let of_header = self.unsent.saturating_sub(sent.packet.size.0 as u32);
            self.sent += u64::from(taken.saturating_sub(of_header));
            self.unsent -= taken;
            left -= taken + header;
            carried += taken;
            if self.unsent == 0 {
                self.head_since = now;
            }
            block.push(Segment { sdu: self.window.next() - 1, bytes: taken });
        }
    }

    /// Takes the next SDU that the law lets pass from the queue into the window.
    fn begin_next(&mut self, now: Instant, marker: &mut DrbMarker, dropped: &mut impl FnMut(Packet<P>)) -> bool {
        while let Some(Waiting { mut packet, sn, arrived }) = self.queue.pop_front() {
            self.queued -= packet.size;
            match marker.handle_dequeue(now, &packet, now.since(arrived), self.queue_state(now)) {
                Verdict::Pass => {}
                Verdict::Mark => packet.ecn = packet.ecn.marked(),
                Verdict::Drop => {
                    marker.handle_discard(now, sn);
                    dropped(packet);
                    continue;
                }
            }
            self.highest_transmitted = Some(sn);
            self.unsent = packet.size.0 as u32 + self.overhead.sdu;
            let head = self.head_since.max(arrived);
            let missing = self.unsent;
            self.window.push(Sent {
                packet,
                sn,
                arrived,
                head,
                due: now,
                missing,
                retransmissions: 0,
                given_up: false,
            });
            return true;
        }
        false
    }

    /// A segment arrived at the UE.
    pub(crate) fn arrived(&mut self, segment: Segment) {
        self.window.arrived(segment);
    }
    /// The next SDU that leaves in order.
    pub(crate) fn release(&mut self, now: Instant) -> Option<Released<P>> {
        self.window.release(now)
    }
    /// The receiver asks for a segment again (AM). An SDU that was asked for too often is given up, as its bearer
    /// would be by a radio link failure.
    pub(crate) fn retransmit(&mut self, segment: Segment) {
        let limit = self.config.max_retransmissions;
        let Some(sent) = self.window.get_mut(segment.sdu) else { return };
        sent.retransmissions = sent.retransmissions.saturating_add(1);
        if sent.retransmissions > limit {
            self.give_up(segment.sdu);
        } else {
            self.retransmissions.push_back(segment);
        }
    }
    /// The receiver no longer waits for an SDU.
    pub(crate) fn give_up(&mut self, sdu: u64) {
        let Some(sent) = self.window.get_mut(sdu) else { return };
        sent.given_up = true;
        if sdu + 1 == self.window.next() {
            self.unsent = 0;
        }
        self.retransmissions.retain(|segment| segment.sdu != sdu);
    }
    /// IP bytes of a flow that are here.
    pub(crate) fn held(&self, flow: FlowId) -> Bytes {
        let waiting: Bytes =
            self.queue.iter().filter(|waiting| waiting.packet.flow == flow).map(|waiting| waiting.packet.size).sum();
        waiting + self.window.held(flow)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Ecn, Stream};
    use tidemark_marker::MarkerConfig;

    use super::*;
    use crate::config::pdcp_header;

    fn bearer(mode: RlcMode) -> (Bearer<()>, DrbMarker) {
        let config = RlcConfig { mode, ..RlcConfig::default() };
        let marker = DrbMarker::new(&MarkerConfig::default(), config.pdcp_sn, Stream::new(1, 0, "mark"));
        let overhead = Overhead::with_pdcp_header(pdcp_header(config.pdcp_sn));
        (Bearer::new(config, overhead), marker.unwrap())
    }
    fn push(bearer: &mut Bearer<()>, sn: u32, size: u64) {
        let packet = Packet { flow: FlowId(0), size: Bytes(size), ecn: Ecn::NotEct, payload: () };
        bearer.push(Instant::ZERO, sn, packet);
    }
    fn fill(bearer: &mut Bearer<()>, marker: &mut DrbMarker, ms: u64, room: u32) -> Vec<Segment> {
        let mut block = Vec::new();
        let now = Instant::from_millis(ms);
        bearer.fill(now, now + Duration::from_millis(1), room, marker, &mut block, |_| {});
        block
    }
    fn delivered(bearer: &mut Bearer<()>, ms: u64) -> Vec<(u32, DelayMs)> {
        let mut list = Vec::new();
        while let Some(Released::Delivered(_, sn, split)) = bearer.release(Instant::from_millis(ms)) {
            let ms = |span: Duration| span.as_millis();
            list.push((sn, (ms(split.queuing), ms(split.scheduling), ms(split.retransmission))));
        }
        list
    }
    type DelayMs = (u64, u64, u64);

    #[test]
    fn a_block_takes_whole_packets_and_a_part_and_never_more_than_its_room() {
        let (mut bearer, mut marker) = bearer(RlcMode::Am);
        (0..3).for_each(|sn| push(&mut bearer, sn, 1_000));
        // A packet takes 1000 + 3 and 6 bytes of headers.
        let block = fill(&mut bearer, &mut marker, 1, 1_500);
        assert_eq!(block, [Segment { sdu: 0, bytes: 1_003 }, Segment { sdu: 1, bytes: 1_500 - 1_009 - 6 }]);
        assert_eq!(bearer.highest_transmitted(), Some(1));
        assert_eq!(bearer.backlog(), (1_003 - 485) + 8 + 1_009);
        let room = bearer.backlog();
        let rest = fill(&mut bearer, &mut marker, 2, room);
        assert_eq!(rest.len(), 2);
        assert!(!bearer.has_data());
    }

    #[test]
    fn the_delay_of_a_packet_is_taken_apart_to_the_last_nanosecond() {
        let (mut bearer, mut marker) = bearer(RlcMode::Am);
        (0..2).for_each(|sn| push(&mut bearer, sn, 1_000));
        let first = fill(&mut bearer, &mut marker, 4, 1_009);
        let second = fill(&mut bearer, &mut marker, 7, 1_009);
        // The second arrives first and waits for the first, which comes at 30 ms.
        second.into_iter().for_each(|segment| bearer.arrived(segment));
        assert!(bearer.release(Instant::from_millis(8)).is_none());
        first.into_iter().for_each(|segment| bearer.arrived(segment));
        assert_eq!(delivered(&mut bearer, 30), [(0, (0, 5, 25)), (1, (4, 4, 22))]);
    }

    #[test]
    fn a_lost_segment_is_sent_again_in_parts_that_fit() {
        let (mut bearer, mut marker) = bearer(RlcMode::Am);
        push(&mut bearer, 0, 1_000);
        let lost = fill(&mut bearer, &mut marker, 1, 2_000)[0];
        bearer.retransmit(lost);
        let parts = [fill(&mut bearer, &mut marker, 2, 600), fill(&mut bearer, &mut marker, 3, 600)].concat();
        assert_eq!(parts.iter().map(|part| part.bytes).collect::<Vec<_>>(), [592, 411]);
        parts.into_iter().for_each(|part| bearer.arrived(part));
        assert_eq!(delivered(&mut bearer, 9).len(), 1);
    }

    #[test]
    fn what_is_given_up_no_longer_blocks() {
        let (mut bearer, mut marker) = bearer(RlcMode::Um);
        (0..2).for_each(|sn| push(&mut bearer, sn, 1_000));
        let block = fill(&mut bearer, &mut marker, 1, 5_000);
        bearer.arrived(block[1]);
        bearer.give_up(0);
        assert!(matches!(bearer.release(Instant::from_millis(3)), Some(Released::Lost(_))));
        assert_eq!(delivered(&mut bearer, 3).len(), 1);
        assert_eq!(bearer.held(FlowId(0)), Bytes(0));
    }

    #[test]
    fn a_full_queue_is_full_by_packets_and_by_bytes() {
        let (mut bearer, _) = bearer(RlcMode::Am);
        bearer.config.queue_sdus = 2;
        (0..2).for_each(|sn| push(&mut bearer, sn, 100));
        assert!(bearer.is_full(Bytes(1)));
        bearer.config = RlcConfig { queue_bytes: Some(Bytes(250)), ..RlcConfig::default() };
        assert!(bearer.is_full(Bytes(51)) && !bearer.is_full(Bytes(50)));
    }
}
