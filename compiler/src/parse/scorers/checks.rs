//! Checks.

use aigo_ir::check::{Between, CallMode, CheckKind, Likeness, Measure, Repeated, schema_errors};
use aigo_ir::span::{Span, Spanned};
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::super::{Fields, Reader};
use crate::ast::{CallPattern, Check, Operand, Test, Turns};
use crate::catalog;
use crate::shape;

/// From where on a text counts as said again.
const SAID_AGAIN: f64 = 0.9;

impl Reader<'_> {
    pub(in crate::parse) fn check(&mut self, node: NodeRef<'_>) -> Option<Check> {
        let fields = self.map(node, &shape::CHECK)?;
        let (verb, value) = self.check_verb(&fields)?;
        let (word, negated) = verb.value.strip_prefix("not_").map_or((verb.value, false), |word| (word, true));
        let test = self.test(word, value, &fields)?;
        let who = fields.get("who").and_then(|node| self.name(node, "who"));
        let beside = fields.get("turns").filter(|_| verb.value != "turns");
        let turns = beside.and_then(|node| self.turns(node));
        if beside.is_some() && fields.is_idle("turns", verb.value) {
            let message = format!("`turns` chooses texts, and `{}` is about the whole conversation", verb.value);
            self.report(catalog::BAD_VALUE.at(fields.key_span("turns"), message).help("remove it"));
        }
        if fields.is_idle("mode", verb.value) {
            let message = format!("`mode` says how calls are compared, and `{}` is about none", verb.value);
            self.report(catalog::BAD_VALUE.at(fields.key_span("mode"), message).help("remove it"));
        }
        Some(Check { test, negated, who, turns: turns.unwrap_or(Turns::Every), span: verb.span })
    }

    /// The verb of a check. `turns` is one where its value is a map; else it stands beside one.
    fn check_verb<'t>(&mut self, fields: &Fields<'t>) -> Option<(Spanned<&'static str>, NodeRef<'t>)> {
        let turns = fields.get("turns").filter(|node| matches!(node.kind(), NodeKind::Map(_)));
        let Some(value) = turns else { return self.verb(fields) };
        let span = fields.key_span("turns");
        let other = fields.node.entries().find(|entry| shape::CHECK.verbs().any(|verb| verb == entry.key.value));
        if let Some(other) = other {
            let message = format!("a check has one verb, and this has `{}` and `turns` with a map", other.key.value);
            let help = format!("write them as two: `- {}: …` and `- turns: …`", other.key.value);
            self.report(catalog::TWO_VERBS.at(span, message).related(other.key.span, "the other").help(help));
            return None;
        }
        Some((Spanned::new("turns", span), value))
    }

    fn test(&mut self, word: &str, value: NodeRef<'_>, fields: &Fields<'_>) -> Option<Test> {
        if let Some(kind) = CheckKind::parse(word) {
            let text = self.leaf(value, word)?;
            if text.text.is_empty() && kind != CheckKind::Equals {
                let message = format!("`{word}` is empty, and so fits every text");
                self.report(catalog::BAD_VALUE.at(value.site(), message).help("write what is looked for"));
                return None;
            }
            return Some(Test::Text(kind, text));
        }
        Some(match word {
            "one_of" => {
                let items = self.items(value, word, "texts");
                if items.is_empty() && matches!(value.kind(), NodeKind::List(_)) && !value.is_incomplete() {
                    self.report(
                        catalog::BAD_VALUE.at(value.site(), "`one_of` has no text").help("list what may be said"),
                    );
                    return None;
                }
                Test::OneOf(items.into_iter().filter_map(|item| self.leaf(item, word)).collect())
            }
            "json_schema" => Test::JsonSchema(self.json_schema(value)?),
            "words" => Test::Words(self.between(value, word)?),
            "turns" => Test::Turns(self.between(value, word)?),
            "within" => Test::Within(self.milliseconds(value, word)?),
            "no_reply" => self.only_true(value, word).map(|()| Test::NoReply)?,
            "no_repetition" => self.repetition(value)?,
            "tool_calls" => {
                let words = CallMode::ALL.map(|mode| (mode.word(), mode));
                let mode = fields.get("mode").and_then(|node| self.one_of(node, "mode", &words)).unwrap_or_default();
                Test::ToolCalls(self.expected_calls(value, word), mode)
            }
            "state" => Test::State(self.operands(value, word)?),
            "state_after" => Test::StateAfter(self.expected_calls(value, word)),
            "similarity" => self.similarity(value)?,
            _ => Test::Expr(self.leaf(value, word)?),
        })
    }

    fn turns(&mut self, node: NodeRef<'_>) -> Option<Turns> {
        if matches!(node.kind(), NodeKind::List(_)) {
            let mut items = node.items();
            return match (items.next(), items.next()) {
                (Some(item), None) if !item.is_error() => {
                    let range = item.scalar_text().and_then(range);
                    let is_right = |range: &Between| {
                        range.least != Some(0)
                            && range.most != Some(0)
                            && range.least.zip(range.most).is_none_or(|(least, most)| least <= most)
                    };
                    let range = range.filter(is_right);
                    if range.is_none() {
                        let text = item.scalar_text().unwrap_or_default();
                        let message = format!("`[{text}]` is no range of turns");
                        let help = "write `[3..]`, `[2..4]`, `[..3]` or `[2]`; turns count from 1";
                        self.report(catalog::BAD_VALUE.at(item.site(), message).help(help));
                    }
                    range.map(Turns::Range)
                }
                _ => {
                    let message = "`turns` has one range in its brackets";
                    self.report(catalog::BAD_VALUE.at(node.site(), message).help("write `[3..]` or `[2..4]`"));
                    None
                }
            };
        }
        let words = [("every", Turns::Every), ("any", Turns::Any), ("first", Turns::First), ("last", Turns::Last)];
        // A number, or a range without its brackets.
        if let Some(text) = node.scalar_text().filter(|text| text.contains(|c: char| c.is_ascii_digit())) {
            let message = format!("`{text}` is no choice of turns");
            let fix = format!("[{text}]");
            let diagnostic =
                catalog::BAD_VALUE.at(node.site(), message).help(format!("turns stand in brackets: `{fix}`"));
            self.report(if range(text).is_some() || text.parse::<u32>().is_ok() {
                diagnostic.fix(format!("write `{fix}`"), node.site(), fix)
            } else {
                diagnostic
            });
            return None;
        }
        self.one_of(node, "turns", &words)
    }

    /// `3..20`, `3..`, `..20`, or a map of `min` and `max`.
    fn between(&mut self, node: NodeRef<'_>, what: &str) -> Option<Between> {
        let before = self.found.len();
        let found = if matches!(node.kind(), NodeKind::Map(_)) {
            let fields = self.map(node, &shape::BETWEEN)?;
            let mut end = |key: &str| fields.get(key).and_then(|node| self.count(node, key, 0..=u32::MAX));
            Some(Between { least: end("min"), most: end("max") })
        } else {
            node.scalar_text().and_then(range)
        };
        let help = format!("write `{what}: {{min: 3, max: 20}}`");
        match found {
            Some(Between { least: None, most: None }) | None => {
                if !node.is_error() && !node.is_incomplete() && self.found.len() == before {
                    let message = format!("`{what}` needs a range: an end below, an end above, or both");
                    self.report(catalog::BAD_VALUE.at(node.site(), message).help(help));
                }
                None
            }
            Some(Between { least: Some(least), most: Some(most) }) if least > most => {
                let message = format!("`{what}` is at least {least} and at most {most}: no number is both");
                let help = format!("write `{what}: {{min: {most}, max: {least}}}`");
                self.report(catalog::BAD_VALUE.at(node.site(), message).help(help));
                None
            }
            found => found,
        }
    }

    /// `3s`, `500ms`, `1.5s`, `2m`, in milliseconds.
    fn milliseconds(&mut self, node: NodeRef<'_>, what: &str) -> Option<u64> {
        let text = self.text(node, what)?;
        let units = [("ms", 1.0), ("s", 1000.0), ("m", 60_000.0)];
        let found = units.into_iter().find_map(|(unit, scale)| {
            let number: f64 = text.value.strip_suffix(unit)?.parse().ok()?;
            let ms = number * scale;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
            (ms.fract() == 0.0 && (1.0..=86_400_000.0).contains(&ms)).then_some(ms as u64)
        });
        if found.is_none() {
            let message = format!("`{what}` is `{}`, and must be a duration such as `3s` or `500ms`", text.value);
            self.report(catalog::BAD_VALUE.at(text.span, message).help("a number and `ms`, `s` or `m`; at most a day"));
        }
        found
    }

    /// A check that is on, or not there.
    fn only_true(&mut self, node: NodeRef<'_>, word: &str) -> Option<()> {
        if node.value() == Some(Value::Bool(true)) {
            return Some(());
        }
        let message = format!("`{word}` is `true`, or not there");
        let help = format!("for the opposite write `not_{word}: true`");
        self.report(catalog::BAD_VALUE.at(node.site(), message).help(help));
        None
    }

    fn share(&mut self, node: NodeRef<'_>, what: &str) -> Option<f64> {
        let share = self.number(node, what)?;
        if share > 0.0 && share <= 1.0 {
            return Some(share);
        }
        let message = format!("`{what}` is {share}, and must be above 0 and at most 1");
        let meant = (share > 1.0 && share <= 100.0).then(|| format!("did you mean `{}`?", share / 100.0));
        self.report(catalog::BAD_VALUE.at(node.site(), message).maybe_help(meant));
        None
    }

    fn measure(&mut self, node: NodeRef<'_>) -> Option<Measure> {
        self.one_of(node, "measure", &Measure::ALL.map(|measure| (measure.word(), measure)))
    }

    fn repetition(&mut self, node: NodeRef<'_>) -> Option<Test> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.only_true(node, "no_repetition")?;
            let likeness = Likeness { measure: Measure::Trigrams, least: SAID_AGAIN };
            return Some(Test::NoRepetition(Repeated::default(), likeness));
        }
        let fields = self.map(node, &shape::REPETITION)?;
        let words = Repeated::ALL.map(|of| (of.word(), of));
        let of = fields.get("of").map_or(Some(Repeated::default()), |node| self.one_of(node, "of", &words));
        let least = fields.get("similarity").map_or(Some(SAID_AGAIN), |node| self.share(node, "similarity"));
        let measure = fields.get("measure").map_or(Some(Measure::Trigrams), |node| self.measure(node));
        Some(Test::NoRepetition(of?, Likeness { measure: measure?, least: least? }))
    }

    fn similarity(&mut self, node: NodeRef<'_>) -> Option<Test> {
        let fields = self.map(node, &shape::SIMILARITY)?;
        let to = self.required(&fields, "to").and_then(|node| self.leaf(node, "to"));
        let measure = self.required(&fields, "measure").and_then(|node| self.measure(node));
        let least = self.required(&fields, "least").and_then(|node| self.share(node, "least"));
        Some(Test::Similarity(to?, Likeness { measure: measure?, least: least? }))
    }

    fn expected_calls(&mut self, node: NodeRef<'_>, what: &str) -> Vec<CallPattern> {
        let items = self.items(node, what, "calls");
        items.into_iter().filter_map(|item| self.call_pattern(item)).collect()
    }

    fn call_pattern(&mut self, node: NodeRef<'_>) -> Option<CallPattern> {
        let fields = self.map(node, &shape::EXPECTED_CALL)?;
        let name = self.required(&fields, "name").and_then(|node| self.name(node, "name"));
        let args = match fields.get("args") {
            None => None,
            Some(node) => Some(self.operands(node, "args")?),
        };
        Some(CallPattern { name: name?, args })
    }

    fn operands(&mut self, node: NodeRef<'_>, what: &str) -> Option<Vec<(Spanned<String>, Operand)>> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, &format!("`{what}`"), "a map of names to values");
            return None;
        }
        let mut pairs = Vec::new();
        for entry in node.entries().filter(|entry| !entry.value.is_error()) {
            let operand = if entry.value.as_str().is_some() {
                self.leaf(entry.value, entry.key.value).map(Operand::Text)
            } else {
                self.value(entry.value).map(|value| Operand::Data(Spanned::new(value, entry.value.site())))
            };
            pairs.extend(operand.map(|operand| (Spanned::new(entry.key.value.to_owned(), entry.key.span), operand)));
        }
        Some(pairs)
    }

    fn json_schema(&mut self, node: NodeRef<'_>) -> Option<Value> {
        let schema = self.value(node)?;
        let errors = schema_errors(&schema);
        for error in &errors {
            let span = place(node, &error.path, error.of_key);
            let mut diagnostic = catalog::BAD_SCHEMA.at(span, error.message.clone()).maybe_help(error.help.clone());
            let near = error.help.as_deref().and_then(|help| help.strip_prefix("did you mean `")?.strip_suffix("`?"));
            if let Some(near) = near.filter(|_| error.of_key) {
                diagnostic = diagnostic.fix(format!("write `{near}`"), span, near);
            }
            self.report(diagnostic);
        }
        errors.is_empty().then_some(schema)
    }
}

/// Where a path within a value stands.
fn place(root: NodeRef<'_>, path: &[String], of_key: bool) -> Span {
    let (mut node, mut span) = (root, root.site());
    for (at, part) in path.iter().enumerate() {
        let entry = node.entries().find(|entry| entry.key.value == part);
        let next = match &entry {
            Some(entry) => Some(entry.value),
            None => part.parse().ok().and_then(|at| node.items().nth(at)),
        };
        let Some(next) = next else { return span };
        span = match entry {
            Some(entry) if of_key && at + 1 == path.len() => entry.key.span,
            _ => next.site(),
        };
        node = next;
    }
    span
}

/// `3..20`, `3..`, `..20`, or one number.
fn range(text: &str) -> Option<Between> {
    let end = |text: &str| if text.is_empty() { Some(None) } else { text.parse().ok().map(Some) };
    match text.split_once("..") {
        Some((low, high)) => {
            let (least, most) = (end(low.trim())?, end(high.trim())?);
            (least.is_some() || most.is_some()).then_some(Between { least, most })
        }
        None => text.trim().parse().ok().map(|n| Between { least: Some(n), most: Some(n) }),
    }
}
