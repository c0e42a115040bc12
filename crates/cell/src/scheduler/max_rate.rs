//! Maximum rate: the UE with the best channel, however long others wait.

use super::Candidate;

/// The candidate that the carrier takes most to; of equals, the one with the lowest number.
pub(super) fn choose(candidates: &[Candidate]) -> Option<usize> {
    let rates = candidates.iter().enumerate().map(|(position, candidate)| (candidate.capacity, position));
    rates.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, position)| position)
}
