//! Cost of a call: downlink packets, F1-U reports and uplink acknowledgements on bytes, at 64, 1024 and 4096 UEs of 4
//! flows, in the order of their set-up and scattered, with few and with many SDUs queued.
//!
//! `cargo bench -p tidemark-marker` prints the means of criterion. With `-- --distribution` it prints median and 99th
//! percentile of single calls instead.

mod load;

use std::time::Duration as WallTime;

use criterion::{BenchmarkId, Criterion};
use load::{BURST, Load, Order};

type Call = fn(&mut Load);

/// The call that is measured, and what goes before and after it unmeasured. A report comes long after its packet: a whole pass over
/// the UEs lies between.
const EVENTS: [(&str, Call, Call, Call); 5] = [
    ("downlink", |_| {}, Load::downlink, queue_moves),
    ("pdu", Load::downlink, Load::pdu, Load::report),
    ("downlink + pdu", |_| {}, Load::packet, Load::report),
    ("report", |_| {}, Load::report, Load::packet),
    ("ack", Load::make_ack, Load::ack, |_| {}),
];
const LOADS: [(u32, u32, Order); 9] = [
    (64, 4, Order::Kept),
    (64, 16, Order::Kept),
    (64, 1_024, Order::Kept),
    (1_024, 4, Order::Kept),
    (4_096, 4, Order::Kept),
    (64, 4, Order::Scattered),
    (64, 1_024, Order::Scattered),
    (1_024, 4, Order::Scattered),
    (4_096, 4, Order::Scattered),
];

fn queue_moves(load: &mut Load) {
    load.pdu();
    load.report();
}

fn means(criterion: &mut Criterion) {
    // Means with what goes before and after: for comparing two versions, not for the table.
    let mut group = criterion.benchmark_group("path");
    group.warm_up_time(WallTime::from_millis(300)).measurement_time(WallTime::from_secs(1)).sample_size(20);
    for (ues, queued, order) in LOADS {
        let mut load = Load::new(ues, queued, order);
        for (name, before, event, after) in EVENTS {
            group.bench_function(BenchmarkId::new(name, format!("{ues} UEs, {queued} queued, {order:?}")), |bencher| {
                bencher.iter(|| {
                    load.next();
                    before(&mut load);
                    event(&mut load);
                    after(&mut load);
                });
            });
        }
    }
    group.finish();
}

/// Median and 99th percentile of single calls in nanoseconds, less what reading the clock costs.
fn distribution() {
    let clock = percentiles(|timed| timed(&mut || {}));
    println!("single calls, median / p99 in ns (the clock itself: {} / {}, taken off the median)", clock.0, clock.1);
    for (ues, queued, order) in LOADS {
        let mut load = Load::new(ues, queued, order);
        println!("{ues} UEs, {queued} queued, {order:?}:");
        for (name, before, event, after) in EVENTS {
            let (median, p99) = percentiles(|timed| {
                load.next();
                before(&mut load);
                timed(&mut || event(&mut load));
                after(&mut load);
            });
            let less = |nanos: u64| nanos.saturating_sub(clock.0);
            println!("    {name:30} {:4} / {:4}", less(median), less(p99));
        }
        for (name, before, event, after) in EVENTS {
            let (median, p99) = percentiles(|timed| {
                load.draw_burst(before);
                timed(&mut || {
                    load.warm();
                    load.each_of_burst(event);
                });
                load.each_of_burst(after);
                load.end_burst();
            });
            let name = format!("{name}, in bursts");
            println!("    {name:30} {:4} / {:4}", median / BURST as u64, p99 / BURST as u64);
        }
    }
}

const CALLS: usize = 200_000;

fn percentiles(mut round: impl FnMut(&mut dyn FnMut(&mut dyn FnMut()))) -> (u64, u64) {
    let mut nanos = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        round(&mut |call| {
            #[allow(clippy::disallowed_methods, clippy::disallowed_types)] // a benchmark measures the real clock
            let start = std::time::Instant::now();
            call();
            nanos.push(start.elapsed().as_nanos() as u64);
        });
    }
    nanos.sort_unstable();
    (nanos[nanos.len() / 2], nanos[nanos.len() * 99 / 100])
}

fn main() {
    if std::env::args().any(|argument| argument == "--distribution") {
        distribution();
        return;
    }
    let mut criterion = Criterion::default().configure_from_args();
    means(&mut criterion);
    criterion.final_summary();
}
