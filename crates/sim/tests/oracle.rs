//! The oracle, which the gNB tells what its UE can have: a limit beside every result.

use std::path::Path;

use tidemark_sim::scenario::Direction;

use crate::common;

/// Mbit/s of the cell, and mean and 99th percentile of the queue in ms, over UEs.
fn run(folder: &str, channel: &str, sender: &str, ues: u32) -> (f64, f64, f64) {
    // Several UEs: a window needs a packet of each, or its share is taken for free.
    let window = if ues == 1 { 5 } else { 20 };
    let text = format!(
        "name = \"oracle\"\nduration = \"25 s\"\nwarmup = \"5 s\"\nmarker = {{ law = \"none\" }}\n\
         [[ue]]\nname = \"ue\"\ncount = {ues}\nchannel = {channel}\nanbr = {{ exact = true, window = \"{window} ms\" }}\n\
         [[flow]]\nname = \"flow\"\nue = \"ue\"\nround_trip = \"38 ms\"\nsender = {{ controller = \"{sender}\" }}\n"
    );
    let result = common::run_in(Path::new(folder), &text, &[]);
    let down = result.bearers.iter().filter(|bearer| bearer.direction == Direction::Downlink);
    let queues: Vec<_> = down.filter_map(|bearer| bearer.queue_ms).collect();
    let [mean, p99] = [queues.iter().map(|queue| queue.mean).sum::<f64>(), queues.iter().map(|queue| queue.p99).sum()];
    let found = (result.cell.throughput_mbps, mean / queues.len() as f64, p99 / queues.len() as f64);
    println!("{sender}, {ues} UEs, {channel}: {found:?}");
    found
}

/// The wait for slots alone, of a flow that has no queue.
const SLOTS_MS: f64 = 4.5;

#[test]
fn on_a_steady_radio_it_has_all_of_the_rate_and_no_queue() {
    let (all, ..) = run("", "{ model = \"static\" }", "cubic", 1);
    let (rate, mean, p99) = run("", "{ model = \"static\" }", "oracle", 1);
    assert!(rate > 0.995 * all && mean < SLOTS_MS + 1.0 && p99 < SLOTS_MS + 3.0, "{rate} of {all}, {mean} {p99} ms");
}

#[test]
fn several_share_the_cell() {
    let (rate, mean, _) = run("", "{ model = \"static\" }", "oracle", 4);
    assert!(rate > 37.0 && mean < 9.0, "{rate} Mbit/s at {mean} ms");
}

/// Fading of 10 Hz is over before a loop of 50 ms has told of it: what was known then costs a fifth of the rate, or a queue.
#[test]
fn where_the_radio_fades_faster_than_its_loop_it_is_no_better_informed() {
    let (all, ..) = run("", "{ model = \"pedestrian\" }", "cubic", 1);
    let (rate, mean, _) = run("", "{ model = \"pedestrian\" }", "oracle", 1);
    assert!((0.75..0.92).contains(&(rate / all)) && (8.0..20.0).contains(&mean), "{rate} of {all} at {mean} ms");
}

/// Skips where the traces are not there.
#[test]
fn on_a_measured_trace_it_has_all_of_the_rate_at_little_more_than_the_slots() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces");
    if !Path::new(folder).is_dir() {
        eprintln!("SKIPPED: {folder} is absent, nothing was measured");
        return;
    }
    let channel = "{ model = \"trace\", file = \"drp_munich_autobahn.csv\" }";
    let (all, ..) = run(folder, channel, "cubic", 1);
    let (rate, mean, p99) = run(folder, channel, "oracle", 1);
    assert!(rate > 0.985 * all && mean < SLOTS_MS + 2.5 && p99 < 15.0, "{rate} of {all}, {mean} {p99} ms");
}

/// A link that falls from 40 to 10 Mbit/s is known one round trip later: nothing but that round trip's excess waits. An allowance of
/// 1 or 3 ms leaves 1.7 % of the link.
#[test]
fn on_a_wire_it_has_all_of_the_link_and_no_queue() {
    let text = "name = \"wire\"\nduration = \"20 s\"\nwarmup = \"1 s\"\n\
        [[router]]\nname = \"link\"\nrate = \"40 Mbit/s\"\nchanges = [{ at = \"10 s\", rate = \"10 Mbit/s\" }]\nrecommends = true\n\
        [[flow]]\nname = \"flow\"\ncount = 2\nrouter = \"link\"\nround_trip = \"4 ms\"\n\
        sender = { controller = \"oracle\", allowance = \"10 ms\" }\n";
    let result = common::run(text, &[]);
    let router = &result.routers[0];
    let [p50, p999] = [0.5, 0.999].map(|fraction| router.queue.quantile(fraction).unwrap());
    assert!(router.utilisation > 0.999 && p50 < 3.0 && p999 < 25.0, "{} {p50} {p999} ms", router.utilisation);
}
