//! The marker of one DRB, packet by packet.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::{DeliveryStatus, DrbMarker, MarkerConfig, RlcQueue, SnLength, Verdict};

use crate::error::field_error;
use crate::law::law_of;
use crate::raised::Raised;

/// Marker of one DRB: takes packets and delivery statuses, gives verdicts and estimates. Times are in seconds and don't go back.
#[pyclass(module = "tidemark")]
pub(crate) struct Drb {
    /// A mutex because Python's objects are shared between threads; nobody else locks it.
    marker: Mutex<DrbMarker>,
    sn_length: SnLength,
    next_sn: u32,
    now: Instant,
    raised: Raised,
}

/// Answer to a packet.
#[pyclass(module = "tidemark", frozen, get_all)]
pub(crate) struct Answer {
    /// Fate of the packet: `pass`, `mark` or `drop`.
    verdict: &'static str,
    /// Probability of a mark, for a packet that is not dropped.
    mark_odds: f64,
    /// Probability of a drop.
    drop_odds: f64,
    /// Rule of the law that gave the probabilities; empty if no rule applies.
    rule: &'static str,
    /// PDCP SN of the packet; None for a dropped one.
    sn: Option<u32>,
}

/// State of a DRB as the marker estimates it.
#[pyclass(module = "tidemark", frozen, get_all)]
pub(crate) struct Estimate {
    /// Bytes queued in the DU.
    backlog: u64,
    /// Egress rate; None while there is no estimate.
    rate_mbps: Option<f64>,
    /// Standard deviation of that rate.
    deviation_mbps: Option<f64>,
    /// Expected wait of a packet that arrives now; None while there is no estimate.
    sojourn_ms: Option<f64>,
    /// Age of the oldest SDU in the DU; None if unknown.
    head_of_line_ms: Option<f64>,
    /// Time since the last report.
    report_age_ms: f64,
}

#[pymethods]
impl Drb {
    #[new]
    fn new(law: &Bound<'_, PyAny>, sn_bits: u32, seed: u64) -> PyResult<Self> {
        let sn_length = match sn_bits {
            12 => SnLength::Bits12,
            18 => SnLength::Bits18,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "sn_bits: {sn_bits} is not a length of PDCP SNs: use 12 or 18"
                )));
            }
        };
        let raised = Raised::default();
        let config = MarkerConfig::with_law(law_of(law, &raised)?);
        let marker = DrbMarker::new(&config, sn_length, Stream::new(seed, 0, "mark"))
            .map_err(|error| field_error(error.field(), &error.to_string()))?;
        raised.check()?;
        Ok(Self { marker: Mutex::new(marker), sn_length, next_sn: 0, now: Instant::ZERO, raised })
    }

    fn downlink(&mut self, now_s: f64, size: u64, ecn: &str, flow: u32, head_of_line_ms: f64) -> PyResult<Answer> {
        let now = self.at(now_s)?;
        let packet = Packet { flow: FlowId(flow), size: Bytes(size), ecn: ecn_of(ecn)?, payload: () };
        let rlc = (head_of_line_ms > 0.0)
            .then(|| RlcQueue { head_of_line: Duration::from_secs_f64(head_of_line_ms / 1e3), ..RlcQueue::default() });
        let outcome = self.marker().decide_downlink(now, &packet, rlc);
        self.raised.check()?;
        let verdict = outcome.map_or(Verdict::Pass, |outcome| outcome.applied());
        let sn = (verdict != Verdict::Drop).then_some(self.next_sn);
        if let Some(sn) = sn {
            self.marker().handle_pdcp_pdu(now, sn, packet.size);
            self.next_sn = (sn + 1) % self.sn_length.modulus();
        }
        Ok(answer(outcome.as_ref().map(|outcome| outcome.odds), verdict, sn))
    }

    fn dequeue(
        &mut self,
        now_s: f64,
        size: u64,
        ecn: &str,
        flow: u32,
        sojourn_ms: f64,
        behind: u64,
    ) -> PyResult<Answer> {
        let now = self.at(now_s)?;
        let packet = Packet { flow: FlowId(flow), size: Bytes(size), ecn: ecn_of(ecn)?, payload: () };
        let sojourn = Duration::from_secs_f64(sojourn_ms.max(0.0) / 1e3);
        let rlc = RlcQueue { backlog: Bytes(behind), ..RlcQueue::default() };
        let outcome = self.marker().decide_dequeue(now, &packet, sojourn, rlc);
        self.raised.check()?;
        let verdict = outcome.map_or(Verdict::Pass, |outcome| outcome.applied());
        Ok(answer(outcome.as_ref().map(|outcome| outcome.odds), verdict, None))
    }

    fn report(&mut self, now_s: f64, transmitted: Option<u32>, delivered: Option<u32>) -> PyResult<()> {
        let now = self.at(now_s)?;
        let status = DeliveryStatus {
            highest_transmitted: transmitted,
            highest_delivered: delivered,
            ..DeliveryStatus::default()
        };
        self.marker().handle_report(now, &status);
        Ok(())
    }

    fn estimate(&mut self, now_s: f64) -> PyResult<Estimate> {
        let now = self.at(now_s)?;
        let estimate = self.marker().estimate(now);
        let ms = |span: Option<Duration>| span.map(Duration::as_millis_f64);
        Ok(Estimate {
            backlog: estimate.backlog.0,
            rate_mbps: estimate.egress.map(|egress| egress.rate.as_mbps()),
            deviation_mbps: estimate.egress.map(|egress| egress.deviation.as_mbps()),
            sojourn_ms: ms(estimate.sojourn),
            head_of_line_ms: ms(estimate.head_of_line),
            report_age_ms: estimate.report_age.as_millis_f64(),
        })
    }

    /// Counters since the start, as JSON.
    fn counters(&mut self) -> String {
        serde_json::to_string(&self.marker().counters()).unwrap_or_default()
    }
}

impl Drb {
    fn marker(&mut self) -> &mut DrbMarker {
        self.marker.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the time.
    fn at(&mut self, now_s: f64) -> PyResult<Instant> {
        if !(0.0..=1e9).contains(&now_s) {
            return Err(PyValueError::new_err(format!("now_s: {now_s} is not a valid time: give seconds from 0")));
        }
        let now = Instant::ZERO + Duration::from_secs_f64(now_s);
        if now < self.now {
            let message = format!("now_s: {now_s} is before the marker's time, {}", self.now.as_secs_f64());
            return Err(PyValueError::new_err(message));
        }
        self.now = now;
        Ok(now)
    }
}

fn answer(odds: Option<tidemark_marker::Odds>, verdict: Verdict, sn: Option<u32>) -> Answer {
    let odds = odds.unwrap_or(tidemark_marker::Odds::NONE);
    let verdict = match verdict {
        Verdict::Pass => "pass",
        Verdict::Mark => "mark",
        Verdict::Drop => "drop",
    };
    Answer { verdict, mark_odds: odds.mark.get(), drop_odds: odds.drop.get(), rule: odds.rule, sn }
}

fn ecn_of(name: &str) -> PyResult<Ecn> {
    match name {
        "not-ect" => Ok(Ecn::NotEct),
        "ect0" => Ok(Ecn::Ect0),
        "ect1" => Ok(Ecn::Ect1),
        "ce" => Ok(Ecn::Ce),
        other => Err(PyValueError::new_err(format!("ecn: `{other}` is unknown: use not-ect, ect0, ect1 or ce"))),
    }
}
