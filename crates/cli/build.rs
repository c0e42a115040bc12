//! Says where the files are that the command carries inside, and what to do where the report page has not been built: the compiler's own
//! message would not.

use std::path::Path;

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    // A clone has them in their own places, a package in a folder of its own; only a package has a Cargo.toml.orig.
    let is_package = folder.join("Cargo.toml.orig").exists();
    let root = folder.join(if is_package { "carried" } else { "../.." });
    println!("cargo::rustc-env=TIDEMARK_CARRIED={}", root.display());
    println!("cargo::rerun-if-changed=build.rs");
    let page = root.join("web/dist/report.html");
    println!("cargo::rerun-if-changed={}", page.display());
    if !page.exists() {
        println!("cargo::error=web/dist/report.html is missing: run `make web` first (it needs Node 20)");
    }
}
