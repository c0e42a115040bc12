//! Runs of a study on all processors of this machine.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::ExecuteError;
use crate::grid::Point;
use crate::limits::Limits;
use crate::memory::Gate;
use crate::plan::{Job, Plan, Planned, jobs};
use crate::record::Record;
use crate::run::{Run, run_while};
use crate::search::Bracket;
use crate::store::{Store, StoreError};
use crate::study::{Study, StudyError};

/// State of a study that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs whose records are there.
    pub done: usize,
    /// Runs that are known to be needed; seeds that are added and steps of a search come on top.
    pub total: usize,
    /// Estimate of the time that is left; `None` before a run has ended.
    pub left: Option<Duration>,
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

/// Makes the runs of a study that its store lacks; adds seeds and searches where the study asks for that. Gives what a search found.
///
/// # Errors
/// A run or a file that fails, or an interrupt. What was run until then is kept.
pub fn execute(
    study: &Study,
    plan: &mut Plan,
    store: &Store,
    limits: &Limits<'_>,
    mut progress: impl FnMut(Progress),
) -> Result<Vec<Found>, ExecuteError> {
    let gate = Gate::new(limits.memory);
    let mut found = Vec::new();
    if let Some(search) = &study.search {
        let mut brackets = vec![Bracket::default(); study.points() as usize];
        loop {
            // One step of the search at every point, so that processors have something to do.
            let from = plan.points.len();
            let mut tried = Vec::new();
            for (index, bracket) in brackets.iter().enumerate() {
                if let Some(value) = search.next(bracket) {
                    let point = search.at(&study.point(index as u64), value);
                    plan.points.push(Plan::planned(study, index as u64, point)?);
                    tried.push((index, value));
                }
            }
            if tried.is_empty() {
                break;
            }
            make(study, &plan.points, store, &gate, limits, &mut progress)?;
            for ((index, value), planned) in tried.into_iter().zip(&plan.points[from..]) {
                let records = records(study, planned, store)?;
                let values: Vec<_> =
                    records.iter().filter_map(|record| search.condition.metric.value(record, None)).collect();
                if values.is_empty() {
                    return Err(StudyError::WrongPart(format!(
                        "find.until: no run has `{}`: take a metric that the scenario's flows have",
                        search.condition.metric
                    ))
                    .into());
                }
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let bracket = &mut brackets[index];
                *(if search.condition.holds(mean) { &mut bracket.good } else { &mut bracket.bad }) = Some(value);
            }
        }
        found.extend(brackets.iter().enumerate().map(|(index, bracket)| Found {
            point: study.point(index as u64),
            value: bracket.good,
            is_limit: bracket.bad.is_none(),
        }));
    } else {
        make(study, &plan.points, store, &gate, limits, &mut progress)?;
    }
    while widen(study, plan, store)? {
        make(study, &plan.points, store, &gate, limits, &mut progress)?;
    }
    // Steps of a search are tried in another order than tables show.
    let tried = |planned: &Planned| {
        study.search.as_ref().and_then(|search| planned.point.value(&search.key)?.parse::<u64>().ok())
    };
    plan.points.sort_by_key(|planned| (planned.index, tried(planned)));
    Ok(found)
}

/// Adds seeds to points whose intervals are wide; false where none is.
fn widen(study: &Study, plan: &mut Plan, store: &Store) -> Result<bool, ExecuteError> {
    let Some(widening) = &study.widening else { return Ok(false) };
    let mut widened = false;
    for planned in &mut plan.points {
        let records = records(study, planned, store)?;
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

fn records(study: &Study, planned: &Planned, store: &Store) -> Result<Vec<Record>, StoreError> {
    let record = |seed: &u64| store.get(&planned.run(study, *seed).key).transpose();
    planned.seeds.iter().filter_map(record).collect()
}

/// End of one run.
enum Outcome {
    Done,
    /// Made by another process or thread.
    Elsewhere(Job),
    Interrupted,
    Failed(ExecuteError),
}

/// Makes the runs that the store lacks.
fn make(
    study: &Study,
    points: &[Planned],
    store: &Store,
    gate: &Gate,
    limits: &Limits<'_>,
    progress: &mut impl FnMut(Progress),
) -> Result<(), ExecuteError> {
    let total = jobs(points).count();
    let mut missing: Vec<Job> =
        jobs(points).filter(|job| !store.has(&points[job.planned].hash.key(job.seed))).collect();
    let mut done = total - missing.len();
    let (started, before) = (Instant::now(), done);
    let mut failed = None;
    progress(Progress { done, total, left: None });
    while !missing.is_empty() && failed.is_none() {
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let proceed = || !stop.load(Ordering::Relaxed) && (limits.proceed)();
        let work = |sender: Sender<Outcome>| {
            while let Some(job) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let planned = &points[job.planned];
                let outcome = attempt(&planned.run(study, job.seed), *job, store, gate, &proceed);
                if sender.send(outcome).is_err() {
                    break;
                }
            }
        };
        let mut elsewhere = Vec::new();
        let mut ended = 0;
        thread::scope(|scope| {
            let (sender, outcomes) = mpsc::channel();
            for _ in 0..limits.jobs.clamp(1, missing.len()) {
                let (sender, work) = (sender.clone(), &work);
                scope.spawn(move || work(sender));
            }
            drop(sender);
            for outcome in outcomes {
                match outcome {
                    Outcome::Done => {
                        ended += 1;
                        done += 1;
                        let each = started.elapsed() / (done - before) as u32;
                        progress(Progress { done, total, left: Some(each * (total - done) as u32) });
                    }
                    Outcome::Elsewhere(job) => elsewhere.push(job),
                    Outcome::Interrupted => stop.store(true, Ordering::Relaxed),
                    Outcome::Failed(error) => {
                        stop.store(true, Ordering::Relaxed);
                        failed.get_or_insert(error);
                    }
                }
            }
        });
        if failed.is_none() && !(limits.proceed)() {
            failed = Some(ExecuteError::Interrupted { done, total });
        }
        if ended == 0 && !elsewhere.is_empty() && failed.is_none() {
            thread::sleep(PATIENCE);
        }
        missing = elsewhere;
    }
    failed.map_or(Ok(()), Err)
}

/// Time between two looks at runs that another process makes.
const PATIENCE: Duration = Duration::from_millis(100);

fn attempt(run: &Run, job: Job, store: &Store, gate: &Gate, proceed: &(dyn Fn() -> bool + Sync)) -> Outcome {
    if store.has(&run.key) {
        return Outcome::Done;
    }
    if !proceed() {
        return Outcome::Interrupted;
    }
    let claim = match store.claim(&run.key) {
        Ok(Some(claim)) => claim,
        Ok(None) => return if store.has(&run.key) { Outcome::Done } else { Outcome::Elsewhere(job) },
        Err(error) => return Outcome::Failed(error.into()),
    };
    let _pass = gate.enter();
    match run_while(run, proceed) {
        Ok(Some(bytes)) => claim.put(&bytes).map_or_else(|error| Outcome::Failed(error.into()), |()| Outcome::Done),
        Ok(None) => Outcome::Interrupted,
        Err(error) => {
            let values = run.values.iter().map(|(name, value)| format!("{name}={value}, ")).collect::<String>();
            Outcome::Failed(ExecuteError::Run { run: format!("{values}seed={}", run.seed), error })
        }
    }
}
