//! Figures of `iperf3 --json`: one point per stream and interval, at the interval's middle.

use serde::Deserialize;

use super::Series;

#[derive(Deserialize)]
struct File {
    intervals: Vec<Interval>,
}

#[derive(Deserialize)]
struct Interval {
    streams: Vec<Stream>,
}

/// A stream in one interval. A receiver knows no window; a UDP stream has no round trip.
#[derive(Deserialize)]
struct Stream {
    socket: u32,
    start: f64,
    end: f64,
    bits_per_second: f64,
    /// Congestion window in bytes.
    snd_cwnd: Option<f64>,
    /// Smoothed round-trip time in microseconds.
    rtt: Option<f64>,
}

/// Value of a figure, in the figure's unit.
type Figure = fn(&Stream) -> Option<f64>;

/// Figures of a stream with their units.
const FIGURES: [(&str, &str, Figure); 3] = [
    ("rate", "Mbit/s", |stream| Some(stream.bits_per_second / 1e6)),
    ("round trip", "ms", |stream| stream.rtt.map(|rtt| rtt / 1e3)),
    ("window", "kB", |stream| stream.snd_cwnd.map(|window| window / 1e3)),
];

/// Reads the figures; `None` for another format.
pub(super) fn read(text: &str) -> Option<Vec<Series>> {
    let File { intervals } = serde_json::from_str(text).ok()?;
    let streams: Vec<_> = intervals.iter().flat_map(|interval| &interval.streams).collect();
    let mut sockets: Vec<_> = streams.iter().map(|stream| stream.socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    let series = (1..).zip(&sockets).flat_map(|(number, socket)| {
        let own: Vec<_> = streams.iter().filter(|stream| stream.socket == *socket).collect();
        FIGURES.map(|(figure, unit, value)| {
            let point = |stream: &&&Stream| Some(((stream.start + stream.end) / 2.0, value(stream)?));
            Series { name: format!("iperf3 #{number}: {figure}"), unit, points: own.iter().filter_map(point).collect() }
        })
    });
    Some(series.filter(|series| !series.points.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_senders_streams_have_rate_round_trip_and_window() {
        let text = r#"{ "start": {}, "intervals": [
            { "streams": [{ "socket": 5, "start": 0, "end": 1.0, "bits_per_second": 2e7, "snd_cwnd": 43440, "rtt": 25000 }] },
            { "streams": [{ "socket": 5, "start": 1.0, "end": 2.0, "bits_per_second": 3e7, "snd_cwnd": 57920, "rtt": 30000 }] }
        ] }"#;
        let series = read(text).unwrap();
        let names: Vec<_> = series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["iperf3 #1: rate", "iperf3 #1: round trip", "iperf3 #1: window"]);
        assert_eq!(series[0].points, [(0.5, 20.0), (1.5, 30.0)]);
        assert_eq!((series[1].points[1], series[2].points[0]), ((1.5, 30.0), (0.5, 43.44)));
        assert_eq!(read("{\"traces\": []}"), None);
    }
}
