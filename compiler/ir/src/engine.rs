//! Rendering templates: the one minijinja environment. No clock, no randomness, no files, no calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior, Value as Jinja, filters, tests};

use crate::eval::{MOST_TEXT, Scope};
use crate::template::{SyntaxError, Template, syntax_error};
use crate::value::Value;

/// The engine that renders, as logs name it.
pub const ENGINE: &str = "minijinja 3.1.0";

/// What one rendering may cost: enough for any prompt, too little to hang.
const FUEL: u64 = 4_000_000;

/// Compiled templates of one program.
pub struct Engine {
    environment: Environment<'static>,
    known: BTreeSet<Arc<str>>,
}

/// What a template reads; shared, because the engine keeps values only by owning them.
pub type SharedScope = Arc<dyn Scope + Send + Sync>;

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine without templates.
    pub fn new() -> Self {
        let mut env = Environment::empty();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_fuel(Some(FUEL));
        env.set_debug(true);
        // The name of a template is its text, whatever that ends in: nothing is escaped.
        env.set_auto_escape_callback(|_| AutoEscape::None);
        env.set_formatter(print_value);
        add_filters(&mut env);
        add_tests(&mut env);
        env.add_function("range", range);
        Self { environment: env, known: BTreeSet::new() }
    }

    /// Compiles a template, so that [`Engine::render`] finds it.
    pub fn add(&mut self, template: &Template) -> Result<(), SyntaxError> {
        crate::template::analyse(&template.source)?;
        if !template.is_literal() && self.known.insert(template.source.clone()) {
            let source = template.source.to_string();
            let added = self.environment.add_template_owned(source.clone(), source);
            added.map_err(|error| syntax_error(&error, &template.source))?;
        }
        Ok(())
    }

    /// Fills a template in. The message of a failure stands alone.
    pub fn render(&self, template: &Template, scope: &SharedScope) -> Result<Arc<str>, String> {
        if template.is_literal() {
            return Ok(template.source.clone());
        }
        let found =
            self.environment.get_template(&template.source).map_err(|error| failure(&error, &template.source))?;
        let root = Jinja::from_object(Root(Arc::clone(scope)));
        let text = found.render(root).map_err(|error| failure(&error, &template.source))?;
        if text.len() > MOST_TEXT {
            return Err(format!("a text of {} bytes; at most {MOST_TEXT} are possible", text.len()));
        }
        Ok(text.into())
    }
}

fn failure(error: &Error, source: &str) -> String {
    let SyntaxError { message, range, .. } = syntax_error(error, source);
    let place = source.get(range).filter(|text| !text.is_empty() && text.len() < 80);
    let place = place.map_or_else(String::new, |text| format!(" at `{}`", crate::text::excerpt(text, 60)));
    match error.kind() {
        ErrorKind::UndefinedError => format!("a value that is not defined{place}"),
        ErrorKind::OutOfFuel => format!("the template did not end within {FUEL} steps"),
        _ => format!("{message}{place}"),
    }
}

/// Texts, numbers and booleans print; anything else needs a filter, because a list printed by accident is a prompt
/// spoiled in silence.
fn print_value(out: &mut minijinja::Output, state: &mut minijinja::State, value: &Jinja) -> Result<(), Error> {
    match value.kind() {
        ValueKind::String | ValueKind::Bool | ValueKind::Number => minijinja::escape_formatter(out, state, value),
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::None => {
            Err(Error::new(ErrorKind::InvalidOperation, "null does not print; give a default: `x | default('')`"))
        }
        other => {
            Err(Error::new(ErrorKind::InvalidOperation, format!("a {other} does not print; use `join` or `json`")))
        }
    }
}

fn add_filters(env: &mut Environment<'static>) {
    env.add_filter("abs", filters::abs);
    env.add_filter("capitalize", filters::capitalize);
    env.add_filter("default", filters::default);
    env.add_filter("first", filters::first);
    env.add_filter("indent", filters::indent);
    env.add_filter("items", filters::items);
    env.add_filter("join", filters::join);
    env.add_filter("json", |value: Jinja| from_jinja(&value, 0).map(|value| value.to_json()));
    env.add_filter("last", filters::last);
    env.add_filter("length", filters::length);
    env.add_filter("list", filters::list);
    env.add_filter("lower", filters::lower);
    env.add_filter("max", filters::max);
    env.add_filter("min", filters::min);
    env.add_filter("replace", filters::replace);
    env.add_filter("reverse", filters::reverse);
    env.add_filter("round", filters::round);
    env.add_filter("sort", filters::sort);
    env.add_filter("split", filters::split);
    env.add_filter("title", filters::title);
    env.add_filter("trim", filters::trim);
    env.add_filter("unique", filters::unique);
    env.add_filter("upper", filters::upper);
}

fn add_tests(env: &mut Environment<'static>) {
    env.add_test("defined", tests::is_defined);
    env.add_test("undefined", tests::is_undefined);
    env.add_test("none", tests::is_none);
    env.add_test("string", tests::is_string);
    env.add_test("number", tests::is_number);
    env.add_test("sequence", tests::is_sequence);
    env.add_test("mapping", tests::is_mapping);
    env.add_test("odd", tests::is_odd);
    env.add_test("even", tests::is_even);
}

fn range(a: i64, b: Option<i64>) -> Result<Vec<i64>, Error> {
    let (from, to) = b.map_or((0, a), |b| (a, b));
    if to.saturating_sub(from) > 10_000 {
        return Err(Error::new(ErrorKind::InvalidOperation, "`range` of more than 10000 numbers"));
    }
    Ok((from..to).collect())
}

/// The names in scope, looked up when they are asked for.
struct Root(SharedScope);

impl std::fmt::Debug for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("scope")
    }
}

impl Object for Root {
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Jinja> {
        // A missing value is a null field or no field: both are "not defined" to a template.
        self.0.get(key).filter(|value| *value != Value::Null).map(to_jinja)
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        key.as_str().and_then(|key| self.get_value_by_str(key))
    }
}

fn to_jinja(value: Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(b) => Jinja::from(b),
        Value::Int(n) => Jinja::from(n),
        Value::Float(x) => Jinja::from(x),
        Value::Str(text) => Jinja::from(text),
        Value::List(items) => Jinja::from_object(List(items)),
        Value::Map(map) => Jinja::from_object(Record(map)),
    }
}

#[derive(Debug)]
struct List(Arc<Vec<Value>>);

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.0.get(key.as_usize()?).cloned().map(to_jinja)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

#[derive(Debug)]
struct Record(Arc<crate::value::Map>);

impl Object for Record {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.0.get(key.as_str()?).filter(|value| **value != Value::Null).cloned().map(to_jinja)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.iter().map(|(key, _)| Jinja::from(key.clone())).collect())
    }
}

/// The other way, for `json`: depth and size are what a row or a template can make.
fn from_jinja(value: &Jinja, depth: u8) -> Result<Value, Error> {
    let bad = |what: &str| Error::new(ErrorKind::InvalidOperation, format!("{what} has no JSON form"));
    if depth > 64 {
        return Err(bad("a value nested more than 64 deep"));
    }
    match value.kind() {
        ValueKind::None => Ok(Value::Null),
        ValueKind::Bool => Ok(Value::Bool(value.is_true())),
        ValueKind::Number if value.is_integer() => i64::try_from(value.clone()).map(Value::Int),
        ValueKind::Number => {
            f64::try_from(value.clone()).ok().and_then(Value::float).ok_or_else(|| bad("a number that is not finite"))
        }
        ValueKind::String => Ok(Value::str(value.as_str().unwrap_or_default())),
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter()?.map(|item| from_jinja(&item, depth + 1)).collect::<Result<Vec<_>, _>>().map(Value::list)
        }
        ValueKind::Map => {
            let mut pairs: Vec<(Arc<str>, Value)> = Vec::new();
            for key in value.try_iter()? {
                let name = key.as_str().ok_or_else(|| bad("a key that is not a string"))?.into();
                pairs.push((name, from_jinja(&value.get_item(&key)?, depth + 1)?));
            }
            Ok(Value::map(pairs))
        }
        _ => Err(bad("an undefined value")),
    }
}

#[cfg(test)]
mod tests_ {
    use super::*;
    use crate::message::Conversation;

    struct Fixed(Value, Conversation);

    impl Scope for Fixed {
        fn get(&self, name: &str) -> Option<Value> {
            self.0.get(name).cloned()
        }
        fn conversation(&self) -> &Conversation {
            &self.1
        }
    }

    fn render(source: &str) -> Result<String, String> {
        let row = r#"{"plan":"Pro","nil":null,"n":3,"x":2.5,"tags":["a","b"],"goal":{"id":"g","text":"{{ plan }} <b>"},"z":{"b":1,"a":2}}"#;
        let scope: SharedScope = Arc::new(Fixed(serde_json::from_str(row).unwrap(), Conversation::default()));
        let mut engine = Engine::new();
        let template = Template::new(source);
        engine.add(&template).map_err(|error| error.message)?;
        engine.render(&template, &scope).map(|text| text.to_string())
    }

    #[test]
    fn values_are_inserted_and_never_rendered_again() {
        assert_eq!(render("{{ goal.text }}|{{ plan }}|{{ n }}|{{ x }}").unwrap(), "{{ plan }} <b>|Pro|3|2.5");
        assert_eq!(render("{{ tags | join(', ') }} {{ z | json }}").unwrap(), r#"a, b {"b":1,"a":2}"#);
        assert_eq!(
            render("{% if nil is defined %}yes{% else %}no{% endif %}{% for t in tags %}-{{ t }}{% endfor %}").unwrap(),
            "no-a-b"
        );
    }

    #[test]
    fn failures_name_what_failed() {
        assert_eq!(render("a {{ nope }}").unwrap_err(), "a value that is not defined at `nope`");
        assert!(render("{{ tags }}").unwrap_err().contains("does not print"));
        assert!(
            render("{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}")
                .unwrap_err()
                .contains("did not end")
        );
    }
}
