//! Decisions of a test that is driven by arbitrary bytes.

/// The bytes as a source of decisions; nothing but zeroes once they are used up.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    pub fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or(0)
    }
    pub fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }
    pub fn flag(&mut self) -> bool {
        self.byte() & 1 != 0
    }
    pub fn word(&mut self) -> u32 {
        u32::from_le_bytes([0; 4].map(|_: u8| self.byte()))
    }
}
