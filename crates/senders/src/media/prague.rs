//! UDP Prague's rate for a video: its real-time mode, whose rounds last a frame's time at the least, by reports on each packet.
//!
//! The arithmetic is [`Control`], which UDP Prague's own sender drives by its own reports. A video's frames have sizes of their own, so the
//! control's rate is the target of the encoder, and its windows are not used: between two frames a flight says little.

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Ecn, Instant, Range, bounds};

use super::elapsed::Elapsed;
use super::{Feedback, MAX_PAYLOAD, MediaController, PACED, PACING, RateLimits, ReportPolicy};
use crate::control::{CongestionControl, Properties, Transport};
use crate::payload::RtpPacket;
use crate::udp_prague::{Control, Counters, FrameConfig, UdpPragueConfig, UdpPragueGrowth};

/// Share of the rate that a stream has to use for a larger one.
const USED: f64 = 0.5;

/// UDP Prague's control, fed by reports on each packet.
#[derive(Clone, Debug)]
pub(super) struct ReportedPrague {
    control: Control,
    counters: Counters,
}

impl ReportedPrague {
    /// A control within the limits of a video, with rounds for `frames` or for bulk.
    pub(super) fn new(rates: &RateLimits, frames: Option<FrameConfig>, growth: UdpPragueGrowth) -> Self {
        let control = Control::new(&UdpPragueConfig {
            max_packet: RtpPacket::wire_size_of(MAX_PAYLOAD),
            initial_rate: rates.initial,
            min_rate: rates.min,
            max_rate: rates.max,
            frames,
            report_interval: None,
            growth,
        });
        Self { control, counters: Counters::default() }
    }

    /// Takes in a report. Only a stream that `used` its rate may have a larger one.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, used: bool) {
        // A report of losses alone has no round trip.
        if let Some(rtt) = feedback.rtt {
            self.control.on_rtt(rtt);
        }
        let (arrived, marked, lost) = feedback.counts();
        self.counters.received += u64::from(arrived);
        self.counters.marked += u64::from(marked);
        self.counters.lost += u64::from(lost);
        // Packets whose report was lost are in no counter: a round that waited for them would never end.
        let sent = self.settled() + feedback.outstanding;
        self.control.on_feedback(feedback.now, self.counters, sent, used);
    }

    /// Starts again after a second without reports, at half of the rate at the most.
    pub(super) fn on_silence(&mut self, now: Instant) {
        let half = BitRate::from_bps_f64(self.control.rate().as_bps() as f64 / 2.0);
        self.control.reset(self.counters, self.settled(), now);
        self.control.lower(half);
    }

    fn settled(&self) -> u64 {
        self.counters.received + self.counters.lost
    }

    /// The control itself.
    pub(super) fn control(&self) -> &Control {
        &self.control
    }

    /// Raises the rate for another reason than the absence of marks.
    pub(super) fn raise(&mut self, rate: BitRate) {
        self.control.raise(rate);
    }
}

/// Configuration of UDP Prague's rate for a video.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<PragueVideoConfig>))]
pub struct PragueVideoConfig {
    /// Frames a second. The time between two frames is the shortest round. Default 60, as for `video`.
    pub frame_rate: u32,
    /// Rate at which packets leave, as a multiple of the target. Default 1.1, as for the other video controllers.
    pub pacing: f64,
    /// Limits of the target rate.
    pub rates: RateLimits,
}

impl Default for PragueVideoConfig {
    fn default() -> Self {
        Self { frame_rate: FrameConfig::default().rate, pacing: PACED, rates: RateLimits::default() }
    }
}

bounds! { PragueVideoConfig {
    frame_rate: Range::between(1u32, 255).unit("frames a second"),
    pacing: PACING,
    ..rates
} }

impl CongestionControl for PragueVideoConfig {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "UDP Prague's rate for a video",
            follows: "L4STeam/udp_prague",
            answers: "marks in proportion, losses by half",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.rates.validate()
    }
    fn transport(&self) -> Transport<'_> {
        Transport::Rtp(Box::new(|| Box::new(PragueVideo::new(self))))
    }
    fn min_rate(&self) -> Option<BitRate> {
        self.rates.floor()
    }
}

/// UDP Prague's rate for a video.
#[derive(Clone, Debug)]
pub struct PragueVideo {
    config: PragueVideoConfig,
    prague: ReportedPrague,
    elapsed: Elapsed,
}

impl PragueVideo {
    /// A controller at its initial rate.
    pub fn new(config: &PragueVideoConfig) -> Self {
        let frames = FrameConfig { rate: config.frame_rate, ..FrameConfig::default() };
        let prague = ReportedPrague::new(&config.rates, Some(frames), UdpPragueGrowth::Queue);
        Self { config: config.clone(), prague, elapsed: Elapsed::default() }
    }

    /// True for a report on as much as half of the rate gives. An encoder that needs less learns nothing of more (RFC 9331 4.3).
    fn is_used(&mut self, feedback: &Feedback<'_>) -> bool {
        let allowed = self.prague.control().rate().as_bytes_per_sec() * self.elapsed.take(feedback.now);
        feedback.delivered().0.as_f64() >= USED * allowed
    }
}

impl MediaController for PragueVideo {
    fn report_policy(&self) -> ReportPolicy {
        ReportPolicy::each_frame(Duration::from_millis(25))
    }
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let used = self.is_used(feedback);
        self.prague.on_feedback(feedback, used);
    }
    fn on_silence(&mut self, now: Instant) {
        self.prague.on_silence(now);
    }
    fn target_rate(&self) -> BitRate {
        self.prague.control().rate()
    }
    fn pacing_rate(&self) -> BitRate {
        BitRate::from_bps_f64(self.target_rate().as_bps() as f64 * self.config.pacing)
    }
    fn ecn(&self) -> Ecn {
        Ecn::Ect1
    }
    fn alpha(&self) -> Option<f64> {
        Some(self.prague.control().alpha())
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;

    use super::*;
    use crate::media::PacketResult;

    const RTT: Duration = Duration::from_millis(30);

    /// Stream of 100 packets a second with a report on every ten of them.
    struct Stream {
        controller: PragueVideo,
        now: Instant,
        seq: u64,
        size: Bytes,
    }

    impl Stream {
        fn new(size: u64) -> Self {
            let rates = RateLimits {
                min: BitRate::from_kbps(100),
                initial: BitRate::from_mbps(1),
                max: BitRate::from_mbps(20),
            };
            let controller = PragueVideo::new(&PragueVideoConfig { rates, ..PragueVideoConfig::default() });
            Self { controller, now: Instant::from_millis(1000), seq: 0, size: Bytes(size) }
        }

        fn result(&mut self, ecn: Option<Ecn>) -> PacketResult {
            self.seq += 1;
            let sent_at = self.now.before(RTT);
            let received_at = ecn.map(|_| self.now);
            let ecn = ecn.unwrap_or(Ecn::NotEct);
            PacketResult { seq: self.seq - 1, size: self.size, sent_at, received_at, ecn, probe: None }
        }

        /// Reports ten packets with these fates by turns, or loses the report; the rate after it in Mbit/s.
        fn report(&mut self, fates: &[Option<Ecn>], is_lost: bool) -> f64 {
            self.now += Duration::from_millis(100);
            let results: Vec<_> = fates.iter().cycle().take(10).map(|ecn| self.result(*ecn)).collect();
            let (in_flight, sent) = (Bytes(3 * self.size.0), self.seq + 3);
            let feedback =
                Feedback { now: self.now, results: &results, rtt: Some(RTT), in_flight, sent, outstanding: 3 };
            if !is_lost {
                self.controller.on_feedback(&feedback);
            }
            self.controller.target_rate().as_mbps()
        }
    }

    const PLAIN: [Option<Ecn>; 1] = [Some(Ecn::Ect1)];
    const MARKED: [Option<Ecn>; 1] = [Some(Ecn::Ce)];

    #[test]
    fn marks_take_off_half_of_their_average_share_and_a_loss_half() {
        let mut stream = Stream::new(1248);
        (0..50).for_each(|_| _ = stream.report(&PLAIN, false));
        let before = stream.controller.target_rate().as_mbps();
        let marked = stream.report(&MARKED, false);
        // A 24th of the share goes into the average, of which half is taken: 2 %, beside the growth of a report.
        assert!((0.97..0.99).contains(&(marked / before)), "{before} {marked}");
        (0..20).for_each(|_| _ = stream.report(&PLAIN, false));
        let before = stream.controller.target_rate().as_mbps();
        let lost = stream.report(&[None, Some(Ecn::Ect1)], false);
        assert!((0.49..0.51).contains(&(lost / before)), "{before} {lost}");
    }

    #[test]
    fn an_encoder_that_needs_less_than_half_of_the_rate_has_no_larger_one() {
        // 40 kbit/s of 1 Mbit/s.
        let mut stream = Stream::new(50);
        (0..100).for_each(|_| _ = stream.report(&PLAIN, false));
        assert_eq!(stream.controller.target_rate(), BitRate::from_mbps(1));
        let mut stream = Stream::new(1248);
        (0..100).for_each(|_| _ = stream.report(&PLAIN, false));
        assert!(stream.controller.target_rate() > BitRate::from_kbps(1900), "{}", stream.controller.target_rate());
    }

    #[test]
    fn marks_are_answered_after_many_reports_were_lost() {
        let mut stream = Stream::new(1248);
        for report in 0..400 {
            stream.report(&PLAIN, report % 2 == 0);
        }
        let before = stream.controller.target_rate().as_mbps();
        // Rounds of the time after it must not last until 2000 packets more than those were reported.
        (0..50).for_each(|_| _ = stream.report(&MARKED, false));
        let after = stream.controller.target_rate().as_mbps();
        assert!(after < 0.2 * before, "{before} {after}");
    }

    #[test]
    fn each_second_of_silence_takes_half() {
        let mut stream = Stream::new(1248);
        let rates = [1000, 2000, 3000, 4000].map(|at| {
            stream.controller.on_silence(Instant::from_millis(at));
            stream.controller.target_rate().as_bps() / 1000
        });
        assert_eq!(rates, [500, 250, 125, 100]);
    }
}
