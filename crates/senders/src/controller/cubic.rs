//! CUBIC after RFC 9438, with HyStart++ (RFC 9406) or Linux' HyStart in slow start.
//!
//! Linux differs in details that this does not follow: it rounds to integers, adds at least 1 % of a segment
//! per window on the plateau, and keeps the Reno-friendly increase at 0.53 above `cwnd_prior`.

use tidemark_core::{BitRate, Bytes, ConfigError, Duration, Instant};

use super::hystart::{HyStart, LinuxHyStart, SlowStart};
use super::window::Window;
use super::{Ack, Congestion, Controller, Sizes};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};

/// C of RFC 9438 5, in segments a second cubed.
const C: f64 = 0.4;
/// The multiplicative decrease (RFC 9438 4.6).
const BETA: f64 = 0.7;
/// Reno's increase that fits this decrease (RFC 9438 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// Sign that ends slow start, besides a loss or a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SlowStartExit {
    /// Never.
    Standard,
    /// Linux' HyStart: at once, by delay or by a long train of acknowledgements.
    Hystart,
    /// HyStart++ (RFC 9406): by delay, after five rounds of slower growth.
    #[default]
    HystartPlusPlus,
}

/// CUBIC's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CubicConfig {
    /// True to release bandwidth if the window was lower than at the reduction before (RFC 9438 4.7). Default: true.
    pub fast_convergence: bool,
    /// Sign that ends slow start, besides a loss or a mark. Default: `hystart-plus-plus`, as RFC 9438 4.10
    /// recommends; Linux has `hystart`.
    pub slow_start: SlowStartExit,
    /// True to pace at 2 times (in slow start) and 1.2 times the window per round trip, as Linux does under the `fq` queue. Default: false,
    /// Linux' default.
    pub pacing: bool,
    /// The transport below.
    pub tcp: TcpConfig,
}

impl Default for CubicConfig {
    fn default() -> Self {
        Self { fast_convergence: true, slow_start: SlowStartExit::default(), pacing: false, tcp: TcpConfig::default() }
    }
}

impl CongestionControl for CubicConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "CUBIC; HyStart++, Linux' HyStart or neither",
            follows: "RFC 9438, RFC 9406",
            answers: "losses, an echo once a round",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, _flow, _seed| Box::new(Cubic::new(&config, sizes)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Classic, controller: Box::new(controller) })
    }
}

/// One congestion avoidance epoch (RFC 9438 4.2); windows in segments, times in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Epoch {
    start: Instant,
    k: f64,
    w_est: f64,
}

/// State that a spurious loss gives back (RFC 9438 4.9.2).
#[derive(Clone, Copy, PartialEq, Debug)]
struct Undo {
    window: Window,
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
}

/// The CUBIC controller.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    sizes: Sizes,
    window: Window,
    w_max: f64,
    cwnd_prior: f64,
    epoch: Option<Epoch>,
    hystart: HyStart,
    linux_hystart: LinuxHyStart,
    last_ack: Instant,
    smoothed_rtt: Duration,
    undo: Option<Undo>,
}

impl Cubic {
    /// A controller at its initial window.
    pub fn new(config: &CubicConfig, sizes: Sizes) -> Self {
        Self {
            config: config.clone(),
            sizes,
            window: Window::new(sizes),
            w_max: 0.0,
            cwnd_prior: 0.0,
            epoch: None,
            hystart: HyStart::new(),
            linux_hystart: LinuxHyStart::new(),
            last_ack: Instant::ZERO,
            smoothed_rtt: Duration::ZERO,
            undo: None,
        }
    }

    /// RFC 9438 4.6 and 4.7.
    fn reduce(&mut self) {
        self.undo =
            Some(Undo { window: self.window, w_max: self.w_max, cwnd_prior: self.cwnd_prior, epoch: self.epoch });
        let cwnd = self.window.size / self.sizes.mss;
        self.w_max = if self.config.fast_convergence && cwnd < self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.cwnd_prior = cwnd;
        self.epoch = None;
        self.window.threshold = (self.window.size * BETA).max(2.0 * self.sizes.mss);
    }

    /// RFC 9438 4.2 to 4.5, for `acked` segments.
    fn avoid_congestion(&mut self, ack: &Ack, acked: f64) {
        let cwnd = self.window.size / self.sizes.mss;
        let epoch = self.epoch.get_or_insert_with(|| {
            // After slow start, or where a timeout left the window above its old maximum, the plateau is here.
            if self.w_max < cwnd {
                self.w_max = cwnd;
            }
            // Slow start ended without a reduction (HyStart): no window before one is known (RFC 9438 4.10).
            if self.cwnd_prior == 0.0 {
                self.cwnd_prior = cwnd;
            }
            Epoch { start: ack.now, k: libm::cbrt((self.w_max - cwnd) / C), w_est: cwnd }
        });
        let t = ack.now.since(epoch.start).as_secs_f64();
        let cubic = |t: f64| C * (t - epoch.k) * (t - epoch.k) * (t - epoch.k) + self.w_max;
        let target = cubic(t + ack.smoothed_rtt.as_secs_f64()).clamp(cwnd, 1.5 * cwnd);
        let now = cubic(t);
        // Once the window is back where Reno would have been, Reno's own increase is fair (RFC 9438 4.3).
        let alpha = if epoch.w_est >= self.cwnd_prior { 1.0 } else { ALPHA };
        epoch.w_est += alpha * acked / cwnd;
        let next = if now < epoch.w_est { epoch.w_est.max(cwnd) } else { cwnd + (target - cwnd) / cwnd * acked };
        self.window.size = next * self.sizes.mss;
    }
}

impl Controller for Cubic {
    fn on_established(&mut self, now: Instant, _ecn: EcnMode, rtt: Option<Duration>) {
        self.last_ack = now;
        self.smoothed_rtt = rtt.unwrap_or_default();
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        let since_last = ack.now.since(self.last_ack);
        self.last_ack = ack.now;
        // The transport brings the flight down already.
        if ack.recovering {
            return;
        }
        if !self.window.is_used(ack) {
            // Time during which the window was not the limit does not count (RFC 9438 5.8).
            if let Some(epoch) = &mut self.epoch {
                epoch.start += since_last;
            }
            return;
        }
        let mut acked = ack.acked.as_f64();
        if self.window.in_slow_start() {
            // After the first threshold there is an estimate of the capacity already (RFC 9406 4.2).
            let exit = if self.window.threshold.is_finite() { SlowStartExit::Standard } else { self.config.slow_start };
            let step = match exit {
                SlowStartExit::Standard => SlowStart::Grow(acked),
                SlowStartExit::Hystart => {
                    self.linux_hystart.on_ack(ack, self.window.size / self.sizes.mss, self.config.pacing)
                }
                SlowStartExit::HystartPlusPlus => self.hystart.on_ack(ack, self.sizes.mss, self.config.pacing),
            };
            match step {
                SlowStart::Grow(bytes) => acked = self.window.slow_start(bytes),
                SlowStart::Exit => self.window.threshold = self.window.size,
            }
            // Only what goes beyond the threshold is left for congestion avoidance.
            if self.window.in_slow_start() {
                return;
            }
        }
        self.avoid_congestion(ack, acked / self.sizes.mss);
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.reduce();
        self.window.size = self.window.threshold;
    }
    fn on_timeout(&mut self, _congestion: &Congestion) {
        self.reduce();
        self.window.size = self.sizes.mss;
        // RFC 9438 4.8: the first congestion avoidance after a timeout starts at its own plateau.
        self.w_max = 0.0;
    }
    fn on_spurious(&mut self, _now: Instant) {
        // A window that has grown back already needs nothing returned (RFC 9438 4.9.2).
        if let Some(undo) = self.undo.take()
            && self.window.size < undo.window.size
        {
            self.window = undo.window;
            self.w_max = undo.w_max;
            self.cwnd_prior = undo.cwnd_prior;
            self.epoch = undo.epoch;
        }
    }
    fn on_idle(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        self.window.restart_after_idle(self.sizes, idle, rto);
        // The curve waits while nothing is sent (RFC 9438 5.8).
        if let Some(epoch) = &mut self.epoch {
            epoch.start += idle;
        }
    }
    fn window(&self) -> Bytes {
        Bytes(self.window.size as u64)
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        // Without pacing acknowledgements are the clock.
        if self.config.pacing { self.window.linux_pacing(self.sizes, self.smoothed_rtt) } else { None }
    }
    fn burst(&self, _rate: BitRate) -> Bytes {
        Bytes((2.0 * self.sizes.packet) as u64)
    }
}
