//! A DRB gets another configuration while connections use it: the marks that their senders received are kept.

use crate::bytes::{Flow, checksums_are_valid, view};
use tidemark_core::packet::AccEcnCounters;
use tidemark_core::{Bytes, Duration, Ecn, Inspect, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, SetupError, Ue};
use tidemark_marker::{DeliveryStatus, EgressTime, LawConfig, MarkerConfig, SnLength, StepConfig, Verdict};
use tidemark_wire::View;

const DRB: DrbId = DrbId(1);
const QFI: u8 = 9;
const FLOW: Flow = Flow { v6: false, port: 50_000 };
const MSS: u32 = 1_400;

fn config(short_circuit: bool) -> MarkerConfig {
    let step = StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() };
    MarkerConfig { short_circuit, profile_capacity: 64, ..MarkerConfig::with_law(LawConfig::Step(step)) }
}

/// A UE with one DRB that marks everything, and a connection with AccECN that its UE opened.
struct Phone {
    ue: Ue,
    now: Instant,
    sent: u32,
}

impl Phone {
    fn new() -> Self {
        let mut ue = Ue::new(FlowKey::new(&[9; 16]));
        ue.add_drb(DRB, &[QFI], &config(true), SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        // The DU reports, and one SDU is queued.
        for sn in 0..2 {
            ue.pdcp_pdu(Instant::ZERO, DRB, sn, Bytes(1_403));
        }
        ue.feedback(Instant::ZERO, DRB, &DeliveryStatus { highest_transmitted: Some(0), ..DeliveryStatus::default() });
        let now = Instant::from_millis(100);
        ue.uplink(now, &mut FLOW.tcp(false, Ecn::NotEct, &view(0b111, true, None, 500, 0, None)));
        ue.downlink(now, QFI, &mut FLOW.tcp(true, Ecn::NotEct, &view(0b010, true, Some(501), 999, 0, None)));
        ue.uplink(now, &mut FLOW.tcp(false, Ecn::NotEct, &view(0b010, false, Some(1_000), 501, 0, None)));
        Self { ue, now, sent: 0 }
    }

    /// A segment goes down and is acknowledged by a client that saw no CE: the verdict, and what the sender gets to see, the
    /// ACE field and the bytes of CE.
    fn exchange(&mut self) -> (Verdict, u8, u32) {
        self.now += Duration::from_millis(1);
        let data = view(5, false, Some(501), 1_000 + self.sent * MSS, MSS, None);
        let verdict = self.ue.downlink(self.now, QFI, &mut FLOW.tcp(true, Ecn::Ect1, &data));
        self.sent += 1;
        let counters = Some([1, 0, 1 + self.sent * MSS]);
        let ack = view(5, false, Some(1_000 + self.sent * MSS), 501, 0, counters);
        let mut bytes = FLOW.tcp(false, Ecn::NotEct, &ack);
        self.ue.uplink(self.now, &mut bytes);
        assert!(checksums_are_valid(&bytes));
        let seen = View::parse(&mut bytes).unwrap().tcp().unwrap();
        let Some(AccEcnCounters { ceb: Some(ceb), .. }) = seen.accecn else { panic!("the option is there") };
        (verdict, seen.flags.ace(), ceb)
    }
}

#[test]
fn what_was_signalled_stays_when_a_bearer_gets_another_law() {
    let others = [
        MarkerConfig { short_circuit: true, ..MarkerConfig::default() },
        MarkerConfig::default(),
        MarkerConfig { flow_capacity: 8, tau_c: Duration::from_millis(5), ..config(true) },
        MarkerConfig { egress_time: EgressTime::All, ..config(true) },
        MarkerConfig { flow_capacity: 1_024, profile_capacity: 16_384, ..config(true) },
    ];
    let [long, short] = [SnLength::Bits18, SnLength::Bits12];
    for (other, sn_length) in others.into_iter().zip([long, long, long, long, short]) {
        let mut phone = Phone::new();
        for _ in 0..4 {
            phone.exchange();
        }
        let (_, mut ace, mut ceb) = phone.exchange();
        // The first option sets the base of the bytes.
        assert_eq!((ace, ceb), (5 + 5 - 8, 4 * MSS));
        let before = phone.ue.drb_counters(DRB).unwrap();
        phone.ue.reconfigure_drb(phone.now, DRB, &[], &other, sn_length).unwrap();
        assert_eq!(phone.ue.drb_counters(DRB).unwrap(), before);
        for _ in 0..20 {
            let (_, ace_now, ceb_now) = phone.exchange();
            assert!(ace_now.wrapping_sub(ace) & 7 <= 1, "{ace} to {ace_now} for one packet");
            assert!((ceb..=ceb + MSS).contains(&ceb_now), "{ceb} to {ceb_now}");
            (ace, ceb) = (ace_now, ceb_now);
        }
    }
}

#[test]
fn what_is_queued_stays_unless_its_numbers_change() {
    let standing = |phone: &Phone| phone.ue.estimate(phone.now, DRB).unwrap().standing;
    let mut phone = Phone::new();
    let reconfigure = |phone: &mut Phone, config: &MarkerConfig, sn_length| {
        phone.ue.reconfigure_drb(phone.now, DRB, &[], config, sn_length).unwrap();
    };
    reconfigure(&mut phone, &config(false), SnLength::Bits18);
    assert_eq!(standing(&phone), Bytes(1_403));
    // PDCP numbers in 12 bits from now on: everything that is under way is announced once more.
    reconfigure(&mut phone, &config(false), SnLength::Bits12);
    assert_eq!(standing(&phone), Bytes::ZERO);
    phone.ue.pdcp_pdu(phone.now, DRB, 4_095, Bytes(1_402));
    phone.ue.pdcp_pdu(phone.now, DRB, 0, Bytes(1_402));
    let report = DeliveryStatus { highest_transmitted: Some(4_095), ..DeliveryStatus::default() };
    phone.ue.feedback(phone.now, DRB, &report);
    assert_eq!(standing(&phone), Bytes(1_402));
    assert_eq!(phone.ue.drb_counters(DRB).unwrap().unknown_sns, 0);
}

#[test]
fn what_is_queued_stays_known_under_another_profile_capacity() {
    let mut phone = Phone::new();
    let estimate = |phone: &Phone| phone.ue.estimate(phone.now, DRB).unwrap();
    let report = |phone: &mut Phone, sn| {
        let status = DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() };
        phone.ue.feedback(phone.now, DRB, &status);
    };
    // 200 SDUs of different sizes queue up behind the one that is there, of which a table of 64 counts most in sum.
    let first = 2;
    let size = |k: u32| Bytes(1_000 + u64::from(k % 7));
    for k in 0..200 {
        phone.now += Duration::from_millis(1);
        phone.ue.pdcp_pdu(phone.now, DRB, first + k, size(k));
    }
    for capacity in [1_024, 16_384, 64, 128] {
        let before = estimate(&phone);
        let other = MarkerConfig { profile_capacity: capacity, ..config(false) };
        phone.ue.reconfigure_drb(phone.now, DRB, &[], &other, SnLength::Bits18).unwrap();
        assert_eq!(estimate(&phone), before, "{capacity}");
    }
    let head = estimate(&phone).head_of_line.unwrap();
    assert!(head >= Duration::from_millis(200), "{head:?}");
    // Every report goes on from there, to the last byte.
    for k in 0..200 {
        report(&mut phone, first + k);
        assert_eq!(estimate(&phone).packets, 199 - k);
    }
    assert_eq!(estimate(&phone).standing, Bytes::ZERO);
    assert_eq!(phone.ue.drb_counters(DRB).unwrap().unknown_sns, 0);
}

#[test]
fn what_cannot_be_is_refused_and_changes_nothing() {
    let mut phone = Phone::new();
    let wrong = MarkerConfig { flow_capacity: 7, ..config(true) };
    let mut reconfigure = |drb, qfi, config: &MarkerConfig| {
        phone.ue.reconfigure_drb(phone.now, DrbId(drb), &[qfi], config, SnLength::Bits18)
    };
    assert_eq!(reconfigure(0, 1, &config(true)), Err(SetupError::Drb));
    assert_eq!(reconfigure(1, 64, &config(true)), Err(SetupError::Qfi));
    assert_eq!(reconfigure(2, 1, &config(true)), Err(SetupError::NotSetUp));
    assert!(matches!(reconfigure(1, 1, &wrong), Err(SetupError::Config(_))));
    let packet = FLOW.udp(true, Ecn::Ect1, 100);
    assert_eq!(phone.ue.downlink(phone.now, 1, &mut packet.clone()), Verdict::Pass);
    assert_eq!(phone.ue.counters().unknown_qfi, 1, "QFI 1 was not mapped");
    phone.ue.reconfigure_drb(phone.now, DRB, &[1], &config(true), SnLength::Bits18).unwrap();
    assert_eq!(phone.ue.downlink(phone.now, 1, &mut packet.clone()), Verdict::Mark);
}
