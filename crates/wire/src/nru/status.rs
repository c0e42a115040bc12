//! DL DATA DELIVERY STATUS (TS 38.425 5.5.2.2).

use super::{SnRanges, bit, finish, when};
use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

/// Report of the node that hosts RLC: the buffer size and rate that it wants, and the SNs transmitted and delivered.
///
/// All fields but the buffer size are optional. There is no SN until something was transmitted or delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DlDataDeliveryStatus<'a> {
    /// True for the last status of the bearer.
    pub final_frame: bool,
    /// Desired buffer size for the data radio bearer, in bytes.
    pub desired_buffer_size: u32,
    /// Desired data rate, in bytes a second.
    pub desired_data_rate: Option<u32>,
    /// NR-U sequence numbers that never arrived.
    pub lost: Option<SnRanges<'a>>,
    /// Highest PDCP SN delivered to the UE in sequence, not counting retransmissions.
    pub highest_delivered: Option<u32>,
    /// Highest PDCP SN handed to the lower layers, not counting retransmissions.
    pub highest_transmitted: Option<u32>,
    /// Event on the radio link.
    pub cause: Option<Cause>,
    /// Highest PDCP SN delivered in sequence among the retransmissions.
    pub highest_delivered_retransmitted: Option<u32>,
    /// Highest PDCP SN handed to the lower layers among the retransmissions.
    pub highest_retransmitted: Option<u32>,
    /// PDCP SNs that were delivered out of sequence (Release 16).
    pub delivered_out_of_sequence: Option<SnRanges<'a>>,
}

/// Cause value (TS 38.425 5.5.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// 0: unknown.
    Unknown,
    /// 1: the radio link is lost.
    RadioLinkOutage,
    /// 2: the radio link is back.
    RadioLinkResume,
    /// 3: the uplink is lost.
    UplinkOutage,
    /// 4: the downlink is lost.
    DownlinkOutage,
    /// 5: the uplink is back.
    UplinkResume,
    /// 6: the downlink is back.
    DownlinkResume,
    /// Any other, reserved or for tests.
    Other(u8),
}

impl From<u8> for Cause {
    fn from(octet: u8) -> Self {
        match octet {
            0 => Self::Unknown,
            1 => Self::RadioLinkOutage,
            2 => Self::RadioLinkResume,
            3 => Self::UplinkOutage,
            4 => Self::DownlinkOutage,
            5 => Self::UplinkResume,
            6 => Self::DownlinkResume,
            other => Self::Other(other),
        }
    }
}

impl From<Cause> for u8 {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Unknown => 0,
            Cause::RadioLinkOutage => 1,
            Cause::RadioLinkResume => 2,
            Cause::UplinkOutage => 3,
            Cause::DownlinkOutage => 4,
            Cause::UplinkResume => 5,
            Cause::DownlinkResume => 6,
            Cause::Other(other) => other,
        }
    }
}

impl<'a> DlDataDeliveryStatus<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// Those of [`super::Pdu::parse`].
    pub fn parse(content: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(content);
        let (first, second) = (reader.u8()?, reader.u8()?);
        if first >> 4 != 1 {
            return Err(Error::Type);
        }
        Ok(Self {
            final_frame: bit(first, 1),
            desired_buffer_size: reader.u32()?,
            desired_data_rate: when(bit(second, 3), || reader.u32())?,
            lost: when(bit(first, 0), || SnRanges::read(&mut reader))?,
            highest_delivered: when(bit(first, 2), || reader.u24())?,
            highest_transmitted: when(bit(first, 3), || reader.u24())?,
            cause: when(bit(second, 0), || reader.u8().map(Cause::from))?,
            highest_delivered_retransmitted: when(bit(second, 1), || reader.u24())?,
            highest_retransmitted: when(bit(second, 2), || reader.u24())?,
            delivered_out_of_sequence: when(bit(second, 4), || SnRanges::read(&mut reader))?,
        })
    }
    /// Writes the frame with its padding and returns its length.
    ///
    /// # Errors
    /// Those of [`super::Pdu::emit`].
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut writer = Writer::new(buffer);
        writer.u8(1 << 4
            | u8::from(self.highest_transmitted.is_some()) << 3
            | u8::from(self.highest_delivered.is_some()) << 2
            | u8::from(self.final_frame) << 1
            | u8::from(self.lost.is_some()))?;
        writer.u8(u8::from(self.delivered_out_of_sequence.is_some()) << 4
            | u8::from(self.desired_data_rate.is_some()) << 3
            | u8::from(self.highest_retransmitted.is_some()) << 2
            | u8::from(self.highest_delivered_retransmitted.is_some()) << 1
            | u8::from(self.cause.is_some()))?;
        writer.u32(self.desired_buffer_size)?;
        self.desired_data_rate.map_or(Ok(()), |rate| writer.u32(rate))?;
        self.lost.map_or(Ok(()), |ranges| ranges.write(&mut writer))?;
        self.highest_delivered.map_or(Ok(()), |sn| writer.u24(sn))?;
        self.highest_transmitted.map_or(Ok(()), |sn| writer.u24(sn))?;
        self.cause.map_or(Ok(()), |cause| writer.u8(cause.into()))?;
        self.highest_delivered_retransmitted.map_or(Ok(()), |sn| writer.u24(sn))?;
        self.highest_retransmitted.map_or(Ok(()), |sn| writer.u24(sn))?;
        self.delivered_out_of_sequence.map_or(Ok(()), |ranges| ranges.write(&mut writer))?;
        finish(writer)
    }
}
