//! Times in the forms that data sets use: numbers since an epoch, calendar times, times of a day.

use tidemark_core::Duration;

/// Accepted forms, for error messages.
pub(super) const FORMS: &str =
    "seconds or milliseconds, 2021-01-15 21:51:47, 2019.12.16_14.23.32, Wed Dec 15 16:05:11 UTC 2021 or 21:51:47";

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The time in a text, counted from the epoch of its form. `nanos` is the unit of a number, if known.
pub(super) fn parse(text: &str, nanos: Option<u64>) -> Option<Duration> {
    number(text, nanos).or_else(|| calendar(text)).or_else(|| dated(text)).or_else(|| time_of_day(text))
}

/// Nanoseconds of the unit at the end of a heading: `time_ms`, `Time(s)`.
pub(super) fn unit_of(heading: &str) -> Option<u64> {
    let heading = heading.to_ascii_lowercase();
    let last = heading.split(|c: char| !c.is_ascii_alphanumeric()).rfind(|word| !word.is_empty())?;
    match last {
        "ns" => Some(1),
        "us" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" | "sec" | "seconds" => Some(1_000_000_000),
        _ => None,
    }
}

/// A number in units of `nanos`. If the unit is not known, the size of the number decides. For the years 1973 to 5138, times since
/// 1970 in seconds, milliseconds, microseconds and nanoseconds have different sizes. A smaller number counts from the start of a
/// measurement.
fn number(text: &str, nanos: Option<u64>) -> Option<Duration> {
    let value: f64 = text.parse().ok().filter(|value: &f64| (0.0..1.8e19).contains(value))?;
    let nanos = nanos.unwrap_or(match value {
        ..1e11 => 1_000_000_000,
        ..1e14 => 1_000_000,
        ..1e17 => 1_000,
        _ => 1,
    });
    match text.parse::<u64>() {
        Ok(whole) => whole.checked_mul(nanos).map(Duration::from_nanos),
        Err(_) => {
            Some(value * nanos as f64).filter(|value| *value < 1.8e19).map(|value| Duration::from_nanos(value as u64))
        }
    }
}

/// `2021-01-15 21:51:47.5+01:00` (ISO 8601), or with other separators, `2019.12.16_14.23.32`.
fn calendar(text: &str) -> Option<Duration> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' ', '_'])?;
    let [year, month, day] = numbers(date, &['-', '/', '.'])?[..] else { return None };
    let end = rest.find(|c: char| !c.is_ascii_digit() && !":.,".contains(c)).unwrap_or(rest.len());
    let (clock, zone) = rest.split_at(end);
    if !(1970..=2100).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days since 1 March 1600 by the civil calendar: only differences matter.
    let (year, month) = if month > 2 { (year - 1600, month - 3) } else { (year - 1601, month + 9) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day;
    let local = Duration::from_secs(days * 86_400) + time_of_day(clock)?;
    match zone.trim() {
        "" | "Z" | "z" | "UTC" | "GMT" => Some(local),
        offset => {
            let (is_east, digits) = match offset.split_at_checked(1)? {
                ("+", digits) => (true, digits.replace(':', "")),
                ("-", digits) => (false, digits.replace(':', "")),
                _ => return None,
            };
            let value: u64 = digits.parse().ok().filter(|_| digits.len() == 2 || digits.len() == 4)?;
            let minutes = if digits.len() == 2 { value * 60 } else { value / 100 * 60 + value % 100 };
            let offset = Duration::from_secs(minutes * 60);
            Some(if is_east { local.saturating_sub(offset) } else { local + offset })
        }
    }
}

/// `Wed Dec 15 16:05:11 UTC 2021`, the output of `date`, with or without a zone.
fn dated(text: &str) -> Option<Duration> {
    let words: Vec<_> = text.split_ascii_whitespace().collect();
    let (month, day, clock, zone, year) = match words[..] {
        [_, month, day, clock, zone, year] => (month, day, clock, zone, year),
        [_, month, day, clock, year] => (month, day, clock, "", year),
        _ => return None,
    };
    let month = 1 + MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))?;
    let day: u32 = day.parse().ok()?;
    // All rows of a file have one zone: where it is not UTC's its name changes no difference.
    let zone = if zone.starts_with(['+', '-']) { zone } else { "" };
    calendar(&format!("{year}-{month:02}-{day:02} {clock}{zone}"))
}

/// `21:51:47`, or with a fraction of a second, `21:51:47.25`.
fn time_of_day(text: &str) -> Option<Duration> {
    let parts: Vec<_> = text.split([':', '.', ',']).collect();
    let (whole, fraction) = parts.split_at_checked(3)?;
    let [hour, minute, second] = whole.iter().map(|part| part.parse::<u64>().ok()).collect::<Option<Vec<_>>>()?[..]
    else {
        return None;
    };
    let nanos = match fraction {
        [] => 0,
        [digits] if (1..=9).contains(&digits.len()) => digits.parse::<u64>().ok()? * 10u64.pow(9 - digits.len() as u32),
        _ => return None,
    };
    let fits = hour < 24 && minute < 60 && second <= 60;
    fits.then(|| Duration::from_secs((hour * 60 + minute) * 60 + second) + Duration::from_nanos(nanos))
}

fn numbers(text: &str, separators: &[char]) -> Option<Vec<u64>> {
    text.split(separators).map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_says_the_same_time() {
        let at = parse("2019.12.16_14.23.32", None).unwrap();
        for text in [
            "2019-12-16 14:23:32",
            "2019-12-16T14:23:32Z",
            "2019/12/16 14:23:32.000",
            "2019-12-16 15:23:32+01:00",
            "2019-12-16T08:53:32-0530",
            "2019-12-16 14:23:32 UTC",
            "Mon Dec 16 14:23:32 UTC 2019",
            "Mon Dec 16 14:23:32 2019",
        ] {
            assert_eq!(parse(text, None), Some(at), "{text}");
        }
        assert_eq!(parse("2020-01-01 00:00:00.25", None).unwrap() - parse("2019-12-31 23:59:59", None).unwrap(), {
            Duration::from_millis(1_250)
        });
        assert_eq!(parse("23:59:59.5", None), Some(Duration::from_millis(86_399_500)));
    }

    #[test]
    fn the_size_of_a_number_or_its_heading_gives_its_unit() {
        let seconds = Duration::from_secs(1_607_598_734);
        for text in ["1607598734", "1607598734000", "1607598734000000", "1607598734000000000", "1607598734.0"] {
            assert_eq!(parse(text, None), Some(seconds), "{text}");
        }
        assert_eq!(parse("1500", None), Some(Duration::from_secs(1_500)));
        assert_eq!(parse("1500", unit_of("Time (ms)")), Some(Duration::from_millis(1_500)));
        assert_eq!(
            ["time_s", "timestamp_ms", "t", "timestamp"].map(unit_of),
            [Some(1_000_000_000), Some(1_000_000), None, None]
        );
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "x",
            "-1",
            "nan",
            "2019-13-16 14:23:32",
            "2019-12-16",
            "2019-12-16 24:00:00",
            "14:23",
            "é019.12.16_14.23.32",
            "2019-12-16 14:23:32+1",
            "99999999999999999999",
            "Mon Foo 16 14:23:32 2019",
        ] {
            assert_eq!(parse(text, None), None, "{text}");
        }
    }
}
