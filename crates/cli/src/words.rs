//! Messages about wrong arguments.

use std::process;

use clap::error::{ContextKind, ContextValue};

/// Messages of Rust's number parsers, and our words for them.
const WORDS: [(&str, &str); 5] = [
    ("invalid digit found in string", "expected a whole number"),
    ("cannot parse integer from empty string", "expected a whole number"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
    ("invalid float literal", "expected a number"),
];

/// Prints an error of the arguments, or the help that was asked for, and ends the program.
pub(crate) fn exit(error: &clap::Error) -> ! {
    if let Some(number) = below_zero(error) {
        eprintln!("error: {number}: no option or argument here takes a number below zero");
        process::exit(error.exit_code());
    }
    let text = error.to_string();
    match WORDS.iter().find(|(said, _)| text.contains(said)) {
        Some((said, ours)) => {
            eprint!("{}", text.replace(said, ours));
            process::exit(error.exit_code());
        }
        None => error.exit(),
    }
}

/// Number below zero, which is taken for an option.
fn below_zero(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(text) if text.starts_with('-') && text.parse::<f64>().is_ok() => Some(text),
        _ => None,
    }
}
