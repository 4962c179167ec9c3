//! Scorers that are looked at without their graphs.
//!
//! The graph of a check or of a judge is the lowering's own work: no step of the task stands in it, so nothing that a task can
//! be the cause of is found in it. Where only findings are wanted, what other stages ask of such a graph is known from the
//! scorer itself: the names that it reads, and how many calls it makes at most.

use std::collections::BTreeSet;
use std::sync::Arc;

use aigo_ir::bounds;
use aigo_ir::check::Test;
use aigo_ir::program::Program;
use aigo_ir::template::Template;
use aigo_ir::verify::Reads;

use super::score;
use crate::parse::is_reserved;
use crate::typed::{Method, Scorer};

/// Scorers of a program that have no graphs there.
#[derive(Default)]
pub(crate) struct Aside(pub(super) Vec<Scorer>);

/// Whether all that can be found in a scorer's graph has been found in the scorer: no step of the task stands in it.
pub(super) fn is_plain(scorer: &Scorer) -> bool {
    scorer.given.is_empty() && !matches!(scorer.method, Method::Graph(_))
}

impl Aside {
    /// The fields and other names of the task that the graphs would read; the same one may come more than once.
    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        self.0.iter().flat_map(names).collect()
    }

    /// How many calls the graphs make at most in a conversation of so many turns.
    pub(crate) fn calls(&self, turns: u64) -> u64 {
        self.0.iter().map(|scorer| calls(scorer, turns)).fold(0, u64::saturating_add)
    }

    /// Gives the program the graphs.
    pub(crate) fn lower(&self, program: &mut Program) {
        for scorer in &self.0 {
            if let Some(known) = program.scorers.iter_mut().find(|known| known.name == scorer.name) {
                *known = score::scorer(scorer);
            }
        }
    }

    /// The program with the graphs. In builds for tests, what is said of the scorers is held against them.
    pub(crate) fn whole(&self, bare: &Program) -> Program {
        let mut whole = bare.clone();
        self.lower(&mut whole);
        let slots: BTreeSet<&Arc<str>> = whole
            .scorers
            .iter()
            .flat_map(|scorer| &scorer.graph)
            .flat_map(|graph| &graph.slots)
            .map(|slot| &slot.name)
            .collect();
        let is_of_task = |name: &&Arc<str>| !is_reserved(name) && !slots.contains(*name);
        let (names, some, all) = (self.names(), Reads::of(bare), Reads::of(&whole));
        let known: BTreeSet<&Arc<str>> = some.all().into_iter().chain(&names).filter(is_of_task).collect();
        let read: BTreeSet<&Arc<str>> = all.all().into_iter().filter(is_of_task).collect();
        debug_assert_eq!(known, read, "the names that scorers read");
        debug_assert!(bounds::crude_beside(bare, |turns| self.calls(turns)) >= bounds::crude(&whole), "their calls");
        whole
    }
}

fn names(scorer: &Scorer) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = scorer.when.iter().flat_map(|when| when.names()).map(Arc::from).collect();
    match &scorer.method {
        Method::Check(check) => {
            names.extend(check.test.templates().into_iter().flat_map(Template::names));
            if let Test::Expr(expr) = &check.test {
                let of_check = |name: &&str| !Test::NAMES.contains(name);
                names.extend(expr.names().into_iter().filter(of_check).map(Arc::from));
            }
        }
        Method::Judge(judge) => names.extend(judge.rubric.names()),
        Method::Graph(_) => {}
    }
    names
}

fn calls(scorer: &Scorer, turns: u64) -> u64 {
    let Method::Judge(judge) = &scorer.method else { return 0 };
    let each = u64::from(score::ATTEMPTS) * judge.roles.len().max(1) as u64;
    let draws = [scorer.runs, scorer.confirm].into_iter().flatten().map(u64::from);
    let of_unit = draws.fold(each, u64::saturating_mul);
    if judge.per_turn { of_unit.saturating_mul(turns) } else { of_unit }
}
