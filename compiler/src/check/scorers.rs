//! Checks and scorers.

use aigo_ir::check::CheckKind;
use aigo_ir::eval;
use aigo_ir::message::ASSISTANT;
use aigo_ir::program;
use aigo_ir::reduce::Reducer;
use aigo_ir::span::Origin;

use super::Checker;
use crate::ast;
use crate::catalog;
use crate::resolve::{Checkpoint, JUDGE};
use crate::typed::{Check, Judge, Method, Scorer};

impl Checker<'_> {
    pub(super) fn text_check(&mut self, check: &ast::Check) -> Check {
        let wanted = self.template(&check.wanted);
        if check.kind.0 == CheckKind::Matches
            && wanted.is_literal()
            && let Err(why) = eval::regex(&wanted.source)
        {
            let message = format!("`{}` is no regular expression: {why}", aigo_ir::text::excerpt(&wanted.source, 60));
            self.found
                .push(catalog::BAD_PATTERN.at(check.wanted.span, message).help("the syntax is that of Rust's `regex`"));
        }
        let who = check.who.as_ref().map_or(ASSISTANT, |who| who.value.as_str()).into();
        Check { kind: check.kind, wanted, who, turns: check.turns, origin: Origin::at(check.span) }
    }

    pub(crate) fn scorer(&mut self, scorer: &ast::Scorer) -> Scorer {
        let method = match &scorer.method {
            ast::Method::Check(check) => Method::Check(self.text_check(check)),
            ast::Method::Judge(judge) => Method::Judge(Box::new(self.judge(judge))),
        };
        let name = scorer.name.value.as_str().into();
        Scorer {
            name,
            method,
            given: Vec::new(),
            pass: scorer.pass,
            over: scorer.over,
            origin: Origin::at(scorer.span),
        }
    }

    /// A judge, of a scorer or a checkpoint.
    pub(super) fn judge(&mut self, judge: &ast::Judge) -> Judge {
        Judge {
            role: judge.model.as_ref().map_or(JUDGE, |model| model.value.as_str()).into(),
            rubric: self.template(&judge.rubric),
            scale: judge.scale.clone(),
            anchors: judge.anchors.clone(),
            per_turn: judge.per_turn,
            window: judge.window,
            evidence: judge.evidence,
        }
    }

    /// The scorer of a checkpoint: its verdicts come from the solve graphs, one for each time that the step runs.
    pub(super) fn checkpoint(&mut self, checkpoint: &Checkpoint) -> program::Scorer {
        let (scale, evidence) = (checkpoint.judge.scale.clone(), checkpoint.judge.evidence);
        let (pass, over) = (scale.default_pass(), Some(Reducer::default_of(&scale)));
        program::Scorer { name: checkpoint.name.value.as_str().into(), scale, pass, over, evidence, graph: None }
    }
}

/// The role that judges for a scorer.
pub(super) fn judge_of(scorer: &ast::Scorer) -> Option<&str> {
    match &scorer.method {
        ast::Method::Judge(judge) => Some(judge.model.as_ref().map_or(JUDGE, |model| model.value.as_str())),
        ast::Method::Check(_) => None,
    }
}
