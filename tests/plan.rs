//! What `aigo compile` makes of a program, and `aigo run --dry-run` of a task: golden files that a person can look at, and what
//! holds of every picture.

mod pictures;
mod rebuilt;
pub(crate) mod xml;

use crate::golden::compare;
use crate::harness::{folder, root, run, run_with};

/// Each form of two tasks: the quick start, and one with a part of every kind that has a shape of its own.
#[test]
fn what_is_made_of_a_program_is_the_golden_one() {
    for (name, task) in [("quickstart", "tests/fixtures/quickstart"), ("shapes", "tests/fixtures/shapes.yaml")] {
        for (emit, golden) in [("svg", "svg"), ("dot", "dot"), ("json", "program.json"), ("bounds", "bounds.txt")] {
            // From the root, so that places are those of the project.
            let ran = run(root(), &["compile", task, "--emit", emit]);
            assert_eq!(ran.code, 0, "{}", ran.err);
            compare(&format!("{name}.{golden}"), &ran.out);
        }
    }
    let ran = run(root(), &["compile", "tests/fixtures/quickstart"]);
    assert_eq!(ran.out, run(root(), &["compile", "tests/fixtures/quickstart", "--emit", "ir"]).out, "`ir` unless said");
}

#[test]
fn a_file_gets_what_would_be_printed() {
    let folder = folder("plan_output");
    let path = folder.join("task.svg");
    let printed = run(root(), &["compile", "tests/fixtures/quickstart", "--emit", "svg"]);
    let written = run(root(), &["compile", "tests/fixtures/quickstart", "--emit", "svg", "-o", path.to_str().unwrap()]);
    assert_eq!((written.code, written.out.as_str()), (0, ""), "{}", written.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), printed.out);
    let nowhere =
        run(root(), &["compile", "tests/fixtures/quickstart", "-o", folder.join("no/such").to_str().unwrap()]);
    assert_eq!(nowhere.code, 2, "{}", nowhere.err);
}

#[test]
fn bounds_are_an_object_too() {
    let ran = run(root(), &["compile", "tests/fixtures/quickstart", "--emit", "bounds", "--format", "json"]);
    let found = ran.json();
    let all = &found["calls"];
    assert_eq!((found["samples"].as_u64(), found["conversations"].as_u64()), (Some(9), Some(9)));
    // Six passes of user and assistant, and a judge who is asked again once.
    assert_eq!((all["a_conversation"].as_u64(), all["in_all"].as_u64()), (Some(14), Some(126)));
    assert_eq!(found["exact"].as_bool(), Some(true));
}

#[test]
fn a_dry_run_tells_the_plan_and_does_nothing() {
    let folder = folder("dry_run");
    let replaced = [
        ("BASE_URL", "http://127.0.0.1:9"),
        ("max_tokens: 50", "max_tokens: 50, api_key: {env: TEST_KEY}"),
        ("dataset:", "limits: {calls: 1}\ndataset:"),
    ];
    crate::harness::task(&folder, "remote", &replaced);
    let ran = run(&folder, &["run", "task.yaml", "--dry-run", "-j", "7"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in ["conversations", "7 calls in flight", "the worst case passes it", "is not set", "nobody was asked"] {
        assert!(ran.out.contains(part), "no `{part}` in\n{}", ran.out);
    }
    let object = run_with(&folder, &["run", "task.yaml", "--dry-run", "--format", "json"], &[("TEST_KEY", "k")]).json();
    assert_eq!(object["limits"]["calls"]["stops"].as_bool(), Some(true));
    assert_eq!(object["missing_keys"].as_array().map(Vec::len), Some(0), "{object}");
    assert!(!folder.join("runs").exists(), "a dry run writes nothing");
    std::fs::write(folder.join("bad.yaml"), "aigo: 1\nname: bad\nsolvers: [generat]\n").unwrap();
    assert_eq!(run(&folder, &["run", "bad.yaml", "--dry-run"]).code, 3);
}

/// What the quick start makes at least.
const LEAST: u64 = 9;

/// The warning comes where the least that a run can make is above the limit, and not where it is at it.
#[test]
fn a_limit_that_the_run_is_sure_to_meet_is_told() {
    let folder = folder("over_calls");
    let text = std::fs::read_to_string(root().join("tests/fixtures/quickstart/task.yaml")).unwrap();
    for (limit, warns) in [(LEAST - 1, true), (LEAST, false)] {
        let path = folder.join("task.yaml");
        std::fs::write(&path, text.replace("dataset:", &format!("limits: {{calls: {limit}}}\ndataset:"))).unwrap();
        let ran = run(&folder, &["check", "task.yaml", "--format", "concise"]);
        assert_eq!((ran.code, ran.out.contains("W0640")), (0, warns), "{limit}: {}", ran.out);
        assert!(!warns || ran.out.contains(&format!("make at least {LEAST} calls")), "{}", ran.out);
    }
}

/// Each answer holds all that was said before, twice: its length is soon more than 64 bits hold.
#[test]
fn texts_that_grow_beyond_all_numbers_have_no_bound_and_do_no_harm() {
    let folder = folder("plan_grows");
    let said =
        "{% for m in messages %}{{ m.text | json }}{% for n in messages %}{{ n.text | json }}{% endfor %}{% endfor %}";
    let task = format!(
        "aigo: 1\nname: grows\nmodels:\n  assistant: {{scripted: [\"{said}\"]}}\ndataset: {{samples: [{{id: one}}]}}\n\
         solvers: [{{loop: {{max_turns: 200, solvers: [{{user: \"{{{{ last.text }}}}{{{{ last.text }}}} Again.\"}}, generate]}}}}]\n\
         scorers: [{{name: said, check: {{contains: Again}}}}]\n"
    );
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let ran = run(&folder, &["compile", "task.yaml", "--emit", "bounds"]);
    assert!(ran.code == 0 && ran.out.contains("no bound"), "{}{}", ran.out, ran.err);
}
