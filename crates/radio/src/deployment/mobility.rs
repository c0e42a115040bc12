//! Movement of UEs: none, back and forth on a line, or from one random place to the next.

use tidemark_core::{Bounded, ConfigError, Duration, Instant, Stream, bounds};

use super::layout::{Layout, Point, between, length, way};
use crate::channel::SPEED_KMH;

/// Movement of a UE.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields))]
#[cfg_attr(
    feature = "serde",
    serde(expecting = "a table with its `kind`, as in { kind = \"random-waypoint\", speed_kmh = 30 }")
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<Mobility>))]
pub enum Mobility {
    /// No movement.
    Still {},
    /// Movement back and forth on a straight line.
    Line {
        /// The other end: metres east and north of the centre site.
        to: Point,
        /// Speed in km/h.
        speed_kmh: f64,
    },
    /// Movement from one random place to the next.
    RandomWaypoint {
        /// Speed in km/h.
        speed_kmh: f64,
        /// Time that the UE stays at each place. Default 0 s.
        #[cfg_attr(feature = "serde", serde(default))]
        pause: Duration,
    },
}

impl Default for Mobility {
    fn default() -> Self {
        Self::Still {}
    }
}

bounds! { enum Mobility {
    Still {}
    Line { speed_kmh: SPEED_KMH, ..to }
    RandomWaypoint { speed_kmh: SPEED_KMH, ..pause }
} }

impl Mobility {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        match self {
            Self::Line { to, .. } if !is_position(*to) => {
                Err(ConfigError::of_value("to", "must lie within 100 km of the centre site"))
            }
            _ => Ok(()),
        }
    }
    /// Speed of the UE in km/h; zero without movement.
    pub(crate) fn speed_kmh(&self) -> f64 {
        match self {
            Self::Still {} => 0.0,
            Self::Line { speed_kmh, .. } | Self::RandomWaypoint { speed_kmh, .. } => *speed_kmh,
        }
    }
}

/// True for a plausible position.
pub(crate) fn is_position(position: Point) -> bool {
    position.iter().all(|metres| metres.abs() <= 100_000.0)
}

/// A UE on its way: it sets out, arrives, and waits there until the next leg begins.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    mobility: Mobility,
    from: Point,
    to: Point,
    sets_out: Instant,
    arrives: Instant,
    stream: Stream,
    min_m: f64,
}

impl Walk {
    /// Starts at a place at the beginning of time. Random ways follow from `stream` and lead no nearer to a site than `min_m` metres.
    pub(super) fn new(mobility: Mobility, from: Point, stream: Stream, min_m: f64) -> Self {
        let start = Instant::ZERO;
        Self { mobility, from, to: from, sets_out: start, arrives: start, stream, min_m }
    }

    /// Gives the UE's place at `now`, which never goes back.
    pub(super) fn at(&mut self, now: Instant, layout: &Layout) -> Point {
        let (speed_kmh, pause) = match self.mobility {
            Mobility::Still {} => return layout.home(self.from),
            Mobility::Line { speed_kmh, .. } => (speed_kmh, Duration::ZERO),
            Mobility::RandomWaypoint { speed_kmh, pause } => (speed_kmh, pause),
        };
        // Places closer than a millimetre, of which a line may be made, must not stop the clock.
        let shortest = Duration::from_millis(1);
        while self.arrives + pause <= now {
            let next = match self.mobility {
                Mobility::Line { to, .. } if self.to == self.from => to,
                Mobility::RandomWaypoint { .. } => layout.random(&mut self.stream, self.min_m),
                _ => self.from,
            };
            self.sets_out = self.arrives + pause;
            (self.from, self.to) = (self.to, next);
            let seconds = length(way(self.from, self.to)) / (speed_kmh / 3.6);
            self.arrives = self.sets_out + Duration::from_secs_f64(seconds).max(shortest);
        }
        let share = now.since(self.sets_out).as_secs_f64() / self.arrives.since(self.sets_out).as_secs_f64();
        layout.home(between(self.from, self.to, share.min(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walked(mobility: Mobility, from: Point, layout: &Layout) -> Vec<Point> {
        let mut walk = Walk::new(mobility, from, Stream::new(1, 0, "waypoint"), 35.0);
        (0..6_000).map(|tenth| walk.at(Instant::from_millis(100 * tenth), layout)).collect()
    }

    #[test]
    fn a_line_leads_there_and_back_at_its_speed() {
        let layout = Layout::new(7, 500.0, false);
        let points = walked(Mobility::Line { to: [300.0, 400.0], speed_kmh: 36.0 }, [0.0, 0.0], &layout);
        // 500 m at 10 m/s.
        assert!(length(way(points[250], [150.0, 200.0])) < 1e-6);
        assert!(length(way(points[500], [300.0, 400.0])) < 1e-6);
        assert!(length(way(points[750], [150.0, 200.0])) < 1e-6);
        assert!(length(way(points[1000], [0.0, 0.0])) < 1e-6);
        assert!(length(way(points[1500], [300.0, 400.0])) < 1e-6);
    }

    #[test]
    fn a_random_way_goes_on_at_its_speed_pauses_and_stays_inside() {
        let layout = Layout::new(7, 500.0, false);
        let pause = Duration::from_secs(2);
        let points = walked(Mobility::RandomWaypoint { speed_kmh: 36.0, pause }, [100.0, 0.0], &layout);
        let steps: Vec<_> = points.windows(2).map(|pair| length(way(pair[0], pair[1]))).collect();
        assert!(steps.iter().all(|step| *step < 1.001));
        let still = steps.iter().filter(|step| **step == 0.0).count();
        // Ways between random places of the cluster take some 60 s, so that there are about nine stops of 2 s in ten minutes.
        assert!((40..400).contains(&still), "{still}");
        assert!(points.iter().all(|position| length(*position) < 800.0));
    }

    #[test]
    fn who_stays_stays() {
        let layout = Layout::new(1, 500.0, true);
        assert!(walked(Mobility::Still {}, [10.0, 20.0], &layout).iter().all(|position| *position == [10.0, 20.0]));
    }
}
