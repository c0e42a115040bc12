//! Shows the counters of packets that the sockets of `tidemark gnb n3`, `du` and `cu` refused.

use std::collections::BTreeMap;

use tidemark_emu::Refused;

use super::exposition::Exposition;

/// Gives the counters by their names.
pub(crate) fn by_name(refused: Refused) -> BTreeMap<String, u64> {
    refused.counters().map(|(name, _, value)| (name.into(), value)).collect()
}

/// Adds the counters to metrics; none for a cell without sockets.
pub(crate) fn expose(text: &mut Exposition, by_name: &BTreeMap<String, u64>) {
    for (name, help, _) in Refused::default().counters() {
        let value = by_name.get(name).map(|value| (String::new(), *value as f64));
        text.family(&format!("gtpu_{name}_total"), "counter", help, value);
    }
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

    #[test]
    fn what_was_refused_is_exposed_by_reason_and_a_cell_without_sockets_has_none() {
        let mut text = Exposition::default();
        expose(&mut text, &by_name(Refused { other_peers: 4, ..Refused::default() }));
        let text = text.text();
        assert!(text.contains("# TYPE tidemark_gtpu_other_peers_total counter\ntidemark_gtpu_other_peers_total 4\n"));
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), Refused::default().counters().count());
        let mut without = Exposition::default();
        expose(&mut without, &BTreeMap::new());
        assert_eq!(without.text(), "");
        assert!(warning(0).is_none() && warning(4).is_some_and(|said| said.contains("--any-peer")));
    }
}
