//! The receiving side of an RLC AM entity: times and content of its status reports (TS 38.322 5.2.3.2, 5.3.4).

use tidemark_core::{Duration, Instant};

use super::window::Window;
use super::{RlcSn, Segment};
use crate::config::RlcConfig;

/// Gaps that one report names at most: more would not fit a transport block.
const MAX_GAPS: usize = 1_000;

/// State variables of the receiving side; SDUs are numbered from the bearer's beginning.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    /// The first SDU that is not complete.
    rx_next: u64,
    /// PDCP SN of the last one before it.
    delivered: Option<u32>,
    /// SDU behind the last one of which something came.
    rx_next_highest: u64,
    /// The ACK_SN of a report made now.
    rx_highest_status: u64,
    /// t-Reassembly: the SDU it was started for, and its end.
    reassembly: Option<(u64, Instant)>,
    /// A poll that waits until its SDU can be reported.
    polled: Option<u64>,
    triggered: bool,
    /// The end of t-StatusProhibit.
    allowed: Instant,
}

impl Receiver {
    /// Begins at the first SDU of an entity.
    pub(super) fn beginning(sdu: u64) -> Self {
        Self { rx_next: sdu, rx_next_highest: sdu, rx_highest_status: sdu, ..Self::default() }
    }

    /// Notes a segment that the receive window has already accepted. False if it changes nothing of reports and timers.
    pub(super) fn arrived<P>(
        &mut self,
        now: Instant,
        window: &Window<P>,
        segment: Segment,
        t_reassembly: Duration,
    ) -> bool {
        self.rx_next_highest = self.rx_next_highest.max(segment.sdu + 1);
        // Most segments: an SDU takes several blocks where many UEs share a slot.
        if self.is_continued(window, segment) {
            return false;
        }
        self.advance(window);
        // The gap that t-Reassembly was started for is closed: nothing is left to report of it (TS 38.322 5.2.3.2).
        if let Some((trigger, _)) = self.reassembly
            && (trigger <= self.rx_next || trigger == self.rx_next + 1 && !window.has_gap(self.rx_next))
        {
            self.reassembly = None;
        }
        self.watch(now, window, self.rx_next, t_reassembly);
        if segment.poll {
            // A poll for an SDU below RX_Highest_Status is answered at once; another waits until that passes it (TS 38.322 5.3.4).
            self.triggered |= segment.sdu < self.rx_highest_status;
            self.polled = self.polled.max(Some(segment.sdu));
        }
        self.answer_poll();
        true
    }

    /// True for a segment without a poll of the only SDU of which a part is missing.
    fn is_continued<P>(&self, window: &Window<P>, segment: Segment) -> bool {
        let sdu = segment.sdu;
        let is_only = self.rx_next == sdu && self.rx_highest_status == sdu && self.rx_next_highest == sdu + 1;
        is_only && !segment.poll && self.reassembly.is_none() && window.is_continued(sdu)
    }

    /// Advances both variables to SDUs that have not arrived. PDCP's discarded SNs lie between SDUs, and what the sender gave up is
    /// over: RLC numbers its SDUs without them.
    fn advance<P>(&mut self, window: &Window<P>) {
        while window.is_over(self.rx_next) {
            let whole = window.get(self.rx_next).filter(|sent| sent.complete.is_some());
            self.delivered = whole.map(|sent| sent.sn).or(self.delivered);
            self.rx_next += 1;
        }
        self.rx_highest_status = window.missing_from(self.rx_highest_status.max(self.rx_next));
    }

    /// Starts t-Reassembly if an SDU from `from` on has a gap.
    fn watch<P>(&mut self, now: Instant, window: &Window<P>, from: u64, t_reassembly: Duration) {
        let has_gap = || self.rx_next_highest > from + 1 || self.rx_next_highest == from + 1 && window.has_gap(from);
        // HARQ may still bring what is missing: only after the timer it is asked for.
        if self.reassembly.is_none() && has_gap() {
            self.reassembly = Some((self.rx_next_highest, now + t_reassembly));
        }
    }
    fn answer_poll(&mut self) {
        // A poll is answered once all before it is known, or its answer would name what is only late (TS 38.322 5.3.4).
        if self.polled.is_some_and(|sdu| sdu < self.rx_highest_status) {
            self.polled = None;
            self.triggered = true;
        }
    }

    /// Gives the end of t-Reassembly.
    pub(super) fn reassembly_ends(&self) -> Option<Instant> {
        self.reassembly.map(|(_, end)| end)
    }
    /// t-Reassembly has ended, if it has.
    pub(super) fn expire<P>(&mut self, now: Instant, window: &Window<P>, t_reassembly: Duration) {
        let Some((trigger, _)) = self.reassembly.filter(|(_, end)| *end <= now) else { return };
        self.reassembly = None;
        self.advance(window);
        self.rx_highest_status = window.missing_from(trigger.max(self.rx_next));
        self.triggered = true;
        self.watch(now, window, self.rx_highest_status, t_reassembly);
        self.answer_poll();
    }

    /// Gives the time at which a report that is due may be made; `None` if none is due.
    pub(super) fn report_due(&self, now: Instant) -> Option<Instant> {
        self.triggered.then(|| self.allowed.max(now))
    }
    /// Makes the report: its ACK_SN, and the segments that it names as missing.
    pub(super) fn report<P>(&mut self, now: Instant, window: &Window<P>, config: &RlcConfig) -> Status {
        self.triggered = false;
        self.allowed = now + config.t_status_prohibit;
        let gaps = |sdu: u64| {
            let sent = window.get(sdu).filter(|sent| sent.complete.is_none());
            let missing = sent.into_iter().flat_map(|sent| sent.received.missing(sent.size));
            missing.map(move |(from, to)| Segment { sdu, offset: from, bytes: to - from, poll: false })
        };
        let mut missing: Vec<_> = (self.rx_next..self.rx_highest_status).flat_map(gaps).take(MAX_GAPS + 1).collect();
        let mut ack_sn = self.rx_highest_status;
        if missing.len() > MAX_GAPS {
            // What does not fit is left out whole, and not acknowledged.
            ack_sn = missing[MAX_GAPS].sdu;
            missing.retain(|segment| segment.sdu < ack_sn);
        }
        let octets = octets(&missing, window, config.rlc_sn());
        Status { ack_sn, missing, delivered: self.delivered, octets }
    }
}

/// Bytes of the STATUS PDU that names these (TS 38.322 6.2.2.5).
fn octets<P>(missing: &[Segment], window: &Window<P>, sn: RlcSn) -> u32 {
    let mut octets = FIXED;
    // The SDU behind the last NACK_SN if it is missing to its end, how many SDUs that speaks of, and whether it has offsets.
    let (mut next, mut range, mut has_offsets) = (None, 0, false);
    for part in missing {
        let ends = window.get(part.sdu).is_none_or(|sent| part.offset + part.bytes >= sent.size);
        let goes_on = next == Some(part.sdu) && part.offset == 0 && range < MAX_RANGE;
        if goes_on {
            // The second SDU of a range turns a NACK into one with a range (TS 38.322 6.2.2.5).
            octets += if range == 1 { NACK_RANGE } else { 0 };
            range += 1;
        } else {
            octets += sn.octets();
            (range, has_offsets) = (1, false);
        }
        // Offsets are there once for a NACK, for a whole SDU not at all.
        if (part.offset > 0 || !ends) && !has_offsets {
            octets += OFFSETS;
            has_offsets = true;
        }
        next = ends.then_some(part.sdu + 1);
    }
    octets
}

/// D/C, CPT, ACK_SN and E1: as many octets with either SN.
const FIXED: u32 = 3;
/// SOstart and SOend.
const OFFSETS: u32 = 4;
/// NACK range: consecutive SDUs that are missing.
const NACK_RANGE: u32 = 1;
const MAX_RANGE: u32 = 255;

/// A status report.
#[derive(Debug, Default)]
pub(crate) struct Status {
    /// First SDU of which nothing is known: everything below has arrived, unless it is named as missing.
    pub(crate) ack_sn: u64,
    pub(crate) missing: Vec<Segment>,
    /// PDCP SN of the last SDU before the first gap, if there is one.
    pub(crate) delivered: Option<u32>,
    /// Bytes of the PDU.
    pub(crate) octets: u32,
}
