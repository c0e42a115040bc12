//! Rayleigh fading by Clarke's model: plane waves from all directions, each with its Doppler shift and its delay. In line of sight
//! one more wave comes first, stronger than the others by the Ricean K factor.
//!
//! `h(f, t) = 1/sqrt(P) sum_i exp(j (2 pi (f_D cos(theta_i) t - tau_i f) + phi_i))` with arrival angles uniform on the
//! circle and delays exponential, and `sqrt(K/(1+K)) exp(j (2 pi f_D cos(theta_0) t + phi_0)) + h / sqrt(1+K)` in line of
//! sight. The angles of a UE are drawn once. Over many UEs the autocorrelation is `J0`. That of one UE over time is the mean of
//! `P` cosines, which differs from `J0` with a standard deviation of up to `1/sqrt(2P)`, 0.18.
//!
//! The antennas of the gNB fade independently. One layer is precoded so that they add up at the UE (maximum ratio transmission: Lo,
//! IEEE Transactions on Communications 47, 1999). The SNR then follows the sum of their powers: in Rayleigh fading a chi-squared
//! variable with two degrees of freedom for each antenna. Its mean includes the array gain, and its relative deviation is `1/sqrt(N)`.
//!
//! A wide cell covers many coherence bandwidths, so the SNR of a transport block is the one that gives the mean capacity of eight
//! points of the band.

use tidemark_core::{Duration, Instant, Stream};

use super::RESOLUTION;

/// Plane waves. Sixteen: |h| is close to Rayleigh and the cost stays below that of a packet.
const WAVES: usize = 16;
/// Waves that are worked out side by side.
const LANES: usize = 4;
/// Points of the band.
const POINTS: usize = 8;
const SPEED_OF_LIGHT: f64 = 299_792_458.0;
const TAU: f64 = core::f64::consts::TAU;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn unit(angle: f64) -> Self {
        let (im, re) = libm::sincos(angle);
        Self { re, im }
    }

    /// The unit vector at an angle in turns: Taylor's series within an eighth of a turn, whose next terms are below 1e-11. Half of
    /// the cost of fading would be a sine to the last bit. Without a branch and without an integer, so that the compiler works out
    /// several at once.
    #[inline(always)]
    fn turned(turns: f64) -> Self {
        let quarter = floor(4.0 * turns + 0.5);
        let x = TAU * (turns - 0.25 * quarter);
        let y = x * x;
        let series = |factors: [f64; 5]| factors.into_iter().fold(1.0, |sum, factor| 1.0 + sum * y * factor);
        let sin = x * series([-1.0 / 110.0, -1.0 / 72.0, -1.0 / 42.0, -1.0 / 20.0, -1.0 / 6.0]);
        let cos = 1.0 - 0.5 * y * series([-1.0 / 132.0, -1.0 / 90.0, -1.0 / 56.0, -1.0 / 30.0, -1.0 / 12.0]);
        // 0 to 3, from east to south, and its unit vector.
        let quadrant = quarter - 4.0 * floor(0.25 * quarter);
        let (east, north) = ((quadrant - 2.0).abs() - 1.0, 1.0 - (quadrant - 1.0).abs());
        Self { re: east * cos - north * sin, im: north * cos + east * sin }
    }
}

/// The surroundings through which a UE moves, and the band that it receives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// Speed of the UE in km/h.
    pub speed_kmh: f64,
    /// Carrier in GHz.
    pub carrier_ghz: f64,
    /// RMS delay spread.
    pub delay_spread: Duration,
    /// Band of the carrier.
    pub band: Band,
    /// Antennas of the gNB, from 1.
    pub antennas: u32,
}

/// The part of a channel that a carrier sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// Occupied bandwidth in Hz.
    pub width_hz: f64,
    /// Length of a slot, within which the channel does not change.
    pub slot: Duration,
}

/// The plane waves, one array a property, so that several are computed at once.
#[derive(Clone, Debug)]
struct Waves {
    /// Doppler shift in cycles a second.
    doppler_hz: [f64; WAVES],
    /// Phase at time zero at the first point, in cycles.
    phase: [f64; WAVES],
    /// Rotation from one point to the next.
    step_re: [f64; WAVES],
    step_im: [f64; WAVES],
}

impl Surroundings {
    /// Largest Doppler shift, in cycles a second.
    fn doppler_hz(&self) -> f64 {
        self.speed_kmh / 3.6 * self.carrier_ghz * 1e9 / SPEED_OF_LIGHT
    }
}

impl Waves {
    /// Draws the waves from one antenna.
    fn new(around: &Surroundings, stream: &mut Stream) -> Self {
        let spacing_hz = around.band.width_hz / POINTS as f64;
        let zero = [0.0; WAVES];
        let mut waves = Self { doppler_hz: zero, phase: zero, step_re: zero, step_im: zero };
        for wave in 0..WAVES {
            let angle = TAU * stream.uniform();
            let delay = around.delay_spread.as_secs_f64() * stream.exponential();
            let step = Complex::unit(-TAU * delay * spacing_hz);
            waves.doppler_hz[wave] = around.doppler_hz() * libm::cos(angle);
            waves.phase[wave] = stream.uniform();
            (waves.step_re[wave], waves.step_im[wave]) = (step.re, step.im);
        }
        waves
    }
}

/// The fading of one UE around a mean SNR.
#[derive(Clone, Debug)]
pub struct Fading {
    mean: f64,
    /// Waves of each of the gNB's antennas.
    antennas: Vec<Waves>,
    /// The wave in line of sight: Doppler shift in cycles a second, phase at time zero in cycles, and power over that of all others.
    sight: (f64, f64),
    rice_k: f64,
    resolution: Duration,
    last: (Instant, f64),
}

impl Fading {
    /// Fading around `snr_db`.
    pub fn new(snr_db: f64, around: Surroundings, mut stream: Stream) -> Self {
        let doppler = around.doppler_hz();
        let mut antennas = vec![Waves::new(&around, &mut stream)];
        let sight = (doppler * libm::cos(TAU * stream.uniform()), stream.uniform());
        antennas.extend((1..around.antennas).map(|_| Waves::new(&around, &mut stream)));
        let resolution = around.band.slot.min(RESOLUTION);
        Self { mean: libm::exp10(snr_db / 10.0), antennas, sight, rice_k: 0.0, resolution, last: (Instant::FAR, 0.0) }
    }

    /// Fades around another mean from now on. `rice_k` is the power of the wave in line of sight over that of all others.
    pub(crate) fn set_mean(&mut self, snr_db: f64, rice_k: f64) {
        (self.mean, self.rice_k) = (libm::exp10(snr_db / 10.0), rice_k);
        self.last.0 = Instant::FAR;
    }

    /// The SNR of a transport block at `now`, in dB. It is constant within half a millisecond, or within a slot if that is shorter.
    pub fn snr_db(&mut self, now: Instant) -> f64 {
        let now = Instant::from_nanos(now.as_nanos() - now.as_nanos() % self.resolution.as_nanos());
        if self.last.0 != now {
            self.last = (now, self.evaluate(now));
        }
        self.last.1
    }

    fn evaluate(&self, now: Instant) -> f64 {
        let mut product = 1.0;
        for gain in self.gains(now) {
            product *= 1.0 + self.mean * gain;
        }
        // The mean of log2(1 + snr) over the points is the logarithm of the product's eighth root.
        const { assert!(POINTS == 8) };
        let root = product.sqrt().sqrt().sqrt();
        10.0 * libm::log10((root - 1.0).max(1e-6))
    }

    /// Mean over the antennas of |h|^2, at each point of the band.
    fn gains(&self, now: Instant) -> [f64; POINTS] {
        let mut gains = [0.0; POINTS];
        for waves in &self.antennas {
            for (gain, h) in gains.iter_mut().zip(self.amplitudes(waves, now)) {
                *gain += h.re * h.re + h.im * h.im;
            }
        }
        gains.map(|gain| gain / self.antennas.len() as f64)
    }

    /// h of one antenna at each point of the band.
    fn amplitudes(&self, waves: &Waves, now: Instant) -> [Complex; POINTS] {
        let t = now.as_secs_f64();
        let sums = sums(waves, t);
        // The wave in line of sight comes first, so that it is the same at every point.
        let others = (1.0 / (1.0 + self.rice_k)).sqrt();
        let mut direct = Complex { re: 0.0, im: 0.0 };
        if self.rice_k > 0.0 {
            let ((doppler_hz, phase), amplitude) = (self.sight, others * self.rice_k.sqrt());
            let h = Complex::turned(doppler_hz * t + phase);
            direct = Complex { re: amplitude * h.re, im: amplitude * h.im };
        }
        let scale = others / const { WAVES as f64 }.sqrt();
        let whole = |lanes: [f64; LANES]| (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        let mut points = [direct; POINTS];
        for (point, [re, im]) in points.iter_mut().zip(sums) {
            *point = Complex { re: scale * whole(re) + direct.re, im: scale * whole(im) + direct.im };
        }
        points
    }
}

/// Sums of the waves' real and imaginary parts at each point of the band, in lanes, at `t` seconds. The order of additions is
/// written out and nothing is fused, so wider registers give the same bits.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn sums(waves: &Waves, t: f64) -> [[[f64; LANES]; 2]; POINTS] {
    let mut sums = [[[0.0; LANES]; 2]; POINTS];
    for first in (0..WAVES).step_by(LANES) {
        let of = |values: &[f64; WAVES]| {
            let mut lanes = [0.0; LANES];
            lanes.copy_from_slice(&values[first..first + LANES]);
            lanes
        };
        let (doppler_hz, phase) = (of(&waves.doppler_hz), of(&waves.phase));
        let (step_re, step_im) = (of(&waves.step_re), of(&waves.step_im));
        let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let h = Complex::turned(doppler_hz[lane] * t + phase[lane]);
            (re[lane], im[lane]) = (h.re, h.im);
        }
        for (point, [sum_re, sum_im]) in sums.iter_mut().enumerate() {
            for lane in 0..LANES {
                if point > 0 {
                    let (a, b) = (re[lane], im[lane]);
                    re[lane] = a * step_re[lane] - b * step_im[lane];
                    im[lane] = a * step_im[lane] + b * step_re[lane];
                }
                sum_re[lane] += re[lane];
                sum_im[lane] += im[lane];
            }
        }
    }
    sums
}

/// The next whole number below; of numbers below 2^51, where adding this constant rounds.
#[inline(always)]
fn floor(value: f64) -> f64 {
    const ROUNDS: f64 = 6_755_399_441_055_744.0;
    let nearest = (value + ROUNDS) - ROUNDS;
    nearest - if nearest > value { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A 20 MHz cell at 30 kHz in band n78.
    fn at(speed_kmh: f64) -> Surroundings {
        let delay_spread = Duration::from_nanos(363);
        let band = Band { width_hz: 51.0 * 12.0 * 30e3, slot: Duration::from_micros(500) };
        Surroundings { speed_kmh, carrier_ghz: 3.75, delay_spread, band, antennas: 1 }
    }

    fn square(x: f64) -> f64 {
        x * x
    }

    /// Correlation of the powers of two numbers a UE, over many UEs.
    fn correlation(pair: impl Fn(&Fading) -> [f64; 2]) -> f64 {
        let ues = 20_000;
        let [mut sums, mut squares, mut product] = [[0.0; 2], [0.0; 2], [0.0; 2]];
        for ue in 0..ues {
            let powers = pair(&Fading::new(0.0, at(70.0), Stream::new(3, ue, "fading")));
            for side in 0..2 {
                sums[side] += powers[side];
                squares[side] += powers[side] * powers[side];
            }
            product[0] += powers[0] * powers[1];
        }
        let n = f64::from(ues);
        let [mean, variance] = [sums.map(|sum| sum / n), [0, 1].map(|side| squares[side] / n - square(sums[side] / n))];
        (product[0] / n - mean[0] * mean[1]) / libm::sqrt(variance[0] * variance[1])
    }

    #[test]
    fn over_many_ues_the_powers_autocorrelation_is_the_square_of_the_bessel_function() {
        // E[h(0) h*(tau)] = J0(2 pi f_D tau), so that the powers of a complex Gaussian are correlated by its square. The sign is
        // tested below, and what one UE has.
        let doppler = 70.0 / 3.6 * 3.75e9 / SPEED_OF_LIGHT;
        for lag_us in [0u64, 500, 1_000, 1_500, 2_000, 3_000, 5_000] {
            let (start, lag) = (Instant::from_millis(1_000), Duration::from_micros(lag_us));
            for point in [0, POINTS - 1] {
                let measured = correlation(|ue| [ue.gains(start)[point], ue.gains(start + lag)[point]]);
                let expected = square(libm::j0(TAU * doppler * lag.as_secs_f64()));
                assert!((measured - expected).abs() < 0.03, "lag {lag_us} us: {measured} for {expected}");
            }
        }
    }

    /// Autocorrelation over ten minutes of one UE's h at the first point: its real part, as J0 is.
    fn over_time(fading: &Fading, lag: Duration) -> f64 {
        let (mut sum, mut power) = (0.0, 0.0);
        // Instants that share no period with a wave.
        for step in 0..5_000u64 {
            let at = Instant::from_nanos(step * 119_687_000);
            let h = |at| fading.amplitudes(&fading.antennas[0], at)[0];
            let (now, later) = (h(at), h(at + lag));
            sum += now.re * later.re + now.im * later.im;
            power += now.re * now.re + now.im * now.im;
        }
        sum / power
    }

    #[test]
    fn autocorrelation_over_time_is_that_of_sixteen_angles_and_in_the_mean_bessels() {
        let doppler = 70.0 / 3.6 * 3.75e9 / SPEED_OF_LIGHT;
        let ues: Vec<_> = (0..48).map(|ue| Fading::new(0.0, at(70.0), Stream::new(11, ue, "fading"))).collect();
        for lag_us in [500u64, 1_500, 3_000] {
            let lag = Duration::from_micros(lag_us);
            let bessel = libm::j0(TAU * doppler * lag.as_secs_f64());
            let (mut mean, mut squares) = (0.0, 0.0);
            for fading in &ues {
                let measured = over_time(fading, lag);
                let own = fading.antennas[0].doppler_hz.iter().map(|hz| libm::cos(TAU * hz * lag.as_secs_f64()));
                let own = own.sum::<f64>() / WAVES as f64;
                assert!((measured - own).abs() < 0.1, "lag {lag_us} us: {measured} for its own {own}");
                // Five deviations of the mean of sixteen cosines.
                assert!((measured - bessel).abs() < 5.0 * 0.18, "lag {lag_us} us: {measured} for {bessel}");
                (mean, squares) = (mean + measured / 48.0, squares + square(measured - bessel) / 48.0);
            }
            // J0 with its sign; 48 UEs have a mean within 0.18 / sqrt(48) = 0.026, taken threefold.
            assert!((mean - bessel).abs() < 0.08, "lag {lag_us} us: {mean} for {bessel}");
            assert!(libm::sqrt(squares) < 0.24, "lag {lag_us} us: {}", libm::sqrt(squares));
        }
    }

    #[test]
    fn in_line_of_sight_the_envelope_is_rices() {
        for k_db in [0.0, 7.0, 9.0] {
            let k = libm::exp10(k_db / 10.0);
            let (mut mean, mut squares) = (0.0, 0.0);
            for ue in 0..8_000 {
                let mut fading = Fading::new(0.0, at(3.0), Stream::new(13, ue, "fading"));
                fading.set_mean(0.0, k);
                for power in fading.gains(Instant::from_millis(5)) {
                    (mean, squares) = (mean + power / 64_000.0, squares + power * power / 64_000.0);
                }
            }
            assert!((mean - 1.0).abs() < 0.02, "{mean} at {k_db} dB");
            // The second moment gives K back: var / mean^2 = (2 K + 1) / (K + 1)^2, less what sixteen waves are short of Gaussian.
            let spread = squares / (mean * mean) - 1.0;
            let expected = (2.0 * k + 1.0 - 1.0 / WAVES as f64) / square(k + 1.0);
            assert!((spread / expected - 1.0).abs() < 0.04, "{spread} for {expected} at {k_db} dB");
            let root = libm::sqrt(1.0 - spread);
            let recovered = 10.0 * libm::log10(root / (1.0 - root));
            assert!((recovered - k_db).abs() < 0.4, "{recovered} for {k_db} dB");
        }
    }

    #[test]
    fn the_wave_in_line_of_sight_keeps_its_part_of_the_autocorrelation() {
        let doppler = 70.0 / 3.6 * 3.75e9 / SPEED_OF_LIGHT;
        let (k, lag) = (libm::exp10(0.9), Duration::from_micros(1_500));
        let mut mean = 0.0;
        for ue in 0..48 {
            let mut fading = Fading::new(0.0, at(70.0), Stream::new(17, ue, "fading"));
            fading.set_mean(0.0, k);
            let measured = over_time(&fading, lag);
            let direct = libm::cos(TAU * fading.sight.0 * lag.as_secs_f64());
            mean += (measured - k / (1.0 + k) * direct) / 48.0;
        }
        // What is left is the others' J0, by their part of the power.
        let expected = libm::j0(TAU * doppler * lag.as_secs_f64()) / (1.0 + k);
        assert!((mean - expected).abs() < 0.02, "{mean} for {expected}");
    }

    #[test]
    fn points_of_the_band_are_correlated_as_an_exponential_delay_profile_says() {
        // The frequency correlation of an exponential profile is 1 / (1 + j 2 pi df tau_rms): its power 1 / (1 + (2 pi df tau_rms)^2).
        let spacing_hz = at(70.0).band.width_hz / POINTS as f64;
        for (point, narrow) in [(1, 1.0), (3, 1.0), (1, 0.1), (7, 0.1)] {
            let band = Band { width_hz: at(70.0).band.width_hz * narrow, ..at(70.0).band };
            let narrowed = Surroundings { band, ..at(70.0) };
            let mut sums = [0.0; 3];
            for ue in 0..20_000 {
                let gains = Fading::new(0.0, narrowed, Stream::new(7, ue, "fading")).gains(Instant::ZERO);
                sums = [sums[0] + gains[0] * gains[point], sums[1] + gains[0], sums[2] + gains[point]];
            }
            let [product, first, second] = sums.map(|sum| sum / 20_000.0);
            let expected = 1.0 / (1.0 + square(TAU * spacing_hz * narrow * point as f64 * 363e-9));
            let measured = product / (first * second) - 1.0;
            // Sixteen waves are a little less than Gaussian: 1/16.
            assert!((measured - expected).abs() < 0.1, "{point} at {narrow}: {measured} for {expected}");
        }
    }

    #[test]
    fn a_turned_vector_is_the_sine_and_cosine() {
        for step in -40_000..40_000 {
            let turns = f64::from(step) * 0.001_37;
            let (fast, exact) = (Complex::turned(turns), Complex::unit(TAU * turns));
            assert!((fast.re - exact.re).abs() < 2e-11 && (fast.im - exact.im).abs() < 2e-11, "{turns}");
        }
    }

    #[test]
    fn the_power_is_exponential_as_rayleigh_fading_demands() {
        let mut powers: Vec<f64> = (0..4000)
            .flat_map(|ue| Fading::new(0.0, at(3.0), Stream::new(5, ue, "fading")).gains(Instant::from_millis(1)))
            .collect();
        powers.sort_by(f64::total_cmp);
        let mean = powers.iter().sum::<f64>() / powers.len() as f64;
        assert!((mean - 1.0).abs() < 0.03, "{mean}");
        let median = powers[powers.len() / 2];
        assert!((median - core::f64::consts::LN_2).abs() < 0.04, "{median}");
    }

    #[test]
    fn powers_of_antennas_add_up_to_a_chi_squared_of_two_degrees_each() {
        for (antennas, k) in [(2, 0.0), (4, 0.0), (4, 7.943), (8, 0.0)] {
            let around = Surroundings { antennas, ..at(3.0) };
            let (mut mean, mut squares, mut low) = (0.0, 0.0, 0.0);
            for ue in 0..8_000 {
                let mut fading = Fading::new(0.0, around, Stream::new(19, ue, "fading"));
                fading.set_mean(0.0, k);
                for gain in fading.gains(Instant::from_millis(5)) {
                    (mean, squares) = (mean + gain / 64_000.0, squares + gain * gain / 64_000.0);
                    low += f64::from(gain < 0.1) / 64_000.0;
                }
            }
            // Around one: the array's gain is in the mean SNR.
            assert!((mean - 1.0).abs() < 0.02, "{mean} of {antennas}");
            let spread = squares / (mean * mean) - 1.0;
            let n = f64::from(antennas);
            let expected = (2.0 * k + 1.0 - 1.0 / WAVES as f64) / (square(k + 1.0) * n);
            assert!((spread / expected - 1.0).abs() < 0.05, "{spread} for {expected} of {antennas}");
            if k == 0.0 {
                // Fades of 10 dB: 1 - exp(-x) sum_{i < N} x^i / i! with x = N / 10.
                let x = 0.1 * n;
                let (mut term, mut sum) = (1.0, 0.0);
                for i in 0..antennas {
                    sum += term;
                    term *= x / f64::from(i + 1);
                }
                let expected = 1.0 - libm::exp(-x) * sum;
                assert!((low - expected).abs() < 0.002 + 0.1 * expected, "{low} for {expected} of {antennas}");
            }
        }
    }

    #[test]
    fn a_wide_band_fades_less_than_one_point_of_it() {
        let mut fading = Fading::new(20.0, at(30.0), Stream::new(1, 0, "fading"));
        let snrs: Vec<_> = (0..20_000).map(|ms| fading.snr_db(Instant::from_millis(ms))).collect();
        let lowest = snrs.iter().copied().fold(f64::MAX, f64::min);
        let mean = snrs.iter().sum::<f64>() / snrs.len() as f64;
        assert!(lowest > 0.0, "{lowest}");
        // Averaging capacity costs some dB of the mean SNR (Jensen), never gains.
        assert!((15.0..20.0).contains(&mean), "{mean}");
    }
}
