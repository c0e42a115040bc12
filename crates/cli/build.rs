//! Says what to do where the report page has not been built: the compiler's own message would not.

use std::path::Path;

fn main() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist/report.html");
    println!("cargo::rerun-if-changed={}", page.display());
    if !page.exists() {
        println!("cargo::error=web/dist/report.html is missing: run `make web` first (it needs Node 20)");
    }
}
