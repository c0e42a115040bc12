//! The CU of a split gNB: IP on one side, F1-U on the other, PDCP and the marker in between. What it knows of the radio comes
//! from delivery statuses alone.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use tidemark_core::{Bytes, Ecn, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{DeliveryStatus, MarkerConfig, SnLength, Verdict};
use tidemark_wire::gtpu::{ExtensionType, Packet};
use tidemark_wire::ip::Headers;
use tidemark_wire::nru::{DlUserData, Pdu};
use tidemark_wire::pdcp::{self, emit_data_header};

use crate::addresses;
use crate::clock::Clock;
use crate::error::Error;
use crate::f1u::SN_LENGTH;
use crate::gtp::{Gtp, Received, Tunnel};
use crate::realtime;
use crate::tun::{Tun, Written};
use crate::window::Window;

const CONTAINER: ExtensionType = ExtensionType::NR_RAN_CONTAINER;
/// The bearer of each UE, and its QoS flow.
const DRB: DrbId = DrbId(1);
const QFI: u8 = 9;
/// NR-U sequence numbers have 24 bits.
const NRU_MODULUS: u32 = 1 << 24;
/// Bytes that a bearer holds back at most while its DU wants none: as much as a queue of a DU (srsRAN's RLC has 6 MB).
const MOST_HELD: usize = 6 << 20;
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

/// One UE's PDCP and marker.
struct Bearer {
    marker: Ue,
    next_sn: u32,
    next_nru_sn: u32,
    window: Window,
    /// Numbered packets that the DU does not want yet: SN and PDU.
    held: VecDeque<(u32, Vec<u8>)>,
    held_bytes: usize,
}

/// A CU between a device and a DU.
pub struct Cu {
    cell: u32,
    core: Tun,
    f1u: Gtp,
    bearers: Vec<Bearer>,
    clock: Clock,
    counters: Arc<CuCounters>,
    stop: Arc<OwnedFd>,
}

impl Cu {
    /// One bearer for each tunnel, in the order of the UEs' addresses in the cell of this number. The second value ends it when
    /// it is [`ring`]ed.
    ///
    /// # Errors
    /// A marker's configuration that can't be used, or what the system says.
    pub fn new(
        cell: u32,
        core: Tun,
        address: SocketAddr,
        tunnels: Vec<Tunnel>,
        marker: &MarkerConfig,
        seed: u64,
    ) -> Result<(Self, Arc<OwnedFd>), Error> {
        let mut secret = [0; 16];
        rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
            .map_err(Error::errno("random bytes"))?;
        let bearers = (0..).zip(&tunnels).map(|(index, _)| {
            let mut ue = Ue::new(FlowKey::new(&secret));
            ue.add_drb(DRB, &[QFI], marker, SnLength::Bits18, Stream::new(seed, index, "mark"))
                .map_err(|error| Error::Marker(error.to_string()))?;
            Ok(Bearer {
                marker: ue,
                next_sn: 0,
                next_nru_sn: 0,
                window: Window::default(),
                held: VecDeque::new(),
                held_bytes: 0,
            })
        });
        let bearers = bearers.collect::<Result<_, Error>>()?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(Error::errno("eventfd"))?;
        let stop = Arc::new(stop);
        let f1u = Gtp::bind(address, tunnels, CONTAINER)?;
        let (clock, counters) = (Clock::start(), Arc::default());
        Ok((Self { cell, core, f1u, bearers, clock, counters, stop: Arc::clone(&stop) }, stop))
    }

    /// The counters.
    pub fn counters(&self) -> Arc<CuCounters> {
        Arc::clone(&self.counters)
    }

    /// Runs on the calling thread until it is stopped.
    ///
    /// # Errors
    /// A device that vanished, or what the system says.
    pub fn run(mut self) -> Result<(), Error> {
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

    /// A packet for a UE: the law decides, PDCP numbers it, F1-U carries it.
    fn downlink(&mut self, packet: &mut [u8]) {
        let now = self.clock.now();
        let ue = match self.bearers.len() {
            1 => Some(0),
            _ => destination(packet).and_then(|address| addresses::ue_of(self.cell, address)).map(|ue| ue as usize),
        };
        let Some((index, bearer)) = ue.and_then(|ue| Some((ue, self.bearers.get_mut(ue)?))) else {
            count(&self.counters.unroutable);
            return;
        };
        if bearer.held_bytes > MOST_HELD {
            count(&self.counters.overflow);
            return;
        }
        match bearer.marker.downlink(now, QFI, packet) {
            Verdict::Pass => {}
            Verdict::Mark => count(&self.counters.marked),
            Verdict::Drop => {
                count(&self.counters.dropped);
                return;
            }
        }
        let mut header = [0; 3];
        let sn = bearer.next_sn;
        bearer.next_sn = (sn + 1) % SN_LENGTH.modulus();
        if emit_data_header(sn, SN_LENGTH, &mut header).is_err() {
            return;
        }
        let size = (header.len() + packet.len()) as u32;
        bearer.marker.pdcp_pdu(now, DRB, sn, Bytes(size.into()));
        if bearer.held.is_empty() && bearer.window.takes(size) {
            self.send(index, sn, &[&header, packet]);
        } else {
            bearer.held_bytes += size as usize;
            bearer.held.push_back((sn, [&header, &packet[..]].concat()));
            count(&self.counters.held);
        }
    }

    /// Sends a PDCP PDU to the DU.
    fn send(&mut self, index: usize, sn: u32, pdu: &[&[u8]]) {
        let bearer = &mut self.bearers[index];
        let frame = DlUserData {
            sn: bearer.next_nru_sn,
            report_polling: bearer.marker.wants_report(self.clock.now(), DRB),
            ..DlUserData::default()
        };
        bearer.next_nru_sn = (bearer.next_nru_sn + 1) % NRU_MODULUS;
        bearer.window.sent(sn, pdu.iter().map(|part| part.len() as u32).sum());
        let mut container = [0; 16];
        let Ok(length) = frame.emit(&mut container) else { return };
        // What the kernel does not take is lost on F1-U; PDCP's next number shows it.
        self.f1u.send(index, Some(&container[..length]), pdu, Ecn::NotEct);
        count(&self.counters.downlink);
    }

    /// Sends what was held back, as far as the DU wants it.
    fn release(&mut self, index: usize) {
        loop {
            let bearer = &mut self.bearers[index];
            let wanted = bearer.held.front().is_some_and(|(_, pdu)| bearer.window.takes(pdu.len() as u32));
            let Some((sn, pdu)) = wanted.then(|| bearer.held.pop_front()).flatten() else { return };
            bearer.held_bytes -= pdu.len();
            self.send(index, sn, &[&pdu]);
        }
    }

    /// What waits first at F1-U; false where nothing does.
    fn uplink(&mut self, buffer: &mut [u8]) -> Result<bool, Error> {
        let arrived = match self.f1u.receive(buffer)? {
            Received::Nothing => return Ok(false),
            Received::Other => return Ok(true),
            Received::Packet(arrived) => arrived,
        };
        let now = self.clock.now();
        let bearer = &mut self.bearers[arrived.tunnel];
        if let Ok(message) = Packet::new_checked(&buffer[arrived.message])
            && let Some(Ok(Pdu::DlDataDeliveryStatus(status))) = message.extension(CONTAINER).map(Pdu::parse)
        {
            let report = DeliveryStatus {
                highest_transmitted: status.highest_transmitted,
                highest_delivered: status.highest_delivered,
                desired_buffer_size: Some(Bytes(u64::from(status.desired_buffer_size))),
            };
            bearer.marker.feedback(now, DRB, &report);
            bearer.window.reported(&report);
            count(&self.counters.reports);
            self.release(arrived.tunnel);
        }
        let bearer = &mut self.bearers[arrived.tunnel];
        let pdu = &mut buffer[arrived.payload];
        if let Ok(pdcp::Pdu::Data { .. }) = pdcp::Pdu::parse(pdu, SN_LENGTH) {
            let packet = &mut pdu[SN_LENGTH.header_len()..];
            bearer.marker.uplink(now, packet);
            if self.core.write(packet)? == Written::Done {
                count(&self.counters.uplink);
            }
        }
        Ok(true)
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn destination(packet: &[u8]) -> Option<IpAddr> {
    Headers::parse(packet).ok().map(|headers| headers.five_tuple.destination)
}
