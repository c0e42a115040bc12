//! Tests of the interface from C and C++, in the language standards of real gNBs, with both libraries.
#![cfg(target_os = "linux")]

use std::process::Command;

use crate::common::{Link, compile};

/// Compiles and runs one of the test programs; it says `ok` once everything held.
fn passes(source: &str, standard: &str, link: Link) {
    let Some(program) = compile(source, standard, link, &format!("{source}-{standard}-{link:?}").replace('/', "-"))
    else {
        return;
    };
    // The shared library is looked for under its SONAME, which only `make install` links to it.
    let output = Command::new(program).env("LD_LIBRARY_PATH", shared_library_dir()).output().unwrap();
    assert!(
        output.status.success() && output.stdout == b"ok\n",
        "{source} as {standard}, {link:?}: {}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A directory where the shared library stands under its SONAME.
fn shared_library_dir() -> std::path::PathBuf {
    let dir = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("lib");
    std::fs::create_dir_all(&dir).unwrap();
    let library = std::env::current_exe().unwrap().with_file_name("libtidemark.so");
    let release = env!("CARGO_PKG_VERSION").rsplit_once('.').unwrap().0;
    let rows = include_str!("../soname.tsv").lines().filter_map(|line| line.split_once('\t'));
    let (_, number) = rows.into_iter().find(|(of, _)| *of == release).unwrap();
    let link = dir.join(format!("libtidemark.so.{number}"));
    // A link of an earlier run may lead to another library. Tests of this file run at the same time: none finds the link missing.
    let new = link.with_extension(format!("{:?}", std::thread::current().id()));
    let _ = std::fs::remove_file(&new);
    std::os::unix::fs::symlink(library, &new).unwrap();
    std::fs::rename(new, link).unwrap();
    dir
}

#[test]
fn every_call_from_c() {
    passes("tests/abi", "c11", Link::Static);
    passes("tests/abi", "c11", Link::Shared);
}

#[test]
fn threads_and_the_hosts_attribute_from_cpp() {
    passes("tests/abi.cpp", "c++14", Link::Static);
    passes("tests/abi.cpp", "c++20", Link::Shared);
}

#[test]
fn owners_of_the_header_for_cpp() {
    passes("tests/raii.cpp", "c++17", Link::Shared);
}

#[test]
fn segments_of_a_hosts_buffer_change_nothing() {
    passes("tests/gnb.cpp", "c++17", Link::Static);
    passes("tests/gnb.cpp", "c++20", Link::Shared);
}
