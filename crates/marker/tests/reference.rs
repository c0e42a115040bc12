//! The reference of laws matches the properties of the laws.
#![cfg(feature = "serde")]

use std::path::Path;

use tidemark_marker::{Decides, LawConfig};

fn reference() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/laws.md")).unwrap()
}

#[test]
fn the_table_of_laws_has_a_row_for_every_law() {
    let reference = reference();
    for law in LawConfig::all() {
        let law = law.properties();
        let decides = match law.decides {
            Decides::Never => "",
            Decides::OnArrival => " on arrival",
            Decides::OnLeaving => " where packets leave the queue",
            Decides::OnBoth => " on arrival, and where packets leave the queue",
        };
        let row = format!("| [`{}`](#{}) | {} | {} |{decides} |\n", law.name, law.section, law.acts_on, law.signals_to);
        assert!(reference.contains(&row), "docs/reference/laws.md: the table of laws lacks this row:\n{row}");
    }
}

#[test]
fn every_law_has_a_section_and_every_law_that_signals_a_picture() {
    let reference = reference();
    for law in LawConfig::all() {
        let law = law.properties();
        let heading = format!("\n## {}\n", law.section.replace('-', " "));
        let plain = reference.replace('-', " ");
        assert!(plain.contains(&heading), "docs/reference/laws.md: no section{heading}");
        let picture = format!("(laws/{}.svg)", law.name);
        assert!(
            law.decides == Decides::Never || reference.contains(&picture),
            "docs/reference/laws.md shows no picture {picture}"
        );
    }
}

#[test]
fn the_name_of_a_law_is_the_one_that_a_scenario_has() {
    for law in LawConfig::all() {
        let written = serde_json::to_value(law).unwrap();
        assert_eq!(written["law"], law.properties().name);
    }
}
