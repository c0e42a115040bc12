//! A hop that marks and rewrites. It reads packets as hexadecimal lines from standard input and prints the packets that
//! it forwards. It marks every tenth TCP data packet, and adds feedback of a mark to acknowledgements, in `classic` or
//! `accecn` form.
//!
//! `tests/wire/test_kernel.py` puts it between two network namespaces to test it with the kernel's TCP.

use std::io::{BufRead, Write};

use tidemark_core::packet::AccEcnChange;
use tidemark_core::{Inspect, TcpFeedback};
use tidemark_wire::View;

fn main() -> std::io::Result<()> {
    let accecn = std::env::args().nth(1).as_deref() == Some("accecn");
    let (mut data, mut acknowledgements) = (0u64, 0u64);
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let octets = line.as_bytes().as_chunks::<2>().0.iter();
        let digits = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let mut bytes: Vec<u8> = octets.filter_map(digits).collect();
        if let Ok(mut view) = View::parse(&mut bytes)
            && let Some(seen) = view.tcp()
            && !seen.flags.syn
            && !seen.flags.rst
        {
            if seen.payload > 0 {
                data += 1;
                if data.is_multiple_of(10) {
                    view.set_ecn(view.headers().ecn.marked());
                }
            } else {
                acknowledgements += 1;
                view.set_tcp_feedback(if accecn {
                    // One mark of 1000 bytes more than the receiver saw, from the first acknowledgement on.
                    TcpFeedback::AccEcn(AccEcnChange { ace: 1, ceb: 1000, ..AccEcnChange::default() })
                } else {
                    TcpFeedback::Classic { ece: seen.flags.ece || acknowledgements.is_multiple_of(20) }
                });
            }
        }
        for octet in &bytes {
            write!(out, "{octet:02x}")?;
        }
        writeln!(out)?;
        out.flush()?;
    }
    Ok(())
}
