//! Bound on memory: a run starts when it fits.

use std::fs;
use std::sync::{Condvar, Mutex, PoisonError};

/// Gate before runs. The first run is alone, and shows how much memory a run takes; after that, as many run at the same time as fit. One
/// may always run.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Bytes that runs may take together; `None` for no bound.
    limit: Option<u64>,
    /// Peak of the process before the first run; `None` where the system does not say.
    before: Option<u64>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    running: u64,
    /// Most bytes that a run has taken so far; `None` before the first one has ended.
    largest: Option<u64>,
}

/// Permission to run.
#[derive(Debug)]
pub(crate) struct Pass<'a>(&'a Gate);

impl Gate {
    /// Makes a gate with a limit in bytes. Default: half of the available memory.
    pub(crate) fn new(limit: Option<u64>) -> Self {
        let limit = limit.or_else(|| field("/proc/meminfo", "MemAvailable:").map(|bytes| bytes / 2));
        Self { limit, before: peak(), state: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits until a run fits.
    pub(crate) fn enter(&self) -> Pass<'_> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.fits(&state) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.running += 1;
        Pass(self)
    }

    fn fits(&self, state: &State) -> bool {
        let (Some(limit), Some(_)) = (self.limit, self.before) else { return true };
        state.running == 0 || state.largest.is_some_and(|largest| largest.saturating_mul(state.running + 1) <= limit)
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(before), Some(peak)) = (self.0.before, peak()) {
            let each = peak.saturating_sub(before) / state.running.max(1);
            state.largest = Some(state.largest.unwrap_or_default().max(each));
        }
        state.running -= 1;
        self.0.changed.notify_all();
    }
}

/// Peak of the memory of this process, in bytes.
fn peak() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// Field of a file that the kernel writes in kB.
fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(limit: u64) -> Gate {
        Gate { limit: Some(limit), before: Some(0), state: Mutex::default(), changed: Condvar::new() }
    }

    #[test]
    fn the_first_run_is_alone_and_then_as_many_as_fit() {
        let gate = gate(1000);
        let state = |running, largest| State { running, largest };
        assert!(gate.fits(&state(0, None)) && !gate.fits(&state(1, None)));
        assert!(gate.fits(&state(1, Some(500))) && !gate.fits(&state(2, Some(500))));
        // One run goes on, however large it is.
        assert!(gate.fits(&state(0, Some(5000))));
        let unlimited = Gate { limit: None, ..self::gate(0) };
        assert!(unlimited.fits(&state(9, None)));
    }
}
