//! Sending side of PDCP in the CU-UP: the SN of each SDU (TS 38.323 5.2.1).

use tidemark_core::Bytes;
use tidemark_marker::SnLength;

use crate::config::pdcp_header;

/// PDCP entity of a DRB, as far as it numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pdcp {
    sn_length: SnLength,
    /// Bytes of a data PDU's header.
    header: Bytes,
    /// TX_NEXT modulo the number of SNs.
    tx_next: u32,
}

impl Pdcp {
    /// Makes an entity whose first SDU gets SN 0.
    pub(crate) fn new(sn_length: SnLength) -> Self {
        Self { sn_length, header: Bytes(pdcp_header(sn_length).into()), tx_next: 0 }
    }

    pub(crate) fn sn_length(&self) -> SnLength {
        self.sn_length
    }

    /// Gives the next SDU its SN.
    pub(crate) fn number(&mut self) -> u32 {
        let sn = self.tx_next;
        self.tx_next = (sn + 1) % self.sn_length.modulus();
        sn
    }

    /// Length of the PDU of an SDU.
    pub(crate) fn pdu(&self, sdu: Bytes) -> Bytes {
        sdu + self.header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sns_go_round_at_the_end_of_their_space() {
        let mut pdcp = Pdcp::new(SnLength::Bits12);
        let last = (0..4_097).map(|_| pdcp.number()).last();
        assert_eq!((last, pdcp.pdu(Bytes(1_000))), (Some(0), Bytes(1_002)));
    }
}
