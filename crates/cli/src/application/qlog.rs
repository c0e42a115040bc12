//! Figures of a qlog's QUIC recovery events, as one JSON value or a sequence of them (`.sqlog`, RFC 7464).

use serde_json::Value;

use super::Series;

/// End of the names of events with figures, in any namespace.
const EVENT: &str = "metrics_updated";
/// Separator of records (RFC 7464 2.2).
const RECORD_SEPARATOR: char = '\u{1e}';
/// Fields of the event: field, name of the figure, unit, and the number of field units in that unit.
const FIGURES: [(&str, &str, &str, f64); 4] = [
    ("latest_rtt", "round trip", "ms", 1.0),
    ("smoothed_rtt", "smoothed round trip", "ms", 1.0),
    ("congestion_window", "window", "kB", 1e3),
    ("bytes_in_flight", "in flight", "kB", 1e3),
];

/// Reads the figures; `None` for another format.
pub(super) fn read(text: &str) -> Option<Vec<Series>> {
    let (fields, events) = events(text)?;
    let is_relative = fields["time_format"] == "relative_to_previous_event" || fields["time_format"] == "delta";
    let mut now = 0.0;
    let mut first = None;
    let mut series =
        FIGURES.map(|(_, figure, unit, _)| Series { name: format!("qlog: {figure}"), unit, points: Vec::new() });
    for event in &events {
        let time = event["time"].as_f64()?;
        now = if is_relative { now + time } else { time };
        // An epoch tells when the clock was set, not when the application started.
        let at = (now - *first.get_or_insert(now)) / 1e3;
        if event["name"].as_str().is_some_and(|name| name.ends_with(EVENT)) {
            for ((field, _, _, scale), series) in FIGURES.iter().zip(&mut series) {
                series.points.extend(event["data"][field].as_f64().map(|value| (at, value / scale)));
            }
        }
    }
    Some(series.into_iter().filter(|series| !series.points.is_empty()).collect())
}

/// The fields common to all events, and the events of the first trace.
fn events(text: &str) -> Option<(Value, Vec<Value>)> {
    if let Ok(mut file) = serde_json::from_str::<Value>(text) {
        let trace = file.get_mut("traces")?.get_mut(0)?;
        let events = trace.get_mut("events")?.as_array_mut().map(std::mem::take)?;
        return Some((trace["common_fields"].take(), events));
    }
    let records = text.split([RECORD_SEPARATOR, '\n']).map(str::trim).filter(|record| !record.is_empty());
    let mut records = records.map_while(|record| serde_json::from_str::<Value>(record).ok());
    let mut head = records.next().filter(|head| head.get("trace").is_some())?;
    Some((head["trace"]["common_fields"].take(), records.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UPDATED: &str = r#"{ "time": 1020, "name": "recovery:metrics_updated", "data": { "smoothed_rtt": 21.5, "congestion_window": 14720 } }"#;
    const SENT: &str = r#"{ "time": 1000, "name": "transport:packet_sent", "data": {} }"#;

    #[test]
    fn metrics_have_times_from_the_first_event_on() {
        let whole = format!(
            r#"{{ "qlog_version": "0.3", "traces": [{{ "common_fields": {{}}, "events": [{SENT}, {UPDATED}] }}] }}"#
        );
        let sequence =
            format!("\u{1e}{{ \"qlog_format\": \"JSON-SEQ\", \"trace\": {{}} }}\n\u{1e}{SENT}\n\u{1e}{UPDATED}\n");
        for text in [whole, sequence] {
            let series = read(&text).unwrap();
            assert_eq!(series.len(), 2, "{series:?}");
            assert_eq!(
                (series[0].name.as_str(), &series[0].points[..]),
                ("qlog: smoothed round trip", &[(0.02, 21.5)][..])
            );
            assert_eq!((series[1].unit, &series[1].points[..]), ("kB", &[(0.02, 14.72)][..]));
        }
        let relative = format!(
            r#"{{ "traces": [{{ "common_fields": {{ "time_format": "relative_to_previous_event" }}, "events": [{SENT}, {UPDATED}] }}] }}"#
        );
        assert_eq!(read(&relative).unwrap()[0].points, [(1.02, 21.5)]);
        assert_eq!(read("{\"intervals\": []}"), None);
        assert_eq!(read("no JSON"), None);
    }
}
