//! Runs of a study on all processors of this machine.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::ExecuteError;
use crate::limits::Limits;
use crate::memory::Gate;
use crate::plan::{Found, Job, Plan, Planned, jobs};
use crate::run::{Run, run_while};
use crate::store::{Store, StoreError};
use crate::study::Study;

/// Progress of a running study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Runs whose records are there.
    pub done: usize,
    /// Runs that are known to be needed; added seeds and steps of a search are not included.
    pub total: usize,
    /// Estimate of the time that is left; `None` before a run has ended.
    pub left: Option<Duration>,
}

/// Makes the runs of a study that its store lacks, and those that [`Plan::advance`] asks for until there are none.
/// Returns what a search found.
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
    make(study, &plan.points, 1, store, &gate, limits, &mut progress)?;
    plan.find_metrics(study, store)?;
    loop {
        make(study, &plan.points, usize::MAX, store, &gate, limits, &mut progress)?;
        if !plan.advance(study, store)? {
            return Ok(plan.found(study));
        }
    }
}

/// End of one run.
enum Outcome {
    Done,
    /// Made by another process or thread.
    Elsewhere(Job),
    Interrupted,
    Failed(ExecuteError),
}

/// Makes the runs that the store lacks, of this many seeds of every point.
fn make(
    study: &Study,
    points: &[Planned],
    seeds: usize,
    store: &Store,
    gate: &Gate,
    limits: &Limits<'_>,
    progress: &mut impl FnMut(Progress),
) -> Result<(), ExecuteError> {
    let is_missing = |job: &Job| !store.has(&points[job.planned].hash.key(job.seed));
    let total = jobs(points, usize::MAX).count();
    let mut done = total - jobs(points, usize::MAX).filter(is_missing).count();
    let mut missing: Vec<Job> = jobs(points, seeds).filter(is_missing).collect();
    let (started, before) = (Instant::now(), done);
    progress(Progress { done, total, left: None });
    while !missing.is_empty() {
        let done_before = done;
        let run = |job: &Job, proceed: &(dyn Fn() -> bool + Sync)| {
            attempt(&points[job.planned].run(study, job.seed), *job, store, gate, proceed)
        };
        let elsewhere = attempt_all(&missing, limits, run, || {
            done += 1;
            let each = started.elapsed() / (done - before) as u32;
            progress(Progress { done, total, left: Some(each * (total - done) as u32) });
        })?;
        if !(limits.proceed)() {
            return Err(ExecuteError::Interrupted { done, total });
        }
        // All that is left is made elsewhere.
        if done == done_before && !elsewhere.is_empty() {
            thread::sleep(PATIENCE);
        }
        missing = elsewhere;
    }
    Ok(())
}

/// Attempts each run once, on as many threads as may be used, and tells of each that ends; gives those that are made elsewhere.
fn attempt_all(
    jobs: &[Job],
    limits: &Limits<'_>,
    run: impl Fn(&Job, &(dyn Fn() -> bool + Sync)) -> Outcome + Sync,
    mut ended: impl FnMut(),
) -> Result<Vec<Job>, ExecuteError> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let proceed = || !stop.load(Ordering::Relaxed) && (limits.proceed)();
    let work = |sender: Sender<Outcome>| {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if sender.send(run(job, &proceed)).is_err() {
                break;
            }
        }
    };
    let (mut elsewhere, mut failed) = (Vec::new(), None);
    thread::scope(|scope| {
        let (sender, outcomes) = mpsc::channel();
        for _ in 0..limits.jobs.clamp(1, jobs.len()) {
            let (sender, work) = (sender.clone(), &work);
            scope.spawn(move || work(sender));
        }
        drop(sender);
        for outcome in outcomes {
            match outcome {
                Outcome::Done => ended(),
                Outcome::Elsewhere(job) => elsewhere.push(job),
                Outcome::Interrupted => stop.store(true, Ordering::Relaxed),
                Outcome::Failed(error) => {
                    stop.store(true, Ordering::Relaxed);
                    failed.get_or_insert(error);
                }
            }
        }
    });
    failed.map_or(Ok(elsewhere), Err)
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
        Ok(Some(bytes)) => {
            let put = claim.put(&bytes).map_err(StoreError::from);
            put.map_or_else(|error| Outcome::Failed(error.into()), |()| Outcome::Done)
        }
        Ok(None) => Outcome::Interrupted,
        Err(error) => {
            let values = run.values.iter().map(|(name, value)| format!("{name}={value}, ")).collect::<String>();
            Outcome::Failed(ExecuteError::Run { run: format!("{values}seed={}", run.seed), error })
        }
    }
}
