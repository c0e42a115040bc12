//! Reading and writing big-endian fields one after the other, with the bounds checked at every step.

use crate::{Error, Result};

/// Reads fields from the front of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
    /// The bytes that have not been read yet.
    pub(crate) const fn rest(self) -> &'a [u8] {
        self.0
    }
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(len).ok_or(Error::Truncated)?;
        self.0 = tail;
        Ok(head)
    }
    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk().ok_or(Error::Truncated)?;
        self.0 = tail;
        Ok(*head)
    }
    pub(crate) fn u8(&mut self) -> Result<u8> {
        self.array().map(|[octet]| octet)
    }
    pub(crate) fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_be_bytes)
    }
    pub(crate) fn u24(&mut self) -> Result<u32> {
        self.array().map(|[a, b, c]| u32::from_be_bytes([0, a, b, c]))
    }
    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_be_bytes)
    }
    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

/// Writes fields to the front of a buffer.
pub(crate) struct Writer<'a> {
    bytes: &'a mut [u8],
    len: usize,
}

impl<'a> Writer<'a> {
    pub(crate) const fn new(bytes: &'a mut [u8]) -> Self {
        Self { bytes, len: 0 }
    }
    /// Length of the fields written, in bytes.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }
    pub(crate) fn put(&mut self, field: &[u8]) -> Result<()> {
        let room = self.bytes.get_mut(self.len..).and_then(|rest| rest.get_mut(..field.len()));
        room.ok_or(Error::Truncated)?.copy_from_slice(field);
        self.len += field.len();
        Ok(())
    }
    /// Overwrites a field that is already written.
    pub(crate) fn overwrite(&mut self, at: usize, field: &[u8]) -> Result<()> {
        let written = self.bytes.get_mut(at..at + field.len()).ok_or(Error::Truncated)?;
        written.copy_from_slice(field);
        Ok(())
    }
    pub(crate) fn u8(&mut self, value: u8) -> Result<()> {
        self.put(&[value])
    }
    pub(crate) fn u16(&mut self, value: u16) -> Result<()> {
        self.put(&value.to_be_bytes())
    }
    /// The low 24 bits; a larger value does not fit.
    pub(crate) fn u24(&mut self, value: u32) -> Result<()> {
        let [high, a, b, c] = value.to_be_bytes();
        if high != 0 {
            return Err(Error::Value);
        }
        self.put(&[a, b, c])
    }
    pub(crate) fn u32(&mut self, value: u32) -> Result<()> {
        self.put(&value.to_be_bytes())
    }
    pub(crate) fn u64(&mut self, value: u64) -> Result<()> {
        self.put(&value.to_be_bytes())
    }
    /// Zeros until the length is `remainder` beyond a multiple of `unit`.
    pub(crate) fn pad(&mut self, unit: usize, remainder: usize) -> Result<()> {
        while self.len % unit != remainder {
            self.u8(0)?;
        }
        Ok(())
    }
}
