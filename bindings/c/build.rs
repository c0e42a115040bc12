//! Gives the shared library its SONAME. While the major version is 0 every minor version may change the interface, so
//! that it is part of the name.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = |part: &str| var(format!("CARGO_PKG_VERSION_{part}")).unwrap_or_default();
    let abi = match version("MAJOR").as_str() {
        "0" => format!("0.{}", version("MINOR")),
        major => major.to_owned(),
    };
    if var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtidemark.so.{abi}");
    }
}
