//! A counter has one sentence, in Rust and in C: cbindgen reads no macro, so that the fields are written twice.

/// Fields of a struct in a source, each with its doc comment.
fn fields(source: &str, name: &str) -> Vec<(String, String)> {
    let from = source.find(&format!("pub struct {name} {{")).unwrap();
    let (mut fields, mut meaning) = (Vec::new(), Vec::new());
    for line in source[from..].lines().skip(1).take_while(|line| *line != "}") {
        if let Some(sentence) = line.trim().strip_prefix("/// ") {
            meaning.push(sentence);
        } else if let Some(field) = line.trim().strip_prefix("pub ") {
            fields.push((field.split(':').next().unwrap().to_owned(), meaning.join(" ")));
            meaning.clear();
        }
    }
    fields.sort();
    fields
}

#[test]
fn a_counter_means_the_same_in_rust_and_in_c() {
    let rust = fields(include_str!("../../../crates/marker/src/counters.rs"), "Counters");
    let mut c = fields(include_str!("../src/types.rs"), "DrbCounters");
    c.retain(|(name, _)| name != "size");
    assert!(rust.len() > 20, "{rust:?}");
    assert_eq!(rust, c);
}
