//! Maximum rate: the UE with the best channel, however long others wait.

use super::Candidate;

pub(super) fn metric(candidate: &Candidate) -> f64 {
    candidate.capacity
}
