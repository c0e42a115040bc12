//! Statistics of headlines: ranks, slopes, and intervals of values that may be zero in a seed.

use tidemark_study::statistics::Estimate;

/// Gives Spearman's rank correlation of two columns, with mean ranks for ties; `None` if one is constant or has fewer than two values.
pub(crate) fn spearman(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (ranks(a), ranks(b));
    let (ab, aa, bb) = (products(&a, &b)?, products(&a, &a)?, products(&b, &b)?);
    (aa > 0.0 && bb > 0.0).then(|| ab / (aa * bb).sqrt())
}

/// Gives the slope of the least-squares line of `y` on `x`; `None` if `x` is constant or has fewer than two values.
pub(super) fn slope(x: &[f64], y: &[f64]) -> Option<f64> {
    let (xy, xx) = (products(x, y)?, products(x, x)?);
    (xx > 0.0).then(|| xy / xx)
}

/// Estimates a figure over all seeds by leaving out each seed in turn (jackknife). `figure` takes the seeds' indices. For a mean this is
/// Student's interval. `None` if the figure has no value without some seed.
pub(super) fn jackknife(count: usize, figure: &dyn Fn(&[usize]) -> Option<f64>) -> Option<Estimate> {
    let all: Vec<_> = (0..count).collect();
    let whole = figure(&all).filter(|value| value.is_finite())?;
    if count < 2 {
        return Some(Estimate { mean: whole, half: None, count });
    }
    let without = |left_out: &usize| {
        let rest: Vec<_> = all.iter().copied().filter(|seed| seed != left_out).collect();
        let value = figure(&rest).filter(|value| value.is_finite())?;
        Some(count as f64 * whole - (count - 1) as f64 * value)
    };
    let spread = Estimate::of(&all.iter().map(without).collect::<Option<Vec<_>>>()?)?;
    Some(Estimate { mean: whole, ..spread })
}

/// Ranks from 1; equal values get the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal + 1) as f64 / 2.0
    };
    values.iter().map(rank).collect()
}

/// Sum of the products of two columns' distances from their means.
fn products(a: &[f64], b: &[f64]) -> Option<f64> {
    if a.len() != b.len() || a.len() < 2 {
        return None;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (of_a, of_b) = (mean(a), mean(b));
    Some(a.iter().zip(b).map(|(a, b)| (a - of_a) * (b - of_b)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_a_table_worked_by_hand() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 7.0]), [2.5, 1.0, 2.5, 4.0]);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 90.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[9.0, 2.0, 1.0]), Some(-1.0));
        // 1 - 6 (0 + 1 + 1) / (3 * 8).
        assert!((spearman(&[1.0, 2.0, 3.0], &[1.0, 3.0, 2.0]).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0; 3]), None, "a flat column has no rank");
        assert_eq!(spearman(&[1.0], &[1.0]), None);
    }

    #[test]
    fn slopes_are_those_of_least_squares() {
        assert_eq!(slope(&[0.0, 1.0, 2.0], &[1.0, 3.0, 5.0]), Some(2.0));
        // Means 1 and 4/3: (-1 * -4/3 + 1 * 5/3) / 2.
        assert!((slope(&[0.0, 1.0, 2.0], &[0.0, 1.0, 3.0]).unwrap() - 1.5).abs() < 1e-12);
        assert_eq!(slope(&[1.0, 1.0], &[0.0, 1.0]), None);
    }

    #[test]
    fn a_jackknife_of_a_mean_has_students_interval() {
        let values: [f64; 5] = [21.25, 20.63, 21.08, 22.03, 20.4];
        let mean = |of: &[usize]| Some(of.iter().map(|seed| values[*seed]).sum::<f64>() / of.len() as f64);
        let (ours, students) = (jackknife(5, &mean).unwrap(), Estimate::of(&values).unwrap());
        assert!((ours.mean - students.mean).abs() < 1e-9 && (ours.half.unwrap() - students.half.unwrap()).abs() < 1e-9);
        assert_eq!(jackknife(5, &|of| (of.len() == 5).then_some(1.0)), None);
        assert_eq!(jackknife(1, &|_| Some(1.0)).unwrap().half, None);
    }
}
