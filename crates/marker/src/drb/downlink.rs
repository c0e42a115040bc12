//! The five steps of a downlink packet through the marker of its DRB.

use tidemark_core::{Bytes, Duration, Ecn, FlowId, Inspect, Instant, Packet, TcpView};

use super::DrbMarker;
use crate::decision::Outcome;
use crate::law::{Arrival, Decides};
use crate::overload::Stage;
use crate::qos_flow::QosFlow;
use crate::report::RlcQueue;
use crate::verdict::{Class, Verdict};

/// Properties of a packet and of its flow.
struct Seen {
    flow: FlowId,
    tcp: Option<TcpView>,
    size: Bytes,
    /// Rule that it falls under.
    class: Class,
    /// True while both L4S and classic flows are alive in the DRB.
    shared: bool,
    /// Largest packet of its flow in bytes.
    segment: Option<u16>,
    /// Handshake round trip of its flow.
    rtt: Option<Duration>,
    /// Acknowledgements of its flow had no room for a mark.
    owes: bool,
}

impl DrbMarker {
    /// Does the work of [`decide_downlink`](Self::decide_downlink) for a packet of a QoS flow. `unmarked` is the QoS flow if it is not marked
    /// here. Then the packet gets no mark, neither in itself nor in an acknowledgement. The marker still learns from it, and drops it if the
    /// law does. The outcome has the odds that the law would have used.
    #[inline(always)]
    pub fn decide_qos_flow<P: Inspect>(
        &mut self,
        now: Instant,
        packet: &Packet<P>,
        rlc: Option<RlcQueue>,
        mut unmarked: Option<&mut QosFlow>,
    ) -> Option<Outcome> {
        // Whose packet it is: its flow says what it is to be told, and by which rule.
        let seen = self.follow_downlink(now, packet);
        // What waits before it, as far as the DU's reports tell.
        let (arrival, age) = self.arrival(now, &seen, rlc);
        // The flow was followed all the same: a later law, or the uplink, needs it.
        if self.properties.decides == Decides::OnLeaving {
            return None;
        }
        // What the law asks for. What the packet can carry is no business of the law.
        let odds = self.law.arrive(&arrival);
        // What the packet allows. Where it is not marked here it counts as Not-ECT, whatever it carries.
        let ecn = if unmarked.is_some() { Ecn::NotEct } else { packet.ecn };
        if let Some(flow) = &mut unmarked {
            flow.observe(seen.class, odds.mark);
        }
        // A sender to whom the law says nothing has no answer to give in an overload.
        let (mut verdict, draw, odds) = if self.stage == Stage::Overloaded && !odds.rule.is_empty() {
            self.decide_in_overload(now, (seen.flow, seen.size), (ecn, seen.class), odds, unmarked.as_deref())
        } else {
            let (verdict, draw) = self.decide(ecn, seen.class, odds);
            (verdict, draw, odds)
        };
        // What is done: in the packet, or in an acknowledgement, which comes back sooner.
        let short_circuited = self.signal(&seen, ecn, &mut verdict);
        Some(Outcome { odds, age, draw, verdict, short_circuited })
    }

    /// Follows the packet's flow. If the table is full of flows in use, the packet's own ECN field and size are used instead.
    #[inline(always)]
    fn follow_downlink<P: Inspect>(&mut self, now: Instant, packet: &Packet<P>) -> Seen {
        let shown = Class::of(packet.ecn);
        self.tally.packets += 1;
        self.tally.ce_packets += u64::from(shown.is_none());
        let (mut segment, mut rtt, mut known, mut owes) = (None, None, None, false);
        let tcp = packet.payload.tcp();
        let id = packet.payload.five_tuple(packet.flow);
        // None where every flow of its set is in use: a new one must not end them.
        if let Some(flow) = self.flows.admit(now, id) {
            flow.downlink(now, shown, packet.size.0);
            // Only TCP opens connections and feeds marks back in headers that can be read.
            if let Some(tcp) = &tcp {
                flow.handshake(now, tcp.flags, true);
                owes = flow.feedback.downlink(tcp, &mut self.marks_let_go);
            }
            (segment, rtt, known) = (Some(flow.largest), flow.rtt(), flow.class);
        }
        // The packet's own field says which rule it falls under (RFC 9331 5.1), its flow's where it says nothing any more.
        let class = shown.or(known).unwrap_or(Class::L4s);
        // Counted by the flow's class, not by this packet's: a Not-ECT retransmission of an L4S flow keeps that class alive.
        let shared = self.is_shared(now, known.unwrap_or(class));
        Seen { flow: id, tcp, size: packet.size, class, shared, segment, rtt, owes }
    }

    /// Counts a packet of a flow of this class. True while flows of the other class are alive too.
    #[inline(always)]
    fn is_shared(&mut self, now: Instant, class: Class) -> bool {
        match class {
            Class::L4s => {
                self.tally.l4s_packets += 1;
                self.last_l4s = Some(now);
                self.is_alive(self.last_classic, now)
            }
            Class::Classic => {
                self.tally.classic_packets += 1;
                self.last_classic = Some(now);
                self.is_alive(self.last_l4s, now)
            }
            Class::NotEct => self.is_alive(self.last_l4s, now) && self.is_alive(self.last_classic, now),
        }
    }

    /// State of the queue at the packet's arrival, and the age given to the law.
    #[inline(always)]
    fn arrival(&mut self, now: Instant, seen: &Seen, rlc: Option<RlcQueue>) -> (Arrival, Duration) {
        let (backlog, egress) = self.queue(now);
        self.tally.reports_missing += u64::from(self.lacks_reports(now));
        let age = match rlc {
            Some(rlc) => rlc.head_of_line,
            // The search in the stamps is paid for by the laws that look at the age alone.
            None if self.properties.looks_at_head => self.head_of_line(now, backlog, egress).unwrap_or(Duration::ZERO),
            None => Duration::ZERO,
        };
        let arrival = Arrival {
            now,
            head_of_line: age.as_secs_f64(),
            size: seen.size.as_f64(),
            backlog,
            egress,
            average: self.estimator.average(),
            class: seen.class,
            segment: seen.segment.map_or(seen.size.as_f64(), f64::from),
            rtt: seen.rtt,
            shared: seen.shared,
            reports: self.tally.reports,
        };
        (arrival, age)
    }

    /// Leaves a mark to the flow's acknowledgements if they can carry it, and then gives true. Marks a packet that passes if they owe a mark.
    #[inline(always)]
    fn signal(&mut self, seen: &Seen, ecn: Ecn, verdict: &mut Verdict) -> bool {
        let short_circuited = *verdict == Verdict::Mark && self.short_circuit && self.defer_mark(seen.flow, seen.tcp);
        if seen.owes && *verdict == Verdict::Pass && self.settle(seen.flow, ecn, seen.class) {
            *verdict = Verdict::Mark;
        }
        self.tally.short_circuited += u64::from(short_circuited);
        short_circuited
    }
}
