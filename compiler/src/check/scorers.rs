//! Checks and scorers.

mod applies;
mod graphs;

use std::sync::Arc;

use aigo_ir::check::{self, CheckKind, pattern_error};
use aigo_ir::message::ASSISTANT;
use aigo_ir::program;
use aigo_ir::reduce::Reducer;
use aigo_ir::schema::SKIP;
use aigo_ir::span::{Origin, Spanned};
use aigo_ir::value::Value;
use aigo_ir::verdict::Scale;
use aigo_ir::verify::names_of_check;

use super::Checker;
use crate::ast::{self, Leaf};
use crate::catalog;
use crate::resolve::{Checkpoint, JUDGE};
use crate::typed::{Check, Judge, Method, Scorer};

impl Checker<'_> {
    pub(super) fn text_check(&mut self, check: &ast::Check) -> Option<Check> {
        let test = match &check.test {
            ast::Test::Text(kind, wanted) => {
                let template = self.template(wanted);
                if *kind == CheckKind::Matches && !["{{", "{%", "{#"].iter().any(|mark| wanted.text.contains(mark)) {
                    self.pattern(wanted);
                }
                check::Test::Text(*kind, template)
            }
            ast::Test::OneOf(texts) => check::Test::OneOf(texts.iter().map(|text| self.template(text)).collect()),
            ast::Test::JsonSchema(schema) => check::Test::JsonSchema(schema.clone()),
            ast::Test::Words(between) => check::Test::Words(*between),
            ast::Test::Within(ms) => check::Test::Within(*ms),
            ast::Test::NoReply => check::Test::NoReply,
            ast::Test::NoRepetition(of, likeness) => check::Test::NoRepetition(*of, *likeness),
            ast::Test::Turns(between) => check::Test::Turns(*between),
            ast::Test::ToolCalls(calls, mode) => check::Test::ToolCalls(self.call_patterns(calls), *mode),
            ast::Test::State(pairs) => {
                self.expected_state(pairs, check.span);
                check::Test::State(self.operands(pairs))
            }
            ast::Test::StateAfter(calls) => {
                self.has_state("state_after", check.span);
                check::Test::StateAfter(self.call_patterns(calls))
            }
            ast::Test::Similarity(to, likeness) => check::Test::Similarity(self.template(to), *likeness),
            ast::Test::Expr(leaf) => {
                let before = self.names.clone();
                self.names = names_of_check(&before);
                self.of_check = true;
                let condition = self.condition(leaf);
                self.of_check = false;
                self.names = before;
                check::Test::Expr(condition?)
            }
        };
        let who = check.who.as_ref().map_or(ASSISTANT, |who| who.value.as_str()).into();
        let (negated, turns) = (check.negated, check.turns);
        Some(Check { test, negated, who, turns, origin: Origin::at(check.span) })
    }

    /// A pattern stands where it breaks, within the scalar.
    pub(super) fn pattern(&mut self, leaf: &Leaf) {
        // Jinja drops one line break at the end.
        let text = leaf.text.strip_suffix('\n').unwrap_or(&leaf.text);
        let Some(error) = pattern_error(text) else { return };
        let at = leaf.locate(self.sources, error.range);
        let shown = aigo_ir::text::excerpt(text, 60);
        let message = format!("`{shown}` is no regular expression: {}", error.message);
        self.found.push(catalog::BAD_PATTERN.at(at, message).help("the syntax is that of Rust's `regex`"));
    }

    fn call_patterns(&mut self, calls: &[ast::CallPattern]) -> Vec<check::CallPattern> {
        self.expected_calls(calls);
        let pattern = |call: &ast::CallPattern| check::CallPattern {
            name: call.name.value.as_str().into(),
            args: call.args.as_ref().map(|args| self.operands(args)),
        };
        calls.iter().map(pattern).collect()
    }

    fn operands(&mut self, pairs: &[(Spanned<String>, ast::Operand)]) -> Vec<(Arc<str>, check::Operand)> {
        let operand = |operand: &ast::Operand| match operand {
            ast::Operand::Text(leaf) => check::Operand::Text(self.template(leaf)),
            ast::Operand::Data(value) => check::Operand::Data(value.value.clone()),
        };
        let mut operand = operand;
        pairs.iter().map(|(name, value)| (name.value.as_str().into(), operand(value))).collect()
    }

    pub(crate) fn scorer(&mut self, scorer: &ast::Scorer) -> Option<Scorer> {
        if let Some(used) = &scorer.used {
            return self.used_scorer(scorer, used);
        }
        let when = scorer.when.as_ref().map(|leaf| self.applies(leaf));
        let voids = scorer.voids.as_ref().map(|leaf| self.voids(leaf));
        let method = match &scorer.method {
            ast::Method::Check(check) => self.text_check(check).map(|check| Method::Check(Box::new(check))),
            ast::Method::Judge(judge) => {
                self.skips(judge, judge.per_turn);
                Some(Method::Judge(Box::new(self.judge(judge))))
            }
            ast::Method::Graph(graph) => self.graph(graph, scorer.span).map(|graph| Method::Graph(Box::new(graph))),
            // What it uses has been put in its place, or reported.
            ast::Method::Use { .. } => None,
        }?;
        self.repeats(scorer, &method);
        let pass = self.pass(scorer, method.scale());
        Some(Scorer {
            name: scorer.name.value.as_str().into(),
            pass,
            over: scorer.over.as_ref().map(|over| over.value),
            at: scorer.at.as_ref().map(|at| at.value.as_str().into()),
            runs: scorer.runs.as_ref().map(|runs| runs.value),
            confirm: scorer.confirm.as_ref().map(|confirm| confirm.value),
            completion: scorer.completion == Some(true),
            when: when.flatten(),
            voids: voids.flatten(),
            tags: scorer.tags.iter().map(|tag| tag.value.as_str().into()).collect(),
            origin: Origin::at(scorer.span),
            given: Vec::new(),
            library: None,
            method,
        })
    }

    /// The least number that passes. One that is not on the scale is reported at its place.
    pub(super) fn pass(&mut self, scorer: &ast::Scorer, scale: &Scale) -> Option<f64> {
        let pass = scorer.pass.as_ref()?;
        let number = worth(&pass.value, scale);
        let (worst, best) = scale.ends();
        if number.is_some_and(|number| (worst..=best).contains(&number)) {
            return number;
        }
        let shown = match &pass.value {
            Value::Str(text) => text.to_string(),
            other => other.to_json(),
        };
        let help = match scale {
            Scale::Labels(labels) => aigo_ir::diagnostic::suggest(&shown, labels.iter().map(|(label, _)| &**label)),
            Scale::Boolean => Some("write `true`, or remove it".to_owned()),
            _ => Some(format!("write a number from {worst} to {best}")),
        };
        let message = format!("`pass` is {shown}, outside the scale {scale}");
        self.found.push(catalog::BAD_VALUE.at(pass.span, message).maybe_help(help));
        None
    }

    pub(super) fn judge(&mut self, judge: &ast::Judge) -> Judge {
        let roles: Vec<Arc<str>> = roles_of(judge).into_iter().map(Arc::from).collect();
        let panel = (!judge.panel.is_empty()).then(|| {
            let most = u32::try_from(roles.len()).unwrap_or(u32::MAX);
            let over = judge.over_panel.unwrap_or_else(|| Reducer::of_draws(&judge.scale));
            (judge.quorum.unwrap_or(most / 2 + 1), over)
        });
        Judge {
            roles,
            panel,
            rubric: self.template(&judge.rubric),
            scale: judge.scale.clone(),
            anchors: judge.anchors.clone(),
            examples: judge.examples.clone(),
            per_turn: judge.per_turn,
            window: judge.window,
            sees_system: judge.sees_system,
            evidence: judge.evidence,
            skip: judge.skip.as_ref().map(|skip| skip.value.clone()),
        }
    }

    /// A judge may leave out a turn or an item, and never the whole conversation: that would hide what the assistant did.
    pub(super) fn skips(&mut self, judge: &ast::Judge, is_part: bool) {
        let Some(skip) = &judge.skip else { return };
        let labels = if let Scale::Labels(labels) = &judge.scale { labels.as_slice() } else { &[] };
        let found = if labels.iter().any(|(label, _)| **label == *SKIP) {
            let message = format!("`{SKIP}` is a label of the scale, and the word for what is left out");
            catalog::BAD_VALUE.at(skip.span, message).help("give the label another name, or remove `skip`")
        } else if !is_part {
            let message = "`skip` leaves out a turn or an item, and this judge looks at the whole conversation";
            let help = "say with `when`, from the user's side, to which samples the scorer applies";
            catalog::SKIPS_THE_WHOLE.at(skip.span, message).help(help)
        } else {
            return;
        };
        self.found.push(found);
    }

    /// Draws of the whole would give a turn several values, where the graph gives those of turns itself.
    pub(super) fn repeats(&mut self, scorer: &ast::Scorer, method: &Method) {
        let Method::Graph(graph) = method else { return };
        if !graph.has_turns || graph.of_turn.is_some() {
            return;
        }
        for (key, span) in [("runs", &scorer.runs), ("confirm", &scorer.confirm)] {
            let Some(span) = span.as_ref().map(|times| times.span) else { continue };
            let message = format!("`{key}` would give turns several values: this graph judges all turns at once");
            let help = "remove it; a graph with `per: turn`, or a judge of turns, takes it";
            self.found.push(catalog::BAD_VALUE.at(span, message).help(help));
        }
    }

    /// An expression whose type errors are reported, typed.
    fn typed(&mut self, leaf: &Leaf) -> Option<(aigo_ir::expr::Expr, aigo_ir::ty::Type)> {
        let before = self.found.len();
        let found = self.expr(leaf)?;
        (self.found.len() == before).then_some(found)
    }

    /// The scorer of a checkpoint: its verdicts come from the solve graphs, one for each time that the step runs.
    pub(super) fn checkpoint(checkpoint: &Checkpoint) -> program::Scorer {
        let (scale, evidence) = (checkpoint.judge.scale.clone(), checkpoint.judge.evidence);
        let (pass, over) = (scale.default_pass(), Some(Reducer::default_of(&scale)));
        let name = checkpoint.name.value.as_str().into();
        program::Scorer {
            name,
            scale,
            pass,
            over,
            evidence,
            skips: false,
            at: None,
            turns: None,
            completion: false,
            tags: Vec::new(),
            graph: None,
        }
    }
}

/// The number of a `pass`.
fn worth(pass: &Value, scale: &Scale) -> Option<f64> {
    match pass {
        Value::Bool(on) => Some(f64::from(u8::from(*on))),
        Value::Str(_) => scale.number(pass),
        other => other.as_f64(),
    }
}

/// The roles that a judge asks.
pub(crate) fn roles_of(judge: &ast::Judge) -> Vec<&str> {
    if judge.panel.is_empty() {
        vec![judge.model.as_ref().map_or(JUDGE, |model| model.value.as_str())]
    } else {
        judge.panel.iter().map(|role| role.value.as_str()).collect()
    }
}

/// The roles that judge for a scorer.
pub(crate) fn judges_of(scorer: &ast::Scorer) -> Vec<&str> {
    fn of_steps<'s>(steps: &'s [ast::GraphStep], found: &mut Vec<&'s str>) {
        for step in steps {
            match &step.verb {
                ast::GraphVerb::Judge(judge) => found.extend(roles_of(judge)),
                ast::GraphVerb::Extract { model, .. } => {
                    found.push(model.as_ref().map_or(JUDGE, |model| model.value.as_str()));
                }
                ast::GraphVerb::Each { steps, .. } => of_steps(steps, found),
                ast::GraphVerb::If { then, otherwise, .. } => {
                    of_steps(then, found);
                    of_steps(otherwise, found);
                }
                ast::GraphVerb::Set(_) | ast::GraphVerb::Score(_) => {}
            }
        }
    }
    match &scorer.method {
        ast::Method::Judge(judge) => roles_of(judge),
        ast::Method::Graph(graph) => {
            let mut found = Vec::new();
            of_steps(&graph.steps, &mut found);
            found
        }
        ast::Method::Check(_) | ast::Method::Use { .. } => Vec::new(),
    }
}
