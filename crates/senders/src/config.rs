//! Configuration of the TCP transport, which is a part of every configuration of a controller over TCP.

use tidemark_core::{Bounded, Bytes, ConfigError, Duration, Range, bounds};

/// Congestion feedback that the two ends of a TCP connection negotiate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EcnMode {
    /// No ECN: packets are Not-ECT and congestion shows as loss.
    Off,
    /// One signal a round trip (RFC 3168), packets ECT(0).
    #[default]
    Classic,
    /// A count of CE marks (RFC 9768); packets ECT(1) if the controller is scalable, else ECT(0).
    Accecn,
}

/// The TCP transport, the same for every controller.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<TcpConfig>))]
pub struct TcpConfig {
    /// Feedback that the server is willing to negotiate. Default: `accecn` for Prague and BBR version 2, `classic` for
    /// Reno and CUBIC, `off` for BBR versions 1 and 3.
    pub ecn: Option<EcnMode>,
    /// Feedback that the client asks for. Default: the server's.
    pub client_ecn: Option<EcnMode>,
    /// Payload of a full segment. Default 1448 B: an Ethernet frame with timestamps.
    pub mss: Bytes,
    /// Initial window in segments. Default 10 (RFC 6928).
    pub initial_window: u32,
    /// Payload that the sender's socket holds: what is in flight and what the application has written ahead. It fills the buffer, and
    /// writes again once a third is free (Linux `sk_stream_min_wspace`). Default 4 MB: the upper end of Linux' `tcp_wmem`, 4 MiB, less
    /// the 4 % that its packet records take (measured with 6.18).
    pub send_buffer: Bytes,
    /// Receive buffer. All of it is advertised, since the application reads at once. Default 6 MB, more than the send buffer's, as with
    /// Linux' defaults: 6.18 advertises such a sender 12 MB.
    pub receive_window: Bytes,
    /// Longest delay of an acknowledgement. Default 40 ms, as in Linux.
    pub delayed_ack: Duration,
    /// Largest number of segments that one acknowledgement answers. Default 2 (RFC 5681 4.2).
    pub ack_every: u32,
    /// Lower limit of the variance term of the retransmission timeout. Default 200 ms, as in Linux
    /// (RFC 6298 asks for a timeout of 1 s at least).
    pub min_rto: Duration,
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            ecn: None,
            client_ecn: None,
            mss: Bytes(1448),
            initial_window: 10,
            send_buffer: Bytes(4_000_000),
            receive_window: Bytes(6_000_000),
            delayed_ack: Duration::from_millis(40),
            ack_every: 2,
            min_rto: Duration::from_millis(200),
        }
    }
}

/// Largest window that the window scale option allows.
const MAX_WINDOW: Bytes = Bytes(1 << 30);

bounds! { TcpConfig {
    mss: Range::between(Bytes(64), Bytes(9_000)),
    initial_window: Range::between(1u32, 1_000).unit("segments"),
    send_buffer: Range::at_most(MAX_WINDOW).because("RFC 7323 2.3"),
    receive_window: Range::at_most(MAX_WINDOW).because("RFC 7323 2.3"),
    delayed_ack: Range::at_most(Duration::from_millis(500)).because("RFC 5681 4.2"),
    ack_every: Range::between(1u32, 1_000).unit("segments"),
    min_rto: Range::between(Duration::from_millis(1), Duration::from_secs(60)),
    ..ecn, client_ecn
} }

impl TcpConfig {
    /// Checks the fields.
    ///
    /// # Errors
    /// The first field that cannot be used, with what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check().map_err(|error| error.within("tcp"))
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        for (field, size, segments, words) in
            [("receive_window", self.receive_window, 2, "two"), ("send_buffer", self.send_buffer, 3, "three")]
        {
            let min = Bytes(segments * self.mss.0);
            if size < min {
                return Err(ConfigError::new(field, format!("must be at least {min}, {words} segments")).found(size));
            }
        }
        Ok(())
    }
}
