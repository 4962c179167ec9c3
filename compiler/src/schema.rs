//! The JSON schema (draft-07) of tasks and files of definitions, printed from the [table of keys](crate::shape).
//!
//! What the compiler accepts, the schema accepts; it does not know what only other stages can know. In a map with a verb the
//! verb is asked for first, so that what an editor says is about that verb, and never that nothing of many matched.

mod forms;

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::value::{Map, Value};

use crate::known::Known;
use crate::shape::{Construct, FIRST, Key, LIBRARY, Narrow, Part, Required, Shared, TASK};

/// The schema; one that knows a task's own names where they are given. A value with its keys in the order in which people read.
pub fn schema(known: Option<&Known>) -> Value {
    let mut printer = Printer { known, made: BTreeSet::new(), waiting: Vec::new(), definitions: Vec::new() };
    let task = printer.reference(Wanted::Map(&TASK, &[], TASK.name));
    let library = printer.reference(Wanted::Map(&LIBRARY, &[], LIBRARY.name));
    while let Some(wanted) = printer.waiting.pop() {
        printer.define(wanted);
    }
    let has = |key: &str| object([("required", list([text(key)]))]);
    let only_task = TASK.keys.iter().filter(|key| LIBRARY.key(key.name).is_none() && is_telling(key.name));
    let of_task = only_task.map(|key| has(key.name));
    let defines =
        object([("required", list([text("define")])), ("not", object([("anyOf", Value::list(of_task.collect()))]))]);
    let mut definitions = printer.definitions;
    definitions.sort_by(|one, other| one.0.cmp(&other.0));
    // No title: editors would show it over every hover.
    let about = match known {
        None => "The tasks of aigo, as `aigo schema` prints them; `aigo schema TASK` also knows the names of a task.",
        Some(_) => "One task of aigo, with its names as they were when `aigo schema TASK` printed this.",
    };
    object([
        ("$schema", text("http://json-schema.org/draft-07/schema#")),
        ("$comment", text(about)),
        ("type", text("object")),
        ("errorMessage", text("a task must be a map with keys such as `aigo`, `name`, `models`, `dataset`")),
        ("if", defines),
        ("then", library),
        ("else", task),
        ("definitions", Value::map(definitions)),
    ])
}

/// The schema as people read it: what fits on a line stands on one.
pub fn print(schema: &Value) -> String {
    aigo_ir::print::pretty(schema, WIDTH)
}

/// How long a line may be.
const WIDTH: usize = 140;

/// Whether a file with this key is a task, and none of definitions.
fn is_telling(key: &str) -> bool {
    ["name", "models", "dataset", "scenarios", "solvers", "scorers"].contains(&key)
}

/// A definition of the schema.
#[derive(Clone, Copy)]
enum Wanted {
    /// A map of a construct without some keys, and what messages call it.
    Map(&'static Construct, &'static [&'static str], &'static str),
    /// A form with a name.
    Form(&'static Shared),
}

impl Wanted {
    const fn name(self) -> &'static str {
        match self {
            Self::Map(_, _, name) => name,
            Self::Form(shared) => shared.name,
        }
    }

    /// Its name as a key: `a call of teardown` is `call_of_teardown`.
    fn slug(self) -> String {
        let name = self.name().replace('`', "");
        let articles = ["a ", "an ", "the "];
        let bare = articles.iter().find_map(|article| name.strip_prefix(article)).unwrap_or(&name);
        bare.replace(' ', "_")
    }
}

impl From<&'static Narrow> for Wanted {
    fn from(narrow: &'static Narrow) -> Self {
        Self::Map(narrow.of, narrow.without, narrow.name)
    }
}

/// Prints definitions until none is waited for.
struct Printer<'k> {
    known: Option<&'k Known>,
    made: BTreeSet<String>,
    waiting: Vec<Wanted>,
    definitions: Vec<(String, Value)>,
}

impl Printer<'_> {
    /// A reference to a definition, which is printed if it has not been.
    fn reference(&mut self, wanted: Wanted) -> Value {
        let slug = wanted.slug();
        let reference = object([("$ref", text(format!("#/definitions/{slug}")))]);
        if self.made.insert(slug) {
            self.waiting.push(wanted);
        }
        reference
    }

    fn define(&mut self, wanted: Wanted) {
        let value = match wanted {
            Wanted::Form(shared) => self.inside(&shared.form, shared.name),
            Wanted::Map(construct, without, name) => {
                let keys: Vec<&'static Key> =
                    construct.keys.iter().filter(|key| !without.contains(&key.name)).collect();
                if keys.iter().any(|key| key.part == Part::Verb) {
                    self.with_verb(&keys, name, &wanted.slug())
                } else {
                    self.without_verb(&keys)
                }
            }
        };
        self.definitions.push((wanted.slug(), value));
    }

    /// A map without verbs: its keys, side by side.
    fn without_verb(&mut self, keys: &[&'static Key]) -> Value {
        let required = keys.iter().filter(|key| key.required == Required::Yes).map(|key| text(key.name)).collect();
        let properties: Vec<(&str, Value)> = keys.iter().map(|&key| (key.name, self.key(key))).collect();
        let mut schema = vec![
            ("properties", Value::map(properties)),
            ("required", Value::list(required)),
            ("additionalProperties", Value::Bool(false)),
        ];
        schema.retain(|(_, value)| !matches!(value, Value::List(items) if items.is_empty()));
        for key in keys {
            if let Required::Unless(other) = key.required {
                schema.extend([
                    ("if", object([("not", object([("required", list([text(other)]))]))])),
                    ("then", object([("required", list([text(key.name)]))])),
                ]);
            }
        }
        Value::map(schema)
    }

    /// A map with one verb: each verb brings the keys that go with it. The last branch is for a map that has none yet.
    fn with_verb(&mut self, keys: &[&'static Key], name: &str, slug: &str) -> Value {
        let verbs = || keys.iter().filter(|key| key.part == Part::Verb);
        let mut own = Vec::new();
        for &key in keys {
            let value = self.key(key);
            self.definitions.push((format!("{slug}.{}", key.name), value));
            own.push((key.name, object([("$ref", text(format!("#/definitions/{slug}.{}", key.name)))])));
        }
        let of = |wanted: &dyn Fn(&Key) -> bool| -> Vec<(&'static str, Value)> {
            keys.iter().zip(&own).filter(|&(&key, _)| wanted(key)).map(|(_, own)| own.clone()).collect()
        };
        let words: Vec<String> = verbs().map(|key| format!("`{}`", key.name)).collect();
        let missing = object([
            ("required", list([text(verbs().next().map_or("", |key| key.name))])),
            ("errorMessage", text(format!("{name} needs one verb of {}", words.join(", ")))),
        ]);
        let known = keys.iter().map(|key| text(key.name)).collect();
        let mut rest = object([
            ("properties", Value::map(of(&|_| true))),
            ("additionalProperties", Value::Bool(false)),
            ("if", object([("propertyNames", object([("enum", Value::list(known))]))])),
            ("then", missing),
        ]);
        let alone: Vec<&&Key> = keys.iter().filter(|key| key.stands_alone()).collect();
        if !alone.is_empty() {
            let has = alone.iter().map(|key| object([("required", list([text(key.name)]))])).collect();
            let stands = of(&|key| key.stands_alone() || (key.part == Part::Sibling && key.beside.is_empty()));
            rest = chosen(object([("anyOf", Value::list(has))]), closed(stands, &[]), rest);
        }
        for verb in verbs().rev() {
            let goes = |key: &Key| key.name == verb.name || (key.part != Part::Verb && key.goes_with(verb.name));
            let then = of_verb(closed(of(&goes), verb.needs), verb, keys, name, &goes);
            rest = chosen(object([("required", list([text(verb.name)]))]), then, rest);
        }
        for verb in keys.iter().filter(|key| key.part == Part::VerbAsMap) {
            let is_map = object([(verb.name, object([("type", text("object"))]))]);
            let condition = object([("required", list([text(verb.name)])), ("properties", is_map)]);
            let goes = |key: &Key| key.name == verb.name || (key.part == Part::Sibling && key.goes_with(verb.name));
            rest = chosen(condition, of_verb(closed(of(&goes), verb.needs), verb, keys, name, &goes), rest);
        }
        // What stands here is no map yet where an editor asks what could stand here.
        object([("if", object([("type", text("object"))])), ("then", rest)])
    }

    /// The value of a key, with what it means.
    fn key(&mut self, key: &'static Key) -> Value {
        let value = self.form(&key.form, &format!("`{}`", key.name));
        let mut doc = key.doc.to_owned();
        if key.since != FIRST {
            doc = format!("{doc} Since {}.", key.since);
        }
        let mut schema = vec![("description", text(doc.replace('`', ""))), ("markdownDescription", text(doc))];
        schema.extend(key.default.map(|default| ("default", literal(default))));
        let Value::Map(own) = value else { return Value::map(schema) };
        let own = own.iter().map(|(key, value)| (key.clone(), value.clone())).collect::<Vec<_>>();
        Value::map(schema.into_iter().map(|(key, value)| (Arc::<str>::from(key), value)).chain(own))
    }
}

/// A map with these keys and no others.
fn closed(properties: Vec<(&str, Value)>, required: &[&str]) -> Value {
    let mut schema = vec![("properties", Value::map(properties)), ("additionalProperties", Value::Bool(false))];
    if !required.is_empty() {
        schema.push(("required", list(required.iter().map(|key| text(*key)))));
    }
    Value::map(schema)
}

/// The map of a verb, in which another verb, and what goes with others only, are told as what they are. Keys that nobody knows
/// are left to `additionalProperties`.
fn of_verb(own: Value, verb: &Key, keys: &[&Key], name: &str, goes: &dyn Fn(&Key) -> bool) -> Value {
    let Value::Map(own) = own else { return own };
    let strange = |is_verb: bool| {
        let keys = keys.iter().filter(|key| !goes(key) && (key.part == Part::Verb) == is_verb);
        keys.map(|key| key.name).collect::<Vec<_>>().join("|")
    };
    let told = [
        (strange(true), format!("{name} has one verb, and this has `{}` too: make it two", verb.name)),
        (strange(false), format!("this key does not go with `{}`", verb.name)),
    ];
    let (mut known, mut all) = (Map::default(), Vec::new());
    for (names, message) in told.into_iter().filter(|(names, _)| !names.is_empty()) {
        let pattern = format!("^({names})$");
        let refused = Value::map([(pattern.as_str(), Value::Bool(false))]);
        all.push(object([("patternProperties", refused), ("errorMessage", text(message))]));
        known.set(pattern, Value::Bool(true));
    }
    all.extend(keys.iter().filter(|key| goes(key)).filter_map(|key| where_it_begins(key)));
    let mut own = (*own).clone();
    if !known.is_empty() {
        own.set("patternProperties", Value::Map(Arc::new(known)));
    }
    if !all.is_empty() {
        own.set("allOf", Value::list(all));
    }
    Value::Map(Arc::new(own))
}

/// That a key must be there where another's text begins so.
fn where_it_begins(key: &Key) -> Option<Value> {
    let Required::Where(other, prefix) = key.required else { return None };
    let begins = object([("pattern", text(format!("^{prefix}")))]);
    let condition = object([("required", list([text(other)])), ("properties", object([(other, begins)]))]);
    let then = object([
        ("required", list([text(key.name)])),
        ("errorMessage", text(format!("`{prefix}` needs a `{}`", key.name))),
    ]);
    Some(object([("if", condition), ("then", then)]))
}

fn chosen(condition: Value, then: Value, otherwise: Value) -> Value {
    object([("if", condition), ("then", then), ("else", otherwise)])
}

/// What a default is in JSON.
fn literal(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => match (text.parse().ok(), text.parse().ok().and_then(Value::float)) {
            (Some(n), _) => Value::Int(n),
            (None, Some(x)) => x,
            (None, None) => Value::str(text),
        },
    }
}

fn object<const N: usize>(pairs: [(&str, Value); N]) -> Value {
    Value::map(pairs)
}

fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::list(items.into_iter().collect())
}

fn text(text: impl Into<Arc<str>>) -> Value {
    Value::str(text)
}
