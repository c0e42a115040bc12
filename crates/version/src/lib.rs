//! Version of the programs, with the commit from which they were built.
//!
//! This is a crate of its own because its build script runs after every commit and every changed source. Only programs, which no other
//! crate imports, may be compiled again for that. Code that writes a result adds [`COMMIT`] to it.
//!
//! It does not use `vergen-gitcl`, which knows the commit of a clone but not that of a package. Nor does that crate hash changed
//! sources, which a store needs to tell the results of two builds apart.

/// Commit of the sources, 40 hexadecimal digits, followed by `-modified` if the sources differ from the commit; `None` if the commit is
/// not known.
pub const COMMIT: Option<&str> = match env!("TIDEMARK_COMMIT") {
    commit if commit.is_empty() => None,
    commit => Some(commit),
};

/// Identity of this build, to tell the results of several builds apart: the commit, or `sources-` and a hash of the sources if they
/// differ from the commit.
pub const BUILD: &str = env!("TIDEMARK_BUILD");

/// Version with the commit, for people: `0.1.0 (commit 0123456789ab)`.
pub const VERSION: &str = env!("TIDEMARK_VERSION");
