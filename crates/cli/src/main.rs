//! The command `tidemark`.
fn main() {}
