//! Expressions: they read back as they are written, and have a value or a fault, never a panic.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aigo_ir::eval::{Scope, eval};
use aigo_ir::expr::{Comparison, Expr, Function, Kind, Operator, Test};
use aigo_ir::expr_parse::parse;
use aigo_ir::message::{ASSISTANT, Conversation, MessageKind, USER};
use aigo_ir::typing::{self, Names};
use aigo_ir::value::Value;
use proptest::prelude::*;

use super::dice::Dice;

const NAMES: [&str; 8] = ["turn", "last", "messages", "plan", "n", "items", "a1", "_slot"];
const ATTRIBUTES: [&str; 5] = ["text", "turn", "author", "id", "keys"];
const INTS: [i64; 8] = [0, 1, -1, 2, 7, i64::MAX, i64::MIN, -1_000_000_007];
const FLOATS: [f64; 9] = [0.0, -0.0, 0.1, 1.0, -2.5, 1e300, -1e-300, 5e-324, 123_456_789.123_456_79];

/// A constant.
fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth == 0 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => Value::Bool(dice.one_in(2)),
        2 => Value::Int(*dice.pick(&INTS)),
        3 => Value::float(*dice.pick(&FLOATS)).unwrap(),
        4 => Value::str(dice.hostile()),
        5 => Value::list((0..dice.below(4)).map(|_| value(dice, depth - 1)).collect()),
        _ => {
            let keys: BTreeSet<String> = (0..dice.below(4)).map(|_| dice.hostile()).collect();
            Value::map(keys.into_iter().map(|key| (key, value(dice, depth - 1))).collect::<Vec<_>>())
        }
    }
}

/// Any expression, well typed or not. Lists, maps and signs are made as the parser makes them: of constants, constants.
fn expr(dice: &mut Dice, depth: usize) -> Expr {
    if depth == 0 {
        let name = *dice.pick(&NAMES);
        return if dice.one_in(2) { Expr::name(name) } else { Expr::literal(value(dice, 1)) };
    }
    let boxed = |dice: &mut Dice| Box::new(expr(dice, depth - 1));
    let kind = match dice.below(16) {
        0 => Kind::Attribute(boxed(dice), (*dice.pick(&ATTRIBUTES)).into()),
        1 => Kind::Item(boxed(dice), boxed(dice)),
        2 => Kind::Not(boxed(dice)),
        3 => return Expr::minus(expr(dice, depth - 1)),
        4 => Kind::And(boxed(dice), boxed(dice)),
        5 => Kind::Or(boxed(dice), boxed(dice)),
        6 => {
            use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
            let op = *dice.pick(&[Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]);
            Kind::Compare(op, boxed(dice), boxed(dice))
        }
        7 => Kind::In(boxed(dice), boxed(dice)),
        8 | 9 => {
            use Operator::{Add, Concat, Divide, FloorDivide, Multiply, Remainder, Subtract};
            let op = *dice.pick(&[Add, Subtract, Multiply, Divide, FloorDivide, Remainder, Concat]);
            Kind::Arithmetic(op, boxed(dice), boxed(dice))
        }
        10 => Kind::Defined(boxed(dice)),
        11 => Kind::If(boxed(dice), boxed(dice), boxed(dice)),
        12 => {
            let function = *dice.pick(Function::ALL);
            let (least, most) = (*function.arity().start(), *function.arity().end());
            let count = least + dice.below(most - least + 1);
            Kind::Call(function, (0..count).map(|_| expr(dice, depth - 1)).collect())
        }
        13 => Kind::Is(*dice.pick(Test::ALL), boxed(dice)),
        14 => return Expr::list((0..dice.below(4)).map(|_| expr(dice, depth - 1)).collect()),
        _ => {
            let keys: BTreeSet<String> = (0..dice.below(3)).map(|_| dice.hostile()).collect();
            let pairs = keys.into_iter().map(|key| (Arc::from(key), expr(dice, depth - 1)));
            return Expr::map(pairs.collect());
        }
    };
    Expr::new(kind)
}

struct Somewhere {
    names: BTreeMap<&'static str, Value>,
    conversation: Conversation,
}

impl Scope for Somewhere {
    fn get(&self, name: &str) -> Option<Value> {
        self.names.get(name).cloned()
    }

    fn conversation(&self) -> &Conversation {
        &self.conversation
    }
}

fn somewhere(dice: &mut Dice) -> Somewhere {
    let mut conversation = Conversation::default();
    for _ in 0..dice.below(6) {
        let author = *dice.pick(&[USER, ASSISTANT, "other"]);
        conversation.push(author.into(), MessageKind::Say, dice.hostile().into());
    }
    let mut names = BTreeMap::new();
    for name in NAMES {
        if !dice.one_in(6) {
            names.insert(name, value(dice, 2));
        }
    }
    Somewhere { names, conversation }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn they_read_back_as_they_are_written(seed: u64, depth in 0_usize..5) {
        let made = expr(&mut Dice::new(seed), depth);
        let text = made.to_string();
        match parse(&text) {
            Ok(read) => prop_assert_eq!(read, made, "{}", text),
            // The bounds on what is read are the only reason to refuse.
            Err(error) => prop_assert!(error.message.contains("more than"), "{}: {}", error.message, text),
        }
    }

    #[test]
    fn they_have_a_value_or_a_fault_and_well_typed_ones_the_same_value_twice(seed: u64, depth in 0_usize..5) {
        let dice = &mut Dice::new(seed);
        let (made, scope) = (expr(dice, depth), somewhere(dice));
        let first = eval(&made, &scope);
        prop_assert_eq!(&first, &eval(&made, &scope));
        if let Err(fault) = &first {
            prop_assert!(!fault.message.is_empty());
        }
        // Values are data: what comes out can be written down and read again.
        if let Ok(value) = first {
            prop_assert_eq!(serde_json::from_str::<Value>(&value.to_json()).unwrap(), value);
        }
        let mut errors = Vec::new();
        let _ = typing::check(&made, &Names::always(), &mut errors);
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_place_in_it(text in "\\PC{0,40}|[-+*/%~()\\[\\]{}'\".,:a-z0-9 ]{0,60}") {
        match parse(&text) {
            Ok(read) => {
                let again = read.to_string();
                prop_assert_eq!(parse(&again).unwrap(), read, "{} -> {}", text, again);
            }
            Err(error) => prop_assert!(text.get(error.range.clone()).is_some(), "{:?} of {:?}", error.range, text),
        }
    }
}

/// A generator that makes only simple things would prove nothing.
#[test]
fn the_generator_makes_every_kind_and_most_can_be_read() {
    let (mut kinds, mut read, mut values) = (BTreeSet::new(), 0, 0);
    for seed in 0..2000 {
        let dice = &mut Dice::new(seed);
        let made = expr(dice, 3);
        made.visit(&mut |part| {
            kinds.insert(format!("{:?}", part.kind).split(['(', ' ']).next().unwrap_or_default().to_owned());
        });
        read += usize::from(parse(&made.to_string()).is_ok());
        values += usize::from(eval(&made, &somewhere(dice)).is_ok());
    }
    assert!(kinds.len() >= 17, "{kinds:?}");
    assert!(read > 1900 && values > 100, "{read} read, {values} have a value");
}
