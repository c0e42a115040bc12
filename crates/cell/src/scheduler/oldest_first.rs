//! Oldest first: the bearer whose head of line has waited longest.

use super::Candidate;

pub(super) fn metric(candidate: &Candidate) -> f64 {
    candidate.head_of_line.as_nanos() as f64
}
