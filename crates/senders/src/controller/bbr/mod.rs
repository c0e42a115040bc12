//! BBR: paces at a measured bandwidth and limits its flight by a measured bandwidth-delay product.
//!
//! Parts that all versions have in common are here, a file each; `v1`, and `bounded` for versions 2 and 3, put them together.

mod aggregation;
mod bounded;
mod max_filter;
mod policer;
mod rounds;
mod v1;
mod v2;
mod v3;

use tidemark_core::{BitRate, Duration};

pub use bounded::BoundedBbr;
pub use v1::{BbrV1, BbrV1Config};
pub use v2::BbrV2Config;
pub use v3::BbrV3Config;

use self::aggregation::Aggregation;
use self::max_filter::MaxFilter;
use self::rounds::Rounds;
use super::{Ack, Sizes};

/// Pacing stays this much below the estimate, so that queues drain (all versions).
const PACING_MARGIN: f64 = 0.99;
/// The flight that keeps a path going, in segments.
const MIN_WINDOW: f64 = 4.0;
/// `PROBE_RTT` lasts so long at the least.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// A bandwidth that grows by less in three rounds is full.
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
/// The minimum round-trip time is forgotten after so long.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// Payload that leaves at once: a millisecond's worth, between two segments (one at very low rates) and 64 kB.
fn quantum(bytes_per_sec: f64, sizes: Sizes) -> f64 {
    let min = if bytes_per_sec < 150_000.0 { sizes.mss } else { 2.0 * sizes.mss };
    (bytes_per_sec * 1e-3).clamp(min, 65_536.0_f64.max(min))
}

/// A rate of payload as a rate of IP packets.
fn wire_rate(bytes_per_sec: f64, sizes: Sizes) -> Option<BitRate> {
    (bytes_per_sec > 0.0).then(|| BitRate::from_bytes_per_sec(bytes_per_sec / sizes.mss * sizes.packet))
}

/// The delivery rate of an acknowledgement in bytes a second; `None` over less than the least round trip.
fn sample(ack: &Ack) -> Option<(f64, bool)> {
    let rate = ack.rate.filter(|rate| rate.interval >= ack.min_rtt || ack.min_rtt == Duration::MAX)?;
    Some((rate.delivered.as_f64() / rate.interval.as_secs_f64(), rate.app_limited))
}
