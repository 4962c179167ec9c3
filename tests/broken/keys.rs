//! A key that is not set: an error for a run, and no error of the task.

use crate::harness::{folder, run, run_with};

const TASK: &str = "aigo: 1
name: key
models:
  assistant:
    model: openai_compatible/llama3.2
    base_url: http://127.0.0.1:9/v1
    api_key: {env: AIGO_TEST_KEY}
dataset: {samples: [{id: one}]}
solvers: [{user: Hello.}, generate]
scorers: [{name: polite, check: {contains: Certainly}}]
";

#[test]
fn a_key_that_is_not_set_is_an_error_of_a_run_and_a_note_of_a_check() {
    let folder = folder("broken_key");
    std::fs::write(folder.join("task.yaml"), TASK).unwrap();
    let ran = run(&folder, &["run", "task.yaml"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("R0101") && ran.err.contains("AIGO_TEST_KEY"), "{}", ran.err);
    assert!(
        !folder.join("runs").exists() || std::fs::read_dir(folder.join("runs")).unwrap().next().is_none(),
        "no run began"
    );
    let checked = run(&folder, &["check", "--format", "concise", "--deny", "warnings", "task.yaml"]);
    assert_eq!(checked.code, 0, "{checked:?}");
    assert!(checked.out.starts_with("task.yaml:7:20: note[") && checked.out.contains("AIGO_TEST_KEY"), "{checked:?}");
    let set = run_with(&folder, &["check", "--format", "concise", "task.yaml"], &[("AIGO_TEST_KEY", "k")]);
    assert_eq!((set.code, set.out.as_str()), (0, ""), "{set:?}");
}
