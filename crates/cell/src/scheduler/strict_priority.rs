//! Strict priority: the bearer with the lowest priority level (TS 23.501 5.7.3.3); of equals, the one whose head of line has
//! waited longest. Who is less important waits for as long as others have something to send.

use std::cmp::Reverse;

use tidemark_core::Duration;

use super::Candidate;

pub(super) fn metric(candidate: &Candidate) -> (Reverse<u8>, Duration) {
    (Reverse(candidate.priority), candidate.head_of_line)
}
