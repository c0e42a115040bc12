//! Marker of one DRB: takes packets and reports, and gives verdicts.

use alloc::boxed::Box;
use core::hint::black_box;

use tidemark_core::{BitRate, Bytes, ConfigError, Duration, Inspect, Instant, Packet, Probability, Stream};

use crate::backlog::Backlog;
use crate::busy::BusyTime;
use crate::config::MarkerConfig;
use crate::counters::{Counters, Tally};
use crate::decision::{Decision, Outcome};
use crate::drain::Drain;
use crate::egress::{Egress, EgressEstimator};
use crate::estimate::Estimate;
use crate::flow_table::{FlowTable, IN_USE};
use crate::law::{ActiveLaw, Decides, Departure, Properties};
use crate::overload::{Overload, Stage};
use crate::profile::ProfileTable;
use crate::report::{RlcQueue, SnLength};
use crate::verdict::{Class, Verdict};

mod decide;
mod downlink;
mod reports;

/// Reports in a row that describe arrivals, not transmissions, if each leaves next to nothing queued, at no age.
const BLIND_REPORTS: u8 = 64;

/// One DRB of one UE.
///
/// The caller reports events, for one packet in this order: [`handle_downlink`](Self::handle_downlink) when it
/// arrives, then [`handle_pdcp_pdu`](Self::handle_pdcp_pdu) once PDCP has numbered it, unless PDCP drops it. It calls
/// [`handle_report`](Self::handle_report) for each report of the DU. Nothing here allocates or fails after `new`.
// What a packet reads lies together in the middle; what only a report or nobody reads lies at both ends. Nothing of it is behind
// a pointer but tables, so that whoever holds a marker has all of it after one wait for memory.
#[repr(C)]
pub struct DrbMarker {
    /// The estimate is in the last fields.
    estimator: EgressEstimator,
    backlog: Backlog,
    last_l4s: Option<Instant>,
    last_classic: Option<Instant>,
    pub(crate) flows: FlowTable,
    probability: Probability,
    law: ActiveLaw,
    properties: &'static Properties,
    stream: Stream,
    /// Counters of packets are the first fields.
    tally: Tally,
    /// Bytes and SDUs queued are the first fields.
    profile: ProfileTable,
    busy: BusyTime,
    drain: Drain,
    apart: Box<Apart>,
    /// In nanoseconds, up to 4.29 s.
    retransmission_ns: Option<u32>,
    /// In units of their own, so that a UE's state stays below a KiB.
    poll_after_us: u32,
    report_timeout_ms: u32,
    /// Marks that acknowledgements had no room for; those of flows that gave way are in the table.
    marks_let_go: u32,
    /// Reports in a row that describe arrivals, counted to `BLIND_REPORTS`.
    blind: u8,
    short_circuit: bool,
    /// Stage of `overload`, which is read beyond `Calm` alone.
    stage: Stage,
}

/// State that no packet reads as long as all is well.
struct Apart {
    overload: Overload,
    last_sojourn: Option<Duration>,
    stale_reports: u64,
    mismatched_reports: u64,
}

impl DrbMarker {
    /// A marker for a DRB whose PDCP uses SNs of `sn_length`. Random draws come from `stream`.
    ///
    /// # Errors
    /// Names the first field of the configuration that cannot be used.
    pub fn new(config: &MarkerConfig, sn_length: SnLength, stream: Stream) -> Result<Self, ConfigError> {
        config.validate()?;
        Ok(Self {
            law: ActiveLaw::new(&config.law),
            properties: config.law.properties(),
            stream,
            profile: ProfileTable::new(config.profile_capacity, sn_length),
            estimator: EgressEstimator::new(config.tau_c, config.measured_time()),
            backlog: Backlog::new(config.law.is_as_printed()),
            poll_after_us: whole(config.poll_after, 1_000),
            report_timeout_ms: whole(config.report_timeout, 1_000_000),
            marks_let_go: 0,
            short_circuit: config.short_circuit,
            stage: Stage::Calm,
            apart: Box::new(Apart {
                overload: Overload::new(config.overload_limit()),
                last_sojourn: None,
                stale_reports: 0,
                mismatched_reports: 0,
            }),
            last_l4s: None,
            last_classic: None,
            busy: BusyTime::begin(Instant::ZERO),
            drain: Drain::new(),
            retransmission_ns: None,
            probability: Probability::ZERO,
            blind: 0,
            tally: Tally::default(),
            flows: FlowTable::new(config.flow_capacity),
        })
    }

    /// Takes a downlink packet before PDCP. The caller applies the verdict: it sets CE or drops the packet.
    ///
    /// `rlc` is the true state of the RLC queue if the caller can see it. Laws that work from F1-U ignore it.
    #[inline]
    pub fn handle_downlink<P: Inspect>(&mut self, now: Instant, packet: &Packet<P>, rlc: Option<RlcQueue>) -> Verdict {
        self.decide_downlink(now, packet, rlc).map_or(Verdict::Pass, |outcome| outcome.applied())
    }

    /// Does the work of [`handle_downlink`](Self::handle_downlink) and also gives the reasons. The verdict is
    /// [`Outcome::applied`]. `None` for a law that [decides on leaving](Self::decides_on_leaving): the packet passes.
    // Part of its caller, so that a caller who looks at no reasons doesn't pay for them.
    #[inline(always)]
    pub fn decide_downlink<P: Inspect>(
        &mut self,
        now: Instant,
        packet: &Packet<P>,
        rlc: Option<RlcQueue>,
    ) -> Option<Outcome> {
        self.decide_qos_flow(now, packet, rlc, None)
    }

    /// Takes the SN that PDCP gave to an SDU sent to the DU. `size` is that of the PDU.
    pub fn handle_pdcp_pdu(&mut self, now: Instant, sn: u32, size: Bytes) {
        self.tally.pdus += 1;
        // The first SDU of a busy period: idle time before it is no measurement of the radio, and no silence of the DU.
        if self.profile.packets() == 0 {
            self.busy = BusyTime::begin(now);
            self.backlog.begin(now);
            self.estimator.begin(now);
        }
        // The table may refuse a stray SN, or let old SDUs go: the difference is what the backlog grows by.
        let before = self.profile.standing();
        self.profile.record(now, sn, size);
        let added = self.profile.standing() - before;
        self.backlog.arrive(now, added.0, self.estimator.current());
    }

    /// Takes an SDU that PDCP sends to the DU again. It counts, as by [`handle_pdcp_pdu`](Self::handle_pdcp_pdu), unless it was already
    /// handed over since the last [`handle_handover`](Self::handle_handover): the DU queues an SDU only once.
    pub fn handle_pdcp_retransmission(&mut self, now: Instant, sn: u32, size: Bytes) {
        if self.profile.is_new(sn) {
            self.handle_pdcp_pdu(now, sn, size);
        }
    }

    /// Length of the DRB's PDCP SNs.
    pub fn sn_length(&self) -> SnLength {
        self.profile.sn_length()
    }

    /// Takes an SDU that PDCP discarded after numbering it.
    pub fn handle_discard(&mut self, now: Instant, sn: u32) {
        self.tally.discards += 1;
        self.profile.discard(now, sn);
    }

    /// Marks of [`short_circuited`](Counters::short_circuited) that wait for an acknowledgement. All others were carried by one, are echoed
    /// until the sender responds (classic ECN), or are in [`marks_let_go`](Counters::marks_let_go). The call reads every flow.
    pub fn pending_marks(&self) -> u64 {
        self.flows.pending_marks()
    }

    /// True if the law decides when packets leave the queue, so that [`handle_dequeue`](Self::handle_dequeue) must be called then.
    pub fn decides_on_leaving(&self) -> bool {
        self.properties.decides.on_leaving()
    }

    /// Takes a packet whose first segment leaves the RLC queue after `sojourn`; `rlc` is the queue that remains. It is for the laws that
    /// decide there. After a drop the caller asks for the next packet, at the same time.
    pub fn handle_dequeue<P: Inspect>(
        &mut self,
        now: Instant,
        packet: &Packet<P>,
        sojourn: Duration,
        rlc: RlcQueue,
    ) -> Verdict {
        self.decide_dequeue(now, packet, sojourn, rlc).map_or(Verdict::Pass, |outcome| outcome.applied())
    }

    /// Does the work of [`handle_dequeue`](Self::handle_dequeue) and also gives the reasons. `None` for a law that decides on arrival: the
    /// packet passes.
    #[inline]
    pub fn decide_dequeue<P: Inspect>(
        &mut self,
        now: Instant,
        packet: &Packet<P>,
        sojourn: Duration,
        rlc: RlcQueue,
    ) -> Option<Outcome> {
        // The packet was decided on when it arrived.
        if !self.decides_on_leaving() {
            return None;
        }
        let class = Class::of(packet.ecn).unwrap_or(Class::L4s);
        let odds = self.law.leave(&Departure { now, sojourn, behind: rlc.backlog, class });
        // Its arrival was decided on: here the law has a rule for a few packets, and nothing to say of the others.
        if self.properties.decides == Decides::OnBoth && odds.rule.is_empty() {
            return None;
        }
        // Laws that decide here signal to everybody, if not by each packet.
        let (verdict, draw, odds) = if self.stage == Stage::Overloaded {
            let flow = packet.payload.five_tuple(packet.flow);
            self.decide_in_overload(now, (flow, packet.size), (packet.ecn, class), odds, None)
        } else {
            let (verdict, draw) = self.decide(packet.ecn, class, odds);
            (verdict, draw, odds)
        };
        Some(Outcome { odds, age: sojourn, draw, verdict, short_circuited: false })
    }

    /// Describes an outcome together with the state behind it. Call it right after
    /// [`decide_downlink`](Self::decide_downlink) or [`decide_dequeue`](Self::decide_dequeue), with the same time.
    pub fn decision(&self, now: Instant, outcome: Outcome) -> Decision {
        let Outcome { odds, age, draw, verdict, short_circuited } = outcome;
        let (law, estimate) = (self.properties.name, self.estimate(now));
        Decision { law, estimate, age, odds, draw, verdict, short_circuited }
    }

    /// Takes an uplink packet: reads the handshake, and writes short-circuited marks into acknowledgements.
    #[inline]
    pub fn handle_uplink<P: Inspect>(&mut self, now: Instant, packet: &mut Packet<P>) {
        self.follow_uplink(now, packet);
    }

    /// Does the work of [`handle_uplink`](Self::handle_uplink). True for a SYN, or the answer to one: its connection can be named.
    #[inline(always)]
    pub(crate) fn follow_uplink<P: Inspect>(&mut self, now: Instant, packet: &mut Packet<P>) -> bool {
        let id = packet.payload.five_tuple(packet.flow);
        let mut is_syn = false;
        let rewritten = packet.payload.answer_tcp(|tcp| {
            is_syn = tcp.flags.syn;
            // Only a SYN may begin an entry from this side: acknowledgements of flows that the downlink never admitted would push out
            // those that it did.
            let opens = tcp.flags.syn && !tcp.flags.ack;
            let flow = if opens { self.flows.admit(now, id) } else { self.flows.get(id) }?;
            flow.uplink(now);
            flow.handshake(now, tcp.flags, false);
            flow.feedback.uplink(tcp, &mut self.marks_let_go)
        });
        self.tally.rewritten_acks += u64::from(rewritten);
        is_syn
    }

    /// Call it when the DRB is re-established or moves to another DU. It forgets the old queue and the measurements of the old
    /// radio, and keeps flows and their counters. SDUs that PDCP retransmits must be announced again.
    pub fn handle_handover(&mut self, now: Instant) {
        self.profile.clear();
        self.estimator.clear();
        self.backlog = Backlog::new(self.backlog.is_as_printed());
        self.backlog.begin(now);
        self.busy = BusyTime::begin(now);
        self.drain = Drain::new();
        (self.apart.last_sojourn, self.retransmission_ns) = (None, None);
        self.blind = 0;
        self.stage = Stage::Calm;
        self.apart.overload.clear();
    }

    /// Takes another configuration from now on. Flows, their signalled marks and the counters are kept. So are the measurements, unless
    /// `tau_c` or `egress_time` changes, and the queue, unless the length of the SNs changes. In that case the queue is forgotten as at
    /// a handover, and SDUs that PDCP sends again, or that are still under way, must be announced.
    ///
    /// # Errors
    /// Names the first field of the configuration that cannot be used; nothing has changed then.
    pub fn reconfigure(&mut self, now: Instant, config: &MarkerConfig, sn_length: SnLength) -> Result<(), ConfigError> {
        config.validate()?;
        (self.law, self.properties) = (ActiveLaw::new(&config.law), config.law.properties());
        self.short_circuit = config.short_circuit;
        self.backlog.reconfigure(config.law.is_as_printed());
        self.stage = Stage::Calm;
        self.apart.overload.reconfigure(config.overload_limit());
        self.poll_after_us = whole(config.poll_after, 1_000);
        self.report_timeout_ms = whole(config.report_timeout, 1_000_000);
        self.flows.resize(config.flow_capacity);
        // Samples of another window or clock can't be taken over.
        if (config.tau_c, config.measured_time()) != (self.estimator.window(), self.estimator.time()) {
            self.estimator = EgressEstimator::new(config.tau_c, config.measured_time());
        }
        // SNs of another length name other SDUs: nothing that is queued could be matched.
        if self.profile.sn_length() == sn_length {
            self.profile.resize(config.profile_capacity);
        } else {
            let anomalies = self.profile.anomalies;
            self.profile = ProfileTable::new(config.profile_capacity, sn_length);
            self.profile.anomalies = anomalies;
            self.handle_handover(now);
        }
        Ok(())
    }

    /// Reads a word of every cache line that a downlink packet reads, so that the waits for them pass at the same time.
    #[inline]
    pub(crate) fn warm(&self) {
        black_box(self.estimator.window());
        black_box(self.last_classic);
        black_box(self.tally.packets);
        black_box(self.tally.rewritten_acks);
        black_box(self.profile.standing());
    }

    /// Reads ahead for a report.
    #[inline]
    pub(crate) fn warm_report(&self) {
        self.profile.warm();
        self.estimator.warm();
        black_box((self.backlog.report_age(Instant::ZERO), self.blind, self.drain.is_steady()));
        black_box(self.tally.reports);
    }

    /// Addresses of what a report reads and writes beyond this struct.
    pub(crate) fn report_addresses(&self) -> impl Iterator<Item = *const u8> {
        self.profile.addresses().into_iter().chain(self.estimator.addresses())
    }

    /// Reads ahead for an acknowledgement.
    #[inline]
    pub(crate) fn warm_uplink(&self) {
        self.flows.warm();
        black_box((self.short_circuit, self.tally.rewritten_acks));
    }

    /// True while there is a queue and the last report is too old to give its length. The caller may then set the
    /// polling flag of the next DL USER DATA frame (TS 38.425 5.5.3.7).
    pub fn wants_report(&self, now: Instant) -> bool {
        self.profile.packets() > 0 && self.backlog.report_age(now) > Duration::from_micros(self.poll_after_us.into())
    }

    /// True while the estimated queue is not empty; false if reports are missing, since the queue is then unknown.
    pub(crate) fn has_queue(&self, now: Instant) -> bool {
        self.queue(now).0 > 0.0
    }

    /// Estimate of the DRB's state at `now`.
    pub fn estimate(&self, now: Instant) -> Estimate {
        let (level, egress) = self.queue(now);
        let rate = egress.map_or(0.0, |egress| egress.rate.as_bytes_per_sec());
        Estimate {
            backlog: Bytes(level as u64),
            standing: self.profile.standing(),
            packets: self.profile.packets(),
            egress,
            sojourn: (rate > 0.0).then(|| Duration::from_secs_f64(level / rate)),
            last_sojourn: self.apart.last_sojourn,
            head_of_line: self.head_of_line(now, level, egress),
            retransmission: self.retransmission_ns.map(|nanos| Duration::from_nanos(nanos.into())),
            probability: self.probability,
            report_age: self.backlog.report_age(now),
        }
    }

    /// Counters so far.
    pub fn counters(&self) -> Counters {
        let (tally, anomalies) = (self.tally, self.profile.anomalies);
        Counters {
            packets: tally.packets,
            l4s_packets: tally.l4s_packets,
            classic_packets: tally.classic_packets,
            ce_packets: tally.ce_packets,
            l4s_marks: tally.l4s_marks,
            classic_marks: tally.classic_marks,
            short_circuited: tally.short_circuited,
            drops: tally.drops,
            rewritten_acks: tally.rewritten_acks,
            pdus: tally.pdus,
            discards: tally.discards,
            reports: tally.reports,
            empty_reports: tally.empty_reports,
            unknown_sns: anomalies.unknown,
            repeated_sns: anomalies.repeated,
            skipped_sns: anomalies.skipped,
            sn_restarts: anomalies.restarts,
            beyond_table: anomalies.beyond,
            untimed_deliveries: anomalies.untimed,
            stale_reports: self.apart.stale_reports,
            mismatched_reports: self.apart.mismatched_reports,
            flows_evicted: self.flows.evicted(),
            flows_refused: self.flows.refused(),
            blind_drbs: (self.blind >= BLIND_REPORTS).into(),
            reports_missing: tally.reports_missing,
            marks_let_go: u64::from(self.marks_let_go) + self.flows.marks_let_go(),
            overload_drops: self.apart.overload.drops,
        }
    }

    /// Estimates of the backlog in bytes and of the egress rate. A silence that can only mean that nothing is transmitted
    /// lowers the rate.
    fn queue(&self, now: Instant) -> (f64, Option<Egress>) {
        let current = self.estimator.current();
        // Everything was reported as transmitted: silence is no sign of an outage then.
        if self.profile.packets() == 0 {
            return (0.0, current);
        }
        let (standing, silence) = (self.profile.standing().0, self.backlog.silence(now));
        let level = self.backlog.level(now, standing, silence, current);
        // The next report is not due yet: the rate stands as it was measured.
        if silence.is_zero() {
            return (level, current);
        }
        // A DU that says nothing for so long has stopped reporting: to mark for the queue of its last report would be for good.
        if self.lacks_reports(now) {
            return (0.0, None);
        }
        let left = 1.0 - silence.as_secs_f64() / self.estimator.window().as_secs_f64();
        let lowered = |egress: Egress| Egress {
            rate: BitRate::from_bps_f64(egress.rate.as_bps() as f64 * left.max(0.0)),
            ..egress
        };
        (level, current.map(lowered))
    }

    /// True while something is queued and the DU has not reported for too long to know how much.
    #[inline]
    fn lacks_reports(&self, now: Instant) -> bool {
        self.profile.packets() > 0
            && self.backlog.report_age(now) > Duration::from_millis(self.report_timeout_ms.into())
    }

    /// Age of the oldest SDU if `level` bytes are left. Without an egress rate it is its age at the last report, since the
    /// SDUs that left later are not known.
    fn head_of_line(&self, now: Instant, level: f64, egress: Option<Egress>) -> Option<Duration> {
        if self.lacks_reports(now) {
            return None;
        }
        let head = self.profile.head_behind(now, level)?;
        Some(if egress.is_none() { head.saturating_sub(self.backlog.unknown_drain(now)) } else { head })
    }

    fn is_alive(&self, last: Option<Instant>, now: Instant) -> bool {
        last.is_some_and(|last| now.since(last) < IN_USE)
    }
}

/// Rounds up to whole units of this many nanoseconds. Four billion of them stand for never.
fn whole(time: Duration, unit: u64) -> u32 {
    u32::try_from(time.as_nanos().div_ceil(unit)).unwrap_or(u32::MAX)
}
