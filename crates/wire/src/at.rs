//! AT commands for bit rate recommendations (TS 27.007 10.1.68, 10.1.69), by which an application asks its modem.

use core::fmt;
use core::str::FromStr;

use tidemark_core::BitRate;

use crate::Error;

/// Direction of a rate. The MAC element numbers the directions differently: [`crate::mac::Direction`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Code 1.
    Uplink,
    /// Code 2.
    Downlink,
}

impl Direction {
    const fn number(self) -> u8 {
        match self {
            Self::Uplink => 1,
            Self::Downlink => 2,
        }
    }
    fn parse(text: &str) -> Result<Self, Error> {
        match number::<u8>(text)? {
            1 => Ok(Self::Uplink),
            2 => Ok(Self::Downlink),
            _ => Err(Error::Value),
        }
    }
}

/// A command from the application to the modem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// `AT+CGBRRREQ=<cid>,<bitrate>,<direction>`: send a query to the network.
    Query {
        /// Context, which is a PDU session.
        cid: u8,
        /// The requested rate, in whole kilobits a second.
        bit_rate: BitRate,
        /// The direction.
        direction: Direction,
    },
    /// `AT+CGBRRREQ=?`: which queries are possible?
    TestQuery,
    /// `AT+CGBRRREP=<reporting>`: start or stop reports of recommendations.
    SetReporting(bool),
    /// `AT+CGBRRREP?`: are recommendations reported?
    ReadReporting,
    /// `AT+CGBRRREP=?`: which settings are possible?
    TestReporting,
}

/// A line from the modem to the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// `OK`.
    Ok,
    /// `+CME ERROR: <err>`.
    CmeError(u16),
    /// `+CGBRRREP: <reporting>`.
    Reporting(bool),
    /// `+CGBRRREP: (0,1)`: reports can be switched off and on.
    Reportings,
    /// `+CGBRRREQ: (<cid>),(<lowest>-<highest>),(1,2)`: the queries that are possible, in both directions.
    Queries {
        /// The context.
        cid: u8,
        /// The highest rate, in whole kilobits a second; the lowest is 0.
        highest: BitRate,
    },
    /// `+CGBRRREP: <bitrate>,<direction>,<count>,<cid>,...`: the network recommends a rate.
    Recommendation {
        /// The rate, in whole kilobits a second.
        bit_rate: BitRate,
        /// The direction.
        direction: Direction,
        /// The contexts that share the logical channel.
        cids: Cids,
    },
}

/// The contexts that a recommendation is for: up to 15, as many as there are PDU sessions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cids {
    list: [u8; 15],
    len: u8,
}

impl Cids {
    /// Makes a list of contexts; `None` for more than 15.
    pub fn new(cids: &[u8]) -> Option<Self> {
        let mut list = [0; 15];
        list.get_mut(..cids.len())?.copy_from_slice(cids);
        Some(Self { list, len: cids.len() as u8 })
    }
    /// The contexts.
    pub fn as_slice(&self) -> &[u8] {
        &self.list[..usize::from(self.len)]
    }
}

/// A decimal number without sign.
fn number<T: FromStr>(text: &str) -> Result<T, Error> {
    let text = text.trim();
    // `parse` would take a plus sign as well.
    if text.bytes().all(|octet| octet.is_ascii_digit()) {
        text.parse().map_err(|_| Error::Value)
    } else {
        Err(Error::Value)
    }
}

/// A rate in kilobits a second. One above 32 bits is an error: no modem means it.
fn bit_rate(text: &str) -> Result<BitRate, Error> {
    number::<u32>(text).map(|kbps| BitRate::from_kbps(u64::from(kbps)))
}

fn kbps(rate: BitRate) -> u64 {
    rate.as_bps() / 1000
}

fn reporting(text: &str) -> Result<bool, Error> {
    match number::<u8>(text)? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::Value),
    }
}

/// The text after `prefix`, which is compared without regard to case.
fn after<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

impl FromStr for Command {
    type Err = Error;

    /// Reads a command line, with or without its line end.
    fn from_str(line: &str) -> Result<Self, Error> {
        let line = line.trim();
        if let Some(arguments) = after(line, "AT+CGBRRREQ=") {
            if arguments == "?" {
                return Ok(Self::TestQuery);
            }
            let mut arguments = arguments.split(',');
            let mut next = || arguments.next().ok_or(Error::Truncated);
            let (cid, rate, direction) = (number(next()?)?, bit_rate(next()?)?, Direction::parse(next()?)?);
            if arguments.next().is_some() {
                return Err(Error::Length);
            }
            return Ok(Self::Query { cid, bit_rate: rate, direction });
        }
        match after(line, "AT+CGBRRREP").ok_or(Error::Type)? {
            "?" => Ok(Self::ReadReporting),
            "=?" => Ok(Self::TestReporting),
            rest => reporting(rest.strip_prefix('=').ok_or(Error::Type)?).map(Self::SetReporting),
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query { cid, bit_rate, direction } => {
                write!(f, "AT+CGBRRREQ={cid},{},{}", kbps(*bit_rate), direction.number())
            }
            Self::TestQuery => f.write_str("AT+CGBRRREQ=?"),
            Self::SetReporting(on) => write!(f, "AT+CGBRRREP={}", u8::from(*on)),
            Self::ReadReporting => f.write_str("AT+CGBRRREP?"),
            Self::TestReporting => f.write_str("AT+CGBRRREP=?"),
        }
    }
}

impl FromStr for Line {
    type Err = Error;

    /// Reads a line, with or without its line end.
    fn from_str(line: &str) -> Result<Self, Error> {
        let line = line.trim();
        if line == "OK" {
            return Ok(Self::Ok);
        }
        if let Some(code) = after(line, "+CME ERROR:") {
            return number(code).map(Self::CmeError);
        }
        if let Some(arguments) = after(line, "+CGBRRREQ:") {
            let ranges = arguments.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix("),(1,2)"));
            let (cid, highest) = ranges.and_then(|ranges| ranges.split_once("),(0-")).ok_or(Error::Value)?;
            return Ok(Self::Queries { cid: number(cid)?, highest: bit_rate(highest)? });
        }
        let arguments = after(line, "+CGBRRREP:").ok_or(Error::Type)?;
        if arguments.trim() == "(0,1)" {
            return Ok(Self::Reportings);
        }
        if !arguments.contains(',') {
            return reporting(arguments).map(Self::Reporting);
        }
        let mut arguments = arguments.split(',');
        let mut next = || arguments.next().ok_or(Error::Truncated);
        let (bit_rate, direction) = (bit_rate(next()?)?, Direction::parse(next()?)?);
        let mut cids = Cids { len: number(next()?)?, ..Cids::default() };
        for cid in cids.list.get_mut(..usize::from(cids.len)).ok_or(Error::Value)? {
            *cid = number(next()?)?;
        }
        if arguments.next().is_some() {
            return Err(Error::Length);
        }
        Ok(Self::Recommendation { bit_rate, direction, cids })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("OK"),
            Self::CmeError(code) => write!(f, "+CME ERROR: {code}"),
            Self::Reporting(on) => write!(f, "+CGBRRREP: {}", u8::from(*on)),
            Self::Reportings => f.write_str("+CGBRRREP: (0,1)"),
            Self::Queries { cid, highest } => write!(f, "+CGBRRREQ: ({cid}),(0-{}),(1,2)", kbps(*highest)),
            Self::Recommendation { bit_rate, direction, cids } => {
                write!(f, "+CGBRRREP: {},{},{}", kbps(*bit_rate), direction.number(), cids.len)?;
                cids.as_slice().iter().try_for_each(|cid| write!(f, ",{cid}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    #[test]
    fn a_query_for_two_megabits_uplink() {
        let query = Command::Query { cid: 1, bit_rate: BitRate::from_mbps(2), direction: Direction::Uplink };
        assert_eq!(query.to_string(), "AT+CGBRRREQ=1,2000,1");
        assert_eq!("at+cgbrrreq=1, 2000, 1\r\n".parse(), Ok(query));
    }

    #[test]
    fn commands_come_back_as_they_were_written() {
        let commands = [
            Command::TestQuery,
            Command::SetReporting(true),
            Command::SetReporting(false),
            Command::ReadReporting,
            Command::TestReporting,
        ];
        for command in commands {
            assert_eq!(command.to_string().parse(), Ok(command));
        }
    }

    #[test]
    fn a_recommendation_for_two_contexts() {
        let line = Line::Recommendation {
            bit_rate: BitRate::from_kbps(350),
            direction: Direction::Downlink,
            cids: Cids::new(&[1, 5]).unwrap(),
        };
        assert_eq!(line.to_string(), "+CGBRRREP: 350,2,2,1,5");
        assert_eq!("\r\n+CGBRRREP: 350,2,2,1,5\r\n".parse(), Ok(line));
        assert_eq!("+CGBRRREP: 1".parse(), Ok(Line::Reporting(true)));
        assert_eq!("+CME ERROR: 3".parse(), Ok(Line::CmeError(3)));
        assert_eq!("OK\r".parse(), Ok(Line::Ok));
    }

    #[test]
    fn test_commands_are_answered_with_the_ranges() {
        let lines = [
            ("+CGBRRREP: (0,1)", Line::Reportings),
            ("+CGBRRREQ: (1),(0-8000000),(1,2)", Line::Queries { cid: 1, highest: BitRate::from_mbps(8000) }),
        ];
        for (text, line) in lines {
            assert_eq!(line.to_string(), text);
            assert_eq!(text.parse(), Ok(line));
        }
    }

    #[test]
    fn malformed_lines_are_refused() {
        for (line, error) in [
            ("+CGBRRREQ: (1),(0-8000000)", Error::Value),
            ("+CGBRRREP: 350,3,1,1", Error::Value),
            ("+CGBRRREP: 350,2,2,1", Error::Truncated),
            ("+CGBRRREP: 350,2,1,1,5", Error::Length),
            ("+CGBRRREP: 350,2,16,1", Error::Value),
            ("+CGBRRREP: +1", Error::Value),
            ("+CGBRRREP: ", Error::Value),
            ("+CSQ: 1", Error::Type),
        ] {
            assert_eq!(line.parse::<Line>(), Err(error), "{line}");
        }
        for (line, error) in [
            ("AT+CGBRRREQ=1,2000", Error::Truncated),
            ("AT+CGBRRREQ=1,2000,1,1", Error::Length),
            ("AT+CGBRRREQ=1,-5,1", Error::Value),
            ("AT+CGBRRREP=2", Error::Value),
            ("AT+CGBRRREP", Error::Type),
            ("ATH", Error::Type),
        ] {
            assert_eq!(line.parse::<Command>(), Err(error), "{line}");
        }
    }

    proptest! {
        #[test]
        fn lines_come_back_as_they_were_written(kbps: u32, up: bool, cids in proptest::collection::vec(any::<u8>(), 0..16)) {
            let direction = if up { Direction::Uplink } else { Direction::Downlink };
            let bit_rate = BitRate::from_kbps(u64::from(kbps));
            let line = Line::Recommendation { bit_rate, direction, cids: Cids::new(&cids).unwrap() };
            prop_assert_eq!(line.to_string().parse(), Ok(line));
        }

        #[test]
        fn arbitrary_text_never_panics(text: std::string::String, prefix in 0usize..5) {
            let prefixes = ["", "+CGBRRREP:", "+CGBRRREQ:", "AT+CGBRRREQ=", "AT+CGBRRREP"];
            let line = std::format!("{}{text}", prefixes[prefix]);
            let _ = (line.parse::<Command>(), line.parse::<Line>());
        }
    }
}
