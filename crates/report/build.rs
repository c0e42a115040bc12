//! Says where the page is that the crate carries inside, and what to do where it has not been built: the compiler's own message would not.

use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A clone has it in its own place, a package in a folder of its own; only a package has a Cargo.toml.orig.
    let is_package = folder.join("Cargo.toml.orig").exists();
    let page = folder.join(if is_package { "carried" } else { "../.." }).join("web/dist/report.html");
    println!("cargo::rustc-env=TIDEMARK_PAGE={}", page.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", page.display());
    if !page.exists() {
        println!("cargo::error=web/dist/report.html is missing: run `make web` first (it needs Node 20)");
    }
}
