//! The event queue: what happens next, ties broken by the order in which events were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidemark_core::Instant;

/// Events in the order of their time.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Scheduled<E>>>,
    scheduled: u64,
    /// The first event has been taken, and is still in its place.
    taken: bool,
}

#[derive(Debug)]
struct Scheduled<E> {
    /// Time, and below it the number of the event: one comparison instead of two.
    key: u128,
    event: E,
}

impl<E> Scheduled<E> {
    fn at(&self) -> Instant {
        Instant::from_nanos((self.key >> 64) as u64)
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), scheduled: 0, taken: false }
    }
}

impl<E: Copy> EventQueue<E> {
    /// Adds an event. It may take the place of the one before it: most events are followed by another of their kind, and so the
    /// heap is put in order once, not twice.
    pub fn schedule(&mut self, at: Instant, event: E) {
        let sequence = self.scheduled;
        self.scheduled += 1;
        let key = u128::from(at.as_nanos()) << 64 | u128::from(sequence);
        let next = Reverse(Scheduled { key, event });
        if !std::mem::take(&mut self.taken) {
            self.heap.push(next);
        } else if let Some(mut place) = self.heap.peek_mut() {
            *place = next;
        }
    }
    /// Time of the next event.
    pub fn next_deadline(&mut self) -> Option<Instant> {
        self.first().map(Scheduled::at)
    }
    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Instant, E)> {
        let taken = self.first().map(|next| (next.at(), next.event));
        self.taken = taken.is_some();
        taken
    }
    fn first(&mut self) -> Option<&Scheduled<E>> {
        if std::mem::take(&mut self.taken) {
            self.heap.pop();
        }
        self.heap.peek().map(|Reverse(next)| next)
    }
}

impl<E> Ord for Scheduled<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}
impl<E> PartialOrd for Scheduled<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> PartialEq for Scheduled<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl<E> Eq for Scheduled<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_at_one_time_come_in_the_order_they_were_scheduled() {
        let mut queue = EventQueue::default();
        queue.schedule(Instant::from_millis(2), "late");
        queue.schedule(Instant::from_millis(1), "first");
        queue.schedule(Instant::from_millis(1), "second");
        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect();
        assert_eq!(order, ["first", "second", "late"]);
    }
}
