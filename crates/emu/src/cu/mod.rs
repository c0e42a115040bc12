//! The CU of a split gNB: IP on one side, F1-U on the other, SDAP, the marker and PDCP in between. What it knows of the radio comes
//! from delivery statuses alone.

mod bearer;
mod state;
mod window;

use std::net::SocketAddr;
use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use tidemark_cell::{Sdap, UeConfig};
use tidemark_core::{Bytes, Ecn, Instant, Packet as Value, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue as Marker};
use tidemark_marker::{DeliveryStatus, MarkerConfig, SnLength, Verdict};
use tidemark_wire::gtpu::{ExtensionType, Packet};
use tidemark_wire::ip::Headers;
use tidemark_wire::nru::{DlDataDeliveryStatus, DlUserData, Pdu, SnRanges};
use tidemark_wire::pdcp;

use self::bearer::Bearer;
pub use self::state::{CuBearer, CuCommand, CuCounters, CuState};
use crate::addresses;
use crate::bearers::{Bearers, laws};
use crate::clock::Clock;
use crate::control::{Control, Refusal, Told};
use crate::datagram::{Header, NO_FLOW};
use crate::error::Error;
use crate::f1u::SN_LENGTH;
use crate::gtp::{Gtp, Received, Tunnel};
use crate::realtime;
use crate::tun::{Tun, Written};

const CONTAINER: ExtensionType = ExtensionType::NR_RAN_CONTAINER;
/// Packets read from one side before the other has its turn.
const BATCH: usize = 64;

/// One UE: which bearer its packets take, and what marks them there.
struct Ue {
    /// Its bearers have the numbers of their tunnels.
    sdap: Sdap,
    marker: Marker,
}

/// A CU between a device and a DU.
pub struct Cu {
    cell: u32,
    core: Tun,
    f1u: Gtp,
    key: FlowKey,
    ues: Vec<Ue>,
    layout: Bearers,
    /// By tunnel.
    bearers: Vec<Bearer>,
    clock: Clock,
    counters: CuCounters,
    told: Told<CuCommand>,
}

impl Cu {
    /// The CU of these UEs, whose addresses are those of the cell of this number, with a tunnel for each bearer: UE by UE, the default
    /// one first.
    ///
    /// # Errors
    /// A marker's configuration that can't be used, or what the system says.
    pub fn new(
        cell: u32,
        core: Tun,
        address: SocketAddr,
        tunnels: Vec<Tunnel>,
        ues: &[UeConfig],
        seed: u64,
    ) -> Result<(Self, Control<CuCommand>), Error> {
        let mut secret = [0; 16];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(Error::errno("random bytes"))?;
        let layout = Bearers::new(ues);
        let laws: Vec<_> = laws(ues).collect();
        let mut first = 0;
        let ues = ues.iter().map(|config| {
            let mut marker = Marker::new(FlowKey::new(&secret));
            let of_ue = (0u32..).zip(layout.iter().zip(&laws)).skip(first).take(1 + config.drb.len());
            for (tunnel, (bearer, law)) in of_ue {
                let stream = Stream::new(seed, tunnel, "mark");
                marker
                    .add_drb(DrbId(bearer.drb), &bearer.qfis, law, SnLength::Bits18, stream)
                    .map_err(|error| Error::Marker(error.to_string()))?;
            }
            let sdap = Sdap::new(first as u32, &config.drb);
            first += 1 + config.drb.len();
            Ok(Ue { sdap, marker })
        });
        let ues = ues.collect::<Result<_, Error>>()?;
        let bearers = layout.iter().map(|_| Bearer::default()).collect();
        let (control, told) = Control::new()?;
        let f1u = Gtp::bind(address, tunnels, CONTAINER)?;
        let (clock, counters, key) = (Clock::start(), CuCounters::default(), FlowKey::new(&secret));
        Ok((Self { cell, core, f1u, key, ues, layout, bearers, clock, counters, told }, control))
    }

    /// Runs on the calling thread until it is told to stop; gives what it counted.
    ///
    /// # Errors
    /// A device that vanished, or what the system says.
    pub fn run(mut self) -> (CuState, Result<(), Error>) {
        let outcome = self.forward();
        (self.state(), outcome)
    }

    fn state(&self) -> CuState {
        let now = self.clock.now();
        let of = |(bearer, kept): (&crate::bearers::Bearer, &Bearer)| {
            let (ue, drb) = (bearer.ue, DrbId(bearer.drb));
            let marker = &self.ues[ue.0 as usize].marker;
            CuBearer {
                ue,
                drb: bearer.drb,
                marker: marker.drb_counters(drb).unwrap_or_default(),
                estimate: marker.estimate(now, drb).unwrap_or_default(),
                sent: kept.sent,
                held: kept.held(),
                lost: kept.lost,
            }
        };
        CuState { now, counters: self.counters, bearers: self.layout.iter().zip(&self.bearers).map(of).collect() }
    }

    /// A bearer's law is another one from now on, with what the old one knew.
    fn set_marker(&mut self, tunnel: usize, config: &MarkerConfig) -> Result<(), Refusal> {
        let of = self.layout.of(tunnel);
        let (now, marker) = (self.clock.now(), &mut self.ues[of.ue.0 as usize].marker);
        Ok(marker.reconfigure_drb(now, DrbId(of.drb), &of.qfis, config, SnLength::Bits18)?)
    }

    /// Does what it was told; false for the end.
    fn obey(&mut self) -> bool {
        while let Ok(command) = self.told.0.try_recv() {
            // Whoever asked may be gone.
            match command {
                CuCommand::Stop => return false,
                CuCommand::Marker(tunnel, config, reply) => drop(reply.try_send(self.set_marker(tunnel, &config))),
                CuCommand::Look(reply) => drop(reply.try_send(self.state())),
            }
        }
        true
    }

    fn forward(&mut self) -> Result<(), Error> {
        realtime::prefer();
        let mut buffer = vec![0; 65_536];
        let wake = std::sync::Arc::clone(&self.told.1);
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
            let [core, f1u, told] = fds.map(|fd| fd.revents());
            if !told.is_empty() {
                let _ = rustix::io::read(&*wake, &mut buffer[..8]);
                if !self.obey() {
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

    /// A packet for a UE: its packet filters find the bearer, the law decides, PDCP numbers it, F1-U carries it.
    fn downlink(&mut self, packet: &mut [u8]) {
        let now = self.clock.now();
        let headers = Headers::parse(packet).ok();
        let tuple = headers.as_ref().map(|headers| headers.five_tuple);
        if tuple.is_some_and(|tuple| addresses::is_of_one_link(tuple.destination)) {
            return;
        }
        let ue = match self.ues.len() {
            1 => Some(0),
            _ => tuple.and_then(|tuple| addresses::ue_of(self.cell, tuple.destination)).map(|ue| ue as usize),
        };
        let Some(ue) = ue.and_then(|ue| self.ues.get_mut(ue)) else {
            self.counters.unroutable += 1;
            return;
        };
        let mapped = ue.sdap.downlink(&Value {
            flow: tuple.map_or(NO_FLOW, |tuple| self.key.flow(&tuple)),
            size: Bytes(packet.len() as u64),
            ecn: headers.as_ref().map_or(Ecn::NotEct, |headers| headers.ecn),
            payload: Header(headers),
        });
        let tunnel = mapped.drb as usize;
        let bearer = &mut self.bearers[tunnel];
        if bearer.is_full() {
            self.counters.overflow += 1;
            return;
        }
        match ue.marker.downlink(now, mapped.qfi, packet) {
            Verdict::Pass => {}
            Verdict::Mark => self.counters.marked += 1,
            Verdict::Drop => {
                self.counters.dropped += 1;
                return;
            }
        }
        let (sn, header) = bearer.number();
        let size = (header.len() + packet.len()) as u32;
        ue.marker.pdcp_pdu(now, DrbId(self.layout.of(tunnel).drb), sn, Bytes(size.into()));
        if bearer.takes(size) {
            self.send(tunnel, sn, &[&header, packet]);
        } else {
            bearer.hold(sn, [&header, &packet[..]].concat());
            self.counters.held += 1;
        }
    }

    /// Sends a PDCP PDU to the DU.
    fn send(&mut self, tunnel: usize, sn: u32, pdu: &[&[u8]]) {
        let of = self.layout.of(tunnel);
        let marker = &self.ues[of.ue.0 as usize].marker;
        let frame = DlUserData {
            sn: self.bearers[tunnel].send(sn, pdu.iter().map(|part| part.len() as u32).sum()),
            report_polling: marker.wants_report(self.clock.now(), DrbId(of.drb)),
            ..DlUserData::default()
        };
        let mut container = [0; 16];
        let Ok(length) = frame.emit(&mut container) else { return };
        // What the kernel does not take is lost on F1-U; PDCP's next number shows it.
        self.f1u.send(tunnel, Some(&container[..length]), pdu, Ecn::NotEct);
        self.counters.downlink += 1;
    }

    /// What waits first at F1-U; false where nothing does.
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
        let pdu = &mut buffer[arrived.payload];
        if let Ok(pdcp::Pdu::Data { .. }) = pdcp::Pdu::parse(pdu, SN_LENGTH) {
            let packet = &mut pdu[SN_LENGTH.header_len()..];
            self.ues[self.layout.of(tunnel).ue.0 as usize].marker.uplink(now, packet);
            if self.core.write(packet)? == Written::Done {
                self.counters.uplink += 1;
            }
        }
        Ok(true)
    }

    /// What the DU says of a bearer: the marker hears it, and what was held for the DU goes as far as it is wanted.
    fn report(&mut self, now: Instant, tunnel: usize, status: &DlDataDeliveryStatus) {
        let report = DeliveryStatus {
            highest_transmitted: status.highest_transmitted,
            highest_delivered: status.highest_delivered,
            highest_retransmitted: status.highest_retransmitted,
            highest_delivered_retransmitted: status.highest_delivered_retransmitted,
            desired_buffer_size: Some(Bytes(u64::from(status.desired_buffer_size))),
        };
        let of = self.layout.of(tunnel);
        let (drb, marker) = (DrbId(of.drb), &mut self.ues[of.ue.0 as usize].marker);
        // What F1-U lost stands in no queue, and was not transmitted by what the same report says of higher SNs.
        for range in status.lost.into_iter().flat_map(SnRanges::iter) {
            self.bearers[tunnel].lost(range, |sn| marker.discard(now, drb, sn));
        }
        marker.feedback(now, drb, &report);
        self.counters.reports += 1;
        self.bearers[tunnel].reported(&report);
        while let Some((sn, pdu)) = self.bearers[tunnel].release() {
            self.send(tunnel, sn, &[&pdu]);
        }
    }
}
