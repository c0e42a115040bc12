//! Configuration of the TCP transport, which is a part of every configuration of a controller over TCP.

use tidemark_core::{Bytes, ConfigError, Duration};

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Receive buffer, advertised whole, since the application reads at once. Default 6 MB, more than the send buffer's, as with Linux'
    /// defaults: 6.18 advertises such a sender 12 MB.
    pub receive_window: Bytes,
    /// Longest delay of an acknowledgement. Default 40 ms, as in Linux.
    pub delayed_ack: Duration,
    /// Segments that an acknowledgement answers at most. Default 2 (RFC 5681 4.2).
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

impl TcpConfig {
    /// Checks the fields.
    ///
    /// # Errors
    /// The first field that cannot be used, with what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if !(64..=9000).contains(&self.mss.0) {
            return Err(ConfigError::new("tcp.mss", "a segment carries 64 B to 9000 B"));
        }
        if !(1..=1000).contains(&self.initial_window) {
            return Err(ConfigError::new("tcp.initial_window", "it must lie between 1 and 1000 segments"));
        }
        if !(2 * self.mss.0..=1 << 30).contains(&self.receive_window.0) {
            return Err(ConfigError::new(
                "tcp.receive_window",
                "it must lie between two segments and 1 GiB (RFC 7323)",
            ));
        }
        if !(3 * self.mss.0..=1 << 30).contains(&self.send_buffer.0) {
            return Err(ConfigError::new("tcp.send_buffer", "it must lie between three segments and 1 GiB"));
        }
        if self.delayed_ack > Duration::from_millis(500) {
            return Err(ConfigError::new("tcp.delayed_ack", "at most 500 ms (RFC 5681 4.2)"));
        }
        if !(1..=1000).contains(&self.ack_every) {
            return Err(ConfigError::new("tcp.ack_every", "it must lie between 1 and 1000 segments"));
        }
        if self.min_rto < Duration::from_millis(1) || self.min_rto > Duration::from_secs(60) {
            return Err(ConfigError::new("tcp.min_rto", "it must lie between 1 ms and 60 s"));
        }
        Ok(())
    }
}
