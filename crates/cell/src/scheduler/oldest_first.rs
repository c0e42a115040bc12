//! Delay-based: the UE whose head of line has waited longest.

use super::Candidate;

/// The candidate with the oldest packet; of equals, the one with the lowest number.
pub(super) fn choose(candidates: &[Candidate]) -> Option<usize> {
    let ages = candidates.iter().enumerate().map(|(position, candidate)| (candidate.head_of_line, position));
    ages.reduce(|oldest, next| if next.0 > oldest.0 { next } else { oldest }).map(|(_, position)| position)
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;
    use crate::ue::Offer;

    #[test]
    fn the_longest_wait_comes_first() {
        let candidates: Vec<_> = [3, 9, 9, 1]
            .into_iter()
            .enumerate()
            .map(|(ue, ms)| Candidate {
                ue: ue as u32,
                capacity: 1.0,
                head_of_line: Duration::from_millis(ms),
                offer: Offer::Mcs(0),
            })
            .collect();
        assert_eq!(choose(&candidates), Some(1));
        assert_eq!(choose(&[]), None);
    }
}
