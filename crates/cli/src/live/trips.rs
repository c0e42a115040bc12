//! Round trips of a live cell's flows, which pass it in both directions.

use std::collections::BTreeMap;

use tidemark_core::{Duration, Instant};
use tidemark_wire::ip::{FiveTuple, Headers};
use tidemark_wire::round_trip::{RoundTrip, Way};

/// Five-tuples that are remembered at most. A recorder's flows are fewer; a flow that takes other ports has several.
const MAX_TUPLES: usize = 1_024;

/// Measures of flows by the recorder's numbers.
#[derive(Debug, Default)]
pub(super) struct Trips {
    /// Numbers by the five-tuples of packets that go down.
    numbers: BTreeMap<FiveTuple, usize>,
    measures: Vec<RoundTrip>,
}

impl Trips {
    /// Notes that packets of this five-tuple that go down are of this flow.
    pub(super) fn begin(&mut self, tuple: Option<FiveTuple>, flow: usize) {
        if let Some(tuple) = tuple.filter(|_| self.numbers.len() < MAX_TUPLES) {
            self.numbers.entry(tuple).or_insert(flow);
        }
    }

    /// Number of the flow that a packet from a UE answers.
    pub(super) fn number(&self, bytes: &[u8]) -> Option<usize> {
        self.numbers.get(&Headers::parse(bytes).ok()?.five_tuple.reversed()).copied()
    }

    /// Looks at a packet of a flow, and gives a round trip that ends with it.
    pub(super) fn pass(&mut self, at: Instant, way: Way, flow: usize, bytes: &[u8]) -> Option<Duration> {
        if self.measures.len() <= flow {
            self.measures.resize(flow + 1, RoundTrip::default());
        }
        self.measures[flow].pass(at, way, bytes)
    }
}
