//! Scorers and gates.

mod checks;
mod graphs;
mod judges;

use aigo_ir::gate::Decide;
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Spanned;
use aigo_ir::value::Value;
use aigo_source::NodeRef;

use super::{Fields, Reader};
use crate::ast::{Gate, Method, Scorer};
use crate::catalog;
use crate::shape;

impl Reader<'_> {
    pub(super) fn scorers(&mut self, node: NodeRef<'_>) -> Vec<Scorer> {
        let items = self.items(node, "scorers", "scorers");
        let mut scorers = Vec::new();
        let mut rest = items.as_slice();
        while let Some((item, behind)) = rest.split_first() {
            rest = behind;
            if let Some((next, behind)) = behind.split_first()
                && self.cut_in_two(*item, *next)
            {
                rest = behind;
                continue;
            }
            scorers.extend(self.scorer(*item));
        }
        scorers
    }

    /// One scorer that a `-` too many makes two, of which one has no verb and the other no name.
    fn cut_in_two(&mut self, one: NodeRef<'_>, two: NodeRef<'_>) -> bool {
        let verb = |node: NodeRef<'_>| shape::SCORER.verbs().find(|verb| node.get(verb).is_some());
        let known = |node: NodeRef<'_>| node.entries().all(|entry| shape::SCORER.key(entry.key.value).is_some());
        let named = one.get("name").is_some() && two.get("name").is_none();
        let (None, Some(verb)) = (verb(one), verb(two).filter(|_| named && known(one) && known(two))) else {
            return false;
        };
        let message = format!("a `-` too many: this scorer has no verb, and the next one, with `{verb}`, no name");
        let key = two.entries().next().map_or(verb, |entry| entry.key.value);
        let found =
            catalog::NO_VERB.at(super::first_key(one), message).related(super::first_key(two), "the other part");
        self.report(found.help(format!("remove the `-` before `{key}`")));
        true
    }

    /// A scorer, also of a definition.
    pub(crate) fn scorer(&mut self, node: NodeRef<'_>) -> Option<Scorer> {
        let fields = self.map(node, &shape::SCORER)?;
        let uses = fields.get("use").is_some();
        let name = if uses { fields.get("name") } else { self.required(&fields, "name") };
        let name = name.and_then(|node| self.name(node, "name"));
        self.scorer_of(&fields, name)
    }

    /// The scorer of a definition, which is called like it.
    pub(super) fn scorer_called(&mut self, node: NodeRef<'_>, name: &Spanned<String>) -> Option<Scorer> {
        let fields = self.map(node, &shape::DEFINED_SCORER)?;
        // It is called like its definition; what stands here is a name all the same.
        if let Some(node) = fields.get("name") {
            self.name(node, "name");
        }
        self.scorer_of(&fields, Some(name.clone()))
    }

    fn scorer_of(&mut self, fields: &Fields<'_>, name: Option<Spanned<String>>) -> Option<Scorer> {
        let (verb, value) = self.verb(fields)?;
        let over = fields.get("over").and_then(|node| {
            let reducers = Reducer::ALL.map(|reducer| (reducer.word(), reducer));
            self.one_of(node, "over", &reducers).map(|over| Spanned::new(over, fields.key_span("over")))
        });
        let pass = fields.get("pass").and_then(|node| self.pass(node));
        let at = fields.get("at").and_then(|node| self.name(node, "at"));
        let runs = fields.get("runs").and_then(|node| self.draws(node, "runs"));
        let confirm = fields.get("confirm").and_then(|node| self.confirm(node));
        let completion = fields.get("completion").and_then(|node| self.boolean(node, "completion"));
        let when = fields.get("when").and_then(|node| self.leaf(node, "when"));
        let voids = fields.get("voids").and_then(|node| self.leaf(node, "voids"));
        let tags = fields.get("tags").map(|node| self.words(node, "tags", "tags")).unwrap_or_default();
        let method = match verb.value {
            "check" => self.check(value).map(|check| Method::Check(Box::new(check))),
            "judge" => self.judge(value).map(|judge| Method::Judge(Box::new(judge))),
            "graph" => self.graph(value).map(|graph| Method::Graph(Box::new(graph))),
            _ => self.usage(value, fields).map(Method::Use),
        };
        if fields.is_idle("with", verb.value) {
            let message = "`with` gives parameters to what `use` names, and this scorer uses nothing";
            self.report(
                catalog::BAD_VALUE.at(fields.key_span("with"), message).help("remove it, or write `use: NAME`"),
            );
        }
        let name = match (&name, &method) {
            (None, Some(Method::Use(used))) => Some(used.name.clone()),
            _ => name,
        };
        let scorer = Scorer {
            name: name?,
            method: method?,
            pass,
            over,
            at,
            runs,
            confirm,
            completion,
            when,
            voids,
            tags,
            used: None,
            span: verb.span,
        };
        self.needless(fields, &scorer);
        Some(scorer)
    }

    /// Keys that would promise what never comes.
    fn needless(&mut self, fields: &Fields<'_>, scorer: &Scorer) {
        if matches!(scorer.method, Method::Use(_)) {
            return;
        }
        let is_graph = matches!(scorer.method, Method::Graph(_));
        if let Some(over) = scorer.over.as_ref().filter(|_| !scorer.method.has_turns() && !is_graph) {
            let message = "`over` joins the values of turns, and this scorer has one value per conversation";
            self.report(catalog::BAD_VALUE.at(over.span, message).help("remove it, or score each turn"));
        }
        if matches!(scorer.method, Method::Judge(_) | Method::Graph(_)) {
            return;
        }
        for (key, there) in [("runs", scorer.runs.is_some()), ("confirm", scorer.confirm.is_some())] {
            if there {
                let message = format!("`{key}` asks a judge again, and a check gives the same each time");
                self.report(catalog::BAD_VALUE.at(fields.key_span(key), message).help("remove it"));
            }
        }
    }

    /// A number, `true`, `false` or a label; whether it is on the scale is looked at where the scale is known.
    fn pass(&mut self, node: NodeRef<'_>) -> Option<Spanned<Value>> {
        let value = match node.value() {
            Some(value @ (Value::Bool(_) | Value::Int(_) | Value::Float(_))) => Some(value),
            _ => node.as_str().map(Value::str),
        };
        if value.is_none() {
            self.wrong_kind(node, "`pass`", "a number, `true` or a label of the scale");
        }
        value.map(|value| Spanned::new(value, node.site()))
    }

    fn draws(&mut self, node: NodeRef<'_>, what: &str) -> Option<Spanned<u32>> {
        self.count(node, what, 2..=shape::MOST_RUNS).map(|n| Spanned::new(n, node.site()))
    }

    fn confirm(&mut self, node: NodeRef<'_>) -> Option<Spanned<u32>> {
        let confirm = self.count(node, "confirm", 1..=shape::MOST_RUNS)?;
        if confirm % 2 == 0 {
            let message = format!("`confirm` is {confirm}, of which two halves can disagree");
            let help = format!("write an odd number: `confirm: {}`", confirm + 1);
            self.report(catalog::BAD_VALUE.at(node.site(), message).help(help));
            return None;
        }
        Some(Spanned::new(confirm, node.site()))
    }

    /// A list of words, or one.
    pub(super) fn words(&mut self, node: NodeRef<'_>, what: &str, of: &str) -> Vec<Spanned<String>> {
        let items = if node.as_str().is_some() { vec![node] } else { self.items(node, what, of) };
        let mut words: Vec<Spanned<String>> = Vec::new();
        for item in items {
            let Some(word) = self.text(item, what) else { continue };
            if let Some(first) = words.iter().find(|known| known.value == word.value) {
                let message = format!("`{}` stands in `{what}` twice", word.value);
                self.report(catalog::NAME_TWICE.at(word.span, message).related(first.span, "the first"));
                continue;
            }
            words.push(word);
        }
        words
    }

    pub(super) fn gates(&mut self, node: NodeRef<'_>) -> Vec<Gate> {
        self.items(node, "gates", "gates").into_iter().filter_map(|item| self.gate(item)).collect()
    }

    fn gate(&mut self, node: NodeRef<'_>) -> Option<Gate> {
        if node.as_str().is_some() {
            let text = self.leaf(node, "gate")?;
            return Some(Gate { text, min_n: None, max_missing: None, decide: Decide::Point });
        }
        let fields = self.map(node, &shape::GATE)?;
        let text = self.required(&fields, "gate").and_then(|node| self.leaf(node, "gate"));
        let min_n = fields.get("min_n").and_then(|node| self.count(node, "min_n", 1..=u32::MAX));
        let max_missing = fields.get("max_missing").and_then(|node| {
            let share = self.number(node, "max_missing")?;
            if !(0.0..=1.0).contains(&share) {
                let message = format!("`max_missing` is {share}, and must be 0 to 1");
                self.report(catalog::BAD_VALUE.at(node.site(), message).help("it is a share: `0.05` is 5 in 100"));
                return None;
            }
            Some(share)
        });
        let words = Decide::ALL.map(|decide| (decide.word(), decide));
        let decide = fields.get("decide").and_then(|node| self.one_of(node, "decide", &words)).unwrap_or_default();
        Some(Gate { text: text?, min_n, max_missing, decide })
    }
}
