//! What a call costs: downlink packets, F1-U reports and uplink acknowledgements on bytes, at 64 and 4096 UEs of 4
//! flows, with few and with many SDUs standing.
//!
//! `cargo bench -p tidemark-marker` gives criterion's means; with `-- --distribution` it prints median and 99th percentile
//! of single calls instead.

#[path = "../tests/common/bytes.rs"]
mod bytes;

use std::hint::black_box;
use std::time::Duration as WallTime;

use bytes::{Flow, view};
use criterion::{BenchmarkId, Criterion};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Shard, Ue, UeHandle};
use tidemark_marker::{DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, SnLength};

const DRB: DrbId = DrbId(1);
const FLOWS: u16 = 4;
/// Packets that a caller has at hand at once, as from one call of `recvmmsg`.
const BURST: usize = 16;

/// Many UEs under steady load, each with so many SDUs standing.
struct Load {
    shard: Shard,
    ues: Vec<UeHandle>,
    standing: u32,
    /// Each UE's next SN.
    sn: Vec<u32>,
    acked: Vec<u32>,
    data: Vec<Vec<u8>>,
    acks: Vec<Vec<u8>>,
    now: Instant,
    turn: usize,
}

impl Load {
    fn new(ues: u32, standing: u32) -> Self {
        let law = LawConfig::L4span(L4SpanConfig::default());
        let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(law) };
        let mut shard = Shard::new(ues);
        let handles = (0..ues)
            .map(|id| {
                let mut ue = Ue::new(FlowKey::new(&[3; 16]));
                ue.add_drb(DRB, &[1], &config, SnLength::Bits18, Stream::new(1, id, "mark")).unwrap();
                for port in 0..FLOWS {
                    let flow = Flow { v6: false, port };
                    ue.uplink(Instant::ZERO, &mut flow.tcp(false, Ecn::NotEct, &view(0b111, true, None, 1, 0, None)));
                    let answer = view(0b010, true, Some(2), 999, 0, None);
                    ue.downlink(Instant::ZERO, 1, &mut flow.tcp(true, Ecn::NotEct, &answer));
                }
                shard.add(Box::new(ue)).ok().unwrap()
            })
            .collect();
        let data = (0..FLOWS)
            .map(|port| Flow { v6: false, port }.tcp(true, Ecn::Ect1, &view(0, false, Some(2), 1_000, 1_360, None)))
            .collect();
        let acks = (0..FLOWS)
            .map(|port| {
                Flow { v6: false, port }.tcp(false, Ecn::NotEct, &view(5, false, Some(1_000), 2, 0, Some([1, 0, 1])))
            })
            .collect();
        let mut load = Self {
            shard,
            ues: handles,
            standing,
            sn: vec![0; ues as usize],
            acked: vec![1_000; ues as usize],
            data,
            acks,
            now: Instant::from_millis(100),
            turn: 0,
        };
        for _ in 0..ues * (standing + 8) {
            load.downlink();
            load.pdu();
        }
        for _ in 0..ues * 8 {
            load.next();
            load.report();
        }
        load
    }

    fn next(&mut self) -> usize {
        self.turn = (self.turn + 1) % self.ues.len();
        if self.turn == 0 {
            self.now += Duration::from_micros(700);
        }
        self.turn
    }

    /// One packet.
    fn downlink(&mut self) {
        let k = self.next();
        let flow = (self.sn[k] % u32::from(FLOWS)) as usize;
        black_box(self.shard.ue(self.ues[k]).unwrap().downlink(self.now, 1, &mut self.data[flow]));
    }

    /// So many packets at once, each of another UE.
    fn downlink_burst(&mut self) {
        let ues = self.ues.len();
        for ahead in 1..=BURST {
            self.shard.warm(self.ues[(self.turn + ahead) % ues], 1);
        }
        for _ in 0..BURST {
            self.downlink();
        }
    }

    /// PDCP numbers the packet that just came.
    fn pdu(&mut self) {
        let k = self.turn;
        self.shard.ue(self.ues[k]).unwrap().pdcp_pdu(self.now, DRB, self.sn[k], Bytes(1_403));
        self.sn[k] = (self.sn[k] + 1) % (1 << 18);
    }

    /// One report that moves one SDU of the UE whose turn it is, so that the load stands where it stood.
    fn report(&mut self) {
        let k = self.turn;
        let sn = self.sn[k].wrapping_sub(self.standing + 1) & 0x3_FFFF;
        let report =
            DeliveryStatus { highest_transmitted: Some(sn), highest_delivered: Some(sn), ..Default::default() };
        self.shard.ue(self.ues[k]).unwrap().feedback(self.now, DRB, &report);
    }

    /// One acknowledgement of one more segment.
    fn ack(&mut self) {
        let k = self.next();
        self.acked[k] = self.acked[k].wrapping_add(1_360);
        let packet = &mut self.acks[k % usize::from(FLOWS)];
        // The acknowledgement number moves on under a checksum that is wrong by then, which nobody looks at.
        packet[28..32].copy_from_slice(&self.acked[k].to_be_bytes());
        self.shard.ue(self.ues[k]).unwrap().uplink(self.now, packet);
    }
}

type Call = fn(&mut Load);

/// What is measured, and what goes before and after it unmeasured. A report comes long after its packet: another
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
            load.turn = (load.turn + load.ues.len() / 2) % load.ues.len();
        },
        Load::report,
        |load| load.turn = (load.turn + load.ues.len() - load.ues.len() / 2) % load.ues.len(),
    ),
    ("ack", |_| {}, Load::ack, |_| {}),
];
const LOADS: [(u32, u32); 4] = [(64, 4), (64, 16), (64, 1_024), (4_096, 4)];

fn means(criterion: &mut Criterion) {
    // Means with what goes before and after: for comparing two versions, not for the table.
    let mut group = criterion.benchmark_group("path");
    group.warm_up_time(WallTime::from_millis(300)).measurement_time(WallTime::from_secs(1)).sample_size(20);
    for (ues, standing) in LOADS {
        let mut load = Load::new(ues, standing);
        for (name, before, event, after) in EVENTS {
            group.bench_function(BenchmarkId::new(name, format!("{ues} UEs, {standing} standing")), |bencher| {
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
    for (ues, standing) in LOADS {
        let mut load = Load::new(ues, standing);
        let mut line = format!("{ues:5} UEs, {standing:5} standing:");
        for (name, before, event, after) in EVENTS {
            let (median, p99) = percentiles(|timed| {
                before(&mut load);
                timed(&mut || event(&mut load));
                after(&mut load);
            });
            let less = |nanos: u64| nanos.saturating_sub(clock.0);
            line += &format!("  {name} {} / {}", less(median), less(p99));
        }
        let (median, p99) = percentiles(|timed| {
            timed(&mut || load.downlink_burst());
            load.turn = (load.turn + load.ues.len() - BURST) % load.ues.len();
            for _ in 0..BURST {
                load.next();
                load.pdu();
                load.report();
            }
        });
        line += &format!("  downlink in bursts {} / {}", median / BURST as u64, p99 / BURST as u64);
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
