//! A run as packets with real headers: at the CU's core side, and on F1-U.
//!
//! `core.pcapng` has every packet as a capture at the CU-UP would show it beside the UPF: what comes down before the law saw
//! it, what goes up after the short-circuit wrote into it. `f1u.pcapng` has what passes between CU and DU: downlink PDUs after
//! the law, uplink PDUs before the short-circuit, delivery status reports as they reach the CU, what PDCP discards, and after
//! a handover, in a new tunnel, what PDCP sends again. Where a law decides as packets leave the RLC queue, `rlc.pcapng` has
//! them as they stood. A comment at each downlink packet of the core and of the queue says what became of it.
//!
//! Everything that happens has a number, which is the packet's identity (`epb_packetid`) in all files: one that is in two
//! is the same packet on both sides of the CU, and the files together are in the order of these numbers. So a capture
//! can be replayed: `tests/faces.rs` does, and asks the packet path for the same verdicts.

mod f1u;
mod ip;
mod pcapng;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tidemark_cell::{BearerId, Observer, Passage};
use tidemark_core::{Ecn, Instant, Packet};
use tidemark_marker::Verdict;

use crate::stamped::Stamped;
use f1u::{Down, Tunnel};
use pcapng::{File, Frame};

type Out = File<Box<dyn Write + Send>>;

/// Writes what passes the CU to files.
pub struct Capture(Arc<Mutex<Files>>);

struct Files {
    folder: PathBuf,
    core: Out,
    f1u: Out,
    /// Begun with the first packet.
    rlc: Option<Out>,
    tunnels: BTreeMap<(u32, u8), Tunnel>,
    /// Number of the last thing that happened.
    event: u64,
    packet: Vec<u8>,
    frame: Vec<u8>,
}

impl Capture {
    /// Begins `core.pcapng` and `f1u.pcapng` in this folder, which is made; `rlc.pcapng` follows where it is needed.
    ///
    /// # Errors
    /// What the system says.
    pub fn create(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        Ok(Self(Arc::new(Mutex::new(Files {
            folder: folder.into(),
            core: open(folder, "core")?,
            f1u: open(folder, "f1u")?,
            rlc: None,
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
        files.f1u.finish()?;
        files.rlc.map_or(Ok(()), File::finish)
    }
}

fn open(folder: &Path, name: &str) -> io::Result<Out> {
    let out = io::BufWriter::new(std::fs::File::create(folder.join(format!("{name}.pcapng")))?);
    Ok(File::new(Box::new(out), name))
}

impl Files {
    fn passes(&mut self, now: Instant, bearer: BearerId, passage: &Passage<'_, Stamped>) {
        // What came up and what went up are one packet; what the DU does with SDUs is in no file.
        let is_new = !matches!(passage, Passage::UplinkToCore(_) | Passage::Sent { .. } | Passage::Delivered { .. });
        self.event += u64::from(is_new);
        let written = match passage {
            Passage::Downlink { packet, came, verdict, sdu, .. } => {
                let on = drb_of(bearer);
                let comment = match (verdict, sdu) {
                    (Verdict::Drop, _) => format!("dropped by the law{on}"),
                    (Verdict::Pass, Some(_)) => format!("passed{on}"),
                    (Verdict::Mark, Some(_)) => format!("marked{on}"),
                    (Verdict::Pass, None) => format!("passed{on}, then dropped: the RLC queue is full"),
                    (Verdict::Mark, None) => format!("marked{on}, then dropped: the RLC queue is full"),
                };
                self.core_packet(now, packet, *came, &comment).and_then(|()| {
                    sdu.map_or(Ok(()), |sdu| self.pdu_down(now, packet, bearer, (sdu.sn, sdu.poll, false)))
                })
            }
            Passage::Forwarded { packet, sn } => self.pdu_down(now, packet, bearer, (*sn, false, true)),
            Passage::Report { status, .. } => {
                let tunnel = self.tunnels.entry((bearer.ue.0, bearer.drb)).or_default();
                let built = tunnel.report(bearer, status, &mut self.frame);
                self.write_frame(now, built)
            }
            Passage::Discarded { sn } => {
                let tunnel = self.tunnels.entry((bearer.ue.0, bearer.drb)).or_default();
                let built = tunnel.discard(bearer, *sn, &mut self.frame);
                self.write_frame(now, built)
            }
            Passage::Left { packet, sn, sojourn, behind, verdict } => {
                let became = match verdict {
                    Verdict::Pass => "passed",
                    Verdict::Mark => "marked",
                    Verdict::Drop => "dropped",
                };
                let (sojourn, behind, on) = (sojourn.as_nanos(), behind.0, drb_of(bearer));
                let comment = format!("{became}{on}, SN {sn}, after {sojourn} ns, {behind} bytes behind it");
                self.leaving(now, packet, &comment)
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
            Passage::Sent { .. } | Passage::Delivered { .. } => Ok(()),
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

    fn leaving(&mut self, at: Instant, packet: &Packet<Stamped>, comment: &str) -> io::Result<()> {
        ip::write(packet, packet.ecn, &mut self.packet).map_err(io::Error::other)?;
        let rlc = match &mut self.rlc {
            Some(rlc) => rlc,
            none => none.insert(open(&self.folder, "rlc")?),
        };
        rlc.write(&Frame { at, event: self.event, bytes: &self.packet, comment });
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

/// Which bearer, where it is not the default one.
fn drb_of(bearer: BearerId) -> String {
    if bearer.drb == 1 { String::new() } else { format!(", DRB {}", bearer.drb) }
}
