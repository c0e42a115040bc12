use super::*;
use crate::shortcircuit::Feedback;
use crate::shortcircuit::tests::{opened, opened_by_the_server, passed, segment};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use tidemark_core::Stream;

const MSS: u32 = 1_448;

fn ack(ace: u8, ack: u32, counters: Option<[u32; 3]>) -> TcpView {
    let accecn = counters.map(|[e0b, ceb, e1b]| AccEcnCounters { e0b: Some(e0b), ceb: Some(ceb), e1b: Some(e1b) });
    TcpView { accecn, ..segment(ace, false, Some(ack), 101, 0) }
}
fn data(seq: u32) -> TcpView {
    segment(0, false, Some(101), seq, MSS)
}
/// True if the packet is marked and the mark is left to acknowledgements.
fn send(feedback: &mut Feedback, seq: u32, marked: bool) -> bool {
    feedback.downlink(&data(seq), &mut 0);
    marked && feedback.mark(&data(seq))
}

#[test]
fn the_handshake_ack_is_left_alone_and_marks_follow_from_the_next() {
    let mut feedback = opened(0b111, 0b010);
    send(&mut feedback, 1_000, true);
    assert_eq!(feedback.uplink(&ack(0b011, 1_000, None), &mut 0), None, "this ACE is the SYN/ACK's ECN field");
    // 5 + 1 on the ACK of the marked segment.
    assert_eq!(passed(&mut feedback, &ack(5, 1_000 + MSS, None)), ack(6, 1_000 + MSS, None));
    // For good: the next ACK without news carries it too.
    assert_eq!(passed(&mut feedback, &ack(5, 1_000 + 2 * MSS, None)), ack(6, 1_000 + 2 * MSS, None));
}

#[test]
fn no_more_marks_than_packets_acknowledged() {
    let mut feedback = opened(0b111, 0b010);
    for k in 0..10 {
        send(&mut feedback, 1_000 + k * MSS, true);
    }
    let mut ace_after = |acked: u32, ace| passed(&mut feedback, &ack(ace, 1_000 + acked * MSS, None)).flags.ace();
    assert_eq!(ace_after(2, 5), 7);
    assert_eq!(ace_after(2, 5), 7, "a duplicate acknowledges nothing");
    assert_eq!(ace_after(3, 6), 0, "the client counted one of this ACK's packets itself: 6 + 2");
    assert_eq!(ace_after(5, 6), 2, "6 + 4");
}

#[test]
fn the_options_bytes_move_from_ect1_to_ce() {
    let mut feedback = opened(0b111, 0b010);
    send(&mut feedback, 1_000, false);
    send(&mut feedback, 1_000 + MSS, true);
    send(&mut feedback, 1_000 + 2 * MSS, true);
    assert_eq!(feedback.uplink(&ack(5, 1_000, Some([1, 0, 1])), &mut 0), None);
    let counters = |feedback: &mut Feedback, acked: u32| {
        passed(feedback, &ack(5, 1_000 + acked * MSS, Some([1, 0, 1 + acked * MSS]))).accecn.unwrap()
    };
    // The handshake ACK is not counted: the first option sets the base.
    let first = counters(&mut feedback, 1);
    assert_eq!((first.ceb, first.e1b), (Some(0), Some(1 + MSS)));
    let second = counters(&mut feedback, 3);
    assert_eq!((second.e0b, second.ceb, second.e1b), (Some(1), Some(2 * MSS), Some(1 + MSS)));
}

#[test]
fn counters_wrap() {
    let mut feedback = opened(0b111, 0b010);
    for k in 0..4 {
        send(&mut feedback, 1_000 + k * MSS, k >= 2);
    }
    let near = MASK - 100;
    feedback.uplink(&ack(5, 1_000 + 2 * MSS, Some([1, near, near])), &mut 0);
    let told = passed(&mut feedback, &ack(5, 1_000 + 4 * MSS, Some([1, near, (near + 2 * MSS) & MASK])));
    let counters = told.accecn.unwrap();
    assert_eq!(told.flags.ace(), 7, "two marks are due");
    let moved = counters.ceb.unwrap().wrapping_sub(near) & MASK;
    assert_eq!(moved, 2 * MSS);
    assert_eq!(counters.e1b, Some(near));
}

#[test]
fn an_overtaken_ack_is_no_news_to_the_sender() {
    let mut feedback = opened(0b111, 0b010);
    for k in 0..4 {
        send(&mut feedback, 1_000 + k * MSS, true);
    }
    feedback.uplink(&ack(5, 1_000 + 2 * MSS, Some([1, 0, 1 + 2 * MSS])), &mut 0);
    let mut told = |acked: u32| {
        let told = passed(&mut feedback, &ack(5, 1_000 + acked * MSS, Some([1, 0, 1 + acked * MSS])));
        (told.flags.ace(), told.accecn)
    };
    let later = told(4);
    assert_eq!(told(3), later, "it was overtaken");
    assert_eq!(told(4), later);
}

#[test]
fn of_marks_that_no_acknowledgement_could_carry_at_most_a_flight_comes_later() {
    let mut feedback = opened(0b111, 0b010);
    // A thousand marked segments, of which one acknowledgement tells, as after a hole was filled.
    for k in 0..1_000 {
        send(&mut feedback, 1_000 + k * MSS, true);
    }
    let ace_of = |feedback: &mut Feedback, acked: u32| passed(feedback, &ack(5, 1_000 + acked * MSS, None)).flags.ace();
    assert_eq!(ace_of(&mut feedback, 996), (5 + 7) & 7, "no more than three bits can tell");
    // Four segments are under way, and four marks are left of 993.
    assert_eq!(ace_of(&mut feedback, 1_000), (5 + 7 + 4) & 7);
    for k in 1_000..1_100 {
        send(&mut feedback, 1_000 + k * MSS, false);
        assert_eq!(ace_of(&mut feedback, k + 1), (5 + 7 + 4) & 7, "the storm is over");
    }
}

#[test]
fn marks_for_which_bundled_acknowledgements_have_no_room_are_left_to_the_packets() {
    let mut feedback = opened(0b111, 0b010);
    let mut booked = [0; 3];
    for (bundle, booked) in (0..).zip(&mut booked) {
        for k in 44 * bundle..44 * (bundle + 1) {
            *booked += u32::from(send(&mut feedback, 1_000 + k * MSS, true));
        }
        feedback.uplink(&ack(5, 1_000 + 44 * (bundle + 1) * MSS, None), &mut 0);
    }
    assert_eq!(booked, [44, 7, 7]);
    // A client that sees CE acknowledges every third of it.
    send(&mut feedback, 1_000 + 132 * MSS, false);
    feedback.uplink(&ack(5, 1_000 + 133 * MSS, None), &mut 0);
    assert_eq!((133..177).filter(|k| send(&mut feedback, 1_000 + k * MSS, true)).count(), 44);
}

#[test]
fn the_acknowledgement_of_the_syn_ack_keeps_its_field() {
    // RFC 9768 table 4 has a meaning for each of the eight, and zero switches ECN off.
    for field in 0..8 {
        let mut feedback = opened(0b111, 0b010);
        (0..3).for_each(|k| assert!(send(&mut feedback, 1_000 + k * MSS, true)));
        assert_eq!(feedback.uplink(&ack(field, 1_000, None), &mut 0), None, "{field:03b}");
        assert_eq!(feedback.pending(), 3);
    }
}

#[test]
fn the_first_feedback_is_zero_if_and_only_if_the_client_sent_zero() {
    // RFC 9768 3.2.2.4: the sender does without ECN for the rest of the connection then.
    for field in 0..8 {
        for segments in 1..=12 {
            let mut feedback = opened(0b111, 0b010);
            (0..segments).for_each(|k| assert!(send(&mut feedback, 1_000 + k * MSS, true)));
            let told = passed(&mut feedback, &ack(field, 1_000 + segments * MSS, None)).flags.ace();
            assert_eq!(told == 0, field == 0, "{field} became {told} with {segments} marks");
        }
    }
}

#[test]
fn the_first_feedback_is_never_made_zero() {
    // Three marks in the first acknowledgement, or one and then two, would make 5 + 3.
    for acknowledgements in [&[3][..], &[1, 3], &[1, 2, 3]] {
        let mut feedback = opened(0b111, 0b010);
        for k in 0..3 {
            assert!(send(&mut feedback, 1_000 + k * MSS, true));
        }
        let told =
            |feedback: &mut Feedback, acked: u32| passed(feedback, &ack(5, 1_000 + acked * MSS, None)).flags.ace();
        let aces: Vec<_> = acknowledgements.iter().map(|acked| told(&mut feedback, *acked)).collect();
        let expected: &[u8] = match acknowledgements {
            [3] => &[7],
            [1, 3] => &[6, 7],
            // The sender has looked by then: it looks at acknowledgements of the first segment alone.
            _ => &[6, 7, 0],
        };
        assert_eq!(aces, expected);
    }
    // What waited is told with the next.
    let mut feedback = opened(0b111, 0b010);
    for k in 0..4 {
        send(&mut feedback, 1_000 + k * MSS, k < 3);
    }
    assert_eq!(passed(&mut feedback, &ack(5, 1_000 + 3 * MSS, None)).flags.ace(), 7);
    assert_eq!(passed(&mut feedback, &ack(5, 1_000 + 4 * MSS, None)).flags.ace(), 0);
}

#[test]
fn an_acknowledgement_of_what_was_never_sent_changes_no_counter() {
    let mut feedback = opened(0b111, 0b010);
    send(&mut feedback, 1_000, true);
    assert_eq!(feedback.uplink(&ack(5, 1_000 + (1 << 30), None), &mut 0), None);
    assert_eq!(passed(&mut feedback, &ack(5, 1_000 + MSS, None)).flags.ace(), 6);
}

#[test]
fn a_segment_without_data_is_marked_itself_since_nothing_acknowledges_it() {
    let mut feedback = opened(0b111, 0b010);
    let pure = TcpView { payload: 0, ..data(1_000) };
    feedback.downlink(&pure, &mut 0);
    assert!(!feedback.mark(&pure));
}

#[test]
fn bytes_of_marks_from_before_the_clients_own_first_are_not_counted_late() {
    let mut feedback = opened(0b111, 0b010);
    let option = |ceb, e1b| Some(AccEcnCounters { e0b: None, ceb, e1b: Some(e1b) });
    let view = |ace, acked: u32, ceb| {
        let accecn = option(ceb, 1 + acked * MSS - ceb.unwrap_or(0));
        TcpView { accecn, ..segment(ace, false, Some(1_000 + acked * MSS), 101, 0) }
    };
    // Marks that only the ACE field tells, since the client's option leaves out what never moved.
    for k in 0..1_001 {
        send(&mut feedback, 1_000 + k * MSS, true);
        feedback.uplink(&view(5, k + 1, None), &mut 0);
    }
    // The client itself sees CE, once, and nothing is marked any more.
    for k in 1_001..1_011 {
        send(&mut feedback, 1_000 + k * MSS, false);
        let told = passed(&mut feedback, &view(6, k + 1, Some(MSS)));
        assert_ne!(told.flags.ace(), 6, "it is ahead of the client's");
        assert_eq!(told.accecn.unwrap().ceb, Some(MSS), "after {} segments", k - 1_000);
    }
}

/// A sender's view of the counters: RFC 9768 3.2.2 and 3.2.3, for acknowledgements in order.
struct Sender {
    ack: u32,
    cep: u8,
    ce_packets: u64,
    acked_packets: u64,
    /// Ends of the segments under way.
    ends: VecDeque<u32>,
    counters: [u32; 3],
}
impl Sender {
    fn receive(&mut self, view: &TcpView) {
        let advance = view.ack.wrapping_sub(self.ack) as i32;
        if advance < 0 {
            return;
        }
        self.ack = view.ack;
        while self.ends.front().is_some_and(|end| end.wrapping_sub(view.ack).cast_signed() <= 0) {
            self.ends.pop_front();
            self.acked_packets += 1;
        }
        let new_marks = view.flags.ace().wrapping_sub(self.cep) & 7;
        self.cep = view.flags.ace();
        self.ce_packets += u64::from(new_marks);
        if let Some(option) = view.accecn {
            for (now, before) in [option.e0b, option.ceb, option.e1b].into_iter().zip(&mut self.counters) {
                let now = now.unwrap_or(*before);
                let grown = now.wrapping_sub(*before) & MASK;
                assert!(grown < 1 << 20, "a counter went backwards: {before} to {now}");
                *before = now;
            }
        }
    }
}

/// Option that a client puts into its acknowledgements (RFC 9768 3.2.3).
#[derive(Clone, Copy, PartialEq, Debug)]
enum Options {
    None,
    All,
    /// There is not always room for it.
    Now,
    /// Counters at the end that did not change since the last option are left out, in the order of kind 174.
    Truncated,
}

/// A client as RFC 9768 has it.
struct Client {
    options: Options,
    acked: u32,
    cep: u8,
    ceb: u32,
    e1b: u32,
    /// CEB as the last option had it.
    told_ceb: u32,
}
impl Client {
    fn receive(&mut self, seq: u32, size: u32, ce: bool) {
        self.acked = seq.wrapping_add(size);
        if ce {
            self.cep = (self.cep + 1) & 7;
            self.ceb = self.ceb.wrapping_add(size) & MASK;
        } else {
            self.e1b = self.e1b.wrapping_add(size) & MASK;
        }
    }

    fn ack(&mut self, has_room: bool) -> TcpView {
        let view = ack(self.cep, self.acked, Some([1, self.ceb, self.e1b]));
        let counters = view.accecn.unwrap();
        let unchanged = self.ceb == self.told_ceb;
        let accecn = match self.options {
            Options::All => Some(counters),
            Options::Now if has_room => Some(counters),
            Options::None | Options::Now => None,
            Options::Truncated if !has_room => None,
            Options::Truncated if unchanged => Some(AccEcnCounters { e0b: None, ceb: None, ..counters }),
            Options::Truncated => Some(AccEcnCounters { e0b: None, ..counters }),
        };
        self.told_ceb = accecn.and_then(|counters| counters.ceb).unwrap_or(self.told_ceb);
        TcpView { accecn, ..view }
    }
}

#[test]
fn the_senders_count_never_goes_backwards_and_never_exceeds_what_was_acknowledged() {
    for run in 0..400 {
        let mut chance = Stream::new(run, 0, "accecn");
        let mut draw = |limit: u64| (chance.uniform() * limit as f64) as u64;
        let options = [Options::None, Options::All, Options::Now, Options::Truncated][draw(4) as usize];
        // An acknowledgement for one or two packets, or for up to sixteen of them.
        let stretch = if draw(2) == 0 { 2 } else { 16 };
        let mut feedback = if draw(2) == 0 {
            let mut feedback = opened(0b111, 0b010);
            feedback.uplink(&ack(0b010, 1_000, None), &mut 0);
            feedback
        } else {
            opened_by_the_server(0b111, 0b010)
        };
        let mut sender =
            Sender { ack: 1_000, cep: 5, ce_packets: 0, acked_packets: 0, ends: VecDeque::new(), counters: [1, 0, 1] };
        let (sizes, mut let_go) = (1 + draw(3), 0);
        let mut client = Client { options, acked: 1_000, cep: 5, ceb: 0, e1b: 1, told_ceb: 0 };
        let (mut next, mut booked, mut set_elsewhere) = (1_000u32, 0u64, 0u64);
        let mut on_air: VecDeque<(u32, u32, bool)> = VecDeque::new();
        let mut held: Option<TcpView> = None;
        for _ in 0..2_000 {
            for _ in 0..draw(2 * stretch) {
                // A tenth of the packets come with CE from elsewhere: they keep it, and are not marked again.
                let elsewhere = draw(10) == 0;
                let marked = !elsewhere && draw(3) == 0;
                let size = [MSS, MSS - draw(700) as u32, 100][draw(sizes) as usize];
                let data = segment(0, false, Some(101), next, size);
                feedback.downlink(&data, &mut let_go);
                let short_circuited = marked && feedback.mark(&data);
                let in_packet = elsewhere || (marked && !short_circuited);
                booked += u64::from(short_circuited);
                set_elsewhere += u64::from(in_packet);
                on_air.push_back((next, size, in_packet));
                next = next.wrapping_add(size);
                sender.ends.push_back(next);
            }
            // The client takes some, no more than three with CE (section 3.2.2.5.1), and acknowledges.
            let mut marks = 0;
            for _ in 0..(1 + draw(stretch)).min(on_air.len() as u64) {
                let Some((seq, size, ce)) = on_air.pop_front() else { break };
                client.receive(seq, size, ce);
                marks += u32::from(ce);
                if marks == 3 {
                    break;
                }
            }
            let view = client.ack(draw(2) == 0);
            // Now and then one is overtaken by its successor, before the node, and now and then one comes twice.
            let again = (draw(8) == 0).then_some(view);
            let batch = match held.take() {
                Some(late) => [Some(view), Some(late), again],
                None if draw(8) == 0 => {
                    held = Some(view);
                    [None; 3]
                }
                None => [Some(view), again, None],
            };
            for view in batch.into_iter().flatten() {
                let change = feedback.uplink(&view, &mut let_go);
                sender.receive(&change.map_or(view, |change| view.with_feedback(change)));
                let case = (run, options, stretch);
                assert!(sender.ce_packets <= sender.acked_packets, "{case:?}");
                assert!(sender.ce_packets <= booked + set_elsewhere, "{case:?}");
                assert!(sender.counters[1] <= sender.acked_packets as u32 * MSS, "{case:?}");
            }
        }
        // An acknowledgement that was held back is overtaken, and one after all others tells what the client counted.
        let view = client.ack(true);
        let change = feedback.uplink(&view, &mut let_go);
        sender.receive(&change.map_or(view, |change| view.with_feedback(change)));
        let told = sender.ce_packets;
        let counted = set_elsewhere - on_air.iter().filter(|(_, _, ce)| *ce).count() as u64;
        let (pending, let_go) = (u64::from(feedback.pending()), u64::from(let_go));
        assert_eq!(told + pending + let_go, booked + counted, "run {run}, {options:?}, {stretch}, {sizes}");
        assert!(pending <= on_air.len() as u64);
        // Of what one acknowledgement for many packets can't tell, no more waits than the packets under way could carry.
        let limit = if stretch > 2 { booked / 5 } else { booked / 50 };
        assert!(let_go <= limit, "run {run}, {options:?}, {stretch}, {sizes}: {let_go} of {booked}");
        assert!(told > 300, "run {run}: {told}");
    }
}

/// A connection all of whose segments are marked: what its sender reads of that.
struct Line {
    feedback: Feedback,
    next: u32,
    /// Ends of the segments under way, in order, and their CE.
    under_way: VecDeque<(u32, bool)>,
    acked: u32,
    cep: u8,
    /// The ACE field as the sender last saw it.
    ace: u8,
    made: u32,
    read: u32,
    let_go: u32,
}
impl Line {
    fn new() -> Self {
        let feedback = opened(0b111, 0b010);
        let (next, acked) = (1_000, 1_000);
        Self { feedback, next, under_way: VecDeque::new(), acked, cep: 5, ace: 5, made: 0, read: 0, let_go: 0 }
    }

    fn send(&mut self, size: u32) {
        let segment = segment(0, false, Some(101), self.next, size);
        self.feedback.downlink(&segment, &mut 0);
        self.next = self.next.wrapping_add(size);
        self.under_way.push_back((self.next, !self.feedback.mark(&segment)));
        self.made += 1;
    }

    /// The client receives a segment that has CE or not, and acknowledges nothing yet.
    fn receive(&mut self) {
        let (end, ce) = self.under_way.pop_front().expect("something is under way");
        self.acked = end;
        self.cep = (self.cep + u8::from(ce)) & 7;
    }

    fn acknowledge(&mut self, number: u32) {
        let view = ack(self.cep, number, None);
        let change = self.feedback.uplink(&view, &mut self.let_go);
        let ace = change.map_or(view, |change| view.with_feedback(change)).flags.ace();
        self.read += u32::from(ace.wrapping_sub(self.ace) & 7);
        self.ace = ace;
        // A mark is read, or on its way, or counted as let go.
        let on_packets = self.under_way.iter().filter(|(_, ce)| *ce).count() as u32;
        assert_eq!(self.made, self.read + self.let_go + self.feedback.pending() + on_packets);
    }

    /// The client acknowledges this many of the segments under way at once.
    fn take(&mut self, segments: usize) {
        (0..segments).for_each(|_| self.receive());
        self.acknowledge(self.acked);
    }

    /// Sends and acknowledges with twenty segments under way, this many at once.
    fn run(&mut self, segments: u32, size: u32, bundle: usize) {
        for _ in 0..segments {
            self.send(size);
            if self.under_way.len() >= 20 + bundle {
                self.take(bundle);
            }
        }
    }

    /// Percentage of the marks since then that the sender read, or that are under way.
    fn percent_since(&self, (made, read): (u32, u32)) -> u32 {
        let waiting = self.under_way.len() as u32;
        100 * (self.read - read + waiting).min(self.made - made) / (self.made - made)
    }
}

#[test]
fn segments_of_varying_size_have_room_for_every_mark() {
    // Counted as bytes over the largest, 300-byte segments after a full one had room for 26 % to 51 % of their marks.
    for bundle in [1, 2, 3, 4, 6] {
        let mut line = Line::new();
        line.run(1, MSS, bundle);
        line.run(2_000, 300, bundle);
        assert!(line.percent_since((0, 0)) >= 99, "{} % in bundles of {bundle}", line.percent_since((0, 0)));
    }
    // Frames of three full segments and the rest; sizes that never come twice in a row are more than are told apart.
    for (sizes, percent) in [(&[MSS, MSS, MSS, 700][..], 99), (&[MSS, 90, 800, 300, 1_200, 40], 90)] {
        let mut line = Line::new();
        sizes.iter().cycle().take(3_000).for_each(|size| line.run(1, *size, 2));
        assert!(line.percent_since((0, 0)) >= percent, "{} % of {sizes:?}", line.percent_since((0, 0)));
    }
}

#[test]
fn the_next_packet_is_marked_in_place_of_marks_that_were_let_go() {
    let mut line = Line::new();
    (0..10).for_each(|_| line.send(MSS));
    // Seven are read of ten, and nothing is under way that the others could come with.
    line.take(10);
    assert_eq!((line.read, line.let_go), (7, 3));
    let segment = |payload| segment(0, false, Some(101), line.next, payload);
    assert!(!line.feedback.downlink(&segment(0), &mut 0), "nothing acknowledges it");
    assert!(line.feedback.downlink(&segment(MSS), &mut 0));
    // It was not an ECT packet; the one after it is.
    assert!(line.feedback.downlink(&segment(MSS), &mut 0));
    line.feedback.settle();
    assert!(!line.feedback.downlink(&segment(MSS), &mut 0));
}

#[test]
fn marks_of_a_connection_that_another_replaces_are_let_go() {
    let mut line = Line::new();
    (0..3).for_each(|_| line.send(MSS));
    let syn = segment(0b111, true, None, 5_000, 0);
    assert_eq!(line.feedback.uplink(&syn, &mut line.let_go), None);
    line.feedback.downlink(&segment(0b010, true, Some(5_001), 77_000, 0), &mut line.let_go);
    assert_eq!((line.let_go, line.feedback.pending()), (3, 0));
}

#[test]
fn marks_of_sack_recovery_are_told() {
    // 42 % were: while a hole stands nothing is acknowledged, and then all at once.
    let mut line = Line::new();
    for _ in 0..20 {
        line.run(100, MSS, 2);
        let hole = line.acked;
        // One segment is lost, and for a round trip every other brings an acknowledgement of what came before.
        for _ in 0..40 {
            line.send(MSS);
            line.receive();
            line.acknowledge(hole);
        }
        line.acknowledge(line.acked);
    }
    assert!(line.percent_since((0, 0)) >= 99, "{} %", line.percent_since((0, 0)));
}

#[test]
fn one_large_spoofed_segment_is_forgotten() {
    // 31 % to 49 % of all later marks were told: the largest size that ever passed counted for good.
    for (size, bundle) in [(65_495, 2), (65_495, 3), (9_000, 3)] {
        let mut line = Line::new();
        line.run(100, MSS, bundle);
        line.feedback.downlink(&segment(0, false, Some(101), line.next, size), &mut 0);
        let since = (line.made, line.read);
        line.run(3_000, MSS, bundle);
        assert!(line.percent_since(since) >= 99, "{} % after {size} bytes", line.percent_since(since));
    }
}

#[test]
fn a_counter_is_behind_another_by_less_than_half_of_its_range() {
    for (value, than, is_behind) in [
        (0, 0, false),
        (1, 0, false),
        (MASK / 2, 0, false),
        (MASK / 2 + 1, 0, true),
        (MASK, 0, true),
        (0, 1, true),
        (0, MASK, false),
        (MASK - 5, 3, true),
        (7, 7, false),
    ] {
        assert_eq!(behind(value, than), is_behind, "{value:#x} {than:#x}");
    }
}

#[test]
fn an_older_counter_with_the_same_acknowledgement_number_is_repeated_as_the_last() {
    let mut feedback = opened(0b111, 0b010);
    (0..4).for_each(|k| _ = send(&mut feedback, 1_000 + k * MSS, false));
    feedback.uplink(&ack(5, 1_000 + 2 * MSS, Some([1, 100, 1])), &mut 0);
    let seen = |told: TcpView| (told.flags.ace(), told.accecn.unwrap().ceb);
    assert_eq!(seen(passed(&mut feedback, &ack(5, 1_000 + 2 * MSS, Some([1, 40, 1])))), (5, Some(100)));
    // Newer ones pass as they are.
    assert_eq!(seen(passed(&mut feedback, &ack(6, 1_000 + 2 * MSS, Some([1, 140, 1])))), (6, Some(140)));
    // Without the option the ACE field says so: a step of five and more is one backwards.
    let field = |feedback: &mut Feedback, ace| passed(feedback, &ack(ace, 1_000 + 2 * MSS, None)).flags.ace();
    assert_eq!([field(&mut feedback, 2), field(&mut feedback, 3)], [2, 3]);
    assert_eq!(field(&mut feedback, 0), 3);
}

#[test]
fn each_marked_byte_moves_once_however_the_acknowledgements_come() {
    for is_ect0 in [false, true] {
        let mut feedback = opened(0b111, 0b010);
        // Every other segment from the second on is marked, and five stay under way.
        for k in 0..25 {
            assert_eq!(send(&mut feedback, 1_000 + k * MSS, k % 2 == 1 && k < 20), k % 2 == 1 && k < 20);
        }
        let counters = |acked: u32| if is_ect0 { [1 + acked * MSS, 0, 1] } else { [1, 0, 1 + acked * MSS] };
        let mut read = None;
        for acked in 1..=20 {
            read = Some(passed(&mut feedback, &ack(5, 1_000 + acked * MSS, Some(counters(acked)))));
        }
        let (read, marked) = (read.unwrap(), 10 * MSS);
        let [e0b, _, e1b] = counters(20);
        let expected = if is_ect0 { [e0b - marked, marked, e1b] } else { [e0b, marked, e1b - marked] };
        let accecn = read.accecn.unwrap();
        assert_eq!([accecn.e0b, accecn.ceb, accecn.e1b], expected.map(Some));
        assert_eq!(read.flags.ace(), (5 + 10) % 8);
    }
}

#[test]
fn bytes_stay_where_an_options_counter_went_backwards() {
    let mut feedback = opened(0b111, 0b010);
    (0..10).for_each(|k| _ = send(&mut feedback, 1_000 + k * MSS, k == 2 || k == 3));
    feedback.uplink(&ack(5, 1_000 + MSS, Some([1, 0, 1 + MSS])), &mut 0);
    let read = passed(&mut feedback, &ack(5, 1_000 + 4 * MSS, Some([1, 0, 500]))).accecn.unwrap();
    assert_eq!((read.ceb, read.e1b), (Some(0), Some(500)));
    let read = passed(&mut feedback, &ack(5, 1_000 + 5 * MSS, Some([1, 0, 1 + 5 * MSS]))).accecn.unwrap();
    assert_eq!((read.ceb, read.e1b), (Some(2 * MSS), Some(1 + 3 * MSS)));
}

/// Marks that are left to acknowledgements before one is refused.
fn room(feedback: &mut Feedback, from: u32) -> u16 {
    (0..30).take_while(|k| send(feedback, from + *k * MSS, true)).count() as u16
}

#[test]
fn marks_are_left_to_acknowledgements_up_to_what_the_last_one_bundled() {
    let limit = u32::from(MAX_ACE_MARKS);
    for (acked, expected) in
        [(limit * MSS - 1, 30), (limit * MSS, 30), (limit * MSS + 1, MAX_ACE_MARKS), (8 * MSS, MAX_ACE_MARKS)]
    {
        let mut feedback = opened(0b111, 0b010);
        (0..20).for_each(|k| _ = send(&mut feedback, 1_000 + k * MSS, false));
        feedback.uplink(&ack(5, 1_000 + acked, None), &mut 0);
        assert_eq!(room(&mut feedback, 1_000 + 20 * MSS), expected, "{acked} bytes");
    }
}

#[test]
fn a_repeated_acknowledgement_without_data_says_that_the_next_is_for_many() {
    for (payload, marks, expected) in [(0, 0, MAX_ACE_MARKS), (0, 1, MAX_ACE_MARKS - 1), (100, 0, 30)] {
        let mut feedback = opened(0b111, 0b010);
        (0..4).for_each(|k| _ = send(&mut feedback, 1_000 + k * MSS, false));
        feedback.uplink(&ack(5, 1_000 + 2 * MSS, None), &mut 0);
        (0..marks).for_each(|k| assert!(send(&mut feedback, 1_000 + (4 + k) * MSS, true)));
        feedback.uplink(&TcpView { payload, ..ack(5, 1_000 + 2 * MSS, None) }, &mut 0);
        assert_eq!(room(&mut feedback, 1_000 + 10 * MSS), expected, "{payload} bytes, {marks} marks");
    }
}

#[test]
fn marks_that_just_fit_what_is_under_way_are_owed_by_no_packet() {
    for (marked, let_go) in [(2, 0), (3, 1)] {
        let mut feedback = opened(0b111, 0b010);
        (0..3).for_each(|k| _ = send(&mut feedback, 1_000 + k * MSS, k >= 3 - marked));
        // The client counted the one packet itself: there is no room for another, and two segments are under way.
        let mut count = 0;
        feedback.uplink(&ack(6, 1_000 + MSS, None), &mut count);
        assert_eq!(count, let_go);
        assert_eq!(feedback.downlink(&data(1_000 + 3 * MSS), &mut 0), let_go > 0);
    }
}

#[test]
fn a_state_from_another_cu_up_lies_within_its_fields() {
    let good = AccEcn::new(1_000, true).export();
    assert!(AccEcn::import(&good).is_ok());
    type Change = fn(&mut AccEcnRecord, bool);
    let changes: [(Change, &str); 5] = [
        (|record, is_good| record.limit = u16::from(is_good).into(), "limit"),
        (|record, is_good| record.added_packets = if is_good { 7 } else { 8 }, "added_packets"),
        (|record, is_good| record.client_ace = if is_good { 7 } else { 8 }, "client_ace"),
        (|record, is_good| record.added_ce = (MASK + u32::from(!is_good)).into(), "added_ce"),
        (|record, is_good| record.client_ceb = (MASK + u32::from(!is_good)).into(), "client_ceb"),
    ];
    for (change, name) in changes {
        for is_good in [true, false] {
            let mut record = AccEcn::new(1_000, true).export();
            change(&mut record, is_good);
            assert_eq!(AccEcn::import(&record).is_ok(), is_good, "{name}");
        }
    }
}
