//! Definitions, and what uses them.

use aigo_ir::span::{Span, Spanned};
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef};

use super::{Fields, Reader};
use crate::ast::{Argument, Define, Definition, Param, Persona, Scorer, Step, Tree, Use};
use crate::catalog;
use crate::shape;

/// The highest number of a version.
const MOST_VERSIONS: u32 = 10_000;

impl Reader<'_> {
    /// `import`: one path, or a list of them.
    pub(super) fn imports(&mut self, node: NodeRef<'_>) -> Vec<Spanned<String>> {
        if node.as_str().is_some() {
            return self.text(node, "import").into_iter().collect();
        }
        self.items(node, "import", "paths").into_iter().filter_map(|item| self.text(item, "import")).collect()
    }

    /// `define`
    pub(super) fn define(&mut self, node: NodeRef<'_>) -> Define {
        let mut define = Define::default();
        let Some(fields) = self.map(node, &shape::DEFINE) else { return define };
        if let Some(node) = fields.get("solvers") {
            define.solvers = self.definitions(node, "solvers", Self::defined_solvers);
        }
        if let Some(node) = fields.get("scorers") {
            define.scorers =
                self.definitions(node, "scorers", |this, name, node| Some(this.defined_scorer(name, node)));
        }
        if let Some(node) = fields.get("personas") {
            define.personas = self.definitions(node, "personas", Self::persona);
        }
        define
    }

    fn definitions<T>(
        &mut self,
        node: NodeRef<'_>,
        what: &str,
        mut one: impl FnMut(&mut Self, Spanned<String>, NodeRef<'_>) -> Option<T>,
    ) -> Vec<T> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, &format!("`{what}`"), &format!("a map of names to {what}"));
        }
        let mut found = Vec::new();
        for entry in node.entries() {
            let Some(name) = self.name(entry.key_node, "the name of a definition") else { continue };
            if !entry.value.is_error() {
                found.extend(one(self, name, entry.value));
            }
        }
        found
    }

    fn defined_solvers(&mut self, name: Spanned<String>, node: NodeRef<'_>) -> Option<Definition<Vec<Step>>> {
        // A bare list needs nothing.
        if matches!(node.kind(), NodeKind::List(_)) {
            return Some(Definition { name, params: Vec::new(), version: 1, body: self.steps(node, "solvers") });
        }
        let fields = self.map(node, &shape::DEFINED_SOLVERS)?;
        let params = fields.get("params").map(|node| self.params(node)).unwrap_or_default();
        if let Some(node) = fields.get("description") {
            self.text(node, "description");
        }
        let body = self.required(&fields, "solvers").map(|node| self.steps(node, "solvers"));
        Some(Definition { name, params, version: 1, body: body.unwrap_or_default() })
    }

    fn defined_scorer(&mut self, name: Spanned<String>, node: NodeRef<'_>) -> Definition<Option<Scorer>> {
        let params = node.get("params").filter(|node| !node.is_error()).map(|node| self.params(node));
        if let Some(node) = node.get("description").filter(|node| !node.is_error()) {
            self.text(node, "description");
        }
        let version = node.get("version").filter(|node| !node.is_error());
        let version = version.and_then(|node| self.count(node, "version", 1..=MOST_VERSIONS)).unwrap_or(1);
        for key in ["fails", "limits"] {
            if let Some(node) = node.get(key).filter(|node| !node.is_error()) {
                self.text(node, key);
            }
        }
        let body = self.scorer_called(node, &name);
        Definition { name, params: params.unwrap_or_default(), version, body }
    }

    fn persona(&mut self, name: Spanned<String>, node: NodeRef<'_>) -> Option<Persona> {
        if node.as_str().is_some() {
            return Some(Persona { name, text: self.leaf(node, "text")?, must: Vec::new(), probes: Vec::new() });
        }
        let fields = self.map(node, &shape::PERSONA)?;
        let text = self.required(&fields, "text").and_then(|node| self.leaf(node, "text"));
        let mut must = Vec::new();
        if let Some(node) = fields.get("must") {
            for item in self.items(node, "must", "texts") {
                must.extend(self.text(item, "must").map(|text| text.value));
            }
        }
        if let Some(node) = fields.get("description") {
            self.text(node, "description");
        }
        if let Some(node) = fields.get("version") {
            self.count(node, "version", 1..=MOST_VERSIONS);
        }
        let probes = fields.get("probes").map(|node| self.names(node, "probes")).unwrap_or_default();
        Some(Persona { name, text: text?, must, probes })
    }

    /// A list of names.
    pub(super) fn names(&mut self, node: NodeRef<'_>, what: &str) -> Vec<Spanned<String>> {
        if node.as_str().is_some() {
            return self.name(node, what).into_iter().collect();
        }
        self.items(node, what, "names").into_iter().filter_map(|item| self.name(item, what)).collect()
    }

    /// `params`: names and their types, `NAME: TYPE` or `NAME: {type, default}`.
    pub(super) fn params(&mut self, node: NodeRef<'_>) -> Vec<Param> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`params`", "a map of names to types");
        }
        let mut params = Vec::new();
        for entry in node.entries() {
            let Some(name) = self.name(entry.key_node, "the name of a parameter") else { continue };
            if entry.value.as_str().is_some() {
                params.extend(self.type_of(entry.value).map(|ty| Param { name, ty, default: None }));
            } else if let Some(fields) = self.map(entry.value, &shape::PARAM) {
                let ty = self.required(&fields, "type").and_then(|node| self.type_of(node));
                let default = fields.get("default").and_then(|node| {
                    let value = self.value(node)?;
                    Some(Spanned::new(value, node.site()))
                });
                if let Some(node) = fields.get("description") {
                    self.text(node, "description");
                }
                let Some(ty) = ty else { continue };
                if let Some(default) = &default
                    && !Type::of(&default.value).fits(&ty)
                {
                    let message = format!(
                        "the default of `{}` is {}, and its type is {ty}",
                        name.value,
                        Type::of(&default.value)
                    );
                    self.report(catalog::WRONG_TYPE.at(default.span, message).help("write one that fits the type"));
                }
                params.push(Param { name, ty, default });
            }
        }
        params
    }

    /// A type, as expressions name it.
    pub(super) fn type_of(&mut self, node: NodeRef<'_>) -> Option<Type> {
        let text = self.text(node, "type")?;
        let found = if text.value == "persona" { Some(Type::persona()) } else { Type::parse(&text.value) };
        if found.is_none() {
            let message = format!("`{}` is no type", text.value);
            let known = ["string", "integer", "number", "boolean", "any", "list<string>"];
            let found = catalog::BAD_VALUE.at(text.span, message);
            self.report(match super::data::nearest_type(&text.value) {
                Some(near) => {
                    found.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), text.span, near)
                }
                None => found.maybe_help(aigo_ir::diagnostic::suggest(&text.value, known)),
            });
        }
        found
    }

    /// `use` and the `with` beside it.
    pub(super) fn usage(&mut self, value: NodeRef<'_>, fields: &Fields<'_>) -> Option<Use> {
        let (name, version) = self.versioned(value)?;
        let with = fields.get("with").map(|node| self.arguments(node)).unwrap_or_default();
        Some(Use { name, version, with })
    }

    /// A name, and behind `@` a version.
    fn versioned(&mut self, node: NodeRef<'_>) -> Option<(Spanned<String>, Option<u32>)> {
        let parts = node.as_str().and_then(|text| text.split_once('@'));
        let Some((name, number)) = parts else { return Some((self.name(node, "use")?, None)) };
        let version = number.parse().ok().filter(|version| (1..=MOST_VERSIONS).contains(version));
        if version.is_none() || name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let message = format!("`{name}@{number}` is no name with a version");
            self.report(catalog::BAD_VALUE.at(node.site(), message).help("write a name and a number: `use: NAME@1`"));
            return None;
        }
        Some((Spanned::new(name.to_owned(), node.site()), version))
    }

    /// `with`: values whose texts may be templates.
    pub(super) fn arguments(&mut self, node: NodeRef<'_>) -> Vec<Argument> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            self.wrong_kind(node, "`with`", "a map of parameters to values");
        }
        let mut arguments = Vec::new();
        for entry in node.entries() {
            let Some(name) = self.name(entry.key_node, "the name of a parameter") else { continue };
            arguments.extend(self.argument(entry.value).map(|value| Argument { name, value }));
        }
        arguments
    }

    /// A value whose texts may be templates.
    fn argument(&mut self, node: NodeRef<'_>) -> Option<Tree> {
        let site: Span = node.site();
        Some(match node.kind() {
            NodeKind::List(items) => Tree::List(items.filter_map(|item| self.argument(item)).collect(), site),
            NodeKind::Map(entries) => {
                let pairs = entries.filter_map(|entry| Some((entry.key.value.to_owned(), self.argument(entry.value)?)));
                Tree::Map(pairs.collect(), site)
            }
            _ if node.is_error() => return None,
            _ if node.as_str().is_some() => Tree::Text(self.leaf(node, "text")?),
            _ => Tree::Plain(node.value().unwrap_or(Value::Null), site),
        })
    }
}
