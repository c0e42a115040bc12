//! Carrier of a cell: its configuration and the values derived from it. They do not change while the cell runs.

use tidemark_core::{ConfigError, Instant};
use tidemark_radio::blocks::BlockSizes;
use tidemark_radio::link::LinkTable;
use tidemark_radio::slots::{SYMBOLS_PER_SLOT, Slot, SlotPattern};

use super::uplink::UplinkCarrier;
use crate::config::CellConfig;

/// Slots from the start of a transport block until the UE has decoded it: its own and one of processing
/// (N1 of TS 38.214 5.3).
const DECODED_AFTER: u64 = 2;

/// Carrier of a cell in both directions.
pub(crate) struct Carrier {
    pub(super) config: CellConfig,
    pub(super) pattern: SlotPattern,
    /// Slots from a decision to the downlink slot that it is for.
    lead: u64,
    pub(super) table: LinkTable,
    pub(super) sizes: BlockSizes,
    pub(super) uplink: UplinkCarrier,
}

/// Downlink slot that is decided on.
#[derive(Clone, Copy, Debug)]
pub(super) struct DownlinkSlot {
    pub(super) slot: Slot,
    /// Symbols that it has for data.
    pub(super) symbols: u32,
    /// Time of the decision.
    pub(super) now: Instant,
}

impl Carrier {
    /// Computes the tables of a cell.
    ///
    /// # Errors
    /// `tdd`, if it is not a pattern of slots.
    pub(super) fn new(config: &CellConfig) -> Result<Self, ConfigError> {
        let pattern = config.pattern().ok_or(ConfigError::new("tdd", "cannot be used"))?;
        Ok(Self {
            lead: config.scheduling_lead(),
            table: LinkTable::new(&config.pdsch()),
            sizes: BlockSizes::new(&config.pdsch(), &pattern),
            uplink: UplinkCarrier::new(config),
            config: config.clone(),
            pattern,
        })
    }

    /// Configuration of the cell.
    pub(crate) fn config(&self) -> &CellConfig {
        &self.config
    }

    /// Time at which a downlink slot is decided on.
    pub(super) fn decided_at(&self, slot: Slot) -> Instant {
        self.pattern.start(slot.saturating_sub(self.lead))
    }

    /// Decision on a downlink slot.
    pub(super) fn decision(&self, slot: Slot) -> DownlinkSlot {
        DownlinkSlot { slot, symbols: self.pattern.downlink_symbols(slot), now: self.decided_at(slot) }
    }

    /// First slot that is decided on at `now` or later.
    pub(super) fn first_undecided(&self, now: Instant) -> Slot {
        self.pattern.at_or_after(now) + self.lead
    }

    /// Time at which a UE has decoded a block of a slot.
    pub(super) fn decoded_at(&self, slot: Slot) -> Instant {
        self.pattern.start(slot + DECODED_AFTER)
    }

    /// Time at which a UE gets a control message that the gNB has at `now`. It goes with the next downlink slot, in a robust part of a
    /// block, and is never lost here.
    pub(super) fn control_decoded_at(&self, now: Instant) -> Instant {
        self.decoded_at(self.pattern.next_downlink(self.first_undecided(now)))
    }

    /// Slot of the acknowledgement of a block.
    pub(super) fn acknowledged_in(&self, slot: Slot) -> Slot {
        self.pattern.next_uplink(slot + self.config.harq_k1)
    }

    /// First slot that an acknowledgement can affect.
    pub(super) fn processed_in(&self, acknowledged: Slot) -> Slot {
        acknowledged + self.config.harq_processing.max(1 + self.lead)
    }

    /// Slots from a request or report at the gNB to the first slot that it can grant in response.
    pub(super) fn grant_delay(&self) -> u64 {
        self.lead + self.config.uplink.grant_delay
    }

    /// Time up to which the gNB had information when it granted an uplink slot.
    pub(super) fn granted_at(&self, slot: Slot) -> Instant {
        self.pattern.start(slot.saturating_sub(self.grant_delay()))
    }

    /// Resource blocks x symbols that the downlink slots between two instants have.
    pub(crate) fn resources_between(&self, from: Instant, to: Instant) -> u64 {
        let (first, end) = (self.pattern.at_or_after(from), self.pattern.at_or_after(to));
        self.pattern.downlink_symbols_between(first, end) * u64::from(self.config.prbs)
    }

    /// Resource blocks x symbols that the uplink slots between two instants have.
    pub(crate) fn uplink_resources_between(&self, from: Instant, to: Instant) -> u64 {
        let (first, end) = (self.pattern.at_or_after(from), self.pattern.at_or_after(to));
        self.pattern.uplink_slots_between(first, end) * u64::from(SYMBOLS_PER_SLOT * self.config.prbs)
    }
}
