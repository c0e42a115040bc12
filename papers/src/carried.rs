//! Files of the project that are compiled into the program.

/// Text of a file, by its path from the project's root.
macro_rules! carried {
    ($($part:literal),+) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../", $($part),+))
    };
}
pub(crate) use carried;
