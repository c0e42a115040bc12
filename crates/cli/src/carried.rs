//! Files of the project that are compiled into the command.

/// Text of a file, by its path from the project's root. The build script finds the root, in a clone as in a package.
macro_rules! carried {
    ($($part:literal),+) => {
        include_str!(concat!(env!("TIDEMARK_CARRIED"), "/", $($part),+))
    };
}
pub(crate) use carried;
