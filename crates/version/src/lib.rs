//! Version of the programs, with the commit that they were built from.
//!
//! A crate of its own: its build script runs after every commit and for every changed source, and only what is at the end of the
//! imports, a program, may be compiled anew for that. Whoever writes a result puts [`COMMIT`] into it.
//!
//! Own code, since `vergen-gitcl` knows a clone's commit, but not that of a package, and has no hash of changed sources, by which
//! a store tells the results of two builds apart.

/// Commit of the sources, 40 hexadecimal digits, with `-modified` behind them where the sources were not those of the commit; `None`
/// for a build of sources that no commit is known of.
pub const COMMIT: Option<&str> = match env!("TIDEMARK_COMMIT") {
    commit if commit.is_empty() => None,
    commit => Some(commit),
};

/// Identity of this build, for whoever keeps results of several: the commit, or `sources-` and a hash of the sources where these are not
/// those of a commit.
pub const BUILD: &str = env!("TIDEMARK_BUILD");

/// Version with the commit, for people: `0.1.0 (commit 0123456789ab)`.
pub const VERSION: &str = env!("TIDEMARK_VERSION");
