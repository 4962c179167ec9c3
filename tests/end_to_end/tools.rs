//! Tools and worlds: calls that are answered by rules, faults on order, refusals, the state that is left, and the checks of it.

use std::fmt::Write as _;
use std::path::Path;

use crate::harness::{assert_replays, ending, folder, only_run, run, score, task, trial};

/// What the assistant said last in a sample.
fn last(run: &Path, key: &str) -> String {
    trial(run, key).calls.last().and_then(|call| call.got.as_ref()).map(|got| got.text.clone()).unwrap_or_default()
}

#[test]
fn an_airline_with_six_tools_ends_in_the_state_that_is_checked() {
    let folder = folder("tools_airline");
    task(&folder, "airline", &[]);
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let path = only_run(&folder);
    assert_replays(&folder, &path, &ran);
    let of = |key: &str, scorer: &str| score(&trial(&path, key), scorer);
    let (yes, no) = ("scored true Some(true)", "scored false Some(false)");
    // Who looks the booking up cancels the right one; the refund fails once, on order, and is asked for again.
    assert_eq!([of("careful", "cancelled"), of("careful", "after"), of("careful", "acts")], [yes, yes, yes]);
    // A wrong write is found by the state, by what the calls should have made of it, and by the calls.
    assert_eq!([of("careless", "cancelled"), of("careless", "after"), of("careless", "acts")], [no, no, no]);
    // Expectations look at the calls of their turn: one of these is called twice.
    let verdicts: Vec<Option<bool>> = trial(&path, "expected")
        .close
        .expect("it has ended")
        .scores
        .iter()
        .filter(|score| score.scorer == "expectations" && score.turn.is_some())
        .map(|score| score.pass)
        .collect();
    assert_eq!(verdicts, [Some(true), Some(true), Some(true), Some(false)]);
    // Rounds are bounded, and a tool that hands over ends the conversation: what the assistant did is scored all the same.
    assert_eq!(ending(&path, "bags").as_deref(), Some("tool_rounds"));
    assert_eq!(trial(&path, "bags").calls.len(), 4);
    assert_eq!(ending(&path, "person").as_deref(), Some("handed_off"));
    assert_eq!([of("bags", "acts"), of("person", "cancelled")], [no, no]);
    assert_eq!(ran.code, 1, "{}", ran.err);
}

/// A call that cannot be answered is told to the assistant, word for word, and leaves the state as it was.
#[test]
fn calls_that_do_not_fit_are_refused_and_change_nothing() {
    let folder = folder("tools_refused");
    let calls = [
        ("none", "{name: add, args: {}}", r#"{"error":"`add` needs `order`, of type string"}"#),
        (
            "type",
            "{name: add, args: {order: A1, n: x}}",
            r#"{"error":"`n` of `add` is of type integer, and was \"x\""}"#,
        ),
        ("more", "{name: add, args: {order: A1, m: 1}}", r#"{"error":"`add` takes no `m`"}"#),
        ("require", "{name: add, args: {order: A1, n: 0}}", r#"{"error":"not possible: it needs n > 0"}"#),
        ("missing", "{name: add, args: {order: A9}}", r#"{"error":"the map has no key `A9`"}"#),
        ("whole", "{name: add, args: {order: A1, n: 2.0}}", r#"{"seats":4}"#),
        ("default", "{name: add, args: {order: A1}}", r#"{"seats":3}"#),
        ("silent", "{name: touch}", r#"{"ok":true}"#),
    ];
    let (mut rules, mut samples) = (String::new(), String::new());
    for (id, call, _) in calls {
        let when = format!("sample.id == '{id}' and messages[-1].kind == 'say'");
        let _ = writeln!(rules, "      - {{when: \"{when}\", calls: [{call}]}}");
        let _ = write!(samples, "{{id: {id}}}, ");
    }
    let text = format!(
        "aigo: 1\nname: t\nmodels:\n  assistant:\n    scripted:\n{rules}      - say: \"{{{{ messages[-1].text }}}}\"\n\
         world: {{state: {{orders: {{A1: {{seats: 2}}}}}}}}\ntools:\n  - name: add\n    params: {{order: string, n: {{type: integer, default: 1}}}}\n    \
         require: n > 0\n    set: {{\"orders[order].seats\": \"state.orders[order].seats + n\"}}\n    \
         returns: {{seats: \"state.orders[order].seats\"}}\n  - {{name: touch}}\n\
         dataset: {{samples: [{samples}]}}\nsolvers: [{{user: Go on.}}, generate]\n\
         scorers: [{{name: same, check: {{state: {{orders.A1.seats: 2}}}}}}]\n"
    );
    std::fs::write(folder.join("task.yaml"), text).expect("the task can be written");
    let ran = run(&folder, &["run", "task.yaml", "--format", "json"]);
    let path = only_run(&folder);
    for (id, _, said) in calls {
        assert_eq!(last(&path, id), said, "{id}: {}", ran.err);
        let changed = ["whole", "default"].contains(&id);
        let wanted = if changed { "scored false Some(false)" } else { "scored true Some(true)" };
        assert_eq!(score(&trial(&path, id), "same"), wanted, "{id}");
    }
    assert_replays(&folder, &path, &ran);
}
