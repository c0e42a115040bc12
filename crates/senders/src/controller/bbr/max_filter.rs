//! The windowed maximum that the bandwidth is estimated by (draft-ietf-ccwg-bbr-06 5.5.3, 5.5.6).

use std::collections::VecDeque;

/// Largest of the values of the last `window` ticks of its counter.
#[derive(Clone, Debug)]
pub(super) struct MaxFilter {
    window: u64,
    tick: u64,
    /// Falling values with rising ticks; at most one for each tick in the window.
    values: VecDeque<(u64, f64)>,
}

impl MaxFilter {
    pub(super) fn new(window: u64) -> Self {
        Self { window, tick: 0, values: VecDeque::with_capacity(window as usize + 1) }
    }
    /// Moves on by a tick: a round or a cycle of probing.
    pub(super) fn advance(&mut self) {
        self.tick += 1;
    }
    pub(super) fn update(&mut self, value: f64) {
        let Self { window, tick, values } = self;
        while values.front().is_some_and(|(then, _)| then + *window <= *tick) {
            values.pop_front();
        }
        while values.back().is_some_and(|(_, other)| *other <= value) {
            values.pop_back();
        }
        // Of one tick the larger value is enough.
        if values.back().is_none_or(|(then, _)| then < tick) {
            values.push_back((*tick, value));
        }
    }
    pub(super) fn get(&self) -> f64 {
        self.values.front().map_or(0.0, |(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_returns_the_largest_of_its_window() {
        let mut filter = MaxFilter::new(3);
        let mut history = Vec::new();
        for (tick, value) in [(0, 5.0), (0, 7.0), (0, 6.0), (1, 3.0), (2, 4.0), (3, 1.0), (4, 2.0), (9, 0.5)] {
            while filter.tick < tick {
                filter.advance();
            }
            filter.update(value);
            history.push((tick, value));
            let expected =
                history.iter().filter(|(then, _)| then + 3 > tick).map(|(_, value)| *value).fold(0.0, f64::max);
            assert_eq!(filter.get(), expected, "at {tick}");
            assert!(filter.values.len() <= 3);
        }
    }
}
