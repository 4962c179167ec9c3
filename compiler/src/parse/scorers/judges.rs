//! Judges.

use std::fmt::Write as _;

use aigo_ir::reduce::Reducer;
use aigo_ir::span::Spanned;
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};
use aigo_source::{Kind as NodeKind, NodeRef};

use super::super::{Fields, Reader};
use crate::ast::{Example, Judge};
use crate::catalog;
use crate::shape;

/// Sums and squares of a label's number stay exact enough up to this.
const MOST_WORTH: f64 = 1e6;

impl Reader<'_> {
    pub(in crate::parse) fn judge(&mut self, node: NodeRef<'_>) -> Option<Judge> {
        let fields = self.map(node, &shape::JUDGE)?;
        let rubric = self.required(&fields, "rubric").and_then(|node| self.leaf(node, "rubric"));
        if let Some(rubric) = rubric.as_ref().filter(|rubric| rubric.text.trim().is_empty()) {
            let found = catalog::BAD_VALUE.at(rubric.span, "the rubric is empty");
            self.report(found.help("write what a judge should look for"));
        }
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
        let examples = match (fields.get("examples"), &scale) {
            (Some(node), Some(scale)) => self.examples(node, scale),
            _ => Vec::new(),
        };
        let panel = self.panel(&fields);
        let quorum = self.quorum(&fields, panel.len());
        let words = [Reducer::Majority, Reducer::Median, Reducer::Mean].map(|reducer| (reducer.word(), reducer));
        let over_panel = fields.get("over_panel").and_then(|node| self.one_of(node, "over_panel", &words));
        if fields.get("over_panel").is_some() && fields.get("panel").is_none() {
            let message = "`over_panel` joins the verdicts of a panel, and there is none";
            let help = "add `panel: [judge_a, judge_b]`, or remove it";
            self.report(catalog::BAD_VALUE.at(fields.key_span("over_panel"), message).help(help));
        }
        let sees_system = fields.get("sees").is_some_and(|node| self.sees(node));
        let evidence = evidence.unwrap_or(EvidenceRule::Commission);
        let skip = fields.get("skip").and_then(|node| self.text(node, "skip"));
        Some(Judge {
            rubric: rubric?,
            scale: scale?,
            anchors,
            per_turn,
            window,
            model,
            panel,
            quorum,
            over_panel,
            examples,
            sees_system,
            evidence,
            skip,
        })
    }

    fn panel(&mut self, fields: &Fields<'_>) -> Vec<Spanned<String>> {
        let Some(node) = fields.get("panel") else { return Vec::new() };
        let names: Vec<_> =
            self.items(node, "panel", "roles").into_iter().filter_map(|n| self.name(n, "panel")).collect();
        let mut panel: Vec<Spanned<String>> = Vec::new();
        for name in names {
            if let Some(first) = panel.iter().find(|known| known.value == name.value) {
                let message = format!("`{}` sits in the panel twice", name.value);
                let help = "to ask one judge more than once write `runs` beside `judge`";
                self.report(catalog::NAME_TWICE.at(name.span, message).related(first.span, "the first").help(help));
                continue;
            }
            panel.push(name);
        }
        if panel.len() == 1 && node.items().len() == 1 {
            let message = "a panel of one is a judge";
            let help = format!("write `model: {}`, or name more roles", panel.first().map_or("", |name| &name.value));
            self.report(catalog::BAD_VALUE.at(node.site(), message).help(help));
        }
        if fields.get("model").is_some() {
            let message = "a judge has a `model` or a `panel`, and this has both";
            let (at, other) = (fields.key_span("panel"), fields.key_span("model"));
            let help = "remove `model`, or name that role in the panel";
            self.report(catalog::BAD_VALUE.at(at, message).related(other, "the model").help(help));
        }
        panel
    }

    fn quorum(&mut self, fields: &Fields<'_>, panel: usize) -> Option<u32> {
        let node = fields.get("quorum")?;
        if fields.get("panel").is_none() {
            let message = "`quorum` counts the verdicts of a panel, and there is none";
            let help = "add `panel: [judge_a, judge_b]`, or remove it";
            self.report(catalog::BAD_VALUE.at(fields.key_span("quorum"), message).help(help));
            return None;
        }
        let most = u32::try_from(panel).unwrap_or(u32::MAX).max(1);
        self.count(node, "quorum", 1..=most)
    }

    /// Whether the instructions are shown. Tool traffic and context always are, so naming them changes nothing.
    fn sees(&mut self, node: NodeRef<'_>) -> bool {
        let mut system = false;
        for item in self.items(node, "sees", "`system`, `tools`, `context`") {
            let words = [("system", true), ("tools", false), ("context", false)];
            system |= self.one_of(item, "sees", &words).unwrap_or(false);
        }
        system
    }

    pub(super) fn scale(&mut self, node: NodeRef<'_>) -> Option<Scale> {
        if matches!(node.kind(), NodeKind::Map(_)) {
            return self.labels(node);
        }
        let text = node.scalar_text().unwrap_or_default();
        let scale = Scale::parse(text);
        if scale.is_none() {
            let ends = text
                .split_once("..")
                .and_then(|(low, high)| Some((low.parse::<i64>().ok()?, high.parse::<i64>().ok()?)));
            let (message, help) = match ends {
                Some((low, high)) if low >= high => {
                    let help = if low > high {
                        format!("write `{high}..{low}`: the worst first")
                    } else {
                        "name two numbers".to_owned()
                    };
                    (format!("`scale` is `{text}`, whose low end is not below its high end"), Some(help))
                }
                Some(_) => {
                    let message =
                        format!("`scale` is `{text}`: its ends may be 100 apart, and the low one 1000 from 0");
                    (message, Some("write a shorter range, or `0..1` for any number between".to_owned()))
                }
                None => {
                    let wanted = "`boolean`, `1..5`, `0..1` or `{labels: {good: 1, bad: 0}}`";
                    let near = aigo_ir::diagnostic::nearest(text, ["boolean"]);
                    let near = near.map(|near| format!("did you mean `{near}`?"));
                    let ends: Vec<&str> = node.items().filter_map(NodeRef::scalar_text).collect();
                    let (seen, help) = match ends.as_slice() {
                        [] => (format!("`{text}`"), near),
                        [low, high] => ("a list".to_owned(), Some(format!("write `{low}..{high}`"))),
                        _ => ("a list".to_owned(), Some("write `{labels: {good: 1, bad: 0}}`".to_owned())),
                    };
                    let help = help.unwrap_or_else(|| "write one of these".to_owned());
                    (format!("`scale` is {seen}, and must be {wanted}"), Some(help))
                }
            };
            self.report(catalog::BAD_VALUE.at(node.site(), message).maybe_help(help));
        }
        scale
    }

    fn labels(&mut self, node: NodeRef<'_>) -> Option<Scale> {
        let fields = self.map(node, &shape::LABELS)?;
        let labels = self.required(&fields, "labels")?;
        let mut pairs: Vec<(std::sync::Arc<str>, f64)> = Vec::new();
        for entry in labels.entries() {
            let worth = self.number(entry.value, entry.key.value)?;
            if worth.abs() > MOST_WORTH {
                let message =
                    format!("`{}` is worth {worth}: no more than {MOST_WORTH} can be told apart", entry.key.value);
                let help = "what counts is how the labels stand to each other: `{good: 1, bad: 0}`";
                self.report(catalog::BAD_VALUE.at(entry.value.site(), message).help(help));
                return None;
            }
            if let Some((same, _)) = pairs.iter().find(|(_, known)| *known == worth) {
                let message = format!(
                    "`{same}` and `{}` are both worth {worth}: no score could tell them apart",
                    entry.key.value
                );
                self.report(
                    catalog::BAD_VALUE.at(entry.value.site(), message).help("give each label a number of its own"),
                );
                return None;
            }
            pairs.push((entry.key.value.into(), worth));
        }
        if pairs.len() < 2 {
            let message = "a scale of labels needs two or more, each worth a number";
            self.report(catalog::BAD_VALUE.at(labels.site(), message).help("add one: `{good: 1, bad: 0}`"));
            return None;
        }
        Some(Scale::Labels(pairs))
    }

    fn anchors(&mut self, node: NodeRef<'_>, scale: &Scale) -> Vec<(String, String)> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`anchors`", "a map of values of the scale to what they mean");
        }
        let mut anchors = Vec::new();
        for entry in node.entries() {
            let value = entry.key_node.value().unwrap_or_default();
            // A key in quotes means what it says.
            let bare = entry.key.value.parse().map_or(Value::Null, Value::Int);
            // A key is a text, so the two values of a boolean scale stand in quotes.
            let word = entry.key.value.parse().map_or(Value::Null, Value::Bool);
            let keys = [value, Value::str(entry.key.value), bare, word];
            let on_scale = keys.iter().any(|key| scale.number(key).is_some());
            if !on_scale {
                let message = format!("`{}` is not on the scale {scale}", entry.key.value);
                self.report(catalog::BAD_VALUE.at(entry.key.span, message).help(values(scale)));
            }
            if let Some(text) = self.text(entry.value, "an anchor") {
                anchors.push((entry.key.value.to_owned(), text.value));
            }
        }
        anchors
    }

    fn examples(&mut self, node: NodeRef<'_>, scale: &Scale) -> Vec<Example> {
        let items = self.items(node, "examples", "examples");
        items.into_iter().filter_map(|item| self.example(item, scale)).collect()
    }

    fn example(&mut self, node: NodeRef<'_>, scale: &Scale) -> Option<Example> {
        let fields = self.map(node, &shape::EXAMPLE)?;
        let score = self.required(&fields, "score")?;
        let value = score.value().unwrap_or_default();
        if scale.number(&value).is_none() {
            let shown = score.scalar_text().unwrap_or_default();
            let message = format!("`{shown}` is not on the scale {scale}");
            self.report(catalog::BAD_VALUE.at(score.site(), message).help(values(scale)));
            return None;
        }
        let reason = fields.get("reason").and_then(|node| self.text(node, "reason")).map(|text| text.value);
        let shown = match (fields.get("conversation"), fields.get("text")) {
            (Some(conversation), None) => self.conversation(conversation),
            (None, Some(text)) => self.text(text, "text")?.value,
            (None, None) => {
                let message = "an example needs `conversation` or `text`";
                let help = "write what was said: `conversation: [{user: Hello}, {assistant: Hi}]`";
                self.report(catalog::MISSING_KEY.at(fields.key_span("score"), message).help(help));
                return None;
            }
            (Some(_), Some(_)) => {
                let message = "an example has a `conversation` or a `text`, and this has both";
                self.report(catalog::BAD_VALUE.at(fields.key_span("text"), message).help("remove one of them"));
                return None;
            }
        };
        Some(Example { shown, score: value, reason })
    }

    /// What was said, with labels as in transcripts.
    fn conversation(&mut self, node: NodeRef<'_>) -> String {
        let (mut shown, mut turn) = (String::new(), 0);
        for item in self.items(node, "conversation", "messages") {
            let mut entries = item.entries();
            let said = match (entries.next(), entries.next()) {
                (Some(entry), None) if shape::EXAMPLE_MESSAGE.key(entry.key.value).is_some() => Some(entry),
                _ => None,
            };
            let Some(entry) = said else {
                let message = "a message of an example is a map with one key, `user` or `assistant`";
                self.report(catalog::BAD_VALUE.at(item.site(), message).help("write `- user: Hello`"));
                continue;
            };
            let who = entry.key.value;
            let Some(text) = self.text(entry.value, who) else { continue };
            turn += u32::from(who == "user");
            let letter = who.get(..1).unwrap_or_default();
            let _ = writeln!(shown, "[{turn}{letter}] {who}: {}", text.value.trim_end());
        }
        shown
    }
}

/// What a value of the scale can be, for help lines.
fn values(scale: &Scale) -> String {
    match scale {
        Scale::Boolean => "it has `true` and `false`".to_owned(),
        Scale::Range(low, high) => format!("it has the whole numbers from {low} to {high}"),
        Scale::Unit => "it has the numbers from 0 to 1".to_owned(),
        Scale::Labels(labels) => {
            let words: Vec<String> = labels.iter().map(|(label, _)| format!("`{label}`")).collect();
            format!("it has {}", words.join(", "))
        }
    }
}
