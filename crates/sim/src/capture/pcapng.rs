//! A capture in the pcapng format (draft-ietf-opsawg-pcapng): one section, one interface of raw IP packets.

use std::io::{Result, Write};

use tidemark_core::Instant;

const SECTION: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// LINKTYPE_RAW.
const RAW_IP: u16 = 101;
const OPT_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
const EPB_PACKET_ID: u16 = 5;

/// Bytes of a packet that are kept: every header, in a tunnel too. Payloads have nothing in them to look at.
const KEPT: usize = 256;

/// One file. An error is reported at the end, and nothing is written after one.
pub(super) struct File<W> {
    out: W,
    outcome: Result<()>,
    block: Vec<u8>,
}

/// A packet with what a capture says of it.
pub(super) struct Frame<'a> {
    pub(super) at: Instant,
    /// Number of the packet, counted over all files of a run: the same packet has the same number in each.
    pub(super) event: u64,
    pub(super) bytes: &'a [u8],
    pub(super) comment: &'a str,
}

impl<W: Write> File<W> {
    pub(super) fn new(out: W, interface: &str) -> Self {
        let mut file = Self { out, outcome: Ok(()), block: Vec::new() };
        file.block(SECTION, |body| {
            body.extend(0x1A2B_3C4D_u32.to_le_bytes());
            body.extend([1, 0, 0, 0]); // version 1.0
            body.extend((-1i64).to_le_bytes()); // of a length that is not said
        });
        file.block(INTERFACE, |body| {
            body.extend(RAW_IP.to_le_bytes());
            body.extend([0; 2]);
            body.extend((KEPT as u32).to_le_bytes());
            option(body, IF_NAME, interface.as_bytes());
            option(body, IF_TSRESOL, &[9]); // nanoseconds
            option(body, 0, &[]);
        });
        file
    }

    pub(super) fn write(&mut self, frame: &Frame<'_>) {
        let kept = &frame.bytes[..frame.bytes.len().min(KEPT)];
        let at = frame.at.as_nanos();
        self.block(ENHANCED_PACKET, |body| {
            for word in [0, (at >> 32) as u32, at as u32, kept.len() as u32, frame.bytes.len() as u32] {
                body.extend(word.to_le_bytes());
            }
            body.extend(kept);
            pad(body);
            if !frame.comment.is_empty() {
                option(body, OPT_COMMENT, frame.comment.as_bytes());
            }
            option(body, EPB_PACKET_ID, &frame.event.to_le_bytes());
            option(body, 0, &[]);
        });
    }

    /// Remembers the first thing that went wrong.
    pub(super) fn fail(&mut self, error: std::io::Error) {
        if self.outcome.is_ok() {
            self.outcome = Err(error);
        }
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.outcome?;
        self.out.flush()
    }

    fn block(&mut self, kind: u32, fill: impl FnOnce(&mut Vec<u8>)) {
        if self.outcome.is_err() {
            return;
        }
        self.block.clear();
        self.block.extend(kind.to_le_bytes());
        self.block.extend([0; 4]);
        fill(&mut self.block);
        pad(&mut self.block);
        let len = (self.block.len() as u32 + 4).to_le_bytes();
        self.block[4..8].copy_from_slice(&len);
        self.block.extend(len);
        self.outcome = self.out.write_all(&self.block);
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
}
