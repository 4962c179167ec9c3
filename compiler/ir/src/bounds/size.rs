//! How long values can be: their text in bytes, their lists in items.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use minijinja::machinery::ast;

use super::walk::{Passes, UNBOUNDED};
use crate::expr::{Expr, Function, Kind, Operator};
use crate::expr_parse::Lower;
use crate::template::{Template, has_no_tags, tree};
use crate::value::Value;

/// How long a value can be.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Size {
    /// Its text, in bytes.
    pub(super) bytes: u64,
    /// Of a list: how many items it has.
    pub(super) items: Option<Passes>,
    /// Of a list: each of its items; of what nothing more is known: each of its parts.
    pub(super) part: Option<Box<Self>>,
    /// Of a map: what it has under each key.
    pub(super) keys: BTreeMap<Arc<str>, Self>,
}

impl Size {
    /// A text of so many bytes.
    pub(super) const fn text(bytes: u64) -> Self {
        Self { bytes, items: None, part: None, keys: BTreeMap::new() }
    }

    /// A list.
    pub(super) fn list(items: Passes, part: Self) -> Self {
        let n = match items {
            Passes::Exactly(n) | Passes::AtMost(n) => n,
            Passes::OfCalls | Passes::OfJudged | Passes::OfTurns => 1,
        };
        let bytes = part.bytes.saturating_add(3).saturating_mul(n);
        Self { bytes, items: Some(items), part: Some(Box::new(part)), keys: BTreeMap::new() }
    }

    /// A map.
    pub(super) fn map<K: Into<Arc<str>>>(keys: impl IntoIterator<Item = (K, Self)>) -> Self {
        let keys: BTreeMap<Arc<str>, Self> = keys.into_iter().map(|(key, size)| (key.into(), size)).collect();
        let with = |key: &str, size: &Self| size.bytes.saturating_add(key.len() as u64 + 5);
        let bytes = keys.iter().fold(2_u64, |sum, (key, size)| sum.saturating_add(with(key, size)));
        Self { bytes, items: None, part: None, keys }
    }

    /// Of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Str(text) => Self::text(text.len() as u64),
            Value::List(items) => {
                let part = items.iter().map(Self::of).reduce(|a, b| a.or(&b)).unwrap_or_else(|| Self::text(0));
                let bytes = value.to_json().len() as u64;
                Self { bytes, ..Self::list(Passes::Exactly(items.len() as u64), part) }
            }
            Value::Map(map) => {
                let sized = Self::map(map.iter().map(|(key, value)| (key.clone(), Self::of(value))));
                Self { bytes: value.to_json().len() as u64, ..sized }
            }
            plain => Self::text(plain.to_json().len() as u64),
        }
    }

    /// The longer of both, in each part.
    #[must_use]
    pub(super) fn or(&self, other: &Self) -> Self {
        let items = match (self.items, other.items) {
            (Some(a), Some(b)) => Some(longer(a, b)),
            (a, b) => a.or(b),
        };
        let part = match (&self.part, &other.part) {
            (Some(a), Some(b)) => Some(Box::new(a.or(b))),
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        let mut keys = self.keys.clone();
        for (key, size) in &other.keys {
            let merged = keys.get(key).map_or_else(|| size.clone(), |known| known.or(size));
            keys.insert(key.clone(), merged);
        }
        Self { bytes: self.bytes.max(other.bytes), items, part, keys }
    }

    /// The lengths of the lists in it, as a text by which values of equal lists are told.
    pub(super) fn shape(&self, out: &mut String) {
        match self.items {
            Some(Passes::Exactly(n) | Passes::AtMost(n)) => {
                let _ = write!(out, "[{n}");
            }
            Some(_) => out.push_str("[?"),
            None => {}
        }
        if let Some(part) = &self.part {
            part.shape(out);
        }
        for size in self.keys.values() {
            out.push('.');
            size.shape(out);
        }
    }

    /// Whether there is a list in it.
    pub(super) fn has_list(&self) -> bool {
        self.items.is_some() || self.keys.values().any(Self::has_list)
    }
}

fn longer(a: Passes, b: Passes) -> Passes {
    match (a, b) {
        (a, b) if a == b => a,
        (Passes::Exactly(a) | Passes::AtMost(a), Passes::Exactly(b) | Passes::AtMost(b)) => Passes::AtMost(a.max(b)),
        // Of an empty list and one whose length follows the conversation, the other is the longer one.
        (Passes::Exactly(0), other) | (other, Passes::Exactly(0)) => other,
        _ => UNBOUNDED,
    }
}

/// The sizes that are known at a place of a graph.
pub(super) struct Sizes<'s> {
    /// Slots, then fields.
    pub(super) known: Vec<&'s BTreeMap<Arc<str>, Size>>,
    /// Of what only the run knows: a text in bytes.
    pub(super) long: u64,
    /// Whether that was needed.
    pub(super) guessed: bool,
}

impl Sizes<'_> {
    fn unknown(&mut self) -> Size {
        self.guessed = true;
        Size { items: Some(UNBOUNDED), part: Some(Box::new(Size::text(self.long))), ..Size::text(self.long) }
    }

    fn name(&mut self, name: &str, local: &[(String, Size)]) -> Size {
        if let Some((_, size)) = local.iter().rev().find(|(known, _)| known == name) {
            return size.clone();
        }
        if let Some(size) = self.known.iter().find_map(|known| known.get(name)) {
            return size.clone();
        }
        match name {
            "turn" => Size::text(5),
            "sample" => Size::map([("id", Size::text(40))]),
            "loop" => Size { part: Some(Box::new(Size::text(5))), ..Size::text(5) },
            _ => self.unknown(),
        }
    }

    fn part(&mut self, whole: &Size, key: Option<&str>) -> Size {
        let found = key.and_then(|key| whole.keys.get(key)).cloned();
        if let Some(found) = found.or_else(|| whole.part.as_deref().cloned()) {
            return found;
        }
        whole.keys.values().cloned().reduce(|a, b| a.or(&b)).unwrap_or_else(|| self.unknown())
    }

    /// Of an expression. `local` are names that are bound within a template.
    pub(super) fn expr(&mut self, expr: &Expr, local: &[(String, Size)]) -> Size {
        match &expr.kind {
            Kind::Literal(value) => Size::of(value),
            Kind::Name(name) => self.name(name, local),
            Kind::Attribute(a, key) => {
                let whole = self.expr(a, local);
                self.part(&whole, Some(key))
            }
            Kind::Item(a, key) => {
                let whole = self.expr(a, local);
                let key = key.constant().and_then(|key| key.as_str().map(str::to_owned));
                self.part(&whole, key.as_deref())
            }
            Kind::Not(_)
            | Kind::And(..)
            | Kind::Or(..)
            | Kind::Compare(..)
            | Kind::In(..)
            | Kind::Defined(_)
            | Kind::Is(..) => Size::text(5),
            Kind::Arithmetic(Operator::Concat, a, b) => {
                Size::text(self.expr(a, local).bytes.saturating_add(self.expr(b, local).bytes))
            }
            Kind::Minus(_) | Kind::Arithmetic(..) => Size::text(24),
            Kind::If(_, a, b) => self.expr(a, local).or(&self.expr(b, local)),
            Kind::Call(function, arguments) => self.call(*function, arguments, local),
            Kind::List(items) => {
                let sizes: Vec<Size> = items.iter().map(|item| self.expr(item, local)).collect();
                let part = sizes.into_iter().reduce(|a, b| a.or(&b)).unwrap_or_else(|| Size::text(0));
                Size::list(Passes::Exactly(items.len() as u64), part)
            }
            Kind::Map(pairs) => Size::map(pairs.iter().map(|(key, value)| (key.clone(), self.expr(value, local)))),
        }
    }

    fn call(&mut self, function: Function, arguments: &[Expr], local: &[(String, Size)]) -> Size {
        let Some(first) = arguments.first() else {
            return match function {
                Function::JudgedTurns => Size::list(Passes::OfJudged, Size::text(5)),
                Function::Turns => Size::list(Passes::OfTurns, Size::text(5)),
                _ => self.unknown(),
            };
        };
        let value = |sizes: &mut Self| sizes.expr(first, local);
        match function {
            Function::Lower
            | Function::Capitalize
            | Function::Title
            | Function::Trim
            | Function::Capture
            | Function::Reverse
            | Function::Sort
            | Function::Text => value(self),
            // Some letters become two.
            Function::Upper => Size::text(value(self).bytes.saturating_mul(2)),
            Function::Unique => {
                let list = value(self);
                let items = match list.items {
                    Some(Passes::Exactly(n)) => Some(Passes::AtMost(n)),
                    other => other,
                };
                Size { items, ..list }
            }
            Function::First | Function::Last | Function::Min | Function::Max => {
                let whole = value(self);
                self.part(&whole, None)
            }
            Function::Default => {
                let there = value(self);
                arguments.get(1).map_or_else(|| there.clone(), |other| there.or(&self.expr(other, local)))
            }
            Function::Range => match (first.constant(), arguments.get(1).map(Expr::constant)) {
                (Some(Value::Int(n)), None) => Size::list(Passes::Exactly(n.max(0).unsigned_abs()), Size::text(6)),
                (Some(Value::Int(from)), Some(Some(Value::Int(to)))) => {
                    Size::list(Passes::Exactly(to.saturating_sub(from).max(0).unsigned_abs()), Size::text(6))
                }
                _ => Size::list(UNBOUNDED, Size::text(6)),
            },
            Function::Join => Size::text(value(self).bytes),
            Function::Json => Size::text(value(self).bytes.saturating_add(2)),
            Function::ListOf if value(self).items.is_some() => value(self),
            Function::Length | Function::Words | Function::Abs | Function::Round | Function::Sum => Size::text(24),
            Function::Contains
            | Function::StartsWith
            | Function::EndsWith
            | Function::Matches
            | Function::Any
            | Function::All => Size::text(5),
            _ => self.unknown(),
        }
    }

    /// Of a rendered template, in bytes.
    pub(super) fn template(&mut self, template: &Template) -> u64 {
        let source = &*template.source;
        if has_no_tags(source) {
            return source.strip_suffix('\n').unwrap_or(source).len() as u64;
        }
        match tree(source) {
            Ok(tree) => self.stmt(&tree, source, &mut Vec::new()),
            Err(_) => source.len() as u64,
        }
    }

    fn body(&mut self, body: &[ast::Stmt<'_>], source: &str, local: &mut Vec<(String, Size)>) -> u64 {
        body.iter().fold(0_u64, |sum, stmt| sum.saturating_add(self.stmt(stmt, source, local)))
    }

    fn stmt(&mut self, stmt: &ast::Stmt<'_>, source: &str, local: &mut Vec<(String, Size)>) -> u64 {
        let mut lower = Lower::new(source, true);
        match stmt {
            ast::Stmt::Template(template) => self.body(&template.children, source, local),
            ast::Stmt::EmitRaw(raw) => raw.raw.len() as u64,
            ast::Stmt::EmitExpr(emit) => self.expr(&lower.expr(&emit.expr), local).bytes,
            ast::Stmt::IfCond(cond) => {
                let yes = self.body(&cond.true_body, source, local);
                yes.max(self.body(&cond.false_body, source, local))
            }
            ast::Stmt::ForLoop(each) => {
                let list = self.expr(&lower.expr(&each.iter), local);
                let n = match list.items {
                    Some(Passes::Exactly(n) | Passes::AtMost(n)) => n,
                    _ => super::CALLS_OF_A_REPLY,
                };
                let part = self.part(&list, None);
                let outer = local.len();
                for name in targets(&each.target) {
                    local.push((name, part.clone()));
                }
                let body = self.body(&each.body, source, local);
                local.truncate(outer);
                let other = self.body(&each.else_body, source, local);
                body.saturating_mul(n).max(other)
            }
            ast::Stmt::Set(set) => {
                let size = self.expr(&lower.expr(&set.expr), local);
                local.extend(targets(&set.target).into_iter().map(|name| (name, size.clone())));
                0
            }
            _ => 0,
        }
    }
}

fn targets(target: &ast::Expr<'_>) -> Vec<String> {
    match target {
        ast::Expr::Var(var) => vec![var.id.to_owned()],
        ast::Expr::List(list) => list.items.iter().flat_map(targets).collect(),
        _ => Vec::new(),
    }
}
