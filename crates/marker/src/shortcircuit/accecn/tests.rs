use super::*;
use crate::shortcircuit::Feedback;
use crate::shortcircuit::tests::{opened, opened_by_the_server, passed, segment};
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
    feedback.downlink(&data(seq));
    marked && feedback.mark(&data(seq))
}

#[test]
fn the_handshake_ack_is_left_alone_and_marks_follow_from_the_next() {
    let mut feedback = opened(0b111, 0b010);
    send(&mut feedback, 1_000, true);
    assert_eq!(feedback.uplink(&ack(0b011, 1_000, None)), None, "this ACE is the SYN/ACK's ECN field");
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
    assert_eq!(feedback.uplink(&ack(5, 1_000, Some([1, 0, 1]))), None);
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
    feedback.uplink(&ack(5, 1_000 + 2 * MSS, Some([1, near, near])));
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
    feedback.uplink(&ack(5, 1_000 + 2 * MSS, Some([1, 0, 1 + 2 * MSS])));
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
        feedback.uplink(&ack(5, 1_000 + 44 * (bundle + 1) * MSS, None));
    }
    assert_eq!(booked, [44, 7, 7]);
    // A client that sees CE acknowledges every third of it.
    send(&mut feedback, 1_000 + 132 * MSS, false);
    feedback.uplink(&ack(5, 1_000 + 133 * MSS, None));
    assert_eq!((133..177).filter(|k| send(&mut feedback, 1_000 + k * MSS, true)).count(), 44);
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
    assert_eq!(feedback.uplink(&ack(5, 1_000 + (1 << 30), None)), None);
    assert_eq!(passed(&mut feedback, &ack(5, 1_000 + MSS, None)).flags.ace(), 6);
}

#[test]
fn a_segment_without_data_is_marked_itself_since_nothing_acknowledges_it() {
    let mut feedback = opened(0b111, 0b010);
    let pure = TcpView { payload: 0, ..data(1_000) };
    feedback.downlink(&pure);
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
        feedback.uplink(&view(5, k + 1, None));
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
    counters: [u32; 3],
}
impl Sender {
    fn receive(&mut self, view: &TcpView) {
        let advance = view.ack.wrapping_sub(self.ack) as i32;
        if advance < 0 {
            return;
        }
        self.ack = view.ack;
        self.acked_packets += u64::from((advance as u32).div_ceil(MSS));
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
    fn receive(&mut self, seq: u32, ce: bool) {
        self.acked = seq.wrapping_add(MSS);
        if ce {
            self.cep = (self.cep + 1) & 7;
            self.ceb = self.ceb.wrapping_add(MSS) & MASK;
        } else {
            self.e1b = self.e1b.wrapping_add(MSS) & MASK;
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
            feedback.uplink(&ack(0b010, 1_000, None));
            feedback
        } else {
            opened_by_the_server(0b111, 0b010)
        };
        let mut sender = Sender { ack: 1_000, cep: 5, ce_packets: 0, acked_packets: 0, counters: [1, 0, 1] };
        let mut client = Client { options, acked: 1_000, cep: 5, ceb: 0, e1b: 1, told_ceb: 0 };
        let (mut next, mut booked, mut set_elsewhere) = (1_000u32, 0u64, 0u64);
        let mut on_air: Vec<(u32, bool)> = Vec::new();
        let mut held: Option<TcpView> = None;
        for _ in 0..2_000 {
            for _ in 0..draw(2 * stretch) {
                // A tenth of the packets come with CE from elsewhere: they keep it, and are not marked again.
                let elsewhere = draw(10) == 0;
                let marked = !elsewhere && draw(3) == 0;
                let short_circuited = send(&mut feedback, next, marked);
                let in_packet = elsewhere || (marked && !short_circuited);
                booked += u64::from(short_circuited);
                set_elsewhere += u64::from(in_packet);
                on_air.push((next, in_packet));
                next = next.wrapping_add(MSS);
            }
            // The client takes some, no more than three with CE (section 3.2.2.5.1), and acknowledges.
            let mut marks = 0;
            for _ in 0..(1 + draw(stretch)).min(on_air.len() as u64) {
                let (seq, ce) = on_air.remove(0);
                client.receive(seq, ce);
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
                sender.receive(&passed(&mut feedback, &view));
                let case = (run, options, stretch);
                assert!(sender.ce_packets <= sender.acked_packets, "{case:?}");
                assert!(sender.ce_packets <= booked + set_elsewhere, "{case:?}");
                assert!(sender.counters[1] <= sender.acked_packets as u32 * MSS, "{case:?}");
            }
        }
        // Nothing is lost: what is still pending fits into the packets that are still on their way.
        let told = sender.ce_packets;
        let pending = 2 + on_air.len() as u64 + 14;
        // Of what one acknowledgement for many packets can't tell, no more waits than the packets under way could carry.
        let let_go = if stretch > 2 { booked / 5 } else { 0 };
        assert!(told + pending + let_go >= booked, "run {run}, {options:?}, {stretch}: {told} of {booked}");
        assert!(told > 300, "run {run}: {told}");
    }
}
