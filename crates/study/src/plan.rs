//! Plan of a study: its points, checked, with the seeds that each of them has. A program that makes its runs, here or
//! on a cluster, follows it: the results so far decide the next runs.

use crate::error::ExecuteError;
use crate::grid::Point;
use crate::limits::{Limits, on_every_core};
use crate::metric::{Metric, NoSuchMetric};
use crate::record::Record;
use crate::run::{PointHash, Run};
use crate::search::{Bracket, Search};
use crate::seeds::Widening;
use crate::store::{Store, StoreError};
use crate::study::{Study, StudyError};

/// Points of a study that were checked, with the seeds that each of them has.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) points: Vec<Planned>,
    /// State of a search at each point of the study; none without a search.
    brackets: Vec<Bracket>,
    /// Number of points whose runs the search has looked at.
    judged: usize,
}

/// A point with its seeds.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) index: u64,
    /// Value that a search tries here.
    pub(crate) step: Option<u64>,
    pub(crate) point: Point,
    pub(crate) hash: PointHash,
    pub(crate) seeds: Vec<u64>,
}

/// Finding of a search at one point of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Varied values of the point.
    pub point: Point,
    /// Largest value that meets the condition; `None` if 1 does not.
    pub value: Option<u64>,
    /// True if no larger value was tried.
    pub is_limit: bool,
}

impl Plan {
    /// Checks every point of a study, on all processors, before anything is run or written. A search's points are
    /// checked with its first value.
    ///
    /// # Errors
    /// The first point, in the study's order, whose scenario can't be run; or an interrupt.
    pub fn new(study: &Study, limits: &Limits<'_>) -> Result<Self, ExecuteError> {
        let first = study.search.as_ref().and_then(|search| search.next(&Bracket::default()));
        let indices: Vec<u64> = (0..study.points()).collect();
        let points = on_every_core(&indices, limits, |index| Ok(Planned::new(study, *index, first)?))?;
        let brackets = study.search.iter().flat_map(|_| indices.iter().map(|_| Bracket::default())).collect();
        Ok(Self { points, brackets, judged: 0 })
    }

    /// Runs so far, every point with its first seed, then with its second.
    pub fn runs<'a>(&'a self, study: &'a Study) -> impl Iterator<Item = Run> + 'a {
        jobs(&self.points, usize::MAX).map(|job| self.points[job.planned].run(study, job.seed))
    }

    /// Adds what the records of the runs so far ask for: seeds where intervals are wide, then the next step of a search. False where
    /// the study is over. All runs so far have to be in the store.
    ///
    /// # Errors
    /// A record that can't be read, a condition that no run can meet, or a step whose scenario can't be run.
    pub fn advance(&mut self, study: &Study, store: &Store) -> Result<bool, ExecuteError> {
        let widened = study.widening.as_ref().map_or(Ok(false), |widening| self.widen(widening, study, store))?;
        match &study.search {
            // A step is judged by all of its seeds.
            Some(search) if !widened => self.search(search, study, store),
            _ => Ok(widened),
        }
    }

    /// Findings of a search, point by point; none without a search.
    pub fn found(&self, study: &Study) -> Vec<Found> {
        let found = |(index, bracket): (usize, &Bracket)| Found {
            point: study.point(index as u64),
            value: bracket.good,
            is_limit: bracket.bad.is_none(),
        };
        self.brackets.iter().enumerate().map(found).collect()
    }

    /// Looks for the metrics that a study names in the first run of every point, so that an unknown metric is reported early and not by the
    /// table at the end.
    ///
    /// # Errors
    /// Metrics that none of these runs has, or a record that can't be read.
    pub(crate) fn find_metrics(&self, study: &Study, store: &Store) -> Result<(), ExecuteError> {
        let mut wanted: Vec<&Metric> = study.metrics.iter().filter(|_| study.names_metrics).collect();
        let mut example = None;
        for planned in &self.points {
            if wanted.is_empty() {
                return Ok(());
            }
            let Some(record) = store.get(&planned.hash.key(planned.seeds[0]))? else { continue };
            let mut groups: Vec<_> = study.groups(&record).into_iter().map(Some).collect();
            if groups.is_empty() {
                groups.push(None);
            }
            wanted.retain(|metric| groups.iter().all(|group| metric.value(&record, *group).is_none()));
            example.get_or_insert(record);
        }
        if wanted.is_empty() { Ok(()) } else { Err(NoSuchMetric::new(wanted.into_iter(), example.as_ref()).into()) }
    }

    /// Adds seeds to points whose intervals are wide; false where none is.
    fn widen(&mut self, widening: &Widening, study: &Study, store: &Store) -> Result<bool, ExecuteError> {
        let mut widened = false;
        for planned in &mut self.points {
            let records = planned.records(store)?;
            let groups: Vec<Option<&str>> = match records.first() {
                Some(record) if widening.metric.is_of_flows() => study.groups(record).into_iter().map(Some).collect(),
                _ => vec![None],
            };
            let values = |group: &Option<&str>| {
                records.iter().filter_map(|record| widening.metric.value(record, *group)).collect::<Vec<_>>()
            };
            if let Some(count) = widening.next(planned.seeds.len(), &groups.iter().map(values).collect::<Vec<_>>()) {
                let more = (1..).filter(|seed| !planned.seeds.contains(seed)).take(count - planned.seeds.len());
                let more: Vec<_> = more.collect();
                planned.seeds.extend(more);
                widened = true;
            }
        }
        Ok(widened)
    }

    /// Judges the steps that were run last, and adds the next one at every point, so that processors have something to do; false where the
    /// search is over everywhere.
    fn search(&mut self, search: &Search, study: &Study, store: &Store) -> Result<bool, ExecuteError> {
        for planned in &self.points[self.judged..] {
            let records = planned.records(store)?;
            let metric = &search.condition.metric;
            let values: Vec<_> = records.iter().filter_map(|record| metric.value(record, None)).collect();
            if values.is_empty() {
                let message =
                    format!("find.until: no run has `{metric}`: take a metric that the scenario's flows have");
                return Err(StudyError::WrongPart(message).into());
            }
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let bracket = &mut self.brackets[planned.index as usize];
            *(if search.condition.holds(mean) { &mut bracket.good } else { &mut bracket.bad }) = planned.step;
        }
        self.judged = self.points.len();
        for (index, bracket) in self.brackets.iter().enumerate() {
            if let Some(value) = search.next(bracket) {
                self.points.push(Planned::new(study, index as u64, Some(value))?);
            }
        }
        Ok(self.judged < self.points.len())
    }
}

impl Planned {
    /// Checks a point, with the value that a search tries at it.
    fn new(study: &Study, index: u64, step: Option<u64>) -> Result<Self, StudyError> {
        let point = study.point(index);
        let point = match (&study.search, step) {
            (Some(search), Some(value)) => search.at(&point, value),
            _ => point,
        };
        let hash = study.hash(&point)?;
        Ok(Self { index, step, point, hash, seeds: study.seeds.clone() })
    }

    pub(crate) fn run(&self, study: &Study, seed: u64) -> Run {
        study.keyed(self.index, &self.point, seed, &self.hash)
    }

    /// Records of all seeds.
    fn records(&self, store: &Store) -> Result<Vec<Record>, StoreError> {
        let record = |seed: &u64| store.get(&self.hash.key(*seed)).transpose();
        self.seeds.iter().filter_map(record).collect()
    }
}

/// A run that is to be made.
#[derive(Clone, Copy)]
pub(crate) struct Job {
    pub(crate) planned: usize,
    pub(crate) seed: u64,
}

/// Runs of points: every point with its first seed, then with its second, up to this many.
pub(crate) fn jobs(points: &[Planned], seeds: usize) -> impl Iterator<Item = Job> + '_ {
    let most = points.iter().map(|planned| planned.seeds.len()).max().unwrap_or(0);
    (0..most.min(seeds)).flat_map(move |nth| {
        let with = move |(planned, of): (usize, &Planned)| Some(Job { planned, seed: *of.seeds.get(nth)? });
        points.iter().enumerate().filter_map(with)
    })
}
