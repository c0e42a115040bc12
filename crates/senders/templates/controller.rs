//! Template: the document that it follows, and where it departs from it. (This one adds a segment a round trip,
//! halves for a loss, and takes off half the marked share of a round trip for marks.)

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Instant, Range, bounds};

use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};
use crate::controller::{Ack, Congestion, Controller, EcnResponse, Sizes};

/// Least window, in segments.
const MIN_WINDOW: f64 = 2.0;

/// Template's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<TemplateConfig>))]
pub struct TemplateConfig {
    /// Meaning, unit, default and reason. Share of the window that a round of nothing but marks takes. Default 0.5.
    pub reduction: f64,
    /// The transport below.
    pub tcp: TcpConfig,
}

impl Default for TemplateConfig {
    fn default() -> Self {
        Self { reduction: 0.5, tcp: TcpConfig::default() }
    }
}

bounds! { TemplateConfig {
    reduction: Range::inside(0.0, 1.0),
    ..tcp
} }

impl CongestionControl for TemplateConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "Template",
            follows: "the document, with its version",
            answers: "marks in proportion, losses by half",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()?;
        self.check_bounds()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, _flow, _seed| Box::new(Template::new(&config, sizes)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Accecn, controller: Box::new(controller) })
    }
}

/// The Template controller; windows in bytes of payload, with fractions.
#[derive(Clone, Debug)]
pub struct Template {
    reduction: f64,
    sizes: Sizes,
    window: f64,
    threshold: f64,
    /// Bytes that a reduction took, until it is known to have been right.
    before_reduction: f64,
    /// The round ends when what had been delivered at its start comes back as `prior_delivered`.
    round_end: Bytes,
    acked: f64,
    marked: f64,
    smoothed_rtt: Duration,
}

impl Template {
    /// A controller at its initial window.
    pub fn new(config: &TemplateConfig, sizes: Sizes) -> Self {
        Self {
            reduction: config.reduction,
            sizes,
            window: sizes.initial_window,
            threshold: f64::INFINITY,
            before_reduction: 0.0,
            round_end: Bytes::ZERO,
            acked: 0.0,
            marked: 0.0,
            smoothed_rtt: Duration::ZERO,
        }
    }

    fn reduce_to(&mut self, share: f64) {
        self.before_reduction = self.window;
        self.window = (self.window * share).max(MIN_WINDOW * self.sizes.mss);
        self.threshold = self.window;
    }
}

impl Controller for Template {
    fn on_established(&mut self, _now: Instant, _ecn: EcnMode, rtt: Option<Duration>) {
        self.smoothed_rtt = rtt.unwrap_or_default();
    }
    fn on_ack(&mut self, ack: &Ack) {
        self.smoothed_rtt = ack.smoothed_rtt;
        self.acked += ack.acked.as_f64();
        self.marked += ack.marked.as_f64();
        if ack.prior_delivered >= self.round_end {
            self.round_end = ack.delivered;
            if self.marked > 0.0 {
                self.reduce_to(1.0 - self.reduction * (self.marked / self.acked).min(1.0));
            }
            (self.acked, self.marked) = (0.0, 0.0);
        }
        // A window that nobody uses proves nothing: it must not grow. Nor while losses are being repaired.
        if ack.recovering || !ack.window_limited {
            return;
        }
        let acked = ack.acked.as_f64();
        self.window += if self.window < self.threshold { acked } else { acked * self.sizes.mss / self.window };
    }
    fn on_congestion(&mut self, _congestion: &Congestion) {
        self.reduce_to(0.5);
    }
    fn on_timeout(&mut self, _congestion: &Congestion) {
        self.reduce_to(0.5);
        self.window = self.sizes.mss;
    }
    fn on_spurious(&mut self, _now: Instant) {
        self.window = self.window.max(self.before_reduction);
    }
    fn on_idle(&mut self, _now: Instant, idle: Duration, rto: Duration) {
        // After a pause nothing is known of the path any more.
        if idle > rto {
            self.window = self.window.min(self.sizes.initial_window);
        }
    }
    fn window(&self) -> Bytes {
        Bytes(self.window as u64)
    }
    fn pacing_rate(&self) -> Option<BitRate> {
        let wire = self.window / self.sizes.mss * self.sizes.packet;
        (!self.smoothed_rtt.is_zero())
            .then(|| BitRate::from_bytes_per_sec(1.2 * wire / self.smoothed_rtt.as_secs_f64()))
    }
    fn burst(&self, _rate: BitRate) -> Bytes {
        Bytes(self.sizes.packet as u64)
    }
    fn ecn_response(&self) -> EcnResponse {
        // Marks come as counts in each `Ack`, and packets are ECT(1). `Classic`: as `on_congestion`, once a round.
        EcnResponse::Scalable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One step of the law, in numbers of the document that it follows.
    #[test]
    fn a_round_of_marks_takes_half_of_it() {
        let sizes = Sizes { mss: 1000.0, packet: 1052.0, initial_window: 10_000.0 };
        let mut controller = Template::new(&TemplateConfig::default(), sizes);
        let acked = Bytes(10_000);
        controller.on_ack(&Ack { acked, marked: acked, delivered: acked, ..Ack::default() });
        assert_eq!(controller.window(), Bytes(5_000));
    }
}
