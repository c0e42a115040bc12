//! Shares and delays of our schedulers beside those of 5G-LENA's, which were measured behind its own interface: docs/concepts/cell.md.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tidemark_sim::RunResult;

use crate::common;

/// Resource blocks of the cases that are run: 13 groups of 4.
const PRBS: f64 = 52.0;
/// Distance to 5G-LENA's figure: of a share, and of a delay beyond an empty cell in ms.
const SHARE: f64 = 0.1;
const DELAY_MS: f64 = 0.1;

/// A row of `lena.csv`.
struct Case {
    scheduler: String,
    load: String,
    ues: usize,
    full_share: Option<f64>,
    delay_ms: Option<f64>,
}

/// Cases with full queues, and with packets so sparse that each finds its own queue empty.
fn cases() -> Vec<Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/schedulers/lena.csv");
    let text = fs::read_to_string(file).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    rows.filter(|row| row[1] == "52" && row[2] != "burst")
        .map(|row| Case {
            scheduler: row[0].into(),
            load: row[2].into(),
            ues: row[3].parse().unwrap(),
            full_share: row[6].parse().ok(),
            delay_ms: row[9].parse().ok(),
        })
        .collect()
}

/// Runs a case: all or half of the UEs have a full queue, and the others a packet of 200 bytes every 10 ms, anywhere in a slot.
fn run(case: &Case) -> RunResult {
    let full = if case.load == "full" { case.ues } else { case.ues / 2 };
    let mut text = format!(
        "name = \"case\"\nduration = \"2 s\"\nwarmup = \"500 ms\"\n[cell]\nduplex = \"fdd\"\nprbs = {PRBS}\ncontrol_symbols = 1\ndmrs = 24\n\
         overhead = 0\nscheduling_lead = 2\nues_per_slot = 32\nscheduler = {{ kind = \"{}\" }}\n",
        case.scheduler
    );
    for ue in 0..case.ues {
        let (name, rate, chunk, start) = if ue < full {
            ("full", 1.9e6 * PRBS / full as f64, 1_472, 0)
        } else {
            ("short", 172.0 * 8.0 / 0.010_037_1, 172, 617 * ue % 10_000)
        };
        let _ = writeln!(
            text,
            "[[ue]]\nname = \"ue{ue}\"\nchannel = {{ model = \"static\", snr_db = 40 }}\nrlc = {{ mode = \"um\", queue_sdus = 1000 }}\n\
             marker = {{ law = \"none\" }}\n[[flow]]\nname = \"{name}{ue}\"\nue = \"ue{ue}\"\nround_trip = \"0 ms\"\n\
             sender = {{ controller = \"udp\" }}\n\
             app = {{ app = \"constant\", rate = \"{rate:.0} bit/s\", chunk = \"{chunk} B\", start = \"{start} us\" }}"
        );
    }
    common::run(&text, &[])
}

/// Mean delay of the sparse packets in ms; `None` where there are none.
fn delay(result: &RunResult) -> Option<f64> {
    let delays: Vec<_> = result
        .flows
        .iter()
        .filter(|flow| flow.name.starts_with("short"))
        .map(|flow| flow.owd_ms.unwrap().mean)
        .collect();
    (!delays.is_empty()).then(|| delays.iter().sum::<f64>() / delays.len() as f64)
}

#[test]
fn shares_and_sparse_packets_are_those_of_5g_lena() {
    let (alone, cases): (Vec<_>, Vec<_>) = cases().into_iter().partition(|case| case.ues == 1);
    assert_eq!((alone.len(), cases.len()), (2, 20));
    for case in cases {
        let told = format!("{}, {}, {} UEs", case.scheduler, case.load, case.ues);
        let result = run(&case);
        let cell: f64 = result.flows.iter().map(|flow| flow.throughput_mbps).sum();
        for flow in result.flows.iter().filter(|flow| flow.name.starts_with("full")) {
            let (share, expected) = (flow.throughput_mbps / cell, case.full_share.unwrap());
            assert!((share / expected - 1.0).abs() < SHARE, "{told}: {share} of the cell, 5G-LENA {expected}");
        }
        let empty = alone.iter().find(|empty| (&empty.scheduler, &empty.load) == (&case.scheduler, &case.load));
        if let Some(empty) = empty {
            let beyond = delay(&result).unwrap() - delay(&run(empty)).unwrap();
            let expected = case.delay_ms.unwrap() - empty.delay_ms.unwrap();
            assert!(
                (beyond - expected).abs() < DELAY_MS,
                "{told}: {beyond} ms beyond an empty cell, 5G-LENA {expected}"
            );
        }
    }
}
