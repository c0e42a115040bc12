//! Completions and manual pages, by programs that read them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common;

fn tidemark(arguments: &[&str]) -> Output {
    let output = common::tidemark(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs a program that may be missing: its output, or `None` with a message.
fn try_run(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => {
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && error.is_empty(), "{program} {arguments:?}: {error}");
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) => {
            eprintln!("SKIPPED: {program}: {error}");
            None
        }
    }
}

/// Writes the script of a shell to a folder.
fn script(folder: &Path, shell: &str) -> String {
    let file = folder.join(shell);
    fs::write(&file, tidemark(&["completions", shell]).stdout).unwrap();
    file.display().to_string()
}

#[test]
fn bash_completes_commands_options_and_their_values() {
    let folder = TempDir::new().unwrap();
    let file = script(folder.path(), "bash");
    let complete = |words: &[&str]| {
        let (all, last) = (words.join(" "), words.len() - 1);
        let [word, before] = [words[last], words[last - 1]];
        let line = format!(
            ". '{file}'; COMP_WORDS=({all}); COMP_CWORD={last}; _tidemark tidemark '{word}' '{before}'; echo \"${{COMPREPLY[*]}}\""
        );
        try_run("bash", &["-c", &line])
    };
    if let Some(commands) = complete(&["tidemark", "che"]) {
        assert_eq!(commands.trim(), "check");
        assert_eq!(complete(&["tidemark", "check", "--res"]).unwrap().trim(), "--resolved");
        assert_eq!(complete(&["tidemark", "new", "--channel", "ped"]).unwrap().trim(), "pedestrian");
    }
}

#[test]
fn zsh_and_fish_read_their_scripts() {
    let folder = TempDir::new().unwrap();
    try_run("zsh", &["-n", &script(folder.path(), "zsh")]);
    let fish = script(folder.path(), "fish");
    if try_run("fish", &["--no-execute", &fish]).is_some() {
        let line = format!("source '{fish}'; complete --do-complete 'tidemark che'");
        let completed = try_run("fish", &["--no-config", "-c", &line]).unwrap();
        assert!(completed.starts_with("check\t"), "{completed}");
    }
}

#[test]
fn every_command_has_a_manual_page_that_is_formatted_without_a_warning() {
    let folder = TempDir::new().unwrap();
    tidemark(&["man", &folder.path().display().to_string()]);
    let help = String::from_utf8(tidemark(&["--help"]).stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let mut pages = vec!["tidemark.1".to_string()];
    let names = commands.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    for name in names.filter(|name| *name != "help") {
        pages.push(format!("tidemark-{name}.1"));
    }
    assert!(pages.len() > 10);
    for page in pages {
        let file = folder.path().join(&page).display().to_string();
        assert!(fs::read_to_string(&file).unwrap().contains(".SH SYNOPSIS"), "{page}");
        try_run("groff", &["-man", "-Tascii", "-ww", "-z", &file]);
    }
}
