//! Graphs of judges.

use aigo_ir::reduce::Reducer;
use aigo_ir::schema::ItemKind;
use aigo_ir::span::Span;
use aigo_ir::verdict::Scale;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::super::{Fields, Reader};
use crate::ast::{Graph, GraphStep, GraphVerb};
use crate::catalog;
use crate::shape;

/// How many items a list has at most unless the task says otherwise.
const ITEMS: u32 = 20;
/// The most items that a list may have: each is bought.
const MOST_ITEMS: u32 = 1000;

impl Reader<'_> {
    pub(super) fn graph(&mut self, node: NodeRef<'_>) -> Option<Graph> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            let steps = self.graph_steps(node, "graph");
            return Some(Graph { steps, scale: Scale::Range(1, 5), per_turn: false, join: None });
        }
        let fields = self.map(node, &shape::GRAPH)?;
        let steps = self.required(&fields, "steps").map(|node| self.graph_steps(node, "steps"));
        let scale = fields.get("scale").map_or(Some(Scale::Range(1, 5)), |node| self.scale(node));
        let per = [("turn", true), ("conversation", false)];
        let per_turn = fields.get("per").and_then(|node| self.one_of(node, "per", &per)).unwrap_or(false);
        let reducers = Reducer::ALL.map(|reducer| (reducer.word(), reducer));
        let join = fields.get("join").and_then(|node| self.one_of(node, "join", &reducers));
        Some(Graph { steps: steps?, scale: scale?, per_turn, join })
    }

    fn graph_steps(&mut self, node: NodeRef<'_>, what: &str) -> Vec<GraphStep> {
        self.items(node, what, "steps").into_iter().filter_map(|item| self.graph_step(item)).collect()
    }

    fn graph_step(&mut self, node: NodeRef<'_>) -> Option<GraphStep> {
        let fields = self.map(node, &shape::GRAPH_STEP)?;
        let (verb, value) = self.verb(&fields)?;
        let mut label = fields.get("as").and_then(|node| self.name(node, "as"));
        if fields.is_idle("as", verb.value) {
            let message = format!("`as` names what a step gives, and `{}` gives nothing", verb.value);
            self.report(catalog::BAD_VALUE.at(fields.key_span("as"), message).help("remove it"));
        }
        let step = match verb.value {
            "extract" => {
                let inner = self.map(value, &shape::EXTRACT)?;
                if let Some(node) = inner.get("as") {
                    let within = self.name(node, "as");
                    if let Some(first) = &label {
                        let message = "the list is named twice, beside `extract` and in it";
                        self.report(catalog::NAME_TWICE.at(node.site(), message).related(first.span, "the first"));
                    }
                    label = label.or(within);
                }
                self.extract(&inner)?
            }
            "each" => self.each(value)?,
            "judge" => {
                let judge = self.judge(value)?;
                if let Some(node) = value.get("per").filter(|_| judge.per_turn) {
                    let message = "a judge in a graph looks at the whole conversation";
                    let help = "go through the turns: `each: {in: judged_turns(), as: number, steps: […]}`";
                    self.report(catalog::BAD_VALUE.at(node.site(), message).help(help));
                }
                GraphVerb::Judge(Box::new(judge))
            }
            "set" => {
                if !matches!(value.kind(), NodeKind::Map(_)) {
                    self.wrong_kind(value, "`set`", "a map of names to expressions");
                }
                let mut bound = Vec::new();
                for entry in value.entries() {
                    let name = self.name(entry.key_node, "the name in `set`");
                    bound.extend(name.zip(self.leaf(entry.value, entry.key.value)));
                }
                GraphVerb::Set(bound)
            }
            "if" => self.graph_if(value)?,
            _ => GraphVerb::Score(self.leaf(value, "score")?),
        };
        if label.is_none()
            && matches!(step, GraphVerb::Extract { .. } | GraphVerb::Each { .. })
            && fields.get("as").is_none()
        {
            let message = format!("`{}` gives a list, and it has no name", verb.value);
            let help = format!("write `as: NAME` beside `{}`", verb.value);
            self.report(catalog::MISSING_KEY.at(verb.span, message).help(help));
            return None;
        }
        Some(GraphStep { verb: step, label, span: verb.span })
    }

    fn extract(&mut self, fields: &Fields<'_>) -> Option<GraphVerb> {
        let prompt = self.required(fields, "prompt").and_then(|node| self.leaf(node, "prompt"));
        let items = self.required(fields, "items").map(|node| self.item_kinds(node));
        let max_items =
            fields.get("max_items").map_or(Some(ITEMS), |node| self.count(node, "max_items", 1..=MOST_ITEMS));
        let model = fields.get("model").and_then(|node| self.name(node, "model"));
        let who = fields.get("who").and_then(|node| self.name(node, "who"));
        let needed = self.is_set(fields, "needed");
        Some(GraphVerb::Extract { prompt: prompt?, items: items?, max_items: max_items?, model, who, needed })
    }

    fn item_kinds(&mut self, node: NodeRef<'_>) -> Vec<(aigo_ir::span::Spanned<String>, ItemKind)> {
        if !matches!(node.kind(), NodeKind::Map(_)) || node.entries().len() == 0 {
            self.wrong_kind(node, "`items`", "a map of names to kinds: `{fact: string, turn: turn, quote: quote}`");
        }
        let words = ItemKind::ALL.map(|kind| (kind.word(), kind));
        let mut items: Vec<(aigo_ir::span::Spanned<String>, ItemKind)> = Vec::new();
        for entry in node.entries() {
            let name = self.name(entry.key_node, "a part of an item");
            let kind = self.one_of(entry.value, entry.key.value, &words);
            let Some((name, kind)) = name.zip(kind) else { continue };
            if let Some((first, _)) = items.iter().find(|(_, known)| kind == ItemKind::Turn && *known == kind) {
                let message = "an item has one turn, and this is a second: the quote would be of either";
                let help = "make it a `string`";
                self.report(catalog::BAD_VALUE.at(name.span, message).related(first.span, "the first").help(help));
            }
            items.push((name, kind));
        }
        items
    }

    fn each(&mut self, node: NodeRef<'_>) -> Option<GraphVerb> {
        let fields = self.map(node, &shape::EACH)?;
        let list = self.required(&fields, "in").and_then(|node| self.leaf(node, "in"));
        let item = self.required(&fields, "as").and_then(|node| self.name(node, "as"));
        let steps = self.required(&fields, "steps").map(|node| self.graph_steps(node, "steps"));
        let batch = self.is_set(&fields, "batch");
        let per = [("turn", true), ("item", false)];
        let per_turn = fields.get("per").and_then(|node| self.one_of(node, "per", &per)).unwrap_or(false);
        let per_turn = per_turn.then(|| fields.key_span("per"));
        let about = fields.get("about").and_then(|node| self.leaf(node, "about"));
        if about.is_some() && batch.is_none() {
            let message = "`about` is said once before all items, and here the judge is asked for each";
            let help = "add `batch: true`, or say it in the rubric";
            self.report(catalog::BAD_VALUE.at(fields.key_span("about"), message).help(help));
        }
        Some(GraphVerb::Each { list: list?, item: item?, steps: steps?, batch, about, per_turn })
    }

    /// Where a key stands that is `true`.
    fn is_set(&mut self, fields: &Fields<'_>, key: &str) -> Option<Span> {
        let node = fields.get(key)?;
        match node.value() {
            Some(aigo_ir::value::Value::Bool(on)) => on.then_some(fields.key_span(key)),
            _ => {
                self.wrong_kind(node, &format!("`{key}`"), "`true` or `false`");
                None
            }
        }
    }

    fn graph_if(&mut self, node: NodeRef<'_>) -> Option<GraphVerb> {
        let fields = self.map(node, &shape::GRAPH_IF)?;
        let when = self.required(&fields, "when").and_then(|node| self.leaf(node, "when"));
        let then = self.required(&fields, "then").map(|node| self.graph_steps(node, "then"));
        let otherwise = fields.get("else").map(|node| self.graph_steps(node, "else")).unwrap_or_default();
        let else_span = fields.get("else").map(|_| fields.key_span("else"));
        let then_span = fields.key_span("then");
        Some(GraphVerb::If { when: when?, then: then?, otherwise, else_span, then_span })
    }
}
