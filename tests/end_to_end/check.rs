//! `aigo check`: what is looked at, what is selected, and the exit code.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use crate::harness::{Ran, command, folder, run, run_with};

/// A task of one line of each kind; `more` are further lines at its top.
pub(super) fn clean(name: &str, more: &str) -> String {
    format!(
        "aigo: 1\nname: {name}\n{more}models: {{assistant: {{scripted: [Five.]}}}}\ndataset: {{samples: [{{note: Pro}}]}}\n\
         solvers: [user: Hello, generate]\nscorers: [{{name: s, check: {{contains: Five}}}}]\n"
    )
}

/// The same with one mistake, in line 2.
pub(super) fn broken(name: &str) -> String {
    clean(name, "").replace("name:", "nane:")
}

/// Writes a file and the folders above it.
pub(super) fn write(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The files that a check found something in, each once, in order.
fn files(ran: &Ran) -> Vec<&str> {
    let mut files: Vec<&str> = ran.out.lines().filter_map(|line| line.split(':').next()).collect();
    files.dedup();
    files
}

fn check(folder: &Path, arguments: &[&str]) -> Ran {
    run(folder, &[&["check", "--format", "concise"], arguments].concat())
}

#[test]
fn a_folder_stands_for_all_tasks_below_it() {
    let folder = folder("check_folder");
    for path in [
        "b.yaml",
        "a/z.yml",
        "a/task.yaml",
        "a.yaml",
        "B.yaml",
        ".x.yaml",
        ".h/x.yaml",
        "runs/x.yaml",
        "a/target/x.yaml",
    ] {
        write(&folder, path, broken("x"));
    }
    write(&folder, "node_modules/x.yaml", broken("x"));
    // No tasks: data, other tools' files, and a file of another kind.
    write(&folder, "data.yaml", "- {aigo: 1}\n");
    write(&folder, "compose.yaml", "services:\n  aigo: 1\n");
    write(&folder, "notes.txt", broken("x"));
    // One that is called like a task is one, and its author is told that the key is missing.
    write(&folder, "t/task.yaml", "name: x\n");
    let all = check(&folder, &[]);
    assert_eq!(files(&all), ["B.yaml", "a/task.yaml", "a/z.yml", "a.yaml", "b.yaml", "t/task.yaml"], "{all:?}");
    assert_eq!((all.code, all.err.as_str()), (3, ""));
    assert_eq!(files(&check(&folder, &["."])), files(&all));
    assert_eq!(files(&check(&folder, &["a/"])), ["a/task.yaml", "a/z.yml"]);
    // What is left out of a search can be named.
    assert_eq!(files(&check(&folder, &["runs", ".h"])), ["runs/x.yaml", ".h/x.yaml"]);
    // In the order of the arguments, and no file twice, however it is reached.
    let twice = check(&folder, &["b.yaml", "a", "./b.yaml", "a/../b.yaml", "."]);
    assert_eq!(files(&twice)[..3], ["b.yaml", "a/task.yaml", "a/z.yml"]);
    assert_eq!(twice.out.lines().count(), all.out.lines().count());
    // A file that is named is checked, whatever it is called and holds.
    assert_eq!(files(&check(&folder, &["notes.txt", "data.yaml"])), ["notes.txt", "data.yaml"]);
}

#[test]
#[cfg(unix)]
fn links_cannot_hold_a_search_up() {
    use std::os::unix::fs::symlink;
    let folder = folder("check_links");
    write(&folder, "real/a.yaml", broken("x"));
    symlink(".", folder.join("real/again")).unwrap();
    symlink("..", folder.join("real/up")).unwrap();
    symlink("self.yaml", folder.join("self.yaml")).unwrap();
    symlink("gone", folder.join("gone.yaml")).unwrap();
    symlink("real/a.yaml", folder.join("b.yaml")).unwrap();
    // The link to the file comes first by its name; the file itself is the same one.
    let ran = check(&folder, &[]);
    assert_eq!((files(&ran), ran.code, ran.err.as_str()), (vec!["b.yaml"], 3, ""));
    assert_eq!(files(&check(&folder, &["real/again/again/"])), ["real/again/again/a.yaml"]);
    assert_eq!(files(&check(&folder, &["**/a.yaml"])), ["real/a.yaml"]);
}

#[test]
fn patterns_are_expanded_without_a_shell() {
    let folder = folder("check_patterns");
    for path in ["a/1.yaml", "a/2.yaml", "a/b/3.yaml", "c/task.yaml", ".d/4.yaml", "a/runs/5.yaml", "[6].yaml"] {
        write(&folder, path, broken("x"));
    }
    write(&folder, "a/data.yaml", "- 1\n");
    for (pattern, wanted) in [
        ("a/*.yaml", &["a/1.yaml", "a/2.yaml"][..]),
        ("**/*.yaml", &["[6].yaml", "a/1.yaml", "a/2.yaml", "a/b/3.yaml", "c/task.yaml"]),
        ("*/?.yaml", &["a/1.yaml", "a/2.yaml"]),
        ("*/[!1].yaml", &["a/2.yaml"]),
        ("a/**", &["a/1.yaml", "a/2.yaml", "a/b/3.yaml"]),
        ("[ac]", &["a/1.yaml", "a/2.yaml", "a/b/3.yaml", "c/task.yaml"]),
        (".*/4.yaml", &[".d/4.yaml"]),
        // A file that is called like a pattern is that file.
        ("[6].yaml", &["[6].yaml"]),
    ] {
        let ran = check(&folder, &[pattern]);
        assert_eq!((files(&ran), ran.code), (wanted.to_vec(), 3), "{pattern}: {}", ran.err);
    }
}

#[test]
fn what_matches_nothing_is_2_and_says_so() {
    let folder = folder("check_nothing");
    write(&folder, "empty/data.yaml", "- 1\n");
    write(&folder, "a.yaml", clean("a", ""));
    for (arguments, said) in [
        (&["x*.yaml"][..], "x*.yaml: the pattern matches no task"),
        (&["empty"], "empty: there is no task in this folder"),
        (&["missing.yaml"], "missing.yaml: there is no such file or folder"),
        (&["-k", "nope"], "`-k nope` matches none of 1 task"),
        (&["-k", "a &"], "the selection cannot be read: write `and`\n  a &\n    ^"),
        (&["--stdin"], "--path"),
        (&["--path", "x"], "--stdin"),
        (&["--stdin", "--path", "x", "a.yaml"], "cannot be used with"),
    ] {
        let ran = check(&folder, arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(said), "{arguments:?}: {}", ran.err);
    }
    assert!(
        run(&folder, &["check", "--format", "xml"])
            .err
            .contains("[possible values: text, concise, json, sarif, github]")
    );
    // The other paths are checked all the same, and errors in tasks weigh more.
    write(&folder, "b.yaml", broken("b"));
    let ran = check(&folder, &["missing.yaml", "a.yaml", "b.yaml"]);
    assert_eq!((ran.code, files(&ran)), (3, vec!["b.yaml"]));
    assert!(ran.err.contains("missing.yaml"));
    assert_eq!(check(&folder, &["missing.yaml", "a.yaml"]).code, 2);
}

#[test]
fn a_selection_is_about_tags_names_and_files() {
    let folder = folder("check_select");
    for (file, name) in [("one", "seats"), ("two", "prices"), ("three", "mind-changer")] {
        write(&folder, &format!("{file}.yaml"), broken(name).replace("nane:", "name:").replace("Hello", "\"{{ x }}\""));
    }
    for (selection, wanted) in [
        ("seats", &["one.yaml"][..]),
        ("two or mind-changer", &["three.yaml", "two.yaml"]),
        ("not (one or two)", &["three.yaml"]),
        ("one and seats", &["one.yaml"]),
        ("not nothing", &["one.yaml", "three.yaml", "two.yaml"]),
    ] {
        assert_eq!(files(&check(&folder, &["-k", selection])), wanted, "{selection}");
    }
    // Of a file that is no YAML nobody knows what it would have been: it is not left out.
    write(&folder, "bad.yaml", "aigo: 1\nname: [\n");
    assert_eq!(files(&check(&folder, &["-k", "one"])), ["bad.yaml", "one.yaml"]);
}

fn piped(folder: &Path, arguments: &[&str], text: &[u8]) -> Ran {
    let mut command = command(folder, arguments, &[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may refuse before it has read all.
    let _ = child.stdin.take().unwrap().write_all(text);
    Ran::from(child.wait_with_output().unwrap())
}

#[test]
fn an_editor_gives_the_text_and_the_path() {
    let folder = folder("check_stdin");
    write(&folder, "sub/rows.jsonl", "{\"plan\": \"Pro\"}\n");
    write(&folder, "sub/task.yaml", broken("on-the-disk"));
    let text =
        clean("typed", "").replace("{samples: [{note: Pro}]}", "{file: rows.jsonl}").replace("Hello", "\"{{ plam }}\"");
    let arguments = ["check", "--stdin", "--path", "sub/task.yaml", "--format", "concise"];
    let ran = piped(&folder, &arguments, text.as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (3, ""));
    // The data beside the path are read, the file at the path is not.
    let line = text.lines().position(|line| line.contains("plam")).unwrap() + 1;
    assert!(ran.out.starts_with(&format!("sub/task.yaml:{line}:")) && ran.out.lines().count() == 1, "{}", ran.out);
    // There need not be such a file.
    let new = piped(&folder, &["check", "--stdin", "--path", "sub/new.yaml"], clean("new", "").as_bytes());
    assert_eq!((new.code, new.out.as_str()), (0, "1 file: 0 errors, 0 warnings\n"), "{}", new.err);
    let large = [clean("large", "").as_bytes(), &vec![b'#'; 9 << 20]].concat();
    let ran = piped(&folder, &arguments, &large);
    assert_eq!(ran.code, 3);
    assert!(ran.out.starts_with("sub/task.yaml:1:1: error[E0102]"), "{}", ran.out);
}

#[test]
fn warnings_count_where_they_are_denied_and_notes_never_do() {
    let folder = folder("check_deny");
    write(&folder, "warned.yaml", clean("w", "").replace("Pro", "no"));
    let chat = "{model: openai_compatible/m, base_url: \"http://localhost:1/v1\", api_key: {env: SOME_KEY}}";
    let two = format!("{chat}, judge: {chat}}}  # aigo: allow(unused_role) one key for two roles");
    let noted = clean("n", "").replace("{scripted: [Five.]}}", &two);
    write(&folder, "noted.yaml", &noted);
    let warned = check(&folder, &["warned.yaml"]);
    assert_eq!(warned.code, 0);
    assert!(warned.out.contains(": warning[W0102]: "), "{}", warned.out);
    assert_eq!(check(&folder, &["warned.yaml", "--deny", "warnings"]).code, 3);

    // Once per name, at its place.
    let ran = check(&folder, &["noted.yaml", "--deny", "warnings"]);
    let line = noted.lines().nth(2).unwrap();
    let column = line.find("SOME_KEY").unwrap() + 1;
    let wanted =
        format!("noted.yaml:3:{column}: note[N0101]: the API key SOME_KEY of the role `assistant` is not set\n");
    assert_eq!((ran.code, ran.out), (0, wanted));
    let summary = run(&folder, &["check", "noted.yaml"]).out;
    assert!(summary.ends_with("\n1 file: 0 errors, 0 warnings, 1 note\n"), "{summary}");
    // A key that is set is silent: in the environment, or in the task's folder; an empty one is not set.
    let set = |environment: &[(&str, &str)]| {
        run_with(&folder, &["check", "noted.yaml", "--format", "concise"], environment).out.is_empty()
    };
    assert!(set(&[("SOME_KEY", "sk-secret")]) && !set(&[("SOME_KEY", "")]) && !set(&[]));
    write(&folder, ".env", "# keys\nexport SOME_KEY=\"sk-secret\"\n");
    assert!(set(&[]));
    // A run does not tell it twice.
    fs::remove_file(folder.join(".env")).unwrap();
    let ran = run(&folder, &["run", "noted.yaml"]);
    assert!(ran.code == 3 && ran.err.contains("[R0101]") && !ran.err.contains("N0101"), "{}", ran.err);
}

#[test]
fn a_secret_is_told_and_never_shown() {
    let folder = folder("check_secret");
    let chat = "{model: openai_compatible/m, base_url: \"http://localhost:1/v1\", api_key: sk-9f8e7d6c5b4a3f2e, tmperature: 1}";
    write(&folder, "open.yaml", clean("open", "").replace("{scripted: [Five.]}", chat).replace("Hello", "{{ x }}"));
    for format in ["text", "concise", "json", "sarif", "github"] {
        let ran = run(&folder, &["check", "open.yaml", "--format", format]);
        assert!(ran.code == 3 && ran.out.contains("E0544"), "{format}: {}", ran.out);
        assert!(!ran.out.contains("9f8e7d6c") && !ran.err.contains("9f8e7d6c"), "{format}: {}", ran.out);
    }
    let text = run(&folder, &["check", "open.yaml"]).out;
    assert!(text.contains("api_key: *******************"), "{text}");
}
