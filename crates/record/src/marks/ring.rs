//! Marks of one flow: those under way, and a bounded number of those that are over.

use std::collections::{BTreeSet, VecDeque};

use tidemark_core::Duration;

use super::Answer;
use super::mark::{Fate, Mark};

/// Largest number of marks that are under way or that the sender has not learned of. Of more, the oldest is closed with what is known of
/// it.
pub(super) const MAX_OPEN: usize = 1_024;
/// Time that has one mark, at first: a slot.
const SPAN: Duration = Duration::from_millis(1);

/// Marks of one flow. A mark is written once and stays in its slot; lists have the numbers of slots.
#[derive(Debug)]
pub(super) struct Ring {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Marks under way or unanswered, by the numbers of their packets.
    open: VecDeque<(u64, u32)>,
    /// Marks that were over last.
    last: VecDeque<u32>,
    /// Marks of the slowest packets, by delay and number.
    slowest: BTreeSet<(Duration, u64, u32)>,
    /// One mark for each span: the slowest packet's.
    spread: VecDeque<(u64, u32)>,
    span: Duration,
    /// Least feedback number that can bring an open mark; the largest number where there is none.
    next_feedback: u64,
    /// Open marks that wait for an acknowledgement to be written into.
    without_feedback: u32,
}

#[derive(Debug)]
struct Slot {
    mark: Mark,
    /// Lists that have the slot.
    lists: u8,
}

impl Ring {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            open: VecDeque::new(),
            last: VecDeque::new(),
            slowest: BTreeSet::new(),
            spread: VecDeque::new(),
            span: SPAN,
            next_feedback: u64::MAX,
            without_feedback: 0,
        }
    }

    /// Opens a mark, and closes the oldest one where too many are open.
    pub(super) fn open(&mut self, mark: Mark, limit: usize) {
        self.without_feedback += u32::from(mark.short_circuited);
        let packet = mark.packet;
        let slot = Slot { mark, lists: 1 };
        let index = match self.free.pop() {
            Some(index) => {
                self.slots[index as usize] = slot;
                index
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        // Packets are decided on in their order, but for those of another bearer.
        let position = match self.open.back() {
            Some((last, _)) if *last > packet => self.open.partition_point(|(other, _)| *other < packet),
            _ => self.open.len(),
        };
        self.open.insert(position, (packet, index));
        if self.open.len() > MAX_OPEN {
            self.close(0, limit);
        }
    }

    /// True while a marked packet is under way, or the sender has not learned of one.
    #[inline]
    pub(super) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// True if the feedback with this number can bring a mark to the sender.
    #[inline]
    pub(super) fn awaits(&self, feedback: u64) -> bool {
        self.next_feedback <= feedback
    }

    /// Ends the way of a packet, if its mark is open. `feedback` is the first that can bring a mark in the packet to its sender; the mark
    /// is closed unless `waits` for that.
    pub(super) fn end_way(&mut self, packet: u64, fate: Fate, feedback: Option<u64>, waits: bool, limit: usize) {
        let Ok(position) = self.open.binary_search_by_key(&packet, |(packet, _)| *packet) else { return };
        let mark = &mut self.slots[self.open[position].1 as usize].mark;
        mark.fate = fate;
        // A mark that acknowledgements carry does not need its packet.
        if !mark.short_circuited {
            mark.feedback = feedback;
            self.next_feedback = self.next_feedback.min(feedback.unwrap_or(u64::MAX));
        }
        let can_be_answered = mark.answer.is_none() && (mark.short_circuited || feedback.is_some());
        if !waits || !can_be_answered {
            self.close(position, limit);
        }
    }

    /// The acknowledgement with this number passes the CU, which writes marks of the short-circuit into it.
    pub(super) fn acknowledgement_passed(&mut self, feedback: u64) {
        if self.without_feedback == 0 {
            return;
        }
        self.without_feedback = 0;
        for (_, index) in &self.open {
            let mark = &mut self.slots[*index as usize].mark;
            if mark.short_circuited && mark.feedback.is_none() {
                mark.feedback = Some(feedback);
            }
        }
        self.next_feedback = self.next_feedback.min(feedback);
    }

    /// The feedback with this number brought marks to the sender.
    pub(super) fn answered(&mut self, feedback: u64, answer: Answer, limit: usize) {
        self.next_feedback = u64::MAX;
        let mut position = 0;
        while let Some((_, index)) = self.open.get(position) {
            let mark = &mut self.slots[*index as usize].mark;
            match mark.feedback {
                Some(number) if number <= feedback && mark.answer.is_none() => mark.answer = Some(answer),
                Some(number) if mark.answer.is_none() => self.next_feedback = self.next_feedback.min(number),
                _ => {}
            }
            if mark.answer.is_some() && !matches!(mark.fate, Fate::UnderWay) {
                self.close(position, limit);
            } else {
                position += 1;
            }
        }
    }

    /// Number of marks that are kept or open.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Marks that are kept and those that are open, by time and number.
    pub(super) fn marks(&self) -> Vec<&Mark> {
        let mut marks: Vec<_> = self.slots.iter().filter(|slot| slot.lists > 0).map(|slot| &slot.mark).collect();
        marks.sort_unstable_by_key(|mark| (mark.at, mark.packet));
        marks
    }

    /// The last marks that are open and the last that are over, this many of each, the newest of both first.
    pub(super) fn latest(&self, count: usize) -> impl Iterator<Item = &Mark> {
        let open = self.open.iter().rev().take(count).map(|(_, index)| index);
        open.chain(self.last.iter().rev().take(count)).map(|index| self.mark(*index))
    }

    /// Number of open marks.
    #[cfg(test)]
    pub(super) fn count_open(&self) -> usize {
        self.open.len()
    }

    fn mark(&self, index: u32) -> &Mark {
        &self.slots[index as usize].mark
    }

    /// Keeps the mark at this position, of which nothing more is to come, with those that are `limit` together.
    fn close(&mut self, position: usize, limit: usize) {
        let Some((_, index)) = self.open.remove(position) else { return };
        let slot = &mut self.slots[index as usize];
        let (at, packet, delay) = (slot.mark.at, slot.mark.packet, slot.mark.delay());
        // The list of open ones gives it to that of the last ones.
        self.last.push_back(index);
        let is_slow = self.slowest.len() < limit / 4 || self.slowest.first().is_some_and(|(least, ..)| *least < delay);
        if is_slow {
            slot.lists += 1;
            self.slowest.insert((delay, packet, index));
        }
        // Marks close nearly in the order of time: most come behind the last span.
        let span = at.as_nanos() / self.span.as_nanos();
        let position = match self.spread.back() {
            Some((last, _)) if *last >= span => self.spread.binary_search_by_key(&span, |(span, _)| *span),
            _ => Err(self.spread.len()),
        };
        match position {
            Err(position) => {
                self.slots[index as usize].lists += 1;
                self.spread.insert(position, (span, index));
            }
            Ok(position) if self.mark(self.spread[position].1).delay() < delay => {
                self.slots[index as usize].lists += 1;
                let (_, other) = std::mem::replace(&mut self.spread[position], (span, index));
                self.release(other);
            }
            Ok(_) => {}
        }
        self.bound(limit);
    }

    /// Lets go of marks beyond the limit: a quarter are the last ones, a quarter the slowest, and the rest is spread over time.
    pub(super) fn bound(&mut self, limit: usize) {
        let [last, slowest] = [limit / 4, limit / 4];
        while self.last.len() > last
            && let Some(index) = self.last.pop_front()
        {
            self.release(index);
        }
        while self.slowest.len() > slowest
            && let Some((.., index)) = self.slowest.pop_first()
        {
            self.release(index);
        }
        while self.spread.len() > limit - last - slowest {
            self.widen();
        }
    }

    /// Doubles the spans; of two marks that are in one then, the slower packet's stays.
    fn widen(&mut self) {
        self.span = self.span * 2;
        let mut wider: VecDeque<(u64, u32)> = VecDeque::with_capacity(self.spread.len());
        for (span, index) in std::mem::take(&mut self.spread) {
            match wider.back_mut().filter(|(last, _)| *last == span / 2) {
                Some((_, kept))
                    if self.slots[*kept as usize].mark.delay() < self.slots[index as usize].mark.delay() =>
                {
                    let other = std::mem::replace(kept, index);
                    self.release(other);
                }
                Some(_) => self.release(index),
                None => wider.push_back((span / 2, index)),
            }
        }
        self.spread = wider;
    }

    /// Takes a slot out of one list; one that is in none is free.
    fn release(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.lists -= 1;
        if slot.lists == 0 {
            self.free.push(index);
        }
    }
}
