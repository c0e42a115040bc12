//! A run as packets with real headers: at the CU's core side, and on F1-U.
//!
//! `core.pcapng` has every packet as a capture at the CU-UP would show it beside the UPF: what comes down before the law saw
//! it, what goes up after the short-circuit wrote into it. `f1u.pcapng` has what passes between CU and DU: downlink PDUs after
//! the law, uplink PDUs before the short-circuit, delivery status reports as they reach the CU, and after a
//! handover, in a new tunnel, what PDCP sends again. A comment at each downlink packet of the core says what became of it.
//!
//! Everything that happens has a number, which is the packet's identity (`epb_packetid`) in both files: one that is in both
//! is the same packet on both sides of the CU, and both files together are in the order of these numbers. So a capture
//! can be replayed: `tests/faces.rs` does, and asks the packet path for the same verdicts.

mod f1u;
mod ip;
mod pcapng;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use tidemark_cell::{BearerId, Observer, Passage};
use tidemark_core::{Ecn, Instant, Packet};
use tidemark_marker::Verdict;

use crate::stamped::Stamped;
use f1u::{Down, Tunnel};
use pcapng::{File, Frame};

/// Writes what passes the CU to two files.
pub struct Capture(Arc<Mutex<Files>>);

struct Files {
    core: File<Box<dyn Write + Send>>,
    f1u: File<Box<dyn Write + Send>>,
    tunnels: BTreeMap<(u32, u8), Tunnel>,
    /// Number of the last thing that happened.
    event: u64,
    packet: Vec<u8>,
    frame: Vec<u8>,
}

impl Capture {
    /// Begins `core.pcapng` and `f1u.pcapng` in this folder, which is made.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let open = |name: &str| -> io::Result<File<Box<dyn Write + Send>>> {
            let out = io::BufWriter::new(std::fs::File::create(folder.join(format!("{name}.pcapng")))?);
            Ok(File::new(Box::new(out), name))
        };
        Ok(Self(Arc::new(Mutex::new(Files {
            core: open("core")?,
            f1u: open("f1u")?,
            tunnels: BTreeMap::new(),
            event: 0,
            packet: Vec::new(),
            frame: Vec::new(),
        }))))
    }

    /// Who listens to the cell for it.
    pub(crate) fn observer(&self) -> Observer<Stamped> {
        let files = Arc::clone(&self.0);
        Box::new(move |now, bearer, passage| {
            if let Ok(mut files) = files.lock() {
                files.passes(now, bearer, &passage);
            }
        })
    }

    /// Writes what is left, once the run is over and its simulation gone.
    ///
    /// # Errors
    /// The first thing that could not be written: nothing after it was.
    pub fn finish(self) -> io::Result<()> {
        let files = Arc::into_inner(self.0).and_then(|files| files.into_inner().ok());
        let files = files.ok_or_else(|| io::Error::other("the simulation still writes"))?;
        files.core.finish()?;
        files.f1u.finish()
    }
}

impl Files {
    fn passes(&mut self, now: Instant, bearer: BearerId, passage: &Passage<'_, Stamped>) {
        // What came up and what went up are one packet.
        self.event += u64::from(!matches!(passage, Passage::UplinkToCore(_)));
        let written = match passage {
            Passage::Downlink { packet, came, verdict, sdu, .. } => {
                let comment = match (verdict, sdu) {
                    (Verdict::Drop, _) => "dropped by the law",
                    (Verdict::Pass, Some(_)) => "passed",
                    (Verdict::Mark, Some(_)) => "marked",
                    (Verdict::Pass, None) => "passed, then dropped: the RLC queue is full",
                    (Verdict::Mark, None) => "marked, then dropped: the RLC queue is full",
                };
                self.core_packet(now, packet, *came, comment).and_then(|()| {
                    sdu.map_or(Ok(()), |sdu| self.pdu_down(now, packet, bearer, (sdu.sn, sdu.poll, false)))
                })
            }
            Passage::Forwarded { packet, sn } => self.pdu_down(now, packet, bearer, (*sn, false, true)),
            Passage::Report(status) => {
                let tunnel = self.tunnels.entry((bearer.ue.0, bearer.drb)).or_default();
                let built = tunnel.report(bearer, status, &mut self.frame);
                self.write_frame(now, built)
            }
            Passage::UplinkFromUe(packet) => {
                ip::write(packet, packet.ecn, &mut self.packet).map_err(io::Error::other).and_then(|()| {
                    let tunnel = self.tunnels.entry((bearer.ue.0, bearer.drb)).or_default();
                    let built = tunnel.up(bearer, &self.packet, packet.ecn, &mut self.frame);
                    self.write_frame(now, built)
                })
            }
            Passage::UplinkToCore(packet) => self.core_packet(now, packet, packet.ecn, ""),
            Passage::HandedOver => {
                let tunnel = self.tunnels.entry((bearer.ue.0, bearer.drb)).or_default();
                let built = tunnel.hand_over(bearer, &mut self.frame);
                self.write_frame(now, built)
            }
            Passage::Delivered { .. } => Ok(()),
        };
        if let Err(error) = written {
            self.core.fail(error);
        }
    }

    fn core_packet(&mut self, at: Instant, packet: &Packet<Stamped>, ecn: Ecn, comment: &str) -> io::Result<()> {
        ip::write(packet, ecn, &mut self.packet).map_err(io::Error::other)?;
        self.core.write(&Frame { at, event: self.event, bytes: &self.packet, comment });
        Ok(())
    }

    /// `sdu`: its SN, whether a report is asked for, whether it was sent before.
    fn pdu_down(
        &mut self,
        at: Instant,
        packet: &Packet<Stamped>,
        bearer: BearerId,
        (sn, poll, retransmission): (u32, bool, bool),
    ) -> io::Result<()> {
        ip::write(packet, packet.ecn, &mut self.packet).map_err(io::Error::other)?;
        let down = Down { sn, packet: &self.packet, ecn: packet.ecn, poll, retransmission };
        let tunnel = self.tunnels.entry((bearer.ue.0, bearer.drb)).or_default();
        let built = tunnel.down(bearer, &down, &mut self.frame);
        self.write_frame(at, built)
    }

    fn write_frame(&mut self, at: Instant, built: tidemark_wire::Result<()>) -> io::Result<()> {
        built.map_err(io::Error::other)?;
        self.f1u.write(&Frame { at, event: self.event, bytes: &self.frame, comment: "" });
        Ok(())
    }
}
