//! A DualPI2 bottleneck with both of its queues (RFC 9332), for a wired link in front of or behind the cell.

use alloc::collections::VecDeque;

use tidemark_core::{Bounded, Bytes, ConfigError, Duration, Instant, Packet, Probability, Range, Stream, bounds};

use crate::law::{DualPi2Config, MIN_BACKLOG, Marks, Pi2, Recurrence};
use crate::verdict::{Class, Verdict};

/// Choice of the queue that sends next.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "scheduler", rename_all = "kebab-case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<DualScheduler>))]
pub enum DualScheduler {
    /// Weighted round robin: while both queues wait, the classic one gets this share of the bytes. Linux: 0.1.
    Weighted {
        /// Share of the classic queue.
        classic_share: f64,
    },
    /// The older head goes first. `shift` is added to the age of L4S packets.
    TimeShifted {
        /// Age added to an L4S packet. The example in RFC 9332 is 50 ms.
        shift: Duration,
    },
}

bounds! { enum DualScheduler {
    Weighted { classic_share: Range::inside(0.0, 1.0), }
    TimeShifted { ..shift }
} }

impl DualScheduler {
    /// Credit while nobody waits: an L4S packet that comes together with a classic one goes first.
    fn first_credit(self) -> f64 {
        match self {
            Self::Weighted { classic_share } => MTU * (2.0 * classic_share - 1.0),
            Self::TimeShifted { .. } => 0.0,
        }
    }
}

impl Default for DualScheduler {
    fn default() -> Self {
        Self::Weighted { classic_share: 0.1 }
    }
}

/// A DualPI2 bottleneck.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<DualQueueConfig>))]
pub struct DualQueueConfig {
    /// The AQM. Default: as the law `dualpi2`.
    pub aqm: DualPi2Config,
    /// Choice of the queue that sends next. Default: weighted, a tenth for classic packets, as Linux does.
    pub scheduler: DualScheduler,
    /// Size of both queues together. A packet that does not fit is dropped. Default: 15 MB, the 10000 packets of Linux, at 1500 B each.
    pub limit: Bytes,
}

impl Default for DualQueueConfig {
    fn default() -> Self {
        Self { aqm: DualPi2Config::default(), scheduler: DualScheduler::default(), limit: Bytes(15_000_000) }
    }
}

bounds! { DualQueueConfig {
    limit: Range::at_least(Bytes(3_000)).because("two packets"),
    ..aqm, scheduler
} }

impl DualQueueConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.aqm.validate().map_err(|error| error.within("aqm"))?;
        self.check_bounds()?;
        self.scheduler.check_bounds().map_err(|error| error.within("scheduler"))
    }
}

const MTU: f64 = 1_500.0;

/// The L4S and the classic queue of one link.
pub struct DualQueue<P> {
    config: DualQueueConfig,
    pi: Pi2,
    stream: Stream,
    l4s: Fifo<P>,
    classic: Fifo<P>,
    /// Linux's signed credit: the L4S queue may send while it is not positive. Charged for what is sent, not for what is dropped.
    credit: f64,
}

struct Fifo<P> {
    packets: VecDeque<(Instant, Packet<P>)>,
    bytes: Bytes,
    recurrence: Recurrence,
}

/// A packet taken out of a [`DualQueue`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dequeued<P> {
    /// A packet to send, marked if the AQM decided so.
    Send(Packet<P>),
    /// A packet that the AQM dropped. The link asks again.
    Drop(Packet<P>),
}

impl<P> DualQueue<P> {
    /// Two empty queues. Random draws come from `stream`.
    ///
    /// # Errors
    /// Names the first field of the configuration that cannot be used.
    pub fn new(config: &DualQueueConfig, stream: Stream) -> Result<Self, ConfigError> {
        config.validate()?;
        let credit = config.scheduler.first_credit();
        Ok(Self { config: *config, pi: Pi2::new(&config.aqm), stream, l4s: Fifo::new(), classic: Fifo::new(), credit })
    }

    /// Takes a packet that arrives.
    ///
    /// # Errors
    /// The packet, if it does not fit.
    pub fn enqueue(&mut self, now: Instant, packet: Packet<P>) -> Result<(), Packet<P>> {
        self.update(now);
        if self.backlog() + packet.size > self.config.limit {
            return Err(packet);
        }
        let queue = if packet.ecn.is_l4s() { &mut self.l4s } else { &mut self.classic };
        queue.bytes += packet.size;
        queue.packets.push_back((now, packet));
        Ok(())
    }

    /// Gives the next packet to the free link; `None` if none waits.
    pub fn dequeue(&mut self, now: Instant) -> Option<Dequeued<P>> {
        self.update(now);
        let Some(from_l4s) = self.l4s_is_next(now) else {
            // Nobody waits, so nobody is owed anything: the next busy time begins as the first did.
            self.credit = self.config.scheduler.first_credit();
            return None;
        };
        let charge = self.charge(from_l4s);
        // Each queue has a controller of its own: L4S marks by its own delay, classic by the coupled base.
        let (verdict, mut packet) = if from_l4s {
            let verdict = self.l4s_verdict(now);
            (verdict, self.l4s.pop()?)
        } else {
            let packet = self.classic.pop()?;
            (self.classic_verdict(&packet), packet)
        };
        // A drop takes none of the link's time, so that its queue stays as it was with the scheduler.
        if verdict == Verdict::Drop {
            return Some(Dequeued::Drop(packet));
        }
        self.credit += charge;
        // Marked where it leaves and not where it came: the mark is of the queue that it saw.
        if verdict == Verdict::Mark {
            packet.ecn = packet.ecn.marked();
        }
        Some(Dequeued::Send(packet))
    }

    /// Bytes in both queues.
    pub fn backlog(&self) -> Bytes {
        self.l4s.bytes + self.classic.bytes
    }

    /// Probability with which the coupling marks L4S packets now (p_CL).
    pub fn coupled_probability(&self) -> f64 {
        self.pi.p_cl()
    }

    /// The packets in both queues.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.l4s.packets.iter().chain(&self.classic.packets).map(|(_, packet)| packet)
    }

    fn update(&mut self, now: Instant) {
        let delay = self.l4s.delay(now).max(self.classic.delay(now));
        self.pi.update(now, delay);
    }

    /// True for L4S, false for classic, `None` when both are empty.
    fn l4s_is_next(&self, now: Instant) -> Option<bool> {
        let (l4s, classic) = (self.l4s.packets.front(), self.classic.packets.front());
        let (Some((l4s_since, _)), Some((classic_since, _))) = (l4s, classic) else {
            return (l4s.is_some() || classic.is_some()).then_some(l4s.is_some());
        };
        // L4S goes first, unless classic packets would wait for too long, or get too little.
        Some(match self.config.scheduler {
            DualScheduler::TimeShifted { shift } => now.since(*l4s_since) + shift >= now.since(*classic_since),
            DualScheduler::Weighted { .. } => self.credit <= 0.0,
        })
    }

    /// Change of the credit if the head of this queue is sent: nothing, while the other queue does not wait.
    fn charge(&self, from_l4s: bool) -> f64 {
        let DualScheduler::Weighted { classic_share } = self.config.scheduler else { return 0.0 };
        match (self.l4s.packets.front(), self.classic.packets.front()) {
            (Some((_, l4s)), Some(_)) if from_l4s => classic_share * l4s.size.as_f64(),
            (Some(_), Some((_, classic))) => -(1.0 - classic_share) * classic.size.as_f64(),
            _ => 0.0,
        }
    }

    /// True if the PI controller's probabilities apply to a packet that leaves `behind` in both queues.
    fn is_queue(behind: Bytes) -> bool {
        behind >= Bytes(MIN_BACKLOG)
    }

    fn l4s_verdict(&mut self, now: Instant) -> Verdict {
        let marks = self.config.aqm.marks;
        let size = self.l4s.packets.front().map_or(Bytes::ZERO, |(_, packet)| packet.size);
        let is_queue = Self::is_queue(self.backlog().saturating_sub(size));
        // Marks have ended at one: L4S is dropped at the classic odds (RFC 9332 4.2.3).
        if is_queue && self.pi.is_overloaded() && self.l4s.happens(marks, self.pi.p_c(), &mut self.stream) {
            return Verdict::Drop;
        }
        // A lone packet is spared its own serialisation time (Th_len).
        let native = if self.l4s.packets.len() > 1 { self.config.aqm.native(self.l4s.delay(now)) } else { 0.0 };
        let coupled = if is_queue { self.pi.p_cl() } else { 0.0 };
        let marked = self.l4s.happens(marks, native.max(coupled), &mut self.stream);
        if marked { Verdict::Mark } else { Verdict::Pass }
    }

    fn classic_verdict(&mut self, packet: &Packet<P>) -> Verdict {
        // A queue of one packet is no queue: a drop would empty the link.
        if !Self::is_queue(self.backlog()) {
            return Verdict::Pass;
        }
        // Classic has the square of the base, so that a Reno flow has the rate of a scalable one (RFC 9332 2.1).
        if !self.classic.happens(self.config.aqm.marks, self.pi.p_c(), &mut self.stream) {
            return Verdict::Pass;
        }
        let ect0 = Class::of(packet.ecn) == Some(Class::Classic);
        // In overload a mark is no longer enough (RFC 9332 4.2.3), and without ECN there is only the drop.
        if ect0 && self.config.aqm.mark_classic && !self.pi.is_overloaded() { Verdict::Mark } else { Verdict::Drop }
    }
}

impl<P> Fifo<P> {
    fn new() -> Self {
        Self { packets: VecDeque::new(), bytes: Bytes::ZERO, recurrence: Recurrence::default() }
    }
    fn pop(&mut self) -> Option<Packet<P>> {
        let (_, packet) = self.packets.pop_front()?;
        self.bytes -= packet.size;
        Some(packet)
    }
    /// True if an event of this likelihood happens to the packet at hand.
    fn happens(&mut self, marks: Marks, likelihood: f64, stream: &mut Stream) -> bool {
        let likelihood = Probability::new(likelihood);
        match marks {
            Marks::Random => stream.chance(likelihood),
            Marks::Regular => self.recurrence.add(likelihood).0,
        }
    }
    /// Age of the head in seconds.
    fn delay(&self, now: Instant) -> f64 {
        self.packets.front().map_or(0.0, |(since, _)| now.since(*since).as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use tidemark_core::{Ecn, FlowId};

    fn packet(ecn: Ecn) -> Packet<()> {
        Packet { flow: FlowId(0), size: Bytes(1_500), ecn, payload: () }
    }

    /// RFC 9332's steps over two plain lists, in floating-point milliseconds: what it does, said independently.
    struct Reference {
        lq: Vec<(f64, Ecn)>,
        cq: Vec<(f64, Ecn)>,
        base: f64,
        prev: f64,
        credit: f64,
        /// Milliseconds by which L packets count as older; without, the queues take turns by weight.
        shift: Option<f64>,
        draws: Stream,
        /// Each queue's `count` of `recur()`, where marks are regular.
        counts: Option<[f64; 2]>,
    }
    impl Reference {
        fn chance(&mut self, l: bool, p: f64) -> bool {
            let Some(counts) = &mut self.counts else { return p > 0.0 && (p >= 1.0 || self.draws.uniform() < p) };
            let count = &mut counts[usize::from(l)];
            *count += p.min(1.0);
            if *count > 1.0 {
                *count -= 1.0;
                return true;
            }
            false
        }
        fn every_16_ms(&mut self, now: f64) {
            let age = |queue: &Vec<(f64, Ecn)>| queue.first().map_or(0.0, |(since, _)| now - since);
            let cur = age(&self.lq).max(age(&self.cq)) / 1e3;
            self.base += 0.16 * (cur - 0.015) + 3.2 * (cur - self.prev);
            self.base = self.base.clamp(0.0, 1.0);
            self.prev = cur;
        }
        /// Fate of the next packet: (its queue is L, 'send' 'mark' or 'drop').
        fn dequeue(&mut self, now: f64) -> Option<(bool, &'static str)> {
            let l = if self.lq.is_empty() {
                if self.cq.is_empty() {
                    self.credit = -1_200.0;
                    return None;
                }
                false
            } else if self.cq.is_empty() {
                true
            } else if let Some(shift) = self.shift {
                self.lq[0].0 - shift <= self.cq[0].0
            } else {
                self.credit <= 0.0
            };
            let both = !self.lq.is_empty() && !self.cq.is_empty();
            let (queue, fate) = self.fate(now, l);
            if both && fate != "drop" {
                self.credit += if l { 150.0 } else { -1_350.0 };
            }
            Some((queue, fate))
        }
        /// The next packet of a queue: its queue is L, and what happens to it.
        fn fate(&mut self, now: f64, l: bool) -> (bool, &'static str) {
            // Two packets of 1500 bytes stay behind it.
            let long = self.lq.len() + self.cq.len() > 2;
            let saturated = 2.0 * self.base > 1.0;
            let drop_p = self.base * self.base;
            if l {
                let alone = self.lq.len() == 1;
                let (since, _) = self.lq.remove(0);
                if long && saturated && self.chance(true, drop_p) {
                    return (true, "drop");
                }
                let sojourn = now - since;
                let own = if alone || sojourn <= 0.8 { 0.0 } else { ((sojourn - 0.8) / 0.4).min(1.0) };
                let coupled = if long { 2.0 * self.base } else { 0.0 };
                let marked = self.chance(true, own.max(coupled));
                return (true, if marked { "mark" } else { "send" });
            }
            let (_, ecn) = self.cq.remove(0);
            let fate = match long && self.chance(false, drop_p) {
                false => "send",
                true if ecn == Ecn::Ect0 && !saturated => "mark",
                true => "drop",
            };
            (false, fate)
        }
    }

    #[test]
    fn rfc_9332_step_by_step() {
        for marks in [Marks::Random, Marks::Regular] {
            step_by_step(marks, DualScheduler::default(), None);
            step_by_step(marks, DualScheduler::TimeShifted { shift: Duration::from_millis(50) }, Some(50.0));
        }
    }

    /// Sends one load through the queue and the reference, packet by packet.
    fn step_by_step(marks: Marks, scheduler: DualScheduler, shift: Option<f64>) {
        let aqm = DualPi2Config { marks, ..DualPi2Config::default() };
        let config = DualQueueConfig { aqm, scheduler, ..DualQueueConfig::default() };
        let mut queue = DualQueue::new(&config, Stream::new(1, 0, "dualq")).unwrap();
        let mut reference = Reference {
            lq: Vec::new(),
            cq: Vec::new(),
            base: 0.0,
            prev: 0.0,
            credit: 1_500.0 * (0.1 - 0.9),
            shift,
            draws: Stream::new(1, 0, "dualq"),
            counts: (marks == Marks::Regular).then_some([0.0; 2]),
        };
        let mut load = Stream::new(2, 0, "load");
        let mut seen = [0u32; 3];
        let mut overloads = 0;
        for tick in 0..80_000u64 {
            // A packet leaves every 250 us (48 Mbit/s); the load swings from half of that to well above.
            let now = Instant::from_nanos(tick * 250_000);
            let millis = tick as f64 * 0.25;
            if tick > 0 && tick % 64 == 0 {
                reference.every_16_ms(millis);
                overloads += u32::from(2.0 * reference.base > 1.0);
            }
            let factor = [0.4, 1.1, 0.8, 1.6][(tick / 8_000 % 4) as usize];
            let arrivals = (load.uniform() * 2.0 * factor + 0.5) as u64;
            for _ in 0..arrivals {
                let ecn = [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ect1, Ecn::Ce][(load.uniform() * 5.0) as usize];
                queue.enqueue(now, packet(ecn)).unwrap();
                if ecn.is_l4s() { reference.lq.push((millis, ecn)) } else { reference.cq.push((millis, ecn)) }
            }
            loop {
                let expected = reference.dequeue(millis);
                match (queue.dequeue(now), expected) {
                    (None, None) => break,
                    (Some(Dequeued::Drop(_)), Some((_, "drop"))) => seen[2] += 1,
                    (Some(Dequeued::Send(sent)), Some((l, fate @ ("send" | "mark")))) => {
                        assert!(fate == "send" || sent.ecn == Ecn::Ce, "{millis} ms: {sent:?} {fate}");
                        assert!(l || fate == "mark" || sent.ecn != Ecn::Ce, "{millis} ms: {sent:?} {fate}");
                        seen[usize::from(fate == "mark")] += 1;
                        break;
                    }
                    (got, expected) => panic!("{millis} ms: {got:?}, not {expected:?}"),
                }
            }
        }
        assert!(seen.iter().all(|count| *count > 500) && overloads > 50, "{seen:?}, {overloads} overloads");
    }

    /// Two queues whose PI controller has come to drop everything, with a head of a second.
    fn overloaded(l4s: usize, classic: usize) -> (DualQueue<()>, Instant) {
        let mut queue = DualQueue::new(&DualQueueConfig::default(), Stream::new(1, 0, "dualq")).unwrap();
        let now = Instant::from_millis(1_000);
        queue.enqueue(Instant::ZERO, packet(Ecn::NotEct)).unwrap();
        queue.update(now);
        assert_eq!(queue.pi.p_c(), 1.0);
        queue.classic.pop();
        (0..l4s).for_each(|_| queue.enqueue(now, packet(Ecn::Ect1)).unwrap());
        (0..classic).for_each(|_| queue.enqueue(now, packet(Ecn::NotEct)).unwrap());
        (queue, now)
    }

    #[test]
    fn nothing_is_signalled_while_less_than_two_packets_stay_behind() {
        let is_dropped = |l4s, classic| {
            let (mut queue, now) = overloaded(l4s, classic);
            matches!(queue.dequeue(now), Some(Dequeued::Drop(_)))
        };
        assert!(!is_dropped(1, 0) && !is_dropped(2, 0) && !is_dropped(0, 2) && !is_dropped(1, 1));
        assert!(is_dropped(3, 0) && is_dropped(0, 3) && is_dropped(2, 1));
        let (mut queue, now) = overloaded(2, 0);
        assert_eq!(queue.dequeue(now), Some(Dequeued::Send(packet(Ecn::Ect1))), "not marked either");
    }

    #[test]
    fn the_credit_is_charged_for_packets_that_are_sent_and_not_for_drops() {
        let (mut queue, now) = overloaded(3, 3);
        let before = queue.credit;
        assert!(matches!(queue.dequeue(now), Some(Dequeued::Drop(_))));
        assert_eq!(queue.credit, before);
        queue.pi = Pi2::new(&DualPi2Config::default());
        assert!(matches!(queue.dequeue(now), Some(Dequeued::Send(_))));
        assert_eq!(queue.credit, before + 150.0);
    }

    #[test]
    fn the_credit_begins_anew_once_both_queues_are_empty() {
        let mut queue = DualQueue::new(&DualQueueConfig::default(), Stream::new(1, 0, "dualq")).unwrap();
        let first = queue.credit;
        for ecn in [Ecn::Ect1, Ecn::NotEct] {
            queue.enqueue(Instant::ZERO, packet(ecn)).unwrap();
        }
        while queue.dequeue(Instant::ZERO).is_some() {}
        assert_eq!(queue.credit, first);
        for ecn in [Ecn::Ect1, Ecn::NotEct] {
            queue.enqueue(Instant::ZERO, packet(ecn)).unwrap();
        }
        queue.dequeue(Instant::ZERO);
        assert_eq!(queue.credit, first + 150.0);
    }

    #[test]
    fn both_backlogged_the_classic_queue_gets_its_tenth() {
        let mut queue = DualQueue::new(&DualQueueConfig::default(), Stream::new(1, 0, "dualq")).unwrap();
        for _ in 0..2_000 {
            queue.enqueue(Instant::ZERO, packet(Ecn::Ect1)).unwrap();
            queue.enqueue(Instant::ZERO, packet(Ecn::Ect0)).unwrap();
        }
        let classic = (0..1_000)
            .filter(|_| match queue.dequeue(Instant::ZERO) {
                Some(Dequeued::Send(packet)) => packet.ecn == Ecn::Ect0,
                other => panic!("{other:?}"),
            })
            .count();
        assert!((99..=101).contains(&classic), "{classic}");
    }

    #[test]
    fn time_shifted_l4s_goes_first_until_classic_is_older_by_the_shift() {
        let shift = Duration::from_millis(50);
        let config = DualQueueConfig { scheduler: DualScheduler::TimeShifted { shift }, ..DualQueueConfig::default() };
        let first = |l4s_at: u64| {
            let mut queue = DualQueue::new(&config, Stream::new(1, 0, "dualq")).unwrap();
            queue.enqueue(Instant::ZERO, packet(Ecn::NotEct)).unwrap();
            queue.enqueue(Instant::from_millis(l4s_at), packet(Ecn::Ect1)).unwrap();
            match queue.dequeue(Instant::from_millis(60)) {
                Some(Dequeued::Send(packet) | Dequeued::Drop(packet)) => packet.ecn.is_l4s(),
                None => panic!("two packets wait"),
            }
        };
        assert!(first(50));
        assert!(!first(51));
    }

    #[test]
    fn a_full_queue_gives_the_packet_back() {
        let config = DualQueueConfig { limit: Bytes(3_000), ..DualQueueConfig::default() };
        let mut queue = DualQueue::new(&config, Stream::new(1, 0, "dualq")).unwrap();
        assert!(queue.enqueue(Instant::ZERO, packet(Ecn::Ect1)).is_ok());
        assert!(queue.enqueue(Instant::ZERO, packet(Ecn::Ect0)).is_ok());
        assert_eq!(queue.enqueue(Instant::ZERO, packet(Ecn::Ect1)), Err(packet(Ecn::Ect1)));
        assert_eq!((queue.backlog(), queue.packets().count()), (Bytes(3_000), 2));
    }

    #[test]
    fn the_coupled_probability_rises_from_nothing_in_a_queue_that_stays_long() {
        let mut queue = DualQueue::new(&DualQueueConfig::default(), Stream::new(1, 0, "mark")).unwrap();
        assert_eq!(queue.coupled_probability(), 0.0);
        let mut seen = Vec::new();
        for millis in 0..2_000 {
            let now = Instant::from_millis(millis);
            let _ = queue.enqueue(now, packet(Ecn::NotEct));
            if millis % 2 == 0 {
                let _ = queue.dequeue(now);
            }
            seen.push(queue.coupled_probability());
        }
        assert!(seen.iter().any(|p| *p > 0.0 && *p < 1.0));
    }

    #[test]
    fn each_part_of_the_configuration_is_checked() {
        let config = DualQueueConfig::default();
        config.validate().unwrap();
        assert!(DualQueueConfig { limit: Bytes(2_999), ..config }.validate().is_err());
        assert!(DualQueueConfig { limit: Bytes(3_000), ..config }.validate().is_ok());
    }
}
