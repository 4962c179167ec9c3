//! The invariant of types.

use super::{Found, Violation};
use crate::check::Test;
use crate::expr::Expr;
use crate::graph::{Graph, NodeId};
use crate::message::Message;
use crate::node::{Bound, Node, Said, Unit};
use crate::program::{Call, Player, Program, Role, SETUP, Tool, node_templates};
use crate::schema::{Schema, record_of};
use crate::span::Origin;
use crate::template::Template;
use crate::ty::Type;
use crate::typing::{self, Mistake, Names, TypeError};

/// The names of a graph: the program's, the fields of which its samples say more, and its slots.
pub(crate) fn names_of(program: &Program, graph: &Graph) -> Names {
    let mut names = program.names();
    for field in &graph.fields {
        names.insert(field.name.clone(), field.ty.clone());
    }
    for slot in &graph.slots {
        names.insert(slot.name.clone(), slot.ty.clone());
    }
    names
}

/// The names of a check's condition: those around it, what was said, and the number of its turn.
pub fn names_of_check(names: &Names) -> Names {
    let mut names = names.clone();
    names.insert("text", Type::Str);
    names.insert("turn", Type::Int);
    names
}

/// The names of a scripted role's rules: those that every expression may read, and what is being asked.
pub fn rule_names(program: &Program) -> Names {
    let mut names = program.names();
    names.insert("scorer", Type::Str);
    names.insert("judged", Type::Int);
    names
}

/// The names of the templates of an application, and of `setup` and `teardown`: those that every expression may read, and
/// `setup` with the reply of each call that has a name. An application also reads the `message` that it is to answer and the
/// `session` that it is in.
pub fn call_names(program: &Program, before: &[Call], application: bool) -> Names {
    let mut names = program.names();
    let replies: Vec<_> = before.iter().filter_map(|call| Some((call.name.clone()?, Type::Any))).collect();
    if !replies.is_empty() {
        names.insert(SETUP, Type::Record(replies));
    }
    if application {
        names.insert("message", Type::Str);
        names.insert("session", Type::Str);
        names.insert("chat", chat());
    }
    names
}

/// The type of `chat`: the conversation as chat APIs have it, for the templates of applications.
pub fn chat() -> Type {
    Type::List(Box::new(Type::Record(vec![("role".into(), Type::Str), ("content".into(), Type::Str)])))
}

/// Types agree: of expressions, of what templates read, of what nodes put into slots and take from them.
pub(super) fn types(program: &Program, graph: &Graph, order: &[NodeId]) -> Vec<Violation> {
    let mut found = Found::new("types", graph);
    let names = names_of(program, graph);
    let defined = super::defined::defined(graph, order);
    for (id, placed) in graph.nodes() {
        let here = defined.get(&id).filter(|defined| !defined.is_empty());
        let narrowed = here.map(|defined| names.given(&defined.iter().cloned().collect::<Vec<_>>()));
        let mut checker = Checker { found: &mut found, graph, names: narrowed.as_ref().unwrap_or(&names), id };
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
        // What can only fail ends a sample, and is no fault of the program.
        for error in errors.into_iter().filter(|error| error.mistake != Mistake::Fails) {
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

    fn condition_of_check(&mut self, expr: &Expr) {
        let mut errors = Vec::new();
        typing::check_condition(expr, &names_of_check(self.names), &mut errors);
        self.report(&expr.to_string(), errors);
    }

    fn template(&mut self, template: &Template) {
        let errors = typing::check_template(&template.source, self.names).errors;
        self.report(&template.source, errors.into_iter().filter(matters).collect());
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
            Node::Append { said: Said::History(expr), .. } => {
                let item = self.item_of(expr);
                if !Message::is_of(&item) {
                    self.found.at(self.id, format!("`{expr}` is a list of {item}; messages are needed"));
                }
            }
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
                    Schema::Verdict(_) | Schema::Judged(_) => Type::Verdict,
                    Schema::Items(items) => items.ty(),
                    Schema::Verdicts(..) => record_of(Type::List(Box::new(Type::Verdict))),
                };
                self.slot(into, &ty);
            }
            Node::Check { test, text, turn, into, .. } => {
                self.expr_of(text, &Type::Str);
                self.expr_of(turn, &Type::Int);
                if let Test::Expr(expr) = test {
                    self.condition_of_check(expr);
                }
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

/// Whether a mistake of a template makes its program unsound. The compiler refuses conditions that are no boolean; the engine
/// takes any value, and recorded programs have them. What can only fail ends a sample, and is no fault of the program.
fn matters(error: &TypeError) -> bool {
    !matches!(error.mistake, Mistake::Condition | Mistake::Fails)
}

/// The rules of scripted roles, and the templates of applications, of `setup` and of `teardown`, read what is there.
pub(super) fn rules(program: &Program) -> Vec<Violation> {
    let mut found = Vec::new();
    let of_rules = rule_names(program);
    let of_applications = call_names(program, &program.setup, true);
    for role in &program.roles {
        match &role.player {
            Player::Scripted(rules) => {
                for (at, rule) in rules.iter().enumerate() {
                    let place = format!("rule {} of the role `{}`", at + 1, role.name);
                    found.extend(reading(&place, rule.when.as_ref(), &rule.texts(), &of_rules));
                }
            }
            Player::Http(http) => {
                let names = match tool_of(program, role) {
                    Some(tool) => &request_names(program, tool),
                    None => &of_applications,
                };
                found.extend(reading(&format!("the role `{}`", role.name), None, &http.call.texts(), names));
            }
            Player::Chat(_) | Player::Command(_) => {}
        }
    }
    for (at, call) in program.setup.iter().enumerate() {
        let names = call_names(program, program.setup.get(..at).unwrap_or_default(), false);
        found.extend(reading(&format!("call {} of `setup`", at + 1), None, &call.texts(), &names));
    }
    let names = call_names(program, &program.setup, false);
    for (at, call) in program.teardown.iter().enumerate() {
        found.extend(reading(&format!("call {} of `teardown`", at + 1), None, &call.texts(), &names));
    }
    found
}

/// The tool that a role answers and nobody else: one of a request or a program of its own.
fn tool_of<'p>(program: &'p Program, role: &Role) -> Option<&'p Tool> {
    program.tools.iter().find(|tool| crate::reuse::tool_role(&tool.name) == role.name)
}

/// The names of the templates of a tool's request: those that rules of tools read, and `setup`.
pub fn request_names(program: &Program, tool: &Tool) -> Names {
    let mut names = call_names(program, &program.setup, false);
    for param in &tool.params {
        names.insert(param.name.clone(), param.ty.clone());
    }
    names
}

fn reading(place: &str, when: Option<&Expr>, texts: &[Template], names: &Names) -> Vec<Violation> {
    let mut errors = Vec::new();
    if let Some(when) = when {
        typing::check_condition(when, names, &mut errors);
    }
    for text in texts {
        errors.extend(typing::check_template(&text.source, names).errors.into_iter().filter(matters));
    }
    let messages = errors.into_iter().map(|error| error.message);
    let violations = messages.map(|message| Violation {
        invariant: "rules",
        graph: None,
        node: None,
        message: format!("{place}: {message}"),
        origin: Origin::default(),
    });
    violations.collect()
}
