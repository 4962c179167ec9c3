//! The invariant of types.

use super::{Found, Violation};
use crate::expr::Expr;
use crate::graph::{Graph, NodeId};
use crate::node::{Bound, Node, Said, Unit};
use crate::program::{Player, Program, node_templates};
use crate::schema::Schema;
use crate::span::Origin;
use crate::template::{self, Template};
use crate::ty::Type;
use crate::typing::{self, Names, TypeError};

/// The names of a graph: the program's and its slots.
pub(crate) fn names_of(program: &Program, graph: &Graph) -> Names {
    let mut names = program.names();
    for slot in &graph.slots {
        names.insert(slot.name.clone(), slot.ty.clone());
    }
    names
}

/// The names of a scripted role's rules: those that every expression may read, and what is being asked.
pub fn rule_names(program: &Program) -> Names {
    let mut names = program.names();
    names.insert("scorer", Type::Str);
    names.insert("judged", Type::Int);
    names
}

/// Types agree: of expressions, of what templates read, of what nodes put into slots and take from them.
pub(super) fn types(program: &Program, graph: &Graph) -> Vec<Violation> {
    let mut found = Found::new("types", graph);
    let names = names_of(program, graph);
    for (id, placed) in graph.nodes() {
        let mut checker = Checker { found: &mut found, graph, names: &names, id };
        checker.node(&placed.node);
        for template in node_templates(&placed.node) {
            checker.template(template);
        }
    }
    found.violations
}

struct Checker<'c, 'g> {
    found: &'c mut Found<'g>,
    graph: &'g Graph,
    names: &'c Names,
    id: NodeId,
}

impl Checker<'_, '_> {
    fn report(&mut self, text: &str, errors: Vec<TypeError>) {
        for error in errors {
            self.found.at(self.id, format!("`{}`: {}", crate::text::excerpt(text, 60), error.message));
        }
    }

    fn expr(&mut self, expr: &Expr) -> Type {
        let mut errors = Vec::new();
        let ty = typing::check(expr, self.names, &mut errors);
        if !errors.is_empty() {
            self.report(&expr.to_string(), errors);
        }
        ty
    }

    fn expr_of(&mut self, expr: &Expr, wanted: &Type) {
        let ty = self.expr(expr);
        if !ty.fits(wanted) {
            self.found.at(self.id, format!("`{expr}` is of type {ty}; {wanted} is needed"));
        }
    }

    fn template(&mut self, template: &Template) {
        match template::analyse(&template.source) {
            Err(error) => self.found.at(self.id, format!("a template that cannot be read: {}", error.message)),
            Ok(uses) => {
                let mut errors = Vec::new();
                typing::check_uses(&uses, self.names, &mut errors);
                self.report(&template.source, errors);
            }
        }
    }

    /// The slot holds values of this type.
    fn slot(&mut self, name: &str, gives: &Type) {
        let Some(slot) = self.graph.slot(name).and_then(|at| self.graph.slots.get(at)) else {
            return self.found.at(self.id, format!("there is no slot `{name}`"));
        };
        if !gives.fits(&slot.ty) {
            self.found.at(self.id, format!("the slot `{name}` is of type {}, and {gives} is put into it", slot.ty));
        }
    }

    /// What is read from the slot is surely of this type: of a slot of any type nothing is sure.
    fn reads(&mut self, name: &str, wanted: &Type) {
        let ty = self.slot_type(name);
        if self.graph.slot(name).is_none() {
            self.found.at(self.id, format!("there is no slot `{name}`"));
        } else if *wanted != Type::Any && !(ty == *wanted || (ty != Type::Any && ty.fits(wanted))) {
            self.found.at(self.id, format!("the slot `{name}` is of type {ty}; {wanted} is read from it"));
        }
    }

    fn slot_type(&self, name: &str) -> Type {
        self.graph.slot(name).and_then(|at| self.graph.slots.get(at)).map_or(Type::Any, |slot| slot.ty.clone())
    }

    fn item_of(&mut self, list: &Expr) -> Type {
        match self.expr(list) {
            Type::List(item) => *item,
            Type::Any => Type::Any,
            other => {
                self.found.at(self.id, format!("`{list}` is of type {other}; a list is needed"));
                Type::Any
            }
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Append { said: Said::Text(expr), .. } => self.expr_of(expr, &Type::Str),
            Node::Append { said: Said::Reply(slot), .. } => self.reads(slot, &Type::Reply),
            Node::Append { .. } | Node::Exit { .. } => {}
            Node::Generate { view, into, .. } => {
                if let crate::node::View::Text { up_to: Some(turn), .. } = view {
                    self.expr_of(turn, &Type::Int);
                }
                self.slot(into, &Type::Reply);
            }
            Node::Branch { when } => self.expr_of(when, &Type::Bool),
            Node::Loop { bound, counter } => {
                self.slot(counter, &Type::Int);
                if let Bound::Items { list, item, .. } = bound {
                    let ty = self.item_of(list);
                    self.slot(item, &ty);
                }
            }
            Node::Map { list, item, give, into, .. } => {
                let ty = self.item_of(list);
                self.slot(item, &ty);
                let given = self.slot_type(give);
                self.slot(into, &Type::List(Box::new(given)));
            }
            Node::Let { into, value } => {
                let ty = self.expr(value);
                self.slot(into, &ty);
            }
            Node::Parse { from, schema, into } => {
                self.reads(from, &Type::Reply);
                let ty = match schema {
                    Schema::UserTurn => Type::UserTurn,
                    Schema::Verdict(_) => Type::Verdict,
                };
                self.slot(into, &ty);
            }
            Node::Check { text, turn, into, .. } => {
                self.expr_of(text, &Type::Str);
                self.expr_of(turn, &Type::Int);
                self.slot(into, &Type::Verdict);
            }
            Node::Tool { call, into } => {
                self.reads(call, &Type::Any);
                self.slot(into, &Type::Any);
            }
            Node::Reduce { from, into, .. } => {
                self.reads(from, &Type::List(Box::new(Type::Verdict)));
                self.slot(into, &Type::Verdict);
            }
            Node::Score { unit, from, .. } => {
                if let Unit::Turn(turn) = unit {
                    self.expr_of(turn, &Type::Int);
                }
                self.reads(from, &Type::Verdict);
            }
        }
    }
}

/// The rules of scripted roles read what is there.
pub(super) fn rules(program: &Program) -> Vec<Violation> {
    let names = rule_names(program);
    let mut found = Vec::new();
    for role in &program.roles {
        let Player::Scripted(rules) = &role.player else { continue };
        for (at, rule) in rules.iter().enumerate() {
            let mut errors = Vec::new();
            if let Some(when) = &rule.when {
                typing::check_condition(when, &names, &mut errors);
            }
            let texts = rule.answer.texts();
            let mut messages: Vec<String> = Vec::new();
            for text in &texts {
                match template::analyse(&text.source) {
                    Ok(uses) => typing::check_uses(&uses, &names, &mut errors),
                    Err(error) => messages.push(error.message),
                }
            }
            messages.extend(errors.into_iter().map(|error| error.message));
            found.extend(messages.into_iter().map(|message| Violation {
                invariant: "rules",
                graph: None,
                node: None,
                message: format!("rule {} of the role `{}`: {message}", at + 1, role.name),
                origin: Origin::default(),
            }));
        }
    }
    found
}
