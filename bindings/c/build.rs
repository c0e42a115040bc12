//! Gives the shared library its SONAME from soname.tsv. A minor version without a row there does not build, so that its
//! interface is checked before a release.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=soname.tsv");
    let version = |part: &str| var(format!("CARGO_PKG_VERSION_{part}")).unwrap_or_default();
    let release = format!("{}.{}", version("MAJOR"), version("MINOR"));
    let rows = include_str!("soname.tsv").lines().filter_map(|line| line.split_once('\t'));
    let Some((_, number)) = rows.into_iter().find(|(of, _)| *of == release) else {
        println!("cargo::error=soname.tsv has no row for version {release}: add one with the number of its interface");
        return;
    };
    if var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtidemark.so.{number}");
    }
}
