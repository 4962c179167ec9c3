//! What moved since a task was locked, in words.

use std::sync::Arc;

use aigo_ir::span::Origin;
use aigo_ir::value::Value;

use super::{Kind, Lock, Pin};

/// One thing that moved.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// A clause that stands alone: `the rubric of `kind` changed`.
    pub what: String,
    /// Where the task says what is there now, if it says so at one place.
    pub origin: Origin,
}

/// What moved between what was locked and what is there now: first what is there, in the order of the file, then what is gone.
pub fn moved(locked: &Lock, now: &Lock) -> Vec<Move> {
    let find = |lock: &'_ Lock, pin: &Pin| -> Option<Pin> {
        lock.pins.iter().find(|known| (known.kind, &known.name) == (pin.kind, &pin.name)).cloned()
    };
    let mut moves = Vec::new();
    for pin in &now.pins {
        let what = match find(locked, pin) {
            Some(old) if old.agrees(pin) => continue,
            Some(old) => Some(changed(&old, pin)),
            None if speaks_for_another(pin, now, locked) => None,
            None => Some(came(pin)),
        };
        moves.extend(what.map(|what| Move { what, origin: pin.origin }));
    }
    for pin in &locked.pins {
        if find(now, pin).is_none() && !speaks_for_another(pin, locked, now) {
            moves.push(Move { what: went(pin), origin: Origin::default() });
        }
    }
    moves
}

/// Whether a thing that only one side has is a part of a scorer or of a simulated user that only that side has, which is told
/// once.
fn speaks_for_another(pin: &Pin, side: &Lock, other: &Lock) -> bool {
    let whole = match pin.kind {
        Kind::Rubric | Kind::Scale | Kind::Anchors | Kind::Examples | Kind::Prompt => Kind::Scoring,
        Kind::StopRule => Kind::Simulator,
        _ => return false,
    };
    let has = |lock: &Lock| lock.pins.iter().any(|known| known.kind == whole && known.name == pin.name);
    has(side) && !has(other)
}

/// What a thing is called.
fn called(pin: &Pin) -> String {
    let name = &pin.name;
    match pin.kind {
        Kind::Dataset => "the dataset".to_owned(),
        Kind::Script => "what the task's own steps say as the user".to_owned(),
        Kind::Library => format!("aigo's own `{name}`"),
        Kind::Model => format!("the model of the role `{name}`"),
        Kind::Rubric => format!("the rubric of `{name}`"),
        Kind::Scale => format!("the scale of `{name}`"),
        Kind::Anchors => format!("the anchors of `{name}`"),
        Kind::Examples => format!("the examples of `{name}`"),
        Kind::Prompt => format!("what aigo itself tells the judge of `{name}`"),
        Kind::Scoring => format!("how `{name}` comes to its verdict"),
        Kind::Simulator => format!("what the simulated user of `{name}` is told"),
        Kind::StopRule => format!("the stop rule of `{name}`"),
        Kind::Persona => format!("the persona `{name}`"),
        Kind::Limits => "the limits of a sample".to_owned(),
        Kind::World => "the world's first state".to_owned(),
        Kind::Tool => format!("how the tool `{name}` answers"),
    }
}

fn changed(old: &Pin, new: &Pin) -> String {
    let mut differences = Vec::new();
    for (key, value) in &new.facts {
        difference(key, old.fact(key), Some(value), &mut differences);
    }
    for (key, value) in old.facts.iter().filter(|(key, _)| new.fact(key).is_none()) {
        difference(key, Some(value), None, &mut differences);
    }
    let what = called(new);
    if differences.is_empty() {
        format!("{what} changed")
    } else {
        format!("{what} changed ({})", differences.join(", "))
    }
}

/// What differs in a fact, in words. A hash tells people nothing.
fn difference(key: &str, old: Option<&Value>, new: Option<&Value>, into: &mut Vec<String>) {
    if old == new || key == "hash" {
        return;
    }
    if let (Some(Value::Map(_)) | None, Some(Value::Map(_)) | None) = (old, new) {
        let of = |value: Option<&Value>| value.and_then(Value::as_map).cloned().unwrap_or_default();
        let (old, new) = (of(old), of(new));
        let gone: Vec<&Arc<str>> = old.iter().map(|(key, _)| key).filter(|key| new.get(key).is_none()).collect();
        for key in new.iter().map(|(key, _)| key).chain(gone) {
            difference(key, old.get(key), new.get(key), into);
        }
        return;
    }
    let shown = |value: Option<&Value>| match value {
        None => "not set".to_owned(),
        Some(Value::Str(text)) => format!("`{text}`"),
        Some(other) => other.to_json(),
    };
    into.push(format!("{key} {} → {}", shown(old), shown(new)));
}

fn came(pin: &Pin) -> String {
    let name = &pin.name;
    match pin.kind {
        Kind::Scoring => format!("the judged scorer `{name}` is new"),
        Kind::Simulator => format!("`{name}` has a simulated user now"),
        Kind::Model => format!("the role `{name}` is pinned now, since a score depends on it"),
        Kind::Persona | Kind::Library => format!("{} is new", called(pin)),
        Kind::Tool => format!("the tool `{name}` is new"),
        _ => format!("{} was not there", called(pin)),
    }
}

fn went(pin: &Pin) -> String {
    let name = &pin.name;
    match pin.kind {
        Kind::Scoring => format!("the judged scorer `{name}` is gone"),
        Kind::Simulator => format!("`{name}` has no simulated user any more"),
        Kind::Model => format!("no score depends on the role `{name}` any more"),
        Kind::Tool => format!("the tool `{name}` is gone"),
        _ => format!("{} is gone", called(pin)),
    }
}
