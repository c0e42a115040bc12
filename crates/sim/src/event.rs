//! The event queue: what happens next, ties broken by the order in which events were scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidemark_core::Instant;

/// Order of events from another shard among events at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before it, from a cell with a lower number.
    Before,
    /// Behind it, from a cell with a higher number.
    Behind,
}

impl Place {
    /// Merges two lists that are in the order of a key.
    pub(crate) fn merge<T, K: Ord>(
        self,
        own: impl IntoIterator<Item = T>,
        handed: Vec<T>,
        key: impl Fn(&T) -> K,
    ) -> Vec<T> {
        let mut all: Vec<_> = match self {
            Self::Before => handed.into_iter().chain(own).collect(),
            Self::Behind => own.into_iter().chain(handed).collect(),
        };
        all.sort_by_key(key);
        all
    }
}

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
    /// Time, and below it the time at which it was scheduled: one comparison instead of two.
    key: u128,
    /// Number among the events of the queue.
    number: u64,
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
    /// Adds an event for the time `at`, as of the time `now`. The event may take the slot of the one that was popped last: most events are
    /// followed by another of their kind, so the heap is sorted once and not twice.
    pub fn schedule(&mut self, now: Instant, at: Instant, event: E) {
        let number = self.scheduled;
        self.scheduled += 1;
        let key = u128::from(at.as_nanos()) << 64 | u128::from(now.as_nanos());
        let next = Reverse(Scheduled { key, number, event });
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
    /// Hands some events to another queue. They come before or behind those that were scheduled there at the same time for the
    /// same time.
    pub(crate) fn hand(&mut self, to: &mut Self, place: Place, is_handed: impl Fn(E) -> bool) {
        let (handed, kept): (Vec<_>, Vec<_>) = self.take_all().into_iter().partition(|next| is_handed(next.event));
        self.heap = kept.into_iter().map(Reverse).collect();
        let all = place.merge(to.take_all(), handed, |scheduled| scheduled.key);
        to.scheduled = all.len() as u64;
        to.heap = (0..).zip(all).map(|(number, next)| Reverse(Scheduled { number, ..next })).collect();
    }
    /// Takes all events out, in their order.
    fn take_all(&mut self) -> Vec<Scheduled<E>> {
        self.first();
        let mut all: Vec<_> = std::mem::take(&mut self.heap).into_iter().map(|Reverse(next)| next).collect();
        all.sort_unstable();
        all
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
        self.key.cmp(&other.key).then(self.number.cmp(&other.number))
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

    fn all(queue: &mut EventQueue<&'static str>) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.pop()).map(|(_, event)| event).collect()
    }

    #[test]
    fn events_at_one_time_come_in_the_order_they_were_scheduled() {
        let mut queue = EventQueue::default();
        queue.schedule(Instant::ZERO, Instant::from_millis(2), "late");
        queue.schedule(Instant::ZERO, Instant::from_millis(1), "first");
        queue.schedule(Instant::ZERO, Instant::from_millis(1), "second");
        assert_eq!(all(&mut queue), ["first", "second", "late"]);
    }

    #[test]
    fn events_that_are_handed_on_come_in_the_order_of_scheduling() {
        let ms = Instant::from_millis;
        let [mut one, mut other] = [EventQueue::default(), EventQueue::default()];
        one.schedule(ms(0), ms(9), "stays");
        one.schedule(ms(1), ms(9), "second");
        one.schedule(ms(2), ms(9), "third");
        other.schedule(ms(0), ms(9), "first");
        other.schedule(ms(2), ms(9), "fourth");
        one.hand(&mut other, Place::Before, |event| event != "stays");
        other.schedule(ms(3), ms(9), "last");
        assert_eq!(all(&mut one), ["stays"]);
        assert_eq!(all(&mut other), ["first", "second", "third", "fourth", "last"]);
    }
}
