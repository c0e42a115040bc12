//! The reference page of the command, written from the help that it prints.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Page below `docs/`, from this crate's folder.
const PAGE: &str = "../../docs/reference/command.md";

/// Opening lines of the page.
const HEAD: &str = "# The command

What `tidemark` prints for `--help`, command by command. Written by `make reference`.
Exit codes: 0, done; 2, bad input or something that could not be run, with the reason on standard error; 130, interrupted. `shell`, `live`, `n3` and `du` end with the code of the
command that they run, and `probe`, `send` and `receive` have codes of their own ([live-cell.md](../guide/live-cell.md)).
";

/// Help of a command, given by its words after `tidemark`.
fn help(words: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tidemark")).args(words).arg("--help").output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Names of the commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = list.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Writes the section of a command and those of its own commands below it.
fn write_section(page: &mut String, words: &[&str]) {
    let help = help(words);
    let depth = "#".repeat(words.len() + 1);
    let lines: Vec<_> = help.trim_end().lines().map(|line| format!("    {line}").trim_end().to_owned()).collect();
    write!(page, "\n{depth} {}\n\n{}\n", [&["tidemark"], words].concat().join(" "), lines.join("\n")).unwrap();
    for name in commands(&help) {
        write_section(page, &[words, &[name.as_str()]].concat());
    }
}

#[test]
fn the_commands_page_is_what_help_prints() {
    let mut page = HEAD.to_owned();
    write_section(&mut page, &[]);
    // The top heading is the page's own.
    let page = page.replacen("\n# tidemark\n", "\n## tidemark\n", 1);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == page, "out of date: run `make reference`");
}
