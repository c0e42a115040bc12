//! The CU of a split gNB: IP on one side, F1-U on the other, SDAP, the marker and PDCP in between. What it knows of the radio comes
//! from delivery statuses alone.

mod bearer;
mod window;

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use tidemark_cell::{Sdap, UeConfig};
use tidemark_core::{Bytes, Ecn, Instant, Packet as Value, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue as Marker};
use tidemark_marker::{Counters, DeliveryStatus, SnLength, Verdict};
use tidemark_wire::gtpu::{ExtensionType, Packet};
use tidemark_wire::ip::Headers;
use tidemark_wire::nru::{DlDataDeliveryStatus, DlUserData, Pdu};
use tidemark_wire::pdcp;

use self::bearer::Bearer;
use crate::addresses;
use crate::bearers::Bearers;
use crate::clock::Clock;
use crate::datagram::{Header, NO_FLOW};
use crate::error::Error;
use crate::f1u::SN_LENGTH;
use crate::gtp::{Gtp, Received, Tunnel};
use crate::realtime;
use crate::tun::{Tun, Written};

const CONTAINER: ExtensionType = ExtensionType::NR_RAN_CONTAINER;
/// Packets read from one side before the other has its turn.
const BATCH: usize = 64;

/// What a CU counts, read by others while it runs.
#[derive(Debug, Default)]
pub struct CuCounters {
    /// Packets sent to the DU.
    pub downlink: AtomicU64,
    /// Packets from the DU.
    pub uplink: AtomicU64,
    /// Packets marked, or noted to be told in acknowledgements.
    pub marked: AtomicU64,
    /// Packets dropped by the law.
    pub dropped: AtomicU64,
    /// Packets that waited since the DU wanted no more.
    pub held: AtomicU64,
    /// Packets dropped since too many waited.
    pub overflow: AtomicU64,
    /// Delivery statuses.
    pub reports: AtomicU64,
    /// Packets for no UE of the cell.
    pub unroutable: AtomicU64,
}

/// Wakes what waits for this event.
pub fn ring(event: &OwnedFd) {
    // A counter that is full wakes as well.
    let _ = rustix::io::write(event, &1u64.to_ne_bytes());
}

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
    counters: Arc<CuCounters>,
    stop: Arc<OwnedFd>,
}

impl Cu {
    /// The CU of these UEs, whose addresses are those of the cell of this number, with a tunnel for each bearer: UE by UE, the default
    /// one first. The second value ends it when it is [`ring`]ed.
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
    ) -> Result<(Self, Arc<OwnedFd>), Error> {
        let mut secret = [0; 16];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(Error::errno("random bytes"))?;
        let layout = Bearers::new(ues);
        let mut first = 0;
        let ues = ues.iter().map(|config| {
            let mut marker = Marker::new(FlowKey::new(&secret));
            for (tunnel, bearer) in (first..).zip(layout.iter().skip(first).take(1 + config.drb.len())) {
                let dedicated = usize::from(bearer.drb).checked_sub(2).and_then(|place| config.drb.get(place));
                let law = dedicated.and_then(|drb| drb.marker.as_ref()).unwrap_or(&config.marker);
                let stream = Stream::new(seed, tunnel as u32, "mark");
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
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(Error::errno("eventfd"))?;
        let stop = Arc::new(stop);
        let f1u = Gtp::bind(address, tunnels, CONTAINER)?;
        let (clock, counters, key) = (Clock::start(), Arc::default(), FlowKey::new(&secret));
        Ok((Self { cell, core, f1u, key, ues, layout, bearers, clock, counters, stop: Arc::clone(&stop) }, stop))
    }

    /// The counters.
    pub fn counters(&self) -> Arc<CuCounters> {
        Arc::clone(&self.counters)
    }

    /// Runs on the calling thread until it is stopped; gives the counters of the bearers' markers, in the order of the tunnels.
    ///
    /// # Errors
    /// A device that vanished, or what the system says.
    pub fn run(mut self) -> (Vec<Counters>, Result<(), Error>) {
        let outcome = self.forward();
        let of =
            |bearer: &crate::bearers::Bearer| self.ues[bearer.ue.0 as usize].marker.drb_counters(DrbId(bearer.drb));
        (self.layout.iter().filter_map(of).collect(), outcome)
    }

    fn forward(&mut self) -> Result<(), Error> {
        realtime::prefer();
        let mut buffer = vec![0; 65_536];
        let stop = Arc::clone(&self.stop);
        loop {
            let mut fds = [
                PollFd::new(&self.core, PollFlags::IN),
                PollFd::new(&self.f1u, PollFlags::IN),
                PollFd::from_borrowed_fd(stop.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(Error::errno("waiting for packets")(errno)),
            }
            let [core, f1u, stopped] = fds.map(|fd| fd.revents());
            if !stopped.is_empty() {
                return Ok(());
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
        let ue = match self.ues.len() {
            1 => Some(0),
            _ => tuple.and_then(|tuple| addresses::ue_of(self.cell, tuple.destination)).map(|ue| ue as usize),
        };
        let Some(ue) = ue.and_then(|ue| self.ues.get_mut(ue)) else {
            count(&self.counters.unroutable);
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
            count(&self.counters.overflow);
            return;
        }
        match ue.marker.downlink(now, mapped.qfi, packet) {
            Verdict::Pass => {}
            Verdict::Mark => count(&self.counters.marked),
            Verdict::Drop => {
                count(&self.counters.dropped);
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
            count(&self.counters.held);
        }
    }

    /// Sends a PDCP PDU to the DU.
    fn send(&mut self, tunnel: usize, sn: u32, pdu: &[&[u8]]) {
        let of = self.layout.of(tunnel);
        let marker = &self.ues[of.ue.0 as usize].marker;
        let frame = DlUserData {
            sn: self.bearers[tunnel].sent(sn, pdu.iter().map(|part| part.len() as u32).sum()),
            report_polling: marker.wants_report(self.clock.now(), DrbId(of.drb)),
            ..DlUserData::default()
        };
        let mut container = [0; 16];
        let Ok(length) = frame.emit(&mut container) else { return };
        // What the kernel does not take is lost on F1-U; PDCP's next number shows it.
        self.f1u.send(tunnel, Some(&container[..length]), pdu, Ecn::NotEct);
        count(&self.counters.downlink);
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
                count(&self.counters.uplink);
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
        self.ues[of.ue.0 as usize].marker.feedback(now, DrbId(of.drb), &report);
        count(&self.counters.reports);
        self.bearers[tunnel].reported(&report);
        while let Some((sn, pdu)) = self.bearers[tunnel].release() {
            self.send(tunnel, sn, &[&pdu]);
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
