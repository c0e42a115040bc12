//! Files of the project that the command carries inside.

/// Text of a file, by its path from the root of the project; the build script says where that is, in a clone and in a package.
macro_rules! carried {
    ($($part:literal),+) => {
        include_str!(concat!(env!("TIDEMARK_CARRIED"), "/", $($part),+))
    };
}
pub(crate) use carried;
