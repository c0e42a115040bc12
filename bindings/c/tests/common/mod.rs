//! Compiles C and C++ against the libraries that this test run has built.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder bindings/c.
pub(crate) fn crate_dir() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of this run's libtidemark.a and libtidemark.so: beside the test.
fn library_dir() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// System libraries that a static libtidemark needs (`rustc --print native-static-libs`).
const SYSTEM: [&str; 4] = ["-lpthread", "-ldl", "-lm", "-lgcc_s"];

/// One of the two libraries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Link {
    /// libtidemark.a.
    Static,
    /// libtidemark.so.
    Shared,
}

/// Sources of a program: one file, or those of C in a folder.
fn sources(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = path.read_dir() else { return vec![path.to_owned()] };
    let files = entries.map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "c")).collect()
}

/// Compiles a source file, or a folder of them, to a program of this name, with warnings as errors, or says loudly that there is no compiler.
pub(crate) fn compile(source: &str, standard: &str, link: Link, name: &str) -> Option<PathBuf> {
    let cpp = standard.starts_with("c++");
    let compiler = std::env::var(if cpp { "CXX" } else { "CC" }).unwrap_or(if cpp { "c++" } else { "cc" }.to_owned());
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(&compiler);
    command
        .arg(format!("-std={standard}"))
        .args(["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wundef", "-Werror", "-O1"])
        .arg("-I")
        .arg(crate_dir().join("include"))
        .arg("-I")
        .arg(crate_dir().join("gnb"))
        .args(sources(&crate_dir().join(source)))
        .arg("-o")
        .arg(&program);
    let libraries = library_dir();
    match link {
        Link::Static => command.arg(libraries.join("libtidemark.a")).args(SYSTEM),
        Link::Shared => command
            .arg(format!("-L{}", libraries.display()))
            .args(["-ltidemark", "-lpthread"])
            .arg(format!("-Wl,-rpath,{}", libraries.display())),
    };
    let Ok(output) = command.output() else {
        // Not by println: this must be read of a passing test too.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {source}: there is no compiler `{compiler}`");
        return None;
    };
    assert!(output.status.success(), "{source} as {standard}: {}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}
