//! Marks on their way from the cells to the recorder.

use std::sync::{Arc, Mutex, PoisonError};

use tidemark_cell::{Event, Observer};
use tidemark_record::marks::{Decided, Marks, Sending};
use tidemark_senders::Stats;

use crate::stamped::Stamped;

/// Marks that cells decided on since the recorder took the last ones, with the numbers of their flows. The lock is never waited for: cells and
/// recorder share a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inbox(Arc<Mutex<Vec<(usize, Decided)>>>);

impl Inbox {
    /// Observer of a cell that puts its marks of data in here; marks of what acknowledges data are nobody's to answer.
    pub(crate) fn observer(&self) -> Observer<Stamped> {
        let inbox = self.clone();
        Box::new(move |at, bearer, event| {
            let Event::Decided { packet, came, queue, decision } = event else { return };
            let (way, ue) = (&*packet.payload, bearer.ue.0);
            if !way.back {
                let (packet, sent, flow, size) = (way.number, way.sent, packet.flow.0 as usize, packet.size);
                let queue = Some(queue);
                let decided = Decided { at, packet, sent, ue, drb: bearer.drb, size, came, queue, decision };
                inbox.0.lock().unwrap_or_else(PoisonError::into_inner).push((flow, decided));
            }
        })
    }

    /// Tells the recorder.
    pub(crate) fn hand_to(&self, marks: &mut Marks) {
        let mut inbox = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.drain(..).for_each(|(flow, decided)| marks.decided(flow, &decided));
    }
}

/// Window and rate of a sender.
pub(crate) fn sending(stats: &Stats) -> Sending {
    Sending { window: stats.window, rate: stats.target_rate.or(stats.pacing_rate) }
}
