//! Files of the project that the program carries inside.

/// Text of a file, by its path from the root of the project.
macro_rules! carried {
    ($($part:literal),+) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../", $($part),+))
    };
}
pub(crate) use carried;
