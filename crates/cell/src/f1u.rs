//! F1-U between the CU-UP and the DU (TS 38.425): frames under way in each direction, with a constant delay.

use std::collections::VecDeque;

use tidemark_core::{Duration, Instant, Packet};
use tidemark_marker::DeliveryStatus;

use crate::index::{DrbIndex, UeDrbs};

/// PDCP PDU on its way to the DU.
pub(crate) struct Pdu<P> {
    /// Arrival at the DU.
    pub(crate) at: Instant,
    /// Index of the bearer.
    pub(crate) drb: DrbIndex,
    /// PDCP SN.
    pub(crate) sn: u32,
    pub(crate) packet: Packet<P>,
}

/// F1-U of a cell. A constant delay keeps the order, so that each direction is a queue.
pub(crate) struct F1u<P> {
    delay: Duration,
    down: VecDeque<Pdu<P>>,
    /// Arrival at the CU, bearer, report.
    up: VecDeque<(Instant, DrbIndex, DeliveryStatus)>,
}

impl<P> F1u<P> {
    pub(crate) fn new(delay: Duration) -> Self {
        Self { delay, down: VecDeque::new(), up: VecDeque::new() }
    }

    /// One-way delay. It is zero if CU and DU are one machine, and nothing is under way then.
    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }

    /// Sends a PDU to the DU.
    pub(crate) fn send_down(&mut self, now: Instant, drb: DrbIndex, sn: u32, packet: Packet<P>) {
        self.down.push_back(Pdu { at: now + self.delay, drb, sn, packet });
    }

    /// Sends a report to the CU.
    pub(crate) fn send_up(&mut self, now: Instant, drb: DrbIndex, status: DeliveryStatus) {
        self.up.push_back((now + self.delay, drb, status));
    }

    /// Next PDU that has reached the DU.
    pub(crate) fn poll_down(&mut self, now: Instant) -> Option<Pdu<P>> {
        match self.down.front() {
            Some(pdu) if pdu.at <= now => self.down.pop_front(),
            _ => None,
        }
    }

    /// Next report that has reached the CU, with its bearer.
    pub(crate) fn poll_up(&mut self, now: Instant) -> Option<(DrbIndex, DeliveryStatus)> {
        match self.up.front() {
            Some((at, ..)) if *at <= now => self.up.pop_front().map(|(_, drb, status)| (drb, status)),
            _ => None,
        }
    }

    /// Next arrival; `FAR` if nothing is under way.
    pub(crate) fn next_deadline(&self) -> Instant {
        let down = self.down.front().map_or(Instant::FAR, |pdu| pdu.at);
        down.min(self.up.front().map_or(Instant::FAR, |(at, ..)| *at))
    }

    /// Takes the PDUs of some bearers, which leave the cell, and drops their reports.
    pub(crate) fn take(&mut self, drbs: UeDrbs) -> Vec<Pdu<P>> {
        self.up.retain(|(_, drb, _)| !drbs.contains(*drb));
        let down = std::mem::take(&mut self.down).into_iter();
        let (taken, kept): (VecDeque<_>, VecDeque<_>) = down.partition(|pdu| drbs.contains(pdu.drb));
        self.down = kept;
        taken.into()
    }

    /// Packets under way.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.down.iter().map(|pdu| &pdu.packet)
    }
}
