//! ASSISTANCE INFORMATION DATA (TS 38.425 5.5.2.3).

use super::{bit, finish, when};
use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

/// Information about the radio link from the node that hosts RLC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AssistanceInformationData<'a> {
    /// True to activate PDCP duplication, false to deactivate it; `None` if the node makes no suggestion.
    pub duplicate: Option<bool>,
    /// Measurements of the radio link.
    pub fields: Option<AssistanceFields<'a>>,
    /// Uplink delay that the DU measured, in the unit of TS 38.425 5.5.3.
    pub ul_delay: Option<u32>,
    /// Downlink delay that the DU measured, in the unit of TS 38.425 5.5.3.
    pub dl_delay: Option<u32>,
}

/// Kind of a measurement (TS 38.425 5.5.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssistanceType {
    /// 0: unknown.
    Unknown,
    /// 1: average channel quality indicator.
    AverageCqi,
    /// 2: average HARQ failures.
    AverageHarqFailure,
    /// 3: average HARQ retransmissions.
    AverageHarqRetransmissions,
    /// 4: downlink radio quality index.
    DlRadioQuality,
    /// 5: uplink radio quality index.
    UlRadioQuality,
    /// 6: power headroom report.
    PowerHeadroom,
    /// Any other.
    Other(u8),
}

impl From<u8> for AssistanceType {
    fn from(octet: u8) -> Self {
        match octet {
            0 => Self::Unknown,
            1 => Self::AverageCqi,
            2 => Self::AverageHarqFailure,
            3 => Self::AverageHarqRetransmissions,
            4 => Self::DlRadioQuality,
            5 => Self::UlRadioQuality,
            6 => Self::PowerHeadroom,
            other => Self::Other(other),
        }
    }
}

impl From<AssistanceType> for u8 {
    fn from(kind: AssistanceType) -> Self {
        match kind {
            AssistanceType::Unknown => 0,
            AssistanceType::AverageCqi => 1,
            AssistanceType::AverageHarqFailure => 2,
            AssistanceType::AverageHarqRetransmissions => 3,
            AssistanceType::DlRadioQuality => 4,
            AssistanceType::UlRadioQuality => 5,
            AssistanceType::PowerHeadroom => 6,
            AssistanceType::Other(other) => other,
        }
    }
}

/// One measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AssistanceField<'a> {
    /// Kind of the measurement.
    pub kind: AssistanceType,
    /// Value, big-endian.
    pub value: &'a [u8],
}

/// A counted list of measurements, already checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AssistanceFields<'a> {
    count: u8,
    bytes: &'a [u8],
}

impl<'a> AssistanceFields<'a> {
    /// Packs measurements into `storage`, to be written into a frame.
    ///
    /// # Errors
    /// `Truncated` for too little storage, `Value` for more than 255 measurements or a value above 255 bytes.
    pub fn pack(fields: &[AssistanceField<'_>], storage: &'a mut [u8]) -> Result<Self> {
        let mut writer = Writer::new(storage);
        for field in fields {
            writer.u8(field.kind.into())?;
            writer.u8(u8::try_from(field.value.len()).map_err(|_| Error::Value)?)?;
            writer.put(field.value)?;
        }
        let len = writer.len();
        Ok(Self { count: u8::try_from(fields.len()).map_err(|_| Error::Value)?, bytes: &storage[..len] })
    }
    /// The measurements.
    pub fn iter(self) -> impl Iterator<Item = AssistanceField<'a>> {
        let mut reader = Reader::new(self.bytes);
        core::iter::from_fn(move || field(&mut reader).ok())
    }
    fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let count = reader.u8()?;
        let all = reader.rest();
        for _ in 0..count {
            field(reader)?;
        }
        let (bytes, _) = all.split_at(all.len() - reader.rest().len());
        Ok(Self { count, bytes })
    }
    fn write(self, writer: &mut Writer<'_>) -> Result<()> {
        writer.u8(self.count)?;
        writer.put(self.bytes)
    }
}

fn field<'a>(reader: &mut Reader<'a>) -> Result<AssistanceField<'a>> {
    let kind = reader.u8()?.into();
    let len = reader.u8()?;
    Ok(AssistanceField { kind, value: reader.take(usize::from(len))? })
}

impl<'a> AssistanceInformationData<'a> {
    /// Reads a frame.
    ///
    /// # Errors
    /// Those of [`super::Pdu::parse`].
    pub fn parse(content: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(content);
        let (first, second) = (reader.u8()?, reader.u8()?);
        if first >> 4 != 2 {
            return Err(Error::Type);
        }
        Ok(Self {
            duplicate: bit(first, 3).then_some(bit(second, 0)),
            fields: when(bit(first, 2), || AssistanceFields::read(&mut reader))?,
            ul_delay: when(bit(first, 1), || reader.u32())?,
            dl_delay: when(bit(first, 0), || reader.u32())?,
        })
    }
    /// Writes the frame with its padding and returns its length.
    ///
    /// # Errors
    /// Those of [`super::Pdu::emit`].
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut writer = Writer::new(buffer);
        writer.u8(2 << 4
            | u8::from(self.duplicate.is_some()) << 3
            | u8::from(self.fields.is_some()) << 2
            | u8::from(self.ul_delay.is_some()) << 1
            | u8::from(self.dl_delay.is_some()))?;
        writer.u8(u8::from(self.duplicate == Some(true)))?;
        self.fields.map_or(Ok(()), |fields| fields.write(&mut writer))?;
        self.ul_delay.map_or(Ok(()), |delay| writer.u32(delay))?;
        self.dl_delay.map_or(Ok(()), |delay| writer.u32(delay))?;
        finish(writer)
    }
}
