//! Carriers: the number of resource blocks of a channel bandwidth (TS 38.101-1 and -2, 5.3.2).

/// FR1 at 15, 30 and 60 kHz: bandwidth in MHz and resource blocks, TS 38.101-1 table 5.3.2-1.
const FR1: [&[(u32, u32)]; 3] = [
    &[(5, 25), (10, 52), (15, 79), (20, 106), (25, 133), (30, 160), (35, 188), (40, 216), (45, 242), (50, 270)],
    &[
        (5, 11),
        (10, 24),
        (15, 38),
        (20, 51),
        (25, 65),
        (30, 78),
        (35, 92),
        (40, 106),
        (45, 119),
        (50, 133),
        (60, 162),
        (70, 189),
        (80, 217),
        (90, 245),
        (100, 273),
    ],
    &[
        (10, 11),
        (15, 18),
        (20, 24),
        (25, 31),
        (30, 38),
        (35, 44),
        (40, 51),
        (45, 58),
        (50, 65),
        (60, 79),
        (70, 93),
        (80, 107),
        (90, 121),
        (100, 135),
    ],
];
/// FR2 at 120 kHz, TS 38.101-2 table 5.3.2-1.
const FR2: &[(u32, u32)] = &[(50, 32), (100, 66), (200, 132), (400, 264)];

/// Resource blocks by bandwidth in MHz, at this numerology: FR1 up to 60 kHz, FR2 at 120 kHz.
pub fn bandwidths(numerology: u8) -> &'static [(u32, u32)] {
    FR1.get(usize::from(numerology)).copied().unwrap_or(FR2)
}

/// Resource blocks of a channel of this many MHz; `None` if the standard has no such channel.
pub fn resource_blocks(numerology: u8, mhz: u32) -> Option<u32> {
    bandwidths(numerology).iter().find(|(other, _)| *other == mhz).map(|(_, blocks)| *blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriers_fit_their_channels_with_guard_bands_that_shrink_with_the_width() {
        for numerology in 0..=3 {
            let mut last = 0.0;
            for (mhz, blocks) in bandwidths(numerology) {
                let occupied = f64::from(*blocks * 12 * 15 * (1 << numerology)) / 1e3;
                let used = occupied / f64::from(*mhz);
                // From 71.3 % (10 MHz at 60 kHz: 7.92 MHz) to 98.3 % (100 MHz at 30 kHz: 98.28 MHz).
                assert!((0.71..0.99).contains(&used), "{mhz} MHz at numerology {numerology}: {used}");
                assert!(used > last - 0.03, "{mhz} MHz at numerology {numerology}: {used} after {last}");
                last = used;
            }
        }
    }

    #[test]
    fn usual_carriers_and_one_that_is_none() {
        assert_eq!(resource_blocks(0, 20), Some(106));
        assert_eq!(resource_blocks(1, 20), Some(51));
        assert_eq!(resource_blocks(1, 100), Some(273));
        assert_eq!(resource_blocks(2, 100), Some(135));
        assert_eq!(resource_blocks(3, 100), Some(66));
        assert_eq!(resource_blocks(0, 100), None);
        assert_eq!(resource_blocks(1, 21), None);
    }
}
