//! Classic ECN (RFC 3168 6.1.3): a receiver that saw CE echoes it in every acknowledgement until CWR arrives.

use tidemark_core::{TcpFeedback, TcpView};

/// The echo that the node adds to the client's own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassicEcn {
    echo: bool,
}

impl ClassicEcn {
    /// State from another CU-UP.
    pub(crate) fn new(echo: bool) -> Self {
        Self { echo }
    }

    pub(crate) fn downlink(&mut self, tcp: &TcpView) {
        // Before the segment's own mark is decided: CWR answers the marks up to here.
        if tcp.flags.cwr {
            self.echo = false;
        }
    }

    /// True, since an acknowledgement can always echo a mark.
    pub(crate) fn mark(&mut self) -> bool {
        self.echo = true;
        true
    }

    pub(crate) fn has_signalled(&self) -> bool {
        self.echo
    }

    pub(crate) fn uplink(&self, tcp: &TcpView) -> Option<TcpFeedback> {
        (self.echo && !tcp.flags.ece).then_some(TcpFeedback::Classic { ece: true })
    }
}
