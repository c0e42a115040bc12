//! Observers of a driver: the recorder, the capture, and the snapshot that other threads read.

use std::sync::{Arc, Mutex, PoisonError};

use hdrhistogram::Histogram;
use tidemark_cell::{BearerId, Event as CellEvent, UeStats};
use tidemark_core::{BitRate, Bytes, Duration, Instant};
use tidemark_emu::{DriverEvent, Observer, Progress, Stamped};
use tidemark_record::unit::{mbps, tag};
use tidemark_sim::Event;
use tidemark_sim::scenario::Scenario;

use super::admission;
use super::buckets::{Buckets, LATENESS};
use super::history::History;
use super::modem::Inbox;
use super::past::Past;
use super::pcap::Capture;
use super::record::{AT_CU, Recorder, lateness};
use super::snapshot::{LAST_MARKS, MAX_FLOWS, MarkSnapshot, Snapshot, UeSnapshot};
use super::warning::{BUSY_THREAD, BUSY_UPLINK, LATE_US};
use super::web::Source;

/// State of a live cell, readable from any thread.
pub(super) type Shared = Arc<Board>;

/// The latest snapshot, the current channel and law of each UE, and the events so far.
#[derive(Default)]
pub(crate) struct Board {
    now: Mutex<Snapshot>,
    described: Mutex<Vec<UeSnapshot>>,
    past: Past<UeSnapshot>,
    history: Mutex<History>,
    /// True for a DU, whose laws run in the CU.
    is_du: bool,
}

impl Board {
    /// The latest snapshot.
    pub(crate) fn latest(&self) -> Snapshot {
        let mut snapshot = self.now.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        for (ue, described) in snapshot.ues.iter_mut().zip(&*described) {
            (ue.channel, ue.law) = (described.channel.clone(), described.law.clone());
        }
        snapshot
    }

    /// Describes the UEs by this scenario from now on.
    pub(crate) fn describe(&self, scenario: &Scenario) {
        *self.described.lock().unwrap_or_else(PoisonError::into_inner) = describe(scenario, self.is_du);
    }

    /// True for a DU, whose laws run in the CU.
    pub(crate) fn is_du(&self) -> bool {
        self.is_du
    }

    /// Adds an event of the cell.
    pub(crate) fn happened(&self, event: Event) {
        self.history.lock().unwrap_or_else(PoisonError::into_inner).happened(event);
    }
    /// Notes that the default bearer of a UE has another law, or other thresholds, since this time.
    pub(crate) fn marked_by(&self, at: Instant, ue: usize, law: String) {
        self.history.lock().unwrap_or_else(PoisonError::into_inner).marked_by(at, ue, law);
    }
    /// Events so far.
    pub(crate) fn history(&self) -> History {
        self.history.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Source for Board {
    fn past(&self) -> String {
        self.past.json()
    }
    fn status(&self) -> Option<String> {
        serde_json::to_string(&self.latest()).ok()
    }
    fn metrics(&self) -> Option<String> {
        Some(self.latest().prometheus())
    }
}

/// Observes a driver.
pub(super) struct Watch {
    /// Recorder of the results.
    pub recorder: Recorder,
    /// Capture of both sides, if requested.
    pub capture: Option<Capture>,
    shared: Shared,
    modems: Inbox,
    name: String,
    /// The UEs' names.
    ues: Vec<UeSnapshot>,
    slot: Duration,
    is_du: bool,
}

impl Watch {
    /// Starts to watch a cell of this scenario; also gives the state that others read.
    pub(super) fn new(scenario: &Scenario, capture: Option<Capture>, modems: Inbox, is_du: bool) -> (Self, Shared) {
        let ues = describe(scenario, is_du);
        // Until the first interval is over nothing is measured, and nothing has happened.
        let now = Snapshot { name: scenario.name.clone(), ues: ues.clone(), ..Snapshot::default() };
        let shared = Arc::new(Board { now: now.into(), described: ues.clone().into(), is_du, ..Board::default() });
        let watch = Self {
            recorder: Recorder::new(scenario, is_du),
            capture,
            shared: Arc::clone(&shared),
            modems,
            name: scenario.name.clone(),
            ues,
            slot: scenario.cell.slot(),
            is_du,
        };
        (watch, shared)
    }

    /// Snapshot of a UE; `None` if it is not recorded.
    fn ue(&self, index: usize, stats: &UeStats) -> Option<UeSnapshot> {
        let record = self.recorder.ue(index)?;
        let watched = record.watched()?;
        let [recommended_down_mbps, recommended_up_mbps] =
            record.recommended_now().map(|rate| rate.map(BitRate::as_mbps));
        let interval = &watched.interval;
        let queue = interval.queue.quantiles();
        let known = self.ues.get(index)?;
        Some(UeSnapshot {
            name: known.name.clone(),
            channel: known.channel.clone(),
            law: known.law.clone(),
            down_mbps: mbps(interval.delivered, interval.span),
            up_mbps: mbps(interval.sent, interval.span),
            queue_ms: queue.map(|queue| queue.mean),
            queue_p95_ms: queue.map(|queue| queue.p95),
            queue_delays: self.recorder.queue_delays(index)?.clone(),
            uplink_queue_p95_ms: interval.uplink_queue.quantile(0.95),
            backlog_bytes: stats.queue.backlog.0,
            mcs: stats.mcs,
            delivered_bytes: watched.delivered.0,
            marked: (!self.is_du).then_some(stats.marked),
            ce_packets: watched.ce_packets,
            dropped: stats.dropped(),
            harq_retransmissions: stats.harq_retransmissions,
            forgotten_flows: stats.forgotten_flows,
            recommended_down_mbps,
            recommended_up_mbps,
        })
    }

    fn capture(&mut self, file: usize, at: Instant, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.packet(file, at, bytes);
        }
    }
}

/// Counts the values of a histogram of nanoseconds.
fn every_lateness(histogram: &Histogram<u64>) -> Buckets {
    let mut buckets = Buckets::new(LATENESS);
    let steps = histogram.iter_recorded();
    buckets.add(steps.map(|step| (Duration::from_nanos(step.value_iterated_to()), step.count_since_last_iteration())));
    buckets
}

/// Gives the parts of a snapshot that come from the scenario.
fn describe(scenario: &Scenario, is_du: bool) -> Vec<UeSnapshot> {
    let ues = scenario.ues().into_iter();
    ues.map(|ue| UeSnapshot {
        channel: tag(&ue.config.channel, "model"),
        law: if is_du { AT_CU.into() } else { tag(&ue.config.marker, "law") },
        name: ue.name,
        ..UeSnapshot::default()
    })
    .collect()
}

impl Observer for Watch {
    fn handle_cell(&mut self, at: Instant, bearer: BearerId, event: &CellEvent<'_, Stamped>) {
        self.recorder.handle_cell(at, bearer, event);
        if let CellEvent::Recommended { octets } = event {
            self.modems.put(bearer.ue, *octets);
        }
    }

    fn handle_driver(&mut self, at: Instant, event: &DriverEvent<'_>) {
        self.recorder.handle_driver(at, event);
        match *event {
            DriverEvent::FromCore { bytes, .. } | DriverEvent::ToCore { bytes, .. } => self.capture(0, at, bytes),
            DriverEvent::FromUe { ue, bytes } | DriverEvent::ToUe { ue, bytes } => {
                self.capture(1 + ue.0 as usize, at, bytes);
            }
            DriverEvent::Overloaded { .. } => {}
        }
    }

    fn sample(&mut self, progress: &Progress<'_>) {
        self.recorder.sample(progress);
        // This thread never waits: a reader that holds the lock gets the next snapshot.
        let Ok(mut shared) = self.shared.now.try_lock() else { return };
        let whole = progress.now.since(Instant::ZERO).as_secs_f64().max(1e-9);
        let busy = progress.busy.as_secs_f64() / whole;
        let watched = |ue: usize| self.recorder.ue(ue)?.watched();
        let delivered: Bytes = (0..self.ues.len()).filter_map(watched).map(|ue| ue.delivered).sum();
        let late = lateness(progress.lateness);
        // An idle thread that is late waits for other programs: the cell asks for less than the machine has.
        let is_late = late.is_some_and(|late| late.p99 > self.slot.as_secs_f64() * 1e6);
        let too_slow = progress.counters.overload > 0 || is_late && busy > BUSY_THREAD;
        let uplink_use = self.recorder.uplink_use();
        let rate = delivered.as_f64() * 8e-6 / whole / busy.max(1e-3);
        let counters = progress.counters;
        *shared = Snapshot {
            name: self.name.clone(),
            t_s: progress.now.as_secs_f64(),
            ues: Vec::new(),
            flows: self.recorder.flows_now(MAX_FLOWS),
            lateness_us: late,
            lateness: every_lateness(progress.lateness),
            busy,
            packets_in: counters.downlink + counters.uplink,
            packets_out: counters.forwarded,
            refused: counters.refused,
            overload: counters.overload,
            not_admitted: counters.not_admitted.map(admission::by_name).unwrap_or_default(),
            uplink_use,
            warning: None,
            marks: self.recorder.last_marks(LAST_MARKS).map(|(flow, mark)| MarkSnapshot::new(flow, &mark)).collect(),
        };
        shared.ues = (0..).zip(progress.ues).filter_map(|(index, stats)| self.ue(index, stats)).collect();
        shared.warning = if too_slow {
            Some(format!("OVERLOAD: this machine can carry {rate:.0} Mbit/s of this cell"))
        } else if let Some(used) = uplink_use.filter(|used| *used > BUSY_UPLINK) {
            Some(format!("UPLINK: {:.0} % used: UEs' packets wait for it, and acknowledgements too", used * 100.0))
        } else {
            let late = late.filter(|late| is_late || late.p999 > LATE_US);
            late.map(|late| format!("LATE: one slot in a thousand by {:.1} ms or more", late.p999 / 1e3))
        };
        self.shared.past.push(shared.t_s, &shared.ues);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tidemark_cell::{DelaySplit, DropReason, UeId};
    use tidemark_core::{Ecn, FlowId, Packet, Probability};
    use tidemark_emu::realtime::Priority;
    use tidemark_emu::{Counters, Datagram};
    use tidemark_marker::{Decision, Draw, Estimate, Odds, RlcQueue, SnLength, Verdict};
    use tidemark_record::Codepoints;
    use tidemark_record::output::read_marks;
    use tidemark_wire::mac::Direction;

    use super::*;
    use crate::live::modem;

    const SCENARIO: &str = "name = \"t\"\nduration = \"1 s\"\n[[ue]]\nname = \"walker\"\n";

    fn watch(is_du: bool) -> (Watch, Shared) {
        let scenario = Scenario::parse("t.toml", SCENARIO, Path::new(""), &[]).unwrap();
        Watch::new(&scenario, None, modem::channel().0, is_du)
    }

    /// An interval of 100 ms is over, in each of which the uplink had 1000 resource blocks x symbols; the cell's counters are these.
    fn sample(watch: &mut Watch, stats: UeStats, late: Duration) {
        sample_of(watch, stats, (998, late), Duration::ZERO);
    }

    /// Samples 100 ms of 1000 slots: the number in time, the lateness of the others, and the thread's time of work.
    fn sample_of(watch: &mut Watch, stats: UeStats, (in_time, late): (u64, Duration), busy: Duration) {
        let now = watch.recorder.now() + Duration::from_millis(100);
        let mut lateness = Histogram::new(3).unwrap();
        (0..in_time).for_each(|_| lateness.record(1_000).unwrap());
        (in_time..1_000).for_each(|_| lateness.record(late.as_nanos()).unwrap());
        watch.sample(&Progress {
            now,
            ues: &[stats],
            bearers: &[vec![]],
            resources: 1_000,
            uplink_resources: 10 * now.since(Instant::ZERO).as_micros() / 1_000,
            lateness: &lateness,
            busy,
            counters: Counters::default(),
            priority: Priority::Ordinary,
        });
    }

    const BEARER: BearerId = BearerId { ue: UeId(0), drb: 1, sn_length: SnLength::Bits12 };
    const FLOW: FlowId = FlowId(7);
    const FROM_CORE: DriverEvent<'_> = DriverEvent::FromCore { ue: UeId(0), flow: FLOW, tuple: None, bytes: &[0; 100] };

    fn packet(size: u64, ecn: Ecn) -> Packet<Stamped> {
        let payload = Stamped::new(Instant::ZERO, 1, Datagram::default());
        Packet { flow: FLOW, size: Bytes(size), ecn, payload }
    }

    const IN_TIME: Duration = Duration::from_micros(50);

    #[test]
    fn packets_left_behind_at_a_handover_are_drops_everywhere() {
        let (mut watch, shared) = watch(false);
        sample(&mut watch, UeStats { dropped_by_handover: 638, dropped_by_law: 2, ..UeStats::default() }, IN_TIME);
        assert_eq!(shared.latest().ues[0].dropped, 640);
        assert!(shared.latest().prometheus().contains("tidemark_dropped_packets_total{ue=\"walker\"} 640\n"));
        assert_eq!(watch.recorder.result(0, &shared.history()).ues[0].dropped, 640);
    }

    #[test]
    fn an_uplink_that_is_nearly_full_is_shown_and_warned_of() {
        let (mut watch, shared) = watch(false);
        let mut stats = UeStats::default();
        for interval in 1..=12 {
            // Half used at first.
            stats.uplink.resources += if interval == 1 { 500 } else { 970 };
            let delay = DelaySplit { queuing: Duration::from_millis(109), ..DelaySplit::default() };
            let packet = packet(60, Ecn::NotEct);
            watch.handle_cell(
                watch.recorder.now(),
                BEARER,
                &CellEvent::UplinkDelivered { packet: &packet, qfi: 1, delay },
            );
            sample(&mut watch, stats, IN_TIME);
            let now = shared.latest();
            assert!((now.ues[0].uplink_queue_p95_ms.unwrap() - 109.0).abs() < 0.2);
            assert_eq!(now.uplink_use, Some(if interval == 1 { 0.5 } else { 0.97 }));
            assert_eq!(now.warning.is_some_and(|said| said.starts_with("UPLINK: 97 % used")), interval > 1);
        }
        let result = watch.recorder.result(0, &shared.history());
        assert_eq!(result.live.as_ref().unwrap().uplink_busy_s, Some(1.1));
        assert!(result.warnings.len() == 1 && result.warnings[0].contains("more than 90 % used for 1.1 s"));
    }

    #[test]
    fn slots_that_are_late_by_more_than_two_milliseconds_are_warned_of() {
        let (mut watch, shared) = watch(false);
        sample(&mut watch, UeStats::default(), Duration::from_micros(3_100));
        assert_eq!(shared.latest().warning.unwrap(), "LATE: one slot in a thousand by 3.1 ms or more");
        let warnings = watch.recorder.result(0, &shared.history()).warnings;
        assert!(warnings.len() == 1 && warnings[0].contains("late by 3.1 ms"), "{warnings:?}");
    }

    #[test]
    fn a_late_thread_is_overloaded_only_if_the_cell_keeps_it_busy() {
        for (busy, says) in [(22, "LATE: one slot in a thousand by 1.5 ms or more"), (95, "OVERLOAD: this machine can")]
        {
            let (mut watch, shared) = watch(false);
            let late = (900, Duration::from_micros(1_500));
            sample_of(&mut watch, UeStats::default(), late, Duration::from_millis(busy));
            let said = shared.latest().warning.unwrap();
            assert!(said.starts_with(says), "{busy}: {said}");
        }
    }

    #[test]
    fn a_du_says_what_came_with_ce_and_no_marks() {
        for is_du in [true, false] {
            let (mut watch, shared) = watch(is_du);
            for ecn in [Ecn::Ce, Ecn::Ect1, Ecn::Ce] {
                watch.handle_driver(Instant::ZERO, &FROM_CORE);
                let (packet, delay) = (packet(100, ecn), DelaySplit::default());
                watch.handle_cell(Instant::ZERO, BEARER, &CellEvent::Delivered { packet: &packet, sn: 0, delay });
            }
            sample(&mut watch, UeStats::default(), IN_TIME);
            let now = &shared.latest().ues[0];
            let result = watch.recorder.result(0, &shared.history());
            let marked = (!is_du).then_some(0);
            assert_eq!((now.marked, now.ce_packets), (marked, 2));
            assert_eq!((result.ues[0].marked, result.flows[0].marked), (marked, 2));
            let law = if is_du { "at the CU" } else { "none" };
            assert_eq!((now.law.as_str(), result.flows[0].law.as_str()), (law, law));
        }
    }

    /// Decision of a law on the packet.
    fn decided<'a>(packet: &'a Packet<Stamped>, verdict: Verdict) -> CellEvent<'a, Stamped> {
        let decision = Decision {
            law: "l4span",
            estimate: Estimate { sojourn: Some(Duration::from_millis(12)), ..Estimate::default() },
            age: Duration::ZERO,
            odds: Odds { mark: Probability::new(0.5), drop: Probability::ZERO, rule: "l4s sojourn" },
            draw: Draw::Random(0.25),
            verdict,
            short_circuited: false,
        };
        let queue = RlcQueue { head_of_line: Duration::from_millis(9), ..RlcQueue::default() };
        CellEvent::Decided { packet, came: Ecn::Ect1, queue, decision }
    }

    #[test]
    fn a_live_cell_keeps_its_marks_and_shows_the_last_of_them() {
        for is_du in [true, false] {
            let (mut watch, shared) = watch(is_du);
            watch.handle_driver(Instant::ZERO, &FROM_CORE);
            let mut packet = packet(100, Ecn::Ce);
            for number in 1..=20 {
                let at = Instant::from_millis(number);
                (packet.payload.arrived, packet.payload.number) = (at, number);
                // Every second one passes.
                let verdict = if number % 2 == 0 { Verdict::Mark } else { Verdict::Pass };
                watch.handle_cell(at, BEARER, &decided(&packet, verdict));
                match number {
                    18 => {
                        let (direction, reason) = (Direction::Downlink, DropReason::QueueFull);
                        watch.handle_cell(at, BEARER, &CellEvent::Dropped { packet: &packet, direction, reason });
                    }
                    20 => {}
                    _ => {
                        let queuing = Duration::from_millis(30);
                        let delay = DelaySplit { queuing, ..DelaySplit::default() };
                        let delivered = CellEvent::Delivered { packet: &packet, sn: 0, delay };
                        watch.handle_cell(at + queuing, BEARER, &delivered);
                    }
                }
            }
            sample(&mut watch, UeStats::default(), IN_TIME);
            let shown = shared.latest().marks;
            let kept = watch.recorder.result(0, &shared.history()).marks;
            if is_du {
                assert!(shown.is_empty() && kept.is_none(), "a DU's laws are its CU's");
                continue;
            }
            let last = shown.last().unwrap();
            assert_eq!((shown.len(), last.packet, last.rule.as_str()), (8, 20, "l4s sojourn"));
            assert_eq!((last.flow.as_str(), last.estimated_ms, last.queued_ms), ("unreadable", Some(12.0), Some(9.0)));
            let rows = read_marks(&kept.unwrap()).unwrap();
            assert_eq!(rows.len(), 10);
            assert_eq!((rows[0].packet, rows[0].queuing_ms, rows[0].answered_s), (2, Some(30.0), None));
            assert_eq!((&*rows[8].lost, rows[8].arrived_s), ("full queue", None));
            assert_eq!((&*rows[9].lost, rows[9].arrived_s), ("", None), "it is under way");
        }
    }

    #[test]
    fn codepoints_in_results_are_those_after_the_warm_up() {
        let scenario = Scenario::parse("t.toml", SCENARIO, Path::new(""), &["warmup=500 ms".into()]).unwrap();
        let (mut watch, shared) = Watch::new(&scenario, None, modem::channel().0, false);
        for at in [0, 600] {
            watch.handle_driver(Instant::from_millis(at), &FROM_CORE);
        }
        let flow = &watch.recorder.result(0, &shared.history()).flows[0];
        let not_ect = |packets| Codepoints { not_ect: packets, ..Codepoints::default() };
        assert_eq!((flow.sent_packets, flow.ecn), (1, Some(not_ect(1))));
    }

    #[test]
    fn each_flow_has_its_rates_and_packets_and_what_nobody_measured_is_absent() {
        for is_du in [true, false] {
            let (mut watch, shared) = watch(is_du);
            watch.handle_driver(Instant::ZERO, &FROM_CORE);
            watch.handle_driver(Instant::ZERO, &DriverEvent::Overloaded { ue: UeId(0), flow: FLOW, up: None });
            let (packet, delay) = (packet(100, Ecn::Ect1), DelaySplit::default());
            watch.handle_cell(Instant::ZERO, BEARER, &decided(&packet, Verdict::Mark));
            watch.handle_cell(Instant::ZERO, BEARER, &CellEvent::Delivered { packet: &packet, sn: 0, delay });
            sample(&mut watch, UeStats::default(), IN_TIME);
            let flows = shared.latest().flows;
            let flow = &flows[0];
            assert_eq!((flows.len(), flow.name.as_str(), flow.ue.as_str()), (1, "unreadable", "walker"));
            // 100 bytes in 100 ms.
            assert_eq!((flow.down_mbps, flow.up_mbps, flow.round_trip_ms), (0.008, None, None));
            assert_eq!((flow.not_ect, flow.ect1, flow.dropped), (1, 0, 1));
            assert_eq!(flow.marked, (!is_du).then_some(1), "a DU's CU marks");
            let result = watch.recorder.result(0, &shared.history());
            assert_eq!(result.flows[0].ecn, Some(Codepoints { not_ect: 1, ..Codepoints::default() }));
            let metrics = shared.latest().prometheus();
            let labels = "{flow=\"unreadable\",ue=\"walker\",";
            assert!(
                metrics.contains(&format!("tidemark_flow_packets_total{labels}ecn=\"Not-ECT\"}} 1\n")),
                "{metrics}"
            );
            assert!(!metrics.contains("tidemark_flow_round_trip") && !metrics.contains("\"uplink\""));
            sample(&mut watch, UeStats::default(), IN_TIME);
            assert_eq!(shared.latest().flows[0].down_mbps, 0.0, "idle now");
        }
    }

    #[test]
    fn queue_delays_and_lateness_are_counted_from_the_start() {
        let (mut watch, shared) = watch(false);
        for queuing in [Duration::from_millis(5), Duration::from_millis(700)] {
            let (packet, delay) = (packet(100, Ecn::Ect1), DelaySplit { queuing, ..DelaySplit::default() });
            watch.handle_cell(Instant::ZERO, BEARER, &CellEvent::Delivered { packet: &packet, sn: 0, delay });
            sample(&mut watch, UeStats::default(), Duration::from_micros(300));
        }
        let metrics = shared.latest().prometheus();
        for expected in [
            "tidemark_downlink_queue_delay_seconds_bucket{ue=\"walker\",le=\"0.006\"} 1\n",
            "tidemark_downlink_queue_delay_seconds_count{ue=\"walker\"} 2\n",
            "tidemark_slot_lateness_seconds_bucket{le=\"0.0002\"} 998\n",
            "tidemark_slot_lateness_seconds_bucket{le=\"+Inf\"} 1000\n",
        ] {
            assert!(metrics.contains(expected), "{expected}{metrics}");
        }
        assert!(!shared.status().unwrap().contains("queue_delays"), "the page has the quantiles");
    }

    #[test]
    fn the_most_active_flows_are_shown_and_no_more_than_fifty() {
        let (mut watch, shared) = watch(false);
        for flow in 0..60 {
            let packet = Packet { flow: FlowId(flow), ..packet(100 + u64::from(flow), Ecn::Ect1) };
            let event = CellEvent::Delivered { packet: &packet, sn: 0, delay: DelaySplit::default() };
            watch.handle_cell(Instant::ZERO, BEARER, &event);
        }
        sample(&mut watch, UeStats::default(), IN_TIME);
        let rates: Vec<_> = shared.latest().flows.iter().map(|flow| flow.down_mbps).collect();
        assert_eq!((rates.len(), rates[0]), (MAX_FLOWS, 159.0 * 8e-6 / 0.1));
        assert!(rates.is_sorted_by(|a, b| a >= b));
    }

    #[test]
    fn a_mark_in_the_short_circuit_is_one_of_its_flow() {
        let (mut watch, shared) = watch(false);
        watch.handle_driver(Instant::ZERO, &FROM_CORE);
        let packet = packet(100, Ecn::Ect1);
        watch.handle_cell(Instant::ZERO, BEARER, &CellEvent::ShortCircuited { packet: &packet });
        sample(&mut watch, UeStats { marked: 1, ..UeStats::default() }, IN_TIME);
        let result = watch.recorder.result(0, &shared.history());
        assert_eq!((result.flows[0].marked, &result.series.flows.marks[0][..]), (1, &[1][..]));
    }
}
