//! The PDU Session Container of GTP-U (TS 38.415 5.5.2) with Release 18's congestion information, and the PDU Set
//! Information Container.

use tidemark_core::Probability;

use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

/// DL PDU SESSION INFORMATION, PDU type 0: from the UPF to the gNB.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DlInformation {
    /// QoS flow identifier, 6 bits.
    pub qfi: u8,
    /// Reflective QoS: the UE derives its uplink rule from this packet.
    pub rqi: bool,
    /// Paging policy indicator, 3 bits.
    pub ppi: Option<u8>,
    /// Time at which the UPF sent the packet, for QoS monitoring: an NTP timestamp.
    pub sending_timestamp: Option<u64>,
    /// DL QFI sequence number, 24 bits.
    pub qfi_sn: Option<u32>,
    /// DL MBS QFI sequence number (Release 17).
    pub mbs_qfi_sn: Option<u32>,
}

/// UL PDU SESSION INFORMATION, PDU type 1: from the gNB to the UPF.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UlInformation {
    /// QoS flow identifier, 6 bits.
    pub qfi: u8,
    /// The timestamps of QoS monitoring.
    pub timestamps: Option<Timestamps>,
    /// Downlink delay over the radio, in the unit of TS 38.415 5.5.3.
    pub dl_delay: Option<u32>,
    /// Uplink delay over the radio, in the unit of TS 38.415 5.5.3.
    pub ul_delay: Option<u32>,
    /// UL QFI sequence number, 24 bits.
    pub qfi_sn: Option<u32>,
    /// Delay over N3 and N9, in the unit of TS 38.415 5.5.3.
    pub n3_n9_delay: Option<u32>,
    /// D1, the uplink PDCP queuing delay that the UE measured, as coded in TS 38.331.
    pub ul_pdcp_delay: Option<u8>,
    /// Share of uplink packets to be marked (Release 18).
    pub ul_congestion: Option<Congestion>,
    /// Share of downlink packets to be marked (Release 18).
    pub dl_congestion: Option<Congestion>,
}

/// NTP timestamps of QoS monitoring (TS 38.415 5.5.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timestamps {
    /// The sending timestamp of a downlink packet, copied from it.
    pub dl_sent: u64,
    /// Time at which the gNB received that packet.
    pub dl_received: u64,
    /// Time at which the gNB sent the uplink packet.
    pub ul_sent: u64,
}

/// Congestion information: the share of packets to be marked, 0..=10000 in units of 0.01 % (TS 38.415, TS 29.244
/// 8.2.171).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Congestion(u16);

impl Congestion {
    /// All packets are to be marked.
    pub const MAX: Self = Self(10_000);

    /// Makes a share from hundredths of a percent; `None` above 100 %.
    pub const fn new(hundredths: u16) -> Option<Self> {
        if hundredths <= Self::MAX.0 { Some(Self(hundredths)) } else { None }
    }
    /// The share in hundredths of a percent.
    pub const fn hundredths(self) -> u16 {
        self.0
    }
    /// The share as a probability.
    pub fn probability(self) -> Probability {
        Probability::new(f64::from(self.0) / f64::from(Self::MAX.0))
    }
    /// The closest value to a probability.
    pub fn from_probability(probability: Probability) -> Self {
        Self((probability.get() * f64::from(Self::MAX.0) + 0.5) as u16)
    }
}

fn congestion(reader: &mut Reader<'_>) -> Result<Congestion> {
    Congestion::new(reader.u16()?).ok_or(Error::Value)
}

/// Reads a field if its flag announces it.
fn when<T>(present: bool, read: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    present.then(read).transpose()
}

const fn bit(octet: u8, bit: u32) -> bool {
    octet >> bit & 1 != 0
}

/// Fails for a QFI of more than 6 bits.
const fn qfi(qfi: u8) -> Result<u8> {
    if qfi < 1 << 6 { Ok(qfi) } else { Err(Error::Value) }
}

impl DlInformation {
    /// Reads the content of the extension header and skips fields that later releases append.
    ///
    /// # Errors
    /// `Type` for another PDU type, `Truncated` if announced fields are missing.
    pub fn parse(content: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(content);
        let (first, second) = (reader.u8()?, reader.u8()?);
        if first >> 4 != 0 {
            return Err(Error::Type);
        }
        Ok(Self {
            qfi: second & 0x3F,
            rqi: bit(second, 6),
            ppi: when(bit(second, 7), || reader.u8().map(|octet| octet >> 5))?,
            sending_timestamp: when(bit(first, 3), || reader.u64())?,
            qfi_sn: when(bit(first, 2), || reader.u24())?,
            mbs_qfi_sn: when(bit(first, 1), || reader.u32())?,
        })
    }
    /// Writes the content of the extension header with its padding and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer, `Value` for a field that is too large.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut writer = Writer::new(buffer);
        writer.u8(u8::from(self.sending_timestamp.is_some()) << 3
            | u8::from(self.qfi_sn.is_some()) << 2
            | u8::from(self.mbs_qfi_sn.is_some()) << 1)?;
        writer.u8(u8::from(self.ppi.is_some()) << 7 | u8::from(self.rqi) << 6 | qfi(self.qfi)?)?;
        match self.ppi {
            Some(ppi) if ppi >= 1 << 3 => return Err(Error::Value),
            Some(ppi) => writer.u8(ppi << 5)?,
            None => (),
        }
        self.sending_timestamp.map_or(Ok(()), |timestamp| writer.u64(timestamp))?;
        self.qfi_sn.map_or(Ok(()), |sn| writer.u24(sn))?;
        self.mbs_qfi_sn.map_or(Ok(()), |sn| writer.u32(sn))?;
        writer.pad(4, 2)?;
        Ok(writer.len())
    }
}

impl UlInformation {
    /// Reads the content of the extension header and skips fields that later releases append.
    ///
    /// # Errors
    /// `Type` for another PDU type, `Truncated` if announced fields are missing, `Value` for a congestion above 100 %.
    pub fn parse(content: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(content);
        let (first, second) = (reader.u8()?, reader.u8()?);
        if first >> 4 != 1 {
            return Err(Error::Type);
        }
        let timestamps = when(bit(first, 3), || {
            Ok(Timestamps { dl_sent: reader.u64()?, dl_received: reader.u64()?, ul_sent: reader.u64()? })
        })?;
        let dl_delay = when(bit(first, 2), || reader.u32())?;
        let ul_delay = when(bit(first, 1), || reader.u32())?;
        let qfi_sn = when(bit(first, 0), || reader.u24())?;
        let n3_n9_delay = when(bit(second, 7), || reader.u32())?;
        let new = when(bit(second, 6), || reader.u8())?.unwrap_or(0);
        let mut further = new;
        while bit(further, 7) {
            further = reader.u8()?;
        }
        Ok(Self {
            qfi: second & 0x3F,
            timestamps,
            dl_delay,
            ul_delay,
            qfi_sn,
            n3_n9_delay,
            ul_pdcp_delay: when(bit(new, 0), || reader.u8())?,
            ul_congestion: when(bit(new, 1), || congestion(&mut reader))?,
            dl_congestion: when(bit(new, 2), || congestion(&mut reader))?,
        })
    }
    /// Writes the content of the extension header with its padding and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer, `Value` for a field that is too large.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let new = u8::from(self.ul_pdcp_delay.is_some())
            | u8::from(self.ul_congestion.is_some()) << 1
            | u8::from(self.dl_congestion.is_some()) << 2;
        let mut writer = Writer::new(buffer);
        writer.u8(1 << 4
            | u8::from(self.timestamps.is_some()) << 3
            | u8::from(self.dl_delay.is_some()) << 2
            | u8::from(self.ul_delay.is_some()) << 1
            | u8::from(self.qfi_sn.is_some()))?;
        writer.u8(u8::from(self.n3_n9_delay.is_some()) << 7 | u8::from(new != 0) << 6 | qfi(self.qfi)?)?;
        if let Some(timestamps) = self.timestamps {
            writer.u64(timestamps.dl_sent)?;
            writer.u64(timestamps.dl_received)?;
            writer.u64(timestamps.ul_sent)?;
        }
        self.dl_delay.map_or(Ok(()), |delay| writer.u32(delay))?;
        self.ul_delay.map_or(Ok(()), |delay| writer.u32(delay))?;
        self.qfi_sn.map_or(Ok(()), |sn| writer.u24(sn))?;
        self.n3_n9_delay.map_or(Ok(()), |delay| writer.u32(delay))?;
        if new != 0 {
            writer.u8(new)?;
            self.ul_pdcp_delay.map_or(Ok(()), |delay| writer.u8(delay))?;
            self.ul_congestion.map_or(Ok(()), |share| writer.u16(share.0))?;
            self.dl_congestion.map_or(Ok(()), |share| writer.u16(share.0))?;
        }
        writer.pad(4, 2)?;
        Ok(writer.len())
    }
}

/// The PDU Set Information Container (TS 38.415 6.5.2.1, Release 18): the packets that belong together, such as a video frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PduSetInformation {
    /// QoS flow identifier, 6 bits.
    pub qfi: u8,
    /// The last packet of a data burst.
    pub end_of_burst: bool,
    /// The last packet of its set.
    pub end_of_set: bool,
    /// Sequence number of the set, 10 bits.
    pub set_sn: u16,
    /// Importance of the set, 4 bits; the lower, the more important.
    pub importance: u8,
    /// Sequence number of the packet within its set.
    pub pdu_sn: u8,
    /// Bytes in the whole set, 24 bits.
    pub set_size: Option<u32>,
}

impl PduSetInformation {
    /// Reads the content of the extension header.
    ///
    /// # Errors
    /// `Type` for another PDU type, `Truncated` if announced fields are missing.
    pub fn parse(content: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(content);
        let first = reader.u8()?;
        if first >> 4 != 0 {
            return Err(Error::Type);
        }
        let flow_and_sn = reader.u16()?;
        Ok(Self {
            qfi: (flow_and_sn >> 10) as u8,
            end_of_burst: bit(first, 3),
            end_of_set: bit(first, 2),
            set_sn: flow_and_sn & 0x3FF,
            importance: reader.u8()? & 0xF,
            pdu_sn: reader.u8()?,
            set_size: when(bit(first, 1), || reader.u24())?,
        })
    }
    /// Writes the content of the extension header with its padding and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer, `Value` for a field that is too large.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        if self.set_sn >= 1 << 10 || self.importance >= 1 << 4 {
            return Err(Error::Value);
        }
        let mut writer = Writer::new(buffer);
        writer.u8(u8::from(self.end_of_burst) << 3
            | u8::from(self.end_of_set) << 2
            | u8::from(self.set_size.is_some()) << 1)?;
        writer.u16(u16::from(qfi(self.qfi)?) << 10 | self.set_sn)?;
        writer.u8(self.importance)?;
        writer.u8(self.pdu_sn)?;
        self.set_size.map_or(Ok(()), |size| writer.u24(size))?;
        writer.pad(4, 2)?;
        Ok(writer.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gtpu;
    use proptest::option::of;
    use proptest::prelude::*;

    #[test]
    fn the_minimal_downlink_container() {
        let info = DlInformation { qfi: 1, ..DlInformation::default() };
        let mut bytes = [0xFF; 2];
        assert_eq!(info.emit(&mut bytes), Ok(2));
        assert_eq!(bytes, [0, 1]);
        assert_eq!(DlInformation::parse(&bytes), Ok(info));
    }

    #[test]
    fn uplink_congestion_information_of_release_18() {
        // QFI 5 and a downlink congestion of 12.34 %, worked out by hand from the layout.
        let info = UlInformation { qfi: 5, dl_congestion: Congestion::new(1234), ..UlInformation::default() };
        let mut bytes = [0xFF; 6];
        assert_eq!(info.emit(&mut bytes), Ok(6));
        assert_eq!(bytes, [0x10, 0x45, 0x04, 0x04, 0xD2, 0x00]);
        assert_eq!(UlInformation::parse(&bytes), Ok(info));
        assert_eq!(info.dl_congestion.unwrap().probability().get(), 0.1234);

        let kind = gtpu::ExtensionType::PDU_SESSION_CONTAINER;
        let mut message = [0; 20];
        let extension = gtpu::Extension { kind, content: &bytes };
        assert_eq!(gtpu::Repr::g_pdu(1).emit(&mut message, &[extension], 0), Ok(20));
        assert_eq!(message[12..], [0x02, 0x10, 0x45, 0x04, 0x04, 0xD2, 0x00, 0x00]);
    }

    #[test]
    fn flags_of_a_later_release_are_passed_over_to_the_fields() {
        // The same, with bit 7 of the flags: one octet more of them, which has a bit 7 too in the second case.
        for bytes in [&[0x10, 0x45, 0x84, 0x00, 0x04, 0xD2][..], &[0x10, 0x45, 0x84, 0x81, 0x01, 0x04, 0xD2, 0xAA]] {
            assert_eq!(UlInformation::parse(bytes).unwrap().dl_congestion, Congestion::new(1234));
        }
        assert_eq!(UlInformation::parse(&[0x10, 0x45, 0x84, 0x80]), Err(Error::Truncated));
    }

    #[test]
    fn a_congestion_above_everything_is_refused() {
        assert_eq!(UlInformation::parse(&[0x10, 0x45, 0x02, 0x27, 0x11, 0]), Err(Error::Value));
        assert_eq!(
            UlInformation::parse(&[0x10, 0x45, 0x02, 0x27, 0x10, 0]).unwrap().ul_congestion,
            Some(Congestion::MAX)
        );
        for hundredths in 0..=10_000 {
            let congestion = Congestion::new(hundredths).unwrap();
            assert_eq!(congestion.hundredths(), hundredths);
            assert_eq!(Congestion::from_probability(congestion.probability()), congestion);
        }
    }

    #[test]
    fn directions_are_not_confused() {
        assert_eq!(UlInformation::parse(&[0, 1]), Err(Error::Type));
        assert_eq!(DlInformation::parse(&[0x10, 1]), Err(Error::Type));
        assert_eq!(DlInformation::parse(&[0x08, 1]), Err(Error::Truncated));
    }

    #[test]
    fn fields_too_large_are_not_written() {
        let mut bytes = [0; 40];
        assert_eq!(DlInformation { qfi: 64, ..Default::default() }.emit(&mut bytes), Err(Error::Value));
        assert_eq!(DlInformation { ppi: Some(8), ..Default::default() }.emit(&mut bytes), Err(Error::Value));
        assert_eq!(UlInformation { qfi_sn: Some(1 << 24), ..Default::default() }.emit(&mut bytes), Err(Error::Value));
        assert_eq!(PduSetInformation { set_sn: 1024, ..Default::default() }.emit(&mut bytes), Err(Error::Value));
    }

    prop_compose! {
        fn dl()(qfi in 0u8..64, rqi: bool, ppi in of(0u8..8), sending_timestamp: Option<u64>,
            qfi_sn in of(0u32..1 << 24), mbs_qfi_sn: Option<u32>) -> DlInformation {
            DlInformation { qfi, rqi, ppi, sending_timestamp, qfi_sn, mbs_qfi_sn }
        }
    }
    prop_compose! {
        fn ul()(qfi in 0u8..64, timestamps: Option<(u64, u64, u64)>, dl_delay: Option<u32>, ul_delay: Option<u32>,
            qfi_sn in of(0u32..1 << 24), n3_n9_delay: Option<u32>, ul_pdcp_delay: Option<u8>,
            ul_share in of(0u16..=10_000), dl_share in of(0u16..=10_000)) -> UlInformation {
            UlInformation {
                qfi, dl_delay, ul_delay, qfi_sn, n3_n9_delay, ul_pdcp_delay,
                timestamps: timestamps.map(|(dl_sent, dl_received, ul_sent)| Timestamps { dl_sent, dl_received, ul_sent }),
                ul_congestion: ul_share.map(Congestion),
                dl_congestion: dl_share.map(Congestion),
            }
        }
    }

    proptest! {
        #[test]
        fn containers_come_back_as_they_were_written(dl in dl(), ul in ul()) {
            let mut bytes = [0; 64];
            let len = dl.emit(&mut bytes).unwrap();
            prop_assert_eq!(len % 4, 2);
            prop_assert_eq!(DlInformation::parse(&bytes[..len]), Ok(dl));
            let len = ul.emit(&mut bytes).unwrap();
            prop_assert_eq!(len % 4, 2);
            prop_assert_eq!(UlInformation::parse(&bytes[..len]), Ok(ul));
        }

        #[test]
        fn pdu_set_information_comes_back(qfi in 0u8..64, end_of_burst: bool, end_of_set: bool, set_sn in 0u16..1024,
            importance in 0u8..16, pdu_sn: u8, set_size in of(0u32..1 << 24)) {
            let info = PduSetInformation { qfi, end_of_burst, end_of_set, set_sn, importance, pdu_sn, set_size };
            let mut bytes = [0; 16];
            let len = info.emit(&mut bytes).unwrap();
            prop_assert_eq!(PduSetInformation::parse(&bytes[..len]), Ok(info));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = (DlInformation::parse(&bytes), UlInformation::parse(&bytes), PduSetInformation::parse(&bytes));
        }
    }
}
