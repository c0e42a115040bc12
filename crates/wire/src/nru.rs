//! The NR user plane protocol (TS 38.425), which F1-U, Xn-U and X2-U carry in GTP-U's NR RAN container.

use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

mod assistance;
mod lists;
mod status;

pub use assistance::{AssistanceField, AssistanceFields, AssistanceInformationData, AssistanceType};
pub use lists::{DiscardBlock, DiscardBlocks, SnRange, SnRanges};
pub use status::{Cause, DlDataDeliveryStatus};

/// The largest frame, in bytes (TS 38.425 5.5.1).
pub const MAX_LEN: usize = 1018;

/// A frame of any type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pdu<'a> {
    /// PDU type 0.
    DlUserData(DlUserData<'a>),
    /// PDU type 1.
    DlDataDeliveryStatus(DlDataDeliveryStatus<'a>),
    /// PDU type 2.
    AssistanceInformationData(AssistanceInformationData<'a>),
}

impl<'a> Pdu<'a> {
    /// Reads the content of an NR RAN container. It ignores spare bits, and skips padding and future extensions after
    /// the known fields (TS 38.425 5.5.1).
    ///
    /// # Errors
    /// `Type` for another PDU type, `Truncated` if announced fields are missing.
    pub fn parse(content: &'a [u8]) -> Result<Self> {
        match content.first().ok_or(Error::Truncated)? >> 4 {
            0 => DlUserData::parse(content).map(Self::DlUserData),
            1 => DlDataDeliveryStatus::parse(content).map(Self::DlDataDeliveryStatus),
            2 => AssistanceInformationData::parse(content).map(Self::AssistanceInformationData),
            _ => Err(Error::Type),
        }
    }
    /// Writes the content of an NR RAN container with its padding and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer, `Value` for a field that is too large or a frame above [`MAX_LEN`].
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Self::DlUserData(frame) => frame.emit(buffer),
            Self::DlDataDeliveryStatus(frame) => frame.emit(buffer),
            Self::AssistanceInformationData(frame) => frame.emit(buffer),
        }
    }
}

/// DL USER DATA (TS 38.425 5.5.2.1), which the node that hosts PDCP sends with or without a PDCP PDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DlUserData<'a> {
    /// NR-U sequence number, 24 bits, incremented for each frame.
    pub sn: u32,
    /// True to ask for a delivery status.
    pub report_polling: bool,
    /// PDCP SN of the last PDU to discard; all PDUs before it are discarded too.
    pub flush: Option<u32>,
    /// Blocks of PDCP SNs to discard.
    pub discard_blocks: Option<DiscardBlocks<'a>>,
    /// True for a PDU that was sent before.
    pub retransmission: bool,
    /// True to ask for assistance information.
    pub assistance_polling: bool,
    /// True if the node has more user data to send.
    pub user_data_exists: bool,
    /// PDCP SN after whose delivery the receiver shall send a delivery status.
    pub report_delivered: Option<u32>,
    /// True to ask for reports of PDUs delivered out of sequence.
    pub request_out_of_sequence_report: bool,
}

const fn bit(octet: u8, bit: u32) -> bool {
    octet >> bit & 1 != 0
}

/// Reads a field if its flag announces it.
fn when<T>(present: bool, read: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    present.then(read).transpose()
}

/// Pads a frame so that it fills an extension header, and gives its length.
fn finish(mut writer: Writer<'_>) -> Result<usize> {
    writer.pad(4, 2)?;
    if writer.len() > MAX_LEN { Err(Error::Value) } else { Ok(writer.len()) }
}

impl<'a> DlUserData<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// Those of [`Pdu::parse`].
    pub fn parse(content: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(content);
        let (first, second) = (reader.u8()?, reader.u8()?);
        if first >> 4 != 0 {
            return Err(Error::Type);
        }
        Ok(Self {
            sn: reader.u24()?,
            report_polling: bit(first, 0),
            flush: when(bit(first, 1), || reader.u24())?,
            discard_blocks: when(bit(first, 2), || DiscardBlocks::read(&mut reader))?,
            retransmission: bit(second, 0),
            assistance_polling: bit(second, 1),
            user_data_exists: bit(second, 2),
            report_delivered: when(bit(second, 3), || reader.u24())?,
            request_out_of_sequence_report: bit(second, 4),
        })
    }
    /// Writes the frame with its padding and returns its length.
    ///
    /// # Errors
    /// Those of [`Pdu::emit`].
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut writer = Writer::new(buffer);
        writer.u8(u8::from(self.report_polling)
            | u8::from(self.flush.is_some()) << 1
            | u8::from(self.discard_blocks.is_some()) << 2)?;
        writer.u8(u8::from(self.retransmission)
            | u8::from(self.assistance_polling) << 1
            | u8::from(self.user_data_exists) << 2
            | u8::from(self.report_delivered.is_some()) << 3
            | u8::from(self.request_out_of_sequence_report) << 4)?;
        writer.u24(self.sn)?;
        self.flush.map_or(Ok(()), |sn| writer.u24(sn))?;
        self.discard_blocks.map_or(Ok(()), |blocks| blocks.write(&mut writer))?;
        self.report_delivered.map_or(Ok(()), |sn| writer.u24(sn))?;
        finish(writer)
    }
}

#[cfg(test)]
mod tests;
