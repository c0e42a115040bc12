//! Instructions that a call takes, which no machine's load changes: the limits here gate CI.
//!
//! `crates/marker/benches/check-instructions` runs it, and says so where valgrind is missing. The limits are the same however
//! long the queue is: no call's cost grows with it.

#![allow(missing_docs)] // the macros make public items

mod load;

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use load::{Load, Order};
use tidemark_marker::{LawConfig, TideConfig};

/// Calls in one measurement.
const CALLS: usize = 1_000;

/// A load of 64 UEs with so many SDUs queued at each.
fn queued(sdus: u32) -> Load {
    Load::new(64, sdus, Order::Kept)
}

/// A load like that under `tide`, where so many of the four flows of a UE are classic.
fn under_tide(classic: u16, sdus: u32) -> Load {
    Load::under(LawConfig::Tide(TideConfig::default()), classic, 64, sdus, Order::Kept)
}

fn tide_l4s(sdus: u32) -> Load {
    under_tide(0, sdus)
}

fn tide_classic(sdus: u32) -> Load {
    under_tide(4, sdus)
}

fn tide_shared(sdus: u32) -> Load {
    under_tide(2, sdus)
}

/// A load like the first, with as many more SDUs as the reports of one measurement move.
fn with_surplus(sdus: u32) -> Load {
    let mut load = queued(sdus);
    for _ in 0..CALLS {
        load.next();
        load.packet();
    }
    load
}

/// A load like that, with as many acknowledgements as one measurement has.
fn with_acks(sdus: u32) -> Load {
    let mut load = queued(sdus);
    load.make_acks_ahead(CALLS);
    load
}

fn limit(instructions: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions * CALLS as u64)]));
    config
}

#[library_benchmark]
#[benches::queued(args = [4, 16, 1_024], setup = queued, config = limit(790))]
#[benches::tide_l4s(args = [4, 16, 1_024], setup = tide_l4s, config = limit(800))]
#[benches::tide_classic(args = [4, 16, 1_024], setup = tide_classic, config = limit(845))]
#[benches::tide_shared(args = [4, 16, 1_024], setup = tide_shared, config = limit(850))]
fn downlink(mut load: Load) -> Load {
    for _ in 0..CALLS {
        load.next();
        load.downlink();
    }
    load
}

#[library_benchmark(config = limit(1_010))]
#[benches::queued(args = [4, 16, 1_024], setup = queued)]
fn downlink_and_pdu(mut load: Load) -> Load {
    for _ in 0..CALLS {
        load.next();
        load.packet();
    }
    load
}

#[library_benchmark(config = limit(1_120))]
#[benches::queued(args = [4, 16, 1_024], setup = with_surplus)]
fn report(mut load: Load) -> Load {
    for _ in 0..CALLS {
        load.next();
        load.report();
    }
    load
}

#[library_benchmark(config = limit(650))]
#[benches::queued(args = [4, 16, 1_024], setup = with_acks)]
fn ack(mut load: Load) -> Load {
    load.take_acks_ahead();
    load
}

library_benchmark_group!(name = path, benchmarks = [downlink, downlink_and_pdu, report, ack]);
main!(library_benchmark_groups = path);
