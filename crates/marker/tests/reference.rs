//! The page of the marking laws, written from the properties of the laws and from the comments at the top of their files.
#![cfg(feature = "serde")]

use std::fs;
use std::path::Path;

use tidemark_marker::{Decides, LawConfig, Properties};

/// Opening lines of the page.
const HEAD: &str = "# Marking laws

Written from what the laws declare. A law says with which probability a packet is marked or dropped. For each law this page gives the formula, the
source and what differs from the source. The fields with their ranges, defaults and reasons are in [scenario.md](scenario.md#markerconfig), and
[what every law shares](../concepts/laws.md) in words. One law runs at a DRB:

    [marker]
    law = \"l4span\"
    tau_s = \"10 ms\"

A picture shows what a law with its defaults does to packets while a queue is held at a length for five seconds. The radio carries 40 Mbit/s in slots
that vary by a third, with F1-U reports every 5 ms. The pictures come from the code that marks:

    cargo run --release -p tidemark-marker --example marking_curve > results/laws/curve.csv
    python3 results/draw reference/laws/tide

| law | acts on | signals to | decides |
| --- | --- | --- | --- |
";

/// Row of a law in the table of laws.
fn row(law: &Properties) -> String {
    let decides = match law.decides {
        Decides::Never => "never",
        Decides::OnArrival => "on arrival",
        Decides::OnLeaving => "where packets leave the queue",
        Decides::OnBoth => "on arrival, and where packets leave the queue",
    };
    format!("| [`{0}`](#{0}) | {1} | {2} | {decides} |\n", law.name, law.acts_on, law.signals_to)
}

/// Comment at the top of a law's file; `none` has no file.
fn comment(law: &Properties) -> String {
    let file = format!("src/law/{}.rs", law.name.replace('-', "_"));
    let source = match law.decides {
        Decides::Never => "//! Nothing is marked or dropped. The default.".into(),
        _ => fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap(),
    };
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_law_has_its_source_and_its_picture_on_the_page() {
    let laws: Vec<_> = LawConfig::all().iter().map(LawConfig::properties).collect();
    let mut page = HEAD.to_owned() + &laws.iter().map(|law| row(law)).collect::<String>();
    for law in laws {
        let text = comment(law);
        for part in ["\nSource: ", &format!("](laws/{}.svg)", law.name)] {
            assert!(law.decides == Decides::Never || text.contains(part), "`{}` lacks this: {part}", law.name);
        }
        page += &format!("\n## {}\n\n{text}\n", law.name);
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../book/reference");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("laws.md"), page).unwrap();
}

#[test]
fn the_name_of_a_law_is_the_one_that_a_scenario_has() {
    for law in LawConfig::all() {
        let written = serde_json::to_value(law).unwrap();
        assert_eq!(written["law"], law.properties().name);
    }
}
