//! Queues of a cell, as its DRBs count them, and the time without one that laws are told of.

mod common;
#[path = "common/listener.rs"]
mod listener;

use common::Du;
use listener::Listener;
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{
    Arrival, CellLoad, DeliveryStatus, DrbMarker, Law, LawConfig, MarkerConfig, Odds, Properties, SnLength, Verdict,
};

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

/// A DRB of this cell with one SDU queued.
fn queued_in(cell: &CellLoad) -> DrbMarker {
    let mut marker = DrbMarker::new(&MarkerConfig::default(), SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    marker.join_cell(cell);
    marker.handle_pdcp_pdu(ms(1), 0, Bytes(1_500));
    marker
}

#[test]
fn a_queue_is_one_of_its_cell_until_it_ends_however_it_does() {
    type End = fn(&mut DrbMarker);
    let transmitted = |marker: &mut DrbMarker| {
        marker.handle_report(ms(2), &DeliveryStatus { highest_transmitted: Some(0), ..DeliveryStatus::default() });
    };
    let delivered = |marker: &mut DrbMarker| {
        marker.handle_report(ms(2), &DeliveryStatus { highest_delivered: Some(0), ..DeliveryStatus::default() });
    };
    let ends: [(&str, End); 4] = [
        ("transmitted", transmitted),
        ("delivered", delivered),
        ("discarded", |marker| marker.handle_discard(ms(2), 0)),
        ("moved", |marker| marker.handle_handover(ms(2))),
    ];
    for (name, end) in ends {
        let cell = CellLoad::default();
        let (mut one, _other) = (queued_in(&cell), queued_in(&cell));
        assert_eq!(cell.queues(), 2, "{name}");
        end(&mut one);
        assert_eq!(cell.queues(), 1, "{name}");
        one.handle_pdcp_pdu(ms(3), 1, Bytes(1_500));
        one.handle_pdcp_pdu(ms(3), 2, Bytes(1_500));
        assert_eq!(cell.queues(), 2, "{name}");
        drop(one);
        assert_eq!(cell.queues(), 1, "{name}");
    }
}

#[test]
fn a_queue_goes_with_its_drb_to_another_cell() {
    let (here, there) = (CellLoad::default(), CellLoad::default());
    let mut marker = queued_in(&here);
    marker.join_cell(&there);
    assert_eq!((here.queues(), there.queues()), (0, 1));
}

#[test]
fn a_queue_that_no_law_asked_for_counts_once_its_drb_has_a_cell() {
    let mut marker = DrbMarker::new(&MarkerConfig::default(), SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    marker.handle_pdcp_pdu(ms(1), 0, Bytes(1_500));
    let cell = CellLoad::default();
    marker.join_cell(&cell);
    assert_eq!(cell.queues(), 1);
    marker.handle_discard(ms(2), 0);
    assert_eq!(cell.queues(), 0);
}

#[test]
fn drbs_of_the_packet_path_are_in_the_cells_that_they_are_given() {
    let (here, there) = (CellLoad::default(), CellLoad::default());
    let mut ue = Ue::new(FlowKey::new(b"sixteen secrets!"));
    for drb in [1, 2] {
        let stream = Stream::new(1, drb.into(), "mark");
        ue.add_drb(DrbId(drb), &[drb], &MarkerConfig::default(), SnLength::Bits18, stream).unwrap();
        assert!(ue.join_cell(DrbId(drb), &here));
        ue.pdcp_pdu(ms(1), DrbId(drb), 0, Bytes(1_500));
    }
    assert!(!ue.join_cell(DrbId(3), &here) && !ue.join_cell(DrbId(0), &here));
    assert_eq!((here.queues(), there.queues()), (2, 0));
    assert!(ue.join_cell(DrbId(2), &there));
    assert_eq!((here.queues(), there.queues()), (1, 1));
    assert!(there.is_shared());
    ue.remove_drb(DrbId(2)).unwrap();
    assert!(there.queues() == 0 && !there.is_shared() && here.is_shared());
}

/// Milliseconds that a law is told of after the radio's 40 Mbit/s were measured: from a pause of 50 ms, and from a report that finds 10 SDUs
/// gone 10 ms after they came.
fn told(cell: Option<&CellLoad>) -> [f64; 2] {
    let law = Listener::default();
    let mut du = Du::new(&MarkerConfig::with_law(law.config()), SnLength::Bits18, Duration::from_millis(10));
    if let Some(cell) = cell {
        du.marker.join_cell(cell);
    }
    let mut sent = 0;
    for slot in 0..2_100 {
        while slot < 2_000 && du.backlog() < 50_000 {
            du.send(0, Ecn::NotEct, 1_500);
            sent += 1;
        }
        du.slot(2_500.0);
        // A queue that stands is no time without one.
        assert!(slot >= 2_000 || law.received().starved == 0.0, "{slot}");
    }
    let report = |sn| DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() };
    let empty = du.now + Duration::from_millis(10);
    du.marker.handle_report(empty, &report(sent - 1));
    let told = || std::mem::take(&mut law.received().starved) * 1e3;
    told();
    // The queue had ended with the last slots' reports, 10 ms and more ago: as long as that is told, too.
    let queued = |du: &mut Du, at| (0..10).for_each(|k| du.marker.handle_pdcp_pdu(at, sent + k, Bytes(1_500)));
    queued(&mut du, empty + Duration::from_millis(50));
    let pause = told();
    du.marker.handle_report(empty + Duration::from_millis(60), &report(sent + 9));
    [pause, told()]
}

#[test]
fn a_law_is_told_of_the_time_without_a_queue_while_its_cell_has_no_other() {
    for cell in [None, Some(&CellLoad::default())] {
        let [pause, stretch] = told(cell);
        // 15000 bytes are 3 ms of the radio.
        assert!((60.0..120.0).contains(&pause) && (stretch - 7.0).abs() < 0.3, "{pause} ms, {stretch} ms");
    }
    let full = CellLoad::default();
    let _other = queued_in(&full);
    assert_eq!(told(Some(&full)), [0.0, 0.0]);
}

/// A law that marks where its cell has two queues.
struct Crowded(CellLoad);

impl Law for Crowded {
    const PROPERTIES: Properties = Properties { name: "crowded", marks: true, ..Listener::PROPERTIES };

    fn arrive(&mut self, _: &Arrival) -> Odds {
        Odds::mark("crowded", f64::from(self.0.queues()) - 1.0)
    }
    fn join(&mut self, cell: &CellLoad) {
        self.0 = cell.clone();
    }
}

#[test]
fn a_law_knows_the_cell_that_its_drb_joined_and_so_does_the_law_after_it() {
    let config = MarkerConfig::with_law(LawConfig::custom(|| Crowded(CellLoad::default())));
    let mut du = Du::new(&config, SnLength::Bits18, Duration::from_millis(10));
    let full = CellLoad::default();
    let _others = [queued_in(&full), queued_in(&full)];
    let marks = |du: &mut Du| du.send(0, Ecn::Ect1, 1_500) == Verdict::Mark;
    assert!(!marks(&mut du));
    du.marker.join_cell(&full);
    assert!(marks(&mut du));
    du.marker.reconfigure(du.now, &config, SnLength::Bits18).unwrap();
    assert!(marks(&mut du));
}
