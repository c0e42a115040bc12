//! The DRBs of one UE, and the mapping of QoS flows to them.

use alloc::boxed::Box;

use crate::bearers::Bearers;
use crate::drb::DrbMarker;

/// DRB identity (TS 38.331 `DRB-Identity`), 1 to 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DrbId(pub u8);

impl DrbId {
    /// True for 1 to 32.
    pub(super) fn is_valid(self) -> bool {
        self.index().is_some()
    }

    #[inline]
    fn index(self) -> Option<usize> {
        (1..=DRBS as u8).contains(&self.0).then(|| usize::from(self.0) - 1)
    }
}

const DRBS: usize = 32;
pub(super) const QFIS: usize = 64;
const NONE: u8 = u8::MAX;

/// DRBs of a UE by identity and by QoS flow.
///
/// With thousands of UEs every wait for memory counts. So the first DRB, for most UEs the only one, is stored here and not behind a
/// pointer.
#[repr(C)]
pub(super) struct Drbs {
    first: Option<DrbMarker>,
    /// QoS flows of the first DRB, by QFI.
    first_qfis: u64,
    /// The first DRB's index.
    first_index: u8,
    /// Set up with the second DRB.
    others: Option<Box<Others>>,
}

/// The further DRBs of a UE with several.
struct Others {
    /// DRB index by QFI; `NONE` where there is none, and for those of the first DRB.
    carriers: [u8; QFIS],
    drbs: [Option<Box<DrbMarker>>; DRBS],
}

impl Default for Others {
    fn default() -> Self {
        Self { carriers: [NONE; QFIS], drbs: [const { None }; DRBS] }
    }
}

impl Drbs {
    /// No DRBs.
    pub(super) fn new() -> Self {
        Self { first: None, first_qfis: 0, first_index: NONE, others: None }
    }

    /// True once a second DRB was set up.
    #[inline]
    pub(super) fn has_several(&self) -> bool {
        self.others.is_some()
    }

    /// The DRB that was set up first, for most UEs the only one.
    #[inline]
    pub(super) fn first(&self) -> Option<&DrbMarker> {
        self.first.as_ref()
    }

    /// The DRB that was set up first, mutable.
    #[inline]
    pub(super) fn first_mut(&mut self) -> Option<&mut DrbMarker> {
        self.first.as_mut()
    }

    /// Adds a DRB. Its identity must be valid and not in use.
    pub(super) fn insert(&mut self, drb: DrbId, marker: DrbMarker) {
        let Some(index) = drb.index() else { return };
        // Also once the first one was released: the next that is set up has its memory.
        if self.first.is_none() {
            (self.first, self.first_index) = (Some(marker), index as u8);
        } else {
            self.others.get_or_insert_default().drbs[index] = Some(Box::new(marker));
        }
    }

    /// Releases a DRB; `None` for one that is not set up.
    pub(super) fn remove(&mut self, drb: DrbId) -> Option<DrbMarker> {
        let index = drb.index()?;
        // The first DRB lies apart from the others, with QFIs of its own.
        if index == usize::from(self.first_index) {
            (self.first_index, self.first_qfis) = (NONE, 0);
            return self.first.take();
        }
        let others = self.others.as_mut()?;
        // A QFI that still named the DRB would find another one that is set up with its identity later.
        for carrier in &mut others.carriers {
            if *carrier == index as u8 {
                *carrier = NONE;
            }
        }
        others.drbs[index].take().map(|marker| *marker)
    }

    /// Maps a QoS flow to this DRB from now on. False for a QFI or a DRB that does not exist.
    pub(super) fn map_qfi(&mut self, qfi: u8, drb: DrbId) -> bool {
        // A QFI without a DRB would lead packets to nothing.
        if !is_qfi(qfi) || self.get(drb).is_none() {
            return false;
        }
        let index = drb.0 - 1;
        // A QoS flow has one DRB: what names it in one table is taken out of the other.
        let (bit, is_first) = (1 << qfi, index == self.first_index);
        self.first_qfis = if is_first { self.first_qfis | bit } else { self.first_qfis & !bit };
        // Further DRBs are rare: their table is there only once a second one was set up.
        if let Some(others) = &mut self.others {
            others.carriers[usize::from(qfi)] = if is_first { NONE } else { index };
        }
        true
    }

    /// Marker of a DRB; `None` for one that is not set up.
    pub(super) fn get(&self, drb: DrbId) -> Option<&DrbMarker> {
        let index = drb.index()?;
        if index == usize::from(self.first_index) {
            return self.first.as_ref();
        }
        self.others.as_ref()?.drbs[index].as_deref()
    }

    /// Markers of all DRBs.
    pub(super) fn all(&self) -> impl Iterator<Item = &DrbMarker> {
        let others = self.others.iter().flat_map(|others| others.drbs.iter().flatten());
        self.first.iter().chain(others.map(Box::as_ref))
    }

    /// Marker of a DRB, mutable; `None` for one that is not set up.
    #[inline]
    pub(super) fn get_mut(&mut self, drb: DrbId) -> Option<&mut DrbMarker> {
        match drb.index() {
            Some(index) if index == usize::from(self.first_index) => self.first.as_mut(),
            Some(index) => self.others.as_mut().and_then(|others| others.drbs[index].as_deref_mut()),
            None => None,
        }
    }

    /// Every DRB with its identity.
    pub(super) fn with_ids(&self) -> impl Iterator<Item = (DrbId, &DrbMarker)> {
        (1..=DRBS as u8).map(DrbId).filter_map(|drb| Some((drb, self.get(drb)?)))
    }

    /// The first DRB, if it carries this QoS flow.
    #[inline]
    pub(super) fn first_carrying(&self, qfi: u8) -> Option<&DrbMarker> {
        self.first.as_ref().filter(|_| self.is_of_first(qfi))
    }

    #[inline]
    fn is_of_first(&self, qfi: u8) -> bool {
        is_qfi(qfi) && self.first_qfis >> qfi & 1 == 1
    }
}

/// A downlink packet's bearer is named by its QFI.
impl Bearers for Drbs {
    type Carrier = u8;

    #[inline]
    fn marker(&mut self, qfi: u8) -> Option<&mut DrbMarker> {
        // A bit beside the first DRB says so, and the table of the others is not read.
        if self.is_of_first(qfi) {
            return self.first.as_mut();
        }
        // `NONE` lies outside of the DRBs, and finds none.
        let Others { carriers, drbs } = self.others.as_deref_mut()?;
        let carrier = *carriers.get(usize::from(qfi))?;
        drbs.get_mut(usize::from(carrier))?.as_deref_mut()
    }

    fn markers(&mut self) -> impl Iterator<Item = &mut DrbMarker> {
        let others = self.others.iter_mut().flat_map(|others| others.drbs.iter_mut().flatten());
        self.first.iter_mut().chain(others.map(Box::as_mut))
    }
}

/// True for a QFI that exists: 0 to 63.
#[inline]
pub(super) fn is_qfi(qfi: u8) -> bool {
    usize::from(qfi) < QFIS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MarkerConfig, SnLength};
    use tidemark_core::Stream;

    fn marker() -> DrbMarker {
        DrbMarker::new(&MarkerConfig::default(), SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap()
    }

    /// The DRB that carries a QoS flow.
    fn carrier(drbs: &mut Drbs, qfi: u8) -> Option<u8> {
        let found = core::ptr::from_ref(drbs.marker(qfi)?);
        drbs.with_ids().find(|(_, marker)| core::ptr::eq(*marker, found)).map(|(drb, _)| drb.0)
    }

    #[test]
    fn a_qos_flow_has_one_drb_until_that_is_released() {
        let mut drbs = Drbs::new();
        assert!(drbs.first().is_none());
        (1..=3).for_each(|drb| drbs.insert(DrbId(drb), marker()));
        assert!(drbs.first().is_some());
        for qfi in 0..4 {
            // From one to another, and twice to the same.
            for drb in [1, 1, 2, 3, 3, 2, 1] {
                assert!(drbs.map_qfi(qfi, DrbId(drb)));
                assert_eq!(carrier(&mut drbs, qfi), Some(drb));
                assert_eq!(drbs.first_carrying(qfi).is_some(), drb == 1);
            }
        }
        assert!(!drbs.map_qfi(64, DrbId(1)) && !drbs.map_qfi(1, DrbId(4)) && !drbs.map_qfi(1, DrbId(0)));
        // QoS flows 0 to 2 go to DRBs 1 to 3; DRB 2 is released, and set up again.
        (0..3).for_each(|qfi| assert!(drbs.map_qfi(qfi, DrbId(qfi + 1))));
        assert!(drbs.remove(DrbId(2)).is_some() && drbs.remove(DrbId(2)).is_none());
        drbs.insert(DrbId(2), marker());
        assert_eq!([0, 1, 2].map(|qfi| carrier(&mut drbs, qfi)), [Some(1), None, Some(3)]);
        assert_eq!((drbs.with_ids().count(), drbs.all().count()), (3, 3));
    }
}
