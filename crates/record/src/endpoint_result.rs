//! Results of one end of a flow on a real network.

use schemars::JsonSchema;
use serde::Serialize;

use crate::distribution::Quantiles;
use crate::fields::{exact, results};
use crate::result::Codepoints;

/// Role of an end in a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The end that data leaves.
    Sender,
    /// The end that data comes to.
    Receiver,
}

/// Verdict on what the path does to ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Packets with ECT arrive so, or marked.
    Kept,
    /// Packets with ECT arrive as Not-ECT.
    Bleached,
    /// Packets with ECT do not arrive, and those with Not-ECT do.
    BlackHoled,
    /// No packet was sent that could tell.
    Unknown,
}

exact!(Role, Verdict);

results! {
    /// One end of a flow over an interval, or over all of them.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct EndpointResult {
        /// Kind of the line: `interval`, or `summary` for the last one, which is about all of them.
        pub kind: &'static str,
        /// Role of this end: `sender` or `receiver`.
        pub role: Role,
        /// Seconds since the two ends met.
        pub t_s: f64,
        /// Rate of IP packets: sent by the sender, received by the receiver.
        pub mbps: f64,
        /// IP packets: sent by the sender, received by the receiver.
        pub packets: u64,
        /// CE marks: received by the receiver, reported to the sender.
        pub marked: u64,
        /// Datagrams that the receiver got, by their ECN field.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ecn: Option<Codepoints>,
        /// Packets that the sender considers lost.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub lost: Option<u64>,
        /// Rate that the sender's controller asks for.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub target_mbps: Option<f64>,
        /// Pacing rate of the sender.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub pacing_mbps: Option<f64>,
        /// Congestion window of the sender.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub cwnd_kb: Option<f64>,
        /// Rate that the cell recommended last.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub recommended_mbps: Option<f64>,
        /// Share of marks that a scalable controller estimates.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub alpha: Option<f64>,
        /// Round-trip time.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rtt_ms: Option<Quantiles>,
        /// One-way delay beyond that of the fastest packet.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub queue_ms: Option<Quantiles>,
        /// Delay of frames from capture to arrival of the last packet, beyond the fastest packet's one-way delay.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frame_ms: Option<Quantiles>,
        /// Frames: sent by the sender, arrived whole at the receiver.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frames: Option<u64>,
        /// Frames that did not arrive although later ones began.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frames_lost: Option<u64>,
        /// Freezes of the picture that ended, as `freezeCount` of W3C webrtc-stats counts them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub freezes: Option<u64>,
        /// Time in which the picture stood still, in these freezes.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub frozen_s: Option<f64>,
        /// True if the sender's rate never was above its minimum.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub at_minimum: bool,
        /// Verdict on what the path does to ECN, in the summary: `kept`, `bleached`, `black-holed` or `unknown`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub verdict: Option<Verdict>,
    }
}

/// Part of a page of the reference: the fields of the lines.
pub fn reference() -> String {
    let text = "\n## Lines of `tidemark net send` and `tidemark net receive`\n\nA JSON object each interval, and one about all of them at the end. \
                What an end can't know, or does not measure, is absent.\n";
    STRUCTS.iter().fold(text.into(), |text: String, of| text + &of.reference())
}
