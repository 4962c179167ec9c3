//! The schema of a value.

use std::sync::Arc;

use aigo_ir::value::Value;

use super::{Printer, Wanted, list, object, text};
use crate::shape::{Construct, Form, Grammar, Keys, NAME, Names, ROLES, Required, VARIABLE};

/// Whatever YAML takes as text where it is to be rendered or computed.
const SCALARS: [&str; 3] = ["string", "number", "boolean"];

impl Printer<'_> {
    /// The schema of a form; `what` is what messages call the value.
    pub(super) fn form(&mut self, form: &'static Form, what: &str) -> Value {
        match form {
            Form::Template | Form::Expression | Form::Scalar => {
                typed(&SCALARS, format!("{what} must be {}", said(form)))
            }
            Form::Text | Form::TextTemplate => typed(&["string"], format!("{what} must be {}", said(form))),
            Form::Name(names) => self.name(*names, what),
            Form::Word(words) => object([("enum", list(words.iter().map(|word| text(*word))))]),
            Form::Like(grammar) | Form::Rendered(grammar) => like(grammar, &["string"], what),
            Form::LikeOrWhole(grammar) => like(grammar, &["string", "integer"], what),
            Form::Whole(least, most) if least == most => {
                object([("const", Value::Int(*least)), ("errorMessage", text(format!("{what} must be {least}")))])
            }
            Form::Whole(..) | Form::Number(..) | Form::Share => number(form, what),
            Form::Boolean => typed(&["boolean"], format!("{what} must be {}", said(form))),
            Form::True => {
                object([("const", Value::Bool(true)), ("errorMessage", text(format!("{what} is true, or not there")))])
            }
            Form::Map(construct) => self.map(Wanted::Map(construct, &[], construct.name)),
            Form::Part(narrow) => self.map((*narrow).into()),
            Form::Shared(shared) => {
                let mut schema = self.outside(&shared.form, what);
                schema.push(("allOf", list([self.reference(Wanted::Form(shared))])));
                Value::map(schema)
            }
            Form::Named(keys, value) => self.named(*keys, value, what),
            Form::List(least, item) => self.list(*least, item, what),
            Form::Either(forms) if forms.iter().any(|form| matches!(form, Form::Any)) => object([]),
            Form::Either(forms) => self.either(form, forms, what),
            Form::Nothing => typed(&["null"], format!("{what} must be {}", said(form))),
            Form::Any => object([]),
            Form::Mentions(_, inner) => {
                let examples = self.examples(form);
                let schema = self.form(inner, what);
                if examples.is_empty() { schema } else { with(schema, "examples", Value::list(examples)) }
            }
        }
    }

    fn name(&self, names: Names, what: &str) -> Value {
        let known = self.known.map(|known| known.names(names)).unwrap_or_default();
        // A label, a scorer or a persona may come from elsewhere; these must be there.
        let closed = matches!(names, Names::Role | Names::DefinedScorer | Names::DefinedSolvers | Names::Tool);
        // Only of scorers a version is asked for.
        let versioned = names == Names::DefinedScorer;
        if closed && !known.is_empty() {
            let names = object([("enum", list(known.iter().map(|name| text(name.as_str()))))]);
            let version = || object([("type", text("string")), ("pattern", text("^[A-Za-z][A-Za-z0-9_]*@[0-9]+$"))]);
            return if versioned { object([("anyOf", list([names, version()]))]) } else { names };
        }
        let mut schema = vec![
            ("type", text("string")),
            ("pattern", text(if versioned { "^[A-Za-z][A-Za-z0-9_]*(@[0-9]+)?$" } else { NAME })),
            ("errorMessage", text(format!("{what} must be a name: a letter, then letters, digits and `_`"))),
        ];
        if !known.is_empty() {
            schema.push(("examples", list(known.iter().map(|name| text(name.as_str())))));
        }
        Value::map(schema)
    }

    /// The texts that an editor can offer for a form.
    fn examples(&self, form: &Form) -> Vec<Value> {
        let known = |names: Names| self.known.map(|known| known.names(names)).unwrap_or_default();
        match form {
            Form::Word(words) => words.iter().map(|word| text(*word)).collect(),
            Form::Like(grammar) | Form::Rendered(grammar) | Form::LikeOrWhole(grammar) => {
                grammar.examples.iter().map(|example| text(*example)).collect()
            }
            Form::Name(names) => known(*names).iter().map(|name| text(name.as_str())).collect(),
            // Where scorers are mentioned, a gate is written.
            Form::Mentions(Names::Scorer, _) => {
                known(Names::Scorer).iter().map(|name| text(format!("rate({name}) >= 0.9"))).collect()
            }
            Form::Either(forms) => forms.iter().flat_map(|form| self.examples(form)).collect(),
            Form::Mentions(names, _) => known(*names).iter().map(|name| text(name.as_str())).collect(),
            _ => Vec::new(),
        }
    }

    fn named(&mut self, keys: Keys, value: &'static Form, what: &str) -> Value {
        let mut schema = vec![("type", text("object")), ("errorMessage", text(format!("{what} must be a map")))];
        let pattern = match keys {
            Keys::Any => None,
            Keys::Names | Keys::Roles => Some((NAME, "a name begins with a letter and has letters, digits and `_`")),
            Keys::Variables => Some((VARIABLE.pattern, "the name of a variable has letters, digits and `_`")),
        };
        if let Some((pattern, message)) = pattern {
            let names = object([("pattern", text(pattern)), ("errorMessage", text(message))]);
            schema.push(("propertyNames", names));
        }
        if keys == Keys::Roles {
            let roles =
                ROLES.map(|(role, doc)| (role, with(self.form(value, &format!("`{role}`")), "description", text(doc))));
            schema.push(("properties", Value::map(roles)));
        }
        if !matches!(value, Form::Any) {
            schema.push(("additionalProperties", self.form(value, "each of its values")));
        }
        Value::map(schema)
    }

    fn list(&mut self, least: usize, item: &'static Form, what: &str) -> Value {
        let mut schema = vec![("type", text("array")), ("errorMessage", text(list_message(what)))];
        if !matches!(item, Form::Any) {
            schema.push(("items", self.form(item, &format!("an entry of {what}"))));
        }
        if least > 0 {
            schema.push(("minItems", Value::Int(i64::try_from(least).unwrap_or(1))));
        }
        Value::map(schema)
    }

    /// A map of a definition. Its kind is said here, where an editor looks when it writes a key.
    fn map(&mut self, wanted: Wanted) -> Value {
        let Wanted::Map(construct, without, name) = wanted else { return object([]) };
        let keys = construct.names().filter(|key| !without.contains(key)).take(4);
        let keys: Vec<String> = keys.map(|key| format!("`{key}`")).collect();
        object([
            ("type", text("object")),
            ("errorMessage", text(format!("{name} must be a map with keys such as {}", keys.join(", ")))),
            ("allOf", list([self.reference(wanted)])),
        ])
    }

    /// What is said of a form where it is referred to: its kinds, and what an editor offers.
    fn outside(&self, form: &Form, what: &str) -> Vec<(&'static str, Value)> {
        let message = match form {
            Form::List(..) => list_message(what),
            _ => format!("{what} must be {}", said(form)),
        };
        let mut schema = vec![("type", one_or_list(&types(form))), ("errorMessage", text(message))];
        let examples = self.examples(form);
        if !examples.is_empty() {
            schema.push(("examples", Value::list(examples)));
        }
        schema
    }

    /// A form without what is said of it [outside](Self::outside).
    pub(super) fn inside(&mut self, form: &'static Form, what: &str) -> Value {
        let Value::Map(map) = self.form(form, what) else { return object([]) };
        let mut map = (*map).clone();
        map.retain(|key, _| !["type", "errorMessage", "examples"].contains(&key));
        Value::Map(Arc::new(map))
    }

    /// Forms that are told apart by the kinds of values.
    fn either(&mut self, form: &'static Form, forms: &'static [Form], what: &str) -> Value {
        let mut rest = None;
        for form in forms.iter().rev() {
            let kinds = types(form);
            let mut condition = vec![("type", one_or_list(&kinds))];
            // Of two maps the first is a construct, known by its keys.
            if let (Form::Map(construct), true) = (form, forms.iter().filter(|form| types(form) == kinds).count() > 1) {
                condition.extend(told_by(construct));
            }
            let mut branch = vec![("if", Value::map(condition)), ("then", self.form(form, what))];
            branch.extend(rest.map(|rest| ("else", rest)));
            rest = Some(Value::map(branch));
        }
        let mut schema = self.outside(form, what);
        if let Some(Value::Map(map)) = rest {
            let pairs = map.iter().map(|(key, value)| (key.clone(), value.clone()));
            return Value::map(schema.drain(..).map(|(key, value)| (Arc::<str>::from(key), value)).chain(pairs));
        }
        Value::map(schema)
    }
}

fn list_message(what: &str) -> String {
    format!("{what} must be a list: begin each entry with `- `, or write `[one, two]`")
}

/// A map that has the construct's required keys, and no others than its own.
fn told_by(construct: &Construct) -> [(&'static str, Value); 2] {
    let required = construct.keys.iter().filter(|key| key.required == Required::Yes).map(|key| text(key.name));
    let own = construct.names().map(text);
    [("required", list(required)), ("propertyNames", object([("enum", list(own))]))]
}

/// A schema with one keyword more.
fn with(schema: Value, keyword: &str, value: Value) -> Value {
    let Value::Map(map) = schema else { return schema };
    let mut map = (*map).clone();
    map.set(keyword, value);
    Value::Map(Arc::new(map))
}

fn typed(types: &[&str], message: String) -> Value {
    object([("type", one_or_list(types)), ("errorMessage", text(message))])
}

fn one_or_list(types: &[&str]) -> Value {
    match types {
        [one] => text(*one),
        _ => list(types.iter().map(|one| text(*one))),
    }
}

fn like(grammar: &Grammar, types: &[&str], what: &str) -> Value {
    object([
        ("type", one_or_list(types)),
        ("pattern", text(grammar.pattern)),
        ("errorMessage", text(format!("{what} must be {}", grammar.name))),
        ("examples", list(grammar.examples.iter().map(|example| text(*example)))),
    ])
}

fn number(form: &Form, what: &str) -> Value {
    let mut schema = Vec::new();
    match form {
        Form::Whole(least, most) => {
            schema.push(("type", text("integer")));
            schema.extend((*least != i64::MIN).then_some(("minimum", Value::Int(*least))));
            schema.extend((*most != i64::MAX).then_some(("maximum", Value::Int(*most))));
        }
        Form::Number(least, most) => {
            schema.push(("type", text("number")));
            schema.extend((*least != f64::MIN).then(|| ("minimum", whole_or_float(*least))));
            schema.extend((*most != f64::MAX).then(|| ("maximum", whole_or_float(*most))));
        }
        _ => schema.extend([("type", text("number")), ("exclusiveMinimum", Value::Int(0)), ("maximum", Value::Int(1))]),
    }
    schema.push(("errorMessage", text(format!("{what} must be {}", said(form)))));
    Value::map(schema)
}

#[expect(clippy::cast_possible_truncation, reason = "whole, and small")]
fn whole_or_float(x: f64) -> Value {
    if x.fract() == 0.0 { Value::Int(x as i64) } else { Value::Float(x) }
}

/// The kinds of JSON that values of a form have.
fn types(form: &Form) -> Vec<&'static str> {
    match form {
        Form::Template | Form::Expression | Form::Scalar => SCALARS.to_vec(),
        Form::Text | Form::TextTemplate | Form::Name(_) | Form::Word(_) | Form::Like(_) | Form::Rendered(_) => {
            vec!["string"]
        }
        Form::LikeOrWhole(_) => vec!["string", "integer"],
        Form::Whole(..) => vec!["integer"],
        Form::Number(..) | Form::Share => vec!["number"],
        Form::Boolean | Form::True => vec!["boolean"],
        Form::Map(_) | Form::Part(_) | Form::Named(..) => vec!["object"],
        Form::List(..) => vec!["array"],
        Form::Either(forms) => {
            let mut kinds: Vec<&str> = forms.iter().flat_map(types).collect();
            kinds.dedup();
            kinds
        }
        Form::Nothing => vec!["null"],
        Form::Any => vec!["string", "number", "boolean", "object", "array", "null"],
        Form::Mentions(_, form) => types(form),
        Form::Shared(shared) => types(&shared.form),
    }
}

/// What values of a form are, for messages.
fn said(form: &Form) -> String {
    match form {
        Form::Template | Form::TextTemplate | Form::Scalar => "text".to_owned(),
        Form::Text => "text, in quotes where it looks like a number, a boolean or a map".to_owned(),
        Form::Expression => "an expression, in quotes where it begins with one or holds a colon".to_owned(),
        Form::Name(_) => "a name".to_owned(),
        Form::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Form::Like(grammar) | Form::Rendered(grammar) | Form::LikeOrWhole(grammar) => grammar.name.to_owned(),
        Form::Whole(least, most) => match (*least, *most) {
            (i64::MIN, _) => "a whole number".to_owned(),
            (least, i64::MAX) => format!("a whole number of at least {least}"),
            (least, most) => format!("a whole number from {least} to {most}"),
        },
        Form::Number(least, most) if *least != f64::MIN && *most != f64::MAX => {
            format!("a number from {least} to {most}")
        }
        Form::Number(least, _) if *least != f64::MIN => format!("a number of at least {least}"),
        Form::Number(..) => "a number".to_owned(),
        Form::Share => "a number above 0, at most 1".to_owned(),
        Form::Boolean => "`true` or `false`, without quotes".to_owned(),
        Form::True => "`true`".to_owned(),
        Form::Map(construct) => format!("a map with `{}`", construct.names().next().unwrap_or_default()),
        Form::Part(_) | Form::Named(..) => "a map".to_owned(),
        Form::List(..) => "a list".to_owned(),
        Form::Either(forms) => {
            let mut words: Vec<String> = forms.iter().map(said).collect();
            words.dedup();
            words.join(", or ")
        }
        Form::Nothing => "nothing".to_owned(),
        Form::Any => "anything".to_owned(),
        Form::Mentions(_, form) => said(form),
        Form::Shared(shared) => said(&shared.form),
    }
}
