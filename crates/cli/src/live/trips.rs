//! Round trips of a live cell's flows, whose packets pass it in both directions.

use std::collections::BTreeMap;

use tidemark_core::{Duration, Instant};
use tidemark_wire::ip::{FiveTuple, Headers};

use super::round_trip::{RoundTrip, Way};

/// Most five-tuples that are remembered. A recorder has fewer flows, but a flow that changes ports has several.
const MAX_TUPLES: usize = 1_024;

/// Measurements of flows, by the recorder's numbers.
#[derive(Debug, Default)]
pub(super) struct Trips {
    /// Flow numbers by the five-tuples of downlink packets.
    numbers: BTreeMap<FiveTuple, usize>,
    measures: Vec<RoundTrip>,
}

impl Trips {
    /// Looks at a packet of a flow on its way to the UE, and gives a round trip that ends with it.
    pub(super) fn pass_down(&mut self, at: Instant, flow: usize, bytes: &[u8]) -> Option<Duration> {
        let headers = Headers::parse(bytes).ok()?;
        if self.numbers.len() < MAX_TUPLES {
            self.numbers.entry(headers.five_tuple).or_insert(flow);
        }
        if self.measures.len() <= flow {
            self.measures.resize(flow + 1, RoundTrip::default());
        }
        self.measures[flow].pass(at, Way::Down, &headers, bytes)
    }

    /// Looks at a packet from a UE, and gives the flow that it answers and a round trip that ends with it.
    pub(super) fn pass_up(&mut self, at: Instant, bytes: &[u8]) -> Option<(usize, Option<Duration>)> {
        let headers = Headers::parse(bytes).ok()?;
        let flow = *self.numbers.get(&headers.five_tuple.reversed())?;
        Some((flow, self.measures[flow].pass(at, Way::Up, &headers, bytes)))
    }

    /// Median of a flow's recent round trips; `None` where none can be seen.
    pub(super) fn median(&self, now: Instant, flow: usize) -> Option<Duration> {
        self.measures.get(flow)?.median(now)
    }
}
