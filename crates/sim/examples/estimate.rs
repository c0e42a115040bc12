//! Accuracy of the marker's prediction of the sojourn of a packet (L4Span Eq. 5) between the DU's reports, as CSV on standard output:
//!
//! `cargo run --release -p tidemark-sim --example estimate > results/estimate/error.csv`
//!
//! For every channel, law that decides on arrival, and report period one UE receives one L4S flow (Prague) for 30 s. The marker's
//! estimate as a packet came is held against how long the packet then waited behind others in the RLC queue. Packets
//! that meet no queue on arrival and wait for none are left out: there is nothing to predict. `results/draw` draws the
//! picture of `docs/concepts/life-of-a-report.md` from it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use tidemark_cell::Event;
use tidemark_core::{Duration, Instant};
use tidemark_marker::{Decides, LawConfig};
use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

const CHANNELS: [(&str, &str); 4] = [
    ("fixed rate", r#"{ model = "fixed", rate = "40 Mbit/s" }"#),
    ("static", r#"{ model = "static" }"#),
    ("pedestrian", r#"{ model = "pedestrian" }"#),
    ("vehicular", r#"{ model = "vehicular" }"#),
];
/// Zero is a report with every slot that sent something, 0.5 ms.
const PERIODS: [u64; 4] = [0, 1, 5, 10];
/// Ages of the last report, in milliseconds, by which errors are grouped.
const AGES: [f64; 5] = [0.5, 1.0, 2.0, 5.0, 10.0];
/// Fewer packets than this that met a queue tell nothing.
const MIN_PACKETS: usize = 200;
const WARM_UP: Instant = Instant::from_millis(3_000);

/// One packet: age of the last report, sojourn predicted and had, in milliseconds.
#[derive(Clone, Copy)]
struct Prediction {
    age: f64,
    predicted: f64,
    actual: f64,
}

fn main() {
    println!("channel,law,period_ms,age_ms,packets,sojourn_p50,bias,error_p50,error_p90,relative_p50,unpredicted");
    for (channel, model) in CHANNELS {
        for law in LawConfig::names(|law| law.marks && law.decides == Decides::OnArrival) {
            for period in PERIODS {
                let (predictions, unpredicted) = run(model, law, period);
                let period = if period == 0 { 0.5 } else { period as f64 };
                let row = |age: &str, of: &[Prediction]| {
                    if of.len() > MIN_PACKETS {
                        println!("{channel},{law},{period},{age},{},{unpredicted}", errors(of));
                    }
                };
                row("all", &predictions);
                let mut from = 0.0;
                for age in AGES {
                    let is_of_age = |one: &Prediction| one.age >= from && one.age < age;
                    let of: Vec<_> = predictions.iter().copied().filter(is_of_age).collect();
                    row(&age.to_string(), &of);
                    from = age;
                }
            }
        }
    }
}

fn run(channel: &str, law: &str, period: u64) -> (Vec<Prediction>, usize) {
    let scenario = format!(
        r#"
name = "estimate"
duration = "33 s"
cell = {{ f1u = {{ report_period = "{period} ms", rlc_in_sight = false }} }}
marker = {{ law = "{law}" }}
[[ue]]
name = "ue"
channel = {channel}
[[flow]]
name = "l4s"
ue = "ue"
round_trip = "30 ms"
sender = {{ controller = "prague" }}
"#
    );
    let scenario = Scenario::parse("estimate", &scenario, Path::new(""), &[]).expect("the scenario is one");
    let mut simulation = Simulation::new(&scenario).expect("it was checked");
    let seen = Arc::new(Mutex::new((Vec::new(), 0)));
    let out = Arc::clone(&seen);
    let mut open: HashMap<u32, (Duration, Option<Duration>)> = HashMap::new();
    let mut decided = None;
    simulation.observe(Box::new(move |now, _, event| match event {
        Event::Decided { decision, .. } => decided = Some((decision.estimate.report_age, decision.estimate.sojourn)),
        Event::Numbered { sn, .. } => {
            open.extend(decided.take().map(|decided| (sn, decided)));
        }
        Event::Delivered { sn, delay, .. } => {
            let Some((age, predicted)) = open.remove(&sn) else { return };
            let Ok(mut out) = out.lock() else { return };
            if now < WARM_UP {
                return;
            }
            let Some(predicted) = predicted else {
                out.1 += 1;
                return;
            };
            let [age, predicted, actual] = [age, predicted, delay.queuing].map(|time| time.as_millis_f64());
            if predicted > 0.0 || actual > 0.0 {
                out.0.push(Prediction { age, predicted, actual });
            }
        }
        _ => {}
    }));
    simulation.run(|_| true).expect("bytes are conserved");
    Arc::into_inner(seen).and_then(|seen| seen.into_inner().ok()).unwrap_or_default()
}

fn errors(of: &[Prediction]) -> String {
    let quantile = |values: &mut Vec<f64>, share: f64| {
        values.sort_by(f64::total_cmp);
        values.get((values.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN)
    };
    let mut actual: Vec<_> = of.iter().map(|one| one.actual).collect();
    let mut error: Vec<_> = of.iter().map(|one| (one.predicted - one.actual).abs()).collect();
    let bias = of.iter().map(|one| one.predicted - one.actual).sum::<f64>() / of.len() as f64;
    let mut relative: Vec<_> =
        of.iter().filter(|one| one.actual >= 1.0).map(|one| (one.predicted - one.actual).abs() / one.actual).collect();
    format!(
        "{},{:.2},{bias:.2},{:.2},{:.2},{:.3}",
        of.len(),
        quantile(&mut actual, 0.5),
        quantile(&mut error, 0.5),
        quantile(&mut error, 0.9),
        quantile(&mut relative, 0.5)
    )
}
