//! The modem of a UE: bit rate recommendations between the MAC layer and the applications (TS 38.321 5.18.10), as the AT
//! commands of TS 27.007 10.1.68 and 10.1.69 carry them.

use tidemark_core::BitRate;
use tidemark_wire::at::{Cids, Command, Direction, Line};
use tidemark_wire::mac::{self, BitRateIndex, BitRateMultiplier, RecommendedBitRate, lcid};

/// The one PDU session of a UE.
pub const CID: u8 = 1;
/// Logical channel of a UE's default bearer; those of its other bearers follow.
pub const FIRST_CHANNEL: u8 = 4;

/// Gives the line by which a modem reports a recommended rate to its applications, with the logical channel. `octets`
/// are a MAC subheader and its control element; `None` if they recommend nothing.
pub fn report(octets: [u8; 3], multiplier: BitRateMultiplier) -> Option<(u8, String)> {
    let [subheader, element @ ..] = octets;
    let element =
        RecommendedBitRate::parse(&element).ok().filter(|_| subheader & 0x3F == lcid::RECOMMENDED_BIT_RATE)?;
    let direction = match element.direction {
        mac::Direction::Downlink => Direction::Downlink,
        mac::Direction::Uplink => Direction::Uplink,
    };
    let line = Line::Recommendation { bit_rate: element.rate(Some(multiplier))?, direction, cids: Cids::new(&[CID])? };
    Some((element.lcid, line.to_string()))
}

/// Reads a line of [`report`], as an application does.
pub fn received(line: &str) -> Option<(BitRate, mac::Direction)> {
    match line.parse() {
        Ok(Line::Recommendation { bit_rate, direction: Direction::Downlink, .. }) => {
            Some((bit_rate, mac::Direction::Downlink))
        }
        Ok(Line::Recommendation { bit_rate, direction: Direction::Uplink, .. }) => {
            Some((bit_rate, mac::Direction::Uplink))
        }
        _ => None,
    }
}

/// The line with which an application asks for a recommendation, without a wanted rate.
pub fn question(direction: mac::Direction) -> String {
    let direction = match direction {
        mac::Direction::Downlink => Direction::Downlink,
        mac::Direction::Uplink => Direction::Uplink,
    };
    Command::Query { cid: CID, bit_rate: BitRate::ZERO, direction }.to_string()
}

/// Gives a modem's answer to the question which rates may be queried: up to the highest one of a control element.
pub fn queries(multiplier: BitRateMultiplier) -> Line {
    let highest = BitRateIndex::at_most(BitRate::from_bps(u64::MAX)).rate().unwrap_or_default();
    Line::Queries { cid: CID, highest: BitRate::from_bps(highest.as_bps() * multiplier.factor()) }
}

/// The control element that a modem makes of a line of [`question`], for a logical channel; `None` for other lines.
pub fn query(line: &str, channel: u8) -> Option<[u8; 2]> {
    let Ok(Command::Query { direction, .. }) = line.parse() else { return None };
    let direction = match direction {
        Direction::Downlink => mac::Direction::Downlink,
        Direction::Uplink => mac::Direction::Uplink,
    };
    RecommendedBitRate { lcid: channel, direction, bit_rate: BitRateIndex::NONE, multiplied: false }.emit().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recommendation_passes_from_octets_through_a_line_of_text_to_a_rate() {
        // Logical channel 4, 750 kbit/s (index 33) times 40.
        let index = BitRateIndex::at_most(BitRate::from_kbps(750));
        let kbps = index.rate().unwrap().as_bps() * 40 / 1_000;
        for (direction, number) in [(mac::Direction::Downlink, 2), (mac::Direction::Uplink, 1)] {
            let element = RecommendedBitRate { lcid: 4, direction, bit_rate: index, multiplied: true };
            let [first, second] = element.emit().unwrap();
            let (channel, line) = report([47, first, second], BitRateMultiplier::X40).unwrap();
            assert_eq!((channel, line.as_str()), (4, format!("+CGBRRREP: {kbps},{number},1,1").as_str()));
            assert_eq!(received(&line), Some((BitRate::from_kbps(kbps), direction)));
            assert_eq!(report([48, first, second], BitRateMultiplier::X40), None);
        }
    }

    #[test]
    fn a_question_becomes_the_octets_of_a_query() {
        let (down, up) = (question(mac::Direction::Downlink), question(mac::Direction::Uplink));
        assert_eq!((down.as_str(), up.as_str()), ("AT+CGBRRREQ=1,0,2", "AT+CGBRRREQ=1,0,1"));
        assert_eq!((query(&down, 4), query(&up, 4)), (Some([0b0001_0000, 0]), Some([0b0001_0010, 0])));
        assert_eq!(query("AT+CGBRRREP=1", 4), None);
        assert_eq!(received("OK"), None);
    }
}
