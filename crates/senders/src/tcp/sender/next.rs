//! What a sender sends next, if anything: a probe, a repair, or new data as far as the window, the receiver and pacing let it.

use tidemark_core::{Bytes, Instant};

use super::{Phase, Sender};
use crate::tcp::scoreboard::FIRST_SEQ;

/// What to send next: so many bytes from `seq` on, new ones or a segment again.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextUp {
    pub(super) seq: u64,
    pub(super) len: u32,
    pub(super) again: bool,
}

impl Sender {
    /// How much may be in flight.
    fn window(&self) -> u64 {
        match &self.prr {
            Some(prr) => prr.window(self.board.in_flight()),
            None => self.window,
        }
    }

    /// Takes what to send now from the scoreboard or the application.
    pub(super) fn next_up(&mut self, now: Instant) -> Option<NextUp> {
        if std::mem::take(&mut self.probe_now) && self.board.is_outstanding() {
            return self.next_probe(now);
        }
        if self.board.has_lost()
            && let Some((number, len)) = self.board.next_lost()
        {
            return self.next_repair(now, number, len);
        }
        let Some(len) = self.new_bytes_in_window(now) else {
            self.wait_for_data(now);
            return None;
        };
        if !self.is_let_go(now) {
            return None;
        }
        if !self.board.is_outstanding() && self.board.next_seq() > FIRST_SEQ {
            self.restart_after_idle(now);
        }
        Some(NextUp { seq: self.board.send(now, len), len, again: false })
    }

    /// How many new bytes to send next, if there are any and the window has room for them.
    fn new_bytes_in_window(&mut self, now: Instant) -> Option<u32> {
        let len = self.new_bytes(now)?;
        let (in_flight, window) = (self.board.in_flight(), self.window());
        if len == 0 {
            if in_flight < window {
                self.board.limited_by_application();
            }
            return None;
        }
        if in_flight + u64::from(len) > window {
            self.window_limited_until = self.board.delivered() + in_flight;
            return None;
        }
        Some(len)
    }

    /// Number of new bytes that the socket holds, up to a segment; `None` if the receiver allows no segment.
    fn new_bytes(&mut self, now: Instant) -> Option<u32> {
        let next = self.board.next_seq();
        let available = self.source.available(now, Bytes(next - FIRST_SEQ)).0;
        let mut len = available.min(u64::from(self.mss));
        if next + len > self.writable {
            self.write();
            // What was written last and is no whole segment waits for more, as Nagle has it.
            len = if next + len > self.writable { 0 } else { len };
        }
        // Better to wait for room than to send a small segment (RFC 9293 3.8.6.2.1).
        (len <= self.allowed.saturating_sub(next)).then_some(len as u32)
    }

    /// The application fills the buffer, if a third of it is free; otherwise it is not woken.
    fn write(&mut self) {
        let una = self.board.una();
        if 3 * self.writable.saturating_sub(una) <= 2 * self.send_buffer {
            self.writable = una + self.send_buffer;
        }
    }

    /// What the application already has waits for the window, and no deadline opens that.
    fn wait_for_data(&mut self, now: Instant) {
        self.release = self.source.next_deadline(now).filter(|at| *at > now).unwrap_or(Instant::FAR);
    }

    /// True if pacing lets a packet go now; else notes when it will.
    fn is_let_go(&mut self, now: Instant) -> bool {
        let wait = if self.pacing.is_some() { self.pacer.wait(now) } else { None };
        self.release = wait.unwrap_or(Instant::FAR);
        wait.is_none()
    }

    /// RFC 8985 7.3: new data if there is some, else the last segment again, whatever the window and pacing say.
    #[cold]
    fn next_probe(&mut self, now: Instant) -> Option<NextUp> {
        let next = match self.new_bytes(now).unwrap_or(0) {
            0 => {
                let (number, len) = self.board.last()?;
                NextUp { seq: self.board.resend(now, number)?, len, again: true }
            }
            len => NextUp { seq: self.board.send(now, len), len, again: false },
        };
        self.probe = Some((self.board.next_seq(), now, next.again));
        Some(next)
    }

    /// A segment again that is held for lost, if the window has room for it.
    #[cold]
    fn next_repair(&mut self, now: Instant, number: u64, len: u32) -> Option<NextUp> {
        if self.board.in_flight() + u64::from(len) > self.window() {
            self.wait_for_data(now);
            return None;
        }
        if !self.is_let_go(now) {
            return None;
        }
        let seq = self.board.resend(now, number)?;
        if self.first_resent.is_none() && self.phase != Phase::Open {
            self.first_resent = Some((seq, now));
        }
        Some(NextUp { seq, len, again: true })
    }

    #[cold]
    fn restart_after_idle(&mut self, now: Instant) {
        self.controller.on_idle(now, now.since(self.last_sent), self.rtt.rto());
        self.ask_controller();
    }
}
