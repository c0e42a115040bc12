//! Test of a bearer over a bad radio against the receiving PDCP entity of TS 38.323 5.2.2.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

/// RX_NEXT, RX_DELIV, RX_REORD and the reception buffer, in COUNT values.
#[derive(Default)]
struct Reference {
    rx_next: u64,
    rx_deliv: u64,
    /// RX_REORD, and when t-Reordering ends.
    reordering: Option<(u64, Instant)>,
    stored: BTreeSet<u64>,
}

impl Reference {
    /// 5.2.2.1: a PDU comes; returns what goes to upper layers.
    fn receive(&mut self, now: Instant, count: u64, t_reordering: Option<Duration>) -> Vec<u64> {
        if count < self.rx_deliv {
            return Vec::new();
        }
        self.stored.insert(count);
        self.rx_next = self.rx_next.max(count + 1);
        let delivered = self.consecutive();
        if self.reordering.is_some_and(|(rx_reord, _)| self.rx_deliv >= rx_reord) {
            self.reordering = None;
        }
        self.start(now, t_reordering);
        delivered
    }
    /// 5.2.2.2: t-Reordering expires.
    fn expire(&mut self, now: Instant, t_reordering: Option<Duration>) -> Vec<u64> {
        let Some((rx_reord, _)) = self.reordering.take_if(|(_, end)| *end <= now) else { return Vec::new() };
        let behind = self.stored.split_off(&rx_reord);
        let mut delivered: Vec<_> = std::mem::replace(&mut self.stored, behind).into_iter().collect();
        self.rx_deliv = rx_reord;
        delivered.extend(self.consecutive());
        self.start(now, t_reordering);
        delivered
    }
    fn consecutive(&mut self) -> Vec<u64> {
        let before = self.rx_deliv;
        while self.stored.remove(&self.rx_deliv) {
            self.rx_deliv += 1;
        }
        (before..self.rx_deliv).collect()
    }
    fn start(&mut self, now: Instant, t_reordering: Option<Duration>) {
        if self.reordering.is_none() && self.rx_deliv < self.rx_next {
            self.reordering = t_reordering.map(|span| (self.rx_next, now + span));
        }
    }
}

/// PDU or report under way between the ends.
enum InAir {
    Block(Vec<Segment>),
    GivenUp(Vec<Segment>),
    Status(Status),
}

/// Link of both ends, the radio between them, and the fate of each packet.
struct Run {
    bearer: Bearer<()>,
    air: BTreeMap<(Instant, usize), InAir>,
    reference: Reference,
    next_sn: u32,
    begun: usize,
    delivered: Vec<u64>,
    expected: Vec<u64>,
    discarded: BTreeSet<u64>,
    lost: BTreeSet<u64>,
}

impl Run {
    fn new(config: RlcConfig) -> Self {
        let overhead = Overhead::of(&config);
        Self {
            bearer: Bearer::new(config, overhead),
            air: BTreeMap::new(),
            reference: Reference::default(),
            next_sn: 0,
            begun: 0,
            delivered: Vec::new(),
            expected: Vec::new(),
            discarded: BTreeSet::new(),
            lost: BTreeSet::new(),
        }
    }
    fn push(&mut self, now: Instant, size: u64) {
        let packet =
            Packet { flow: tidemark_core::FlowId(0), size: Bytes(size), ecn: tidemark_core::Ecn::NotEct, payload: () };
        self.bearer.push(now, now, self.next_sn, packet);
        self.next_sn += 1;
    }
    fn launch(&mut self, at: Instant, what: InAir) {
        self.begun += 1;
        self.air.insert((at, self.begun), what);
    }
    fn send(&mut self, now: Instant, room: u32, delay: Duration, fails: bool) {
        let mut block = Vec::new();
        self.bearer.fill(now, now + delay, room, &mut block, &mut crate::rlc::Open);
        if !block.is_empty() {
            self.launch(now + delay, if fails { InAir::GivenUp(block) } else { InAir::Block(block) });
        }
    }
    /// A handover: what has not left is sent again, in another cell. That what PDCP discarded left SNs out is forgotten there.
    fn hand_over(&mut self) {
        self.air.clear();
        let forwarded = self.bearer.re_establish();
        let first = forwarded.first().map_or(self.next_sn, |(sn, ..)| *sn).into();
        self.reference = Reference { rx_deliv: first, rx_next: first, ..Reference::default() };
        let mut before = first;
        for (sn, arrived, packet) in forwarded {
            self.bearer.push(arrived, arrived, sn, packet);
            // The reference is told to pass by SNs that were left out.
            self.reference.stored.extend(before..sn.into());
            before = u64::from(sn) + 1;
        }
        self.reference.stored.extend(before..self.next_sn.into());
    }
    /// All that happens in a millisecond.
    fn step(&mut self, now: Instant, status_fails: bool) {
        let t_reordering = self.bearer.config.t_reordering();
        self.bearer.discard(now, |sn, _| assert!(self.discarded.insert(sn.into())));
        self.bearer.pace(now, &mut crate::rlc::Open);
        while let Some(entry) = self.air.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                InAir::Block(block) => block.into_iter().for_each(|segment| self.arrive(now, segment, t_reordering)),
                InAir::GivenUp(block) => self.bearer.lost(now, &block),
                InAir::Status(status) => self.bearer.handle_status(&status),
            }
            self.release(now);
        }
        if let Some(status) = self.bearer.handle_timers(now)
            && !status_fails
        {
            self.launch(now + Duration::from_millis(3), InAir::Status(status));
        }
        self.release(now);
    }
    fn arrive(&mut self, now: Instant, segment: Segment, t_reordering: Option<Duration>) {
        let was_over = self.bearer.window.is_over(segment.sdu);
        let timer = self.bearer.next_timer(now);
        if !self.bearer.arrived(now, segment) {
            // The downlink looks no further then.
            self.bearer.release(now, |released| panic!("SN {} leaves", released.sn));
            assert_eq!(self.bearer.next_timer(now), timer);
        }
        if let Some(whole) = self.bearer.window.get(segment.sdu).filter(|sdu| !was_over && sdu.complete.is_some()) {
            let came = self.reference.receive(now, whole.sn.into(), t_reordering);
            self.expect(came);
        }
    }
    /// The reference delivers these, apart from SNs that it was told to pass by.
    fn expect(&mut self, came: Vec<u64>) {
        let passed = |sn: &u64| self.discarded.contains(sn) || self.lost.contains(sn);
        self.expected.extend(came.into_iter().filter(|sn| !passed(sn)));
    }
    fn release(&mut self, now: Instant) {
        let came = self.reference.expire(now, self.bearer.config.t_reordering());
        self.expect(came);
        let Self { bearer, delivered, lost, .. } = self;
        bearer.release(now, |released| match released.delay {
            Some(_) => delivered.push(released.sn.into()),
            None => assert!(lost.insert(released.sn.into()), "lost twice"),
        });
    }
}

/// Events of a millisecond: sizes of packets that come, a block's room, its delay and whether it fails, whether a status
/// report fails, and now and then a handover.
type Millisecond = (Option<u64>, Option<u32>, u64, bool, bool, bool);

fn millisecond() -> impl Strategy<Value = Millisecond> {
    (
        prop::option::of(40u64..1_500),
        prop::option::of(30u32..2_500),
        1u64..30,
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.004),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_not_discarded_leaves_once_in_order_and_when_pdcps_receiver_lets_it(
        steps in prop::collection::vec(millisecond(), 1..600),
        um in any::<bool>(),
        discard in prop::option::of(5u64..60),
        t_reordering in 0u64..80,
        t_status_prohibit in 0u64..20,
        paced in any::<bool>(),
    ) {
        let ms = Duration::from_millis;
        let discard = discard.filter(|_| !paced);
        let config = RlcConfig {
            mode: if um { RlcMode::Um } else { RlcMode::Am },
            numbering: if paced { Numbering::OnLeaving } else { Numbering::OnArrival },
            paced,
            discard_timer: discard.map(ms),
            t_reordering: (um || discard.is_some()).then_some(ms(t_reordering)),
            t_status_prohibit: ms(t_status_prohibit),
            ..RlcConfig::default()
        };
        prop_assert_eq!(config.validate(), Ok(()));
        // AM never gives up here; without a discard timer it waits for ever.
        let mut run = Run::new(RlcConfig { max_retransmissions: 255, ..config });
        let mut now = Instant::ZERO;
        for (size, room, delay, block_fails, status_fails, handover) in steps {
            now += ms(1);
            if handover {
                run.hand_over();
            }
            size.into_iter().for_each(|size| run.push(now, size));
            room.into_iter().for_each(|room| run.send(now, room, ms(delay), block_fails));
            run.step(now, status_fails);
            prop_assert_eq!(&run.delivered, &run.expected, "at {:?}", now);
        }
        // Better radio: all that is still there arrives, and then nobody waits for anything.
        for step in 0..2_000 {
            now += ms(1);
            if step % 100 == 0 {
                run.push(now, 100);
            }
            run.send(now, 5_000, ms(2), false);
            run.step(now, false);
        }
        prop_assert_eq!(&run.delivered, &run.expected);
        prop_assert!(run.delivered.is_sorted_by(|before, after| before < after), "{:?}", run.delivered);
        let delivered: BTreeSet<_> = run.delivered.iter().copied().collect();
        prop_assert!(run.bearer.config.t_reordering().is_some() || run.lost.is_empty(), "AM loses nothing");
        for sn in 0..u64::from(run.next_sn) {
            let fates = [&delivered, &run.discarded, &run.lost].map(|fate| fate.contains(&sn));
            prop_assert_eq!(fates.iter().filter(|fate| **fate).count(), 1, "SN {}: {:?}", sn, fates);
        }
        prop_assert_eq!(run.bearer.next_timer(now), None);
        prop_assert_eq!(run.bearer.window.base(), run.bearer.window.next());
    }
}
