//! Outputs of the cell, and its counters.

use tidemark_core::{BitRate, Bytes, Duration, FlowId, Instant, Packet};
use tidemark_marker::RlcQueue;

/// A UE of the cell, numbered in the order of admission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UeId(pub u32);

/// Output of the cell.
#[derive(Clone, Debug)]
pub enum Output<P> {
    /// A packet reaches the IP stack of a UE, in PDCP's order.
    Downlink {
        /// Time.
        at: Instant,
        /// Receiving UE.
        ue: UeId,
        /// DRB identity of the bearer, from 1.
        drb: u8,
        /// The packet, marked if a law marked it.
        packet: Packet<P>,
        /// Delay in the DU and in the air.
        delay: DelaySplit,
    },
    /// A packet leaves the gNB towards the core.
    Uplink {
        /// Time.
        at: Instant,
        /// Sending UE.
        ue: UeId,
        /// The QoS flow that the UE's rules gave it.
        qfi: u8,
        /// The packet, marked if a law marked it.
        packet: Packet<P>,
        /// Delay in the UE and in the air.
        delay: DelaySplit,
    },
    /// A UE's modem gets a recommended bit rate: MAC subheader and control element (TS 38.321 6.1.3.20).
    Recommendation {
        /// Time.
        at: Instant,
        /// Receiving UE.
        ue: UeId,
        /// The octets.
        octets: [u8; 3],
        /// The exact rate, if the UE gets it without rounding.
        exact: Option<BitRate>,
    },
    /// The law marked a downlink packet, and acknowledgements carry the mark instead of the packet (L4Span section 4.4).
    ShortCircuited {
        /// Time.
        at: Instant,
        /// UE of the packet.
        ue: UeId,
        /// Flow of the packet.
        flow: FlowId,
    },
    /// A downlink packet is lost.
    Dropped {
        /// Time.
        at: Instant,
        /// UE of the packet.
        ue: UeId,
        /// The packet.
        packet: Packet<P>,
        /// Reason.
        reason: DropReason,
    },
}

impl<P> Output<P> {
    /// The UE that sent or receives it.
    pub fn ue(&self) -> UeId {
        match self {
            Self::Downlink { ue, .. }
            | Self::Uplink { ue, .. }
            | Self::Recommendation { ue, .. }
            | Self::ShortCircuited { ue, .. }
            | Self::Dropped { ue, .. } => *ue,
        }
    }
    /// Packet that leaves or is lost, if it is about one.
    pub(crate) fn packet(&self) -> Option<&Packet<P>> {
        match self {
            Self::Recommendation { .. } | Self::ShortCircuited { .. } => None,
            Self::Downlink { packet, .. } | Self::Uplink { packet, .. } | Self::Dropped { packet, .. } => Some(packet),
        }
    }
}

impl DelaySplit {
    /// Sum of the parts.
    pub fn total(&self) -> Duration {
        let Self { cu, queuing, scheduling, harq, rlc, reordering } = *self;
        cu + queuing + scheduling + harq + rlc + reordering
    }
}

/// Reason of a packet's loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The marking law dropped it.
    Law,
    /// The RLC queue was full.
    QueueFull,
    /// The radio lost it, and RLC gave up.
    Radio,
    /// Handover of its UE: nothing was forwarded, or UM had begun to send it.
    Handover,
    /// Discard by PDCP: it waited for longer than the discardTimer.
    Discarded,
}

impl DropReason {
    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Law => "law",
            Self::QueueFull => "full queue",
            Self::Radio => "radio",
            Self::Handover => "handover",
            Self::Discarded => "discard timer",
        }
    }
}

/// Delay of a packet, split into its parts: from its arrival at the CU to the IP stack of its UE, or for an uplink packet from the
/// UE's IP stack to the gNB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DelaySplit {
    /// Time in the CU and on the way to the DU.
    pub cu: Duration,
    /// Time behind other packets.
    pub queuing: Duration,
    /// Time from the head of the queue until its last byte would have arrived without errors: the wait for a slot, the scheduler's lead, the air.
    pub scheduling: Duration,
    /// HARQ retransmission.
    pub harq: Duration,
    /// RLC retransmission, from the time when HARQ gave up.
    pub rlc: Duration,
    /// Time at the receiver, waiting for earlier packets.
    pub reordering: Duration,
}

/// State and counters of one UE. Counters count from the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct UeStats {
    /// The CQI used last; `None` on a rate channel.
    pub cqi: Option<u8>,
    /// The MCS used last; `None` on a rate channel and before the first transport block.
    pub mcs: Option<u8>,
    /// RLC queue now.
    pub queue: RlcQueue,
    /// First transmissions of transport blocks.
    pub blocks: u64,
    /// First transmissions that failed.
    pub failed_blocks: u64,
    /// HARQ retransmissions.
    pub harq_retransmissions: u64,
    /// Transport blocks that HARQ gave up.
    pub lost_blocks: u64,
    /// Sum of the MCS over first transmissions.
    pub mcs_sum: u64,
    /// Resource blocks x symbols used, retransmissions included.
    pub resources: u64,
    /// IP bytes delivered.
    pub delivered: Bytes,
    /// Packets that the law marked.
    pub marked: u64,
    /// Packets of the UE that a law marked at the gNB.
    pub uplink_marked: u64,
    /// Packets that the law dropped.
    pub dropped_by_law: u64,
    /// Packets that found the queue full.
    pub dropped_by_queue: u64,
    /// Packets that PDCP discarded.
    pub dropped_by_timer: u64,
    /// Packets that the radio lost.
    pub dropped_by_radio: u64,
    /// Packets that were lost in a handover.
    pub dropped_by_handover: u64,
    /// Flows that SDAP forgot in favour of others. Answers to them take the bearer of the static rules.
    pub forgotten_flows: u64,
    /// Counters of its uplink.
    pub uplink: UplinkStats,
}

impl UeStats {
    /// Downlink packets that were lost, for any reason.
    pub fn dropped(&self) -> u64 {
        self.dropped_by_law
            + self.dropped_by_queue
            + self.dropped_by_timer
            + self.dropped_by_radio
            + self.dropped_by_handover
    }
}

/// Uplink of a UE. Counters count from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UplinkStats {
    /// First transmissions of transport blocks.
    pub blocks: u64,
    /// First transmissions that failed.
    pub failed_blocks: u64,
    /// HARQ retransmissions.
    pub harq_retransmissions: u64,
    /// Transport blocks that HARQ gave up.
    pub lost_blocks: u64,
    /// Sum of the MCS over first transmissions.
    pub mcs_sum: u64,
    /// Resource blocks x symbols used, retransmissions included.
    pub resources: u64,
    /// Backlog at the UE as the gNB knows it: the last buffer status report, minus later grants.
    pub reported: Bytes,
}

/// One bearer of a UE. Counters count downlink packets, from the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DrbStats {
    /// Packets delivered.
    pub packets: u64,
    /// IP bytes delivered.
    pub delivered: Bytes,
    /// Delivered packets that took longer from the gNB to the UE's IP stack than the smallest delay budget of the bearer's
    /// QoS flows.
    pub late: u64,
    /// Packets that the law marked.
    pub marked: u64,
    /// Packets from the UE that a law marked at the gNB.
    pub uplink_marked: u64,
    /// Packets that were lost, for any reason.
    pub dropped: u64,
}

impl DrbStats {
    /// A packet of this many bytes reached the UE.
    pub(crate) fn delivered(&mut self, size: Bytes, late: bool) {
        self.packets += 1;
        self.delivered += size;
        self.late += u64::from(late);
    }
}

/// Counters of a cell, from the beginning.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellStats {
    /// Resource blocks x symbols used, retransmissions included.
    pub resources: u64,
    /// Resource blocks x symbols of uplink slots used, retransmissions included.
    pub uplink_resources: u64,
    /// IP bytes delivered to UEs.
    pub delivered: Bytes,
    /// UEs that came from another cell of the network.
    pub handovers: u64,
}
