//! `aigo check --fix`: what is written, what is told, what is left alone.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use super::check::{clean, write};
use crate::harness::{Ran, command, folder, root, run};

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

/// A task with three slips, of which two have a fix, and what it is without those.
fn slips() -> (String, String) {
    let right = clean("s", "# kept\ntags:   [a,b]   # kept too\nseed: [1]\n");
    (right.replace("dataset", "datset").replace("scorers", "scorerz"), right)
}

#[test]
fn certain_edits_are_written_and_the_rest_is_shown() {
    let folder = folder("fix_written");
    let (wrong, right) = slips();
    write(&folder, "t.yaml", &wrong);
    let ran = run(&folder, &["check", "--fix", "--format", "concise"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines[0], "t.yaml:7:1: fixed E0201: write `dataset`", "{ran:?}");
    assert_eq!(lines[1], "t.yaml:9:1: fixed E0201: write `scorers`");
    assert!(lines[2].starts_with("t.yaml:5:") && lines.len() == 3, "{}", ran.out);
    assert_eq!((ran.code, text(&folder, "t.yaml")), (3, right.clone()));
    // Again there is nothing to do.
    let again = run(&folder, &["check", "--fix", "--format", "concise"]);
    assert_eq!((again.code, again.out.lines().count(), text(&folder, "t.yaml")), (3, 1, right));
    // Formats for machines hold findings alone.
    write(&folder, "t.yaml", &wrong);
    let ran = run(&folder, &["check", "--fix", "--format", "json"]);
    assert_eq!((ran.json()["fixable"].as_u64(), ran.err.lines().count()), (Some(0), 2), "{ran:?}");
}

#[test]
fn a_diff_is_shown_and_nothing_written() {
    let folder = folder("fix_diff");
    let (wrong, right) = slips();
    write(&folder, "t.yaml", &wrong);
    let ran = run(&folder, &["check", "--fix", "--diff"]);
    assert_eq!((ran.code, text(&folder, "t.yaml").as_str()), (3, wrong.as_str()), "{ran:?}");
    assert!(ran.out.starts_with("--- t.yaml\n+++ t.yaml\n@@ -4,6 +4,6 @@\n"), "{}", ran.out);
    assert!(ran.out.contains("\n-datset: ") && ran.out.contains("\n+dataset: "), "{}", ran.out);
    write(&folder, "t.yaml", &right);
    let ran = run(&folder, &["check", "--fix", "--diff"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran:?}");
    assert_eq!(run(&folder, &["check", "--diff"]).code, 2, "a diff of what?");
}

#[test]
fn an_editor_gets_the_text() {
    let folder = folder("fix_stdin");
    let (wrong, right) = slips();
    let ran = piped(&folder, &["check", "--fix", "--stdin", "--path", "t.yaml"], &wrong);
    assert_eq!((ran.code, ran.out.as_str()), (3, right.as_str()), "{}", ran.err);
    assert!(ran.err.contains("t.yaml:9:1: fixed E0201: write `scorers`\n") && ran.err.contains("seed"), "{}", ran.err);
    assert!(fs::read_dir(&folder).unwrap().next().is_none(), "something was written");
    // What is no text comes back as it was.
    let ran = piped(&folder, &["check", "--fix", "--stdin", "--path", "t.yaml"], "a: [");
    assert_eq!((ran.code, ran.out.as_str()), (3, "a: ["));
    let ran = piped(&folder, &["check", "--fix", "--diff", "--stdin", "--path", "t.yaml"], &wrong);
    assert!(ran.code == 3 && ran.out.contains("\n+scorers: "), "{ran:?}");
}

#[test]
fn what_several_tasks_import_is_fixed_once() {
    let folder = folder("fix_imports");
    let library = "define:\n  personas:\n    terse: {txt: Short.}\n    calm: {text: Slow., prboes: [a]}\n";
    write(&folder, "lib.yaml", library);
    for at in 0..5 {
        write(&folder, &format!("{at}.yaml"), clean("t", "import: lib.yaml\n"));
    }
    let ran = run(&folder, &["check", "--fix", "--format", "concise"]);
    let fixed: Vec<&str> = ran.out.lines().filter(|line| line.contains(": fixed ")).collect();
    assert_eq!(
        fixed,
        ["lib.yaml:3:13: fixed E0201: write `text`", "lib.yaml:4:25: fixed E0201: write `probes`"],
        "{ran:?}"
    );
    assert_eq!(text(&folder, "lib.yaml"), library.replace("txt", "text").replace("prboes", "probes"));
}

#[test]
fn line_ends_marks_and_permissions_stay() {
    let folder = folder("fix_bytes");
    let (wrong, right) = slips();
    for (name, change) in [
        ("crlf", (|text: &str| text.replace('\n', "\r\n")) as fn(&str) -> String),
        ("bom", |text| format!("\u{feff}{text}")),
        ("end", |text| text.trim_end().to_owned()),
        ("all", |text| format!("\u{feff}{}", text.trim_end().replace('\n', "\r\n"))),
    ] {
        let path = format!("{name}.yaml");
        write(&folder, &path, change(&wrong));
        let ran = run(&folder, &["check", "--fix", &path]);
        assert_eq!(text(&folder, &path), change(&right), "{name}: {ran:?}");
    }
}

#[test]
#[cfg(unix)]
fn links_are_followed_and_permissions_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder("fix_links");
    let (wrong, right) = slips();
    write(&folder, "real/t.yaml", &wrong);
    fs::set_permissions(folder.join("real/t.yaml"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real/t.yaml", folder.join("link.yaml")).unwrap();
    let ran = run(&folder, &["check", "--fix", "link.yaml", "real"]);
    assert_eq!(text(&folder, "real/t.yaml"), right, "{ran:?}");
    assert!(fs::symlink_metadata(folder.join("link.yaml")).unwrap().is_symlink());
    assert_eq!(fs::metadata(folder.join("real/t.yaml")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(folder.join("real")).unwrap().count(), 1, "nothing else is left behind");
    // A file that nobody may write is told and left alone.
    write(&folder, "real/t.yaml", &wrong);
    fs::set_permissions(folder.join("real/t.yaml"), fs::Permissions::from_mode(0o440)).unwrap();
    let ran = run(&folder, &["check", "--fix", "--format", "concise", "real"]);
    assert!(ran.err.contains("real/t.yaml: it was not written: it is read-only"), "{ran:?}");
    assert!(ran.code == 3 && !ran.out.contains(": fixed "), "{ran:?}");
    assert_eq!(text(&folder, "real/t.yaml"), wrong);
}

/// Each edit of `67-rules-of-tools` is right by itself, and two of them would make one key of two: the second is taken back.
#[test]
fn all_broken_tasks_are_fixed_and_none_gets_worse() {
    let folder = folder("fix_broken");
    let source = root().join("tests/broken");
    let mut count = 0;
    for entry in fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if std::path::Path::new(&name).extension().is_some_and(|end| end == "yaml") {
            let marked = fs::read_to_string(&path).unwrap();
            let plain: String =
                marked.lines().flat_map(|line| [line.split("#!").next().unwrap().trim_end(), "\n"]).collect();
            write(&folder, &name, plain);
            count += 1;
        }
    }
    fs::create_dir_all(folder.join("files")).unwrap();
    for entry in fs::read_dir(source.join("files")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.join("files").join(path.file_name().unwrap())).unwrap();
    }
    assert!(count > 50);
    let errors = |ran: &Ran| ran.json()["errors"].as_u64().unwrap();
    let before = run(&folder, &["check", "--format", "json"]);
    let ran = run(&folder, &["check", "--fix", "--format", "json"]);
    let fixed = ran.err.lines().filter(|line| line.contains(": fixed ")).count();
    assert!(
        fixed > 30 && errors(&ran) + 20 < errors(&before),
        "{fixed} fixed, {} of {} errors",
        errors(&ran),
        errors(&before)
    );
    let again = run(&folder, &["check", "--fix", "--format", "json"]);
    assert_eq!((again.err.contains(": fixed "), &again.out), (false, &ran.out), "{}", again.err);
    let remaining = ran.json()["diagnostics"].as_array().unwrap().iter().filter(|one| !one["fix"].is_null()).count();
    let undone: Vec<&str> = ran.err.lines().filter(|line| line.contains("taken back")).collect();
    assert!(remaining == 1 && undone.len() == 1 && undone[0].starts_with("67-rules-of-tools.yaml:12:"), "{undone:#?}");
}
