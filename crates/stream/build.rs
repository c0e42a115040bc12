//! Locates the page that the program embeds. If it has not been built, the error says what to do; that of the compiler would not.

use std::path::Path;

fn main() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist/stream.html");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", page.display());
    println!("cargo::rustc-env=TIDEMARK_STREAM_PAGE={}", page.display());
    if !page.exists() {
        println!("cargo::error=web/dist/stream.html is missing: run `make web` first (it needs Node 20)");
    }
}
