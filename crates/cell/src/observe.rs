//! What passes the CU, and RLC's log: for captures, and for whoever compares what the marker believes with what comes of it.

use tidemark_core::{Bytes, Duration, Ecn, Instant, Packet};
use tidemark_marker::{DeliveryStatus, Estimate, SnLength, Verdict};

use crate::output::{DelaySplit, UeId};

/// One bearer of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BearerId {
    /// Whose it is.
    pub ue: UeId,
    /// Its DRB identity, from 1.
    pub drb: u8,
    /// Length of its PDCP SNs.
    pub sn_length: SnLength,
}

/// A packet that PDCP numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sdu {
    /// PDCP SN.
    pub sn: u32,
    /// The frame that takes it to the DU asks for a report.
    pub poll: bool,
}

/// What passes the CU at a bearer, and what becomes of it in the DU.
#[derive(Debug)]
pub enum Passage<'a, P> {
    /// A downlink packet came, and the law decided.
    Downlink {
        /// The packet as the law left it.
        packet: &'a Packet<P>,
        /// The ECN field that it came with.
        came: Ecn,
        /// What the marker believed before.
        estimate: Estimate,
        /// What it decided.
        verdict: Verdict,
        /// How it goes on; `None` if it was dropped, by the law or since the RLC queue is full.
        sdu: Option<Sdu>,
    },
    /// After a handover PDCP sends a packet again that waited in the old DU.
    Forwarded {
        /// The packet.
        packet: &'a Packet<P>,
        /// PDCP SN.
        sn: u32,
    },
    /// A delivery status report reached the CU.
    Report {
        /// What it says.
        status: DeliveryStatus,
        /// What the marker believes from now on.
        estimate: Estimate,
    },
    /// A packet came from the UE.
    UplinkFromUe(&'a Packet<P>),
    /// The same packet goes on to the core: the short-circuit may have written into it.
    UplinkToCore(&'a Packet<P>),
    /// The bearer moved to another DU, and the marker has forgotten the old one.
    HandedOver,
    /// PDCP's discardTimer ran out for an SDU in the queue.
    Discarded {
        /// PDCP SN.
        sn: u32,
    },
    /// A packet left the RLC queue, where the law decides there.
    Left {
        /// The packet as it stood.
        packet: &'a Packet<P>,
        /// PDCP SN.
        sn: u32,
        /// How long it stood.
        sojourn: Duration,
        /// IP bytes that stay in the queue.
        behind: Bytes,
        /// What the law decided.
        verdict: Verdict,
    },
    /// RLC gave a slot bytes that it had not sent before.
    Sent {
        /// Of PDCP PDUs.
        bytes: Bytes,
        /// IP bytes that stay in the queue.
        waiting: Bytes,
    },
    /// An SDU reached the IP stack of the UE.
    Delivered {
        /// PDCP SN.
        sn: u32,
        /// Its time in the DU and in the air.
        delay: DelaySplit,
    },
}

/// Who hears of everything that passes. It must not keep what it is shown.
pub type Observer<P> = Box<dyn FnMut(Instant, BearerId, Passage<'_, P>) + Send>;
