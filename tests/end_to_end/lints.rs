//! Lints, through the binary: the founding mistakes are told, good tasks are not blamed, and a comment allows what is meant.

use std::path::Path;

use crate::harness::{folder, root, run};

/// A task that makes none of the mistakes: models that are versions of two makers, recorded and simulated conversations, a
/// judge for each property, a memory that has time to fail.
const GOOD: &str = r#"aigo: 1
name: support
models:
  assistant: {model: anthropic/claude-sonnet-4-5-20250929, max_tokens: 600}
  user: openai/gpt-5-mini-2025-08-07
  judge: openai/gpt-5.2-2025-12-11
dataset:
  - matrix:
      plan: [Pro, Team, Business]
      goal: [add a seat, remove a seat, find the invoice, cancel]
  - transcripts: real.jsonl
solvers:
  - system: You are Acme's support assistant. Never quote a price.
  - user: We are on {{ plan }}.
  - generate
  - loop:
      max_turns: 8
      solvers:
        - simulate_user: {goal: "{{ goal }}", min_turns: 3}
        - generate
scorers:
  - name: plan_remembered
    judge: {rubric: The assistant never forgets which plan the user is on., scale: boolean, evidence: pair}
  - name: polite
    judge: {rubric: The assistant blames the user for nothing., scale: boolean}
  - name: no_price
    check: {not_matches: '\$\s?\d'}
gates: [rate(plan_remembered) >= 0.9, rate(polite) >= 0.9, rate(no_price) == 1]
"#;

const REAL: &str = r#"{"id": "r1", "messages": [{"author": "user", "text": "A seat more."}, {"author": "assistant", "text": "Done."}]}
"#;

/// Each founding mistake: the lint, and the edits of the good task that make it.
const MISTAKES: &[(&str, &[(&str, &str)])] = &[
    (
        "last_turn_only",
        &[
            (
                "  - name: plan_remembered\n    judge: {rubric: The assistant never forgets which plan the user is on., scale: boolean, evidence: pair}\n",
                "",
            ),
            ("  - name: polite\n    judge: {rubric: The assistant blames the user for nothing., scale: boolean}\n", ""),
            ("  judge: openai/gpt-5.2-2025-12-11\n", ""),
            ("{not_matches: '\\$\\s?\\d'}", "{not_matches: '\\$\\s?\\d', turns: last}"),
            ("rate(plan_remembered) >= 0.9, rate(polite) >= 0.9, ", ""),
        ],
    ),
    (
        "several_dimensions",
        &[("The assistant blames the user for nothing.", "\"The assistant is polite, accurate and concise.\"")],
    ),
    ("self_judging", &[("judge: openai/gpt-5.2-2025-12-11", "judge: anthropic/claude-sonnet-4-5-20250929")]),
    ("all_simulated", &[("  - transcripts: real.jsonl\n", "")]),
    ("floating_model", &[("judge: openai/gpt-5.2-2025-12-11", "judge: openai/gpt-5.2")]),
    (
        "short_conversations",
        &[
            ("  - transcripts: real.jsonl\n", ""),
            ("      max_turns: 8\n", "      max_turns: 2\n"),
            (", min_turns: 3", ""),
            (
                "solvers:\n  - system",
                "scenarios:\n  - id: asks\n    with: {plan: Pro, goal: cancel}\n    solvers: [{script: [We are on Pro., Cancel it.]}]\nsolvers:\n  - system",
            ),
        ],
    ),
];

fn written(name: &str, task: &str) -> std::path::PathBuf {
    let folder = folder(&format!("lints-{name}"));
    std::fs::write(folder.join("task.yaml"), task).expect("the task can be written");
    std::fs::write(folder.join("real.jsonl"), REAL).expect("the data can be written");
    folder
}

/// The names of what is found in a task, in order; of errors the codes. That there is no lock is left out.
fn found(folder: &Path) -> Vec<String> {
    let ran = run(folder, &["check", "task.yaml", "--deny", "warnings", "--format", "json"]);
    let object = ran.json();
    let all = object["diagnostics"].as_array().expect("a list").iter().filter(|one| one["severity"] != "note");
    let mut names: Vec<String> =
        all.map(|one| one["name"].as_str().or(one["code"].as_str()).expect("a text").to_owned()).collect();
    assert_eq!(ran.code, if names.is_empty() { 0 } else { 3 }, "{}{}", ran.out, ran.err);
    names.retain(|name| name != "not_locked");
    names
}

#[test]
fn each_founding_mistake_is_found_and_its_twin_is_not_blamed() {
    assert_eq!(found(&written("good", GOOD)), [""; 0]);
    for (name, edits) in MISTAKES {
        let task = edits.iter().fold(GOOD.to_owned(), |task, (from, to)| {
            assert!(task.contains(from), "{name}: the good task has no `{from}`");
            task.replacen(from, to, 1)
        });
        assert_eq!(found(&written(name, &task)), [*name], "{task}");
    }
}

#[test]
fn a_gate_that_too_few_conversations_can_decide_is_told_before_they_are_bought() {
    let task = |gate: &str, epochs: u32| {
        format!(
            "aigo: 1\nname: few\nepochs: {epochs}\nmodels: {{assistant: {{scripted: [{{any_of: [Pro, Team]}}]}}}}\n\
             dataset: {{matrix: {{plan: [Pro, Team]}}}}\nsolvers: [{{script: ['On {{{{ plan }}}}.', Which plan is it?]}}]\n\
             scorers: [{{name: knows, check: {{contains: '{{{{ plan }}}}'}}}}]\ngates: [{gate}]\n"
        )
    };
    for (gate, epochs, is_told) in [
        ("rate(knows) >= 0.5", 1, true),
        ("rate(knows) >= 0.5", 2, true),
        ("rate(knows) >= 0.5", 3, false),
        ("{gate: rate(knows) >= 0.5, min_n: 2}", 1, false),
        ("{gate: rate(knows) >= 0.5, min_n: 3}", 1, true),
        ("rate(turns.knows) >= 0.5", 1, false),
        // A pair for each scenario, however often it is run.
        ("delta(rate(knows)) >= -0.5", 9, true),
    ] {
        let names = found(&written("few", &task(gate, epochs)));
        assert_eq!(names.contains(&"never_decided".to_owned()), is_told, "{gate}, {epochs} epochs: {names:?}");
    }
}

#[test]
fn what_is_shown_as_good_pleases_every_lint() {
    let ran = run(root(), &["check", "tasks", "--deny", "warnings", "--format", "concise"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    // The design's own example, with a lock made for it.
    let folder = folder("lints-design");
    for file in ["task.yaml", "data/goals.yaml", "data/real/2025-11.jsonl"] {
        let target = folder.join(file);
        std::fs::create_dir_all(target.parent().expect("a folder")).expect("a folder can be made");
        std::fs::copy(root().join("tests/fixtures/design").join(file), target).expect("a file can be copied");
    }
    let locked = run(&folder, &["lock", "task.yaml"]);
    assert_eq!(locked.code, 0, "{}{}", locked.out, locked.err);
    let ran = run(&folder, &["check", "--locked", "--deny", "warnings", "--format", "concise"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

/// The good task with the judge that is the model under test, and this behind it or above it.
fn allowed(name: &str, above: &str, behind: &str) -> Vec<String> {
    let judge = format!("{above}  judge: anthropic/claude-sonnet-4-5-20250929{behind}\n");
    found(&written(name, &GOOD.replace("  judge: openai/gpt-5.2-2025-12-11\n", &judge)))
}

#[test]
fn a_comment_allows_a_warning_where_it_stands() {
    assert_eq!(allowed("plain", "", ""), ["self_judging"]);
    assert_eq!(allowed("behind", "", "  # aigo: allow(self_judging) one provider"), [""; 0]);
    assert_eq!(allowed("above", "  # aigo: allow(self_judging) one provider\n  # and no other\n", ""), [""; 0]);
    assert_eq!(allowed("blank", "  # aigo: allow(self_judging) one provider\n\n", ""), ["W0631", "self_judging"]);
    assert_eq!(allowed("reasonless", "", "  # aigo: allow(self_judging)"), ["W0632"]);
    assert_eq!(allowed("other", "", " # aigo: allow(floating_model) no"), ["self_judging", "W0631"]);
    assert_eq!(allowed("code", "", " # aigo: allow(W0603) no"), ["self_judging", "W0630"]);
    assert_eq!(allowed("error", "", " # aigo: allow(E0302) no"), ["self_judging", "W0630"]);
    assert_eq!(allowed("open", "", " # aigo: allow(self_judging"), ["self_judging", "W0630"]);
    let whole = GOOD.replace("judge: openai/gpt-5.2-2025-12-11", "judge: anthropic/claude-sonnet-4-5-20250929");
    let top = format!("# aigo: allow(self_judging) one provider\n\n{whole}");
    assert_eq!(found(&written("top", &top)), [""; 0]);
    // Of a construct: everything in it.
    let block = whole.replace("models:\n", "# aigo: allow(self_judging) one provider\nmodels:\n");
    assert_eq!(found(&written("block", &block)), [""; 0]);
    let elsewhere = whole.replace("dataset:\n", "# aigo: allow(self_judging) one provider\ndataset:\n");
    assert_eq!(found(&written("elsewhere", &elsewhere)), ["self_judging", "W0631"]);
}

#[test]
fn an_imported_file_allows_what_is_found_in_it() {
    let define = "aigo: 1\ndefine:\n  scorers:\n    kind:\n      judge: {rubric: It is good., scale: boolean}COMMENT\n      name: kind\n";
    let task = GOOD
        .replace("name: support\n", "name: support\nimport: lib.yaml\n")
        .replace("scorers:\n", "scorers:\n  - use: kind\n")
        .replace("gates: [", "gates: [rate(kind) >= 0.9, ");
    for (comment, expected) in [
        ("", vec!["vague_rubric"]),
        ("  # aigo: allow(vague_rubric) as the paper has it", vec![]),
        ("  # aigo: allow(vague_rubrics) as the paper has it", vec!["vague_rubric", "W0630"]),
    ] {
        let folder = written("imported", &task);
        std::fs::write(folder.join("lib.yaml"), define.replace("COMMENT", comment)).expect("the file can be written");
        assert_eq!(found(&folder), expected, "{comment}");
        let own = run(&folder, &["check", "lib.yaml", "--format", "concise"]);
        assert_eq!(own.out.lines().count(), expected.len(), "{}", own.out);
    }
}

#[test]
fn while_there_are_errors_lints_are_silent_and_allowances_are_not_blamed() {
    let task = GOOD
        .replace("judge: openai/gpt-5.2-2025-12-11", "judge: anthropic/claude-sonnet-4-5-20250929")
        .replace("dataset:\n", "dataset:  # aigo: allow(all_simulated) soon\n")
        .replace("{{ plan }}", "{{ plann }}");
    assert_eq!(found(&written("errors", &task)), ["E0302"]);
}

#[test]
fn a_finding_ends_with_how_it_is_allowed_and_its_name_explains_it() {
    let folder = written("text", &GOOD.replace("judge: openai/gpt-5.2-2025-12-11", "judge: openai/gpt-5.2"));
    let ran = run(&folder, &["check", "task.yaml"]);
    assert!(ran.out.contains("W0607 floating_model\n"), "{}", ran.out);
    assert!(ran.out.contains("\n allow: # aigo: allow(floating_model) why\n"), "{}", ran.out);
    let github = run(&folder, &["check", "task.yaml", "--format", "github"]).out;
    assert!(github.contains("title=W0607 floating_model%3A"), "{github}");
    let sarif = run(&folder, &["check", "task.yaml", "--format", "sarif"]).json();
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().expect("rules").clone();
    assert!(rules.iter().any(|rule| rule["id"] == "W0607" && rule["name"] == "floating_model"), "{rules:?}");
    let by_name = run(&folder, &["explain", "floating_model"]);
    assert_eq!((by_name.code, by_name.out), (0, run(&folder, &["explain", "W0607"]).out));
    let near = run(&folder, &["explain", "floting_model"]);
    assert!(near.code == 2 && near.err.contains("did you mean floating_model?"), "{}", near.err);
}

#[test]
fn a_key_in_a_comment_is_found_and_not_repeated() {
    let key = "sk-proj-k1L2m3N4o5P6q7R8s9T0";
    let task = GOOD.replace("dataset:\n", &format!("# was {key} before\ndataset:\n"));
    let folder = written("key", &task);
    assert_eq!(found(&folder), ["key_in_text"]);
    for format in ["text", "concise", "json", "sarif", "github"] {
        let ran = run(&folder, &["check", "task.yaml", "--format", format]);
        assert!(!ran.out.contains("k1L2m3N4"), "{format}: {}", ran.out);
    }
}

/// The task with the one fix of what is found in it.
fn mended(folder: &Path) -> String {
    let object = run(folder, &["check", "task.yaml", "--format", "json"]).json();
    let all = object["diagnostics"].as_array().expect("a list").iter().filter_map(|one| one["fix"].as_object());
    let fixes: Vec<_> = all.collect();
    let [fix] = fixes.as_slice() else { panic!("{} fixes: {object}", fixes.len()) };
    let edit = &fix["edits"][0];
    let at = |end: &str| usize::try_from(edit[end]["offset"].as_u64().expect("an offset")).expect("a small file");
    let mut text = std::fs::read_to_string(folder.join("task.yaml")).expect("the task");
    text.replace_range(at("start")..at("end"), edit["text"].as_str().expect("a text"));
    text
}

#[test]
fn fixes_of_lints_leave_what_one_would_write() {
    let behind = GOOD.replace(
        "judge: openai/gpt-5.2-2025-12-11\n",
        "judge: openai/gpt-5.2-2025-12-11  # aigo: allow(self_judging) once\n",
    );
    let above = GOOD.replace("scorers:\n", "# aigo: allow(self_judging) once\nscorers:\n");
    for task in [behind, above] {
        let folder = written("fix-unused", &task);
        assert_eq!(found(&folder), ["W0631"]);
        assert_eq!(mended(&folder), GOOD);
    }
    let judged =
        GOOD.replace("openai/gpt-5.2-2025-12-11\n", "openai/gpt-5.2  # aigo: allow(floating_model) until May\n");
    for slip in ["floting_model", "W0607", "Floating-Model"] {
        let folder = written("fix-name", &judged.replace("floating_model", slip));
        assert_eq!(mended(&folder), judged, "{slip}");
    }
    let personas = GOOD
        .replace(
            "dataset:\n",
            "define:\n  personas:\n    hasty: {text: You write in haste., probes: [polite]}\ndataset:\n",
        )
        .replace("      plan: [", "      persona: [You answer at length., PERSONA]\n      plan: [")
        .replace("min_turns: 3", "min_turns: 3, persona: \"{{ persona }}\"");
    let folder = written("fix-persona", &personas.replace("PERSONA", "hastey"));
    assert_eq!(found(&folder), ["near_persona"]);
    let right = personas.replace("PERSONA", "hasty");
    assert_eq!(mended(&folder), right);
    assert_eq!(found(&written("fixed-persona", &right)), [""; 0]);
}
