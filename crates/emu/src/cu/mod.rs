//! CU of a split gNB: IP on one side, F1-U on the other, and in between the CU-UP that the project's other cells use as
//! well. All that it knows about the radio are delivery statuses.

mod bearer;
mod signal;
mod state;
mod window;

use std::net::SocketAddr;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tidemark_cell::{BearerId, CuUp, DrbIndex, UeConfig, UeId};
use tidemark_core::{Bytes, Ecn, Instant};
use tidemark_marker::path::FlowKey;
use tidemark_marker::{DeliveryStatus, MarkerConfig, Verdict};
use tidemark_wire::gtpu::{ExtensionType, Packet};
use tidemark_wire::nru::{DlDataDeliveryStatus, DlUserData, Pdu, SnRanges};
use tidemark_wire::pdcp::{self, SnLength, emit_data_header};

use self::bearer::Bearer;
pub use self::signal::{CuObserver, CuSignal};
pub use self::state::{CuBearer, CuCommand, CuCounters, CuState};
use crate::addresses;
use crate::bearers::Bearers;
use crate::clock::Clock;
use crate::control::{Commands, Control, Refusal};
use crate::datagram::{Direction, Viewed};
use crate::error::Error;
use crate::gtp::{Gtp, Received, Tunnel};
use crate::realtime;
use crate::source::Sources;
use crate::tun::{Tun, Written};

const CONTAINER: ExtensionType = ExtensionType::NR_RAN_CONTAINER;
/// Length of the longest header of a PDCP data PDU.
const MAX_HEADER: usize = SnLength::Bits18.header_len();
/// Packets read from one side before the other has its turn.
const BATCH: usize = 64;

/// CU between a device and a DU.
pub struct Cu {
    cell: u32,
    core: Tun,
    f1u: Gtp,
    key: FlowKey,
    /// Addresses that each UE may send from.
    sources: Vec<Sources>,
    /// CU-UP, whose bearers have the indices of their tunnels.
    cu_up: CuUp,
    layout: Bearers,
    /// F1-U of the bearers, by tunnel.
    bearers: Vec<Bearer>,
    clock: Clock,
    counters: CuCounters,
    /// Packets for UEs that came from the core.
    arrived: u64,
    observer: Option<CuObserver>,
    commands: Commands<CuCommand>,
}

impl Cu {
    /// Makes the CU of these UEs, whose addresses are those of the cell of this number, with a tunnel for each bearer: UE by UE, the
    /// default one first. With `any_source` UEs may send from any address.
    ///
    /// # Errors
    /// A marker's configuration that can't be used, or an error of the system.
    pub fn new(
        cell: u32,
        core: Tun,
        address: SocketAddr,
        tunnels: Vec<Tunnel>,
        ues: &[UeConfig],
        any_source: bool,
        seed: u64,
    ) -> Result<(Self, Control<CuCommand>), Error> {
        let mut secret = [0; 16];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(Error::errno("random bytes"))?;
        let layout = Bearers::new(ues);
        let (mut cu_up, mut first) = (CuUp::new(seed), 0);
        for (id, config) in (0..).zip(ues) {
            cu_up.add_ue(UeId(id), DrbIndex(first), config)?;
            first += 1 + config.drb.len() as u32;
        }
        let bearers = layout.iter().map(|bearer| Bearer::new(bearer.id.sn_length)).collect();
        let (control, commands) = Control::new()?;
        let f1u = Gtp::bind(address, tunnels, CONTAINER)?;
        let (clock, counters, key) = (Clock::start(), CuCounters::default(), FlowKey::new(&secret));
        let source = |ue| if any_source { Sources::Any } else { Sources::Cell { cell, ue } };
        let sources = (0..ues.len() as u32).map(source).collect();
        let (arrived, observer) = (0, None);
        let cu = Self {
            cell,
            core,
            f1u,
            key,
            sources,
            cu_up,
            layout,
            bearers,
            clock,
            counters,
            arrived,
            observer,
            commands,
        };
        Ok((cu, control))
    }

    /// Shows `observer` each mark of a law and each drop by one.
    pub fn observe(&mut self, observer: CuObserver) {
        self.observer = Some(observer);
    }

    /// Runs on the calling thread until [`CuCommand::Stop`]; gives the last state, with its counters.
    ///
    /// # Errors
    /// A device that vanished, or an error of the system.
    pub fn run(mut self) -> (CuState, Result<(), Error>) {
        let outcome = self.forward();
        (self.state(), outcome)
    }

    fn state(&self) -> CuState {
        let now = self.clock.now();
        let of = |(bearer, f1u): (&crate::bearers::Bearer, &Bearer)| CuBearer {
            ue: bearer.id.ue,
            drb: bearer.id.drb,
            marker: self.cu_up.counters(bearer.id),
            estimate: self.cu_up.estimate(now, bearer.id),
            sent: f1u.sent,
            held: f1u.held(),
            lost: f1u.lost,
        };
        let counters = CuCounters { refused: self.f1u.refused(), ..self.counters };
        CuState { now, counters, bearers: self.layout.iter().zip(&self.bearers).map(of).collect() }
    }

    /// Changes a bearer's law, which goes on with the estimates of the old one.
    fn set_marker(&mut self, tunnel: usize, config: &MarkerConfig) -> Result<(), Refusal> {
        let (now, id) = (self.clock.now(), self.id(tunnel));
        Ok(self.cu_up.reconfigure(now, id, config)?)
    }

    /// Bearer of a tunnel.
    fn id(&self, tunnel: usize) -> BearerId {
        self.layout.of(tunnel).id
    }

    /// Carries out the commands that wait; false for the end.
    fn handle_commands(&mut self) -> bool {
        while let Ok(command) = self.commands.0.try_recv() {
            // A thread that gave up waiting has no use for its answer.
            match command {
                CuCommand::Stop => return false,
                CuCommand::Marker(tunnel, config, reply) => drop(reply.try_send(self.set_marker(tunnel, &config))),
                CuCommand::State(reply) => drop(reply.try_send(self.state())),
            }
        }
        true
    }

    fn forward(&mut self) -> Result<(), Error> {
        realtime::prefer();
        let mut buffer = vec![0; 65_536];
        let wake = std::sync::Arc::clone(&self.commands.1);
        loop {
            let mut fds = [
                PollFd::new(&self.core, PollFlags::IN),
                PollFd::new(&self.f1u, PollFlags::IN),
                PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::errno("waiting for packets")(errno)),
            }
            let [core, f1u, commands] = fds.map(|fd| fd.revents());
            if !commands.is_empty() {
                let _ = rustix::io::read(&*wake, &mut buffer[..8]);
                if !self.handle_commands() {
                    return Ok(());
                }
            }
            if core.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
                return Err(Error::DeviceGone { device: self.core.name().into() });
            }
            for _ in 0..BATCH {
                if core.is_empty() {
                    break;
                }
                let Some(length) = self.core.read(&mut buffer)? else { break };
                self.downlink(&mut buffer[..length]);
            }
            for _ in 0..BATCH {
                if f1u.is_empty() || !self.uplink(&mut buffer)? {
                    break;
                }
            }
        }
    }

    /// Takes a packet for a UE: its packet filters find the bearer, the law decides, PDCP numbers it, F1-U carries it.
    fn downlink(&mut self, bytes: &mut [u8]) {
        let now = self.clock.now();
        let mut packet = Viewed::packet(&self.key, bytes, Direction::Down);
        let tuple = packet.payload.tuple();
        if tuple.is_some_and(|tuple| addresses::is_of_one_link(tuple.destination)) {
            return;
        }
        let ue = match self.sources.len() {
            1 => Some(0),
            _ => tuple.and_then(|tuple| addresses::ue_of(self.cell, tuple.destination)),
        };
        let Some(mapped) = ue.and_then(|ue| self.cu_up.map(UeId(ue), &packet)) else {
            self.counters.unroutable += 1;
            return;
        };
        self.arrived += 1;
        let tunnel = mapped.drb.0 as usize;
        let id = self.id(tunnel);
        if self.bearers[tunnel].is_full() {
            self.counters.overflow += 1;
            return;
        }
        let came = packet.ecn;
        let outcome = self.cu_up.downlink(now, id, mapped, &mut packet, None);
        if let Some(observer) = &mut self.observer
            && let Some(outcome) = outcome.filter(|outcome| outcome.verdict != Verdict::Pass)
        {
            let (flow, size, number) = (packet.flow, packet.size, self.arrived);
            let decision = self.cu_up.decision(now, id, outcome);
            observer(&CuSignal { at: now, bearer: id, flow, tuple, number, size, came, decision });
        }
        match outcome.map_or(Verdict::Pass, |outcome| outcome.applied()) {
            Verdict::Pass => {}
            Verdict::Mark => {
                self.counters.marked += 1;
                packet.payload.set_ecn(packet.ecn);
            }
            Verdict::Drop => {
                self.counters.dropped += 1;
                return;
            }
        }
        let sn = self.cu_up.number(now, id, packet.size);
        let mut header = [0; MAX_HEADER];
        let length = write_header(sn, self.layout.of(tunnel).pdcp_sn(), &mut header);
        let header = &header[..length];
        let size = (header.len() + bytes.len()) as u32;
        let bearer = &mut self.bearers[tunnel];
        if bearer.takes(size) {
            self.send(tunnel, sn, &[header, bytes]);
        } else {
            bearer.hold(sn, [header, &bytes[..]].concat());
            self.counters.held += 1;
        }
    }

    /// Sends a PDCP PDU to the DU.
    fn send(&mut self, tunnel: usize, sn: u32, pdu: &[&[u8]]) {
        let frame = DlUserData {
            sn: self.bearers[tunnel].send(sn, pdu.iter().map(|part| part.len() as u32).sum()),
            report_polling: self.cu_up.wants_report(self.clock.now(), self.id(tunnel)),
            ..DlUserData::default()
        };
        let mut container = [0; 16];
        let Ok(length) = frame.emit(&mut container) else { return };
        // A message that the kernel does not take is lost on F1-U, as on any network; PDCP's next number shows the hole.
        self.f1u.send(tunnel, Some(&container[..length]), pdu, Ecn::NotEct);
        self.counters.downlink += 1;
    }

    /// Takes in the first message that waits at F1-U; false where none does.
    fn uplink(&mut self, buffer: &mut [u8]) -> Result<bool, Error> {
        let arrived = match self.f1u.receive(buffer)? {
            Received::Nothing => return Ok(false),
            Received::Other => return Ok(true),
            Received::Packet(arrived) => arrived,
        };
        let (now, tunnel) = (self.clock.now(), arrived.tunnel);
        if let Ok(message) = Packet::new_checked(&buffer[arrived.message])
            && let Some(Ok(Pdu::DlDataDeliveryStatus(status))) = message.extension(CONTAINER).map(Pdu::parse)
        {
            self.report(now, tunnel, &status);
        }
        let (pdu, sn_length) = (&mut buffer[arrived.payload], self.layout.of(tunnel).pdcp_sn());
        if let Ok(pdcp::Pdu::Data { .. }) = pdcp::Pdu::parse(pdu, sn_length) {
            let bytes = &mut pdu[sn_length.header_len()..];
            let ue = self.id(tunnel).ue;
            if !self.sources[ue.0 as usize].admit(bytes) {
                self.f1u.refuse(|refused| &mut refused.other_sources);
                return Ok(true);
            }
            self.cu_up.uplink(now, ue, &mut Viewed::packet(&self.key, bytes, Direction::Up));
            if self.core.write(bytes)? == Written::Done {
                self.counters.uplink += 1;
            }
        }
        Ok(true)
    }

    /// Hands a delivery status of the DU to the bearer's marker, unless it speaks of SNs that were never sent, and sends held PDUs as far as the DU wants them.
    fn report(&mut self, now: Instant, tunnel: usize, status: &DlDataDeliveryStatus) {
        let report = DeliveryStatus {
            highest_transmitted: status.highest_transmitted,
            highest_delivered: status.highest_delivered,
            highest_retransmitted: status.highest_retransmitted,
            highest_delivered_retransmitted: status.highest_delivered_retransmitted,
            desired_buffer_size: Some(Bytes(u64::from(status.desired_buffer_size))),
        };
        if !self.bearers[tunnel].is_possible(&report) {
            self.f1u.refuse(|refused| &mut refused.impossible_reports);
            return;
        }
        let (id, cu_up) = (self.id(tunnel), &mut self.cu_up);
        // PDUs that F1-U lost are in no queue: they are discarded first, since the report's higher SNs would count them as transmitted.
        for range in status.lost.into_iter().flat_map(SnRanges::iter) {
            self.bearers[tunnel].lost(range, |sn| cu_up.discard(now, id, sn));
        }
        cu_up.report(now, id, &report);
        self.counters.reports += 1;
        self.bearers[tunnel].reported(&report);
        while let Some((sn, pdu)) = self.bearers[tunnel].release() {
            self.send(tunnel, sn, &[&pdu]);
        }
    }
}

/// Writes the PDCP header of an SDU; gives its length.
fn write_header(sn: u32, sn_length: SnLength, header: &mut [u8; MAX_HEADER]) -> usize {
    emit_data_header(sn, sn_length, header).unwrap_or_else(|_| unreachable!("PDCP's SNs have their length"))
}
