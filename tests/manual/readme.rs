//! What the README shows is what happens.

use super::page::Page;
use super::source;
use crate::harness;

#[test]
fn the_quick_start_prints_what_the_readme_shows() {
    let page = Page::of("README.md");
    let shown = page.blocks.iter().find(|block| block.says("quickstart")).expect("the excerpt");
    let folder = harness::folder("manual-quickstart");
    let runs = folder.join("runs");
    let runs = runs.to_str().expect("a path that is text");
    let ran = harness::run(harness::root(), &["run", "tasks/quickstart", "--runs", runs]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let missing = harness::missing(shown.text.lines(), &ran.out);
    assert_eq!(missing, None, "not in this, or not in this order:\n{}", ran.out);
    let replayed = harness::run(harness::root(), &["replay", "last", "--runs", runs]);
    assert_eq!((replayed.code, replayed.out), (0, ran.out), "{}", replayed.err);
}

#[test]
fn the_commands_of_the_readme_are_those_of_the_binary() {
    let page = Page::of("README.md");
    let help = harness::run(harness::root(), &["--help"]).out;
    let mut count = 0;
    for line in page.blocks.iter().filter(|block| block.is("sh")).flat_map(|block| block.text.lines()) {
        let Some(command) = line.split_whitespace().nth(1).filter(|_| line.starts_with("aigo ")) else { continue };
        assert!(help.contains(&format!("\n  {command}")), "`{command}` is no command:\n{help}");
        let usage = harness::run(harness::root(), &[command, "--help"]).out;
        for flag in line.split_whitespace().take_while(|word| *word != "#").filter(|word| word.starts_with("--")) {
            assert!(usage.contains(flag), "`aigo {command}` has no `{flag}`:\n{usage}");
        }
        count += 1;
    }
    assert!(count >= 5, "{count} commands");
    let version = source("Cargo.toml");
    let rust = version.lines().find_map(|line| line.strip_prefix("rust-version = ")).expect("a version of Rust");
    assert!(
        page.text.contains(&format!("Rust {}", rust.trim_matches('"'))),
        "the README names another Rust than {rust}"
    );
}
