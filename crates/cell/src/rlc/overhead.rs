//! Bytes of the PDCP, RLC and MAC headers.

use crate::config::{RlcConfig, RlcMode, pdcp_header};

/// The segment offset, SO (TS 38.322 6.2.3.5).
const SEGMENT_OFFSET: u32 = 2;
/// The longest MAC SDU whose length takes one octet (TS 38.321 6.1.2).
const SHORT: u32 = 255;

/// Bytes of the MAC subheader R/F/LCID/L of an SDU: L takes one octet or two (TS 38.321 6.1.2).
pub(crate) fn mac_subheader(sdu: u32) -> u32 {
    if sdu <= SHORT { 2 } else { 3 }
}

/// Headers before the data of one bearer, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overhead {
    /// PDCP header of each SDU (TS 38.323 6.2.2).
    pub(crate) sdu: u32,
    /// RLC header of a whole SDU, of the first segment of one, and of any other, which has a segment offset.
    whole: u32,
    first: u32,
    later: u32,
    /// MAC subheader of a PDU of at most 255 B, and of a longer one.
    short: u32,
    long: u32,
}

impl Overhead {
    /// No headers, for a rate channel, whose rate is that of the IP layer.
    pub(crate) const NONE: Self = Self { sdu: 0, whole: 0, first: 0, later: 0, short: 0, long: 0 };

    /// Headers of a bearer. In UM a whole SDU has no SN: its RLC header is one octet (TS 38.322 6.2.2.3).
    pub(crate) fn of(config: &RlcConfig) -> Self {
        let with_sn = config.rlc_sn().octets();
        Self {
            sdu: pdcp_header(config.pdcp_sn),
            whole: if config.mode == RlcMode::Am { with_sn } else { 1 },
            first: with_sn,
            later: with_sn + SEGMENT_OFFSET,
            short: mac_subheader(SHORT),
            long: mac_subheader(SHORT + 1),
        }
    }

    /// Gives the bytes of a block that the rest of an SDU takes, from `offset` on.
    pub(super) fn with_headers(&self, offset: u32, rest: u32) -> u32 {
        let pdu = rest + if offset > 0 { self.later } else { self.whole };
        // Up to 255 bytes MAC's L field has one octet (TS 38.321 6.1.2).
        pdu + if pdu <= SHORT { self.short } else { self.long }
    }
    /// Gives the bytes of the rest of an SDU that a block with `left` bytes takes, without and with headers.
    pub(super) fn fit(&self, left: u32, offset: u32, rest: u32) -> (u32, u32) {
        let all = self.with_headers(offset, rest);
        // It fits whole: no segment, and no second header for the rest.
        if all <= left {
            return (rest, all);
        }
        // A segment that does not begin its SDU has an offset in its header (TS 38.322 6.2.2.4).
        let header = if offset > 0 { self.later } else { self.first };
        let long = left.saturating_sub(self.long);
        let short = left.saturating_sub(self.short).min(SHORT);
        // Just above 255 bytes the longer subheader would eat what it gains.
        let (pdu, subheader) = if long > SHORT { (long, self.long) } else { (short, self.short) };
        (pdu.saturating_sub(header), pdu + subheader)
    }
    /// Bytes of RLC's and MAC's headers of a segment that does not begin its SDU.
    pub(crate) fn of_later_segment(&self) -> u32 {
        self.later + self.long
    }
    /// The least that the first segment of an SDU takes with this many bytes of it.
    pub(super) fn least(&self, bytes: u32) -> u32 {
        bytes + self.first + self.short
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tidemark_marker::SnLength;

    use super::super::RlcSn::{self, Bits6, Bits12, Bits18};
    use super::*;

    fn overhead(mode: RlcMode, sn: RlcSn) -> Overhead {
        let config = RlcConfig { mode, rlc_sn: Some(sn), ..RlcConfig::default() };
        assert_eq!(config.validate(), Ok(()));
        Overhead::of(&config)
    }

    #[test]
    fn headers_are_those_of_38_322_6_2_2_and_38_321_6_1_2() {
        // RLC header of a whole SDU, its first segment and another.
        for (mode, sn, expected) in [
            (RlcMode::Am, Bits12, [2, 2, 4]),
            (RlcMode::Am, Bits18, [3, 3, 5]),
            (RlcMode::Um, Bits6, [1, 1, 3]),
            (RlcMode::Um, Bits12, [1, 2, 4]),
        ] {
            let overhead = overhead(mode, sn);
            assert_eq!([overhead.whole, overhead.first, overhead.later], expected, "{mode:?} {sn:?}");
            let [whole, first, later] = expected;
            assert_eq!(overhead.with_headers(0, 1_000), 1_000 + whole + 3);
            assert_eq!(overhead.with_headers(300, 1_000), 1_000 + later + 3);
            assert_eq!(overhead.fit(500, 0, 1_000), (500 - first - 3, 500));
            assert_eq!(overhead.fit(500, 300, 1_000), (500 - later - 3, 500));
            // L says the length of the PDU, RLC's header included.
            assert_eq!(overhead.with_headers(0, 255 - whole), 255 + 2);
            assert_eq!(overhead.with_headers(0, 256 - whole), 256 + 3);
        }
        let pdcp = |pdcp_sn| Overhead::of(&RlcConfig { pdcp_sn, ..RlcConfig::default() }).sdu;
        assert_eq!([SnLength::Bits12, SnLength::Bits18].map(pdcp), [2, 3]);
        assert_eq!(RlcConfig::default().rlc_sn(), Bits18);
        assert_eq!(RlcConfig { mode: RlcMode::Um, ..RlcConfig::default() }.rlc_sn(), Bits12);
    }

    #[test]
    fn windows_are_those_of_38_322_7_2_and_each_mode_has_its_lengths() {
        assert_eq!([Bits6, Bits12, Bits18].map(RlcSn::window), [32, 2_048, 131_072]);
        for (mode, sn) in [(RlcMode::Am, Bits6), (RlcMode::Um, Bits18)] {
            let wrong = RlcConfig { mode, rlc_sn: Some(sn), ..RlcConfig::default() };
            assert_eq!(wrong.validate().unwrap_err().field(), "rlc.rlc_sn");
        }
    }

    proptest! {
        #[test]
        fn what_fits_takes_no_more_than_there_is_and_all_of_it_where_that_is_enough(
            sn in prop::sample::select(vec![(RlcMode::Am, Bits12), (RlcMode::Am, Bits18), (RlcMode::Um, Bits6), (RlcMode::Um, Bits12)]),
            left in 0u32..600, offset in 0u32..2, rest in 1u32..600,
        ) {
            let overhead = overhead(sn.0, sn.1);
            let (bytes, taken) = overhead.fit(left, offset, rest);
            prop_assert_eq!(bytes == rest, overhead.with_headers(offset, rest) <= left);
            prop_assert!(bytes == 0 || taken <= left && bytes < taken);
            // A byte more would not fit, but for the step of the MAC subheader.
            prop_assert!(bytes == rest || bytes == 0 || left - taken <= 1);
        }
    }
}
