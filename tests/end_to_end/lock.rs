//! `aigo lock` and `aigo check --locked`: what is written, what is kept, and the exit code.

use std::fs;
use std::path::Path;

use super::check::{broken, clean, write};
use crate::harness::{self, Ran, folder, run};

fn read(folder: &Path) -> String {
    fs::read_to_string(folder.join("aigo.lock")).unwrap()
}

/// The names of the tasks in a lock file, in its order.
fn locked(folder: &Path) -> Vec<String> {
    let names = read(folder);
    let names = names.lines().filter_map(|line| line.strip_prefix("task \""));
    names.map(|name| name.trim_end_matches('"').to_owned()).collect()
}

/// The codes that a check with `--locked` finds.
fn codes(ran: &Ran) -> Vec<String> {
    let findings = ran.json()["diagnostics"].as_array().unwrap().clone();
    findings.iter().map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

fn held(folder: &Path) -> Ran {
    run(folder, &["check", "--locked", "--format", "json"])
}

#[test]
fn each_folder_has_its_own_lock_of_its_own_tasks() {
    let folder = folder("lock_folders");
    for path in ["a.yaml", "b.yaml", "sub/task.yaml"] {
        write(&folder, path, clean("x", ""));
    }
    write(&folder, "library.yaml", "aigo: 1\ndefine: {personas: {terse: {text: Few words.}}}\n");
    assert_eq!((held(&folder).code, codes(&held(&folder))), (3, vec!["E0652".to_owned(); 3]));
    let ran = run(&folder, &["lock"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
    assert_eq!(ran.out, "a.yaml: 2 things pinned\nb.yaml: 2 things pinned\nsub/task.yaml: 2 things pinned\n");
    assert_eq!(
        (locked(&folder), locked(&folder.join("sub"))),
        (vec!["a.yaml".to_owned(), "b.yaml".to_owned()], vec!["task.yaml".to_owned()])
    );
    assert_eq!((held(&folder).code, codes(&held(&folder)).len()), (0, 0));
    // The same again gives the same bytes.
    let before = read(&folder);
    assert!(run(&folder, &["lock"]).out.starts_with("a.yaml: nothing moved\n"));
    assert_eq!(read(&folder), before);
    // Nothing else lies there: the file was written aside, and moved into its place.
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.yaml", "aigo.lock", "b.yaml", "library.yaml", "sub"]);
}

#[test]
fn what_moved_is_told_and_other_tasks_keep_their_locks() {
    let folder = folder("lock_moved");
    write(&folder, "a.yaml", clean("x", ""));
    write(&folder, "b.yaml", clean("x", ""));
    assert_eq!(run(&folder, &["lock"]).code, 0);
    write(&folder, "a.yaml", clean("x", "").replace("note: Pro", "note: Team"));
    write(&folder, "b.yaml", clean("x", "").replace("Hello", "Good day"));
    let told = run(&folder, &["check", "--format", "concise"]);
    assert_eq!(told.code, 0);
    assert_eq!(told.out.lines().count(), 2);
    assert!(told.out.contains("a.yaml:4:20: warning[W0650]: the lock is stale: the dataset changed"), "{}", told.out);
    assert_eq!(run(&folder, &["check", "--deny", "warnings"]).code, 3);
    assert_eq!((held(&folder).code, codes(&held(&folder))), (3, vec!["E0651".to_owned(); 2]));
    let only = run(&folder, &["lock", "--check", "b.yaml"]);
    assert_eq!(
        (only.code, only.out.contains("since the task was locked, what the task's own steps say as the user changed")),
        (3, true)
    );
    // Of one task, and the other one still differs.
    let again = run(&folder, &["lock", "b.yaml"]);
    assert_eq!(again.out, "b.yaml: locked anew\n  what the task's own steps say as the user changed\n");
    assert_eq!((codes(&held(&folder)).len(), locked(&folder).len()), (1, 2));
    // A task that is gone leaves its section behind; the next lock takes it out.
    fs::remove_file(folder.join("a.yaml")).unwrap();
    let ran = run(&folder, &["lock", "b.yaml"]);
    assert_eq!(ran.out, "b.yaml: nothing moved\na.yaml: taken out, since there is no such file\n");
    assert_eq!(locked(&folder), ["b.yaml"]);
}

#[test]
fn what_cannot_be_read_is_not_written_over() {
    let folder = folder("lock_conflict");
    write(&folder, "a.yaml", clean("x", ""));
    assert_eq!(run(&folder, &["lock"]).code, 0);
    let good = read(&folder);
    let dataset = good.lines().find(|line| line.starts_with("dataset")).unwrap();
    let conflict = good.replace(dataset, &format!("<<<<<<< ours\n{dataset}\n=======\n{dataset}\n>>>>>>> theirs"));
    for (text, line) in [
        (conflict, 5),
        (good.replace("aigo-lock 1", "aigo-lock 2"), 2),
        (good.replace("dataset", "datasets"), 5),
        (format!("{good}rubric \"a\n"), 7),
        (good.clone() + dataset, 7),
        (String::new(), 1),
    ] {
        write(&folder, "aigo.lock", &text);
        for arguments in [&["lock", "a.yaml"][..], &["check", "--format", "concise"], &["check", "--locked"]] {
            let ran = run(&folder, arguments);
            assert_eq!(ran.code, 3, "{text}\n{ran:?}");
            assert!(format!("{}{}", ran.out, ran.err).contains("E0650"), "{ran:?}");
        }
        let ran = run(&folder, &["check", "--format", "concise"]);
        assert!(ran.out.starts_with(&format!("aigo.lock:{line}:1: error[E0650]")), "{text}\n{}", ran.out);
        assert_eq!(read(&folder), text, "it is left as it is");
    }
    write(&folder, "aigo.lock", [0xff_u8, 0xfe, 0, 1]);
    assert_eq!(run(&folder, &["lock"]).code, 3);
    assert_eq!(fs::read(folder.join("aigo.lock")).unwrap(), [0xff_u8, 0xfe, 0, 1]);
}

#[test]
fn a_task_with_errors_is_not_locked_and_keeps_its_lock() {
    let folder = folder("lock_broken");
    write(&folder, "a.yaml", clean("x", ""));
    write(&folder, "b.yaml", clean("x", ""));
    assert_eq!(run(&folder, &["lock"]).code, 0);
    let before = read(&folder);
    write(&folder, "a.yaml", broken("x"));
    let ran = run(&folder, &["lock"]);
    assert_eq!((ran.code, ran.out.as_str()), (3, "b.yaml: nothing moved\n"));
    assert!(ran.err.contains("E0201") && ran.err.contains("a.yaml has errors, so it is not locked"), "{}", ran.err);
    assert_eq!(read(&folder), before);
    let none = run(&folder, &["lock", "gone.yaml"]);
    assert_eq!((none.code, none.out.as_str()), (2, ""), "{none:?}");
    fs::create_dir(folder.join("empty")).unwrap();
    let none = run(&folder, &["lock", "empty"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("there is no task here to lock"), "{none:?}");
}

#[test]
fn a_run_neither_writes_nor_needs_a_lock() {
    let folder = folder("lock_run");
    write(&folder, "task.yaml", clean("x", ""));
    assert_eq!(run(&folder, &["run", "task.yaml"]).code, 0);
    assert!(!folder.join("aigo.lock").exists());
    assert_eq!(run(&folder, &["lock"]).code, 0);
    let before = read(&folder);
    write(&folder, "task.yaml", clean("x", "").replace("note: Pro", "note: Team"));
    let ran = run(&folder, &["run", "task.yaml"]);
    assert!(ran.code == 0 && ran.err.contains("W0650"), "{ran:?}");
    assert_eq!(read(&folder), before);
}

#[test]
fn locks_at_the_same_time_lose_nothing() {
    let folder = folder("lock_together");
    let names: Vec<String> = (0..8).map(|n| format!("t{n}.yaml")).collect();
    for name in &names {
        write(&folder, name, clean("x", ""));
    }
    let started: Vec<_> = names.iter().map(|name| harness::start(&folder, &["lock", name.as_str()])).collect();
    for one in started {
        assert_eq!(one.wait().code, 0);
    }
    assert_eq!(locked(&folder), names);
    assert_eq!(held(&folder).code, 0);
}

#[test]
#[cfg(unix)]
fn a_lock_behind_a_link_is_written_behind_it() {
    let folder = folder("lock_link");
    write(&folder, "a/task.yaml", clean("x", ""));
    write(&folder, "kept/aigo.lock", "aigo-lock 1\n");
    std::os::unix::fs::symlink("../kept/aigo.lock", folder.join("a/aigo.lock")).unwrap();
    assert_eq!(run(&folder, &["lock", "a"]).code, 0);
    assert_eq!(locked(&folder.join("kept")), ["task.yaml"]);
    assert!(folder.join("a/aigo.lock").is_symlink());
    // What a task reads stays under its folder, and so does its lock.
    assert_eq!(codes(&held(&folder.join("a"))), ["E0650"]);
}

#[test]
fn an_allowance_of_having_no_lock_is_none_too_many_beside_one() {
    let folder = folder("lock_allowed");
    let text = std::fs::read_to_string(harness::root().join("tasks/local_model/task.yaml")).unwrap();
    write(&folder, "task.yaml", &text);
    for locked in [false, true] {
        if locked {
            assert_eq!(run(&folder, &["lock"]).code, 0);
        }
        let ran = run(&folder, &["check", "--deny", "warnings"]);
        assert_eq!(ran.code, 0, "{locked}: {ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_task_whose_name_is_no_text_is_told_and_nothing_is_said_to_be_pinned() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = crate::harness::folder("lock_no_text");
    let text = "aigo: 1\nname: t\nmodels: {assistant: {scripted: [Hi.]}}\ndataset: {samples: [{id: a}]}\n\
                solvers: [{user: Hello}, generate]\nscorers: [{name: s, check: {contains: Hi}}]\n";
    std::fs::write(folder.join(std::ffi::OsStr::from_bytes(b"b\xff.yaml")), text).unwrap();
    let ran = crate::harness::run(&folder, &["lock", "."]);
    assert!(ran.code == 2 && ran.err.contains("not UTF-8") && !ran.out.contains("pinned"), "{}{}", ran.out, ran.err);
}
