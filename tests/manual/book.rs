//! The book is executed, page by page: its files are written as they come, its commands are run as they stand, and print
//! what the page shows.
//!
//! - A block whose second word is a file's name is that file, from there on.
//! - `console` has commands behind `$` and, under each, lines of what it prints, in their order. `…` on its own stands for
//!   any others, and within a line for any words; how wide columns are does not matter.
//!   A command succeeds unless `$ echo $?` follows it.
//! - `sh` has commands that succeed, unless `# exit N` is behind them. With the word `shown` it is not run.
//! - `yml`, `python` and others are files of other programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::page::{Block, Page, pages};
use crate::harness;

/// The pages of the book, and of tasks: whoever reads them copies commands.
fn book() -> Vec<Page> {
    let mut all = pages();
    all.retain(|page| page.name().starts_with("spec/book/") || page.name().starts_with("tasks/"));
    all
}

/// One command of a page: what is typed, what it must print, how it must end.
#[derive(Debug, PartialEq)]
struct Typed<'a> {
    command: &'a str,
    prints: Vec<&'a str>,
    exit: i32,
}

const ASKS: &str = "$ echo $?";

fn session(block: &Block) -> Vec<Typed<'_>> {
    let mut all: Vec<Typed<'_>> = Vec::new();
    let mut asked = false;
    for line in block.text.lines() {
        if line == ASKS {
            asked = true;
        } else if let Some(command) = line.strip_prefix("$ ") {
            all.push(Typed { command, prints: Vec::new(), exit: 0 });
        } else if let Some(last) = all.last_mut() {
            if asked {
                last.exit = line.parse().unwrap_or_else(|_| panic!("`{line}` is no exit code"));
                asked = false;
            } else if line != "…" && !line.is_empty() {
                last.prints.push(line);
            }
        }
    }
    all
}

fn script(block: &Block) -> Vec<Typed<'_>> {
    let lines = block.text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let typed = lines.map(|line| {
        let exit = line.split_once("# exit ").and_then(|(_, rest)| rest.split_whitespace().next());
        Typed {
            command: line,
            prints: Vec::new(),
            exit: exit.map_or(0, |code| code.trim_end_matches([':', ',', ';']).parse().expect("an exit code")),
        }
    });
    typed.collect()
}

/// Runs a command as a shell does, with nothing in the environment but the way to `aigo`; what it prints, errors behind.
fn shell(folder: &Path, command: &str) -> (i32, String) {
    let bin = harness::aigo().parent().expect("it is in a folder").display().to_string();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env_clear().env("PATH", format!("{bin}:/usr/bin:/bin"));
    let output = shell.output().expect("a shell");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text")).concat();
    (output.status.code().unwrap_or(-1), text)
}

/// A folder for a page, with the shipped tasks in it.
fn place(page: &Page) -> PathBuf {
    let folder = harness::folder(&format!("book-{}", page.name().replace(['/', '.'], "-")));
    copy(&harness::root().join("tasks"), &folder.join("tasks"));
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).expect("a file can be copied");
        }
    }
}

/// What is wrong with a page's commands, and how many there are.
fn run(page: &Page) -> (Vec<String>, usize) {
    let (mut wrong, mut count) = (Vec::new(), 0);
    let folder = place(page);
    for block in &page.blocks {
        if block.is_file() {
            let path = folder.join(&block.words[1]);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
            std::fs::write(path, &block.text).expect("a file can be written");
        }
        let typed = match block.words[0].as_str() {
            "console" => session(block),
            "sh" if !block.says("shown") => script(block),
            _ => continue,
        };
        for Typed { command, prints, exit } in typed {
            let (code, text) = shell(&folder, command);
            if let Some(missing) = harness::missing(prints.iter().copied(), &text) {
                let place = block.place(page);
                wrong.push(format!("{place}: `{command}` does not print, in this order: {missing}\n{text}"));
            }
            if code != exit {
                wrong.push(format!("{}: `{command}` ends with {code}, not {exit}\n{text}", block.place(page)));
            }
            count += 1;
        }
    }
    (wrong, count)
}

#[test]
fn every_command_of_the_book_does_what_the_page_shows() {
    let mut count = 0;
    for page in book() {
        let (wrong, commands) = run(&page);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        count += commands;
    }
    assert!(count >= 30, "{count} commands: the book has lost some, or its blocks are not found");
}

#[test]
fn every_page_of_the_book_is_in_its_table_of_contents() {
    let summary = Page::of("spec/book/src/SUMMARY.md");
    let mut listed: Vec<String> = summary.links().iter().map(|link| format!("spec/book/src/{link}")).collect();
    listed.push(summary.name());
    listed.sort();
    let mut there: Vec<String> = pages().iter().map(Page::name).collect();
    there.retain(|name| name.starts_with("spec/book/"));
    assert_eq!(listed, there);
}

/// Commands that are only shown are commands all the same.
#[test]
fn commands_that_are_shown_have_the_flags_that_they_show() {
    for page in book() {
        for block in page.blocks.iter().filter(|block| block.is("sh") || block.is("console")) {
            for line in block.text.lines().map(|line| line.trim_start_matches("$ ")) {
                let Some(typed) = line.strip_prefix("aigo ") else { continue };
                // Some commands have commands of their own.
                let own = typed
                    .split_whitespace()
                    .take(if typed.starts_with("log ") || typed.starts_with("baseline ") { 2 } else { 1 });
                let command: Vec<&str> = own.collect();
                let help = harness::run(harness::root(), &[command.as_slice(), &["--help"]].concat());
                let command = command.join(" ");
                assert_eq!(help.code, 0, "{}: `{command}` is no command: {}", block.place(&page), help.err);
                let words = line.split_whitespace().take_while(|word| !matches!(*word, "#" | "|" | ">" | "&&" | ";"));
                for flag in words.filter(|word| word.starts_with("--")) {
                    let flag = flag.split('=').next().unwrap_or(flag);
                    assert!(help.out.contains(flag), "{}: `aigo {command}` has no `{flag}`", block.place(&page));
                }
            }
        }
    }
}

#[test]
fn sessions_are_read_as_they_are_meant() {
    let page = Page::of("spec/book/src/tutorial.md");
    let block =
        page.blocks.iter().find(|block| block.is("console") && block.text.contains(ASKS)).expect("one that asks");
    let typed = session(block);
    assert!(typed.iter().any(|one| one.exit == 3 && !one.prints.is_empty()), "{typed:?}");
}
