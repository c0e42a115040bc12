//! Proportional rate reduction (RFC 9937, which replaced RFC 6937): spreads a reduction of
//! the window over the round trip that it takes to become effective.

/// One reduction; all in bytes.
#[derive(Clone, Debug)]
pub(super) struct Prr {
    /// Flight when it began: RecoverFS.
    recover_fs: u64,
    /// Delivered and sent since: prr_delivered, prr_out.
    delivered: u64,
    out: u64,
    /// Bytes that may be sent now: sndcnt.
    budget: u64,
    mss: u64,
}

impl Prr {
    pub(super) fn new(in_flight: u64, mss: u64) -> Self {
        // One segment leaves at once: the fast retransmission.
        Self { recover_fs: in_flight.max(mss), delivered: 0, out: 0, budget: mss, mss }
    }

    /// An acknowledgement that reported `delivered` bytes, after which `in_flight` are outstanding and the
    /// flight is to come down to `target`. `safe` if it advanced and showed no further loss.
    pub(super) fn on_ack(&mut self, delivered: u64, in_flight: u64, target: u64, safe: bool) {
        self.delivered += delivered;
        // Above the target, what leaves is to what arrives as the target is to the flight at the start: the reduction is spread.
        let budget = if in_flight > target {
            let share = (u128::from(self.delivered) * u128::from(target)).div_ceil(u128::from(self.recover_fs)) as u64;
            share.saturating_sub(self.out)
        } else {
            // Below it, losses took more than the reduction asked for: the flight grows again, by one segment beside what was delivered.
            let bound = self.delivered.saturating_sub(self.out).max(delivered) + if safe { self.mss } else { 0 };
            bound.min(target - in_flight)
        };
        // The first answer to a loss is its repair, whatever the share says.
        self.budget = if self.out == 0 { budget.max(self.mss) } else { budget };
    }

    pub(super) fn sent(&mut self, bytes: u64) {
        self.out += bytes;
        self.budget = self.budget.saturating_sub(bytes);
    }

    /// Bytes that may be in flight now. Rounded up by less than a segment, since segments are not divided.
    pub(super) fn window(&self, in_flight: u64) -> u64 {
        in_flight + self.budget.next_multiple_of(self.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flight_comes_down_to_the_target_over_one_round_trip() {
        // 100 segments in flight, one of them lost, the window goes to 70.
        let mss = 1000;
        let mut prr = Prr::new(100 * mss, mss);
        let (mut in_flight, target) = (99 * mss, 70 * mss);
        let mut sent = 0;
        for _ in 0..99 {
            in_flight -= mss;
            prr.on_ack(mss, in_flight, target, false);
            while in_flight + mss <= prr.window(in_flight) {
                prr.sent(mss);
                in_flight += mss;
                sent += 1;
            }
        }
        assert!((68..=71).contains(&(in_flight / mss)), "{in_flight}");
        assert!((69..=72).contains(&sent), "{sent}");
    }
}
