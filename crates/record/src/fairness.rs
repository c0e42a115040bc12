//! Fairness among flows (Jain, Chiu and Hawe, 1984).

/// Jain's index of n rates: 1 if all are the same, 1/n if one has everything; `None` if all are zero.
pub fn jain(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum, squares) =
        rates.fold((0u32, 0.0, 0.0), |(n, sum, squares), rate| (n + 1, sum + rate, squares + rate * rate));
    (squares > 0.0).then(|| sum * sum / (f64::from(count) * squares))
}

/// The mean of the index over the intervals in `counted`, as in the aL4S paper. `rates` has a row for each flow, with a
/// value for each interval. A flow takes part from the interval of its first byte to that of its last. `None` if there
/// never were two flows in an interval.
pub fn mean_jain(rates: &[Vec<f64>], counted: std::ops::Range<usize>) -> Option<f64> {
    let lives: Vec<_> = rates
        .iter()
        .filter_map(|row| Some((row, row.iter().position(|r| *r > 0.0)?, row.iter().rposition(|r| *r > 0.0)?)))
        .collect();
    let (mut sum, mut count) = (0.0, 0u32);
    for interval in counted {
        let alive = || lives.iter().filter(|(_, first, last)| (*first..=*last).contains(&interval));
        if alive().count() < 2 {
            continue;
        }
        if let Some(index) = jain(alive().map(|(row, ..)| row[interval])) {
            sum += index;
            count += 1;
        }
    }
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_by_hand() {
        assert_eq!(jain([5.0, 5.0, 5.0].into_iter()), Some(1.0));
        assert_eq!(jain([5.0, 0.0, 0.0, 0.0].into_iter()), Some(0.25));
        // (1 + 3)^2 / (2 (1 + 9)) = 0.8
        assert_eq!(jain([1.0, 3.0].into_iter()), Some(0.8));
        assert_eq!(jain([0.0, 0.0].into_iter()), None);
    }

    #[test]
    fn a_flow_takes_part_while_it_lives() {
        // The second flow lives in the last two of four intervals, and stands still in one.
        let rates = [vec![4.0, 4.0, 4.0, 4.0], vec![0.0, 4.0, 0.0, 4.0]];
        assert_eq!(mean_jain(&rates, 0..4), Some((1.0 + 0.5 + 1.0) / 3.0));
        assert_eq!(mean_jain(&rates, 0..1), None);
    }
}
