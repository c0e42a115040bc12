//! The packet path driven by arbitrary bytes: they choose events in any order, and the invariants are checked after each
//! event. The fuzz target `path` and the property test in `hostile.rs` share it.
#![allow(clippy::indexing_slicing)]

#[path = "../choices.rs"]
mod choices;
mod config;
mod connection;
mod hand;
mod marks;
mod packets;
mod phone;
#[path = "../reading.rs"]
mod reading;

use std::hash::{DefaultHasher, Hash, Hasher};

use super::bytes::{self, Flow, view};
use allocation_counter::measure;
use choices::Choices;
use config::{BITS_12, SHORT_CIRCUIT, config};
use hand::{Hand, marking_changed_only_the_mark};
use marks::Marks;
use packets::packet;
use phone::{Bearer, DRBS, Phone};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, NoReport, Shard, Ue};
use tidemark_marker::{DeliveryStatus, MarkerConfig, Marking, SnLength, Verdict};

/// One UE more than the shard has slots.
const UES: usize = 3;

/// Counters of how often a run came to what it is about.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Reached {
    pub marks: u64,
    pub drops: u64,
    pub rewritten: u64,
    pub reports: u64,
    pub unparsed: u64,
    /// Marks and drops where packets leave a queue.
    pub left: u64,
    /// Marks that acknowledgements carried, and marks that were let go.
    pub told: u64,
    pub let_go: u64,
    /// Connections that moved to another CU-UP.
    pub moved: u64,
}

/// Runs what the bytes say, with whole packets and a second time with fronts of them, which give the same verdicts and bytes.
///
/// # Panics
/// If something does not hold that must.
pub fn run(data: &[u8]) -> Reached {
    let (reached, outcomes) = drive(data, Hand::Whole);
    assert_eq!((reached, outcomes), drive(data, Hand::Front), "a front is as good as the packet");
    reached
}

/// Runs what the bytes say. Gives a hash of all verdicts, and of what packets became, too.
fn drive(data: &[u8], hand: Hand) -> (Reached, u64) {
    let mut choices = Choices::new(data);
    let mut world = World {
        shard: Shard::new(UES as u32 - 1),
        phones: [(); UES].map(|()| Phone::new(None, None)),
        nanos: u64::from(choices.byte()) << 27,
        setups: 0,
        reached: Reached::default(),
        hand,
        outcomes: DefaultHasher::new(),
    };
    for phone in 0..UES - 1 {
        world.attach(phone);
        let (law, sn) = (choices.byte(), choices.byte());
        let short_circuit = if phone == 0 { SHORT_CIRCUIT } else { 0 };
        world.add_drb(phone, 1, 1, law | short_circuit, sn);
    }
    while !choices.is_empty() {
        let phone = usize::from(choices.below(UES as u8));
        world.pass_time(&mut choices);
        world.event(phone, &mut choices);
        world.check(phone);
    }
    (world.reached, world.outcomes.finish())
}

struct World {
    shard: Shard,
    phones: [Phone; UES],
    nanos: u64,
    setups: u32,
    reached: Reached,
    hand: Hand,
    outcomes: DefaultHasher,
}

impl World {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.nanos)
    }

    fn pass_time(&mut self, choices: &mut Choices) {
        const STEPS: [i64; 8] = [0, 20_000, 300_000, 1_000_000, 5_000_000, 40_000_000, 2_000_000_000, -3_000_000];
        let choice = choices.byte();
        self.nanos = match choice {
            255 => u64::MAX >> choices.below(64),
            254 => u64::from(choices.word()),
            _ => self.nanos.saturating_add_signed(STEPS[usize::from(choice) % 8]),
        };
    }

    fn event(&mut self, phone: usize, choices: &mut Choices) {
        match choices.below(17) {
            16 => {
                let (drb, packet) = (drb(choices), packet(true, choices));
                let (sojourn, behind) = (choices.word() >> choices.below(8), u64::from(choices.word()));
                for _ in 0..=choices.below(8) {
                    self.dequeue(phone, drb, &packet, Duration::from_nanos(sojourn.into()), Bytes(behind));
                    self.pass_time(choices);
                }
            }
            0..=4 => {
                let qfi = [1, 1, 1, 0, 2, 3, 63, 64][usize::from(choices.below(8))];
                let packet = packet(true, choices);
                for _ in 0..=choices.below(8) {
                    self.downlink(phone, qfi, &packet);
                }
            }
            5..=7 => {
                let packet = packet(false, choices);
                for _ in 0..=choices.below(3) {
                    self.uplink(phone, &packet);
                }
            }
            8 => self.handshake(phone, choices),
            9..=11 => self.report(phone, choices),
            12 => {
                let (drb, sn, size) = (drb(choices), choices.word(), choices.word() >> choices.below(32));
                self.pdu(phone, drb, sn, u64::from(size));
            }
            13 => {
                let (drb, back) = (drb(choices), choices.byte());
                let sn = self.recent_sn(phone, drb, back);
                self.discard(phone, drb, sn);
            }
            14 if choices.below(4) == 0 => {
                let (drb, qfi, law, sn) = (drb(choices), choices.below(4), choices.byte(), choices.byte());
                let qfi = [1, 2, 63, 64][usize::from(qfi)];
                match choices.below(4) {
                    0 => self.reconfigure_drb(phone, drb, qfi, law, sn),
                    1 => self.remove_drb(phone, drb),
                    _ => self.add_drb(phone, drb, qfi, law, sn),
                }
            }
            14 => self.attach(phone),
            _ => match choices.below(32) {
                0 => self.detach(phone),
                1..=4 => {
                    let (qfi, drb) = ([1, 3, 63, 64][usize::from(choices.below(4))], drb(choices));
                    self.map_qfi(phone, qfi, drb);
                }
                5..=12 => self.handover(phone),
                13..=20 => {
                    let qfi = [1, 1, 63, 64][usize::from(choices.below(4))];
                    match choices.below(4) {
                        0 => self.set_marking(phone, qfi, Marking::Downlink),
                        1 => self.set_marking(phone, qfi, Marking::Off),
                        2 => self.set_marking(phone, qfi, Marking::Report),
                        _ => self.congestion(phone, qfi),
                    }
                }
                _ => self.handshake(phone, choices),
            },
        }
    }

    fn ue(&mut self, phone: usize) -> Option<(&mut Ue, &mut Phone)> {
        let phone = &mut self.phones[phone];
        if let Some(stale) = phone.stale {
            assert!(self.shard.ue(stale).is_none(), "a handle outlived its UE");
        }
        let ue = self.shard.ue(phone.handle?).expect("a handle names its UE");
        Some((ue, phone))
    }

    fn attach(&mut self, phone: usize) {
        if self.phones[phone].handle.is_some() {
            return;
        }
        let attached = self.phones.iter().filter(|phone| phone.handle.is_some()).count();
        let added = self.shard.add(Box::new(Ue::new(FlowKey::new(&[5; 16]))));
        assert_eq!(added.is_ok(), attached < UES - 1, "a shard holds what it has slots for");
        let stale = self.phones[phone].stale;
        self.phones[phone] = Phone::new(added.ok(), stale);
    }

    fn detach(&mut self, phone: usize) {
        let Some(handle) = self.phones[phone].handle else { return };
        assert!(self.shard.remove(handle).is_some());
        self.phones[phone] = Phone::new(None, Some(handle));
    }

    fn add_drb(&mut self, phone: usize, drb: u8, qfi: u8, law: u8, sn: u8) {
        self.setups += 1;
        let sn_length = if law & BITS_12 != 0 { SnLength::Bits12 } else { SnLength::Bits18 };
        let stream = Stream::new(2, self.setups, "mark");
        let Some((ue, phone)) = self.ue(phone) else { return };
        let added = ue.add_drb(DrbId(drb), &[qfi], &config(law), sn_length, stream).is_ok();
        let is_new = (1..=DRBS as u8).contains(&drb) && phone.bearers[usize::from(drb) - 1].is_none();
        assert_eq!(added, qfi < 64 && is_new, "DRB {drb}, QFI {qfi}");
        if added {
            // Half of them begin just before their SNs wrap.
            let next_sn = if sn & 1 == 0 { u32::from(sn) } else { sn_length.modulus() - u32::from(sn) };
            phone.bearers[usize::from(drb) - 1] = Some(Bearer { sn_length, next_sn, ..Bearer::default() });
            phone.map(qfi, usize::from(drb) - 1);
        }
    }

    fn reconfigure_drb(&mut self, phone: usize, drb: u8, qfi: u8, law: u8, sn: u8) {
        let sn_length = if law & BITS_12 != 0 { SnLength::Bits12 } else { SnLength::Bits18 };
        let now = self.now();
        let Some((ue, phone)) = self.ue(phone) else { return };
        let done = ue.reconfigure_drb(now, DrbId(drb), &[qfi], &config(law), sn_length).is_ok();
        let bearer = phone.bearer(drb).and_then(Option::as_mut);
        assert_eq!(done, qfi < 64 && bearer.is_some(), "DRB {drb}, QFI {qfi}");
        if let Some(bearer) = bearer.filter(|_| done) {
            if bearer.sn_length != sn_length {
                (bearer.sn_length, bearer.next_sn) = (sn_length, sn.into());
            }
            phone.map(qfi, usize::from(drb) - 1);
        }
    }

    fn remove_drb(&mut self, phone: usize, drb: u8) {
        let Some((ue, phone)) = self.ue(phone) else { return };
        let bearer = phone.bearer(drb).and_then(Option::take);
        let removed = ue.remove_drb(DrbId(drb));
        assert_eq!(removed.is_some(), bearer.is_some());
        if let Some(removed) = removed {
            phone.removed.short_circuited += removed.short_circuited;
            phone.removed.marks_let_go += removed.marks_let_go;
            phone.carrier = phone.carrier.map(|carrier| carrier.filter(|carrier| *carrier != usize::from(drb) - 1));
        }
    }

    fn map_qfi(&mut self, phone: usize, qfi: u8, drb: u8) {
        let Some((ue, phone)) = self.ue(phone) else { return };
        let exists = phone.bearer(drb).is_some_and(|bearer| bearer.is_some());
        assert_eq!(ue.map_qfi(qfi, DrbId(drb)), qfi < 64 && exists);
        if exists {
            phone.map(qfi, usize::from(drb) - 1);
        }
    }

    fn set_marking(&mut self, phone: usize, qfi: u8, marking: Marking) {
        let Some((ue, phone)) = self.ue(phone) else { return };
        assert_eq!(ue.set_marking(qfi, marking), qfi < 64);
        if let Some(known) = phone.marking.get_mut(usize::from(qfi)) {
            *known = marking;
        }
    }

    fn congestion(&mut self, phone: usize, qfi: u8) {
        let now = self.now();
        let Some((ue, phone)) = self.ue(phone) else { return };
        let mut report = Err(NoReport::NoDrb);
        assert_eq!(measure(|| report = ue.congestion(now, qfi)).count_total, 0);
        let carrier = phone.carrier.get(usize::from(qfi)).copied().flatten();
        match report {
            Ok(report) => assert!(report.packets <= phone.downlink, "{report:?}"),
            Err(NoReport::NoDrb) => assert_eq!(carrier, None),
            Err(NoReport::MarkedHere) => assert_eq!(phone.marking[usize::from(qfi)], Marking::Downlink),
        }
    }

    fn handover(&mut self, phone: usize) {
        let now = self.now();
        let Some((ue, _)) = self.ue(phone) else { return };
        assert_eq!(measure(|| ue.handover(now)).count_total, 0);
        for drb in 1..=DRBS as u8 {
            let standing = ue.estimate(now, DrbId(drb)).map(|estimate| estimate.standing);
            assert!(standing.is_none_or(|standing| standing == Bytes::ZERO));
        }
        self.relocate(phone);
    }

    /// Whatever came before, another CU-UP with room for it takes the UE's connections in, and gives the same.
    fn relocate(&mut self, phone: usize) {
        let now = self.now();
        let Some((ue, _)) = self.ue(phone) else { return };
        let export = |ue: &Ue| {
            let mut state = vec![0; ue.export_len()];
            assert_eq!(measure(|| assert_eq!(ue.export(&mut state), Some(state.len()))).count_total, 0);
            state
        };
        let state = export(ue);
        let mut there = Ue::new(FlowKey::new(&[77; 16]));
        let config = MarkerConfig { profile_capacity: 64, flow_capacity: 1_024, ..MarkerConfig::default() };
        for drb in (1..=DRBS as u8).map(DrbId).filter(|drb| ue.estimate(now, *drb).is_some()) {
            there.add_drb(drb, &[], &config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        }
        if there.estimate(now, DrbId(1)).is_none() {
            return;
        }
        assert_eq!(measure(|| there.import(now, &state).expect("a state is a state")).count_total, 0);
        assert_eq!(export(&there), state);
        self.reached.moved += u64::from(state[7]);
    }

    fn downlink(&mut self, phone: usize, qfi: u8, before: &[u8]) {
        let now = self.now();
        for handle in [self.phones[phone].handle, self.phones[phone].stale].into_iter().flatten() {
            self.shard.warm(handle, qfi);
        }
        let hand = self.hand;
        let Some((ue, phone)) = self.ue(phone) else { return };
        let carrier = phone.carrier.get(usize::from(qfi)).copied().flatten();
        let marks = Marks::of(ue, phone);
        let (verdict, after, refused) = hand.over(before, carrier.is_some(), |packet, len| {
            if packet.len() == len { ue.downlink(now, qfi, packet) } else { ue.downlink_front(now, qfi, packet, len) }
        });
        phone.downlink += 1 + refused;
        phone.unparsed += refused;
        let layout = reading::read(before);
        let (Some(carrier), Some(layout)) = (carrier, layout) else {
            phone.unknown_qfi += u64::from(carrier.is_none());
            phone.unparsed += u64::from(carrier.is_some());
            self.reached.unparsed += u64::from(carrier.is_some());
            assert!(verdict == Verdict::Pass && after == before);
            return;
        };
        assert!(verdict != Verdict::Mark || phone.marking[usize::from(qfi)] == Marking::Downlink);
        if let Some(segment) = reading::segment(before, &layout, true) {
            let connection = phone.connections.entry(segment.connection).or_default();
            connection.pass(segment.syn_ack);
            let may_echo = connection.may_echo;
            let now = Marks::of(ue, phone);
            let waiting = |marks: Marks| marks.pending + marks.let_go;
            phone.marks.echoed += (now.decided - marks.decided) - (waiting(now) - waiting(marks));
            assert!(phone.marks.echoed == marks.echoed || may_echo, "a mark is echoed to a sender with AccECN");
        }
        let bearer = phone.bearers[carrier].as_mut().expect("a QFI leads to a DRB");
        match verdict {
            Verdict::Pass => bearer.pass += 1,
            Verdict::Drop => bearer.drop += 1,
            Verdict::Mark => bearer.mark += 1,
        }
        if verdict == Verdict::Mark {
            marking_changed_only_the_mark(before, &after, &layout);
        } else {
            assert_eq!(before, after);
        }
        if verdict != Verdict::Drop {
            let sn = bearer.next_sn;
            bearer.next_sn = (sn + 1) % bearer.sn_length.modulus();
            bearer.pdus += 1;
            let size = Bytes(before.len() as u64 + 3);
            assert_eq!(measure(|| ue.pdcp_pdu(now, DrbId(carrier as u8 + 1), sn, size)).count_total, 0);
        }
        self.reached.marks += u64::from(verdict == Verdict::Mark);
        self.reached.drops += u64::from(verdict == Verdict::Drop);
        (verdict, after).hash(&mut self.outcomes);
    }

    fn dequeue(&mut self, phone: usize, drb: u8, before: &[u8], sojourn: Duration, behind: Bytes) {
        let now = self.now();
        let hand = self.hand;
        let Some((ue, phone)) = self.ue(phone) else { return };
        let exists = phone.bearer(drb).is_some_and(|bearer| bearer.is_some());
        let drb_id = DrbId(drb);
        let (verdict, after, refused) = hand.over(before, exists, |packet, len| {
            if packet.len() == len {
                ue.dequeue(now, drb_id, packet, sojourn, behind)
            } else {
                ue.dequeue_front(now, drb_id, packet, len, sojourn, behind)
            }
        });
        phone.unparsed += refused;
        let Some(bearer) = phone.bearers.get_mut(usize::from(drb.wrapping_sub(1))).and_then(Option::as_mut) else {
            phone.unknown_drb += 1;
            assert!(verdict == Verdict::Pass && after == before);
            return;
        };
        let Some(layout) = reading::read(before) else {
            phone.unparsed += 1;
            assert!(verdict == Verdict::Pass && after == before);
            return;
        };
        bearer.left_marked += u64::from(verdict == Verdict::Mark);
        bearer.left_dropped += u64::from(verdict == Verdict::Drop);
        self.reached.left += u64::from(verdict != Verdict::Pass);
        if verdict == Verdict::Mark {
            marking_changed_only_the_mark(before, &after, &layout);
        } else {
            assert_eq!(before, after);
        }
        (verdict, after).hash(&mut self.outcomes);
    }

    fn uplink(&mut self, phone: usize, before: &[u8]) {
        let now = self.now();
        let hand = self.hand;
        let Some((ue, phone)) = self.ue(phone) else { return };
        let rewritten = |ue: &Ue| -> u64 {
            (1..=DRBS as u8).filter_map(|drb| ue.drb_counters(DrbId(drb))).map(|counters| counters.rewritten_acks).sum()
        };
        let (written_before, marks) = (rewritten(ue), Marks::of(ue, phone));
        let (_, after, refused) = hand.over(before, true, |packet, len| {
            if packet.len() == len {
                ue.uplink(now, packet)
            } else {
                ue.uplink_front(now, packet, len)
            }
            Verdict::Pass
        });
        phone.uplink += 1 + refused;
        phone.unparsed += refused;
        let Some(layout) = reading::read(before) else {
            phone.unparsed += 1;
            assert_eq!(before, after);
            return;
        };
        let written = rewritten(ue) - written_before;
        assert!(written == u64::from(before != after), "{written} acknowledgements rewritten");
        if written > 0 {
            let bits = reading::feedback_bits(before, &layout).expect("only an acknowledgement is rewritten");
            for (at, (old, new)) in before.iter().zip(&after).enumerate() {
                assert_eq!((old ^ new) & !bits[at], 0, "byte {at} became {new:#x} from {old:#x}");
            }
            assert_eq!(
                reading::transport_is_valid(before, &layout),
                reading::transport_is_valid(&after, &layout),
                "a checksum that was right stays right, and one that was wrong is not hidden",
            );
        }
        let mut told = 0;
        if let (Some(old), Some(new)) =
            (reading::segment(before, &layout, false), reading::segment(&after, &layout, false))
        {
            let now = Marks::of(ue, phone);
            told = (marks.pending + marks.let_go) - (now.pending + now.let_go);
            let connection = phone.connections.entry(old.connection).or_default();
            connection.pass(old.syn_ack);
            if told > 0 {
                connection.tell(told, new.ace.wrapping_sub(old.ace) & 7);
            }
        }
        phone.marks.told += told;
        self.reached.told += told;
        self.reached.rewritten += written;
        after.hash(&mut self.outcomes);
    }

    /// A connection is set up, with ECN fields of any kind in it, and carries a flight.
    fn handshake(&mut self, phone: usize, choices: &mut Choices) {
        let flow = Flow { v6: choices.flag(), port: choices.below(2).into() };
        let (syn, syn_ack, ack) = (choices.below(8), choices.below(8), choices.below(8));
        let (syn, syn_ack) = if choices.flag() { (syn, syn_ack) } else { (0b111, 0b010) };
        let isn = u32::from(choices.below(4));
        self.uplink(phone, &flow.tcp(false, Ecn::NotEct, &view(syn, true, None, isn, 0, None)));
        self.downlink(phone, 1, &flow.tcp(true, Ecn::NotEct, &view(syn_ack, true, Some(isn + 1), 999, 0, None)));
        self.uplink(phone, &flow.tcp(false, Ecn::NotEct, &view(ack, false, Some(1_000), 2, 0, None)));
        let (segments, bundle) = (u32::from(choices.below(16)), 1 + usize::from(choices.below(12)));
        for segment in 0..segments {
            let data = view(0, false, Some(2), 1_000 + segment * 1_361, 1_361, None);
            self.downlink(phone, 1, &flow.tcp(true, Ecn::Ect1, &data));
        }
        for segments in (1..=segments).step_by(bundle) {
            let ack = view(5, false, Some(1_000 + segments * 1_361), 2, 0, None);
            self.uplink(phone, &flow.tcp(false, Ecn::NotEct, &ack));
        }
    }

    fn report(&mut self, phone: usize, choices: &mut Choices) {
        let drb = drb(choices);
        let mut sn = |world: &Self| match choices.below(8) {
            0 => None,
            1 => Some(choices.word()),
            _ => Some(world.recent_sn(phone, drb, choices.byte() % 32)),
        };
        let report = DeliveryStatus {
            highest_transmitted: sn(self),
            highest_delivered: sn(self),
            highest_retransmitted: sn(self),
            highest_delivered_retransmitted: sn(self),
            desired_buffer_size: None,
        };
        let now = self.now();
        for _ in 0..=choices.byte() / 192 {
            let Some((ue, phone)) = self.ue(phone) else { return };
            assert_eq!(measure(|| ue.feedback(now, DrbId(drb), &report)).count_total, 0);
            phone.count(drb, |bearer| bearer.reports += 1);
            self.reached.reports += 1;
        }
    }

    fn pdu(&mut self, phone: usize, drb: u8, sn: u32, size: u64) {
        let now = self.now();
        let Some((ue, phone)) = self.ue(phone) else { return };
        assert_eq!(measure(|| ue.pdcp_pdu(now, DrbId(drb), sn, Bytes(size))).count_total, 0);
        phone.count(drb, |bearer| bearer.pdus += 1);
    }

    fn discard(&mut self, phone: usize, drb: u8, sn: u32) {
        let now = self.now();
        let Some((ue, phone)) = self.ue(phone) else { return };
        assert_eq!(measure(|| ue.discard(now, DrbId(drb), sn)).count_total, 0);
        phone.count(drb, |bearer| bearer.discards += 1);
    }

    /// The SN of the SDU that lies so far back.
    fn recent_sn(&self, phone: usize, drb: u8, back: u8) -> u32 {
        let bearer = self.phones[phone].bearers.get(usize::from(drb.wrapping_sub(1))).copied().flatten();
        bearer.map_or(7, |bearer| bearer.next_sn.wrapping_sub(u32::from(back) + 1) % bearer.sn_length.modulus())
    }

    /// Checks what holds after every event.
    fn check(&mut self, phone: usize) {
        let now = self.now();
        let Some((ue, phone)) = self.ue(phone) else { return };
        let marks = Marks::of(ue, phone);
        assert!(marks.are_all_accounted_for(), "{marks:?}");
        let let_go = marks.let_go - std::mem::replace(&mut phone.marks.let_go, marks.let_go);
        let counters = ue.counters();
        assert_eq!((counters.downlink, counters.uplink), (phone.downlink, phone.uplink));
        assert_eq!(counters.unparsed, phone.unparsed);
        assert_eq!(counters.unknown_qfi, phone.unknown_qfi);
        assert_eq!(counters.unknown_drb, phone.unknown_drb);
        for (index, bearer) in phone.bearers.iter().enumerate() {
            let drb = DrbId(index as u8 + 1);
            let (estimate, counters) = (ue.estimate(now, drb), ue.drb_counters(drb));
            assert_eq!((estimate.is_some(), counters.is_some()), (bearer.is_some(), bearer.is_some()));
            let (Some(bearer), Some(estimate), Some(counters)) = (bearer, estimate, counters) else { continue };
            assert!((0.0..=1.0).contains(&estimate.probability.get()), "{estimate:?}");
            assert!(estimate.backlog <= estimate.standing, "{estimate:?}");
            assert_eq!(estimate.packets == 0, estimate.standing == Bytes::ZERO, "{estimate:?}");
            assert!(estimate.packets <= bearer.sn_length.modulus() / 2, "{estimate:?}");
            assert!(estimate.standing.0 <= u64::from(bearer.sn_length.modulus() / 2) * 65_535, "{estimate:?}");
            assert_eq!(counters.packets, bearer.pass + bearer.mark + bearer.drop, "{counters:?}");
            let marked = bearer.mark + bearer.left_marked;
            assert_eq!(counters.marks() - counters.short_circuited, marked, "{counters:?}");
            assert_eq!(counters.drops, bearer.drop + bearer.left_dropped, "{counters:?}");
            assert!(counters.l4s_packets + counters.classic_packets <= counters.packets, "{counters:?}");
            assert!(counters.l4s_marks <= counters.l4s_packets + bearer.left_marked, "{counters:?}");
            assert_eq!(counters.pdus, bearer.pdus);
            assert_eq!((counters.reports, counters.discards), (bearer.reports, bearer.discards));
        }
        self.reached.let_go += let_go;
    }
}

/// Mostly the first DRB, which exists; now and then one that cannot.
fn drb(choices: &mut Choices) -> u8 {
    match choices.byte() {
        choice @ 0..128 => 1 + choice / 127,
        choice => [0, 1, 2, 3, 4, 5, 6, 33][usize::from(choice) % 8],
    }
}
