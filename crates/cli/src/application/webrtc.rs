//! Figures of a dump of Chromium's `chrome://webrtc-internals`: one value a second for each statistic (W3C webrtc-stats).

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::Series;

/// Seconds between two values.
const INTERVAL: f64 = 1.0;
/// Statistics: kind of object, name, name of the figure, unit, and factor to that unit.
const FIGURES: [(&str, &str, &str, &str, f64); 9] = [
    ("candidate-pair", "currentRoundTripTime", "round trip", "ms", 1e3),
    ("candidate-pair", "availableOutgoingBitrate", "estimated rate", "Mbit/s", 1e-6),
    ("outbound-rtp", "targetBitrate", "target rate", "Mbit/s", 1e-6),
    ("outbound-rtp", "[bytesSent_in_bits/s]", "sent rate", "Mbit/s", 1e-6),
    ("outbound-rtp", "framesPerSecond", "sent frames", "1/s", 1.0),
    ("inbound-rtp", "[bytesReceived_in_bits/s]", "received rate", "Mbit/s", 1e-6),
    ("inbound-rtp", "framesPerSecond", "shown frames", "1/s", 1.0),
    ("inbound-rtp", "[jitterBufferDelay/jitterBufferEmittedCount_in_ms]", "jitter buffer", "ms", 1.0),
    ("inbound-rtp", "freezeCount", "picture stood still", "freezes", 1.0),
];

/// Reads the figures; `None` for another format.
pub(super) fn read(text: &str) -> Option<Vec<Series>> {
    let dump: Value = serde_json::from_str(text).ok()?;
    let connections = dump.get("PeerConnections")?.as_object()?;
    let statistics = connections.values().filter_map(|connection| connection["stats"].as_object()).flatten();
    let found: Vec<_> = statistics.filter_map(|(name, of)| figure(name, of)).collect();
    let first = found.iter().map(|(began, _)| *began).min()?;
    let on_one_axis = found.into_iter().map(|(began, mut series)| {
        series.points.iter_mut().for_each(|(at, _)| *at += (began - first).as_seconds_f64());
        series
    });
    Some(on_one_axis.filter(|series| !series.points.is_empty()).collect())
}

/// Start of a statistic, and its values with times since then; `None` for a statistic that is not listed.
fn figure(name: &str, of: &Value) -> Option<(OffsetDateTime, Series)> {
    let (object, statistic) = name.rsplit_once('-')?;
    let kind = of["statsType"].as_str()?;
    let (.., figure, unit, scale) = FIGURES.iter().find(|(of, named, ..)| (*of, *named) == (kind, statistic))?;
    let began = OffsetDateTime::parse(of["startTime"].as_str()?, &Rfc3339).ok()?;
    // The values are a string with JSON inside.
    let values: Vec<Value> = serde_json::from_str(of["values"].as_str()?).ok()?;
    let points = values.iter().enumerate();
    let points = points.filter_map(|(index, value)| Some((index as f64 * INTERVAL, value.as_f64()? * scale))).collect();
    Some((began, Series { name: format!("WebRTC {object}: {figure}"), unit, points }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_stand_on_one_axis_a_value_a_second() {
        let dump = r#"{ "PeerConnections": { "7-1": { "stats": {
            "CP1-currentRoundTripTime": { "startTime": "2026-01-02T03:04:05.000Z", "endTime": "2026-01-02T03:04:07.000Z",
                "statsType": "candidate-pair", "values": "[0.04, null, 0.05]" },
            "IT-1-framesPerSecond": { "startTime": "2026-01-02T03:04:06.500Z", "statsType": "inbound-rtp", "values": "[30]" },
            "IT-1-mimeType": { "startTime": "2026-01-02T03:04:06.500Z", "statsType": "inbound-rtp", "values": "[\"VP8\"]" }
        } } } }"#;
        let mut series = read(dump).unwrap();
        series.sort_by(|a, b| a.name.cmp(&b.name));
        let shown: Vec<_> = series.iter().map(|of| (of.name.as_str(), of.unit, &of.points[..])).collect();
        assert_eq!(
            shown,
            [
                ("WebRTC CP1: round trip", "ms", &[(0.0, 40.0), (2.0, 50.0)][..]),
                ("WebRTC IT-1: shown frames", "1/s", &[(1.5, 30.0)][..]),
            ]
        );
        assert_eq!(read(r#"{ "traces": [] }"#), None);
        assert_eq!(read("no JSON"), None);
    }
}
