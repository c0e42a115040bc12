//! The measured traces: the cell's delivered rate follows the trace's. Skips where the traces are not there.

use std::path::{Path, PathBuf};

use tidemark_cell::channel::{TraceConfig, TraceFormat};
use tidemark_core::{Duration, Instant};
use tidemark_sim::RunResult;

use crate::common::{self, sampled};

/// Folder beside the project's.
fn traces() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: {} is absent, nothing was measured", folder.display());
    None
}

/// One bulk flow, for which the marker never slows it down, over a trace.
fn run(folder: &Path, channel: &str, seconds: u64) -> RunResult {
    let text = format!(
        "name = \"trace\"\nduration = \"{seconds} s\"\nsample_interval = \"1 s\"\n\
         [[ue]]\nname = \"ue\"\nchannel = {channel}\n\
         [[flow]]\nname = \"flow\"\nue = \"ue\"\nround_trip = \"20 ms\"\nsender = {{ controller = \"udp\" }}\n\
         app = {{ app = \"constant\", rate = \"400 Mbit/s\" }}\n"
    );
    common::run_in(folder, &text, &[])
}

#[test]
fn the_delivered_rate_follows_each_rate_trace_second_by_second() {
    let Some(folder) = traces() else { return };
    let files = [
        ("ATT-LTE-driving-2016.down", TraceFormat::Mahimahi, None),
        ("ATT-LTE-driving-2016.up", TraceFormat::Mahimahi, None),
        ("drp_munich_autobahn.csv", TraceFormat::RatePattern, None),
        ("drp_munich_village.csv", TraceFormat::RatePattern, None),
        ("us-5g-driving-handover.csv", TraceFormat::Csv, Some("throughput_mbps")),
        ("ie-5g-driving-1.csv", TraceFormat::Csv, Some("dl_kbps")),
        ("ie-5g-static-1.csv", TraceFormat::Csv, Some("dl_kbps")),
    ];
    for (file, format, column) in sampled(2, files) {
        let name = match format {
            TraceFormat::Mahimahi => "mahimahi",
            TraceFormat::RatePattern => "rate-pattern",
            TraceFormat::Csv => "csv",
        };
        let column_key = column.map_or(String::new(), |column| format!(", column = \"{column}\""));
        let channel = format!("{{ model = \"trace\", file = \"{file}\", format = \"{name}\"{column_key} }}");
        let mut config = TraceConfig {
            file: file.into(),
            format: Some(format),
            column: column.map(Into::into),
            ..TraceConfig::default()
        };
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let mut found = TraceConfig { format: None, ..config.clone() };
        config.read(&text).unwrap();
        found.read(&text).unwrap();
        assert_eq!(found.content, config.content, "{file}: the content shows the format");
        let trace = config.content.unwrap();
        let seconds = (trace.length().as_secs_f64() as u64).clamp(20, 120);
        let result = run(&folder, &channel, seconds);
        let second = |index: u64| Instant::ZERO + Duration::from_secs(index);
        for (index, got) in result.series.flows.throughput_mbps[0].iter().enumerate().skip(1) {
            let index = index as u64;
            let mbit = |from, to| trace.bytes_between(from, to) * 8.0 / 1e6;
            let limited = mbit(second(index), second(index + 1)).min(400.0);
            // What is offered shortly before a second's end arrives in the next one: uplink slots and decoding
            // take up to 3.5 ms, and a packet that ends there is counted whole.
            let before = |end: Instant| mbit(end.before(Duration::from_micros(3_500)), end);
            let late = before(second(index)) + before(second(index + 1)) + 2.0 * 1500.0 * 8.0 / 1e6;
            assert!((got - limited).abs() <= late + 0.005 * limited, "{file} second {index}: {got} of {limited}");
        }
        let sum = |rates: &[f64]| rates.iter().sum::<f64>();
        println!(
            "{file}: {:.2} Mbit/s over {seconds} s",
            sum(&result.series.flows.throughput_mbps[0]) / seconds as f64
        );
    }
}

#[test]
fn snr_and_cqi_traces_drive_the_link_adaptation() {
    let Some(folder) = traces() else { return };
    for file in ["ie-5g-driving-1.csv", "ie-5g-static-1.csv"] {
        let mut rates = Vec::new();
        for column in ["snr_db", "cqi"] {
            let channel =
                format!("{{ model = \"trace\", file = \"{file}\", format = \"csv\", column = \"{column}\" }}");
            let result = run(&folder, &channel, 60);
            let mcs = result.ues[0].mcs_mean.unwrap();
            assert!((0.0..=28.0).contains(&mcs), "{file} {column}: MCS {mcs}");
            rates.push(result.cell.throughput_mbps);
        }
        // The same drive by its SNR and by its CQI: a reported CQI reaches what the SNR measured, or more.
        println!("{file}: {rates:?} Mbit/s by SNR and CQI");
        assert!(rates.iter().all(|rate| *rate > 0.1), "{file}: {rates:?}");
    }
}

/// A receiver that acknowledges every packet over 215 Mbit/s: 18,000 acknowledgements a second.
#[test]
fn an_acknowledgement_for_each_packet_finds_room_in_the_uplink_of_a_fast_trace() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("fast.csv"), "Time,DL_bitrate\n0,215000\n1,215000\n").unwrap();
    let channels = [
        r#"{ model = "trace", file = "fast.csv", column = "DL_bitrate", unit = "kbit/s" }"#,
        r#"{ model = "fixed", rate = "215 Mbit/s" }"#,
    ];
    for channel in channels {
        let text = format!(
            "name = \"fast\"\nduration = \"14 s\"\nwarmup = \"10 s\"\nmarker = {{ law = \"l4span\" }}\n\
             [[ue]]\nname = \"ue\"\nchannel = {channel}\n\
             [[flow]]\nname = \"flow\"\nue = \"ue\"\nround_trip = \"20 ms\"\nsender = {{ controller = \"udp-prague\" }}\n"
        );
        let result = common::run_in(folder.path(), &text, &[]);
        let (flow, uplink) = (&result.flows[0], result.ues[0].uplink.unwrap());
        println!("{flow:?}\n{uplink:?}");
        assert!(flow.throughput_mbps > 200.0, "{channel}: {} Mbit/s", flow.throughput_mbps);
        assert!(flow.rtt_ms.unwrap().p50 < 45.0, "{channel}: {:?}", flow.rtt_ms);
        assert!(uplink.prb_share < 0.9, "{channel}: {:.0} % of the uplink", uplink.prb_share * 100.0);
        assert!(uplink.queue_ms.unwrap().p95 < 15.0, "{channel}: {:?}", uplink.queue_ms);
    }
}
