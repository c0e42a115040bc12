//! Pages of the reference, written from what the command prints and what its languages declare.

mod command;
mod fields;
mod page;

/// Writes a page into the folder of the book's built pages, `book/reference` of Cargo's target folder.
fn write(file: &str, page: &str) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("../book/reference");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(file), page).unwrap();
}
