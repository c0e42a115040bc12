//! Locates the pages that the crate embeds. If they have not been built, the error says what to do; that of the compiler would not.

use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A clone has them in their own place, a package in a folder of its own; only a package has a Cargo.toml.orig.
    let is_package = folder.join("Cargo.toml.orig").exists();
    println!("cargo::rerun-if-changed=build.rs");
    for (name, variable) in
        [("report", "TIDEMARK_PAGE"), ("study", "TIDEMARK_STUDY_PAGE"), ("live", "TIDEMARK_LIVE_PAGE")]
    {
        let page = folder.join(if is_package { "carried" } else { "../.." }).join(format!("web/dist/{name}.html"));
        println!("cargo::rustc-env={variable}={}", page.display());
        println!("cargo::rerun-if-changed={}", page.display());
        if !page.exists() {
            println!("cargo::error=web/dist/{name}.html is missing: run `make web` first (it needs Node 20)");
        }
    }
}
