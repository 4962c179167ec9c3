//! Checks, scorers and gates.

use aigo_ir::check::CheckKind;
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Spanned;
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};
use aigo_source::{Kind as NodeKind, NodeRef};

use super::{Fields, Reader};
use crate::ast::{Check, Gate, Judge, Method, Scorer, Turns};
use crate::catalog;
use crate::shape;

impl Reader<'_> {
    pub(super) fn check(&mut self, node: NodeRef<'_>) -> Option<Check> {
        let fields = self.map(node, &shape::CHECK)?;
        let (verb, value) = self.verb(&fields)?;
        let kind = CheckKind::parse(verb.value)?;
        let wanted = self.leaf(value, verb.value)?;
        let who = fields.get("who").and_then(|node| self.name(node, "who"));
        let words = [("every", Turns::Every), ("any", Turns::Any), ("first", Turns::First), ("last", Turns::Last)];
        let turns = fields.get("turns").and_then(|node| self.one_of(node, "turns", &words)).unwrap_or(Turns::Every);
        Some(Check { kind, wanted, who, turns, span: verb.span })
    }

    pub(super) fn scorers(&mut self, node: NodeRef<'_>) -> Vec<Scorer> {
        self.items(node, "scorers", "scorers").into_iter().filter_map(|item| self.scorer(item)).collect()
    }

    pub(super) fn scorer(&mut self, node: NodeRef<'_>) -> Option<Scorer> {
        let fields = self.map(node, &shape::SCORER)?;
        let name = self.required(&fields, "name").and_then(|node| self.name(node, "name"));
        self.scorer_of(&fields, name)
    }

    /// The scorer of a definition, which is called like it.
    pub(super) fn scorer_called(&mut self, node: NodeRef<'_>, name: &Spanned<String>) -> Option<Scorer> {
        let fields = self.map(node, &shape::DEFINED_SCORER)?;
        self.scorer_of(&fields, Some(name.clone()))
    }

    fn scorer_of(&mut self, fields: &Fields<'_>, name: Option<Spanned<String>>) -> Option<Scorer> {
        let (verb, value) = self.verb(fields)?;
        let reducers = Reducer::ALL.map(|reducer| (reducer.word(), reducer));
        let over = fields.get("over").and_then(|node| self.one_of(node, "over", &reducers));
        let pass = fields.get("pass").and_then(|node| match node.value() {
            Some(Value::Bool(b)) => Some(f64::from(u8::from(b))),
            _ => self.number(node, "pass"),
        });
        let method = match verb.value {
            "check" => self.check(value).map(Method::Check),
            _ => self.judge(value).map(|judge| Method::Judge(Box::new(judge))),
        };
        let scorer = Scorer { name: name?, method: method?, pass, over, span: verb.span };
        let has_turns = match &scorer.method {
            Method::Check(check) => matches!(check.turns, Turns::Every),
            Method::Judge(judge) => judge.per_turn,
        };
        if over.is_some() && !has_turns {
            let message = "`over` joins the values of turns, and this scorer has one value per conversation";
            self.report(catalog::BAD_VALUE.at(fields.key_span("over"), message).help("remove it, or score each turn"));
        }
        if let (Some(pass), Method::Judge(judge)) = (scorer.pass, &scorer.method) {
            let (worst, best) = judge.scale.ends();
            if !(worst..=best).contains(&pass) {
                let message = format!("`pass` is {pass}, outside the scale {}", judge.scale);
                self.report(catalog::BAD_VALUE.at(fields.key_span("pass"), message));
            }
        }
        Some(scorer)
    }

    pub(super) fn judge(&mut self, node: NodeRef<'_>) -> Option<Judge> {
        let fields = self.map(node, &shape::JUDGE)?;
        let rubric = self.required(&fields, "rubric").and_then(|node| self.leaf(node, "rubric"));
        let scale = fields.get("scale").map_or(Some(Scale::Range(1, 5)), |node| self.scale(node));
        let per = [("turn", true), ("conversation", false)];
        let per_turn = fields.get("per").and_then(|node| self.one_of(node, "per", &per)).unwrap_or(false);
        let window = fields.get("window").and_then(|node| self.count(node, "window", 0..=10_000));
        let model = fields.get("model").and_then(|node| self.name(node, "model"));
        let rules = EvidenceRule::ALL.map(|rule| (rule.word(), rule));
        let evidence = fields.get("evidence").and_then(|node| self.one_of(node, "evidence", &rules));
        let anchors = match (fields.get("anchors"), &scale) {
            (Some(node), Some(scale)) => self.anchors(node, scale),
            _ => Vec::new(),
        };
        let evidence = evidence.unwrap_or(EvidenceRule::Commission);
        Some(Judge { rubric: rubric?, scale: scale?, anchors, per_turn, window, model, evidence })
    }

    fn scale(&mut self, node: NodeRef<'_>) -> Option<Scale> {
        if matches!(node.kind(), NodeKind::Map(_)) {
            let fields = self.map(node, &shape::LABELS)?;
            let labels = self.required(&fields, "labels")?;
            let mut pairs = Vec::new();
            for entry in labels.entries() {
                let worth = self.number(entry.value, entry.key.value)?;
                pairs.push((entry.key.value.into(), worth));
            }
            if pairs.len() < 2 {
                self.report(
                    catalog::BAD_VALUE.at(labels.site(), "a scale of labels needs two or more, each worth a number"),
                );
                return None;
            }
            return Some(Scale::Labels(pairs));
        }
        let text = node.scalar_text().unwrap_or_default();
        let scale = Scale::parse(text);
        if scale.is_none() {
            let message = format!(
                "`scale` is `{text}`, and must be `boolean`, `1..5`, `0..1` or `{{labels: {{good: 1, bad: 0}}}}`"
            );
            self.report(catalog::BAD_VALUE.at(node.site(), message));
        }
        scale
    }

    fn anchors(&mut self, node: NodeRef<'_>, scale: &Scale) -> Vec<(String, String)> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`anchors`", "a map of values of the scale to what they mean");
        }
        let mut anchors = Vec::new();
        for entry in node.entries() {
            let value = entry.key_node.value().unwrap_or_default();
            let on_scale = scale.number(&value).is_some() || scale.number(&Value::str(entry.key.value)).is_some();
            if !on_scale {
                let message = format!("`{}` is not on the scale {scale}", entry.key.value);
                self.report(catalog::BAD_VALUE.at(entry.key.span, message));
            }
            if let Some(text) = self.text(entry.value, "an anchor") {
                anchors.push((entry.key.value.to_owned(), text.value));
            }
        }
        anchors
    }

    pub(super) fn gates(&mut self, node: NodeRef<'_>) -> Vec<Gate> {
        self.items(node, "gates", "gates").into_iter().filter_map(|item| self.gate(item)).collect()
    }

    fn gate(&mut self, node: NodeRef<'_>) -> Option<Gate> {
        if node.as_str().is_some() {
            return Some(Gate { text: self.leaf(node, "gate")?, min_n: None, max_missing: None });
        }
        let fields = self.map(node, &shape::GATE)?;
        let text = self.required(&fields, "gate").and_then(|node| self.leaf(node, "gate"));
        let min_n = fields.get("min_n").and_then(|node| self.count(node, "min_n", 1..=u32::MAX));
        let max_missing = fields.get("max_missing").and_then(|node| {
            let share = self.number(node, "max_missing")?;
            if !(0.0..=1.0).contains(&share) {
                self.report(
                    catalog::BAD_VALUE.at(node.site(), format!("`max_missing` is {share}, and must be 0 to 1")),
                );
                return None;
            }
            Some(share)
        });
        Some(Gate { text: text?, min_n, max_missing })
    }
}
