//! Calls of the C interface: the bytes say which, about which UE, with which lengths and sizes. Every buffer is a block of its own of just the
//! length that the call is given, so that the address sanitizer sees what is touched beyond it.
#![no_main]

#[path = "../../crates/marker/tests/common/choices.rs"]
mod choices;

use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use allocation_counter::measure;
use choices::Choices;
use libfuzzer_sys::fuzz_target;
use tidemark::batch::*;
use tidemark::instance::Instance;
use tidemark::notices::*;
use tidemark::path::*;
use tidemark::qos_flow::*;
use tidemark::read::*;
use tidemark::relocation::*;
use tidemark::setup::*;
use tidemark::status::Status;
use tidemark::totals::*;
use tidemark::types::*;

const UES: usize = 3;

impl Choices<'_> {
    /// Any bytes, of a length of up to 63.
    fn bytes(&mut self) -> Box<[u8]> {
        (0..self.below(64)).map(|_| self.byte()).collect()
    }
    /// A size of a struct: its own, or any other.
    fn size(&mut self, own: usize) -> usize {
        match self.below(6) {
            0 => usize::from(self.byte()),
            1 => own + usize::from(self.byte()),
            2 => own.wrapping_sub(usize::from(self.below(40))),
            3 => [0, 1, 7, 8, 4_096, 4_097, usize::MAX, usize::MAX / 2][usize::from(self.below(8))],
            _ => own,
        }
    }
}

/// A struct in a block of as many bytes as its size says; a size that is refused gets a block for itself alone.
fn sized(size: usize, choices: &mut Choices) -> Box<[u64]> {
    let len = if size <= 4_096 { size.max(8) } else { 8 };
    let mut block: Box<[u64]> = (0..len.div_ceil(8)).map(|_| u64::from(choices.byte())).collect();
    block[0] = size as u64;
    block
}

/// A packet that the marker looks at, or noise; its first `present` bytes, and the length that it has.
fn packet(downlink: bool, choices: &mut Choices) -> (Box<[u8]>, usize) {
    if choices.below(8) == 0 {
        let bytes = choices.bytes();
        let len = bytes.len() + usize::from(choices.byte()) * 300;
        return (bytes, len);
    }
    let (is_v6, is_tcp) = (choices.flag(), choices.flag());
    let payload = [0u16, 1, 1_361, 1_400][usize::from(choices.below(4))];
    let mut transport = vec![0u8; 60];
    let ports = if downlink { [1, 0xBB, 0xC3, choices.below(3)] } else { [0xC3, choices.below(3), 1, 0xBB] };
    transport[..4].copy_from_slice(&ports);
    if is_tcp {
        transport[4..12].copy_from_slice(&[choices.word().to_be_bytes(), choices.word().to_be_bytes()].concat());
        transport[12] = (5 + choices.below(11)) << 4 | choices.below(2);
        transport[13] = choices.byte();
        for at in 20..60 {
            transport[at] = choices.byte();
        }
    }
    let header = if is_v6 { 40 } else { 20 };
    let len = header + 60 + usize::from(payload);
    let mut bytes = vec![0u8; header];
    let ecn = choices.below(4);
    if is_v6 {
        (bytes[0], bytes[1], bytes[6]) = (0x60, ecn << 4, if is_tcp { 6 } else { 17 });
        bytes[4..6].copy_from_slice(&((len - 40) as u16).to_be_bytes());
        bytes[if downlink { 23 } else { 39 }] = 1;
    } else {
        (bytes[0], bytes[1], bytes[9]) = (0x45, ecn, if is_tcp { 6 } else { 17 });
        bytes[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        bytes[if downlink { 15 } else { 19 }] = 1;
    }
    bytes.extend(transport);
    bytes.truncate(if choices.flag() { usize::from(choices.byte()) } else { 200 });
    (bytes.into(), len)
}

/// Policies that DRBs are set up by; read once, for most of a short run's time would go into it.
fn policy(index: usize) -> *const CompiledPolicy {
    static POLICIES: OnceLock<[usize; 3]> = OnceLock::new();
    let texts = [
        c"otherwise = { law = 'step', threshold = '1 us', short_circuit = true, profile_capacity = 64, flow_capacity = 8 }",
        c"otherwise = { law = 'l4span', not_ect = 'drop', profile_capacity = 64, flow_capacity = 8 }",
        c"otherwise = { law = 'tide', profile_capacity = 64, flow_capacity = 8 }",
    ];
    let made = POLICIES.get_or_init(|| {
        texts.map(|text| {
            let mut policy = null_mut();
            // SAFETY: every pointer is to something that lives.
            assert_eq!(unsafe { tidemark_policy_new(text.as_ptr(), &mut policy, null_mut(), 0) }, Status::Ok);
            policy as usize
        })
    });
    made[index] as *const CompiledPolicy
}

struct World {
    instance: *mut Instance,
    ues: [UeId; UES],
    now_ns: u64,
    last: Totals,
}

impl World {
    fn new() -> Self {
        let config = InstanceConfig {
            size: size_of::<InstanceConfig>(),
            max_ues: UES as u32 - 1,
            reserved: 0,
            seed: 3,
            secret: [9; 16],
        };
        let mut world = Self { instance: null_mut(), ues: [UeId::default(); UES], now_ns: 0, last: Totals::default() };
        // SAFETY: every pointer is to something that lives until `drop`.
        assert_eq!(unsafe { tidemark_instance_new(&config, &mut world.instance) }, Status::Ok);
        for ue in 0..UES - 1 {
            world.add_ue(ue);
            world.add_drb(ue, 1, 12, 0);
        }
        world
    }

    fn add_ue(&mut self, ue: usize) {
        // SAFETY: the instance lives.
        unsafe { tidemark_ue_add(self.instance, &mut self.ues[ue]) };
    }

    fn add_drb(&mut self, ue: usize, drb: u8, sn_bits: u8, law: usize) {
        let flow = QosFlow { qfi: drb, five_qi: 80 };
        // SAFETY: the instance and the policies live.
        unsafe { tidemark_drb_add(self.instance, self.ues[ue], drb, sn_bits, &flow, 1, policy(law)) };
    }

    /// Checks what each call of the packet path promises.
    fn hot(&self, call: impl FnOnce() -> Status) -> Status {
        let mut status = Status::Internal;
        assert_eq!(measure(|| status = call()).count_total, 0, "nothing is allocated");
        assert!(status != Status::Internal && status != Status::Busy);
        status
    }

    fn packet_call(&mut self, choices: &mut Choices) {
        let which = choices.below(4);
        let (ue, drb) = (self.ues[usize::from(choices.below(UES as u8))], choices.below(4));
        let (mut bytes, len) = packet(which != 1, choices);
        let (before, now_ns) = (bytes.clone(), self.now_ns);
        let (first, present) = (bytes.as_mut_ptr(), bytes.len());
        let mut verdict = Verdict::Pass;
        // SAFETY: the instance lives, and the block is as long as it is said to be.
        let status = self.hot(|| unsafe {
            match which {
                0 => tidemark_downlink(self.instance, ue, now_ns, drb, first, present, len, &mut verdict),
                1 => tidemark_uplink(self.instance, ue, now_ns, first, present, len),
                2 => tidemark_dequeue(self.instance, ue, now_ns, drb, first, present, len, 9_000, 9, &mut verdict),
                _ => tidemark_decapsulate(drb, first, present, len, &mut verdict),
            }
        });
        if status != Status::Ok {
            assert!(verdict == Verdict::Pass && bytes == before);
        }
        if which != 1 && which != 3 {
            assert!(verdict == Verdict::Mark || bytes == before);
        }
    }

    fn pdu_call(&mut self, choices: &mut Choices) {
        let (ue, drb) = (self.ues[usize::from(choices.below(UES as u8))], choices.below(4));
        let (sn, size, is_retx) = (choices.word() >> choices.below(32), choices.word() >> 20, choices.flag());
        let (header, now_ns, which) = (choices.bytes(), self.now_ns, choices.below(3));
        let (first, present) = (header.as_ptr(), header.len().min(usize::from(choices.byte())));
        // SAFETY: as above.
        self.hot(|| unsafe {
            match which {
                0 => tidemark_pdcp_pdu(self.instance, ue, now_ns, drb, sn, size, is_retx),
                1 => tidemark_pdcp_pdu_header(self.instance, ue, now_ns, drb, first, present, size, is_retx),
                _ => tidemark_pdcp_discard(self.instance, ue, now_ns, drb, sn),
            }
        });
    }

    fn report_call(&mut self, choices: &mut Choices) {
        let (ue, drb) = (self.ues[usize::from(choices.below(UES as u8))], choices.below(4));
        let size = choices.size(size_of::<Report>());
        let (mut report, frame, now_ns) = (sized(size, choices), choices.bytes(), self.now_ns);
        let is_frame = choices.flag();
        if size >= 16 && size <= 4_096 {
            report[1] = u64::from(choices.byte()) | u64::from(choices.byte()) << 32;
        }
        // SAFETY: as above; the report has the size that it says, or is refused for it.
        let status = self.hot(|| unsafe {
            if is_frame {
                tidemark_feedback_frame(self.instance, ue, now_ns, drb, frame.as_ptr(), frame.len())
            } else {
                tidemark_feedback(self.instance, ue, now_ns, drb, report.as_ptr().cast())
            }
        });
        assert!(is_frame || (8..=4_096).contains(&size) || status == Status::BadLength);
    }

    fn batch_call(&mut self, choices: &mut Choices) {
        let (count, now_ns, which) = (usize::from(choices.below(40)), self.now_ns, choices.below(4));
        let mut ue = || self.ues[usize::from(choices.below(UES as u8))];
        let ues: Vec<UeId> = (0..count).map(|_| ue()).collect();
        if which < 2 {
            let mut bytes: Vec<_> = ues.iter().map(|_| packet(which == 0, choices)).collect();
            let before: Vec<_> = bytes.clone();
            let packet = |(ue, (bytes, len)): (&UeId, &mut (Box<[u8]>, usize))| Packet {
                ue: *ue,
                packet: bytes.as_mut_ptr(),
                present: bytes.len(),
                len: *len,
                qfi: 1,
                verdict: Verdict::Drop,
                status: Status::Internal,
            };
            let mut packets: Box<[Packet]> = ues.iter().zip(&mut bytes).map(packet).collect();
            let call = if which == 0 { tidemark_downlink_batch } else { tidemark_uplink_batch };
            let first = packets.as_mut_ptr();
            // SAFETY: as above, for each of them.
            self.hot(|| unsafe { call(self.instance, now_ns, first, count) });
            for ((packet, bytes), before) in packets.iter().zip(&bytes).zip(&before) {
                assert!(packet.status == Status::Ok || (packet.verdict == Verdict::Pass && bytes == before));
                assert_ne!(packet.status, Status::Internal);
            }
        } else if which == 2 {
            let pdu = |ue: &UeId| Pdu {
                ue: *ue,
                sn: choices.byte().into(),
                size: 1_000,
                drb: choices.below(4),
                is_retx: choices.flag(),
                status: Status::Internal,
            };
            let mut pdus: Box<[Pdu]> = ues.iter().map(pdu).collect();
            let first = pdus.as_mut_ptr();
            // SAFETY: as above.
            self.hot(|| unsafe { tidemark_pdcp_pdu_batch(self.instance, now_ns, first, count) });
            assert!(pdus.iter().all(|pdu| pdu.status != Status::Internal));
        } else {
            let sizes: Vec<_> = ues.iter().map(|_| choices.size(size_of::<Report>())).collect();
            let values: Vec<_> = sizes.iter().map(|size| sized(*size, choices)).collect();
            let report = |(ue, value): (&UeId, &Box<[u64]>)| DrbReport {
                ue: *ue,
                report: if choices.below(9) == 0 { null() } else { value.as_ptr().cast() },
                drb: choices.below(3),
                status: Status::Internal,
            };
            let mut reports: Box<[DrbReport]> = ues.iter().zip(&values).map(report).collect();
            let first = reports.as_mut_ptr();
            // SAFETY: as above.
            self.hot(|| unsafe { tidemark_feedback_batch(self.instance, now_ns, first, count) });
            assert!(reports.iter().all(|report| report.status != Status::Internal));
        }
    }

    fn read_call(&mut self, choices: &mut Choices) {
        let (ue, drb, which) = (self.ues[usize::from(choices.below(UES as u8))], choices.below(4), choices.below(4));
        let own = [size_of::<UeCounters>(), size_of::<DrbCounters>(), size_of::<DrbEstimate>(), size_of::<Totals>()];
        let own = own[usize::from(which)];
        let size = choices.size(own);
        let mut block = sized(size, choices);
        let (first, now_ns) = (block.as_mut_ptr(), self.now_ns);
        // SAFETY: as above.
        let status = self.hot(|| unsafe {
            match which {
                0 => tidemark_read_ue_counters(self.instance, ue, first.cast()),
                1 => tidemark_read_drb_counters(self.instance, ue, drb, first.cast()),
                2 => tidemark_read_estimate(self.instance, ue, now_ns, drb, first.cast()),
                _ => tidemark_read_totals(self.instance, first.cast()),
            }
        });
        assert_eq!(status == Status::BadLength, !(8..=4_096).contains(&size));
        let written = if status == Status::Ok { size.min(own) } else { size };
        assert_eq!(block[0], written as u64);
        if status == Status::Ok {
            // SAFETY: the block has as many bytes.
            let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr().cast::<u8>(), size) };
            assert!(bytes[written..].iter().all(|byte| *byte == 0));
        }
    }

    fn qos_flow_call(&mut self, choices: &mut Choices) {
        let (ue, qfi, now_ns) = (self.ues[usize::from(choices.below(UES as u8))], choices.below(66), self.now_ns);
        let (size, share) = (choices.size(size_of::<QfiCongestion>()), choices.word() as u16);
        let mut congestion = sized(size, choices);
        let first = congestion.as_mut_ptr().cast();
        let mut container = [0; TIDEMARK_CONGESTION_CONTAINER];
        // SAFETY: as above.
        unsafe {
            match choices.below(4) {
                // Memory is allocated for a UE's first.
                0 | 1 => drop_status(tidemark_qfi_marking(self.instance, ue, qfi, choices.below(4))),
                2 => {
                    let status = self.hot(|| tidemark_qfi_congestion(self.instance, ue, now_ns, qfi, first));
                    assert!((8..=4_096).contains(&size) || matches!(status, Status::BadLength | Status::NoUe));
                }
                _ => {
                    let status = self.hot(|| tidemark_congestion_container(qfi, share, &mut container));
                    assert_eq!(status == Status::Ok, qfi < 64 && share <= 10_000);
                }
            }
        }
    }

    /// A UE's state goes to any UE, whole, cut or changed.
    fn relocation_call(&mut self, choices: &mut Choices) {
        let [from, to] = [(); 2].map(|()| self.ues[usize::from(choices.below(UES as u8))]);
        let (now_ns, mut len) = (self.now_ns, 0);
        // SAFETY: as above.
        let status = self.hot(|| unsafe { tidemark_ue_export(self.instance, from, null_mut(), 0, &mut len) });
        if status != Status::BufferTooSmall {
            return;
        }
        let mut state = vec![0; len].into_boxed_slice();
        let first = state.as_mut_ptr();
        // SAFETY: as above.
        let status = self.hot(|| unsafe { tidemark_ue_export(self.instance, from, first, len, &mut len) });
        assert_eq!((status, len), (Status::Ok, state.len()));
        for _ in 0..choices.below(4) {
            let at = choices.word() as usize % len;
            state[at] = choices.byte();
        }
        let cut = if choices.below(4) == 0 { choices.word() as usize % (len + 1) } else { len };
        let state: Box<[u8]> = state[..cut].into();
        let mut problem = vec![0; usize::from(choices.below(99))].into_boxed_slice();
        let (text, room) = (problem.as_mut_ptr(), problem.len());
        // SAFETY: as above. The text of an error is allocated.
        drop_status(unsafe { tidemark_ue_import(self.instance, to, now_ns, state.as_ptr(), cut, text, room) });
    }

    /// Totals never shrink, and their notices are few.
    fn check(&mut self, choices: &mut Choices) {
        let mut now = Totals::default();
        // SAFETY: the instance lives.
        assert_eq!(self.hot(|| unsafe { tidemark_read_totals(self.instance, &mut now) }), Status::Ok);
        assert!(now.downlink >= self.last.downlink && now.uplink >= self.last.uplink);
        assert!(now.sums.packets >= self.last.sums.packets && now.sums.pdus >= self.last.sums.pdus);
        assert!(now.sums.reports >= self.last.sums.reports && now.sums.unknown_sns >= self.last.sums.unknown_sns);
        assert!(now.unparsed >= self.last.unparsed);
        assert!(now.ues < UES as u64 && now.busy == 0);
        let capacity = usize::from(choices.below(TIDEMARK_MAX_NOTICES as u8 + 2));
        let mut notices = Box::<[Notice]>::new_uninit_slice(capacity);
        let (mut count, size) = (usize::MAX, choices.size(size_of::<Totals>()));
        let before = sized(size, choices);
        let first = notices.as_mut_ptr().cast();
        // SAFETY: the block has the size that it says, or is refused for it.
        let status =
            self.hot(|| unsafe { tidemark_notices(before.as_ptr().cast(), &now, first, capacity, &mut count) });
        assert!(status == Status::BadLength || count <= TIDEMARK_MAX_NOTICES);
        self.last = now;
    }

    fn set_up_call(&mut self, choices: &mut Choices) {
        let (index, drb) = (usize::from(choices.below(UES as u8)), choices.below(4));
        let ue = self.ues[index];
        let size = choices.size(size_of::<DrbCounters>());
        let mut counters = sized(size, choices);
        // SAFETY: as above.
        unsafe {
            match choices.below(8) {
                0 => drop_status(tidemark_ue_remove(self.instance, ue)),
                1 => self.add_ue(index),
                2 => drop_status(tidemark_drb_remove(self.instance, ue, drb, counters.as_mut_ptr().cast())),
                3 => drop_status(tidemark_ue_handover(self.instance, ue, self.now_ns)),
                4 => drop_status(tidemark_drb_handover(self.instance, ue, self.now_ns, drb)),
                5 => drop_status(tidemark_qfi_map(self.instance, ue, choices.below(66), drb)),
                _ => self.add_drb(index, drb, if choices.flag() { 12 } else { 18 }, choices.below(3).into()),
            }
        }
    }
}

fn drop_status(status: Status) {
    assert_ne!(status, Status::Internal);
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: it was made in `new`, and no call is under way.
        unsafe { tidemark_instance_free(self.instance) };
    }
}

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices::new(data);
    let mut world = World::new();
    while !choices.is_empty() {
        world.now_ns = world.now_ns.wrapping_add(u64::from(choices.byte()) << (4 * choices.below(9)));
        match choices.below(16) {
            0..=4 => world.packet_call(&mut choices),
            5..=7 => world.pdu_call(&mut choices),
            8..=9 => world.report_call(&mut choices),
            10..=12 => world.batch_call(&mut choices),
            13 => world.read_call(&mut choices),
            14 if choices.flag() => world.check(&mut choices),
            14 if choices.flag() => world.relocation_call(&mut choices),
            14 => world.qos_flow_call(&mut choices),
            _ => world.set_up_call(&mut choices),
        }
    }
});
