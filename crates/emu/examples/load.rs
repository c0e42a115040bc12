//! Sends UDP datagrams that make packets of 1400 bytes, at a steady rate: `load ADDRESS MBIT_PER_S SECONDS`. Prints how many.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

/// IPv4 and UDP headers take 28 of the 1400 bytes.
const PAYLOAD: usize = 1_372;
/// Datagrams at a time: at 1 Gbit/s one burst each 90 us.
const BURST: u32 = 8;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, rate, seconds] = arguments.as_slice() else {
        return Err("load ADDRESS MBIT_PER_S SECONDS".into());
    };
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect((address.as_str(), 9))?;
    let gap = Duration::from_secs_f64(f64::from(BURST) * 1_400.0 * 8.0 / (rate.parse::<f64>()? * 1e6));
    let (start, end) = (Instant::now(), Duration::from_secs_f64(seconds.parse()?));
    let (mut sent, mut refused, mut due) = (0u64, 0u64, Duration::ZERO);
    while due < end {
        for _ in 0..BURST {
            match socket.send(&[0; PAYLOAD]) {
                Ok(_) => sent += 1,
                Err(_) => refused += 1,
            }
        }
        due += gap;
        if let Some(wait) = due.checked_sub(start.elapsed()) {
            std::thread::sleep(wait);
        }
    }
    println!("{{\"sent\": {sent}, \"refused\": {refused}, \"seconds\": {}}}", start.elapsed().as_secs_f64());
    Ok(())
}
