//! Web browsing after 3GPP's model: pages of a main object and embedded ones, with reading times between them.
//!
//! Object sizes are log-normal and cut, as in 3GPP's evaluation of HTTP traffic (and not normal, as they
//! are sometimes quoted: with these deviations most of a normal distribution would be negative).
//!
//! A page's load time runs from the writing of its main object to the acknowledgement of its last byte. The user waits
//! equally long: the request takes as long on its way up as the acknowledgement does.

use std::collections::VecDeque;

use tidemark_core::{Bounded, Bytes, ConfigError, Duration, Instant, Range, Stream, bounds};

use super::on_off::log_normal;
use super::{Source, check_times};
use crate::endpoint::Completion;

/// Mean, standard deviation, least and largest size of the main object in bytes.
const MAIN: (f64, f64, f64, f64) = (10_710.0, 25_032.0, 100.0, 2e6);
/// Size of an embedded object, likewise.
const EMBEDDED: (f64, f64, f64, f64) = (7_758.0, 126_168.0, 50.0, 2e6);
/// Mean time in which a page's main object is parsed.
const PARSING: f64 = 0.13;

/// Pages under way at most; the oldest is forgotten.
const MAX_PAGES: usize = 64;

/// Web browsing.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WebConfig {
    /// Time at which the first page is requested, from the start of the run. Default 0 s.
    pub start: Duration,
    /// Time from which no further page is requested. Default: never.
    pub stop: Option<Duration>,
    /// Mean time from the end of one page to the next. Default 30 s.
    pub reading: Duration,
    /// Longest reading time, to which longer draws are cut. Default: none.
    pub longest_reading: Option<Duration>,
    /// Embedded objects of a page. Default: 3GPP's, 5.64 in the mean.
    pub objects: ObjectsConfig,
}

impl Default for WebConfig {
    fn default() -> Self {
        Self {
            start: Duration::ZERO,
            stop: None,
            reading: Duration::from_secs(30),
            longest_reading: None,
            objects: ObjectsConfig::default(),
        }
    }
}

impl WebConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        check_times(self.start, self.stop)?;
        self.objects.validate().map_err(|error| error.within("objects"))
    }
}

/// Number of a page's embedded objects: a draw from a Pareto distribution that is cut, less a constant.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<ObjectsConfig>))]
pub struct ObjectsConfig {
    /// Shape of the distribution. Default 1.1.
    pub shape: f64,
    /// Smallest draw, the distribution's location. Default 2.
    pub min: u32,
    /// Largest draw, to which larger ones are cut. Default 55.
    pub max: u32,
    /// Number that is subtracted from each draw. Default 2, so that a page may have no embedded object.
    pub less: u32,
}

impl Default for ObjectsConfig {
    fn default() -> Self {
        Self { shape: 1.1, min: 2, max: 55, less: 2 }
    }
}

bounds! { ObjectsConfig {
    shape: Range::above(0.0).and_at_most(100.0),
    min: Range::at_least(1u32).unit("objects"),
    max: Range::at_most(10_000u32).unit("objects"),
    ..less
} }

impl ObjectsConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        if self.max < self.min {
            return Err(ConfigError::new("max", format!("must be at least min, {}", self.min)).found(self.max));
        }
        if self.less > self.min {
            return Err(ConfigError::new("less", format!("must be at most min, {}", self.min)).found(self.less));
        }
        Ok(())
    }

    /// Draws the number of a page's objects. Rounded to the nearest, so that the mean stays.
    fn draw(&self, stream: &mut Stream) -> u64 {
        let draw = f64::from(self.min) * libm::exp(stream.exponential() / self.shape);
        libm::round(draw.min(f64::from(self.max)) - f64::from(self.less)) as u64
    }
}

/// A page under way.
#[derive(Clone, Copy, Debug)]
struct Page {
    number: u64,
    written: Instant,
    /// First byte of the page, and the one after the last where that is known already.
    first: u64,
    end: Option<u64>,
}

/// Writes pages.
#[derive(Clone, Debug)]
pub struct Web {
    config: WebConfig,
    stream: Stream,
    written: u64,
    /// Size of the next part, and its time if the one before is taken.
    next: (u64, Option<Instant>),
    /// The next part is embedded objects.
    embedded_next: bool,
    /// Pages written so far, those under way, and those that have arrived.
    pages: u64,
    under_way: VecDeque<Page>,
    arrived: VecDeque<Completion>,
}

impl Web {
    /// The source that `config` describes.
    pub fn new(config: &WebConfig, mut stream: Stream) -> Self {
        let main = size(&mut stream, MAIN);
        let start = Instant::ZERO + config.start;
        Self {
            config: config.clone(),
            stream,
            written: 0,
            next: (main, Some(start)),
            embedded_next: true,
            pages: 0,
            under_way: VecDeque::new(),
            arrived: VecDeque::new(),
        }
    }

    /// The part after the one that was just written, and how long after that is taken it comes.
    fn draw_next(&mut self) -> (u64, f64) {
        self.embedded_next = !self.embedded_next;
        if self.embedded_next {
            let longest = self.config.longest_reading.map_or(f64::INFINITY, |longest| longest.as_secs_f64());
            let reading = (self.config.reading.as_secs_f64() * self.stream.exponential()).min(longest);
            return (size(&mut self.stream, MAIN), reading);
        }
        let bytes = (0..self.config.objects.draw(&mut self.stream)).map(|_| size(&mut self.stream, EMBEDDED)).sum();
        if let Some(page) = self.under_way.back_mut() {
            page.end = Some(self.written + bytes);
        }
        (bytes, PARSING * self.stream.exponential())
    }
}

fn size(stream: &mut Stream, (mean, deviation, min, max): (f64, f64, f64, f64)) -> u64 {
    loop {
        let draw = log_normal(stream, mean, deviation);
        if (min..=max).contains(&draw) {
            return draw as u64;
        }
    }
}

impl Source for Web {
    fn start(&self) -> Instant {
        Instant::ZERO + self.config.start
    }
    fn available(&mut self, now: Instant, taken: Bytes) -> Bytes {
        while let Some(at) = self.next.1.filter(|at| *at <= now) {
            let stop = self.config.stop.map_or(Instant::FAR, |stop| Instant::ZERO + stop);
            if at >= stop {
                break;
            }
            if self.embedded_next {
                self.pages += 1;
                self.under_way.push_back(Page { number: self.pages, written: at, first: self.written, end: None });
                if self.under_way.len() > MAX_PAGES {
                    self.under_way.pop_front();
                }
            }
            self.written += self.next.0;
            self.next = (0, None);
        }
        if self.next.1.is_none() && taken.0 >= self.written {
            let (bytes, wait) = self.draw_next();
            // Later than now, which has been looked at.
            let wait = Duration::from_secs_f64(wait).max(Duration::from_nanos(1));
            self.next = (bytes, Some(now + wait));
        }
        Bytes(self.written) - taken
    }
    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let stop = self.config.stop.map_or(Instant::FAR, |stop| Instant::ZERO + stop);
        self.next.1.filter(|at| *at < stop).map(|at| at.max(now))
    }
    fn on_acknowledged(&mut self, now: Instant, bytes: Bytes) {
        while let Some((page, end)) = self.under_way.front().and_then(|page| Some((*page, page.end?)))
            && end <= bytes.0
        {
            self.under_way.pop_front();
            let (size, started) = (Bytes(end - page.first), page.written);
            let duration = now.since(started);
            self.arrived.push_back(Completion { number: page.number, size, started, duration });
        }
        self.arrived.truncate(MAX_PAGES);
    }
    fn take_completion(&mut self) -> Option<Completion> {
        self.arrived.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log-normal's mean between two limits, in terms of the error function.
    fn cut_mean((mean, deviation, min, max): (f64, f64, f64, f64)) -> f64 {
        let variance = libm::log(1.0 + deviation * deviation / mean / mean);
        let (mu, sigma) = (libm::log(mean) - variance / 2.0, variance.sqrt());
        let phi = |x: f64| (1.0 + libm::erf(x / 2f64.sqrt())) / 2.0;
        let below = |limit: f64, shift: f64| phi((libm::log(limit) - mu) / sigma - shift);
        mean * (below(max, sigma) - below(min, sigma)) / (below(max, 0.0) - below(min, 0.0))
    }

    #[test]
    fn sizes_and_numbers_have_the_means_of_the_model() {
        let mut stream = Stream::new(1, 0, "web");
        const DRAWS: u32 = 400_000;
        for law in [MAIN, EMBEDDED] {
            let mean = (0..DRAWS).map(|_| size(&mut stream, law) as f64).sum::<f64>() / f64::from(DRAWS);
            let expected = cut_mean(law);
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean} of {expected}");
        }
        // The figure that 3GPP's evaluation gives with this law: 5.64.
        let mut mean = |objects: ObjectsConfig| {
            (0..DRAWS).map(|_| objects.draw(&mut stream) as f64).sum::<f64>() / f64::from(DRAWS)
        };
        let of_3gpp = mean(ObjectsConfig::default());
        assert!((of_3gpp - 5.64).abs() < 0.06, "{of_3gpp} objects");
        // A Pareto distribution's mean is location shape / (shape - 1): 15 and 3.1 of Brunello et al. section IV-D give 22.14.
        let of_brunello = mean(ObjectsConfig { shape: 3.1, min: 15, max: 1_000, less: 0 });
        assert!((of_brunello - 22.14).abs() < 0.1, "{of_brunello} objects");
    }

    /// Seconds and bytes of a page, each in the mean.
    fn pages(config: &WebConfig) -> (f64, f64) {
        let mut web = Web::new(config, Stream::new(1, 0, "web"));
        let (mut now, mut taken, mut mains) = (Instant::ZERO, Bytes::ZERO, 0);
        while now < Instant::from_millis(60_000_000) {
            let bytes = web.available(now, taken);
            taken += bytes;
            web.available(now, taken);
            mains += u32::from(bytes > Bytes::ZERO && !web.embedded_next);
            now = web.next_deadline(now).unwrap();
        }
        (now.as_secs_f64() / f64::from(mains), taken.as_f64() / f64::from(mains))
    }

    #[test]
    fn a_longest_reading_time_cuts_the_longer_ones() {
        let reading = Duration::from_secs(5);
        let cut = WebConfig { reading, longest_reading: Some(Duration::from_secs(7)), ..WebConfig::default() };
        // An exponential time of mean m that is cut at c has the mean m (1 - exp(-c / m)).
        let expected = PARSING + 5.0 * (1.0 - libm::exp(-7.0 / 5.0));
        let (per_page, _) = pages(&cut);
        assert!((per_page / expected - 1.0).abs() < 0.03, "{per_page} s for a page, not {expected}");
    }

    #[test]
    fn objects_out_of_order_are_refused() {
        let refused = |objects| WebConfig { objects, ..WebConfig::default() }.validate().unwrap_err().to_string();
        let objects = ObjectsConfig::default();
        assert_eq!(refused(ObjectsConfig { max: 1, ..objects }), "objects.max: must be at least min, 2, not 1");
        assert_eq!(refused(ObjectsConfig { less: 3, ..objects }), "objects.less: must be at most min, 2, not 3");
    }

    #[test]
    fn pages_come_with_their_pauses() {
        let (per_page, bytes) = pages(&WebConfig::default());
        assert!((28.0..32.5).contains(&per_page), "{per_page} s for a page");
        let expected = cut_mean(MAIN) + 5.64 * cut_mean(EMBEDDED);
        assert!((bytes / expected - 1.0).abs() < 0.15, "{bytes} of {expected} B a page");
    }
}
