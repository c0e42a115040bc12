//! AT commands: what was read is written and read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemark_wire::at::{Command, Line};

fuzz_target!(|text: &str| {
    for prefix in ["", "AT+CGBRRREQ=", "AT+CGBRRREP", "+CGBRRREP:", "+CGBRRREQ:", "+CME ERROR:"] {
        let line = format!("{prefix}{text}");
        if let Ok(command) = line.parse::<Command>() {
            assert_eq!(command.to_string().parse(), Ok(command));
        }
        if let Ok(read) = line.parse::<Line>() {
            assert_eq!(read.to_string().parse(), Ok(read));
        }
    }
});
