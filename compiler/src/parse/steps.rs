//! Steps.

use aigo_ir::node::MOST_PASSES;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::{Fields, Reader};
use crate::ast::{Check, Leaf, Simulate, Step, Verb};
use crate::catalog;
use crate::shape;

impl Reader<'_> {
    pub(super) fn steps(&mut self, node: NodeRef<'_>, what: &str) -> Vec<Step> {
        self.items(node, what, "steps").into_iter().filter_map(|item| self.step(item)).collect()
    }

    fn step(&mut self, node: NodeRef<'_>) -> Option<Step> {
        let plain = |verb, span| Step { verb, span, label: None, when: None, expect: Vec::new(), stop_on_fail: false };
        if let Some(word) = node.as_str() {
            return match word {
                "generate" => Some(plain(Verb::Generate(None), node.site())),
                "stop" => Some(plain(Verb::Stop { when: None, only_loop: false }, node.site())),
                other => {
                    let known = shape::STEP.verbs();
                    let message = if known.clone().any(|verb| verb == other) {
                        format!("`{other}` needs arguments: `- {other}: …`")
                    } else {
                        format!("`{other}` is not a step")
                    };
                    let help = aigo_ir::diagnostic::suggest(other, known.collect::<Vec<_>>());
                    self.report(catalog::NO_VERB.at(node.site(), message).maybe_help(help));
                    None
                }
            };
        }
        let fields = self.map(node, &shape::STEP)?;
        let label = fields.get("as").and_then(|node| self.name(node, "as"));
        let when = fields.get("when").and_then(|node| self.leaf(node, "when"));
        let (verb, value) = self.verb(&fields)?;
        let (mut expect, mut stop_on_fail) = self.expectations(&fields);
        let mut step = Step { label, when, ..plain(self.verb_of(verb.value, value)?, verb.span) };
        let inner = (verb.value == "generate" && matches!(value.kind(), NodeKind::Map(_)))
            .then_some(Fields { node: value, construct: &shape::GENERATE });
        self.needless_on_fail(&[Some(&fields), inner.as_ref()]);
        if let Some(inner) = inner {
            let (more, stop) = self.expectations(&inner);
            expect.extend(more);
            stop_on_fail |= stop;
            step.label = step.label.or_else(|| inner.get("as").and_then(|node| self.name(node, "as")));
        }
        if !expect.is_empty() && !matches!(step.verb, Verb::Generate(_) | Verb::Script(_)) {
            let message = format!("`expect` checks a reply, and `{}` brings none", verb.value);
            let help = "put it on the `generate` whose reply it is about";
            self.report(catalog::BAD_VALUE.at(fields.key_span("expect"), message).help(help));
        }
        Some(Step { expect, stop_on_fail, ..step })
    }

    /// `on_fail` beside no `expect` would promise a stop that never comes.
    fn needless_on_fail(&mut self, maps: &[Option<&Fields<'_>>]) {
        let has = |key: &str| maps.iter().flatten().find(|fields| fields.get(key).is_some());
        if let (Some(fields), None) = (has("on_fail"), has("expect")) {
            let message = "`on_fail` says what follows when an expectation fails, and no `expect` stands beside it";
            let help = "add `expect` beside it, or remove it";
            self.report(catalog::BAD_VALUE.at(fields.key_span("on_fail"), message).help(help));
        }
    }

    /// `expect` and `on_fail`.
    fn expectations(&mut self, fields: &Fields<'_>) -> (Vec<Check>, bool) {
        let mut expect: Vec<Check> = Vec::new();
        if let Some(node) = fields.get("expect") {
            let items = match node.kind() {
                // One check needs no list around it.
                NodeKind::Map(_) => vec![node],
                _ => self.items(node, "expect", "checks"),
            };
            for item in items {
                let Some(check) = self.check(item) else { continue };
                for key in ["turns", "who"] {
                    if item.get(key).is_some() {
                        let message =
                            format!("`{key}` means nothing in an expectation: it is about the reply of its step");
                        self.report(catalog::BAD_VALUE.at(item.site(), message).help("remove it"));
                    }
                }
                expect.push(check);
            }
        }
        let words = [("continue", false), ("stop", true)];
        let stop = fields.get("on_fail").and_then(|node| self.one_of(node, "on_fail", &words)).unwrap_or(false);
        (expect, stop)
    }

    fn verb_of(&mut self, verb: &'static str, value: NodeRef<'_>) -> Option<Verb> {
        Some(match verb {
            "system" => Verb::System(self.leaf(value, verb)?),
            "user" => Verb::User(self.leaf(value, verb)?),
            "assistant" => Verb::Assistant(self.leaf(value, verb)?),
            "generate" => self.generate(value)?,
            "simulate_user" => Verb::SimulateUser(Box::new(self.simulate(value)?)),
            "script" => {
                let lines = self.items(value, verb, "texts").into_iter().filter_map(|item| self.leaf(item, verb));
                let lines: Vec<Leaf> = lines.collect();
                self.not_empty(value, verb, lines.len(), "line");
                Verb::Script(lines)
            }
            "loop" => self.repeat(value)?,
            "if" => {
                let fields = self.map(value, &shape::IF)?;
                let when = self.required(&fields, "when").and_then(|node| self.leaf(node, "when"));
                let then = self.required(&fields, "then").map(|node| self.steps(node, "then")).unwrap_or_default();
                let otherwise = fields.get("else").map(|node| self.steps(node, "else")).unwrap_or_default();
                Verb::If { when: when?, then, otherwise }
            }
            "stop" => {
                let fields = self.map(value, &shape::STOP)?;
                let when = fields.get("when").and_then(|node| self.leaf(node, "when"));
                if let Some(node) = fields.get("reason") {
                    self.text(node, "reason");
                }
                let only_loop = fields.get("loop").and_then(|node| self.boolean(node, "loop")).unwrap_or(false);
                Verb::Stop { when, only_loop }
            }
            _ => {
                if !matches!(value.kind(), NodeKind::Map(_)) {
                    self.wrong_kind(value, "`set`", "a map of names to expressions");
                }
                let mut bound = Vec::new();
                for entry in value.entries() {
                    let name = self.name(entry.key_node, "the name in `set`");
                    let expression = self.leaf(entry.value, entry.key.value);
                    bound.extend(name.zip(expression));
                }
                self.not_empty(value, verb, bound.len(), "name");
                Verb::Set(bound)
            }
        })
    }

    /// A step that does nothing was surely meant to do something.
    fn not_empty(&mut self, node: NodeRef<'_>, what: &str, count: usize, of: &str) {
        if count == 0
            && node.items().len() == 0
            && node.entries().len() == 0
            && !node.is_incomplete()
            && !node.is_implicit()
        {
            self.report(
                catalog::BAD_VALUE.at(node.site(), format!("`{what}` has no {of}")).help("add one, or remove the step"),
            );
        }
    }

    fn boolean(&mut self, node: NodeRef<'_>, what: &str) -> Option<bool> {
        let found = node.value().as_ref().and_then(aigo_ir::value::Value::as_bool);
        if found.is_none() {
            self.wrong_kind(node, &format!("`{what}`"), "`true` or `false`");
        }
        found
    }

    fn generate(&mut self, value: NodeRef<'_>) -> Option<Verb> {
        if value.is_implicit() {
            return Some(Verb::Generate(None));
        }
        let fields = self.map(value, &shape::GENERATE)?;
        Some(Verb::Generate(fields.get("role").and_then(|node| self.name(node, "role"))))
    }

    fn repeat(&mut self, value: NodeRef<'_>) -> Option<Verb> {
        let fields = self.map(value, &shape::LOOP)?;
        let times = self.required(&fields, "max_turns").and_then(|node| self.count(node, "max_turns", 1..=MOST_PASSES));
        let until = fields.get("until").and_then(|node| self.leaf(node, "until"));
        let body = self.required(&fields, "solvers");
        let steps = body.map(|node| self.steps(node, "solvers")).unwrap_or_default();
        if let Some(node) = body {
            self.not_empty(node, "solvers", steps.len(), "step");
        }
        // A loop whose bound is wrong is still looked into.
        Some(Verb::Loop { times: times.unwrap_or(1), until, steps })
    }

    fn simulate(&mut self, value: NodeRef<'_>) -> Option<Simulate> {
        let fields = self.map(value, &shape::SIMULATE_USER)?;
        let goal = self.required(&fields, "goal").and_then(|node| self.leaf(node, "goal"));
        let mut text = |key: &str| -> Option<Leaf> { fields.get(key).and_then(|node| self.leaf(node, key)) };
        let (persona, knows, opening) = (text("persona"), text("knows"), text("opening"));
        let min_turns = fields.get("min_turns").map_or(Some(1), |node| self.count(node, "min_turns", 1..=MOST_PASSES));
        Some(Simulate { goal: goal?, persona, knows, opening, min_turns: min_turns.unwrap_or(1) })
    }
}
