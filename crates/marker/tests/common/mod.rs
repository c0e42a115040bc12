//! A minimal DU: one RLC queue, served slot by slot, with the reports of real gNBs.
#![allow(dead_code)] // each test file uses its own part of it

use std::collections::VecDeque;

use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::{DeliveryStatus, DrbMarker, MarkerConfig, Outcome, QosFlow, RlcQueue, SnLength, Verdict};

pub const SLOT: Duration = Duration::from_micros(500);

pub struct Du {
    pub marker: DrbMarker,
    pub now: Instant,
    pub report_every: Duration,
    queue: VecDeque<(u32, Packet<()>, Instant)>,
    next_sn: u32,
    modulus: u32,
    transmitted: Option<u32>,
    reported: Option<u32>,
    last_report: Instant,
    /// Time from a transmission to its delivery for a DU that reports deliveries alone; `None` for one that reports transmissions alone.
    pub delivered_after: Option<Duration>,
    /// Transmissions whose delivery is still to come, each with its time.
    on_the_air: VecDeque<(Instant, u32)>,
    delivered: Option<u32>,
    /// Bytes already granted towards the head of the queue.
    credit: f64,
    /// Packets marked, on arrival or on leaving; that passed on arrival; that were dropped at either.
    pub marks: u64,
    pub passed: u64,
    pub drops: u64,
    /// Sojourn of the last SDU whose transmission began.
    pub last_sojourn: Duration,
    /// The marker's answer to the last packet that arrived.
    pub outcome: Option<Outcome>,
}

impl Du {
    pub fn new(config: &MarkerConfig, sn_length: SnLength, report_every: Duration) -> Self {
        Self {
            marker: DrbMarker::new(config, sn_length, Stream::new(1, 0, "mark")).unwrap(),
            now: Instant::ZERO,
            report_every,
            queue: VecDeque::new(),
            next_sn: 0,
            modulus: sn_length.modulus(),
            transmitted: None,
            reported: None,
            last_report: Instant::ZERO,
            delivered_after: None,
            on_the_air: VecDeque::new(),
            delivered: None,
            credit: 0.0,
            marks: 0,
            passed: 0,
            drops: 0,
            last_sojourn: Duration::ZERO,
            outcome: None,
        }
    }

    /// The clock steps, forwards or backwards.
    pub fn set_clock(&mut self, now: Instant) {
        (self.now, self.last_report) = (now, now);
    }

    /// The DU starts anew: what it had queued is gone, and nobody says so.
    pub fn restart(&mut self) {
        self.queue.clear();
        self.on_the_air.clear();
        self.credit = 0.0;
    }

    pub fn backlog(&self) -> u64 {
        self.queue.iter().map(|(_, packet, _)| packet.size.0).sum()
    }

    pub fn rlc(&self) -> RlcQueue {
        RlcQueue {
            backlog: Bytes(self.backlog()),
            packets: self.queue.len() as u32,
            head_of_line: self.queue.front().map_or(Duration::ZERO, |(_, _, at)| self.now.since(*at)),
        }
    }

    /// One packet arrives now.
    pub fn send(&mut self, flow: u32, ecn: Ecn, size: u64) -> Verdict {
        self.send_in(None, flow, ecn, size)
    }

    /// One packet arrives now, in a QoS flow if that is not marked here.
    pub fn send_in(&mut self, unmarked: Option<&mut QosFlow>, flow: u32, ecn: Ecn, size: u64) -> Verdict {
        let packet = Packet { flow: FlowId(flow), size: Bytes(size), ecn, payload: () };
        self.outcome = self.marker.decide_qos_flow(self.now, &packet, Some(self.rlc()), unmarked);
        let verdict = self.outcome.map_or(Verdict::Pass, |outcome| outcome.applied());
        match verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Mark => self.marks += 1,
            Verdict::Drop => {
                self.drops += 1;
                return verdict;
            }
        }
        self.marker.handle_pdcp_pdu(self.now, self.next_sn, Bytes(size));
        self.queue.push_back((self.next_sn, packet, self.now));
        self.next_sn = (self.next_sn + 1) % self.modulus;
        verdict
    }

    /// One slot in which the radio can carry `bytes`.
    pub fn slot(&mut self, bytes: f64) {
        self.now += SLOT;
        self.credit += bytes;
        while self.credit > 0.0 {
            let Some((sn, packet, at)) = self.queue.pop_front() else { break };
            let sojourn = self.now.since(at);
            match self.marker.handle_dequeue(self.now, &packet, sojourn, self.rlc()) {
                Verdict::Pass => {}
                Verdict::Mark => self.marks += 1,
                Verdict::Drop => {
                    self.drops += 1;
                    continue;
                }
            }
            self.credit -= packet.size.as_f64();
            self.transmitted = Some(sn);
            self.on_the_air.push_back((self.now + self.delivered_after.unwrap_or_default(), sn));
            self.last_sojourn = sojourn;
        }
        if self.queue.is_empty() {
            self.credit = self.credit.min(0.0);
        }
        while let Some((_, sn)) = self.on_the_air.front().copied().filter(|(at, _)| *at <= self.now) {
            self.delivered = Some(sn);
            self.on_the_air.pop_front();
        }
        let news = if self.delivered_after.is_some() { self.delivered } else { self.transmitted };
        if self.now.since(self.last_report) >= self.report_every && news != self.reported {
            self.last_report = self.now;
            self.reported = news;
            let report = match self.delivered_after {
                Some(_) => DeliveryStatus { highest_delivered: news, ..DeliveryStatus::default() },
                None => DeliveryStatus { highest_transmitted: news, ..DeliveryStatus::default() },
            };
            self.marker.handle_report(self.now, &report);
        }
    }
}
