//! Resources that a study may take, and work that is shared out within them.

use std::thread;

use crate::error::ExecuteError;

/// Resources that a study may use, and a way to end it.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Largest number of runs at the same time.
    pub jobs: usize,
    /// Bytes that all runs together may take. Default: half of the available memory.
    pub memory: Option<u64>,
    /// Returns false to end the study early; unfinished runs are not kept.
    pub proceed: &'a (dyn Fn() -> bool + Sync),
}

/// Results of `work` on each item, in their order, or the error of the first that has one.
pub(crate) fn on_every_core<I: Sync, T: Send>(
    items: &[I],
    limits: &Limits<'_>,
    work: impl Fn(&I) -> Result<T, ExecuteError> + Sync,
) -> Result<Vec<T>, ExecuteError> {
    let share = items.len().div_ceil(limits.jobs.max(1)).max(1);
    let interrupted = || ExecuteError::Interrupted { done: 0, total: items.len() };
    thread::scope(|scope| {
        let part = |items| {
            let work = &work;
            let each = move |item| if (limits.proceed)() { work(item) } else { Err(interrupted()) };
            scope.spawn(move || <[I]>::iter(items).map(each).collect::<Result<Vec<_>, _>>())
        };
        let parts: Vec<_> = items.chunks(share).map(part).collect();
        let mut all = Vec::with_capacity(items.len());
        for part in parts {
            all.extend(part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })
}
