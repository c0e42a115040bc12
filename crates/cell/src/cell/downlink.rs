//! Downlink packets on their way from the core to the RLC queue.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_marker::Verdict;
use tidemark_wire::mac::Direction;

use super::Cell;
use crate::event::Event;
use crate::output::{DropReason, Output, UeId};
use crate::qos::Mapped;

impl<P: Inspect> Cell<P> {
    /// Takes a downlink packet at the CU: SDAP finds its bearer, the law decides, PDCP numbers it, and F1-U carries it to the
    /// RLC queue.
    pub fn handle_downlink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(mapped) = self.cu.map(id, &packet) else { return };
        self.admit(now, id, mapped, packet);
    }

    /// Takes a downlink packet with a QFI from the UPF (in the PDU session container of N3). A QoS flow without a bearer goes to the
    /// default bearer. With `reflective` (RQI, TS 38.415 5.5.3.4) answers come up in the same QoS flow.
    pub fn handle_qos_flow(&mut self, now: Instant, id: UeId, qos_flow: (u8, bool), packet: Packet<P>) {
        let Some(mapped) = self.cu.map_qos_flow(id, qos_flow, packet.flow) else { return };
        self.admit(now, id, mapped, packet);
    }

    fn admit(&mut self, now: Instant, id: UeId, mapped: Mapped, mut packet: Packet<P>) {
        let index = mapped.drb;
        // The UE derives its rule at once, not when the packet has reached it.
        if mapped.reflective {
            self.around.ues[id].sdap_mut().reflect(packet.flow, mapped);
        }
        let (is_in_sight, period) =
            (self.du.carrier().config().f1u.rlc_in_sight, self.du.carrier().config().f1u.report_period);
        let drb = self.du.queues().drb(index);
        let (bearer, came) = (drb.id(), packet.ecn);
        let queue = is_in_sight.then(|| drb.queue_state(now));
        self.around.events.emit(now, bearer, || Event::Arrived { packet: &packet });
        let outcome = self.cu.downlink(now, bearer, mapped, &mut packet, queue);
        let signals = outcome.is_some_and(|outcome| outcome.verdict != Verdict::Pass);
        // What a decision was made of is gathered only where somebody listens.
        if self.around.events.want_decision(signals)
            && let Some(outcome) = outcome
        {
            let decision = self.cu.decision(now, bearer, outcome);
            let queue = drb.queue_state(now);
            let decided = || Event::Decided { packet: &packet, came, queue, decision };
            self.around.events.emit_decision(now, bearer, signals, decided);
        }
        // An acknowledgement takes the mark back to the sender, sooner than the packet could.
        if outcome.is_some_and(|outcome| outcome.short_circuited) {
            self.around.events.emit(now, bearer, || Event::ShortCircuited { packet: &packet });
            self.around.outputs.push_back(Output::ShortCircuited { at: now, ue: id, flow: packet.flow });
        }
        // A law drops before the packet has a number; PDCP's SNs stay without a hole.
        let dropped = match outcome.map(|outcome| outcome.verdict) {
            Some(Verdict::Drop) => Some(DropReason::Law),
            // The CU knows the DU's limit and does not number what would not fit.
            _ => drb.is_full(packet.size).then_some(DropReason::QueueFull),
        };
        // Lost before PDCP: no SN is spent on it.
        if let Some(reason) = dropped {
            let direction = Direction::Downlink;
            self.around.events.emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
            self.du.queues_mut().count_dropped(index, reason);
            self.around.outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason });
            return;
        }
        let sn = self.cu.number(now, bearer, packet.size);
        // A DU that reports in each slot has nothing to add.
        let asks = !period.is_zero() && self.cu.wants_report(now, bearer);
        let poll = asks && self.du.queues_mut().drb_mut(index).poll();
        self.around.events.emit(now, bearer, || Event::Numbered { packet: &packet, sn, poll });
        // The report is on its way for as long as the interface takes.
        if poll {
            self.du.poll_report(now + self.f1u.delay(), index);
        }
        // CU and DU are one machine: nothing is under way between them.
        if self.f1u.delay().is_zero() {
            self.du.handle_pdu(now, now, index, sn, packet);
        } else {
            self.f1u.send_down(now, index, sn, packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Packet};
    use tidemark_marker::{MarkerConfig, SnLength};
    use tidemark_radio::channel::{ChannelConfig, FixedConfig, PedestrianConfig};

    use super::*;
    use crate::config::{CellConfig, F1uConfig, RlcConfig, UeConfig};
    use crate::index::DrbIndex;

    #[derive(Clone, Debug)]
    struct Sent(Instant);
    impl Inspect for Sent {}

    const LIMIT: Duration = Duration::from_millis(100);

    /// A cell with a UE that discards what waits for longer than `LIMIT`, and 4 packets a millisecond for this many seconds; how many
    /// were discarded, each in time.
    fn discarded(snr_db: f64, seconds: u64) -> (Cell<Sent>, u32) {
        let rlc = RlcConfig {
            discard_timer: Some(LIMIT),
            t_reordering: Some(Duration::from_millis(20)),
            pdcp_sn: SnLength::Bits12,
            queue_sdus: 1_000,
            ..RlcConfig::default()
        };
        let channel = ChannelConfig::Pedestrian(PedestrianConfig { snr_db, ..PedestrianConfig::default() });
        let mut cell = Cell::new(&CellConfig::default(), 1).unwrap();
        let ue = cell.add_ue(&UeConfig { channel, rlc, ..UeConfig::default() }).unwrap();
        let mut discarded = 0;
        for number in 0..4_000 * seconds {
            let now = Instant::ZERO + Duration::from_micros(250) * number;
            while let Some(at) = cell.next_deadline().filter(|at| *at <= now) {
                cell.handle_timeout(at);
                while let Some(output) = cell.poll_output() {
                    if let Output::Dropped { at, packet: Packet { payload: Sent(since), .. }, reason, .. } = output {
                        assert_eq!((at, reason), (since + LIMIT, DropReason::Discarded));
                        discarded += 1;
                    }
                }
                assert!(cell.du.queues().discards() <= 1);
            }
            let packet = Packet { flow: FlowId(1), size: Bytes(1_200), ecn: Ecn::NotEct, payload: Sent(now) };
            cell.handle_downlink(now, ue, packet);
        }
        (cell, discarded)
    }

    #[test]
    fn what_is_late_is_discarded_in_time_by_one_timer_a_bearer() {
        let (_, discarded) = discarded(10.0, 2);
        assert!((2_000..7_000).contains(&discarded), "{discarded}");
    }

    /// Times at which the CU had a report, with a packet each millisecond, a period of 20 ms and a marker that asks after `poll_after`.
    fn reported(poll_after: Duration) -> Vec<Instant> {
        let f1u = F1uConfig { report_period: Duration::from_millis(20), ..F1uConfig::default() };
        let marker = MarkerConfig { poll_after, ..MarkerConfig::default() };
        let channel = ChannelConfig::Fixed(FixedConfig { rate: BitRate::from_mbps(8) });
        let mut cell = Cell::new(&CellConfig { f1u, ..CellConfig::default() }, 1).unwrap();
        let ue = cell.add_ue(&UeConfig { channel, marker, ..UeConfig::default() }).unwrap();
        let (sender, times) = mpsc::channel();
        cell.observe(Box::new(move |at, _, event| {
            if matches!(event, Event::Reported { .. }) {
                sender.send(at).unwrap();
            }
        }));
        for ms in 0..200 {
            let now = Instant::from_millis(ms);
            while let Some(at) = cell.next_deadline().filter(|at| *at <= now) {
                cell.handle_timeout(at);
            }
            let packet = Packet { flow: FlowId(1), size: Bytes(1_200), ecn: Ecn::Ect1, payload: Sent(now) };
            cell.handle_downlink(now, ue, packet);
        }
        times.try_iter().collect()
    }

    #[test]
    fn a_poll_brings_a_report_before_the_end_of_the_period() {
        let gaps = |times: &[Instant]| times.windows(2).map(|pair| pair[1].since(pair[0])).max();
        let (seldom, often) = (reported(Duration::from_secs(1)), reported(Duration::from_millis(5)));
        assert_eq!(gaps(&seldom), Some(Duration::from_millis(20)), "{seldom:?}");
        // More than 5 ms after the last report, with the next packet.
        assert_eq!(gaps(&often), Some(Duration::from_millis(6)), "{often:?}");
    }

    /// A UE that cannot be reached: its packets are all discarded.
    #[test]
    fn no_more_of_what_was_discarded_is_remembered_than_there_are_sns() {
        let (cell, discarded) = discarded(-20.0, 5);
        assert!(discarded > 19_000, "{discarded}");
        assert!(
            cell.du.queues().drb(DrbIndex(0)).remembered() <= 4_096,
            "{}",
            cell.du.queues().drb(DrbIndex(0)).remembered()
        );
    }
}
