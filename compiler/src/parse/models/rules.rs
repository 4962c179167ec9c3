//! The rules of scripted roles.

use aigo_ir::program::Fault;
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::super::{Fields, Reader, first_key};
use crate::ast::{Answer, Leaf, Rule, ScriptedCall};
use crate::catalog;
use crate::shape::{self, Key};

const STATUSES: [(&str, &str); 3] = [("going", "going"), ("done", "done"), ("gave_up", "gave_up")];

impl Reader<'_> {
    pub(super) fn rules(&mut self, node: NodeRef<'_>, role: &str) -> Vec<Rule> {
        if matches!(node.kind(), NodeKind::List(_)) && node.items().next().is_none() && !node.is_incomplete() {
            let message = format!("the scripted role `{role}` has no rule, so it can never answer");
            self.report(catalog::BAD_VALUE.at(node.site(), message).help("write one: `scripted: [{say: Certainly.}]`"));
        }
        let items = self.items(node, "scripted", "rules").into_iter();
        let rules: Vec<Rule> = items.filter_map(|item| self.rule(item)).collect();
        self.never_answer(&rules, role);
        rules
    }

    fn rule(&mut self, node: NodeRef<'_>) -> Option<Rule> {
        if let Some(text) = self.bare(node) {
            let span = text.span;
            return Some(Rule {
                when: None,
                answer: Answer::Say(text, None),
                calls: Vec::new(),
                context: Vec::new(),
                span,
            });
        }
        let fields = self.map(node, &shape::RULE)?;
        let when = fields.get("when").and_then(|node| self.leaf(node, "when"));
        let calls = fields.get("calls").map(|node| self.scripted_calls(node));
        let context = fields.get("context").map(|node| self.chunks(node));
        let alone =
            (calls.is_some() || context.is_some()) && shape::RULE.verbs().all(|verb| fields.node.get(verb).is_none());
        let answer = if alone { Answer::Nothing } else { self.answer(&fields)? };
        self.siblings(&fields, &answer);
        // A condition that cannot be read is no rule without a condition.
        if when.is_none() && fields.node.get("when").is_some() {
            return None;
        }
        let (calls, context) = (calls.unwrap_or_default(), context.unwrap_or_default());
        Some(Rule { when, answer, calls, context, span: first_key(node) })
    }

    fn answer(&mut self, fields: &Fields<'_>) -> Option<Answer> {
        let (verb, value) = self.verb(fields)?;
        let status = fields.get("status").and_then(|node| self.one_of(node, "status", &STATUSES)).map(str::to_owned);
        match verb.value {
            "say" => Some(Answer::Say(self.leaf(value, "say")?, status)),
            "any_of" => Some(Answer::AnyOf(self.choices(value), status)),
            "verdict" => self.verdict(value),
            _ => self.fault(value).map(Answer::Fault),
        }
    }

    /// Reports what does not go with the verb.
    fn siblings(&mut self, fields: &Fields<'_>, answer: &Answer) {
        let verb = match answer {
            Answer::Say(..) => "say",
            Answer::AnyOf(..) => "any_of",
            Answer::Nothing => "calls",
            Answer::Verdict(..) => "verdict",
            Answer::Fault(_) => "fault",
        };
        let alone =
            |key: &str| matches!(answer, Answer::Nothing) && shape::RULE.key(key).is_some_and(Key::stands_alone);
        for key in shape::RULE.names().filter(|key| fields.is_idle(key, verb) && !alone(key)) {
            let message = format!("`{key}` goes with `say` and `any_of`, not with `{verb}`");
            self.report(catalog::BAD_VALUE.at(fields.key_span(key), message).help("remove it"));
        }
    }

    fn fault(&mut self, node: NodeRef<'_>) -> Option<Fault> {
        if node.as_str().is_some() {
            return self.one_of(node, "fault", &Fault::WORDS.map(|fault| (word(fault), fault)));
        }
        u16::try_from(self.count(node, "fault", 400..=599)?).ok().map(Fault::Status)
    }

    /// A bare string: the short form of what needs nothing else.
    pub(super) fn bare(&mut self, node: NodeRef<'_>) -> Option<Leaf> {
        node.as_str().is_some().then(|| self.leaf(node, "text")).flatten()
    }

    pub(in crate::parse) fn choices(&mut self, node: NodeRef<'_>) -> Vec<(Leaf, u32)> {
        let mut choices = Vec::new();
        for item in self.items(node, "any_of", "answers") {
            if let Some(text) = self.bare(item) {
                choices.push((text, 1));
            } else if let Some(fields) = self.map(item, &shape::CHOICE) {
                let text = self.required(&fields, "say").and_then(|node| self.leaf(node, "say"));
                let weight = fields.get("weight").map_or(Some(1), |node| self.count(node, "weight", 1..=1_000_000));
                choices.extend(text.zip(weight));
            }
        }
        if choices.is_empty() && !node.is_incomplete() {
            self.report(catalog::BAD_VALUE.at(node.site(), "`any_of` needs at least one answer"));
        }
        choices
    }

    fn scripted_calls(&mut self, node: NodeRef<'_>) -> Vec<ScriptedCall> {
        let mut calls = Vec::new();
        for item in self.items(node, "calls", "tool calls: `{name, args}`") {
            let Some(fields) = self.map(item, &shape::SCRIPTED_CALL) else { continue };
            let name = self.required(&fields, "name").and_then(|node| self.text(node, "name"));
            let args = match fields.get("args") {
                None => Some((Value::map::<&str>([]), Vec::new())),
                Some(node) if matches!(node.kind(), NodeKind::Map(_)) => self.tree(node),
                Some(node) => {
                    self.wrong_kind(node, "`args`", "a map of arguments");
                    None
                }
            };
            calls.extend(name.zip(args).map(|(name, args)| ScriptedCall { name, args }));
        }
        calls
    }

    fn chunks(&mut self, node: NodeRef<'_>) -> Vec<Leaf> {
        let chunks = self.items(node, "context", "texts").into_iter().filter_map(|item| self.leaf(item, "context"));
        chunks.collect()
    }

    fn verdict(&mut self, node: NodeRef<'_>) -> Option<Answer> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`verdict`", "a map: `{score, reason, evidence}`");
            return None;
        }
        let fields = self.map(node, &shape::VERDICT)?;
        self.required(&fields, "score");
        if let Some(evidence) = fields.get("evidence") {
            for item in self.items(evidence, "evidence", "`{turn, quote}`") {
                let Some(fields) = self.map(item, &shape::EVIDENCE) else { continue };
                self.texts_of(&fields, &["turn", "quote"]);
            }
        }
        self.texts_of(&fields, &["reason"]);
        self.tree(node).map(|(value, leaves)| Answer::Verdict(value, leaves))
    }

    /// Reports which of these keys are no texts.
    fn texts_of(&mut self, fields: &Fields<'_>, keys: &[&str]) {
        for key in keys {
            if let Some(node) = fields.get(key) {
                self.leaf(node, key);
            }
        }
    }

    /// A value whose texts are templates, and the texts.
    pub(super) fn tree(&mut self, node: NodeRef<'_>) -> Option<(Value, Vec<Leaf>)> {
        let mut leaves = Vec::new();
        self.leaves(node, &mut leaves);
        Some((self.value(node)?, leaves))
    }

    fn leaves(&mut self, node: NodeRef<'_>, out: &mut Vec<Leaf>) {
        if node.as_str().is_some() {
            out.extend(self.leaf(node, "text"));
        }
        for item in node.items() {
            self.leaves(item, out);
        }
        for entry in node.entries() {
            self.leaves(entry.value, out);
        }
    }

    /// Reports the rules behind one that always answers, once.
    fn never_answer(&mut self, rules: &[Rule], role: &str) {
        let Some(always) = rules.iter().position(|rule| rule.when.is_none()) else { return };
        let (Some(first), Some(next)) = (rules.get(always), rules.get(always + 1)) else { return };
        let more = rules.len().saturating_sub(always + 2);
        let others = match more {
            0 => String::new(),
            1 => ", nor can the one behind it".to_owned(),
            n => format!(", nor can the {n} behind it"),
        };
        let message = format!("this rule of `{role}` can never answer{others}: one before it has no `when`");
        let help = "give the rule before it a `when`, or move it to the end";
        let diagnostic = catalog::RULE_NEVER_ANSWERS.at(next.span, message);
        self.report(diagnostic.related(first.span, "this one always answers").help(help));
    }
}

const fn word(fault: Fault) -> &'static str {
    match fault {
        Fault::Timeout => "timeout",
        Fault::Empty => "empty",
        Fault::Filtered => "filtered",
        Fault::Status(_) => "",
    }
}
