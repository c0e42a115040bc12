//! Marking laws: those of the marker with their parameters, and laws written in Python.

use pyo3::prelude::*;
use tidemark_marker::{Class, Decides, Law as _, LawConfig, Odds, Properties};
use tidemark_sim::scenario::remedy::in_toml;

use crate::error::field_error;
use crate::raised::Raised;

/// A law of the marker with its parameters.
#[pyclass(module = "tidemark", frozen)]
pub(crate) struct Law(pub(crate) LawConfig);

#[pymethods]
impl Law {
    /// Reads a law from JSON: `law` names it, the other fields are its parameters.
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<Self> {
        let config: LawConfig = serde_json::from_str(json).map_err(|error| {
            // The user wrote no JSON: its lines say nothing.
            let said = error.to_string();
            field_error("law", &in_toml(said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said)))
        })?;
        config.validate().map_err(|error| field_error(error.field(), &error.to_string()))?;
        Ok(Self(config))
    }

    /// Names of the laws.
    #[staticmethod]
    fn names() -> Vec<&'static str> {
        LawConfig::names(|_| true)
    }

    /// Name in a scenario.
    #[getter]
    fn name(&self) -> &'static str {
        self.0.properties().name
    }

    /// Measure of the queue that the law acts on.
    #[getter]
    fn acts_on(&self) -> &'static str {
        self.0.properties().acts_on
    }

    /// Flows that the law signals to.
    #[getter]
    fn signals_to(&self) -> &'static str {
        self.0.properties().signals_to
    }

    /// True for a law that decides as packets leave the RLC queue; others decide on arrival.
    #[getter]
    fn decides_on_leaving(&self) -> bool {
        self.0.decides_on_leaving()
    }

    /// Law with all its parameters, as JSON.
    fn json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

/// State of the queue and the flow at the arrival of a packet.
#[pyclass(module = "tidemark", frozen, get_all)]
pub(crate) struct Arrival {
    /// Time of the arrival in seconds.
    now_s: f64,
    /// Size of the packet in bytes.
    size: f64,
    /// Estimated bytes queued before it.
    backlog: f64,
    /// Age of the oldest SDU in the queue in milliseconds.
    head_of_line_ms: f64,
    /// Estimated egress rate; None while there is no estimate.
    rate_mbps: Option<f64>,
    /// Standard deviation of that rate.
    deviation_mbps: Option<f64>,
    /// Time for the queue to drain; None without an estimate.
    sojourn_ms: Option<f64>,
    /// Class of the packet: `l4s`, `classic` or `not-ect`.
    flow_class: &'static str,
    /// Handshake round trip of the flow; None if unknown.
    rtt_ms: Option<f64>,
    /// True while both L4S and classic flows are alive in the bearer.
    shared: bool,
}

/// State of the queue as a packet leaves it.
#[pyclass(module = "tidemark", frozen, get_all)]
pub(crate) struct Departure {
    /// Time of the departure in seconds.
    now_s: f64,
    /// Time that the packet spent in the queue.
    sojourn_ms: f64,
    /// Bytes queued behind it.
    behind: u64,
    /// Class of the packet by its ECN field: `l4s`, `classic` or `not-ect`.
    flow_class: &'static str,
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::L4s => "l4s",
        Class::Classic => "classic",
        Class::NotEct => "not-ect",
    }
}

/// Probabilities from Python: one number is the mark's, two are the mark's and the drop's.
#[derive(FromPyObject)]
enum Answer {
    Both(f64, f64),
    Mark(f64),
}

/// A law in Python, with its state: one object per marker.
struct PythonLaw {
    /// The object; `None` if it could not be made.
    law: Option<Py<PyAny>>,
    name: &'static str,
    raised: Raised,
}

impl PythonLaw {
    fn ask<'py, E>(&self, py: Python<'py>, method: &str, event: E) -> PyResult<Odds>
    where
        E: pyo3::PyClass + Into<pyo3::PyClassInitializer<E>>,
    {
        let Some(law) = &self.law else { return Ok(Odds::NONE) };
        let answer: Option<Answer> = law.bind(py).call_method1(method, (Bound::new(py, event)?,))?.extract()?;
        let (mark, drop) = match answer {
            None => return Ok(Odds::NONE),
            Some(Answer::Mark(mark)) => (mark, 0.0),
            Some(Answer::Both(mark, drop)) => (mark, drop),
        };
        if !(0.0..=1.0).contains(&mark) || !(0.0..=1.0).contains(&drop) {
            let message =
                format!("{}.{method}: {mark} and {drop} are not probabilities: give numbers from 0 to 1", self.name);
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        }
        Ok(Odds { drop: Odds::drop(self.name, drop).drop, ..Odds::mark(self.name, mark) })
    }
}

impl tidemark_marker::Law for PythonLaw {
    /// Default properties, of a law that decides on arrival; a law in Python sets its own.
    const PROPERTIES: Properties = Properties {
        name: "python",
        acts_on: "values that its code reads",
        signals_to: "flows that its code marks",
        decides: Decides::OnArrival,
        looks_at_head: true,
        marks_reported: true,
        marks: true,
    };

    fn arrive(&mut self, arrival: &tidemark_marker::Arrival) -> Odds {
        let odds = self.raised.call(|py| {
            let seen = Arrival {
                now_s: arrival.now.as_secs_f64(),
                size: arrival.size,
                backlog: arrival.backlog,
                head_of_line_ms: arrival.head_of_line * 1e3,
                rate_mbps: arrival.egress.map(|egress| egress.rate.as_mbps()),
                deviation_mbps: arrival.egress.map(|egress| egress.deviation.as_mbps()),
                sojourn_ms: arrival.sojourn().map(|seconds| seconds * 1e3),
                flow_class: class_name(arrival.class),
                rtt_ms: arrival.rtt.map(|rtt| rtt.as_millis_f64()),
                shared: arrival.shared,
            };
            self.ask(py, "arrive", seen)
        });
        odds.unwrap_or(Odds::NONE)
    }

    fn leave(&mut self, departure: &tidemark_marker::Departure) -> Odds {
        let odds = self.raised.call(|py| {
            let seen = Departure {
                now_s: departure.now.as_secs_f64(),
                sojourn_ms: departure.sojourn.as_millis_f64(),
                behind: departure.behind.0,
                flow_class: class_name(departure.class),
            };
            self.ask(py, "leave", seen)
        });
        odds.unwrap_or(Odds::NONE)
    }
}

/// Reads a law argument: a `Law`, or a callable that makes an object with a method `arrive` or `leave` for every marker.
pub(crate) fn law_of(given: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<LawConfig> {
    if let Ok(law) = given.cast::<Law>() {
        return Ok(law.get().0);
    }
    let has = |method: &str| given.hasattr(method);
    let decides = match (has("arrive")?, has("leave")?) {
        (true, _) => Decides::OnArrival,
        (false, true) => Decides::OnLeaving,
        (false, false) => {
            let message = "law: give a tidemark.Law, or a class with a method `arrive` or `leave`";
            return Err(pyo3::exceptions::PyTypeError::new_err(message));
        }
    };
    let name: String = given.getattr("__name__").and_then(|name| name.extract()).unwrap_or_else(|_| "python".into());
    // Names and properties of laws are leaked: a few bytes for every run with a law in Python.
    let name: &'static str = Box::leak(name.into_boxed_str());
    let properties = Box::leak(Box::new(Properties { name, decides, ..PythonLaw::PROPERTIES }));
    let (class, raised) = (given.clone().unbind(), raised.clone());
    Ok(LawConfig::custom_with(properties, move || {
        let law = raised.call(|py| class.call0(py));
        PythonLaw { law, name, raised: raised.clone() }
    }))
}
