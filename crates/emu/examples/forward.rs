//! Forwarder between the same two TUN devices without a cell, beside which the cell's driver is measured.
//! `forward SECONDS COMMAND...` runs the command at the UE's end and prints packets and processor time.

use std::io::Read as _;
use std::os::fd::{AsFd, AsRawFd as _};
use std::time::{Duration, Instant};

use tidemark_emu::namespace::Namespace;
use tidemark_emu::{Clock, realtime, routing};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == tidemark_emu::init::ARGUMENT) {
        tidemark_emu::init::run(&arguments[2..]);
    }
    let seconds: u64 =
        arguments.get(1).and_then(|text| text.to_str()?.parse().ok()).ok_or("forward SECONDS COMMAND...")?;
    let core = routing::core_device(0, 1500)?;
    let (namespace, ue) = Namespace::ue(0, 0, 1500, None, |_, _| {})?;
    let _guard = namespace.start(arguments[2..].to_vec(), Vec::new())?;
    realtime::prefer();
    let end = Instant::now() + Duration::from_secs(seconds);
    // Files of the standard library: the crate's own loop is not to be compared with itself.
    let file = |device: &tidemark_emu::Tun| std::fs::File::from(device.as_fd().try_clone_to_owned().unwrap());
    let files = [file(&core), file(&ue)];
    let (mut packets, mut buffer) = (0u64, [0; 65_536]);
    let mut fds = [0, 1].map(|side| libc::pollfd { fd: files[side].as_raw_fd(), events: libc::POLLIN, revents: 0 });
    while Instant::now() < end {
        // SAFETY: the array lives through the call, and its length is right.
        unsafe { libc::poll(fds.as_mut_ptr(), 2, 100) };
        for side in 0..2 {
            for _ in 0..64 {
                let Ok(length) = (&files[side]).read(&mut buffer) else { break };
                packets += 1;
                // A packet that the other side refuses is lost, as anywhere.
                let _ = std::io::Write::write(&mut &files[1 - side], &buffer[..length]);
            }
        }
    }
    let drops = routing::device_drops(core.name());
    println!("{{\"packets\": {packets}, \"busy_s\": {}, \"device_drops\": {drops}}}", Clock::busy().as_secs_f64());
    Ok(())
}
