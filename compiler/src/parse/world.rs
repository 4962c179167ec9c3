//! Scenarios, the world and its tools, suites.

use aigo_ir::node::Ending;
use aigo_ir::span::Spanned;
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::Reader;
use crate::ast::{Leaf, Returns, Scenario, Suite, Tool};
use crate::catalog;
use crate::shape;

impl Reader<'_> {
    pub(super) fn scenarios(&mut self, node: NodeRef<'_>) -> Vec<Scenario> {
        self.items(node, "scenarios", "scenarios").into_iter().filter_map(|item| self.scenario(item)).collect()
    }

    fn scenario(&mut self, node: NodeRef<'_>) -> Option<Scenario> {
        let fields = self.map(node, &shape::SCENARIO)?;
        let id = self.required(&fields, "id").and_then(|node| self.scenario_id(node));
        let with = fields.get("with").map(|node| self.fields_of(node)).unwrap_or_default();
        let tags = fields.get("tags").map(|node| self.tags(node)).unwrap_or_default();
        let cluster = fields.get("cluster").and_then(|node| self.text(node, "cluster"));
        let solvers = fields.get("solvers").map(|node| self.steps(node, "solvers"));
        Some(Scenario { id: id?, fields: with, tags, cluster, solvers, span: node.site() })
    }

    fn scenario_id(&mut self, node: NodeRef<'_>) -> Option<Spanned<String>> {
        let text = match node.value() {
            Some(Value::Int(n)) => Spanned::new(n.to_string(), node.site()),
            _ => self.text(node, "id")?,
        };
        if text.value.is_empty() || text.value.len() > 200 || text.value.chars().any(char::is_control) {
            let message = "an `id` is text of 1 to 200 bytes on one line";
            self.report(catalog::BAD_VALUE.at(text.span, message).help("give the scenario a short name"));
            return None;
        }
        Some(text)
    }

    fn fields_of(&mut self, node: NodeRef<'_>) -> Vec<(Spanned<String>, Value)> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`with`", "a map of fields to values");
        }
        let mut found = Vec::new();
        for entry in node.entries().filter(|entry| !entry.value.is_error()) {
            let is_key = ["solvers", "expect", "scorers"].contains(&entry.key.value);
            if is_key && !matches!(entry.value.kind(), NodeKind::Scalar(_)) {
                let message = format!("`{}` stands in `with`, where it is only a field of the sample", entry.key.value);
                let help = "indent it less, so that it stands beside `with`";
                self.report(catalog::BAD_VALUE.at(entry.key.span, message).help(help));
                continue;
            }
            let name = Spanned::new(entry.key.value.to_owned(), entry.key.span);
            found.extend(self.value(entry.value).map(|value| (name, value)));
        }
        found
    }

    /// `tags`: words of letters, digits, `-` and `_`, which selections name.
    pub(super) fn tags(&mut self, node: NodeRef<'_>) -> Vec<Spanned<String>> {
        let mut tags = Vec::new();
        for item in self.items(node, "tags", "words") {
            let Some(tag) = self.text(item, "a tag") else { continue };
            let word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
            if tag.value.is_empty() || !tag.value.chars().all(word) || ["and", "or", "not"].contains(&&*tag.value) {
                let message = format!("`{}` is not possible as a tag", tag.value);
                let help = "a tag has letters, digits, `-`, `_`, `.` and `/`, and is not `and`, `or` or `not`";
                self.report(catalog::BAD_VALUE.at(tag.span, message).help(help));
                continue;
            }
            tags.push(tag);
        }
        tags
    }

    /// `world`
    pub(super) fn world(&mut self, node: NodeRef<'_>) -> Option<Spanned<Value>> {
        let fields = self.map(node, &shape::WORLD)?;
        let state = self.required(&fields, "state")?;
        if !matches!(state.kind(), NodeKind::Map(_)) {
            self.wrong_kind(state, "`state`", "a map");
            return None;
        }
        self.value(state).map(|value| Spanned::new(value, state.site()))
    }

    pub(super) fn tools(&mut self, node: NodeRef<'_>) -> Vec<Tool> {
        let mut tools: Vec<Tool> = Vec::new();
        for item in self.items(node, "tools", "tools") {
            let Some(tool) = self.tool(item) else { continue };
            if let Some(first) = tools.iter().find(|first| first.name.value == tool.name.value) {
                let message = format!("two tools are called `{}`", tool.name.value);
                let found = catalog::NAME_TWICE.at(tool.name.span, message).related(first.name.span, "the first");
                self.report(found.help("give one of them another name"));
                continue;
            }
            tools.push(tool);
        }
        tools
    }

    fn tool(&mut self, node: NodeRef<'_>) -> Option<Tool> {
        let fields = self.map(node, &shape::TOOL)?;
        let name = self.required(&fields, "name").and_then(|node| self.name(node, "name"));
        let description = fields.get("description").and_then(|node| self.text(node, "description"));
        let params = fields.get("params").map(|node| self.params(node)).unwrap_or_default();
        let require = fields.get("require").and_then(|node| self.leaf(node, "require"));
        let set = fields.get("set").map(|node| self.changes(node)).unwrap_or_default();
        let returns = fields.get("returns").and_then(|node| self.returns(node));
        let fail = fields.get("fail").and_then(|node| {
            let fields = self.map(node, &shape::TOOL_FAULT)?;
            let on_call = self.required(&fields, "on_call").and_then(|node| self.count(node, "on_call", 1..=10_000));
            let error = self.required(&fields, "error").and_then(|node| self.text(node, "error"));
            Some((on_call?, error?.value))
        });
        let words = [("handed_off", Ending::HandedOff)];
        let ends = fields.get("ends").and_then(|node| self.one_of(node, "ends", &words));
        let description = description.map(|text| text.value);
        let by = self.without_secrets(node, |reader| Some(reader.tool_by(&fields))).flatten();
        Some(Tool { name: name?, description, params, require, set, returns, fail, ends, by })
    }

    /// `set` of a tool: paths of the state to expressions.
    fn changes(&mut self, node: NodeRef<'_>) -> Vec<(Leaf, Leaf)> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`set`", "a map of paths of the state to expressions");
        }
        let mut changes = Vec::new();
        for entry in node.entries() {
            let path = self.leaf(entry.key_node, "set");
            let value = self.leaf(entry.value, entry.key.value);
            changes.extend(path.zip(value));
        }
        changes
    }

    fn returns(&mut self, node: NodeRef<'_>) -> Option<Returns> {
        Some(match node.kind() {
            NodeKind::Map(entries) => {
                let pairs = entries.filter_map(|entry| Some((entry.key.value.to_owned(), self.returns(entry.value)?)));
                Returns::Map(pairs.collect())
            }
            NodeKind::List(items) => Returns::List(items.filter_map(|item| self.returns(item)).collect()),
            _ => Returns::Leaf(self.leaf(node, "returns")?),
        })
    }

    pub(super) fn suites(&mut self, node: NodeRef<'_>) -> Vec<Suite> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`suites`", "a map of names to selections");
        }
        let mut suites = Vec::new();
        for entry in node.entries() {
            let Some(name) = self.name(entry.key_node, "the name of a suite") else { continue };
            let Some(fields) = self.map(entry.value, &shape::SUITE) else { continue };
            let select = fields.get("select").and_then(|node| self.leaf(node, "select"));
            let subset = fields.get("subset").and_then(|node| {
                let fields = self.map(node, &shape::SUBSET)?;
                let n = self.required(&fields, "n").and_then(|node| self.count(node, "n", 1..=1_000_000));
                let stratify = fields.get("stratify").map(|node| self.names(node, "stratify")).unwrap_or_default();
                Some((n?, stratify))
            });
            suites.push(Suite { name, select, subset });
        }
        suites
    }
}
