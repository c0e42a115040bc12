//! A moving test picture: a scrolling pattern, noise that costs bits, a moving bar, and the strip.

use openh264::formats::YUVSource;

use crate::strip::Strip;

/// Length of a flash in frames.
const FLASH: u32 = 6;
/// Largest deviation of the noise, in steps of luma.
const NOISE: u32 = 16;

/// A picture in I420, redrawn for each frame.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    width: usize,
    height: usize,
    luma: Vec<u8>,
    chroma: [Vec<u8>; 2],
    bits: u32,
    flash: u32,
}

impl Picture {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        let chroma = || vec![128; width / 2 * (height / 2)];
        Self {
            width,
            height,
            luma: vec![16; width * height],
            chroma: [chroma(), chroma()],
            bits: 0x9E37_79B9,
            flash: 0,
        }
    }

    /// Makes the next frames white.
    pub(crate) fn flash(&mut self) {
        self.flash = FLASH;
    }

    pub(crate) fn draw(&mut self, strip: Strip) {
        let shift = strip.frame as usize;
        let bar = shift * 7 % self.width;
        for (y, line) in self.luma.chunks_exact_mut(self.width).enumerate() {
            for (x, pixel) in line.iter_mut().enumerate() {
                // xorshift32, one number for each pixel.
                self.bits ^= self.bits << 13;
                self.bits ^= self.bits >> 17;
                self.bits ^= self.bits << 5;
                let pattern = ((x + 2 * shift) ^ (y + shift)) & 0x7F;
                let level = if x.abs_diff(bar) < 8 { 200 } else { 48 + pattern as u32 };
                *pixel = (level + self.bits % NOISE) as u8;
            }
        }
        for (plane, step) in self.chroma.iter_mut().zip([1, 2]) {
            for (index, pixel) in plane.iter_mut().enumerate() {
                let (x, y) = (index % (self.width / 2), index / (self.width / 2));
                *pixel = (96 + ((x / 4 + y / 4 + step * shift) & 0x3F)) as u8;
            }
        }
        if self.flash > 0 {
            self.flash -= 1;
            self.luma.fill(235);
        }
        strip.draw(&mut self.luma, self.width, self.height);
    }
}

impl YUVSource for Picture {
    fn dimensions(&self) -> (usize, usize) {
        (self.width, self.height)
    }
    fn strides(&self) -> (usize, usize, usize) {
        (self.width, self.width / 2, self.width / 2)
    }
    fn y(&self) -> &[u8] {
        &self.luma
    }
    fn u(&self) -> &[u8] {
        &self.chroma[0]
    }
    fn v(&self) -> &[u8] {
        &self.chroma[1]
    }
}
