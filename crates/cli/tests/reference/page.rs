//! Types of the study's page, written from what its data declares.

use std::path::Path;
use std::{env, fs};

#[test]
fn types_of_the_page_of_a_study_are_what_its_data_declares() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/study/fields.ts");
    let text = tidemark_study::page::typescript();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == text, "{}: out of date: run `make reference`", file.display());
}
