//! Random streams, one for each (seed, entity, purpose), all independent of each other.
//!
//! The generator is Philox 4x32-10 (Salmon et al., 'Parallel random numbers: as easy as 1, 2, 3', SC 2011).
//! It is counter-based: the state of a stream is only its name and position, and a UE added to a
//! scenario does not change the draws of the others.

use core::convert::Infallible;

use crate::units::Probability;

const MULTIPLIER: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
    spare_normal: Option<f64>,
}

impl Stream {
    /// The stream of `entity` (a UE, a flow) for `purpose` (`"fading"`, `"mark"`) in the run with this seed.
    pub fn new(seed: u64, entity: u32, purpose: &str) -> Self {
        Self {
            key: [seed as u32, (seed >> 32) as u32],
            counter: [0, 0, entity, fnv1a(purpose.as_bytes())],
            block: [0; 4],
            used: 4,
            spare_normal: None,
        }
    }

    /// Uniform on [0, 1), with all 53 bits of a double.
    pub fn uniform(&mut self) -> f64 {
        let bits = u64::from(self.next_word()) << 32 | u64::from(self.next_word());
        (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with the given probability. Draws nothing where the outcome is certain.
    pub fn chance(&mut self, p: Probability) -> bool {
        let p = p.get();
        p > 0.0 && (p >= 1.0 || self.uniform() < p)
    }

    /// Standard normal, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let x = 2.0 * self.uniform() - 1.0;
            let y = 2.0 * self.uniform() - 1.0;
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let scale = libm::sqrt(-2.0 * libm::log(square) / square);
                self.spare_normal = Some(y * scale);
                return x * scale;
            }
        }
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.uniform())
    }

    fn next_word(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox(self.counter, self.key);
            // Two words count blocks, the other two name the stream.
            let (low, carry) = self.counter[0].overflowing_add(1);
            self.counter[0] = low;
            self.counter[1] = self.counter[1].wrapping_add(u32::from(carry));
            self.used = 0;
        }
        let word = self.block[self.used];
        self.used += 1;
        word
    }
}

impl rand_core::TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.next_word())
    }
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(u64::from(self.next_word()) | u64::from(self.next_word()) << 32)
    }
    fn try_fill_bytes(&mut self, dst: &mut [u8]) -> Result<(), Infallible> {
        for chunk in dst.chunks_mut(4) {
            let word = self.next_word().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let product0 = u64::from(MULTIPLIER[0]) * u64::from(counter[0]);
        let product1 = u64::from(MULTIPLIER[1]) * u64::from(counter[2]);
        counter = [
            (product1 >> 32) as u32 ^ counter[1] ^ key[0],
            product1 as u32,
            (product0 >> 32) as u32 ^ counter[3] ^ key[1],
            product0 as u32,
        ];
        key = [key[0].wrapping_add(WEYL[0]), key[1].wrapping_add(WEYL[1])];
    }
    counter
}

/// 32-bit FNV-1a hash, enough for the few short names of purposes. Every golden run depends on these hashes.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811C_9DC5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the generator's authors publish with Random123 (kat_vectors, philox4x32 10).
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            philox([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn streams_with_other_names_draw_other_numbers() {
        let draw = |seed, entity, purpose| Stream::new(seed, entity, purpose).uniform().to_bits();
        let base = draw(1, 1, "mark");
        assert_ne!(base, draw(2, 1, "mark"));
        assert_ne!(base, draw(1, 2, "mark"));
        assert_ne!(base, draw(1, 1, "fading"));
        assert_eq!(base, draw(1, 1, "mark"));
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut stream = Stream::new(7, 0, "moments");
        let n = 200_000;
        let mean = |f: &mut dyn FnMut() -> f64| (0..n).map(|_| f()).sum::<f64>() / f64::from(n);
        assert!((mean(&mut || stream.uniform()) - 0.5).abs() < 0.005);
        assert!(mean(&mut || stream.normal()).abs() < 0.01);
        let square = mean(&mut || {
            let x = stream.normal();
            x * x
        });
        assert!((square - 1.0).abs() < 0.02);
        assert!((mean(&mut || stream.exponential()) - 1.0).abs() < 0.01);
    }
}
