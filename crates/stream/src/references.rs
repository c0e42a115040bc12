//! Sent pictures that are kept until the viewer says what it has shown of them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ssim::{SCALED, scaled, ssim};

/// Most kept pictures; the oldest is forgotten.
const MAX_KEPT: usize = 64;

/// Scaled luma of every Nth picture, by its frame number.
#[derive(Debug)]
pub struct References {
    every: u32,
    kept: Mutex<VecDeque<(u32, Vec<u8>)>>,
}

impl References {
    /// Keeps a picture every `every` frames, which is at least 1.
    pub fn every(every: u32) -> Self {
        Self { every: every.max(1), kept: Mutex::default() }
    }

    /// Number of frames from one kept picture to the next.
    pub(crate) fn interval(&self) -> u32 {
        self.every
    }

    /// Keeps the luma of a frame if it is its turn.
    pub(crate) fn keep(&self, frame: u32, luma: &[u8], width: usize, height: usize) {
        if !frame.is_multiple_of(self.every) {
            return;
        }
        let picture = scaled(luma, width, height);
        let mut kept = self.lock();
        kept.push_back((frame, picture));
        if kept.len() > MAX_KEPT {
            kept.pop_front();
        }
    }

    /// SSIM of a shown picture and the sent one of its frame. Each kept picture is compared once; `None` for a frame that is not kept, or a picture of
    /// another size.
    pub(crate) fn compare(&self, frame: u32, shown: &[u8]) -> Option<f64> {
        let mut kept = self.lock();
        let index = kept.iter().position(|(number, _)| *number == frame)?;
        let (_, sent) = kept.remove(index)?;
        drop(kept);
        (shown.len() == SCALED.0 * SCALED.1).then(|| ssim(&sent, shown))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u32, Vec<u8>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_nth_picture_is_kept_and_compared_once() {
        let references = References::every(10);
        let luma = vec![90; 320 * 180];
        (1..=30).for_each(|frame| references.keep(frame, &luma, 320, 180));
        let shown = vec![90; SCALED.0 * SCALED.1];
        assert_eq!(
            [9, 10, 10, 30].map(|frame| references.compare(frame, &shown).is_some()),
            [false, true, false, true]
        );
        assert_eq!(references.compare(20, &[90; 4]), None, "another size");
        (0..2_000).for_each(|frame| references.keep(frame, &luma, 320, 180));
        assert_eq!(references.lock().len(), MAX_KEPT);
    }
}
