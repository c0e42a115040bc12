//! Plan of a study: its points, checked, and the seeds that each of them has.

use crate::error::ExecuteError;
use crate::grid::Point;
use crate::limits::{Limits, on_every_core};
use crate::run::{PointHash, Run};
use crate::study::Study;

/// Points of a study that were checked, with the seeds that each of them has.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) points: Vec<Planned>,
}

/// A point with its seeds.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) index: u64,
    pub(crate) point: Point,
    pub(crate) hash: PointHash,
    pub(crate) seeds: Vec<u64>,
}

impl Plan {
    /// Checks every point of a study, on all processors, before anything is run or written.
    ///
    /// # Errors
    /// The first point, in the study's order, whose scenario can't be run; or an interrupt.
    pub fn new(study: &Study, limits: &Limits<'_>) -> Result<Self, ExecuteError> {
        let indices: Vec<u64> = if study.search.is_some() { Vec::new() } else { (0..study.points()).collect() };
        let planned = |index: &u64| Self::planned(study, *index, study.point(*index));
        let points = on_every_core(&indices, limits, planned)?;
        if study.search.is_some() {
            // Points of a search are checked with its first value.
            (0..study.points()).try_for_each(|index| study.hash(&study.point(index)).map(drop))?;
        }
        Ok(Self { points })
    }

    pub(crate) fn planned(study: &Study, index: u64, point: Point) -> Result<Planned, ExecuteError> {
        let hash = study.hash(&point)?;
        Ok(Planned { index, point, hash, seeds: study.seeds.clone() })
    }

    /// Runs, every point with its first seed, then with its second.
    pub fn runs<'a>(&'a self, study: &'a Study) -> impl Iterator<Item = Run> + 'a {
        jobs(&self.points).map(|job| self.points[job.planned].run(study, job.seed))
    }
}

impl Planned {
    pub(crate) fn run(&self, study: &Study, seed: u64) -> Run {
        study.keyed(self.index, &self.point, seed, &self.hash)
    }
}

/// A run that is to be made.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) planned: usize,
    pub(crate) seed: u64,
}

pub(crate) fn jobs(points: &[Planned]) -> impl Iterator<Item = Job> + '_ {
    let most = points.iter().map(|planned| planned.seeds.len()).max().unwrap_or(0);
    (0..most).flat_map(move |nth| {
        let with = move |(planned, of): (usize, &Planned)| Some(Job { planned, seed: *of.seeds.get(nth)? });
        points.iter().enumerate().filter_map(with)
    })
}
