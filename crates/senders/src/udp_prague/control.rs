//! UDP Prague's controller: the window where the round trip is long enough to hold one, else the rate.

use tidemark_core::{BitRate, Duration, Instant};

use super::{UdpPragueConfig, UdpPragueGrowth};

/// The reference round-trip time of bulk transfers.
const REFERENCE_RTT: f64 = 0.025;
const INITIAL_WINDOW: f64 = 10.0;
const MIN_PACKET: f64 = 150.0;
/// Rounds without marks before the increase becomes steeper: seven, and one more for each 15.36 Mbit/s.
const MIN_STEP: f64 = 7.0;
const RATE_STEP: f64 = 1_920_000.0;
/// The steeper increase: the queue that it builds in a round.
const QUEUE_GROWTH: f64 = 1e-3;
const BURST_TIME: f64 = 250e-6;
const ALPHA_DIVISOR: f64 = 16.0;
/// Bulk pacing runs so much above and below the rate by turns.
const RATE_OFFSET: f64 = 1.03;
/// Round-trip time up to which there is no window to speak of, in seconds.
const RATE_MODE_RTT: f64 = 0.002;

/// Counters of the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets received.
    pub received: u64,
    /// Packets received with CE.
    pub marked: u64,
    /// Packets considered lost.
    pub lost: u64,
}

/// Limits for the sender, beside the [pacing rate](Control::pacing).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Limits {
    /// UDP payload of a packet, in bytes.
    pub packet_size: u32,
    /// Largest number of packets in flight.
    pub packet_window: u64,
    /// Packets that may leave back to back.
    pub burst: u64,
    /// Real-time mode: size of a frame in bytes.
    pub frame_size: u32,
    /// Real-time mode: largest number of frames in flight.
    pub frame_window: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Init,
    Avoiding,
    Reduced,
}

/// State that a loss took, to be given back if the packet arrives after all.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Undo {
    lost: u64,
    bytes: f64,
    in_rate_mode: bool,
    rounds: f64,
}

/// A moment from which a round is counted: what had been sent, and when.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Mark {
    sent: u64,
    at: Instant,
}

/// The controller.
#[derive(Clone, Debug)]
pub struct Control {
    config: UdpPragueConfig,
    reference: f64,
    divisor: f64,
    state: State,
    /// Bytes a second; bytes.
    rate: f64,
    window: f64,
    in_rate_mode: bool,
    smoothed: Option<f64>,
    virtual_rtt: f64,
    alpha: f64,
    /// Counters and moment of the last update of `alpha`.
    alpha_at: (Mark, Counters),
    reduced_at: Mark,
    lost_at: Option<Mark>,
    undo: Option<Undo>,
    rounds_to_growth: f64,
    last: Counters,
    /// Limits that follow from rate, window and round-trip time.
    limits: Limits,
}

impl Control {
    /// A controller at its initial rate.
    pub fn new(config: &UdpPragueConfig) -> Self {
        let interval = config.frames.as_ref().map(|frames| 1.0 / f64::from(frames.rate));
        let reference = interval.unwrap_or(REFERENCE_RTT);
        let rate = config.initial_rate.as_bytes_per_sec();
        let mut control = Self {
            config: config.clone(),
            reference,
            divisor: libm::floor(ALPHA_DIVISOR * REFERENCE_RTT / reference).max(1.0),
            state: State::Init,
            rate,
            window: INITIAL_WINDOW * config.max_packet.as_f64(),
            in_rate_mode: false,
            smoothed: None,
            virtual_rtt: reference,
            alpha: 0.0,
            alpha_at: (Mark::default(), Counters::default()),
            reduced_at: Mark::default(),
            lost_at: None,
            undo: None,
            rounds_to_growth: libm::floor(rate / RATE_STEP) + MIN_STEP,
            last: Counters::default(),
            limits: Limits::default(),
        };
        control.limit();
        control
    }

    /// Starts again after a second without any feedback; counters go on from `counters`.
    pub fn reset(&mut self, counters: Counters, sent: u64, now: Instant) {
        let smoothed = self.smoothed;
        *self = Self::new(&self.config);
        self.smoothed = smoothed;
        self.last = counters;
        self.alpha_at = (Mark { sent, at: now }, counters);
    }

    /// Takes in a round-trip time.
    pub fn on_rtt(&mut self, rtt: Duration) {
        let rtt = rtt.as_secs_f64().max(1e-6);
        let smoothed = self.smoothed.map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / 8.0);
        self.smoothed = Some(smoothed);
        self.virtual_rtt = smoothed.max(self.reference);
        self.limit();
    }

    fn round_is_over(&self, since: Mark, now: Instant, counters: Counters) -> bool {
        counters.received + counters.lost > since.sent && now.since(since.at).as_secs_f64() > self.virtual_rtt
    }

    /// Takes in feedback, in this order: mode, alpha, loss, increase, marks. `used` is true if the sender used what it
    /// was allowed: only then may the limits grow (the public implementation, which always has data, does not check
    /// this).
    pub fn on_feedback(&mut self, now: Instant, counters: Counters, sent: u64, used: bool) {
        // Counters that fall are those of an overtaken report.
        if counters.received < self.last.received || counters.marked < self.last.marked {
            return;
        }
        // Without a round trip neither a window nor a round can be told.
        let Some(smoothed) = self.smoothed else { return };
        // The first round-trip time makes a window of the initial rate.
        if self.state == State::Init {
            self.window = smoothed * self.rate;
            self.state = State::Avoiding;
            self.alpha_at.0.at = now;
        }
        let in_rate_mode = smoothed <= RATE_MODE_RTT || smoothed <= self.packet_size() / self.rate;
        // The window was not kept up while the rate ruled.
        if self.in_rate_mode && !in_rate_mode {
            self.window = smoothed * self.rate;
        }
        self.in_rate_mode = in_rate_mode;
        self.average(now, counters, sent);
        self.handle_loss(now, counters, sent);
        // An application that does not fill its window learns nothing of a larger one (RFC 9331 4.3).
        if used {
            self.increase(counters, smoothed);
        }
        self.handle_marks(now, counters, sent);
        self.last = counters;
        self.derive(smoothed);
    }

    fn average(&mut self, now: Instant, counters: Counters, sent: u64) {
        let (mark, before) = self.alpha_at;
        let received = counters.received - before.received.min(counters.received);
        // With losses alone there is no share to speak of.
        if received == 0 || !self.round_is_over(mark, now, counters) {
            return;
        }
        let share = (counters.marked - before.marked) as f64 / received as f64;
        self.alpha = (self.alpha + (share - self.alpha) / self.divisor).min(1.0);
        self.alpha_at = (Mark { sent, at: now }, counters);
        self.rounds_to_growth = (self.rounds_to_growth - 1.0).max(0.0);
    }

    fn handle_loss(&mut self, now: Instant, counters: Counters, sent: u64) {
        // The packet came after all: what its loss took is given back.
        if let Some(undo) = self.undo.filter(|undo| counters.lost <= undo.lost) {
            self.undo = None;
            self.lost_at = None;
            self.in_rate_mode = undo.in_rate_mode;
            // In the unit in which it was taken.
            if undo.in_rate_mode {
                self.rate += undo.bytes;
            } else {
                self.window += undo.bytes;
            }
            self.rounds_to_growth = (self.rounds_to_growth - undo.rounds).max(0.0);
            self.state = State::Avoiding;
        }
        // Losses of one round are one congestion.
        if self.lost_at.is_some_and(|mark| self.round_is_over(mark, now, counters)) {
            self.lost_at = None;
        }
        // A loss halves, as for a classic sender (RFC 9331 4.3).
        if self.lost_at.is_none() && counters.lost > self.last.lost {
            let packets_per_rtt = self.rate / 2.0 / self.config.max_packet.as_f64();
            let rounds = libm::floor(packets_per_rtt * REFERENCE_RTT / self.virtual_rtt * REFERENCE_RTT);
            self.rounds_to_growth = rounds;
            // Rate and window are two views of one state; the one in charge is changed.
            let taken = if self.in_rate_mode { self.rate } else { self.window } / 2.0;
            if self.in_rate_mode {
                self.rate -= taken;
            } else {
                self.window -= taken;
            }
            self.undo = Some(Undo { lost: self.last.lost, bytes: taken, in_rate_mode: self.in_rate_mode, rounds });
            self.lost_at = Some(Mark { sent, at: now });
        }
    }

    fn increase(&mut self, counters: Counters, smoothed: f64) {
        let received = counters.received - self.last.received;
        let marked = counters.marked - self.last.marked;
        // No growth in the round of a loss, nor by packets that were marked.
        if self.lost_at.is_some() || received <= marked {
            return;
        }
        let acked = (received - marked) as f64 * self.packet_size();
        let max_packet = self.config.max_packet.as_f64();
        let queue = self.rate * QUEUE_GROWTH;
        let is_steep = self.config.growth == UdpPragueGrowth::Queue && self.rounds_to_growth == 0.0;
        // Growth by the queue is for calm: after a loss or a mark the path has shown its limit.
        let step = if is_steep { queue.max(max_packet) } else { max_packet };
        if self.in_rate_mode {
            self.rate += acked / (self.rate * self.virtual_rtt) * step / self.virtual_rtt;
        } else {
            let scale = smoothed / self.virtual_rtt;
            self.window += acked * step * scale * scale / self.window.max(1.0);
        }
    }

    fn handle_marks(&mut self, now: Instant, counters: Counters, sent: u64) {
        // One reduction a round: marks of the same round are those that the reduction has not reached yet.
        if self.state == State::Reduced && self.round_is_over(self.reduced_at, now, counters) {
            self.state = State::Avoiding;
        }
        // By half the average share of marks; a loss in the same round has taken more already.
        if counters.marked > self.last.marked && self.state == State::Avoiding && self.lost_at.is_none() {
            self.rounds_to_growth = libm::floor(self.rate / RATE_STEP) + MIN_STEP;
            let keep = 1.0 - self.alpha / 2.0;
            // As for a loss, the one in charge is changed.
            if self.in_rate_mode {
                self.rate *= keep;
            } else {
                self.window *= keep;
            }
            self.state = State::Reduced;
            self.reduced_at = Mark { sent, at: now };
        }
    }

    fn derive(&mut self, smoothed: f64) {
        // Whichever of the two rules, the other follows from it.
        if !self.in_rate_mode {
            self.rate = self.window / smoothed;
        }
        self.rate = self.rate.clamp(self.config.min_rate.as_bytes_per_sec(), self.config.max_rate.as_bytes_per_sec());
        self.window = (self.rate * smoothed).max(1.0);
        self.limit();
    }

    fn packet_size(&self) -> f64 {
        (self.rate * self.virtual_rtt / 2.0).clamp(MIN_PACKET, self.config.max_packet.as_f64())
    }

    /// Limits for the sender.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The pacing rate now.
    pub fn pacing(&self, now: Instant) -> BitRate {
        let early = now.since(self.alpha_at.0.at).as_secs_f64() < self.virtual_rtt / 2.0;
        BitRate::from_bytes_per_sec(match (self.config.frames.is_some(), early) {
            (true, _) => self.rate,
            (false, true) => self.rate * RATE_OFFSET,
            (false, false) => self.rate / RATE_OFFSET,
        })
    }

    fn limit(&mut self) {
        let size = self.packet_size();
        let packet_window = ((self.window * RATE_OFFSET / size + 1.0) as u64).max(2);
        let budget = self
            .config
            .frames
            .as_ref()
            .map_or(0.0, |frames| frames.budget.as_secs_f64().min(1.0 / f64::from(frames.rate)));
        let frame_size = (self.rate * budget).max(size);
        self.limits = Limits {
            packet_size: size as u32,
            packet_window,
            burst: ((self.rate * BURST_TIME / size) as u64).max(1),
            frame_size: frame_size as u32,
            frame_window: ((packet_window as f64 * size / frame_size) as u64).max(2),
        };
    }

    /// Raises the rate to `rate` for another reason than the absence of marks.
    pub fn raise(&mut self, rate: BitRate) {
        self.rate = self.rate.max(rate.as_bytes_per_sec()).min(self.config.max_rate.as_bytes_per_sec());
        if let Some(smoothed) = self.smoothed {
            self.window = self.rate * smoothed;
        }
        self.limit();
    }

    /// Lowers the rate to `rate` for another reason than marks or losses.
    pub fn lower(&mut self, rate: BitRate) {
        self.rate = self.rate.min(rate.as_bytes_per_sec()).max(self.config.min_rate.as_bytes_per_sec());
        self.window = self.smoothed.map_or(self.window, |smoothed| self.rate * smoothed);
        self.limit();
    }

    /// The rate before pacing.
    pub fn rate(&self) -> BitRate {
        BitRate::from_bytes_per_sec(self.rate)
    }
    /// The window in bytes.
    pub fn window(&self) -> f64 {
        self.window
    }
    /// The average marked share.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
    /// Smoothed round-trip time.
    pub fn smoothed_rtt(&self) -> Option<Duration> {
        self.smoothed.map(Duration::from_secs_f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::udp_prague::UdpPragueGrowth;

    /// Packets by which the window grows in each of this many rounds of 50 ms without marks, at 50 Mbit/s.
    fn packets_a_round(growth: UdpPragueGrowth, rounds: u64) -> Vec<f64> {
        let rate = BitRate::from_mbps(50);
        let mut control = Control::new(&UdpPragueConfig { initial_rate: rate, growth, ..UdpPragueConfig::default() });
        let (mut counters, mut now) = (Counters::default(), Instant::ZERO);
        control.on_rtt(Duration::from_millis(50));
        control.on_feedback(now, counters, 0, true);
        let round = |_| {
            let before = control.window();
            let in_flight = (before / 1400.0) as u64;
            for _ in 0..in_flight {
                now += Duration::from_millis(51) / in_flight;
                counters.received += 1;
                control.on_rtt(Duration::from_millis(50));
                control.on_feedback(now, counters, counters.received + in_flight, true);
            }
            (control.window() - before) / 1400.0
        };
        (0..rounds).map(round).collect()
    }

    #[test]
    fn growth_by_a_packet_stays_while_that_by_a_queue_becomes_steep() {
        // Seven rounds and three for 50 Mbit/s; a millisecond of it is 4.5 packets.
        let by_packet = packets_a_round(UdpPragueGrowth::Packet, 20);
        assert!(by_packet.iter().all(|packets| (packets - 1.0).abs() < 0.05), "{by_packet:?}");
        let by_queue = packets_a_round(UdpPragueGrowth::Queue, 20);
        assert!(by_queue[..8].iter().all(|packets| (packets - 1.0).abs() < 0.05), "{by_queue:?}");
        assert!(by_queue[12..].iter().all(|packets| *packets > 4.0), "{by_queue:?}");
    }
}
