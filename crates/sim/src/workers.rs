//! Threads of a run: each takes the next shard that nobody has taken.

use rayon::iter::{IntoParallelRefMutIterator as _, ParallelIterator as _};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

use crate::shard::Shard;

/// Threads that shards run in. Nothing depends on their number but the time that it takes.
#[derive(Debug, Default)]
pub(crate) struct Workers(Option<ThreadPool>);

impl Workers {
    /// So many threads; with one, shards run in the thread that asks.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub(crate) fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let pool = (threads > 1).then(|| ThreadPoolBuilder::new().num_threads(threads).build());
        Ok(Self(pool.transpose()?))
    }

    /// Does the work at each shard, and returns when all is done.
    pub(crate) fn each(&self, shards: &mut [Shard], work: impl Fn(&mut Shard) + Send + Sync) {
        match &self.0 {
            Some(pool) if shards.len() > 1 => pool.install(|| shards.par_iter_mut().for_each(work)),
            _ => shards.iter_mut().for_each(work),
        }
    }
}
