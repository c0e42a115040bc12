//! SCReAM, Self-Clocked Rate Adaptation for Multimedia: version 1 of RFC 8298, version 1 as in the public program of
//! 2021, with L4S, and version 2.

mod delay_average;
mod delay_trend;
mod flight_peak;
mod frame_sizes;
mod jitter;
mod mark_average;
mod program;
mod queue_delay;
mod rate_meter;
mod v1;
mod v2;

pub use program::{Scream2021, Scream2021Config};
use queue_delay::QueueDelay;
pub use v1::{ScreamV1, ScreamV1Config};
pub use v2::{Scream, ScreamConfig, ScreamHint, ScreamHintConfig};
