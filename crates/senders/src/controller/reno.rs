//! Reno: RFC 5681 with the response to ECN of RFC 3168. Byte counting makes it indifferent to delayed
//! acknowledgements, as in Linux.

use tidemark_core::{BitRate, Bytes, ConfigError, Duration, Instant};

use super::window::Window;
use super::{Ack, Congestion, Controller, Sizes};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};

/// Reno's configuration.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RenoConfig {
    /// True to pace at 2 times (in slow start) and 1.2 times the window per round trip, as Linux does under the `fq` queue. Default: false,
    /// Linux' default.
    pub pacing: bool,
    /// The transport below.
    pub tcp: TcpConfig,
}

impl CongestionControl for RenoConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "Reno",
            follows: "RFC 5681, RFC 6582",
            answers: "losses, an echo once a round",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, _flow, _seed| Box::new(Reno::new(&config, sizes)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Classic, controller: Box::new(controller) })
    }
}

/// The Reno controller.
#[derive(Clone, Debug)]
pub struct Reno {
    sizes: Sizes,
    window: Window,
    before_reduction: Option<Window>,
    paced: bool,
    smoothed_rtt: Duration,
}

impl Reno {
    /// A controller at its initial window.
    pub fn new(config: &RenoConfig, sizes: Sizes) -> Self {
        Self {
            sizes,
            window: Window::new(sizes),
            before_reduction: None,
            paced: config.pacing,
            smoothed_rtt: Duration::ZERO,
        }
    }

    /// Equation 4 of RFC 5681, with the window in the place of the flight, which the transport keeps validated.
    fn halve(&mut self) {
        self.before_reduction = Some(self.window);
        self.window.threshold = (self.window.size * 0.5).max(2.0 * self.sizes.mss);
    }
}

impl Controller for Reno {
    fn on_established(&mut self, _now: Instant, _ecn: EcnMode, rtt: Option<Duration>) {
        self.smoothed_rtt = rtt.unwrap_or_default();
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        // Neither during a reduction nor by a window that nobody uses is anything learned about room.
        if ack.recovering || !self.window.is_used(ack) {
            return;
        }
        let mut acked = ack.acked.as_f64();
        // Below the threshold each byte makes room for one more; what is left of it counts as congestion avoidance.
        if self.window.in_slow_start() {
            acked = self.window.slow_start(acked);
        }
        self.window.size += acked * self.sizes.mss / self.window.size;
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.halve();
        self.window.size = self.window.threshold;
    }
    fn on_timeout(&mut self, _congestion: &Congestion) {
        self.halve();
        self.window.size = self.sizes.mss;
    }
    fn on_spurious(&mut self, _now: Instant) {
        // Nothing was lost: the window from before the reduction is the right one, unless it has grown since.
        if let Some(before) = self.before_reduction.take() {
            self.window.size = self.window.size.max(before.size);
            self.window.threshold = self.window.threshold.max(before.threshold);
        }
    }
    fn on_idle(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        self.window.restart_after_idle(self.sizes, idle, rto);
    }
    fn window(&self) -> Bytes {
        Bytes(self.window.size as u64)
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        // Without pacing acknowledgements are the clock.
        if self.paced { self.window.linux_pacing(self.sizes, self.smoothed_rtt) } else { None }
    }
    fn burst(&self, _rate: BitRate) -> Bytes {
        Bytes((2.0 * self.sizes.packet) as u64)
    }
}
