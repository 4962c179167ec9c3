//! What the recipes for CI tell a shell to do is done: the steps of the action, of GitLab's job and of the hook.

use std::path::Path;
use std::process::Command;

use crate::harness::{self, folder, root};

/// The shell scripts of a composite action: its steps' names, and their `run: |` without the indentation.
fn steps(action: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let (mut name, mut inside) = (String::new(), false);
    for line in action.lines() {
        if let Some(said) = line.strip_prefix("    - name: ") {
            said.clone_into(&mut name);
        }
        if line == "      run: |" {
            found.push((name.clone(), String::new()));
            inside = true;
        } else if let Some(text) = line.strip_prefix("        ").filter(|_| inside) {
            let last = found.last_mut().expect("a step has begun");
            last.1.push_str(text);
            last.1.push('\n');
        } else {
            inside = false;
        }
    }
    found
}

/// Runs a script as the runner does.
fn bash(folder: &Path, script: &str, variables: &[(&str, &str)]) -> (i32, String) {
    let bin = harness::aigo().parent().expect("a folder").display().to_string();
    let temp = folder.display().to_string();
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script]).current_dir(folder).env_clear();
    bash.env("PATH", format!("{bin}:/usr/bin:/bin")).env("RUNNER_TEMP", temp).envs(variables.iter().copied());
    for name in ["GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_PATH"] {
        bash.env(name, folder.join(name));
    }
    let output = bash.output().expect("bash is there");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text")).concat();
    (output.status.code().unwrap_or(-1), text)
}

fn action() -> String {
    std::fs::read_to_string(root().join(".github/actions/aigo/action.yml")).expect("the action")
}

fn step(name: &str) -> String {
    let found = steps(&action()).into_iter().find(|(known, _)| known == name);
    found.unwrap_or_else(|| panic!("no step `{name}`")).1
}

#[test]
fn the_actions_check_passes_good_tasks_and_annotates_bad_ones() {
    let folder = folder("recipes-check");
    harness::run(&folder, &["init", "evals", "--for", "support"]);
    let check = step("Check");
    let (code, text) = bash(&folder, &check, &[("AIGO_TASKS", "evals"), ("AIGO_LOCKED", "false")]);
    assert_eq!(code, 0, "{text}");
    let path = folder.join("evals/task.yaml");
    let task = std::fs::read_to_string(&path).expect("a task").replace("\nscorers:", "\nscorer:");
    std::fs::write(&path, task).expect("it is written");
    let (code, text) = bash(&folder, &check, &[("AIGO_TASKS", "evals"), ("AIGO_LOCKED", "false")]);
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("::error file=evals/task.yaml,line="), "{text}");
    // What is not locked is an error where a lock is asked for; a name with blanks is one name and no command.
    let (code, text) = bash(&folder, &check, &[("AIGO_TASKS", "a b; echo hurt"), ("AIGO_LOCKED", "true")]);
    assert!(code == 2 && !text.lines().any(|line| line == "hurt"), "{text}");
}

#[test]
fn the_actions_run_ends_as_aigo_does_and_writes_the_summary() {
    let folder = folder("recipes-run");
    let run = step("Run");
    let task = root().join("tasks/quickstart");
    let (code, text) = bash(&folder, &run, &[("AIGO_RUN", task.to_str().expect("text"))]);
    assert_eq!(code, 1, "{text}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it is written");
    let summary = read("GITHUB_STEP_SUMMARY");
    assert!(
        summary.contains("quickstart") && summary.contains("plan\\_kept") && text.contains("::error"),
        "{summary}{text}"
    );
    assert_eq!(read("GITHUB_OUTPUT"), "exit=1\n");
    let runs = folder.join("aigo-runs");
    let replayed = harness::run(&folder, &["replay", "last", "--runs", runs.to_str().expect("text")]);
    assert_eq!(replayed.code, 0, "the log that is kept replays: {}", replayed.err);
}

#[test]
fn the_action_builds_what_is_there() {
    let build = step("Build aigo");
    let path = build.split_once("--path \"$GITHUB_ACTION_PATH/").expect("a path").1;
    let path = path.split_once('"').expect("its end").0;
    let cli = root().join(".github/actions/aigo").join(path);
    assert!(cli.join("Cargo.toml").is_file(), "{}", cli.display());
    let (code, _) = bash(&folder("recipes-path"), &step("Put it on the path"), &[]);
    assert_eq!(code, 0);
}

/// The lines of a list under a key of a page's YAML, which are commands.
fn listed(text: &str, key: &str) -> Vec<String> {
    let rest = text.split_once(&format!("  {key}:\n")).unwrap_or_else(|| panic!("no `{key}`")).1;
    rest.lines().map_while(|line| line.strip_prefix("    - ")).map(str::to_owned).collect()
}

#[test]
fn the_job_of_gitlab_and_the_hook_do_what_they_say() {
    let page = std::fs::read_to_string(root().join("spec/book/src/ci.md")).expect("the page");
    let block = |name: &str| -> String {
        let rest = page.split_once(&format!("```yml {name}\n")).unwrap_or_else(|| panic!("no {name}")).1;
        rest.split_once("```").expect("its end").0.to_owned()
    };
    let folder = folder("recipes-gitlab");
    harness::run(&folder, &["init", "evals", "--for", "support"]);
    let job = block(".gitlab-ci.yml");
    let script = [listed(&job, "before_script"), listed(&job, "script")].concat();
    assert!(script.len() >= 4, "{script:?}");
    let home = folder.join(".cargo").display().to_string();
    let (code, text) = bash(&folder, &script.join("\n"), &[("CARGO_HOME", &home)]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("PASSED") && folder.join("runs").is_dir(), "{text}");
    let hook = block(".pre-commit-config.yaml");
    let entry = hook.lines().find_map(|line| line.trim().strip_prefix("entry: ")).expect("an entry");
    assert_eq!(bash(&folder, entry, &[]).0, 0);
    // The workflow names the action where it lies, and inputs that it has.
    let workflow = block(".github/workflows/evals.yml");
    assert!(workflow.contains("/aigo/.github/actions/aigo@"), "{workflow}");
    let with = workflow.lines().find_map(|line| line.trim().strip_prefix("with: {")).expect("inputs");
    for input in with.trim_end_matches('}').split(", ").filter_map(|part| part.split_once(": ")) {
        assert!(action().contains(&format!("\n  {}:\n", input.0)), "the action has no input `{}`", input.0);
    }
}
