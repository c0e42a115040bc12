//! The reference page of the command, written from the help that it prints.

use std::fmt::Write;
use std::process::Command;

/// Opening lines of the page.
const HEAD: &str = "# The command

What `tidemark` prints for `--help`, command by command. Written by `make reference`.
Exit codes: 0, done; 2, bad input or something that could not be run, with the reason on standard error; 130, interrupted. `shell`, `gnb n3` and `gnb du` end with the code of the
command that they run, and `net probe`, `send` and `receive` have codes of their own ([live-cell.md](../guide/live-cell.md)).
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

/// True for a line of a help that names an option, an argument or a command and says nothing of it.
fn says_nothing(lines: &[&str]) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let [line, next] = lines else { return false };
    // "- name: words" is a value of an option, with its words.
    let names = line.trim_start().starts_with('-') && !line.trim_start().starts_with("- ");
    // "--cell]" is the end of a broken line.
    let is_end = line.ends_with(']') && !line.contains('[');
    names && !is_end && !line.trim().contains("  ") && indent(next) <= indent(line)
}

#[test]
fn every_command_and_option_says_what_it_does_on_the_page() {
    let mut page = HEAD.to_owned();
    write_section(&mut page, &[]);
    // The top heading is the page's own.
    let page = page.replacen("\n# tidemark\n", "\n## tidemark\n", 1);
    let lines: Vec<_> = page.lines().collect();
    let silent: Vec<_> = lines.windows(2).filter(|pair| says_nothing(pair)).map(|pair| pair[0]).collect();
    assert!(silent.is_empty(), "options without a word: {silent:?}");
    let untold = lines.windows(3).filter(|three| three[0].starts_with("## ") && three[2].trim().starts_with("Usage:"));
    assert_eq!(untold.map(|three| three[0]).collect::<Vec<_>>(), Vec::<&str>::new());
    super::write("command.md", &page);
}
