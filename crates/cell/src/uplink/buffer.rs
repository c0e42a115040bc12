//! What waits at one UE, and what the gNB believes to wait there.

use std::collections::VecDeque;

use tidemark_core::{Bytes, FlowId, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::earlier;
use crate::output::DelaySplit;
use crate::rlc::Status;

/// PDCP, RLC and MAC headers of a packet, and of each further part of it.
const HEADERS: u32 = 3 + 3 + 3;
const PART_HEADERS: u32 = 3 + 3 + 2;
/// Less of an item than this is not worth a part of its own.
const LEAST_PART: u32 = 8;

/// What RLC and MAC of a UE have to say to the gNB themselves.
#[derive(Debug)]
pub(crate) enum Control {
    /// A status report of a bearer.
    Status { drb: u32, status: Status },
    /// A bit rate query for a bearer.
    Query { drb: u32, direction: Direction },
}

/// What arrives at the gNB.
#[derive(Debug)]
pub(crate) enum Arrived<P> {
    Packet(Packet<P>, DelaySplit),
    Control(Control),
    /// A block with so many bytes of data, and what waits behind them.
    Report {
        carried: u32,
        waiting: Bytes,
    },
}

#[derive(Debug)]
enum Content<P> {
    Packet(Packet<P>),
    Control(Control),
}

#[derive(Debug)]
struct Item<P> {
    content: Content<P>,
    /// Bytes that have not been sent, headers included.
    left: u32,
    came: Instant,
    /// When it stood at the head of the buffer.
    head: Instant,
}

/// A report on its way: from this slot on grants follow it.
#[derive(Clone, Copy, Debug)]
struct Report {
    from: u64,
    waiting: u64,
    /// What had been granted in all when it was written.
    granted: u64,
}

/// One UE.
#[derive(Debug)]
pub(crate) struct UplinkBuffer<P> {
    items: VecDeque<Item<P>>,
    /// Bytes that wait, headers included.
    waiting: u64,
    packets: u32,
    packet_bytes: Bytes,
    /// What the gNB believes to wait and has not granted.
    believed: u64,
    granted: u64,
    reports: VecDeque<Report>,
    /// The slot from which the answer to a scheduling request can be granted.
    requested: Option<u64>,
    /// Nothing overtakes on the way up.
    last_arrival: Instant,
}

impl<P> Default for UplinkBuffer<P> {
    fn default() -> Self {
        Self {
            items: VecDeque::new(),
            waiting: 0,
            packets: 0,
            packet_bytes: Bytes(0),
            believed: 0,
            granted: 0,
            reports: VecDeque::new(),
            requested: None,
            last_arrival: Instant::ZERO,
        }
    }
}

impl<P> UplinkBuffer<P> {
    pub(crate) fn push(&mut self, now: Instant, packet: Packet<P>) {
        self.packets += 1;
        self.packet_bytes += packet.size;
        let left = packet.size.0 as u32 + HEADERS;
        self.enqueue(Item { content: Content::Packet(packet), left, came: now, head: now });
    }
    /// Control goes before packets that have not been begun (TS 38.322 4.4.1).
    pub(crate) fn push_control(&mut self, now: Instant, control: Control) {
        // A status report has 12 B of headers and fields, and up to 8 B for each gap (TS 38.322 6.2.2.5); a query has 3 B.
        let left = match &control {
            Control::Status { status, .. } => 12 + 8 * status.missing.len() as u32,
            Control::Query { .. } => 3,
        };
        let item = Item { content: Content::Control(control), left, came: now, head: now };
        self.waiting += u64::from(item.left);
        let is_control = |item: &Item<P>| matches!(item.content, Content::Control(_));
        let begun = |item: &Item<P>| match &item.content {
            Content::Packet(packet) => item.left < packet.size.0 as u32 + HEADERS,
            Content::Control(_) => true,
        };
        let place = self.items.iter().position(|item| !is_control(item) && !begun(item)).unwrap_or(self.items.len());
        self.items.insert(place, item);
    }
    fn enqueue(&mut self, item: Item<P>) {
        self.waiting += u64::from(item.left);
        self.items.push_back(item);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }
    pub(crate) fn packet_bytes(&self) -> Bytes {
        self.packet_bytes
    }
    /// Forgets the cell at a handover: gives the packets that wait, with the time when they came. Control elements are gone,
    /// as RLC's state is of which they tell.
    pub(crate) fn re_establish(&mut self) -> Vec<(Instant, Packet<P>)> {
        let last_arrival = self.last_arrival;
        let old = std::mem::replace(self, Self { last_arrival, ..Self::default() });
        let packets = old.items.into_iter().filter_map(|item| match item.content {
            Content::Packet(packet) => Some((item.came, packet)),
            Content::Control(_) => None,
        });
        packets.collect()
    }
    /// IP bytes of a flow that wait.
    pub(crate) fn held(&self, flow: FlowId) -> Bytes {
        let size = |item: &Item<P>| match &item.content {
            Content::Packet(packet) if packet.flow == flow => packet.size,
            _ => Bytes(0),
        };
        self.items.iter().map(size).sum()
    }

    /// True if the UE has data of which the gNB knows nothing, and no request is on its way.
    pub(crate) fn must_request(&self) -> bool {
        let reported = self.reports.iter().any(|report| report.waiting > 0);
        !self.items.is_empty() && self.believed == 0 && !reported && self.requested.is_none()
    }
    /// A scheduling request was sent: the gNB can answer it from this slot on.
    pub(crate) fn request(&mut self, from: u64) {
        self.requested = Some(from);
    }

    /// The first slot from `slot` on in which the gNB can grant something; `None` if it knows of nothing.
    pub(crate) fn next_grant(&self, slot: u64) -> Option<u64> {
        if self.believed > 0 {
            return Some(slot);
        }
        let report = self.reports.iter().find(|report| report.waiting > 0).map(|report| report.from);
        Some(earlier(report, self.requested)?.max(slot))
    }

    /// Bytes that the gNB wants to grant in a slot; after a request, `first`.
    pub(crate) fn wanted(&mut self, slot: u64, first: u64) -> u64 {
        while self.reports.front().is_some_and(|report| report.from <= slot) {
            let Some(report) = self.reports.pop_front() else { break };
            self.believed = report.waiting.saturating_sub(self.granted - report.granted);
        }
        if self.requested.is_some_and(|from| from <= slot) {
            self.requested = None;
            self.believed = self.believed.max(first);
        }
        self.believed
    }

    /// The UE fills a block of `room` bytes that it was granted, at `now`, and reports what is left, if anything was
    /// waiting: `report` gives the octets of a report and what the gNB reads in it. From slot `heard` on the gNB can grant
    /// by it. What is complete goes to `sent` with the parts of its delay so far.
    pub(crate) fn fill(
        &mut self,
        now: Instant,
        room: u32,
        heard: u64,
        report: (u32, impl Fn(Bytes) -> Bytes),
        mut sent: impl FnMut(Arrived<P>),
    ) -> u32 {
        self.believed = self.believed.saturating_sub(u64::from(room));
        self.granted += u64::from(room);
        let (octets, reported) = report;
        let mut left = room.saturating_sub(octets);
        let mut carried = 0;
        while let Some(item) = self.items.front_mut() {
            let taken = item.left.min(left);
            if taken < LEAST_PART.min(item.left) {
                break;
            }
            carried += taken;
            left -= taken;
            item.left -= taken;
            self.waiting -= u64::from(taken);
            if item.left > 0 {
                // The rest needs headers of its own.
                item.left += PART_HEADERS;
                self.waiting += u64::from(PART_HEADERS);
                break;
            }
            let Some(item) = self.items.pop_front() else { break };
            if let Some(next) = self.items.front_mut() {
                next.head = next.head.max(now);
            }
            let split = DelaySplit {
                queuing: item.head.since(item.came),
                scheduling: now.since(item.head),
                ..DelaySplit::default()
            };
            sent(match item.content {
                Content::Packet(packet) => {
                    self.packets -= 1;
                    self.packet_bytes -= packet.size;
                    Arrived::Packet(packet, split)
                }
                Content::Control(control) => Arrived::Control(control),
            });
        }
        let waiting = reported(Bytes(self.waiting)).0;
        self.reports.push_back(Report { from: heard, waiting, granted: self.granted });
        carried
    }

    /// When a block that would come at `at` comes, behind those before it.
    pub(crate) fn in_order(&mut self, at: Instant) -> Instant {
        self.last_arrival = self.last_arrival.max(at);
        self.last_arrival
    }
    /// What the gNB believes to wait now.
    pub(crate) fn believed(&self) -> Bytes {
        Bytes(self.reports.back().map_or(self.believed, |report| report.waiting))
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Ecn;

    use super::*;

    fn packet(size: u64) -> Packet<()> {
        Packet { flow: FlowId(0), size: Bytes(size), ecn: Ecn::NotEct, payload: () }
    }
    fn fill(buffer: &mut UplinkBuffer<()>, ms: u64, room: u32, heard: u64) -> usize {
        let mut count = 0;
        buffer.fill(Instant::from_millis(ms), room, heard, (2, |waiting| waiting), |_| count += 1);
        count
    }

    #[test]
    fn a_request_a_first_grant_and_a_report_bring_everything_up() {
        let mut buffer = UplinkBuffer::default();
        (0..3).for_each(|_| buffer.push(Instant::ZERO, packet(1_000)));
        assert!(buffer.must_request());
        buffer.request(8);
        assert!(!buffer.must_request());
        assert_eq!(buffer.next_grant(2), Some(8));
        assert_eq!(buffer.wanted(8, 200), 200);
        assert_eq!(fill(&mut buffer, 4, 200, 13), 0);
        // 3 x 1009 bytes less 198 are left, and the headers of a part.
        assert_eq!(buffer.next_grant(9), Some(13));
        assert_eq!(buffer.wanted(12, 200), 0);
        assert_eq!(buffer.wanted(13, 200), 3_027 - 198 + 8);
        assert_eq!(fill(&mut buffer, 6, 3_000, 18), 3);
        assert!(buffer.is_empty());
        assert_eq!(buffer.next_grant(14), None, "the last report says that nothing waits");
    }

    #[test]
    fn what_was_granted_while_a_report_was_under_way_is_not_granted_again() {
        let mut buffer = UplinkBuffer::default();
        buffer.push(Instant::ZERO, packet(10_000));
        buffer.request(0);
        buffer.wanted(0, 100);
        fill(&mut buffer, 1, 100, 5);
        let wanted = buffer.wanted(5, 100);
        fill(&mut buffer, 2, 2_000, 10);
        fill(&mut buffer, 3, 2_000, 11);
        assert_eq!(buffer.wanted(9, 100), wanted - 4_000);
        // The report of the first block came before the second was granted.
        let after_both = buffer.wanted(11, 100);
        assert!(after_both + 4_100 < 10_100, "{after_both}");
    }

    #[test]
    fn status_reports_overtake_packets_but_not_the_one_that_was_begun() {
        let mut buffer = UplinkBuffer::default();
        (0..2).for_each(|_| buffer.push(Instant::ZERO, packet(1_000)));
        buffer.request(0);
        fill(&mut buffer, 1, 500, 5);
        buffer.push_control(Instant::from_millis(1), Control::Query { drb: 7, direction: Direction::Downlink });
        let mut order = Vec::new();
        buffer.fill(Instant::from_millis(2), 5_000, 9, (2, |waiting| waiting), |arrived| {
            order.push(matches!(arrived, Arrived::Control(_)));
        });
        assert_eq!(order, [false, true, false]);
    }
}
