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
//!
//! `packets.pftrace` has the stay of each packet in each layer, for Perfetto, and a file of qlog what each sender did.

mod f1u;
mod ip;
mod pcapng;
mod perfetto;
mod qlog;
mod trace;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tidemark_cell::{BearerId, Event, Observer};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Packet};
use tidemark_marker::Verdict;
use tidemark_wire::mac::Direction;

use crate::scenario::Scenario;
use crate::stamped::Stamped;
use f1u::{Down, Tunnel};
use pcapng::{File, Frame};
use trace::Trace;

pub(crate) use qlog::Senders;

type Sink = Box<dyn Write + Send>;
type Out = File<Sink>;

/// Writes what passes the CU, and what senders do, to files.
pub struct Capture {
    files: Arc<Mutex<Files>>,
    senders: Senders,
}

struct Files {
    folder: PathBuf,
    core: Out,
    f1u: Out,
    /// Begun with the first packet.
    rlc: Option<Out>,
    trace: Trace<Sink>,
    tunnels: BTreeMap<(u32, u8), Tunnel>,
    /// Number of the last thing that happened.
    event: u64,
    /// Packet that the CU has and has not numbered yet: the ECN field that it came with, and the law's decision.
    arrived: Option<(Ecn, Verdict)>,
    /// Packet that leaves the RLC queue: SN, time in the queue, and IP bytes behind it.
    dequeued: Option<(u32, Duration, Bytes)>,
    packet: Vec<u8>,
    frame: Vec<u8>,
}

impl Capture {
    /// Begins `core.pcapng`, `f1u.pcapng` and `packets.pftrace` in this folder, which is made; `rlc.pcapng` follows where it is
    /// needed, and with each sender its qlog.
    ///
    /// # Errors
    /// An error of the system.
    pub fn create(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let files = Files {
            folder: folder.into(),
            core: open(folder, "core")?,
            f1u: open(folder, "f1u")?,
            rlc: None,
            trace: Trace::new(sink(&folder.join("packets.pftrace"))?),
            tunnels: BTreeMap::new(),
            event: 0,
            arrived: None,
            dequeued: None,
            packet: Vec::new(),
            frame: Vec::new(),
        };
        Ok(Self { files: Arc::new(Mutex::new(files)), senders: Senders::new(folder) })
    }

    /// Observer of the cell for the capture of a scenario.
    pub(crate) fn observer(&self, scenario: &Scenario) -> Observer<Stamped> {
        let ues = scenario.ues();
        let flows = scenario.flows(&ues).into_iter().map(|flow| flow.name).collect();
        let files = Arc::clone(&self.files);
        if let Ok(mut files) = files.lock() {
            files.trace.name(flows, ues.into_iter().map(|ue| ue.name).collect());
        }
        Box::new(move |now, bearer, event| {
            if let Ok(mut files) = files.lock() {
                files.happens(now, bearer, &event);
            }
        })
    }

    /// Observer of the senders of a scenario.
    pub(crate) fn senders(&self, scenario: &Scenario) -> Senders {
        self.senders.name(scenario.flows(&scenario.ues()).into_iter().map(|flow| flow.name));
        self.senders.clone()
    }

    /// Writes what is left, once the run is over and its simulation gone.
    ///
    /// # Errors
    /// The first write that failed; nothing was written after it.
    pub fn finish(self) -> io::Result<()> {
        let files = Arc::into_inner(self.files).and_then(|files| files.into_inner().ok());
        let files = files.ok_or_else(|| io::Error::other("the simulation still writes"))?;
        files.core.finish()?;
        files.f1u.finish()?;
        files.trace.finish()?;
        files.rlc.map_or(Ok(()), File::finish)?;
        self.senders.finish()
    }
}

fn open(folder: &Path, name: &str) -> io::Result<Out> {
    Ok(File::new(sink(&folder.join(format!("{name}.pcapng")))?, name))
}

fn sink(path: &Path) -> io::Result<Sink> {
    Ok(Box::new(io::BufWriter::new(std::fs::File::create(path)?)))
}

impl Files {
    fn happens(&mut self, now: Instant, bearer: BearerId, event: &Event<'_, Stamped>) {
        self.event += u64::from(is_new(event));
        if let Err(error) = self.write(now, bearer, event) {
            self.core.fail(error);
        }
        self.trace.happens(now, bearer, event);
    }

    /// Writes what an event shows, or keeps it for the event that completes it.
    fn write(&mut self, now: Instant, bearer: BearerId, event: &Event<'_, Stamped>) -> io::Result<()> {
        match event {
            Event::Arrived { packet } => {
                self.arrived = Some((packet.ecn, Verdict::Pass));
                Ok(())
            }
            Event::Decided { packet, decision, .. } => match (&mut self.arrived, self.dequeued.take()) {
                (_, Some(dequeued)) => self.leaves(now, packet, bearer, dequeued, decision.verdict),
                (Some((_, decided)), None) => {
                    *decided = decision.verdict;
                    Ok(())
                }
                (None, None) => Ok(()),
            },
            Event::Numbered { packet, sn, poll } => self
                .core_packet_down(now, packet, bearer, true)
                .and_then(|()| self.pdu_down(now, packet, bearer, (*sn, *poll, false))),
            Event::Dropped { packet, direction: Direction::Downlink, .. } => {
                self.core_packet_down(now, packet, bearer, false)
            }
            Event::Forwarded { packet, sn } => self.pdu_down(now, packet, bearer, (*sn, false, true)),
            Event::Reported { status, .. } => {
                self.on_f1u(now, bearer, |tunnel, _, frame| tunnel.report(bearer, status, frame))
            }
            Event::Discarded { sn } => self.on_f1u(now, bearer, |tunnel, _, frame| tunnel.discard(bearer, *sn, frame)),
            Event::Dequeued { sn, sojourn, backlog, .. } => {
                self.dequeued = Some((*sn, *sojourn, *backlog));
                Ok(())
            }
            Event::UplinkDelivered { packet, .. } => {
                ip::write(packet, packet.ecn, &mut self.packet).map_err(io::Error::other)?;
                self.on_f1u(now, bearer, |tunnel, bytes, frame| tunnel.up(bearer, bytes, packet.ecn, frame))
            }
            Event::UplinkForwarded { packet } => self.core_packet(now, packet, packet.ecn, ""),
            Event::HandedOver => self.on_f1u(now, bearer, |tunnel, _, frame| tunnel.hand_over(bearer, frame)),
            // Acknowledgements carry the mark: the packet goes on without.
            Event::ShortCircuited { .. } => {
                self.arrived = self.arrived.map(|(came, _)| (came, Verdict::Pass));
                Ok(())
            }
            // What the DU does with SDUs, and what UEs send before the gNB has it, is in no file.
            Event::Transmitted { .. }
            | Event::Block { .. }
            | Event::Delivered { .. }
            | Event::Dropped { .. }
            | Event::UplinkArrived { .. }
            | Event::Recommended { .. } => Ok(()),
        }
    }

    fn core_packet(&mut self, at: Instant, packet: &Packet<Stamped>, ecn: Ecn, comment: &str) -> io::Result<()> {
        ip::write(packet, ecn, &mut self.packet).map_err(io::Error::other)?;
        self.core.write(&Frame { at, event: self.event, bytes: &self.packet, comment });
        Ok(())
    }

    /// Writes a packet that has reached the CU, once it is numbered or dropped.
    fn core_packet_down(
        &mut self,
        at: Instant,
        packet: &Packet<Stamped>,
        bearer: BearerId,
        is_numbered: bool,
    ) -> io::Result<()> {
        let Some((came, verdict)) = self.arrived.take() else { return Ok(()) };
        let on = drb_of(bearer);
        let comment = match (verdict, is_numbered) {
            (Verdict::Drop, _) => format!("dropped by the law{on}"),
            (Verdict::Pass, true) => format!("passed{on}"),
            (Verdict::Mark, true) => format!("marked{on}"),
            (Verdict::Pass, false) => format!("passed{on}, then dropped: the RLC queue is full"),
            (Verdict::Mark, false) => format!("marked{on}, then dropped: the RLC queue is full"),
        };
        self.core_packet(at, packet, came, &comment)
    }

    /// Writes a packet that leaves the RLC queue, as it came there.
    fn leaves(
        &mut self,
        at: Instant,
        packet: &Packet<Stamped>,
        bearer: BearerId,
        (sn, sojourn, backlog): (u32, Duration, Bytes),
        verdict: Verdict,
    ) -> io::Result<()> {
        let became = match verdict {
            Verdict::Pass => "passed",
            Verdict::Mark => "marked",
            Verdict::Drop => "dropped",
        };
        let (sojourn, backlog, on) = (sojourn.as_nanos(), backlog.0, drb_of(bearer));
        let comment = format!("{became}{on}, SN {sn}, after {sojourn} ns, {backlog} bytes behind it");
        ip::write(packet, packet.ecn, &mut self.packet).map_err(io::Error::other)?;
        let rlc = match &mut self.rlc {
            Some(rlc) => rlc,
            none => none.insert(open(&self.folder, "rlc")?),
        };
        rlc.write(&Frame { at, event: self.event, bytes: &self.packet, comment: &comment });
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
        tunnel.down(bearer, &down, &mut self.frame).map_err(io::Error::other)?;
        self.write_frame(at)
    }

    /// Writes what a bearer's tunnel makes of the packet at hand into a frame.
    fn on_f1u(
        &mut self,
        at: Instant,
        bearer: BearerId,
        build: impl FnOnce(&mut Tunnel, &[u8], &mut Vec<u8>) -> tidemark_wire::Result<()>,
    ) -> io::Result<()> {
        let tunnel = self.tunnels.entry((bearer.ue.0, bearer.drb)).or_default();
        build(tunnel, &self.packet, &mut self.frame).map_err(io::Error::other)?;
        self.write_frame(at)
    }

    fn write_frame(&mut self, at: Instant) -> io::Result<()> {
        self.f1u.write(&Frame { at, event: self.event, bytes: &self.frame, comment: "" });
        Ok(())
    }
}

/// True for what has a number of its own: one number stands for all that becomes of a packet at one place.
fn is_new(event: &Event<'_, Stamped>) -> bool {
    matches!(
        event,
        Event::Arrived { .. }
            | Event::Dequeued { .. }
            | Event::Reported { .. }
            | Event::HandedOver
            | Event::Forwarded { .. }
            | Event::Discarded { .. }
            | Event::UplinkDelivered { .. }
    )
}

/// Names the bearer, where it is not the default one.
fn drb_of(bearer: BearerId) -> String {
    if bearer.drb == 1 { String::new() } else { format!(", DRB {}", bearer.drb) }
}
