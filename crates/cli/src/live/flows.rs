//! Flows of a live cell or a CU: names and UEs, by the recorder's numbers.

use tidemark_cell::UeId;
use tidemark_core::FlowId;
use tidemark_record::{FlowNumber, Recorder};
use tidemark_sim::scenario::NamedUe;
use tidemark_wire::ip::FiveTuple;

/// A flow of a live cell.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Name of the flow.
    pub name: String,
    /// UE of the flow, or direction of a hop, from 0.
    pub ue: usize,
    /// True for the flows beyond the recorder's limit, which are counted together.
    are_others: bool,
}

/// Flows in the order of the recorder's numbers.
#[derive(Debug, Default)]
pub(super) struct Flows(Vec<Flow>);

impl Flows {
    /// Number of a flow. A UE's flows beyond the recorder's limit share one number.
    pub(super) fn number(
        &mut self,
        recorder: &mut Recorder,
        ues: &[NamedUe],
        (id, ue): (FlowId, UeId),
        tuple: Option<FiveTuple>,
    ) -> usize {
        let ue = ue.0 as usize;
        self.number_in(recorder, (id, ue), tuple, &ues[ue].name)
    }

    /// Number of a flow of a group, which is a UE or a direction of a hop. Flows beyond the recorder's limit share one number.
    pub(super) fn number_in(
        &mut self,
        recorder: &mut Recorder,
        (id, ue): (FlowId, usize),
        tuple: Option<FiveTuple>,
        group: &str,
    ) -> usize {
        let number = recorder.flow_number(ue, id);
        let name = match number {
            FlowNumber::Known(index) => return index,
            FlowNumber::New(_) => self.numbered(&name(tuple)),
            FlowNumber::FirstOfOthers(_) => format!("others of {group}"),
        };
        self.0.push(Flow { name, ue, are_others: matches!(number, FlowNumber::FirstOfOthers(_)) });
        number.index()
    }

    /// True for the number of a single flow; false for flows beyond the recorder's limit.
    pub(super) fn is_alone(&self, number: usize) -> bool {
        self.0.get(number).is_some_and(|flow| !flow.are_others)
    }

    /// Flows in the order of their numbers.
    pub(super) fn iter(&self) -> std::slice::Iter<'_, Flow> {
        self.0.iter()
    }

    /// Name of the flow with this number.
    pub(super) fn name(&self, number: usize) -> &str {
        self.0.get(number).map_or("", |flow| &flow.name)
    }

    /// The name, with a number if earlier flows have it: the second one is `#2`.
    fn numbered(&self, name: &str) -> String {
        let is_twin =
            |other: &str| other.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(" #"));
        match self.0.iter().filter(|flow| is_twin(&flow.name)).count() {
            0 => name.into(),
            twins => format!("{name} #{}", twins + 1),
        }
    }
}

/// Name of a flow: `tcp 192.0.2.1:443`, or `tcp 192.0.2.1 to port 443` if the UE is the server. Leaves out the client's port, which
/// differs in each run, so that names stay the same. Takes the lower port for the server's.
fn name(tuple: Option<FiveTuple>) -> String {
    let Some(tuple) = tuple else { return "unreadable".into() };
    let protocol = match tuple.protocol {
        tidemark_wire::tcp::PROTOCOL => "tcp".into(),
        tidemark_wire::udp::PROTOCOL => "udp".into(),
        1 | 58 => "icmp".into(),
        other => format!("protocol {other}"),
    };
    match tuple.ports {
        Some((far, near)) if far <= near => format!("{protocol} {}", std::net::SocketAddr::from((tuple.source, far))),
        Some((_, near)) => format!("{protocol} {} to port {near}", tuple.source),
        None => format!("{protocol} {}", tuple.source),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_named_by_the_servers_end() {
        let tuple = |ports| {
            let source = std::net::Ipv4Addr::new(192, 0, 2, 1).into();
            Some(FiveTuple { source, destination: std::net::Ipv4Addr::LOCALHOST.into(), protocol: 6, ports })
        };
        assert_eq!(name(tuple(Some((443, 50_612)))), "tcp 192.0.2.1:443");
        assert_eq!(name(tuple(Some((50_612, 5_201)))), "tcp 192.0.2.1 to port 5201");
        assert_eq!(name(tuple(None)), "tcp 192.0.2.1");
        assert_eq!(name(None), "unreadable");
    }
}
