//! Shows the counters of packets that the sockets of `tidemark gnb n3`, `du` and `cu` refused.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;
use tidemark_emu::Refused;

use super::exposition::{self, Labels};

/// Gives the counters by their names.
pub(crate) fn by_name(refused: Refused) -> BTreeMap<String, u64> {
    refused.counters().map(|(name, _, value)| (name.into(), value)).collect()
}

/// Writes the counters as metrics; none for a cell without sockets.
pub(crate) fn expose(to: &mut DescriptorEncoder<'_>, by_name: &BTreeMap<String, u64>) -> fmt::Result {
    Refused::default().counters().try_for_each(|(name, help, _)| {
        let value = by_name.get(name).map(|value| (Labels::new(), *value as f64));
        exposition::write_family(to, &format!("gtpu_{name}"), MetricType::Counter, help, value)
    })
}

/// Warning if something was refused: a peer or a UE with a wrong address otherwise looks like no traffic at all.
pub(crate) fn warning(total: u64) -> Option<String> {
    (total > 0).then(|| {
        format!(
            "{total} messages and packets were refused at GTP-U sockets: `tidemark ctl status` and metrics of a running cell say why; \
             --any-peer lets in other peers, --any-source other sources of UEs"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::snapshot::Snapshot;

    #[test]
    fn what_was_refused_is_exposed_by_reason_and_a_cell_without_sockets_has_none() {
        let exposed = |not_admitted| Snapshot { not_admitted, ..Snapshot::default() }.prometheus();
        let text = exposed(by_name(Refused { other_peers: 4, ..Refused::default() }));
        assert!(text.contains("# TYPE tidemark_gtpu_other_peers_total counter\ntidemark_gtpu_other_peers_total 4\n"));
        assert_eq!(text.matches("\ntidemark_gtpu_").count(), Refused::default().counters().count());
        assert!(!exposed(BTreeMap::new()).contains("gtpu"));
        assert!(warning(0).is_none() && warning(4).is_some_and(|said| said.contains("--any-peer")));
    }
}
