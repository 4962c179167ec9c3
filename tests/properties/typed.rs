//! What the checker accepts does not fail for a reason of types: typed templates and expressions are made as text, some with a
//! mistake, over rows where what may be missing sometimes is. What is accepted is computed and rendered.

use std::sync::Arc;

use aigo_ir::engine::{Engine, SharedScope};
use aigo_ir::eval::{Scope, eval, text_of};
use aigo_ir::message::Conversation;
use aigo_ir::template::{Template, as_expression};
use aigo_ir::ty::Type;
use aigo_ir::typing::{Names, check_expression, check_template};
use aigo_ir::value::Value;
use proptest::prelude::*;

use super::dice::Dice;

/// The types that are made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Is {
    Text,
    Int,
    Number,
    Bool,
    Texts,
    Ints,
    Bools,
    Rows,
    Goal,
    /// Text or nothing: a path that may be missing.
    Maybe,
}

const ALL: [Is; 9] = [Is::Text, Is::Int, Is::Number, Is::Bool, Is::Texts, Is::Ints, Is::Bools, Is::Rows, Is::Goal];
const FIELDS: [(&str, Is); 12] = [
    ("plan", Is::Text),
    ("größe", Is::Int),
    ("seats", Is::Int),
    ("limit", Is::Number),
    ("vip", Is::Bool),
    ("names", Is::Texts),
    ("scores", Is::Ints),
    ("flags", Is::Bools),
    ("rows", Is::Rows),
    ("goal", Is::Goal),
    ("note", Is::Maybe),
    ("goal.hint", Is::Maybe),
];

fn names() -> Names {
    let mut names = Names::default();
    for (name, ty) in [
        ("plan", "string"),
        ("größe", "integer"),
        ("seats", "integer"),
        ("limit", "number"),
        ("vip", "boolean"),
        ("names", "list<string>"),
        ("scores", "list<integer>"),
        ("flags", "list<boolean>"),
        ("rows", "list<{\"n\": integer, \"word\": string}>"),
        ("goal", "{\"text\": string, \"hint\": string?}"),
        ("note", "string?"),
    ] {
        names.insert(name, Type::parse(ty).unwrap());
    }
    names
}

struct Row(Value, Conversation);

impl Scope for Row {
    fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).cloned()
    }
    fn conversation(&self) -> &Conversation {
        &self.1
    }
}

fn row(dice: &mut Dice) -> SharedScope {
    let text = |dice: &mut Dice| Value::str(dice.hostile());
    let row = |dice: &mut Dice| Value::map([("n", Value::Int(dice.below(9) as i64)), ("word", text(dice))]);
    let mut goal = vec![("text", text(dice))];
    let mut pairs = vec![
        ("plan", text(dice)),
        ("größe", Value::Int(dice.below(100) as i64 - 50)),
        ("seats", Value::Int(dice.below(9) as i64)),
        ("limit", if dice.one_in(2) { Value::Int(4) } else { Value::Float(2.5) }),
        ("vip", Value::Bool(dice.one_in(2))),
        ("names", Value::list((0..=dice.below(3)).map(|_| text(dice)).collect())),
        ("scores", Value::list((0..=dice.below(3)).map(|_| Value::Int(dice.below(9) as i64)).collect())),
        ("flags", Value::list((0..=dice.below(3)).map(|_| Value::Bool(dice.one_in(2))).collect())),
        ("rows", Value::list((0..=dice.below(3)).map(|_| row(dice)).collect())),
    ];
    match dice.below(3) {
        0 => pairs.push(("note", text(dice))),
        1 => pairs.push(("note", Value::Null)),
        _ => {}
    }
    match dice.below(3) {
        0 => goal.push(("hint", text(dice))),
        1 => goal.push(("hint", Value::Null)),
        _ => {}
    }
    pairs.push(("goal", Value::map(goal)));
    Arc::new(Row(Value::map(pairs), Conversation::default()))
}

/// Makes texts of a type.
struct Maker<'d> {
    dice: &'d mut Dice,
    known: Vec<(String, Is)>,
    made: usize,
    /// One part in so many is of a wrong type.
    mistakes: usize,
}

impl Maker<'_> {
    fn new(dice: &mut Dice, mistakes: usize) -> Maker<'_> {
        let known = FIELDS.iter().map(|(name, is)| ((*name).to_owned(), *is)).collect();
        Maker { dice, known, made: 0, mistakes }
    }

    fn name(&mut self, is: Is) -> Option<String> {
        let fitting: Vec<&(String, Is)> = self.known.iter().filter(|(_, known)| *known == is).collect();
        if fitting.is_empty() { None } else { Some(self.dice.pick(&fitting).0.clone()) }
    }

    fn expr(&mut self, is: Is, depth: usize) -> String {
        let is = if self.mistakes > 0 && self.dice.one_in(self.mistakes) { *self.dice.pick(&ALL) } else { is };
        if depth == 0 || self.dice.one_in(4) {
            return self.leaf(is);
        }
        if self.dice.one_in(8) {
            let test = self.expr(Is::Bool, depth - 1);
            return self.alike(|maker| {
                let (yes, no) = (maker.expr(is, depth - 1), maker.expr(is, depth - 1));
                format!("({yes} if {test} else {no})")
            });
        }
        match is {
            Is::Text => self.text(depth - 1),
            Is::Int => self.int(depth - 1),
            Is::Number => self.number(depth - 1),
            Is::Bool => self.bool(depth - 1),
            _ => self.list(is, depth - 1),
        }
    }

    /// Parts that have to be of one type, because of two types the checker only knows that it knows nothing.
    fn alike(&mut self, f: impl FnOnce(&mut Self) -> String) -> String {
        let mistakes = std::mem::take(&mut self.mistakes);
        let made = f(self);
        self.mistakes = mistakes;
        made
    }

    fn leaf(&mut self, is: Is) -> String {
        if let Some(name) = self.name(is)
            && !self.dice.one_in(3)
        {
            return name;
        }
        match is {
            Is::Text => (*self.dice.pick(&["'a'", "''", "'A b'", "goal.text", "rows[0].word", "'ß'"])).to_owned(),
            Is::Int => self.dice.below(20).to_string(),
            Is::Number => "0.5".to_owned(),
            Is::Bool => (*self.dice.pick(&["true", "false", "note is defined", "vip"])).to_owned(),
            Is::Texts => "['x', 'y']".to_owned(),
            Is::Ints => "[1, 2, seats]".to_owned(),
            Is::Bools => "[vip, true]".to_owned(),
            Is::Rows => "rows".to_owned(),
            Is::Goal => "goal".to_owned(),
            Is::Maybe => "note".to_owned(),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        let maybe = self.name(Is::Maybe).unwrap_or_else(|| "note".to_owned());
        match self.dice.below(14) {
            0 => format!(
                "({} | {})",
                self.expr(Is::Text, depth),
                self.dice.pick(&["upper", "lower", "trim", "title", "capitalize", "reverse", "indent(2)"])
            ),
            1 => format!("({} ~ {})", self.expr(Is::Text, depth), self.expr(Is::Int, depth)),
            2 => format!("({} ~ {})", self.expr(Is::Number, depth), self.expr(Is::Text, depth)),
            3 => format!("({} | join({}))", self.expr(Is::Texts, depth), self.expr(Is::Text, depth)),
            4 => format!("({} | {})", self.expr(Is::Texts, depth), self.dice.pick(&["first", "last", "min", "max"])),
            5 => self.alike(|maker| format!("({maybe} | default({}))", maker.expr(Is::Text, depth))),
            6 => self.alike(|maker| format!("({maybe} if {maybe} is defined else {})", maker.expr(Is::Text, depth))),
            7 => self
                .alike(|maker| format!("({} if {maybe} is none else ({maybe} | lower))", maker.expr(Is::Text, depth))),
            8 => {
                let subject = self.expr(Is::Text, depth);
                self.alike(|maker| {
                    format!("({subject} | capture('([a-z]+)') | default({}))", maker.expr(Is::Text, depth))
                })
            }
            9 => format!("({} | replace('a', {}))", self.expr(Is::Text, depth), self.expr(Is::Text, depth)),
            10 => format!("({} | string)", self.expr(Is::Bool, depth)),
            11 => {
                let is = *self.dice.pick(&ALL);
                format!("({} | json)", self.expr(is, depth))
            }
            12 => maybe,
            _ => format!("{}[0].word", self.expr(Is::Rows, depth)),
        }
    }

    fn int(&mut self, depth: usize) -> String {
        match self.dice.below(8) {
            0 => format!(
                "({} {} {})",
                self.expr(Is::Int, depth),
                self.dice.pick(&["+", "-", "*"]),
                self.expr(Is::Int, depth)
            ),
            1 => format!(
                "({} {} {})",
                self.expr(Is::Int, depth),
                self.dice.pick(&["//", "%"]),
                self.dice.pick(&["3", "-2", "seats"])
            ),
            2 => {
                let is = *self.dice.pick(&[Is::Text, Is::Texts, Is::Rows, Is::Goal]);
                format!("({} | length)", self.expr(is, depth))
            }
            3 => format!(
                "({} | {})",
                self.expr(Is::Ints, depth),
                self.dice.pick(&["sum", "min", "max", "first", "last"])
            ),
            4 => format!("(-{} | abs)", self.expr(Is::Int, depth)),
            5 => format!("({} | words)", self.expr(Is::Text, depth)),
            6 => format!("{}[0]", self.expr(Is::Ints, depth)),
            _ => "rows[0].n".to_owned(),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        match self.dice.below(4) {
            0 => format!("({} / {})", self.expr(Is::Int, depth), self.dice.pick(&["4", "limit", "seats"])),
            1 => format!("({} + {})", self.expr(Is::Number, depth), self.expr(Is::Int, depth)),
            2 => format!("({} | round({}))", self.expr(Is::Number, depth), self.dice.below(3)),
            _ => self.expr(Is::Int, depth),
        }
    }

    fn bool(&mut self, depth: usize) -> String {
        let maybe = self.name(Is::Maybe).unwrap_or_else(|| "note".to_owned());
        let is = *self.dice.pick(&[Is::Text, Is::Int, Is::Number]);
        match self.dice.below(12) {
            0 => format!("({} and {})", self.expr(Is::Bool, depth), self.expr(Is::Bool, depth)),
            1 => format!("({} or {})", self.expr(Is::Bool, depth), self.expr(Is::Bool, depth)),
            2 => format!("(not {})", self.expr(Is::Bool, depth)),
            3 => format!(
                "({} {} {})",
                self.expr(is, depth),
                self.dice.pick(&["<", "<=", ">", ">=", "==", "!="]),
                self.expr(is, depth)
            ),
            4 => {
                let is = *self.dice.pick(&ALL);
                format!("({} == {})", self.expr(is, depth), self.expr(is, depth))
            }
            5 => format!("({} in {})", self.expr(Is::Text, depth), self.expr(Is::Texts, depth)),
            6 => format!("({} not in {})", self.expr(Is::Text, depth), self.expr(Is::Text, depth)),
            7 => format!("({maybe} is defined and {maybe} == {})", self.expr(Is::Text, depth)),
            8 => format!("({maybe} is not defined or {maybe} != {})", self.expr(Is::Text, depth)),
            9 => format!("({} | {})", self.expr(Is::Bools, depth), self.dice.pick(&["any", "all", "first"])),
            10 => format!("({} | matches('[a-z]'))", self.expr(Is::Text, depth)),
            _ => format!("({} is {})", self.expr(Is::Int, depth), self.dice.pick(&["odd", "even"])),
        }
    }

    fn list(&mut self, is: Is, depth: usize) -> String {
        match (is, self.dice.below(3)) {
            (Is::Texts, 0) => {
                format!("({} | split({}))", self.expr(Is::Text, depth), self.dice.pick(&["", "','", "''"]))
            }
            (Is::Texts, 1) => {
                self.alike(|maker| format!("[{}, {}]", maker.expr(Is::Text, depth), maker.expr(Is::Text, depth)))
            }
            (Is::Ints, 0) => format!("range({})", self.expr(Is::Int, 0)),
            (Is::Ints, 1) => format!("[{}]", self.expr(Is::Int, depth)),
            (Is::Texts | Is::Ints, _) => {
                format!("({} | {})", self.expr(is, depth), self.dice.pick(&["sort", "unique", "reverse", "list"]))
            }
            (Is::Bools, 0) => {
                self.alike(|maker| format!("[{}, {}]", maker.expr(Is::Bool, depth), maker.expr(Is::Bool, depth)))
            }
            (Is::Rows, 0) => {
                format!("[{{'n': {}, 'word': {}}}]", self.expr(Is::Int, depth), self.expr(Is::Text, depth))
            }
            _ => self.leaf(is),
        }
    }

    fn body(&mut self, depth: usize, size: usize) -> String {
        (0..=self.dice.below(size)).map(|_| self.stmt(depth)).collect()
    }

    fn stmt(&mut self, depth: usize) -> String {
        let known = self.known.clone();
        let maybe = self.name(Is::Maybe).unwrap_or_else(|| "note".to_owned());
        let made = match self.dice.below(if depth == 0 { 3 } else { 9 }) {
            0 => "text ".to_owned(),
            1 | 2 => {
                let is = *self.dice.pick(&[Is::Text, Is::Int, Is::Number, Is::Bool]);
                format!("{{{{ {} }}}}", self.expr(is, 2))
            }
            3 => {
                let is = *self.dice.pick(&ALL);
                let value = self.expr(is, 2);
                self.made += 1;
                let name = if self.dice.one_in(4) { "plan".to_owned() } else { format!("v{}", self.made) };
                let set = format!("{{% set {name} = {value} %}}");
                self.known.retain(|(known, _)| *known != name);
                self.known.push((name, is));
                // What is set here is read by what comes behind, in the same body.
                return set + &self.stmt(depth - 1);
            }
            4 => {
                let (test, yes, no) = (self.expr(Is::Bool, 2), self.body(depth - 1, 2), self.body(depth - 1, 2));
                let second = self.expr(Is::Bool, 1);
                format!("{{% if {test} %}}{yes}{{% elif {second} %}}{no}{{% else %}}{yes}{{% endif %}}{no}")
            }
            5 => {
                let (is, item) = *self.dice.pick(&[(Is::Texts, Is::Text), (Is::Ints, Is::Int), (Is::Bools, Is::Bool)]);
                let list = self.expr(is, 1);
                self.made += 1;
                let name = format!("i{}", self.made);
                self.known.push((name.clone(), item));
                self.known.push(("loop.index".to_owned(), Is::Int));
                let filter = if self.dice.one_in(3) { " if vip or true" } else { "" };
                let body = self.body(depth - 1, 2);
                let end = self.dice.pick(&[
                    "",
                    "{% if loop.last %}{% break %}{% endif %}",
                    "{% if vip %}{% continue %}{% endif %}",
                ]);
                format!("{{% for {name} in {list}{filter} %}}{end}{body}{{% else %}}-{{% endfor %}}")
            }
            6 => format!("{{% if {maybe} is defined %}}{{{{ {maybe} }}}}{}{{% endif %}}", self.body(depth - 1, 2)),
            7 => format!("{{% if {maybe} is not defined %}}-{{% else %}}{{{{ {maybe} | upper }}}}{{% endif %}}"),
            _ => {
                self.made += 1;
                let (name, test, value) = (format!("c{}", self.made), self.expr(Is::Bool, 1), self.expr(Is::Text, 1));
                let ask = if self.dice.one_in(6) { String::new() } else { format!("{{% if {name} is defined %}}") };
                let end = if ask.is_empty() { "" } else { "{% endif %}" };
                format!("{{% if {test} %}}{{% set {name} = {value} %}}{{% endif %}}{ask}{{{{ {name} }}}}{end}")
            }
        };
        self.known = known;
        made
    }
}

/// What may happen to values whatever their types are.
fn is_of_values(fault: &str) -> bool {
    const ALLOWED: [&str; 11] = [
        "empty list",
        "division by zero",
        "out of range",
        "outside the range",
        "not finite",
        "not a finite",
        "at most",
        "more than",
        "did not end",
        "unable to calculate",
        "item 0 of a list of 0",
    ];
    ALLOWED.iter().any(|allowed| fault.contains(allowed))
        // An empty list has no first item.
        || (fault.contains("defined") && fault.contains("[0]"))
}

fn render(source: &str, scope: &SharedScope) -> Result<String, String> {
    let (mut engine, template) = (Engine::new(), Template::new(source));
    engine.add(&template).map_err(|error| format!("refused by the engine: {}", error.message))?;
    engine.render(&template, scope).map(|text| text.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_accepted_expression_has_a_value_of_its_type(seed: u64, depth in 1_usize..4) {
        let dice = &mut Dice::new(seed);
        let is = *dice.pick(&ALL);
        let text = Maker::new(dice, 40).expr(is, depth);
        let scope = row(dice);
        let checked = check_expression(&text, &names());
        if !checked.errors.is_empty() {
            return Ok(());
        }
        match eval(&checked.expr.unwrap(), &*scope) {
            Ok(value) => {
                prop_assert!(Type::of(&value).fits(&checked.ty), "`{}` is {}, not {}", text, value, checked.ty);
                // The same in a template prints what the expression gives.
                if let Ok(shown) = text_of(&value)
                    && check_template(&format!("{{{{ {text} }}}}"), &names()).errors.is_empty()
                {
                    match render(&format!("{{{{ {text} }}}}"), &scope) {
                        Ok(rendered) => prop_assert_eq!(rendered, shown, "`{}`", text),
                        Err(fault) => prop_assert!(is_of_values(&fault), "`{}` is {}, and rendered: {}", text, value, fault),
                    }
                }
            }
            Err(fault) => prop_assert!(is_of_values(&fault.message), "`{}`: {}", text, fault.message),
        }
    }

    #[test]
    fn an_accepted_template_renders(seed: u64, depth in 1_usize..4) {
        let dice = &mut Dice::new(seed);
        let source = Maker::new(dice, 60).body(depth, 4);
        let scope = row(dice);
        let checked = check_template(&source, &names());
        prop_assert_eq!(&Template::new(source.as_str()).names(), &checked.names);
        for error in &checked.errors {
            prop_assert!(source.get(error.range.clone()).is_some() && error.help.is_some(), "{:?} of {}", error, source);
        }
        if !checked.errors.is_empty() {
            return Ok(());
        }
        let rendered = render(&source, &scope);
        if let Err(fault) = &rendered {
            // Such an item may be `set` far from where it is used.
            let is_of_an_item = fault.contains("defined") && source.contains("[0]");
            prop_assert!(is_of_values(fault) || is_of_an_item, "{}: {}", source, fault);
        }
        if let (Ok(text), Some(expr)) = (rendered, as_expression(&source).unwrap()) {
            let value = eval(&expr, &*scope).map_err(|fault| TestCaseError::fail(format!("{source}: {}", fault.message)))?;
            prop_assert_eq!(text_of(&value), Ok(text), "{}", source);
        }
    }
}

/// A generator whose texts are never accepted, or never refused, would prove nothing.
#[test]
fn most_typed_texts_are_accepted_and_most_with_mistakes_refused() {
    let count = |mistakes: usize| {
        let accepted = |seed: &u64| {
            let source = Maker::new(&mut Dice::new(*seed), mistakes).body(3, 4);
            check_template(&source, &names()).errors.is_empty()
        };
        (0..1000).filter(accepted).count()
    };
    let (without, with) = (count(0), count(4));
    assert!(without > 300 && with < without / 2, "{without} and {with} of 1000 accepted");
}
