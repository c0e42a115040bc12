//! A congestion controller written in Python, over TCP.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use tidemark_core::{BitRate, Bytes, ConfigError, Duration, Instant};
use tidemark_senders::controller::{self, Congestion, Controller, EcnResponse, Signal, Sizes};
use tidemark_senders::{CongestionControl, EcnMode, OverTcp, Properties, SenderConfig, TcpConfig, Transport};

use crate::raised::Raised;

/// An acknowledgement with new information. Times in seconds, sizes in bytes of payload.
#[pyclass(module = "tidemark", frozen, get_all)]
pub(crate) struct Ack {
    /// Time of arrival.
    now_s: f64,
    /// Payload newly delivered.
    acked: u64,
    /// Payload newly delivered that arrived with CE; only with scalable ECN.
    marked: u64,
    /// Packets newly reported with CE.
    marked_packets: u32,
    /// Payload newly considered lost.
    lost: u64,
    /// Round-trip time of the newest segment, if unambiguous.
    rtt_s: Option<f64>,
    /// Smoothed round-trip time.
    smoothed_rtt_s: f64,
    /// Minimum round-trip time.
    min_rtt_s: f64,
    /// Payload in flight after this acknowledgement.
    in_flight: u64,
    /// All payload delivered so far.
    delivered: u64,
    /// Payload that had been delivered when the newest segment was sent. A round that began at `delivered = x` ends when this reaches x.
    prior_delivered: u64,
    /// Delivery rate over the newest segment's flight in Mbit/s, if known.
    rate_mbps: Option<f64>,
    /// True if the window limited the sender.
    window_limited: bool,
    /// True while the transport reduces the data in flight, when windows must not grow.
    recovering: bool,
}

/// Properties of the class, read once.
struct Facts {
    response: EcnResponse,
    ecn: EcnMode,
}

/// Configuration of a controller in Python: the class, of which each connection gets an object.
struct PythonControl {
    class: Py<PyAny>,
    facts: Facts,
    tcp: TcpConfig,
    raised: Raised,
}

impl CongestionControl for PythonControl {
    fn properties(&self) -> &'static Properties {
        &Properties { title: "A controller in Python", follows: "", answers: "as its code says", recommended: false }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()
    }

    fn transport(&self) -> Transport<'_> {
        let class = Python::attach(|py| self.class.clone_ref(py));
        let (response, raised) = (self.facts.response, self.raised.clone());
        let controller = move |sizes: Sizes, _, _| -> Box<dyn Controller + Send> {
            let made = raised.call(|py| {
                let fields = PyDict::new(py);
                fields.set_item("mss", sizes.mss)?;
                fields.set_item("initial_window", sizes.initial_window)?;
                class.call(py, (), Some(&fields))
            });
            let window = Bytes(sizes.initial_window as u64);
            let mut made = PythonController { made, response, window, rate: None, raised: raised.clone() };
            made.call("", |_, _| Ok(()));
            Box::new(made)
        };
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: self.facts.ecn, controller: Box::new(controller) })
    }
}

/// A controller in Python, and its last answer.
struct PythonController {
    made: Option<Py<PyAny>>,
    response: EcnResponse,
    window: Bytes,
    rate: Option<BitRate>,
    raised: Raised,
}

impl PythonController {
    /// Calls the object's method for an event, and reads its answer.
    fn call(&mut self, event: &str, tell: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>) {
        let Some(made) = &self.made else { return };
        let answer = self.raised.call(|py| {
            let made = made.bind(py);
            tell(py, made)?;
            let window: f64 = made.getattr("window")?.extract()?;
            let rate: Option<f64> = made.getattr("pacing_mbps")?.extract()?;
            // A missing or non-numeric window would stop the flow silently.
            if !(1.0..=1e12).contains(&window) || rate.is_some_and(|rate| !(rate > 0.0 && rate <= 1e6)) {
                let of = made.get_type().name()?;
                let message = format!(
                    "{of}: window {window} or pacing_mbps {rate:?} after `{event}` is invalid: window is in bytes from 1, pacing_mbps above 0 or None"
                );
                return Err(PyValueError::new_err(message));
            }
            Ok((window, rate))
        });
        if let Some((window, rate)) = answer {
            self.window = Bytes(window as u64);
            self.rate = rate.map(|mbps| BitRate::from_bps_f64(mbps * 1e6));
        }
    }
}

impl Controller for PythonController {
    fn on_established(&mut self, now: Instant, _ecn: EcnMode, rtt: Option<Duration>) {
        let (now, rtt) = (now.as_secs_f64(), rtt.map(Duration::as_secs_f64));
        self.call("on_established", |_, made| made.call_method1("on_established", (now, rtt)).map(drop));
    }

    fn on_ack(&mut self, ack: &controller::Ack) {
        let seen = Ack {
            now_s: ack.now.as_secs_f64(),
            acked: ack.acked.0,
            marked: ack.marked.0,
            marked_packets: ack.marked_packets,
            lost: ack.lost.0,
            rtt_s: ack.rtt.map(Duration::as_secs_f64),
            smoothed_rtt_s: ack.smoothed_rtt.as_secs_f64(),
            min_rtt_s: ack.min_rtt.as_secs_f64(),
            in_flight: ack.in_flight.0,
            delivered: ack.delivered.0,
            prior_delivered: ack.prior_delivered.0,
            rate_mbps: ack.rate.and_then(|rate| {
                let seconds = rate.interval.as_secs_f64();
                (seconds > 0.0).then(|| rate.delivered.as_f64() * 8e-6 / seconds)
            }),
            window_limited: ack.window_limited,
            recovering: ack.recovering,
        };
        self.call("on_ack", |py, made| made.call_method1("on_ack", (Bound::new(py, seen)?,)).map(drop));
    }

    fn on_congestion(&mut self, congestion: &Congestion) {
        let signal = match congestion.signal {
            Signal::Loss => "loss",
            Signal::Ecn => "ecn",
        };
        let arguments = (congestion.now.as_secs_f64(), signal, congestion.in_flight.0);
        self.call("on_congestion", |_, made| made.call_method1("on_congestion", arguments).map(drop));
    }

    fn on_timeout(&mut self, congestion: &Congestion) {
        let arguments = (congestion.now.as_secs_f64(), congestion.in_flight.0);
        self.call("on_timeout", |_, made| made.call_method1("on_timeout", arguments).map(drop));
    }

    fn on_spurious(&mut self, now: Instant) {
        self.call("on_spurious", |_, made| made.call_method1("on_spurious", (now.as_secs_f64(),)).map(drop));
    }

    fn on_idle(&mut self, now: Instant, idle: Duration, _rto: Duration) {
        let arguments = (now.as_secs_f64(), idle.as_secs_f64());
        self.call("on_idle", |_, made| made.call_method1("on_idle", arguments).map(drop));
    }

    fn window(&self) -> Bytes {
        self.window
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.rate
    }

    fn ecn_response(&self) -> EcnResponse {
        self.response
    }
}

/// Sender with a controller class; the class's `ecn` says which marks the controller is told about.
pub(crate) fn sender_of(class: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<SenderConfig> {
    let base = class.py().import("tidemark")?.getattr("Controller")?;
    if !class.cast::<PyType>().is_ok_and(|class| class.is_subclass(&base).unwrap_or(false)) {
        return Err(PyTypeError::new_err("controllers: give a class that extends tidemark.Controller"));
    }
    let ecn: String = class.getattr("ecn")?.extract()?;
    let (ecn, response) = match ecn.as_str() {
        "scalable" => (EcnMode::Accecn, EcnResponse::Scalable),
        "classic" => (EcnMode::Classic, EcnResponse::Classic),
        "off" => (EcnMode::Off, EcnResponse::Classic),
        other => {
            let message = format!("ecn: `{other}` is unknown: use `scalable`, `classic` or `off`");
            return Err(PyValueError::new_err(message));
        }
    };
    let name: String = class.getattr("__name__")?.extract()?;
    let control = PythonControl {
        class: class.clone().unbind(),
        facts: Facts { response, ecn },
        tcp: TcpConfig::default(),
        raised: raised.clone(),
    };
    Ok(SenderConfig::custom(Box::leak(name.into_boxed_str()), control))
}
