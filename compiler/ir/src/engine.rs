//! Rendering templates: the one minijinja environment. No clock, no randomness, no files, no calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::value::{Object, Rest, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, UndefinedBehavior, Value as Jinja};

use crate::eval::{self, MOST_TEXT, Scope};
use crate::expr::{Function, Test};
use crate::template::{SyntaxError, Template, syntax_error, tree};
use crate::value::Value;

mod values;

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
        Self { environment: env, known: BTreeSet::new() }
    }

    /// Compiles a template, so that [`Engine::render`] finds it.
    pub fn add(&mut self, template: &Template) -> Result<(), SyntaxError> {
        tree(&template.source)?;
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
        // Numbers and booleans print as `string` and JSON write them, and not as Python does.
        ValueKind::Number | ValueKind::Bool => {
            let text = values::from_jinja(value, state)?.to_json();
            out.write_str(&text).map_err(Error::from)
        }
        ValueKind::String => minijinja::escape_formatter(out, state, value),
        ValueKind::Undefined => Err(Error::from(ErrorKind::UndefinedError)),
        ValueKind::None => {
            Err(Error::new(ErrorKind::InvalidOperation, "null does not print; give a default: `x | default('')`"))
        }
        other => {
            Err(Error::new(ErrorKind::InvalidOperation, format!("a {other} does not print; use `join` or `json`")))
        }
    }
}

/// The filters are the functions of the one table, computed as expressions compute them.
fn add_filters(env: &mut Environment<'static>) {
    for &function in Function::ALL.iter().filter(|function| function.is_filter()) {
        let call = move |state: &State, values: Rest<Jinja>| apply(function, state, &values);
        env.add_filter(function.name(), call);
        if function == Function::Range {
            env.add_function(function.name(), call);
        }
    }
}

fn apply(function: Function, state: &State, values: &[Jinja]) -> Result<Jinja, Error> {
    let refused = |message: String| Error::new(ErrorKind::InvalidOperation, message);
    if function == Function::Default {
        // What it does not give is not looked at.
        let there = values.iter().find(|value| !value.is_undefined() && !value.is_none());
        return Ok(there.or(values.last()).cloned().unwrap_or_default());
    }
    if values.iter().any(Jinja::is_undefined) {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    let values = values.iter().map(|value| values::from_jinja(value, state)).collect::<Result<Vec<_>, _>>()?;
    state.consume_fuel(values.iter().map(values::cost).sum())?;
    let made = eval::apply(function, &values).map_err(refused)?;
    state.consume_fuel(values::cost(&made))?;
    Ok(values::to_jinja(made))
}

/// Null counts as not defined, as it does in expressions.
fn add_tests(env: &mut Environment<'static>) {
    let there = |value: &Jinja| !value.is_undefined() && !value.is_none();
    env.add_test("defined", move |value: &Jinja| there(value));
    env.add_test("undefined", move |value: &Jinja| !there(value));
    env.add_test("none", move |value: &Jinja| !there(value));
    for &test in Test::ALL {
        env.add_test(test.name(), move |state: &State, value: &Jinja| -> Result<bool, Error> {
            Ok(!value.is_undefined() && eval::passes(test, &values::from_jinja(value, state)?))
        });
    }
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
        self.0.get(key).filter(|value| *value != Value::Null).map(values::to_jinja)
    }

    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        key.as_str().and_then(|key| self.get_value_by_str(key))
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
