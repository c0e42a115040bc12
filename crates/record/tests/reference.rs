//! Files that are written from what results declare: a page of the built reference, the schema, and the types of the report page.

use std::path::Path;
use std::{env, fs};

use tidemark_record::{endpoint_result, fields, python};

/// Compares a file, given from this crate's folder, with what is to stand in it; writes it where `UPDATE_DOCS` is set.
fn assert_up_to_date(file: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, text).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == text, "{}: out of date: run `make reference`", file.display());
}

#[test]
fn schema_page_and_types_of_the_summary_are_what_results_declare() {
    let schema = serde_json::to_string_pretty(&fields::schema()).unwrap() + "\n";
    assert_up_to_date("../../docs/reference/summary.schema.json", &schema);
    let page = fields::reference() + &endpoint_result::reference();
    assert_eq!(page.lines().find(|line| line.ends_with("|  |")), None);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../book/reference");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("results.md"), page).unwrap();
    assert_up_to_date("../../web/src/fields.ts", &fields::typescript());
    assert_up_to_date("../../bindings/python/python/tidemark/summary.py", &python::module());
}
