//! Intervals over seeds: of a mean, and of a difference between runs that share their seeds.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Share of intervals that contain the true mean.
pub const CONFIDENCE: f64 = 0.95;

/// A mean over seeds with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Arithmetic mean.
    pub mean: f64,
    /// Half-width of the 95 % confidence interval, by Student's t; `None` for one value, which does not show the spread.
    pub half: Option<f64>,
    /// Number of values.
    pub count: usize,
}

impl Estimate {
    /// Estimates the mean of independent values; `None` where there is none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        let half = (count > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let error = (squares / (count - 1) as f64 / count as f64).sqrt();
            // No spread is no interval, whatever its quantile.
            if error == 0.0 { 0.0 } else { error * quantile((count - 1) as f64) }
        });
        Some(Self { mean, half, count })
    }

    /// Estimates the mean of `b - a` over pairs `(a, b)`: the values of one seed share radio and traffic, so that their
    /// difference is far more certain than either value.
    pub fn of_differences(pairs: &[(f64, f64)]) -> Option<Self> {
        Self::of(&pairs.iter().map(|(a, b)| b - a).collect::<Vec<_>>())
    }

    /// Ends of the interval.
    pub fn interval(&self) -> Option<[f64; 2]> {
        self.half.map(|half| [self.mean - half, self.mean + half])
    }

    /// True for a difference that may be zero: its interval contains 0. `None` for a single seed.
    pub fn is_tie(&self) -> Option<bool> {
        self.interval().map(|[low, high]| low <= 0.0 && high >= 0.0)
    }

    /// Half-width as a share of the mean; infinite for a mean of 0 that has an interval.
    pub fn relative(&self) -> Option<f64> {
        self.half.map(|half| if half == 0.0 { 0.0 } else { half / self.mean.abs() })
    }
}

/// Number of standard errors in the half-width, for this many degrees of freedom.
pub fn quantile(freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + CONFIDENCE / 2.0))
}

#[cfg(test)]
mod tests {
    use tidemark_core::Stream;

    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-8 * b.abs().max(1.0)
    }

    /// Values with the ends of the interval that `scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)` gives (scipy 1.17.1).
    #[test]
    fn intervals_are_those_of_scipy() {
        let of: [(&[f64], [f64; 2]); 5] = [
            (&[1.0, 2.0], [-4.853102368087347, 7.853102368087347]),
            (&[21.25, 20.63, 21.08, 22.03, 20.4], [20.293616174724626, 21.862383825275366]),
            (
                &[17.74, 18.12, 17.86, 17.81, 18.3, 18.0, 17.5, 17.9, 18.2, 18.4],
                [17.78567297595824, 18.180327024041755],
            ),
            (&[0.001, 1000.0, 3.5], [-1097.213241586208, 1766.2139082528747]),
            (&[1e9 + 1.0, 1e9 + 2.0, 1e9 + 4.0], [999999998.5387503, 1000000006.1279165]),
        ];
        for (values, [low, high]) in of {
            let interval = Estimate::of(values).unwrap().interval().unwrap();
            assert!(near(interval[0], low) && near(interval[1], high), "{values:?}: {interval:?}");
        }
        // `scipy.stats.ttest_rel(b, a).confidence_interval(0.95)`.
        let (a, b) = ([21.25, 20.63, 21.08, 22.03, 20.4], [21.9, 21.0, 21.6, 22.8, 20.9]);
        let pairs: Vec<_> = a.into_iter().zip(b).collect();
        let interval = Estimate::of_differences(&pairs).unwrap().interval().unwrap();
        assert!(near(interval[0], 0.3721837255363658) && near(interval[1], 0.7518162744636352), "{interval:?}");
        // `scipy.stats.t.ppf(0.975, freedom)`; its error and ours together are far below what an interval shows.
        for (freedom, expected) in [
            (1.0, 12.706204736174694),
            (4.0, 2.7764451051977934),
            (29.0, 2.045229642132703),
            (999.0, 1.9623414611334493),
        ] {
            assert!(near(quantile(freedom), expected), "{freedom}: {}", quantile(freedom));
        }
    }

    #[test]
    fn intervals_of_95_percent_cover_the_mean_in_93_to_97_percent() {
        let mut draws = Stream::new(1, 0, "coverage");
        for count in [2, 3, 5, 10, 30] {
            let covers = |draws: &mut Stream| {
                let values: Vec<_> = (0..count).map(|_| 7.0 + 3.0 * draws.normal()).collect();
                Estimate::of(&values).unwrap().interval().is_some_and(|[low, high]| low <= 7.0 && 7.0 <= high)
            };
            // The share of 4000 has a standard error of 0.34 %.
            let covered = (0..4000).filter(|_| covers(&mut draws)).count() as f64 / 4000.0;
            assert!((0.93..=0.97).contains(&covered), "{count} seeds: {covered}");
            // Of pairs with a large part in common, it is the difference that is covered.
            let covers = |draws: &mut Stream| {
                let pair = |_| {
                    let common = 50.0 * draws.normal();
                    (common + draws.normal(), common + 0.5 + draws.normal())
                };
                let pairs: Vec<_> = (0..count).map(pair).collect();
                Estimate::of_differences(&pairs)
                    .unwrap()
                    .interval()
                    .is_some_and(|[low, high]| low <= 0.5 && 0.5 <= high)
            };
            let covered = (0..4000).filter(|_| covers(&mut draws)).count() as f64 / 4000.0;
            assert!((0.93..=0.97).contains(&covered), "{count} pairs: {covered}");
        }
    }

    #[test]
    fn one_value_has_no_interval_and_none_no_mean() {
        assert_eq!(Estimate::of(&[]), None);
        let one = Estimate::of(&[3.0]).unwrap();
        assert_eq!((one.mean, one.half, one.is_tie(), one.relative()), (3.0, None, None, None));
        let same = Estimate::of(&[2.0, 2.0, 2.0]).unwrap();
        assert_eq!((same.half, same.relative()), (Some(0.0), Some(0.0)));
        assert_eq!(Estimate::of_differences(&[(1.0, 1.0), (2.0, 2.0)]).unwrap().is_tie(), Some(true));
    }

    #[test]
    fn pairs_see_what_two_spreads_hide() {
        let pairs: Vec<_> =
            (0..10).map(|seed| (f64::from(seed), f64::from(seed) + 0.1 + f64::from(seed % 2) * 0.01)).collect();
        let difference = Estimate::of_differences(&pairs).unwrap();
        assert_eq!(difference.is_tie(), Some(false));
        let a = Estimate::of(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>()).unwrap();
        assert!(a.half.unwrap() > 10.0 * difference.half.unwrap());
    }
}
