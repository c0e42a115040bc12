//! Counters of what came to a GTP-U socket or from a UE and may not pass.

/// Declares counters, each with its name and the sentence that explains it.
macro_rules! counters {
    ($(#[doc = $about:literal])+ pub struct $name:ident { $(#[doc = $help:literal] pub $field:ident,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $name { $(#[doc = $help] pub $field: u64,)+ }

        impl $name {
            /// Counters, each with its name and a sentence about it, for display.
            pub fn counters(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> + use<> {
                [$((stringify!($field), $help.trim_ascii(), self.$field)),+].into_iter()
            }
        }
    };
}

counters! {
    /// Counters of what was refused at the sockets of [`N3`](crate::N3), [`F1u`](crate::F1u) and [`Cu`](crate::Cu), since the start.
    pub struct Refused {
        /// Messages from addresses that are no tunnel's peer.
        pub other_peers,
        /// Packets for TEIDs that no tunnel has.
        pub unknown_teids,
        /// Error messages that were not sent, since too many were.
        pub unanswered,
        /// Uplink packets whose source is no address of their UE.
        pub other_sources,
        /// Delivery statuses with SNs that were never sent.
        pub impossible_reports,
    }
}

impl Refused {
    /// Messages and packets that were refused, in all.
    pub fn total(&self) -> u64 {
        // Each message that got no answer has its own counter already.
        self.counters().map(|(_, _, value)| value).sum::<u64>() - self.unanswered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_counter_has_its_name_and_a_message_without_an_answer_counts_once() {
        let refused = Refused { unknown_teids: 3, unanswered: 2, other_sources: 4, ..Refused::default() };
        let named: Vec<_> = refused.counters().filter(|(_, _, value)| *value > 0).collect();
        assert_eq!(named[0], ("unknown_teids", "Packets for TEIDs that no tunnel has.", 3));
        assert_eq!((named.len(), refused.total()), (3, 7));
    }
}
