//! The page of the congestion controls in the built reference, written from the declared list.

use tidemark_core::Ecn;
use tidemark_senders::controller::{EcnResponse, Sizes};
use tidemark_senders::{CongestionControl, EcnMode, SenderConfig, Transport};

const HEAD: &str = "# The controllers\n\nWritten from what each controller declares. [How close they are to their laws and to public programs](../measured/controllers.md) \
    is a page of its own.\n\n| in a scenario | what | follows | over | packets | answers |\n| --- | --- | --- | --- | --- | --- |\n";

/// The page, with a row for each congestion control.
fn page() -> String {
    let mut text = String::from(HEAD);
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

#[test]
fn every_congestion_control_says_what_it_is_and_answers_on_the_page() {
    for sender in SenderConfig::all() {
        let facts = sender.properties();
        assert!(!facts.title.is_empty() && !facts.answers.is_empty(), "{}", sender.name());
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("../book/reference");
    std::fs::create_dir_all(&folder).expect("a folder of built pages");
    std::fs::write(folder.join("controllers.md"), page()).expect("a page to write");
}
