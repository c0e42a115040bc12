//! AccECN (RFC 9768): the node adds its marks to the client's counters.
//!
//! The sender sees `client + added` in the ACE field and in the option's CE bytes. From the ECT bytes, the bytes that became CE are
//! subtracted. Marks are pending until an acknowledgement has room for them:
//!
//! - in packets, it has room for the packets that it newly acknowledges, minus those that the client itself counted, and for no
//!   more than the three bits can count;
//! - in bytes, it has room for the bytes that it newly acknowledges, but no more than the growth of the option's ECT counter, so
//!   that no counter ever goes backwards. Bytes are never carried before their packets.
//!
//! Marks that a flight could not carry are let go. So after a storm of marks at most one flight of them is carried. Marks let go are
//! counted, and the next packet is marked instead, so that the sender still learns of the queue. The option has no CE counter until
//! the client has seen CE itself. The bytes of marks carried before that are let go too: the sender assumes full segments for their
//! packets, and would take the bytes for new marks when the counter appears.
//!
//! The first feedback of a connection is never made zero, and a zero from the client is never hidden. The sender takes a zero as the
//! sign of a field cleared on the path, and then does without ECN (RFC 9768 3.2.2.4). Marks that would change this wait.
//!
//! A client may acknowledge more segments at once than the field has room for marks, if it receives them in bundles. Or it may
//! acknowledge none, while it waits for a lost segment. In both cases further marks are set on the packets themselves, which the
//! client has to acknowledge in time (section 3.2.2.5.1).
//!
//! An acknowledgement that a later one overtook gets the counters of the later one, so that the sender learns nothing new from it.

use tidemark_core::packet::{AccEcnChange, AccEcnCounters};
use tidemark_core::{TcpFeedback, TcpView};

use super::segments::Segments;
use crate::relocation::{AccEcnRecord, Wrong, check, flag};

const MASK: u32 = (1 << 24) - 1;
/// Initial values of the client's counters (RFC 9768 3.2.1).
const FIRST_CEP: u8 = 5;
/// Marks that the ACE field can count at once: it has three bits.
const MAX_ACE_MARKS: u16 = 7;
/// Bytes by which an acknowledgement may be ahead of the data seen here, since part of a flow may pass elsewhere. One further ahead is for
/// data never sent. Its sender ignores it (RFC 9293 3.10.7.4), and if it changed the state, all others would seem old.
const MAX_AHEAD: u32 = 1 << 24;

#[derive(Clone, Copy, Debug)]
pub(crate) struct AccEcn {
    /// Sequence number at which the server's data begins.
    start: u32,
    /// A pure ACK of the start carries the SYN/ACK's ECN field and no counter.
    is_opening: bool,
    /// Marks were let go, and no packet was marked in their place yet.
    owes: bool,
    /// Highest acknowledgement number passed upwards.
    ack: u32,
    segments: Segments,
    /// Marks that no acknowledgement has carried yet, and how many may wait for one.
    pending_packets: u16,
    limit: u16,
    pending_bytes: u32,
    /// Bytes of marks whose packets were counted already.
    due_bytes: u32,
    /// Bytes acknowledged that no counted mark has taken.
    room_bytes: u32,
    /// The client's ACE field and option as they last came.
    client_ace: u8,
    client: Counters,
    /// Sums added to the client's packet counter (modulo 8) and to its CE bytes (modulo 2^24), and how many of
    /// those bytes came from ECT(0) instead of ECT(1).
    added_packets: u8,
    added_ce: u32,
    added_from_ect0: u32,
}

/// The option's counters as they were last seen; `None` until then. A fourth byte stands for `None`, which keeps a
/// flow within two cache lines.
#[derive(Clone, Copy, Debug)]
struct Counters {
    e0b: u32,
    ceb: u32,
    e1b: u32,
}

const UNSEEN: u32 = u32::MAX;

impl Counters {
    const UNSEEN: Self = Self { e0b: UNSEEN, ceb: UNSEEN, e1b: UNSEEN };

    fn note(&mut self, fields: &AccEcnCounters) {
        self.e0b = fields.e0b.unwrap_or(self.e0b);
        self.ceb = fields.ceb.unwrap_or(self.ceb);
        self.e1b = fields.e1b.unwrap_or(self.e1b);
    }
}

fn seen(counter: u32) -> Option<u32> {
    (counter != UNSEEN).then_some(counter)
}

impl AccEcn {
    /// A connection whose server's data begins with the sequence number `start`. With `is_clients` the client opened it.
    pub(crate) fn new(start: u32, is_clients: bool) -> Self {
        Self {
            start,
            is_opening: is_clients,
            owes: false,
            ack: start,
            segments: Segments::new(start),
            pending_packets: 0,
            limit: u16::MAX,
            pending_bytes: 0,
            due_bytes: 0,
            room_bytes: 0,
            client_ace: FIRST_CEP,
            client: Counters::UNSEEN,
            added_packets: 0,
            added_ce: 0,
            added_from_ect0: 0,
        }
    }

    /// State for another CU-UP.
    pub(crate) fn export(&self) -> AccEcnRecord {
        AccEcnRecord {
            start: self.start.into(),
            ack: self.ack.into(),
            segments: self.segments.export(),
            pending_packets: self.pending_packets.into(),
            limit: self.limit.into(),
            pending_bytes: self.pending_bytes.into(),
            due_bytes: self.due_bytes.into(),
            room_bytes: self.room_bytes.into(),
            client_e0b: self.client.e0b.into(),
            client_ceb: self.client.ceb.into(),
            client_e1b: self.client.e1b.into(),
            added_ce: self.added_ce.into(),
            added_from_ect0: self.added_from_ect0.into(),
            added_packets: self.added_packets,
            client_ace: self.client_ace,
            is_opening: self.is_opening.into(),
            owes: self.owes.into(),
        }
    }

    /// State from another CU-UP. Any numbers are accepted: acknowledgements bound the marks that the sender reads.
    pub(crate) fn import(record: &AccEcnRecord) -> Result<Self, Wrong> {
        let client =
            Counters { e0b: record.client_e0b.get(), ceb: record.client_ceb.get(), e1b: record.client_e1b.get() };
        let is_counter = |counter: u32| counter <= MASK || counter == UNSEEN;
        let are_counters = [client.e0b, client.ceb, client.e1b].into_iter().all(is_counter);
        check(are_counters, "client_e0b, client_ceb, client_e1b", "must be below 2^24, or 2^32 - 1")?;
        let (added_ce, added_from_ect0) = (record.added_ce.get(), record.added_from_ect0.get());
        check(added_ce.max(added_from_ect0) <= MASK, "added_ce, added_from_ect0", "must be below 2^24")?;
        check(record.added_packets.max(record.client_ace) <= 7, "added_packets, client_ace", "must be below 8")?;
        check(record.limit.get() > 0, "limit", "must be above 0")?;
        Ok(Self {
            start: record.start.get(),
            is_opening: flag(record.is_opening, "is_opening")?,
            owes: flag(record.owes, "owes")?,
            ack: record.ack.get(),
            segments: Segments::import(&record.segments)?,
            pending_packets: record.pending_packets.get(),
            limit: record.limit.get(),
            pending_bytes: record.pending_bytes.get(),
            due_bytes: record.due_bytes.get(),
            room_bytes: record.room_bytes.get(),
            client_ace: record.client_ace,
            client,
            added_packets: record.added_packets,
            added_ce,
            added_from_ect0,
        })
    }

    /// True if something is added to what the client counts.
    pub(crate) fn has_signalled(&self) -> bool {
        self.added_packets != 0 || self.added_ce != 0
    }

    /// Marks that no acknowledgement has carried yet.
    pub(crate) fn pending(&self) -> u32 {
        self.pending_packets.into()
    }

    /// A segment passes downwards. True if it should be marked in place of marks that were let go.
    #[inline]
    pub(crate) fn downlink(&mut self, tcp: &TcpView) -> bool {
        self.segments.send(tcp.seq, tcp.payload, self.ack);
        self.owes && tcp.payload > 0
    }

    /// The packet at hand was marked in place of marks that were let go.
    pub(crate) fn settle(&mut self) {
        self.owes = false;
    }

    /// True if acknowledgements will carry the mark.
    #[inline]
    pub(crate) fn mark(&mut self, tcp: &TcpView) -> bool {
        // No acknowledgement is expected to have room: this packet carries its mark itself, which the client has to acknowledge in
        // time (RFC 9768 3.2.2.5.1).
        if self.pending_packets >= self.limit {
            return false;
        }
        self.pending_packets += 1;
        self.pending_bytes = self.pending_bytes.saturating_add(tcp.payload);
        true
    }

    /// Handles an uplink segment. Marks that no acknowledgement will carry any more are added to `marks_let_go`.
    #[inline]
    pub(crate) fn uplink(&mut self, tcp: &TcpView, marks_let_go: &mut u32) -> Option<TcpFeedback> {
        let beyond = tcp.ack.wrapping_sub(self.segments.end()).cast_signed();
        // The handshake's last segment has no counter to add to (RFC 9768 3.2.2.1); data in it would make it one.
        if (self.is_opening && tcp.ack == self.start && tcp.payload == 0) || beyond > MAX_AHEAD.cast_signed() {
            return None;
        }
        let ace = tcp.flags.ace();
        let advance = tcp.ack.wrapping_sub(self.ack) as i32;
        let counted = ace.wrapping_sub(self.client_ace) & 7;
        // Overtaken: the sender has read the later one, and an older counter with new marks would look like a step of nearly eight.
        if advance < 0 || (advance == 0 && self.is_overtaken(tcp, counted)) {
            let mut fields = Counters::UNSEEN;
            // What the client told in its option is told with marks added, as ACE is.
            if let Some(counters) = &tcp.accecn {
                fields.note(counters);
            }
            return self.repeat(ace, fields);
        }
        // An acknowledgement that advances nothing doesn't show that the opening is over.
        if advance > 0 {
            self.is_opening = false;
            let is_wide = advance as u32 > u32::from(MAX_ACE_MARKS) * self.segments.size();
            // Many segments at once: the three bits of ACE can't tell more marks than that apart (RFC 9768 3.2.2.5).
            self.limit = if is_wide { MAX_ACE_MARKS } else { u16::MAX };
        } else if tcp.payload == 0 {
            // A segment is missing: what follows it is acknowledged all at once when it has come.
            self.limit = MAX_ACE_MARKS;
        }
        let before = self.ack;
        self.ack = tcp.ack;
        self.client_ace = ace;
        // Mostly there are none, and a division is the dearest thing here.
        if self.pending_packets > 0 && advance > 0 {
            self.release_packets(before, counted);
        }
        self.room_bytes = self.room_bytes.saturating_add(advance as u32);
        // The option is not in each acknowledgement (RFC 9768 3.2.3.3): where it is missing, the last one stands.
        if let Some(fields) = &tcp.accecn {
            self.release_bytes(fields);
            self.client.note(fields);
        }
        self.let_go(marks_let_go);
        let changes = self.added_packets != 0 || (self.added_ce != 0 && tcp.accecn.is_some());
        changes.then(|| TcpFeedback::AccEcn(self.added()))
    }

    /// Change that gives an acknowledgement the counters of the last one.
    // Given what it needs of the segment, so that no other's view need be put together in memory.
    #[cold]
    fn repeat(&self, ace: u8, fields: Counters) -> Option<TcpFeedback> {
        let added = self.added();
        let change = |field: u32, last: u32, added: u32| {
            // A counter that is not in this option has not changed for its reader.
            let Some(field) = seen(field) else { return 0 };
            seen(last).unwrap_or(field).wrapping_sub(field).wrapping_add(added) & MASK
        };
        let change = AccEcnChange {
            ace: self.client_ace.wrapping_sub(ace).wrapping_add(added.ace) & 7,
            e0b: change(fields.e0b, self.client.e0b, added.e0b),
            ceb: change(fields.ceb, self.client.ceb, added.ceb),
            e1b: change(fields.e1b, self.client.e1b, added.e1b),
        };
        (change != AccEcnChange::default()).then_some(TcpFeedback::AccEcn(change))
    }

    /// Forgets marks beyond those that the acknowledgements of what is under way can be about.
    #[inline]
    fn let_go(&mut self, marks_let_go: &mut u32) {
        let flight = self.segments.end().wrapping_sub(self.ack).cast_signed().max(0).cast_unsigned();
        if self.pending_packets > 0 {
            self.let_go_packets(marks_let_go);
        }
        self.pending_bytes = self.pending_bytes.min(flight);
        let has_byte_counter = seen(self.client.ceb).is_some();
        // A client without the option is told by ACE alone, and bytes would wait for ever.
        self.due_bytes = if has_byte_counter { self.due_bytes.min(flight) } else { 0 };
    }

    /// True for an acknowledgement with the same number as the last one that was sent before it: its counters are behind. The
    /// client reports at least every third mark (RFC 9768 3.2.2.5.1), so a step of five or more is a step backwards.
    #[inline]
    fn is_overtaken(&self, tcp: &TcpView, counted: u8) -> bool {
        match (tcp.accecn.and_then(|fields| fields.ceb), seen(self.client.ceb)) {
            (Some(now), Some(before)) => behind(now, before),
            _ => counted >= 5,
        }
    }

    /// Segments under way bound the acknowledgements that can still come, and the marks that these could carry.
    #[cold]
    #[inline(never)]
    fn let_go_packets(&mut self, marks_let_go: &mut u32) {
        let room = self.segments.between(self.ack, self.segments.end()).min(u16::MAX.into()) as u16;
        // More marks wait than acknowledgements could tell: the flow's next packet is marked in their place.
        if let Some(excess) = self.pending_packets.checked_sub(room).filter(|excess| *excess > 0) {
            *marks_let_go = marks_let_go.saturating_add(excess.into());
            (self.pending_packets, self.owes) = (room, true);
        }
        // More than the field tells at once wait for one acknowledgement after another: no more of them than can still come.
        if self.pending_packets >= room.min(MAX_ACE_MARKS) && room > 0 {
            self.limit = self.limit.min(room);
        }
    }

    /// Carries as many marks as the segments acknowledged since `before` have room for.
    fn release_packets(&mut self, before: u32, counted: u8) {
        let packets = self.segments.between(before, self.ack);
        // More segments than three bits count: an acknowledgement may tell no more marks than that (RFC 9768 3.2.2.5).
        self.limit = if packets > MAX_ACE_MARKS.into() { MAX_ACE_MARKS } else { u16::MAX };
        let room = packets.min(MAX_ACE_MARKS.into()).saturating_sub(u32::from(counted)) as u16;
        let mut released = self.pending_packets.min(room);
        // A field of zero in the first feedback means that somebody clears it (RFC 9768 3.2.2.4): it stays, and is made by no mark.
        if before.wrapping_sub(self.start) <= self.segments.first() {
            let field = u16::from(self.client_ace + self.added_packets) + released;
            // Zero came: whoever clears the field must not be made to look as if he did not.
            if self.client_ace == 0 {
                released = 0;
            } else if field & 7 == 0 {
                // The sum would be zero by wrapping, which reads like a cleared field: one mark waits.
                released = released.saturating_sub(1);
            }
        }
        // No room in this acknowledgement: marks wait for the next.
        if released == 0 {
            return;
        }
        let bytes = (u64::from(self.pending_bytes) * u64::from(released) / u64::from(self.pending_packets)) as u32;
        self.pending_packets -= released;
        self.pending_bytes -= bytes;
        self.due_bytes = self.due_bytes.saturating_add(bytes);
        self.added_packets = (self.added_packets + released as u8) & 7;
    }

    /// Moves bytes that are due from the option's ECT counters to its CE counter, as far as these counters have grown.
    #[inline]
    fn release_bytes(&mut self, fields: &AccEcnCounters) {
        // An option without the CE counter has no place for marked bytes.
        let Some(ceb) = fields.ceb else { return };
        // Bytes that the client itself counted as CE are taken: a byte is marked once.
        if let Some(before) = seen(self.client.ceb) {
            self.room_bytes = self.room_bytes.saturating_sub(ceb.wrapping_sub(before) & MASK);
        }
        // ECT(1) first: a flow sends one of the two.
        for (field, before, is_ect0) in [(fields.e1b, self.client.e1b, false), (fields.e0b, self.client.e0b, true)] {
            let room = self.room_bytes.min(self.due_bytes);
            // Counters may not run ahead of the bytes that were acknowledged.
            if room == 0 {
                return;
            }
            // A counter that never came has no value to add to.
            let (Some(field), Some(before)) = (field, seen(before)) else { continue };
            let grown = field.wrapping_sub(before) & MASK;
            // More than half of the counter's range is a step backwards, of an option that was overtaken.
            let moved = if grown > MASK / 2 { 0 } else { room.min(grown) };
            self.room_bytes -= moved;
            self.due_bytes -= moved;
            self.added_ce = self.added_ce.wrapping_add(moved) & MASK;
            // CE grows by what was ECT(0): that counter must shrink by the same bytes.
            if is_ect0 {
                self.added_from_ect0 = self.added_from_ect0.wrapping_add(moved) & MASK;
            }
        }
    }

    /// The marks that the client's counters lack.
    #[inline]
    fn added(&self) -> AccEcnChange {
        AccEcnChange {
            ace: self.added_packets,
            e0b: self.added_from_ect0.wrapping_neg(),
            ceb: self.added_ce,
            e1b: self.added_from_ect0.wrapping_sub(self.added_ce),
        }
    }
}

/// True if a 24-bit counter has an older value than another.
fn behind(value: u32, than: u32) -> bool {
    value.wrapping_sub(than) & MASK > MASK / 2
}

#[cfg(test)]
mod tests;
