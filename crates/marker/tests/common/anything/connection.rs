//! Feedback of a TCP connection as both of its ends see it.

/// Feedback of a TCP connection as it passed, by its addresses and ports.
#[derive(Clone, Copy, Default)]
pub struct Connection {
    /// Marks told, modulo 8.
    added: u8,
    /// A SYN/ACK passed, and the connection may have begun anew.
    may_be_new: bool,
    /// A SYN/ACK of a server with classic ECN alone passed.
    pub may_echo: bool,
}

impl Connection {
    /// A segment passes, which answers a SYN with this field or is another.
    pub fn pass(&mut self, syn_ack: Option<u8>) {
        self.may_be_new |= syn_ack.is_some();
        self.may_echo |= syn_ack == Some(0b001);
    }

    /// An acknowledgement told so many marks, and its ACE field differs by `added` from the client's.
    pub fn tell(&mut self, told: u64, added: u8) {
        assert!(told < 8, "three bits can't tell {told} marks");
        let sum = |before: u8| (before + told as u8) & 7;
        assert!(
            added == sum(self.added) || (self.may_be_new && added == sum(0)),
            "{added} after {} and {told}",
            self.added
        );
        (self.added, self.may_be_new) = (added, false);
    }
}
