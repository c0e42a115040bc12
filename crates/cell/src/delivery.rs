//! What has arrived: handed on at the UE, told to the gNB by RLC's status reports, and by the DU to the CU.

use tidemark_core::{Inspect, Instant};
use tidemark_wire::mac::Direction;

use crate::cell::Cell;
use crate::drb::Drb;
use crate::event::Event;
use crate::output::{DropReason, Output, UeId};
use crate::rlc::{Released, Status};
use crate::timers::Timer;
use crate::uplink::Control;

impl<P: Inspect> Cell<P> {
    /// Hands on what a UE has in order of a bearer; what is lost, the radio lost.
    pub(crate) fn release(&mut self, now: Instant, index: u32) {
        self.release_or_lose(now, index, DropReason::Radio);
    }
    /// The same where what is lost has this reason.
    pub(crate) fn release_or_lose(&mut self, now: Instant, index: u32, reason: DropReason) {
        let Drb { ue, id, bearer, stats, qos, .. } = &mut self.drbs[index as usize];
        let of_ue = &mut self.ues[*ue as usize].stats;
        let (ue, outputs, events, of_cell) = (UeId(*ue), &mut self.outputs, &mut self.events, &mut self.stats);
        bearer.release(now, |Released { packet, sn, delay }| match delay {
            Some(delay) => {
                events.emit(now, *id, || Event::Delivered { packet: &packet, sn, delay });
                of_ue.delivered += packet.size;
                of_cell.delivered += packet.size;
                stats.delivered(packet.size, delay.total() > qos.delay_budget);
                outputs.push_back(Output::Downlink { at: now, ue, drb: id.drb, packet, delay });
            }
            None => {
                match reason {
                    DropReason::Handover => of_ue.dropped_by_handover += 1,
                    _ => of_ue.dropped_by_radio += 1,
                }
                stats.dropped += 1;
                let direction = Direction::Downlink;
                events.emit(now, *id, || Event::Dropped { packet: &packet, direction, reason });
                outputs.push_back(Output::Dropped { at: now, ue, packet, reason });
            }
        });
        self.arm(now, index);
    }

    /// Sees to it that the bearer's next timer is heard of.
    pub(crate) fn arm(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let Some(at) = drb.bearer.next_timer(now) else { return };
        if drb.armed.is_none_or(|armed| at < armed) {
            drb.armed = Some(at);
            self.set_timer(at, index, Timer::Rlc);
        }
    }

    /// Sees to it that the end of the discardTimer of what waits is heard of. All SDUs of a bearer wait as long, so that one timer at a
    /// time is enough.
    pub(crate) fn arm_discard(&mut self, index: u32, direction: Direction) {
        let drb = &mut self.drbs[index as usize];
        let (armed, bearer) = match direction {
            Direction::Downlink => (&mut drb.discard_armed[0], &drb.bearer),
            Direction::Uplink => (&mut drb.discard_armed[1], &drb.uplink),
        };
        if *armed {
            return;
        }
        if let Some(at) = bearer.discards_at() {
            *armed = true;
            self.set_timer(at, index, Timer::Discard(direction));
        }
    }

    /// The discardTimer has ended of what waited first when it was set, which may have left.
    pub(crate) fn handle_discard_timer(&mut self, now: Instant, index: u32, direction: Direction) {
        match direction {
            Direction::Downlink => {
                self.drbs[index as usize].discard_armed[0] = false;
                self.discard(now, index);
                if self.drbs[index as usize].bearer.outruns_receiver() {
                    self.release(now, index);
                }
            }
            Direction::Uplink => {
                self.drbs[index as usize].discard_armed[1] = false;
                self.discard_up(now, index);
                if self.drbs[index as usize].uplink.outruns_receiver() {
                    self.go_on_up(now, index);
                }
            }
        }
        self.arm_discard(index, direction);
    }

    /// PDCP lets go of what waited for longer than its discardTimer.
    fn discard(&mut self, now: Instant, index: u32) {
        let Drb { ue, id, bearer, stats, .. } = &mut self.drbs[index as usize];
        let (of_ue, ue) = (&mut self.ues[*ue as usize].stats, UeId(*ue));
        let (outputs, events, cu) = (&mut self.outputs, &mut self.events, &mut self.cu);
        bearer.discard(now, |sn, packet| {
            cu.discard(now, *id, sn);
            let (direction, reason) = (Direction::Downlink, DropReason::Discarded);
            events.emit(now, *id, || Event::Discarded { sn });
            events.emit(now, *id, || Event::Dropped { packet: &packet, direction, reason });
            of_ue.dropped_by_timer += 1;
            stats.dropped += 1;
            outputs.push_back(Output::Dropped { at: now, ue, packet, reason });
        });
    }

    /// A timer of RLC, or t-Reordering, may have ended.
    pub(crate) fn handle_rlc_timer(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        drb.armed = drb.armed.filter(|armed| *armed > now);
        let status = drb.bearer.handle_timers(now);
        let (ue, has_data) = (drb.ue, drb.bearer.has_data());
        if let Some(status) = status {
            self.send_control(now, ue, Control::Status { drb: index, status });
        }
        if has_data {
            self.activate(now, index);
        }
        self.release(now, index);
    }

    /// A status report of the UE reaches the gNB.
    pub(crate) fn status_arrives(&mut self, now: Instant, index: u32, status: &Status) {
        let drb = &mut self.drbs[index as usize];
        drb.acknowledged(status.delivered);
        drb.bearer.handle_status(status);
        if drb.bearer.has_data() {
            self.activate(now, index);
        }
        self.release(now, index);
        self.report(now, index);
    }

    /// The DU has news for the CU: it tells them now or at the end of its reporting period.
    pub(crate) fn report(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let period = self.config.f1u.report_period;
        if !drb.has_news() {
            return;
        }
        if period.is_zero() {
            self.send_report(now, index);
        } else if drb.schedule_report() {
            let at = Instant::ZERO + period * (now.as_nanos() / period.as_nanos() + 1);
            self.set_timer(at, index, Timer::Report);
        }
    }

    pub(crate) fn send_report(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        let status = drb.make_report();
        if self.config.f1u.delay.is_zero() {
            self.receive_report(now, index, &status);
        } else {
            let at = now + self.config.f1u.delay;
            self.f1_up.push_back((at, index, status));
            self.wake(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Duration, Ecn, FlowId, Packet};
    use tidemark_marker::SnLength;

    use super::*;
    use crate::config::{CellConfig, RlcConfig, UeConfig};
    use tidemark_radio::channel::{ChannelConfig, PedestrianConfig};

    #[derive(Clone, Debug)]
    struct Sent(Instant);
    impl Inspect for Sent {}

    const LIMIT: Duration = Duration::from_millis(100);

    /// A cell with a UE that discards what waits for longer than `LIMIT`, and 4 packets a millisecond for so many seconds; how many
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
                assert!(cell.timers.discards() <= 1);
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

    /// A UE that cannot be reached: its packets are all discarded.
    #[test]
    fn no_more_of_what_was_discarded_is_remembered_than_there_are_sns() {
        let (cell, discarded) = discarded(-20.0, 5);
        assert!(discarded > 19_000, "{discarded}");
        assert!(cell.drbs[0].bearer.remembered() <= 4_096, "{}", cell.drbs[0].bearer.remembered());
    }
}
