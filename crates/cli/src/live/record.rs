//! Recorder of a live cell, and the result that comes of it.

use hdrhistogram::Histogram;
use tidemark_cell::{UeId, UeStats};
use tidemark_core::{BitRate, Bytes, Duration, FlowId, Instant};
use tidemark_emu::realtime::Priority;
use tidemark_emu::{Observer, Progress, Seen};
use tidemark_record::event::Event;
use tidemark_record::unit::round;
use tidemark_record::{
    Arrival, BearerResult, Counters, Description, FlowDescription, FlowNumber, FlowRecord, Lateness, Limits,
    LiveResult, RunResult, UeRecord, UeResult, bearers,
};
use tidemark_sim::scenario::{NamedUe, Scenario};
use tidemark_wire::ip::FiveTuple;
use tidemark_wire::mac::Direction;

use super::history::History;
use super::warning::{BUSY_UPLINK, warnings};

/// The law of bearers that another half of the gNB marks.
pub const AT_CU: &str = "at the CU";

/// Listens to a driver.
pub struct Recorder {
    scenario: Scenario,
    ues: Vec<NamedUe>,
    /// The laws are a CU's, which alone knows what they mark.
    is_du: bool,
    recorder: tidemark_record::Recorder,
    /// Name and UE of each flow, by the recorder's numbers.
    flows: Vec<(String, usize)>,
    /// Counters as the driver said them last, and what else it said.
    last: Counters,
    machine: Machine,
    /// The warm-up is over.
    has_begun: bool,
    /// Time in which UEs used nearly all of the uplink.
    uplink_busy: Duration,
}

/// State of the machine that runs the cell.
#[derive(Default)]
struct Machine {
    busy: Duration,
    counters: tidemark_emu::Counters,
    is_fifo: bool,
    lateness: Option<Lateness>,
}

impl Recorder {
    /// Starts with nothing recorded.
    pub fn new(scenario: &Scenario, is_du: bool) -> Self {
        let ues = scenario.ues();
        Self {
            recorder: tidemark_record::Recorder::new(scenario.warmup, &ues, 0, Limits::LIVE),
            scenario: scenario.clone(),
            has_begun: scenario.warmup.is_zero(),
            ues,
            is_du,
            flows: Vec::new(),
            last: Counters::default(),
            machine: Machine::default(),
            uplink_busy: Duration::ZERO,
        }
    }

    /// Number of a flow; flows beyond the recorder's limit are one.
    fn flow(&mut self, id: FlowId, ue: UeId, tuple: Option<FiveTuple>) -> usize {
        let number = self.recorder.flow_number(id);
        match number {
            FlowNumber::Known(_) => {}
            FlowNumber::New(_) => self.flows.push((self.numbered(&name(tuple)), ue.0 as usize)),
            FlowNumber::FirstOfOthers(_) => self.flows.push(("others".into(), ue.0 as usize)),
        }
        number.index()
    }

    /// The name, with a number where flows before have it: the second one is `#2`.
    fn numbered(&self, name: &str) -> String {
        let is_twin =
            |other: &str| other.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(" #"));
        match self.flows.iter().filter(|(other, _)| is_twin(other)).count() {
            0 => name.into(),
            twins => format!("{name} #{}", twins + 1),
        }
    }

    /// Counts a recommendation for a logical channel of a UE.
    pub fn recommended(&mut self, at: Instant, ue: UeId, direction: Direction, channel: u8, rate: BitRate) {
        self.recorder.handle(at, Event::Recommended { ue: ue.0 as usize, direction, channel, rate });
    }
    /// Rates in Mbit/s that a UE was recommended last for its downlink and its uplink.
    pub fn recommended_mbps(&self, ue: usize) -> [Option<f64>; 2] {
        self.recorder.ue(ue).map_or([None; 2], UeRecord::recommended_now).map(|rate| rate.map(BitRate::as_mbps))
    }

    /// Result of everything so far, as the simulator says it, with what was done meanwhile.
    pub fn result(&self, device_drops: u64, history: &History) -> RunResult {
        let now = self.last.at;
        let whole = now.since(Instant::ZERO);
        let began = self.recorder.begun_at();
        // Only a default bearer's law can change while the cell runs.
        let law = |ue: usize, drb: u8, span: (Instant, Instant)| match bearers::law(&self.ues[ue].config, drb) {
            _ if self.is_du => AT_CU.into(),
            first if drb <= 1 => history.laws(&first, ue, span),
            law => law,
        };
        let flow = |(index, (name, ue)): (usize, &(String, usize))| {
            let record = self.recorder.flow(index);
            let first = record.and_then(FlowRecord::first_sent).unwrap_or(now);
            let span = (first.max(began), record.map_or(first, FlowRecord::last_arrival).max(first));
            FlowDescription {
                name: name.clone(),
                ue: Some(*ue),
                controller: "not ours".into(),
                law: law(*ue, record.map_or(1, |record| record.drb), span),
                has_router: false,
                is_uplink: false,
            }
        };
        let flows: Vec<_> = self.flows.iter().enumerate().map(flow).collect();
        let description = Description {
            name: &self.scenario.name,
            seed: self.scenario.seed,
            duration: whole,
            warmup: self.scenario.warmup,
            ues: &self.ues,
            flows: &flows,
            network: None,
            serving: &[],
            // Only the modems know what queries there were.
            knows_queries: false,
            conservation: "not checked: a live cell's endpoints are not its own".into(),
            scenario: &self.scenario.text,
        };
        let mut result = self.recorder.result(&description, &self.last);
        let marked = |marked: Option<u64>| marked.filter(|_| !self.is_du);
        let index = |name: &str| self.ues.iter().position(|ue| ue.name == name).unwrap_or(0);
        for BearerResult { ue, drb, law: said, marked: marks, .. } in
            result.bearers.iter_mut().filter(|bearer| bearer.direction == tidemark_record::Direction::Downlink)
        {
            (*said, *marks) = (law(index(ue), *drb, (began, now)), marked(*marks));
        }
        result.ues.iter_mut().for_each(|UeResult { marked: marks, .. }| *marks = marked(*marks));
        let Machine { busy, counters, is_fifo, lateness } = &self.machine;
        result.live = Some(LiveResult {
            lateness_us: *lateness,
            busy: busy.as_secs_f64() / whole.as_secs_f64().max(1e-9),
            real_time_priority: *is_fifo,
            packets_in: counters.downlink + counters.uplink,
            packets_out: counters.forwarded,
            refused: counters.refused,
            unroutable: counters.unroutable,
            overload: counters.overload,
            device_drops,
            uplink_busy_s: round(self.uplink_busy.as_secs_f64(), 1e6),
        });
        result.events = history.events().to_vec();
        result.warnings =
            self.scenario.broken_guarantees(&result.bearers).into_iter().chain(warnings(&result)).collect();
        result
    }
}

impl Observer for Recorder {
    fn seen(&mut self, at: Instant, seen: &Seen<'_>) {
        let event = match *seen {
            Seen::Downlink { ue, flow, tuple, .. } => Event::Sent { flow: self.flow(flow, ue, tuple) },
            Seen::Delivered { ue, drb, flow, bytes, ecn, sent, delay } => {
                let (flow, size) = (self.flow(flow, ue, None), Bytes(bytes.len() as u64));
                let (waited, in_routers) = (None, Duration::ZERO);
                let arrival = Arrival { sent, size, ecn, waited, in_routers, drb, delay };
                Event::Arrived { flow, ue: Some(ue.0 as usize), arrival }
            }
            Seen::ShortCircuited { ue, flow } => Event::ShortCircuited { flow: self.flow(flow, ue, None) },
            Seen::Dropped { ue, up: Some(drb), .. } => Event::UplinkDropped { ue: ue.0 as usize, drb },
            Seen::Dropped { ue, flow, up: None, .. } => Event::Dropped { flow: self.flow(flow, ue, None) },
            Seen::Carried { ue, qfi, size, delay } => {
                let ue = ue.0 as usize;
                Event::UplinkArrived { ue, drb: self.recorder.uplink_drb(ue, qfi), size, delay }
            }
            Seen::Uplink { .. } | Seen::Departed { .. } | Seen::Recommended { .. } => return,
        };
        self.recorder.handle(at, event);
    }

    fn sample(&mut self, progress: &Progress<'_>) {
        let (available, used) = uplink_use(&self.last, progress);
        if self.recorder.counts(progress.now) && used as f64 > BUSY_UPLINK * available as f64 {
            self.uplink_busy += progress.now.since(self.last.at);
        }
        self.last = Counters {
            at: progress.now,
            ues: progress.ues.to_vec(),
            bearers: progress.bearers.to_vec(),
            resources: progress.resources,
            uplink_resources: progress.uplink_resources,
            ..Counters::default()
        };
        self.machine = Machine {
            busy: progress.busy,
            counters: progress.counters,
            is_fifo: progress.priority == Priority::Fifo,
            lateness: lateness(progress.lateness),
        };
        if !self.has_begun && self.recorder.counts(progress.now) {
            self.has_begun = true;
            self.recorder.begin(self.last.clone());
        }
        self.recorder.sample(&self.last, |_| None, &[]);
    }
}

/// Resource blocks x symbols that the uplink had since the driver spoke last, and those that UEs used.
fn uplink_use(last: &Counters, progress: &Progress<'_>) -> (u64, u64) {
    let used = |ues: &[UeStats]| ues.iter().map(|ue| ue.uplink.resources).sum::<u64>();
    (progress.uplink_resources - last.uplink_resources, used(progress.ues) - used(&last.ues))
}

/// Quantiles of a histogram of nanoseconds; `None` where it is empty.
pub fn lateness(histogram: &Histogram<u64>) -> Option<Lateness> {
    let quantile = |q| histogram.value_at_quantile(q) as f64 / 1e3;
    (!histogram.is_empty()).then(|| Lateness {
        p50: quantile(0.5),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: histogram.max() as f64 / 1e3,
        deadlines: histogram.len(),
    })
}

/// Name of a flow: `tcp 192.0.2.1:443`, or `tcp 192.0.2.1 to port 443` where the UE is the server. A second run has the same names,
/// for the other port is drawn anew each time. The lower port is taken for the server's.
fn name(tuple: Option<FiveTuple>) -> String {
    let Some(tuple) = tuple else { return "unreadable".into() };
    let protocol = match tuple.protocol {
        tidemark_wire::tcp::PROTOCOL => "tcp".into(),
        tidemark_wire::udp::PROTOCOL => "udp".into(),
        1 | 58 => "icmp".into(),
        other => format!("protocol {other}"),
    };
    match tuple.ports {
        Some((far, near)) if far <= near => format!("{protocol} {}", std::net::SocketAddr::from((tuple.source, far))),
        Some((_, near)) => format!("{protocol} {} to port {near}", tuple.source),
        None => format!("{protocol} {}", tuple.source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_named_by_the_servers_end() {
        let tuple = |ports| {
            let source = std::net::Ipv4Addr::new(192, 0, 2, 1).into();
            Some(FiveTuple { source, destination: std::net::Ipv4Addr::LOCALHOST.into(), protocol: 6, ports })
        };
        assert_eq!(name(tuple(Some((443, 50_612)))), "tcp 192.0.2.1:443");
        assert_eq!(name(tuple(Some((50_612, 5_201)))), "tcp 192.0.2.1 to port 5201");
        assert_eq!(name(tuple(None)), "tcp 192.0.2.1");
        assert_eq!(name(None), "unreadable");
    }
}
