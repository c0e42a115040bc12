//! Work on all processors.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does `work` on each item, on all processors; gives the results in the items' order. `None` where the work panicked.
pub fn each<I: Sync, T: Send>(items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<Option<T>> {
    let next = AtomicUsize::new(0);
    let results: Vec<_> = items.iter().map(|_| Mutex::new(None)).collect();
    let take = || {
        while let Some((item, result)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|index| Some((items.get(index)?, results.get(index)?)))
        {
            let done = work(item);
            if let Ok(mut slot) = result.lock() {
                *slot = Some(done);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..processors().min(items.len()) {
            scope.spawn(take);
        }
    });
    results.into_iter().map(|slot| slot.into_inner().ok().flatten()).collect()
}

/// Number of processors.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
