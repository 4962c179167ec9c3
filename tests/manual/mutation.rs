//! No key is silently ignored: whatever is changed, renamed or removed in an example of the manual, the program or its samples
//! change, or something is reported.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::print::print;
use aigo_ir::span::FileId;
use aigo_ir::value::{Map, Value};

use super::page::{Page, pages};
use super::surroundings;

/// Keys that are for readers: they change nothing, and the language says so. `default` counts where nothing is given.
const FOR_READERS: [&str; 2] = ["description", "reason"];
/// Changes that say what would be so anyway, by their generic paths: a declaration that agrees with the data, a default that is
/// given or overridden, a word that is the default.
const SAY_NOTHING_NEW: [&str; 6] = [
    "fields",
    "define.solvers.ask_about.params.greeting.default",
    "scorers.*.check.turns",
    "scorers.*.over",
    "scorers.*.judge.over_panel",
    "scorers.*.judge.sees",
];
/// One path is tried so often over all examples.
const MOST_OF_ONE_PATH: usize = 3;

/// A step into a value.
#[derive(Clone)]
pub(super) enum Step {
    Key(Arc<str>),
    Item(usize),
}

/// What is done at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Rename,
    Remove,
    Alter,
    /// Another kind of value in its place.
    Retype,
}

/// Everything that a task comes to: its program, its samples, its suites; or what is reported.
fn meaning(task: &Value, page: &Page) -> Result<String, String> {
    let compiled = surroundings::compiled(task.to_json().as_bytes(), page);
    // An example need not please the lints, before it is changed or after.
    let mut found = surroundings::findings_of(&compiled);
    found.retain(|one| !one.code.starts_with("W06"));
    let found = surroundings::shown(&found);
    let suites = format!("{:?}", compiled.suites);
    let Some((program, dataset)) = compiled.program.filter(|_| found.is_empty()) else { return Err(found) };
    let world = surroundings::files(page);
    let rows: Vec<String> = dataset.rows(&world).map(|row| format!("{row:?}")).collect();
    Ok(format!("{}\n{}\n{suites}", print(&program), rows.join("\n")))
}

/// Every place in a value.
pub(super) fn places(value: &Value, at: &mut Vec<Step>, out: &mut Vec<Vec<Step>>) {
    match value {
        Value::Map(map) => {
            for (key, inner) in map.iter() {
                at.push(Step::Key(key.clone()));
                out.push(at.clone());
                places(inner, at, out);
                at.pop();
            }
        }
        Value::List(items) => {
            for (n, inner) in items.iter().enumerate() {
                at.push(Step::Item(n));
                out.push(at.clone());
                places(inner, at, out);
                at.pop();
            }
        }
        _ => {}
    }
}

/// The path without the numbers of items.
pub(super) fn generic(at: &[Step]) -> String {
    let part = |step: &Step| match step {
        Step::Key(key) => key.to_string(),
        Step::Item(_) => "*".to_owned(),
    };
    at.iter().map(part).collect::<Vec<_>>().join(".")
}

fn altered(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Bool(b) => Value::Bool(!b),
        Value::Int(n) => Value::Int(n + 1),
        Value::Float(x) => Value::float(x + 0.5)?,
        Value::Str(text) => Value::str(format!("{text}x")),
        _ => return None,
    })
}

/// A value of another kind.
fn retyped(value: &Value) -> Value {
    match value {
        Value::Str(_) | Value::Null => Value::list(vec![value.clone()]),
        Value::Map(_) => Value::str("a text"),
        Value::List(_) => Value::map([("odd", value.clone())]),
        Value::Bool(_) => Value::str("perhaps"),
        Value::Int(_) | Value::Float(_) => Value::str("many"),
    }
}

/// The value with a change at a place; none where the change means nothing there.
pub(super) fn changed(value: &Value, at: &[Step], change: Change) -> Option<Value> {
    let Some((first, rest)) = at.split_first() else {
        return if change == Change::Retype { Some(retyped(value)) } else { altered(value) };
    };
    match (value, first) {
        (Value::Map(map), Step::Key(wanted)) => {
            let mut out = Map::default();
            for (key, inner) in map.iter() {
                match (key == wanted, rest.is_empty(), change) {
                    (true, true, Change::Remove) => {}
                    (true, true, Change::Rename) => out.set(format!("{key}x"), inner.clone()),
                    (true, ..) => out.set(key.clone(), changed(inner, rest, change)?),
                    _ => out.set(key.clone(), inner.clone()),
                }
            }
            Some(Value::Map(Arc::new(out)))
        }
        (Value::List(items), Step::Item(n)) => {
            let mut out = items.to_vec();
            match (rest.is_empty(), change) {
                (true, Change::Remove) => {
                    out.remove(*n);
                }
                (true, Change::Rename) => return None,
                _ => out[*n] = changed(&items[*n], rest, change)?,
            }
            Some(Value::list(out))
        }
        _ => None,
    }
}

#[test]
fn no_key_of_any_example_is_ignored() {
    let (mut tried, mut count, mut ignored) = (BTreeMap::<String, usize>::new(), 0, Vec::new());
    for page in pages() {
        let examples =
            page.blocks.iter().filter(|b| b.is("yaml") && !b.says("fails") && !b.says("fixed") && !b.is_file());
        for block in examples {
            let kind = block.words.get(1).map_or("task", String::as_str);
            let text = surroundings::task(kind, &block.text);
            let tree = aigo_source::parse(&text, FileId::default()).tree;
            let task = tree.root().to_value().expect("an example of the manual");
            let whole = meaning(&task, &page).unwrap_or_else(|found| panic!("{}: {found}", block.place(&page)));
            let mut all = Vec::new();
            places(&task, &mut Vec::new(), &mut all);
            for at in all {
                let readers = at.iter().any(|step| matches!(step, Step::Key(key) if FOR_READERS.contains(&&**key)));
                for change in [Change::Rename, Change::Remove, Change::Alter] {
                    let path = format!("{} {change:?}", generic(&at));
                    let seen = tried.entry(path.clone()).or_default();
                    if (readers && change != Change::Rename) || *seen >= MOST_OF_ONE_PATH {
                        continue;
                    }
                    let Some(mutant) = changed(&task, &at, change) else { continue };
                    *seen += 1;
                    count += 1;
                    let says_new =
                        !SAY_NOTHING_NEW.iter().any(|known| path.starts_with(known)) || change == Change::Rename;
                    // A long form writes out what holds anyway.
                    let says_new = says_new && !(change == Change::Remove && block.says("long"));
                    if says_new && meaning(&mutant, &page).as_ref() == Ok(&whole) {
                        ignored.push(format!("{}: {path}", block.place(&page)));
                    }
                }
            }
        }
    }
    assert!(ignored.is_empty(), "{} of {count} changes are not seen:\n{}", ignored.len(), ignored.join("\n"));
    assert!(count > 1_000, "only {count} changes were tried");
}
