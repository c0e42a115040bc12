//! Claims about our own runs, judged by intervals over seeds.
//!
//! The interval of the difference, paired by seed, decides an order between two runs: on one side of zero the order holds, on the other
//! it is reversed, and across zero it is a tie. The mean decides a bound on a figure. A chain of orders with `<=` or `>=` holds if no
//! step is reversed and its ends differ.

use tidemark_study::statistics::Estimate;

use super::expression::{Comparison, Order};
use super::verdict::Verdict;

/// A judged claim.
#[derive(Debug, PartialEq)]
pub(super) struct Judged {
    /// Verdict on the claim.
    pub verdict: Verdict,
    /// True if other seeds may change the verdict: a bound lies within the figure's interval, or the difference of two runs is
    /// smaller than the width of its interval.
    pub is_near: bool,
}

/// State of one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Holds,
    Tie,
    Reversed,
}

/// Judges a claim by the values of its sides, each a list over seeds; `None` if a value was not measured.
pub(super) fn judge(claim: &Comparison, values: &[Vec<Option<f64>>]) -> Judged {
    let mut steps = Vec::new();
    let mut is_near = false;
    for (index, order) in claim.orders.iter().enumerate() {
        let Some(margin) = margin(*order, &values[index], &values[index + 1]) else {
            return Judged { verdict: Verdict::Missed, is_near: false };
        };
        let is_bound = claim.values[index].is_constant() || claim.values[index + 1].is_constant();
        if is_bound {
            is_near |= margin.half.is_some_and(|half| margin.mean.abs() < half);
            steps.push(of_mean(*order, margin.mean));
        } else {
            // Moved by half of its interval, the difference would be decided otherwise.
            is_near |= margin.half.is_some_and(|half| margin.mean.abs() < 2.0 * half);
            steps.push(of_interval(*order, &margin));
        }
    }
    let verdict = if steps.contains(&Step::Reversed) {
        Verdict::Missed
    } else if !steps.contains(&Step::Tie) || rises_as_a_whole(claim, values) {
        Verdict::Agrees
    } else {
        Verdict::Tie
    };
    Judged { verdict, is_near }
}

/// Margin by which an order holds: the mean of the right side minus the left side, or the reverse for a falling order.
fn margin(order: Order, left: &[Option<f64>], right: &[Option<f64>]) -> Option<Estimate> {
    let pairs: Option<Vec<_>> = left.iter().zip(right).map(|(left, right)| Some(((*left)?, (*right)?))).collect();
    let pairs = pairs?;
    Estimate::of_differences(&if order.rises() {
        pairs
    } else {
        pairs.into_iter().map(|(left, right)| (right, left)).collect()
    })
}

fn of_mean(order: Order, margin: f64) -> Step {
    if margin > 0.0 || margin == 0.0 && order.allows_equal() { Step::Holds } else { Step::Reversed }
}

fn of_interval(order: Order, margin: &Estimate) -> Step {
    // One seed has no interval: its values are what there is.
    let [low, high] = margin.interval().unwrap_or([margin.mean; 2]);
    if low > 0.0 || low == 0.0 && high == 0.0 && order.allows_equal() {
        Step::Holds
    } else if high < 0.0 {
        Step::Reversed
    } else {
        Step::Tie
    }
}

/// True for a chain of several `<=`, or of several `>=`, whose ends differ.
fn rises_as_a_whole(claim: &Comparison, values: &[Vec<Option<f64>>]) -> bool {
    let [first, .., last] = claim.orders.as_slice() else { return false };
    let is_chain = claim.orders.iter().all(|order| order == first && order.allows_equal());
    let ends = values.first().zip(values.last());
    let margin = ends.and_then(|(left, right)| margin(*last, left, right));
    is_chain && margin.is_some_and(|margin| of_interval(*first, &margin) == Step::Holds)
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Agrees, Missed, Tie};
    use super::*;

    fn judged(claim: &str, values: &[&[f64]]) -> (Verdict, bool) {
        let values: Vec<Vec<_>> = values.iter().map(|seeds| seeds.iter().copied().map(Some).collect()).collect();
        let judged = judge(&Comparison::parse(claim).unwrap(), &values);
        (judged.verdict, judged.is_near)
    }

    #[test]
    fn an_order_between_runs_is_decided_by_their_differences() {
        let [low, high] = [&[1.0, 5.0, 9.0][..], &[2.0, 6.1, 9.9]];
        assert_eq!(judged("a[x] < a[y]", &[low, high]), (Agrees, false));
        assert_eq!(judged("a[x] > a[y]", &[low, high]), (Missed, false));
        assert_eq!(judged("a[x] >= a[y]", &[high, low]), (Agrees, false));
        let close = &[1.3, 5.2, 9.3][..];
        assert_eq!(judged("a[x] < a[y]", &[low, close]), (Agrees, true));
        assert_eq!(judged("a[x] > a[y]", &[low, close]), (Missed, true));
        let noisy = &[1.3, 4.9, 9.3][..];
        assert_eq!(judged("a[x] < a[y]", &[low, noisy]), (Tie, true));
        assert_eq!(judged("a[x] > a[y]", &[low, noisy]), (Tie, true));
        assert_eq!(judged("a[x] < a[y]", &[low, low]), (Tie, false));
        assert_eq!(judged("a[x] <= a[y]", &[low, low]), (Agrees, false));
    }

    #[test]
    fn a_bound_is_decided_by_the_mean_and_may_be_near() {
        assert_eq!(judged("a[x] < 10", &[&[8.0, 9.0, 8.5], &[10.0; 3]]), (Agrees, false));
        assert_eq!(judged("a[x] < 10", &[&[8.0, 11.0, 8.5], &[10.0; 3]]), (Agrees, true));
        assert_eq!(judged("a[x] < 10", &[&[8.0, 14.0, 9.0], &[10.0; 3]]), (Missed, true));
        assert_eq!(judged("a[x] <= 0", &[&[0.0; 3], &[0.0; 3]]), (Agrees, false));
        assert_eq!(judged("1 <= a[x] <= 2", &[&[1.0], &[1.5], &[2.0]]), (Agrees, false));
    }

    #[test]
    fn a_single_seed_is_taken_as_it_is() {
        assert_eq!(judged("a[x] < a[y]", &[&[1.0], &[2.0]]), (Agrees, false));
        assert_eq!(judged("a[x] < a[y]", &[&[2.0], &[1.0]]), (Missed, false));
        assert_eq!(judged("a[x] < a[y]", &[&[2.0], &[2.0]]), (Tie, false));
    }

    #[test]
    fn a_chain_that_equal_values_meet_needs_ends_that_are_apart() {
        let (a, b, c) = (&[1.0, 5.0, 9.0][..], &[1.1, 4.9, 9.05][..], &[2.0, 6.1, 9.9][..]);
        assert_eq!(judged("m[a] <= m[b] <= m[c]", &[a, b, c]), (Agrees, true));
        assert_eq!(judged("m[a] < m[b] < m[c]", &[a, b, c]), (Tie, true));
        assert_eq!(judged("m[a] <= m[c] <= m[b]", &[a, c, b]), (Missed, false));
        assert_eq!(judged("m[b] <= m[a]", &[b, a]), (Tie, true));
    }

    #[test]
    fn nothing_measured_is_a_miss() {
        let claim = Comparison::parse("m[a] < m[b]").unwrap();
        assert_eq!(judge(&claim, &[vec![None], vec![Some(1.0)]]).verdict, Missed);
        assert_eq!(judge(&claim, &[vec![], vec![]]).verdict, Missed);
    }
}
