//! Documentation's table of the congestion controls is the declared list.

use tidemark_core::Ecn;
use tidemark_senders::controller::{EcnResponse, Sizes};
use tidemark_senders::{CongestionControl, EcnMode, SenderConfig, Transport};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/measured/controllers.md");
const BEGIN: &str = "| in a scenario |";

/// A table of Markdown with a row for each congestion control.
fn table() -> String {
    let mut text =
        format!("{BEGIN} what | follows | over | packets | answers |\n| --- | --- | --- | --- | --- | --- |\n");
    for sender in SenderConfig::all() {
        let facts = sender.properties();
        let codepoint = match sender.codepoint() {
            Ecn::NotEct => "Not-ECT",
            Ecn::Ect0 => "ECT(0)",
            Ecn::Ect1 => "ECT(1)",
            Ecn::Ce => unreachable!("senders don't mark"),
        };
        let (over, on_request) = match sender.transport() {
            Transport::Tcp(tcp) => {
                let response = (tcp.controller)(Sizes::of(tcp.config), tidemark_core::FlowId(0), 1).ecn_response();
                ("TCP", tcp.ecn() == EcnMode::Off && response == EcnResponse::Scalable)
            }
            Transport::Rtp(_) => ("RTP", false),
            Transport::Udp { .. } => ("UDP", false),
        };
        let packets = if on_request { format!("{codepoint}; ECT(1) if asked for") } else { codepoint.into() };
        text += &format!(
            "| `{}` | {} | {} | {over} | {packets} | {} |\n",
            sender.name(),
            facts.title,
            facts.follows,
            facts.answers
        );
    }
    text
}

/// Writes the table instead, if `UPDATE_DOCS` is set.
#[test]
fn the_page_has_a_row_for_each_congestion_control() {
    let page = std::fs::read_to_string(PAGE).expect("the page of controllers");
    let begin = page.find(BEGIN).expect("the page's table");
    let end = begin + page[begin..].find("\n\n").expect("the table's end") + 1;
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, format!("{}{}{}", &page[..begin], table(), &page[end..])).expect("a page to write");
    } else {
        assert_eq!(page[begin..end], table(), "UPDATE_DOCS=1 cargo test -p tidemark-senders --test declared writes it");
    }
}
