//! BBR: paces at a measured bandwidth and limits its flight by a measured bandwidth-delay product.
//!
//! Parts that all versions have in common are here, a file each; `v1`, and `bounded` for versions 2 and 3, put them together.

mod aggregation;
mod bounded;
mod full_bandwidth;
mod gain_cycle;
mod max_filter;
mod min_rtt;
mod pacing;
mod policer;
mod probe_rtt;
mod rounds;
mod v1;
mod v2;
mod v3;
mod window;

use tidemark_core::Duration;

pub use bounded::BoundedBbr;
pub use v1::{BbrV1, BbrV1Config};
pub use v2::BbrV2Config;
pub use v3::BbrV3Config;

use self::aggregation::Aggregation;
use self::full_bandwidth::FullBandwidth;
use self::max_filter::MaxFilter;
use self::min_rtt::MinRtt;
use self::pacing::Pacing;
use self::probe_rtt::ProbeRtt;
use self::rounds::Rounds;
use self::window::Window;
use super::Ack;

/// The flight that keeps a path going, in segments.
const MIN_WINDOW: f64 = 4.0;
/// The minimum round-trip time is forgotten after so long.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// Delivery rate of an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct BandwidthSample {
    /// Bytes a second.
    bandwidth: f64,
    /// True if the path may carry more: application or `PROBE_RTT` held the flight down.
    limited: bool,
}

impl BandwidthSample {
    /// Reads the rate of `ack`; `None` over less than the least round trip. `limited` says that a probe held it down.
    fn new(ack: &Ack, limited: bool) -> Option<Self> {
        let rate = ack.rate.filter(|rate| rate.interval >= ack.min_rtt || ack.min_rtt == Duration::MAX)?;
        let bandwidth = rate.delivered.as_f64() / rate.interval.as_secs_f64();
        Some(Self { bandwidth, limited: rate.app_limited || limited })
    }
}
