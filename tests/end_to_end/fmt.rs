//! `aigo fmt`: which files are laid out, what is told, what is left alone.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use super::check::{clean, write};
use crate::harness::{Ran, command, folder, run};

fn text(folder: &Path, path: &str) -> String {
    fs::read_to_string(folder.join(path)).unwrap()
}

fn piped(folder: &Path, arguments: &[&str], text: &str) -> Ran {
    let mut command = command(folder, arguments, &[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    Ran::from(child.wait_with_output().unwrap())
}

fn untidy() -> String {
    clean("t", "tags:   [ a,b ]\n")
}

fn tidy() -> String {
    clean("t", "tags: [a, b]\n")
}

#[test]
fn tasks_and_files_of_definitions_are_laid_out_in_place() {
    let folder = folder("fmt_files");
    write(&folder, "a.yaml", untidy());
    write(&folder, "b/task.yaml", tidy());
    write(&folder, "b/lib.yml", "define:\n    personas: { x : y }\n");
    write(&folder, "c.yaml", "services:   none\n");
    let check = run(&folder, &["fmt", "--check"]);
    assert_eq!((check.code, check.err.as_str()), (3, ""), "{check:?}");
    assert_eq!(
        check.out,
        "a.yaml: would be formatted\nb/lib.yml: would be formatted\n2 files would be formatted, 1 unchanged\n"
    );
    let diff = run(&folder, &["fmt", "--diff", "a.yaml"]);
    assert!(diff.code == 3 && diff.out.contains("-tags:   [ a,b ]\n+tags: [a, b]\n"), "{diff:?}");
    assert_eq!(text(&folder, "a.yaml"), untidy());
    let ran = run(&folder, &["fmt"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "a.yaml: formatted\nb/lib.yml: formatted\n2 files formatted, 1 unchanged\n")
    );
    assert_eq!(text(&folder, "a.yaml"), tidy());
    assert_eq!(text(&folder, "b/lib.yml"), "define:\n  personas: {x: y}\n");
    assert_eq!(text(&folder, "c.yaml"), "services:   none\n");
    let again = run(&folder, &["fmt", "--check"]);
    assert_eq!((again.code, again.out.as_str()), (0, "0 files would be formatted, 3 unchanged\n"));
    assert_eq!(run(&folder, &["fmt", "--diff"]).out, "");
}

#[test]
fn a_file_with_syntax_errors_is_left_alone_and_its_errors_are_shown() {
    let folder = folder("fmt_broken");
    let wrong = "aigo: 1\nname:   [\nx:   1\n";
    write(&folder, "a.yaml", wrong);
    write(&folder, "b.yaml", untidy());
    let ran = run(&folder, &["fmt"]);
    assert!(ran.code == 3 && ran.err.contains("E0103") && ran.err.contains("a.yaml:2:9"), "{ran:?}");
    assert_eq!((text(&folder, "a.yaml").as_str(), text(&folder, "b.yaml")), (wrong, tidy()));
    // What is wrong in another way is laid out all the same.
    write(&folder, "a.yaml", "aigo: 1\nnane:    x\n");
    assert_eq!((run(&folder, &["fmt", "a.yaml"]).code, text(&folder, "a.yaml").as_str()), (0, "aigo: 1\nnane: x\n"));
    for (arguments, said) in [
        (&["fmt", "gone.yaml"][..], "gone.yaml: there is no such file"),
        (&["fmt", "*.txt"], "*.txt: the pattern matches no task and no file of definitions"),
    ] {
        let ran = run(&folder, arguments);
        assert!(ran.code == 2 && ran.err.contains(said), "{ran:?}");
    }
}

#[test]
fn an_editor_gets_the_text() {
    let folder = folder("fmt_stdin");
    let ran = piped(&folder, &["fmt", "--stdin", "--path", "t.yaml"], &untidy());
    assert_eq!((ran.code, ran.out, ran.err.as_str()), (0, tidy(), ""));
    let ran = piped(&folder, &["fmt", "--check", "--stdin", "--path", "t.yaml"], &untidy());
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    let ran = piped(&folder, &["fmt", "--stdin", "--path", "t.yaml"], "a: [\n");
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("t.yaml:1:4"), "{}", ran.err);
    let ran = piped(&folder, &["fmt", "--expand", "--stdin", "--path", "t.yaml"], &tidy());
    assert!(ran.code == 0 && ran.out.contains("solvers: [user: Hello, generate: {}]"), "{ran:?}");
}

#[test]
fn short_forms_are_written_out_only_where_the_task_is_right() {
    let folder = folder("fmt_expand");
    write(&folder, "a.yaml", tidy().replace("contains", "cntains"));
    let ran = run(&folder, &["fmt", "--expand"]);
    assert!(ran.code == 3 && ran.err.contains("E0"), "{ran:?}");
    assert!(text(&folder, "a.yaml").contains("cntains"));
}
