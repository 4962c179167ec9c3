//! Starting: a task from a template, the schema, completions.

use crate::harness::{folder, root, run, run_with};

const TEMPLATES: [&str; 4] = ["support", "rag", "tutor", "agent"];
const KEYS: [(&str, &str); 2] = [("OPENAI_API_KEY", "none"), ("ANTHROPIC_API_KEY", "none")];

#[test]
fn every_template_passes_its_own_check_and_runs() {
    for template in TEMPLATES {
        let folder = folder(&format!("init-{template}"));
        let made = run(&folder, &["init", "evals", "--for", template]);
        assert_eq!(made.code, 0, "{template}: {}", made.err);
        assert!(made.out.contains("aigo check evals --deny warnings"), "{}", made.out);
        let checked = run(&folder, &["check", "evals", "--deny", "warnings"]);
        assert_eq!(
            (checked.code, checked.out.as_str()),
            (0, "1 file: 0 errors, 0 warnings\n"),
            "{template}: {}",
            checked.err
        );
        assert!(made.out.contains("aigo run evals"), "{}", made.out);
        let ran = run(&folder, &["run", "evals", "--format", "json"]);
        assert_eq!(ran.code, 0, "{template}: {}{}", ran.out, ran.err);
        let kept = crate::harness::only_run(&folder);
        assert!(crate::harness::trials(&kept).len() >= 9, "{template}: few samples");
        crate::harness::assert_replays(&folder, &kept, &ran);
    }
}

/// The lines that a template's first comment shows for `models` go in the place of its rules, as it says.
#[test]
fn every_template_takes_the_models_that_its_comments_show() {
    for template in TEMPLATES {
        let folder = folder(&format!("init-models-{template}"));
        run(&folder, &["init", ".", "--for", template]);
        let path = folder.join("task.yaml");
        let text = std::fs::read_to_string(&path).expect("the task");
        let shown: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("#   ")).filter(|l| l.contains("{model:")).collect();
        assert!(shown.len() >= 2, "{template}: {shown:?}");
        let (before, rest) = text.split_once("models:\n").expect("models");
        let roles = rest.lines().take_while(|line| line.is_empty() || line.starts_with(' ')).count();
        let rest: Vec<&str> = rest.lines().skip(roles).collect();
        let models: Vec<String> = shown.iter().map(|line| format!("  {line}")).collect();
        std::fs::write(&path, format!("{before}models:\n{}\n{}\n", models.join("\n"), rest.join("\n")))
            .expect("it is written");
        let locked = run_with(&folder, &["lock", "."], &KEYS);
        assert_eq!(locked.code, 0, "{template}: {}", locked.err);
        let checked = run_with(&folder, &["check", ".", "--deny", "warnings"], &KEYS);
        assert_eq!(
            (checked.code, checked.out.as_str()),
            (0, "1 file: 0 errors, 0 warnings\n"),
            "{template}: {}",
            checked.err
        );
    }
}

#[test]
fn nothing_is_written_over() {
    let folder = folder("init-twice");
    std::fs::write(folder.join("task.yaml"), "mine").expect("a file");
    std::fs::write(folder.join(".gitignore"), "mine").expect("a file");
    let refused = run(&folder, &["init"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{}", refused.err);
    assert!(refused.err.contains("task.yaml already"), "{}", refused.err);
    assert!(!folder.join("data").exists() && !folder.join(".aigo").exists(), "nothing is begun");
    std::fs::remove_file(folder.join("task.yaml")).expect("it is removed");
    let made = run(&folder, &["init"]);
    assert_eq!(made.code, 0, "{}", made.err);
    assert_eq!(std::fs::read_to_string(folder.join(".gitignore")).expect("it is there"), "mine");
    assert!(made.out.contains("aigo run task.yaml") && !made.out.contains(".gitignore"), "{}", made.out);
}

/// The first line of a task that was begun leads an editor to a schema that is there.
#[test]
fn the_schema_of_a_new_task_is_where_its_first_line_says() {
    let folder = folder("init-schema");
    run(&folder, &["init", "."]);
    let text = std::fs::read_to_string(folder.join("task.yaml")).expect("the task");
    let path =
        text.lines().next().and_then(|line| line.strip_prefix("# yaml-language-server: $schema=")).expect("a schema");
    let kept = std::fs::read_to_string(folder.join(path)).expect("it is there");
    assert_eq!(kept, run(&folder, &["schema"]).out);
}

#[test]
fn the_schema_of_a_task_knows_its_names() {
    let folder = folder("schema-of-a-task");
    let of = |text: &str| {
        std::fs::write(folder.join("task.yaml"), text).expect("it is written");
        run(&folder, &["schema", "."])
    };
    let text = std::fs::read_to_string(root().join("tasks/templates/support/task.yaml")).expect("a template");
    std::fs::create_dir_all(folder.join("data")).expect("a folder");
    std::fs::copy(root().join("tasks/templates/support/data/recorded.jsonl"), folder.join("data/recorded.jsonl"))
        .expect("a file");
    let schema = of(&text).json();
    let definitions = &schema["definitions"];
    let role = serde_json::json!(["assistant", "judge", "user"]);
    assert_eq!(definitions["judge"]["properties"]["model"]["enum"], role);
    // The library has some more than the task.
    let personas = serde_json::json!([
        "adversary",
        "confused",
        "frustrated",
        "mind_changer",
        "terse",
        "topic_jumper",
        "under_specifier"
    ]);
    assert_eq!(definitions["simulate_user"]["properties"]["persona"]["examples"], personas);
    let gates = definitions["task"]["properties"]["gates"].to_string();
    assert!(gates.contains("rate(keeps_to_policy) >= 0.9"), "{gates}");
    let select = definitions["suite"]["properties"]["select"]["examples"].to_string();
    assert!(select.contains("p0") && select.contains("simulated"), "{select}");
    // A task that is being written has mistakes, and names all the same.
    let broken = of(&text.replace("aigo: 1\n", "").replace("rubric", "rubrik"));
    assert_eq!(broken.code, 0, "{}", broken.err);
    assert_eq!(broken.json()["definitions"]["judge"]["properties"]["model"]["enum"], role);
    assert_eq!(run(&folder, &["schema", "gone.yaml"]).code, 2);
    std::fs::write(folder.join("latin.yaml"), b"name: caf\xe9\n").expect("it is written");
    let unread = run(&folder, &["schema", "latin.yaml"]);
    assert_eq!((unread.code, unread.out.as_str()), (3, ""), "{}", unread.err);
}

#[test]
fn completions_are_scripts_of_their_shells() {
    let folder = folder("completions");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = run(&folder, &["completions", shell]);
        assert_eq!(script.code, 0, "{shell}: {}", script.err);
        for word in ["check", "explain", "schema", "--deny"] {
            assert!(script.out.contains(word.trim_start_matches('-')), "{shell}: no {word}");
        }
        std::fs::write(folder.join(shell), &script.out).expect("it is written");
    }
    let parsed = std::process::Command::new("bash").arg("-n").arg(folder.join("bash")).output();
    // Where there is no bash, there is nobody to complete for.
    if let Ok(parsed) = parsed {
        assert!(parsed.status.success(), "{}", String::from_utf8_lossy(&parsed.stderr));
    }
}
