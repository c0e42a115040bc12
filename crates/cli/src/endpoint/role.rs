//! Roles of the two ends of a flow.

use serde::Serialize;

/// Role of an end in a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The end that data leaves.
    Sender,
    /// The end that data comes to.
    Receiver,
}
