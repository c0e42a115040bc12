//! An absolute figure: ours agrees within a relative or an absolute distance, whichever is wider.

use std::fmt::Write as _;

use super::target::Figure;

/// Judges a value: true if ours agrees, and the values that would, in words.
pub(super) fn judge(figure: &Figure, ours: Option<f64>) -> (bool, String) {
    let distance = (figure.within.unwrap_or(0.0) * figure.published.abs()).max(figure.floor.unwrap_or(0.0));
    let (min, max) = (figure.published - distance, figure.published + distance);
    let mut allowed = format!("{min:.2} to {max:.2}");
    let percent = 100.0 * distance / figure.published.abs();
    if percent.is_finite() {
        let _ = write!(allowed, " (± {percent:.0} %)");
    }
    (ours.is_some_and(|ours| (min..=max).contains(&ours)), allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wider_of_both_distances_counts() {
        let figure = |published, within, floor| Figure {
            name: String::new(),
            ours: String::new(),
            published,
            slack: None,
            within: Some(within),
            floor: Some(floor),
        };
        let agrees = |published, within, floor, ours| judge(&figure(published, within, floor), Some(ours)).0;
        assert!(agrees(100.0, 0.25, 3.0, 75.0) && !agrees(100.0, 0.25, 3.0, 74.9));
        assert!(agrees(1.0, 0.25, 3.0, 3.9) && !agrees(1.0, 0.25, 3.0, 4.1));
        assert!(!judge(&figure(1.0, 9.0, 9.0), None).0, "what was not measured does not agree");
        let allowed = |published, within, floor| judge(&figure(published, within, floor), None).1;
        assert_eq!(allowed(10.0, 0.25, 1.0), "7.50 to 12.50 (± 25 %)");
        assert_eq!(allowed(2.0, 0.25, 3.0), "-1.00 to 5.00 (± 150 %)");
        assert_eq!(allowed(0.0, 0.25, 1.0), "-1.00 to 1.00");
    }
}
