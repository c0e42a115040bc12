//! Packets that were sent and whose fate may be unknown.

use std::collections::VecDeque;

use tidemark_core::{Bytes, Instant};

/// Packets that are remembered; older ones are forgotten.
const MAX_PACKETS: usize = 1 << 16;

/// Packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Size of the IP packet.
    pub(super) size: Bytes,
    /// Time of sending.
    pub(super) at: Instant,
    /// Number of the probe that it was part of.
    pub(super) probe: Option<u32>,
    known: bool,
}

/// Packets by their numbers, and the bytes of those whose fate is unknown.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    packets: VecDeque<Sent>,
    /// Number of the first packet in `packets`.
    first: u64,
    in_flight: u64,
    outstanding: u64,
}

impl History {
    /// IP bytes that were sent and not yet reported.
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Number of packets that were sent and not yet reported.
    pub(super) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Number of packets sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.first + self.packets.len() as u64
    }

    /// Adds a packet that leaves, and gives its number.
    #[inline]
    pub(super) fn add(&mut self, at: Instant, size: Bytes, probe: Option<u32>) -> u64 {
        // The oldest would have been reported long since.
        if self.packets.len() == MAX_PACKETS {
            self.forget_first();
        }
        self.packets.push_back(Sent { size, at, probe, known: false });
        self.in_flight += size.0;
        self.outstanding += 1;
        self.sent() - 1
    }

    /// Takes packet `seq` out of the flight, once its fate is known; `None` if it was known before, or is forgotten.
    #[inline]
    pub(super) fn settle(&mut self, seq: u64) -> Option<Sent> {
        let index = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        let sent = self.packets.get_mut(index).filter(|sent| !sent.known)?;
        sent.known = true;
        self.in_flight -= sent.size.0;
        self.outstanding -= 1;
        Some(*sent)
    }

    /// Forgets packets from the oldest on, while their fate is known or they lie below `begin`, of which no report tells any more.
    pub(super) fn forget_below(&mut self, begin: u64) {
        while self.packets.front().is_some_and(|sent| sent.known || self.first < begin) {
            self.forget_first();
        }
    }

    /// Counts nothing as under way any more.
    pub(super) fn give_up(&mut self) {
        (self.in_flight, self.outstanding) = (0, 0);
        for sent in &mut self.packets {
            sent.known = true;
        }
    }

    fn forget_first(&mut self) {
        if let Some(sent) = self.packets.pop_front() {
            self.first += 1;
            // What a report settled has left the flight already.
            let (bytes, packets) = if sent.known { (0, 0) } else { (sent.size.0, 1) };
            self.in_flight -= bytes;
            self.outstanding -= packets;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flight_is_what_was_sent_and_is_not_known() {
        let mut history = History::default();
        for number in 0..4 {
            assert_eq!(history.add(Instant::from_millis(number), Bytes(100), None), number);
        }
        assert_eq!(history.settle(2).map(|sent| sent.at), Some(Instant::from_millis(2)));
        assert!(history.settle(2).is_none() && history.settle(4).is_none());
        assert_eq!((history.in_flight(), history.outstanding()), (300, 3));
        history.forget_below(1);
        assert!(history.settle(0).is_none(), "no report tells of it");
        assert_eq!((history.in_flight(), history.outstanding(), history.sent()), (200, 2, 4));
        history.give_up();
        assert_eq!((history.in_flight(), history.outstanding()), (0, 0));
        assert!(history.settle(3).is_none());
    }

    #[test]
    fn memory_is_bounded() {
        let mut history = History::default();
        for _ in 0..MAX_PACKETS + 10 {
            history.add(Instant::ZERO, Bytes(1), None);
        }
        assert_eq!((history.packets.len(), history.in_flight()), (MAX_PACKETS, MAX_PACKETS as u64));
    }
}
