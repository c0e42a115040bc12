//! Cost of a call: downlink packets, F1-U reports and uplink acknowledgements on bytes, at 64 and 4096 UEs of 4
//! flows, with few and with many SDUs queued.
//!
//! `cargo bench -p tidemark-marker` gives criterion's means; with `-- --distribution` it prints median and 99th percentile
//! of single calls instead.

mod load;

use std::time::Duration as WallTime;

use criterion::{BenchmarkId, Criterion};
use load::{BURST, Load};

type Call = fn(&mut Load);

/// The call that is measured, and what goes before and after it unmeasured. A report comes long after its packet: another
/// UE's turn lies between.
const EVENTS: [(&str, Call, Call, Call); 4] = [
    (
        "downlink",
        |_| {},
        Load::downlink,
        |load| {
            load.pdu();
            load.report();
        },
    ),
    (
        "downlink + pdu",
        |_| {},
        |load| {
            load.downlink();
            load.pdu();
        },
        Load::report,
    ),
    (
        "report",
        |load| {
            load.downlink();
            load.pdu();
            load.skip(load.ues() / 2);
        },
        Load::report,
        |load| load.skip(load.ues() - load.ues() / 2),
    ),
    ("ack", |_| {}, Load::ack, |_| {}),
];
const LOADS: [(u32, u32); 4] = [(64, 4), (64, 16), (64, 1_024), (4_096, 4)];

fn means(criterion: &mut Criterion) {
    // Means with what goes before and after: for comparing two versions, not for the table.
    let mut group = criterion.benchmark_group("path");
    group.warm_up_time(WallTime::from_millis(300)).measurement_time(WallTime::from_secs(1)).sample_size(20);
    for (ues, queued) in LOADS {
        let mut load = Load::new(ues, queued);
        for (name, before, event, after) in EVENTS {
            group.bench_function(BenchmarkId::new(name, format!("{ues} UEs, {queued} queued")), |bencher| {
                bencher.iter(|| {
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
    for (ues, queued) in LOADS {
        let mut load = Load::new(ues, queued);
        let mut line = format!("{ues:5} UEs, {queued:5} queued:");
        for (name, before, event, after) in EVENTS {
            let (median, p99) = percentiles(|timed| {
                before(&mut load);
                timed(&mut || event(&mut load));
                after(&mut load);
            });
            let less = |nanos: u64| nanos.saturating_sub(clock.0);
            line += &format!("  {name} {} / {}", less(median), less(p99));
        }
        let downlink_burst = percentiles(|timed| {
            timed(&mut || load.downlink_burst());
            load.skip(load.ues() - BURST);
            for _ in 0..BURST {
                load.next();
                load.pdu();
                load.report();
            }
        });
        let report_burst = percentiles(|timed| {
            for _ in 0..BURST {
                load.downlink();
                load.pdu();
            }
            load.skip(load.ues() / 2);
            timed(&mut || load.report_burst());
            load.skip(load.ues() - load.ues() / 2 - BURST);
        });
        let ack_burst = percentiles(|timed| {
            load.make_acks();
            timed(&mut || load.ack_burst());
        });
        let bursts = [("downlink", downlink_burst), ("report", report_burst), ("ack", ack_burst)];
        for (name, (median, p99)) in bursts {
            line += &format!("  {name} in bursts {} / {}", median / BURST as u64, p99 / BURST as u64);
        }
        println!("{line}");
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
