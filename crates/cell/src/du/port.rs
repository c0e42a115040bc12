//! The parts around a DU: the CU-UP behind F1-U, the core behind that, its UEs, and the observers.

use tidemark_core::{Duration, Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, RlcQueue, Verdict};

use super::{Drb, Surroundings};
use crate::event::{BearerId, Events};
use crate::handover::HandoverMarker;
use crate::index::DrbIndex;
use crate::output::{DelaySplit, Output, UeId};
use crate::ue_stack::UeStack;

/// Interface of a DU to the parts around it.
///
/// A DU in one machine with its CU asks the CU's law when packets leave the queue. One behind a real F1-U only
/// reports, and lets every packet pass.
pub(crate) trait Port<P: Inspect> {
    /// True if the law of a bearer decides where packets leave the RLC queue.
    fn decides_at_dequeue(&self, bearer: BearerId) -> bool;
    /// Decides on an SDU that leaves the RLC queue after `sojourn`, with `queue` behind it.
    fn dequeue(
        &mut self,
        now: Instant,
        bearer: BearerId,
        sdu: (u32, &Packet<P>),
        sojourn: Duration,
        queue: RlcQueue,
    ) -> Verdict;
    /// Reports that the SDU with this PDCP SN was discarded.
    fn discard(&mut self, now: Instant, bearer: BearerId, sn: u32);
    /// Sends a delivery status of the bearer with this index to the CU.
    fn report(&mut self, now: Instant, drb: (DrbIndex, BearerId), status: DeliveryStatus);
    /// Passes an uplink packet of a QoS flow to the CU; `waiting` is the queue at the UE as reported, where a law marks by it.
    fn uplink(
        &mut self,
        now: Instant,
        bearer: BearerId,
        qfi: u8,
        packet: Packet<P>,
        delay: DelaySplit,
        waiting: Option<RlcQueue>,
    );
    /// Reports that a bearer continues in this DU after a handover, with the SDUs in its queue.
    fn handed_over(&mut self, now: Instant, drb: &Drb<P>, marker: HandoverMarker);
    /// UEs, listeners and outputs.
    fn surroundings(&mut self) -> &mut Surroundings<P>;
    /// Stack of a UE that the DU serves.
    #[inline]
    fn ue(&mut self, id: UeId) -> &mut UeStack<P> {
        &mut self.surroundings().ues[id]
    }
    /// Listener to what happens.
    #[inline]
    fn events(&mut self) -> &mut Events<P> {
        &mut self.surroundings().events
    }
    /// Hands something out of the cell.
    #[inline]
    fn output(&mut self, output: Output<P>) {
        self.surroundings().outputs.push_back(output);
    }
}
