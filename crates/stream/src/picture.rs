//! Pictures: a scene, whose pixels are drawn for each frame, with the strip over it.

use openh264::formats::YUVSource;

use crate::strip::Strip;

/// Length of a flash in frames.
const FLASH: u32 = 6;
/// Luma of black and white, and chroma of both.
const BLACK: u8 = 16;
const WHITE: u8 = 235;
const GREY: u8 = 128;
/// Bits of the noise in a pixel's luma.
const NOISE_BITS: usize = 4;
/// Pixels whose noise is of one random number.
const BLOCK: usize = u32::BITS as usize / NOISE_BITS;

/// Pixels of one component of a picture, line by line.
pub(crate) struct Plane<'a> {
    pub(crate) pixels: &'a mut [u8],
    pub(crate) width: usize,
}

/// A source of pixels.
pub(crate) trait Scene: Send {
    /// Fills luma and both chroma planes, which have half the width and height, for the frame of this strip.
    fn paint(&mut self, planes: [Plane<'_>; 3], strip: Strip);
}

/// A picture in I420, redrawn for each frame.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    width: usize,
    height: usize,
    luma: Vec<u8>,
    chroma: [Vec<u8>; 2],
    flash: u32,
}

impl Picture {
    /// A black picture.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        let chroma = || vec![GREY; width / 2 * (height / 2)];
        Self { width, height, luma: vec![BLACK; width * height], chroma: [chroma(), chroma()], flash: 0 }
    }

    /// Makes the next frames white.
    pub(crate) fn flash(&mut self) {
        self.flash = FLASH;
    }

    /// Draws a scene, and the strip at its top.
    pub(crate) fn draw(&mut self, scene: &mut dyn Scene, strip: Strip) {
        let [first, second] = self.chroma.each_mut().map(|pixels| Plane { pixels, width: self.width / 2 });
        scene.paint([Plane { pixels: &mut self.luma, width: self.width }, first, second], strip);
        if self.flash > 0 {
            self.flash -= 1;
            self.luma.fill(WHITE);
        }
        strip.draw(&mut self.luma, self.width, self.height);
    }
}

/// A scrolling pattern, noise that costs bits, and a moving bar.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    bits: u32,
}

impl Default for Pattern {
    fn default() -> Self {
        Self { bits: 0x9E37_79B9 }
    }
}

impl Pattern {
    /// Takes the next random number (xorshift32).
    fn random(&mut self) -> u32 {
        self.bits ^= self.bits << 13;
        self.bits ^= self.bits >> 17;
        self.bits ^= self.bits << 5;
        self.bits
    }
}

impl Scene for Pattern {
    fn paint(&mut self, [luma, first, second]: [Plane<'_>; 3], strip: Strip) {
        let shift = strip.frame as usize;
        let bar = shift * 7 % luma.width;
        for (y, line) in luma.pixels.chunks_exact_mut(luma.width).enumerate() {
            for (block, pixels) in line.chunks_mut(BLOCK).enumerate() {
                let noise = self.random();
                for (index, pixel) in pixels.iter_mut().enumerate() {
                    let x = BLOCK * block + index;
                    let pattern = ((x + 2 * shift) ^ (y + shift)) as u8 & 0x7F;
                    let level = if x.abs_diff(bar) < 8 { 200 } else { 48 + pattern };
                    *pixel = level + (noise >> (NOISE_BITS * index)) as u8 % (1 << NOISE_BITS);
                }
            }
        }
        for (plane, step) in [first, second].into_iter().zip([1, 2]) {
            for (y, line) in plane.pixels.chunks_exact_mut(plane.width).enumerate() {
                for (x, pixel) in line.iter_mut().enumerate() {
                    *pixel = 96 + ((x / 4 + y / 4 + step * shift) as u8 & 0x3F);
                }
            }
        }
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
