//! A hop that short-circuits feedback. It reads IP packets as lines of hexadecimal digits from standard input, and prints
//! the resulting packets, one line each. `tests/wire/test_marker.py` puts it between two kernels.
//!
//! Packets from the address that ends in 1 go down to the UE. The DU keeps five packets queued, so that a classic flow is
//! marked a few times in a hundred packets. The marks go into the acknowledgements.

use std::io::{BufRead, Write};

use tidemark_core::{Bytes, Duration, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, SnLength};

const DRB: DrbId = DrbId(1);
const QFI: u8 = 9;
/// SDUs that the DU keeps queued.
const BACKLOG: u32 = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let law = LawConfig::L4span(L4SpanConfig::default());
    let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(law) };
    let mut ue = Ue::new(FlowKey::new(b"sixteen secrets!"));
    ue.add_drb(DRB, &[QFI], &config, SnLength::Bits12, Stream::new(1, 0, "mark"))?;
    let (mut now, mut sn) = (Instant::ZERO, 0u32);
    let modulus = SnLength::Bits12.modulus();
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let mut packet = bytes(&line?)?;
        now += Duration::from_micros(100);
        let source_ends = if packet.first().is_some_and(|octet| octet >> 4 == 4) { 15 } else { 23 };
        if packet.get(source_ends) == Some(&1) {
            ue.downlink(now, QFI, &mut packet);
            ue.pdcp_pdu(now, DRB, sn, Bytes(packet.len() as u64));
            let highest_transmitted = Some(sn.wrapping_sub(BACKLOG) % modulus);
            ue.feedback(now, DRB, &DeliveryStatus { highest_transmitted, ..DeliveryStatus::default() });
            sn = (sn + 1) % modulus;
        } else {
            ue.uplink(now, &mut packet);
        }
        let text: String = packet.iter().map(|octet| format!("{octet:02x}")).collect();
        writeln!(output, "{text}")?;
        output.flush()?;
    }
    let counters = ue.drb_counters(DRB).unwrap_or_default();
    eprintln!("{} {}", counters.short_circuited, counters.rewritten_acks);
    Ok(())
}

fn bytes(line: &str) -> Result<Vec<u8>, std::num::ParseIntError> {
    (0..line.len() / 2).map(|at| u8::from_str_radix(&line[2 * at..2 * at + 2], 16)).collect()
}
