//! The last stage: lints. A task that can be run, and probably says less than its author thinks.
//!
//! A lint is a row of the [catalog](crate::catalog), one function here and a page. It looks at what the stages before have
//! made, reads no text again, and is asked only where there is no error, so it never explains one. [`allow`] takes back what
//! the author allows in place.

pub(crate) mod allow;
mod applications;
mod gates;
mod judges;
mod repeats;
mod rubrics;
mod texts;
mod turns;
mod unused;
pub(crate) mod users;
mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::message::ASSISTANT;
use aigo_ir::node::{Node, Said};
use aigo_ir::program::{Answer, Player, Program, Role};
use aigo_ir::span::{FileId, SourceMap, Span, Spanned};
use aigo_ir::verify::Reads;
use aigo_source::Tree;

use crate::ast;
use crate::dataset::Profile;
use crate::define::Scope;
use crate::resolve::Resolved;

pub(crate) use turns::Solves;

/// A task without errors, as all stages have left it.
pub(crate) struct Linted<'l> {
    /// As it was written, its names looked up.
    pub(crate) resolved: &'l Resolved,
    /// What it can use by name.
    pub(crate) scope: &'l Scope,
    /// What is known of its samples.
    pub(crate) profile: &'l Profile,
    /// How its conversations can go.
    pub(crate) solves: &'l Solves,
    /// What it was compiled to.
    pub(crate) program: &'l Program,
    /// The names that its graphs, roles, calls and tools read.
    pub(crate) read: &'l BTreeSet<&'l str>,
    /// What it imports: where each import stands, and which file it is.
    pub(crate) imports: &'l [Spanned<FileId>],
    /// The texts.
    pub(crate) sources: &'l SourceMap,
}

/// The names that the nodes of a program's graphs read, but for the reply that is only appended: that a step asks is no use of
/// its label.
pub(crate) fn read<'p>(program: &'p Program, reads: &'p Reads) -> impl Iterator<Item = &'p Arc<str>> {
    program.graphs().enumerate().flat_map(move |(at, graph)| {
        let nodes = graph.nodes().zip(reads.nodes(at));
        let all = nodes.filter(|((_, placed), _)| !matches!(placed.node, Node::Append { said: Said::Reply(_), .. }));
        all.flat_map(|(_, names)| names)
    })
}

/// What looks at a task.
type Lint = fn(&Linted<'_>, &mut Diagnostics);

/// All lints of tasks, in the order of their codes.
static LINTS: &[Lint] = &[
    turns::last_turn_only,
    rubrics::of_task,
    judges::same_model_or_family,
    judges::smaller,
    users::all_simulated,
    judges::floating,
    turns::short_conversations,
    users::endless,
    applications::history_not_sent,
    repeats::epochs,
    repeats::of_scorers,
    gates::zero_tolerance,
    gates::coarse_sample,
    gates::never_decided,
    gates::unread_scorer,
    unused::fields,
    unused::roles,
    unused::names,
    unused::definitions,
    unused::imports,
    turns::dead_stops,
    users::unprobed,
    applications::epochs_without_setup,
    turns::nobody_is_tested,
    turns::turns_out_of_reach,
    users::near_persona,
    unused::solvers,
    texts::empty,
];

/// Asks every lint.
pub(crate) fn check(linted: &Linted<'_>, found: &mut Diagnostics) {
    for lint in LINTS {
        lint(linted, found);
    }
}

/// The lints of definitions, which do not depend on who uses them.
pub(crate) fn definitions(define: &ast::Define, sources: &SourceMap, found: &mut Diagnostics) {
    rubrics::of_definitions(define, sources, found);
    texts::empty_in_definitions(define, found);
}

/// The lints of a file as text.
pub(crate) fn text(tree: &Tree, found: &mut Diagnostics) {
    texts::keys(tree, found);
}

impl<'l> Linted<'l> {
    fn task(&self) -> &'l ast::Task {
        &self.resolved.task
    }

    /// Whether a text is the user's own, and not the standard library's.
    fn is_own(&self, span: Span) -> bool {
        self.sources.get(span.file).is_none_or(|file| !file.name.starts_with("std/"))
    }

    /// Who plays a role, as the task says it.
    fn model(&self, role: &str) -> Option<&'l ast::Model> {
        self.task().models.iter().find(|model| model.role.value == role)
    }

    /// The chat model that plays a role.
    fn chat(&self, role: &str) -> Option<(&'l ast::Model, &'l ast::Chat)> {
        let model = self.model(role)?;
        match &model.player {
            ast::Player::Chat(chat) => Some((model, chat)),
            _ => None,
        }
    }

    /// The roles that take part in conversations, each once.
    fn talkers(&self) -> BTreeSet<&'l str> {
        self.solves.all.iter().flat_map(|solve| solve.asks.iter().map(|role| &**role)).collect()
    }

    /// The roles that judge, each once, in the order in which they are asked.
    fn judges(&self) -> Vec<&'l str> {
        let of_scorers = self.task().scorers.iter().flat_map(crate::check::judges_of);
        let of_steps = self.resolved.checkpoints.iter().flat_map(|one| crate::check::roles_of(&one.judge));
        let mut judges: Vec<&str> = Vec::new();
        for role in of_scorers.chain(of_steps) {
            if !judges.contains(&role) {
                judges.push(role);
            }
        }
        judges
    }

    /// Whether what a role says may differ when it is asked the same in another epoch or draw.
    fn varies(&self, role: &str) -> bool {
        self.program.role(role).is_none_or(varies)
    }

    /// Whether everything that is said is settled by rules in the task, so that chance has no part in its scores.
    fn is_scripted(&self) -> bool {
        let of_rules = |role: &str| matches!(self.program.role(role), Some(Role { player: Player::Scripted(_), .. }));
        let recorded = self.profile.transcripts() != (false, false);
        !recorded
            && self
                .talkers()
                .into_iter()
                .chain(self.judges())
                .chain([ASSISTANT])
                .all(|role| self.program.role(role).is_none() || of_rules(role))
    }
}

fn varies(role: &Role) -> bool {
    match &role.player {
        Player::Scripted(rules) => rules.iter().any(|rule| {
            let of_epoch = |text: &str| text.contains("epoch");
            matches!(rule.answer, Answer::AnyOf { .. })
                || rule.when.as_ref().is_some_and(|when| of_epoch(&when.to_string()))
                || matches!(&rule.answer, Answer::Say { text, .. } if of_epoch(&text.source))
                || matches!(&rule.answer, Answer::Verdict(verdict) if of_epoch(&verdict.to_json()))
        }),
        Player::Chat(chat) => {
            let zero = |(name, value): &(Arc<str>, aigo_ir::value::Value)| {
                &**name == "temperature" && value.as_f64() == Some(0.0)
            };
            !chat.parameters.iter().any(zero)
        }
        Player::Http(_) | Player::Command(_) => true,
    }
}
