//! Calls of the packet path, to count their instructions, which do not depend on the load of the machine.
//!
//! `instructions <call> <load> <SDUs>` puts a load on 64 UEs with this many queued SDUs each, and makes a call [`CALLS`] times.
//! `tests/instructions/check.py` counts only within [`measured_calls`], and has the limits. They are the same for any length of
//! queue, because the cost of no call grows with it.

#[path = "../benches/load/mod.rs"]
mod load;

use std::process::ExitCode;

use load::{Load, Order};
use tidemark_marker::{LawConfig, TideConfig};

/// Calls in one measurement.
const CALLS: usize = 1_000;
const UES: u32 = 64;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [call, load, sdus] = &arguments[..] else { return usage() };
    let (Ok(sdus), Some(make)) = (sdus.parse(), loading(load)) else { return usage() };
    let mut load = make(sdus);
    match call.as_str() {
        "downlink" => measured_calls(&mut load, |load| {
            load.next();
            load.downlink();
        }),
        "downlink-and-pdu" => measured_calls(&mut load, |load| {
            load.next();
            load.packet();
        }),
        "report" => {
            // So many SDUs more are what the reports of one measurement move.
            for _ in 0..CALLS {
                load.next();
                load.packet();
            }
            measured_calls(&mut load, |load| {
                load.next();
                load.report();
            });
        }
        "ack" => {
            load.make_acks_ahead(CALLS);
            measured_acks(&mut load);
        }
        _ => return usage(),
    }
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!(
        "instructions <downlink | downlink-and-pdu | report | ack> <l4span | tide-l4s | tide-classic | tide-shared> <SDUs>"
    );
    ExitCode::from(2)
}

/// Load by its name: the law, and how many of a UE's four flows are classic.
fn loading(name: &str) -> Option<fn(u32) -> Load> {
    fn under_tide(classic: u16, sdus: u32) -> Load {
        Load::under(LawConfig::Tide(TideConfig::default()), classic, UES, sdus, Order::Kept)
    }
    Some(match name {
        "l4span" => |sdus| Load::new(UES, sdus, Order::Kept),
        "tide-l4s" => |sdus| under_tide(0, sdus),
        "tide-classic" => |sdus| under_tide(4, sdus),
        "tide-shared" => |sdus| under_tide(2, sdus),
        _ => return None,
    })
}

/// Makes the calls that are counted. Callgrind finds this function by its name.
#[inline(never)]
fn measured_calls(load: &mut Load, call: impl Fn(&mut Load)) {
    for _ in 0..CALLS {
        call(load);
    }
}

/// Acknowledgements are taken in one go, which is counted by its name too.
#[inline(never)]
fn measured_acks(load: &mut Load) {
    load.take_acks_ahead();
}
