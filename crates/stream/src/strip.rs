//! A machine-readable strip in the picture: number and time of the frame, in black and white cells.

/// Cells per row, and number of rows.
pub const CELLS: (usize, usize) = (32, 2);
/// Height of a row, as a fraction of the picture's height.
const ROWS: usize = 18;
const BLACK: u8 = 16;
const WHITE: u8 = 235;

/// Content of a strip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strip {
    /// Number of the frame, modulo 2^24.
    pub frame: u32,
    /// Time of drawing, in units of 100 us since 1970, modulo 2^32.
    pub time: u32,
}

impl Strip {
    /// 24 bits of the number, 8 check bits, 32 bits of the time.
    fn bits(self) -> u64 {
        let number = u64::from(self.frame & 0xFF_FFFF);
        let checked = number << 40 | u64::from(self.time);
        checked | u64::from(check(checked)) << 32
    }

    /// Draws the strip at the top of a picture's luma.
    pub fn draw(self, luma: &mut [u8], width: usize, height: usize) {
        let (columns, rows) = CELLS;
        let (cell, row_height) = (width / columns, height / ROWS);
        for y in 0..rows * row_height {
            let line = &mut luma[y * width..][..columns * cell];
            for (index, pixels) in line.chunks_exact_mut(cell).enumerate() {
                let bit = 63 - (y / row_height * columns + index);
                pixels.fill(if self.bits() >> bit & 1 == 1 { WHITE } else { BLACK });
            }
        }
    }

    /// Reads the strip from a picture's luma; `None` if there is none.
    pub fn read(luma: &[u8], stride: usize, width: usize, height: usize) -> Option<Self> {
        let (columns, rows) = CELLS;
        let (cell, row_height) = (width / columns, height / ROWS);
        let bits = (0..rows * columns).fold(0_u64, |bits, index| {
            let (x, y) = (index % columns * cell + cell / 2, index / columns * row_height + row_height / 2);
            bits << 1 | u64::from(luma[y * stride + x] > (BLACK + WHITE) / 2)
        });
        let checked = bits & !(0xFF << 32);
        (check(checked) == (bits >> 32) as u8).then_some(Self { frame: (bits >> 40) as u32, time: bits as u32 })
    }
}

/// Remainder of the bits by x^8 + x^2 + x + 1 (CRC-8), inverted so that a black picture is not a valid strip.
fn check(bits: u64) -> u8 {
    !bits.to_be_bytes().iter().fold(0, |crc: u8, byte| {
        (0..8).fold(crc ^ byte, |crc, _| if crc & 0x80 == 0 { crc << 1 } else { crc << 1 ^ 0x07 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_is_read_at_every_size() {
        for (width, height) in [(1280, 720), (640, 360), (320, 180)] {
            for strip in [Strip { frame: 0, time: 0 }, Strip { frame: 0xAB_CDEF, time: 0xFEDC_BA98 }] {
                let mut luma = vec![90; width * height];
                strip.draw(&mut luma, width, height);
                assert_eq!(Strip::read(&luma, width, width, height), Some(strip));
                luma[height / ROWS / 2 * width + width / CELLS.0 / 2] ^= 0xFF;
                assert_eq!(Strip::read(&luma, width, width, height), None, "a bit is wrong");
            }
        }
        assert_eq!(Strip::read(&[0; 320 * 180], 320, 320, 180), None, "a black picture");
    }

    #[test]
    fn the_check_is_crc_8_inverted() {
        assert_eq!([check(0), check(0xAB_CDEF << 40 | 0xFEDC_BA98)], [0xFF, 0x23]);
    }
}
