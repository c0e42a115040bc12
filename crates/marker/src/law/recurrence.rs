//! Regularly spaced marks and drops: `recur()` of RFC 9332 A.

use tidemark_core::Probability;

/// Sum of the likelihoods of the packets in one queue. Marks and drops are as regular as the likelihoods allow.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Recurrence {
    count: f64,
}

impl Recurrence {
    /// Adds the likelihood of a packet. Gives true if the sum exceeds 1, and the sum. The excess is kept for the next packet.
    pub fn add(&mut self, likelihood: Probability) -> (bool, f64) {
        let sum = self.count + likelihood.get();
        let recurs = sum > 1.0;
        self.count = sum - f64::from(u8::from(recurs));
        (recurs, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_recur_worked_by_hand() {
        let mut queue = Recurrence::default();
        // Sums: 0.375, 0.75, 1.125 -> 0.125, 0.5, 0.875, 1.25 -> 0.25, 0.625, 1.0, which is not above 1, 1.375 -> 0.375.
        let marked = [false, false, true, false, false, true, false, false, true];
        assert_eq!(marked.map(|_| queue.add(Probability::new(0.375)).0), marked);
        // 1.125 -> 0.125, with certainty 1.125 each time, and nothing at 0.
        for (likelihood, sum) in [(0.75, 1.125), (1.0, 1.125), (1.0, 1.125)] {
            assert_eq!(queue.add(Probability::new(likelihood)), (true, sum));
        }
        assert_eq!(queue.add(Probability::ZERO), (false, 0.125));
    }
}
