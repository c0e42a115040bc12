//! SCReAM, Self-Clocked Rate Adaptation for Multimedia: version 1 of RFC 8298, and version 2 with L4S.

mod delay_average;
mod delay_trend;
mod flight_peak;
mod frame_sizes;
mod jitter;
mod mark_average;
mod queue_delay;
mod rate_meter;
mod v1;
mod v2;

use queue_delay::QueueDelay;
pub use v1::{ScreamV1, ScreamV1Config};
pub use v2::{Scream, ScreamConfig};
