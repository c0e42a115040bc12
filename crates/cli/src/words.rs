//! Words for what is wrong with an argument.

use std::process;

/// Messages of Rust's readers of numbers, and what they come to.
const WORDS: [(&str, &str); 5] = [
    ("invalid digit found in string", "a whole number is wanted"),
    ("cannot parse integer from empty string", "a whole number is wanted"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("invalid float literal", "a number is wanted"),
];

/// Prints an error of the arguments, or the help that was asked for, and ends the program.
pub(crate) fn exit(error: &clap::Error) -> ! {
    let text = error.to_string();
    match WORDS.iter().find(|(said, _)| text.contains(said)) {
        Some((said, ours)) => {
            eprint!("{}", text.replace(said, ours));
            process::exit(error.exit_code());
        }
        None => error.exit(),
    }
}
