//! A change between two of our own runs: ours agrees if it goes as far as the published one, less the slack, or further.

use super::target::Figure;

/// Judges a change in percent: true if ours agrees, and the values that would, in words.
pub(super) fn judge(figure: &Figure, ours: Option<f64>) -> (bool, String) {
    let slack = figure.slack.unwrap_or(0.0);
    if figure.published < 0.0 {
        let max = figure.published + slack;
        (ours.is_some_and(|ours| ours <= max), format!("{max:.2} at most"))
    } else {
        let min = figure.published - slack;
        (ours.is_some_and(|ours| ours >= min), format!("{min:.2} at least"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees(published: f64, slack: f64, ours: f64) -> bool {
        let (name, formula) = (String::new(), String::new());
        judge(&Figure { name, ours: formula, published, slack: Some(slack), within: None, floor: None }, Some(ours)).0
    }

    #[test]
    fn further_than_published_always_agrees() {
        assert!(agrees(-90.0, 2.0, -88.0) && agrees(-90.0, 2.0, -99.0) && !agrees(-90.0, 2.0, -87.9));
        assert!(agrees(148.0, 148.0, 0.0) && agrees(148.0, 148.0, 400.0) && !agrees(148.0, 148.0, -1.0));
    }
}
