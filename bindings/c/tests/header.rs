//! Check that include/tidemark.h matches src/.

use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(crate_dir.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    let bindings = cbindgen::Builder::new().with_crate(crate_dir).with_config(config).generate().unwrap();
    bindings.write(&mut made);
    let header = crate_dir.join("include/tidemark.h");
    if std::env::var_os("TIDEMARK_WRITE_HEADER").is_some() {
        std::fs::write(&header, &made).unwrap();
    }
    let found = std::fs::read(&header).unwrap();
    assert!(found == made, "bindings/c/include/tidemark.h is out of date: run `make -C bindings/c header`");
}

#[test]
fn the_version_in_the_header_is_the_library_s() {
    use tidemark::setup::{TIDEMARK_VERSION_MAJOR, TIDEMARK_VERSION_MINOR, TIDEMARK_VERSION_PATCH};
    let header = format!("{TIDEMARK_VERSION_MAJOR}.{TIDEMARK_VERSION_MINOR}.{TIDEMARK_VERSION_PATCH}");
    assert_eq!(header, env!("CARGO_PKG_VERSION"));
}
