//! Graphs of judges: names and types of what their steps give, and one score on every path.

use std::sync::Arc;

use aigo_ir::diagnostic;
use aigo_ir::expr::{Expr, Kind};
use aigo_ir::message::USER;
use aigo_ir::reduce::Reducer;
use aigo_ir::schema::Items;
use aigo_ir::span::{Origin, Span, Spanned};
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_ir::verdict::Scale;

use super::Checker;
use crate::ast::{self, GraphVerb, Leaf};
use crate::catalog;
use crate::resolve::JUDGE;
use crate::typed::{Each, Graph, GraphStep, Scored};

/// What is known while the steps of one graph are gone through.
struct Walk<'g> {
    scale: &'g Scale,
    /// Whether a list of verdicts is joined by counting what passes: then its verdicts may be on any scale.
    counts: bool,
    /// Whether the graph is gone through for each turn.
    per_turn: bool,
    /// The scales of verdicts and of lists of verdicts, by name.
    scales: Vec<(Arc<str>, Scale)>,
    /// Of each open `each`: whether its items come to verdicts, and the type that they come to.
    items: Vec<(bool, Option<Type>)>,
    /// Every name that was bound, with its place: slots of maps are their own, so no name is bound twice.
    names: Vec<(Arc<str>, Span)>,
    damaged: bool,
}

/// The number of the turn that a graph of turns is at.
const JUDGED: &str = "judged";

/// How a list of steps ends.
enum End {
    /// On every path there is a score.
    Scored,
    /// It goes on, and may come from a judge.
    Open { judged: bool },
}

impl Checker<'_> {
    pub(super) fn graph(&mut self, graph: &ast::Graph, span: Span) -> Option<Graph> {
        let (names, bound) = (self.names.clone(), std::mem::take(&mut self.bound));
        let counts = graph.join.is_some_and(Reducer::counts_passes) && graph.scale == Scale::Unit;
        let (scale, per_turn) = (&graph.scale, graph.per_turn);
        let (scales, items, named) = (Vec::new(), Vec::new(), Vec::new());
        let mut walk = Walk { scale, counts, per_turn, scales, items, names: named, damaged: false };
        let judged = || Spanned::new(JUDGED.to_owned(), span);
        let of_turn = per_turn.then(|| self.name_in_graph(&judged(), Type::Int, &mut walk));
        let (steps, end) = self.graph_steps(&graph.steps, &mut walk);
        self.names = names;
        self.bound = bound;
        if let End::Open { .. } = end
            && !walk.damaged
        {
            self.no_score(&graph.steps, span, &mut walk);
        }
        let (scale, join) = (graph.scale.clone(), graph.join);
        let has_turns = ast::Method::Graph(Box::new(graph.clone())).has_turns();
        (!walk.damaged).then_some(Graph { steps, scale, of_turn, join, has_turns })
    }

    fn graph_steps(&mut self, steps: &[ast::GraphStep], walk: &mut Walk<'_>) -> (Vec<GraphStep>, End) {
        let mut typed = Vec::new();
        let mut end = End::Open { judged: false };
        for step in steps {
            if matches!(end, End::Scored) {
                let message = "this step can never run: every path before it has a score";
                self.found.push(catalog::NEVER_RUNS.at(step.span, message).help("put it before `score`, or remove it"));
                walk.damaged = true;
                break;
            }
            let before = self.found.len();
            match self.graph_step(step, walk) {
                Some((step, after)) => {
                    typed.push(step);
                    end = after;
                }
                None => {
                    walk.damaged = true;
                    // A score that cannot be read is one all the same.
                    if matches!(step.verb, GraphVerb::Score(_)) {
                        end = End::Scored;
                    }
                }
            }
            walk.damaged |= self.found.len() > before;
        }
        (typed, end)
    }

    /// Says where a path has no score: at the branch that has none.
    fn no_score(&mut self, steps: &[ast::GraphStep], span: Span, walk: &mut Walk<'_>) {
        walk.damaged = true;
        let what = if walk.items.is_empty() { "the graph" } else { "the item" };
        let help = "end it with `score: …`, an expression";
        match steps.last().map(|step| (&step.verb, step.span)) {
            Some((GraphVerb::If { then, otherwise, then_span, else_span, .. }, at)) => {
                if !scores(then) {
                    self.no_score(then, *then_span, walk);
                }
                match else_span {
                    Some(place) if !scores(otherwise) => self.no_score(otherwise, *place, walk),
                    Some(_) => {}
                    None => {
                        let message = format!("where the condition does not hold, {what} comes to no score");
                        self.found.push(catalog::NO_SCORE.at(at, message).help("add `else`, or a `score` after it"));
                    }
                }
            }
            Some((_, at)) => {
                let message = format!("after this step {what} comes to no score");
                self.found.push(catalog::NO_SCORE.at(at, message).help(help));
            }
            None => {
                self.found.push(catalog::NO_SCORE.at(span, format!("{what} comes to no score here")).help(help));
            }
        }
    }

    /// Binds a name that nothing in the graph has.
    fn name_in_graph(&mut self, name: &Spanned<String>, ty: Type, walk: &mut Walk<'_>) -> Arc<str> {
        let text: Arc<str> = name.value.as_str().into();
        if let Some((_, first)) = walk.names.iter().find(|(known, _)| *known == text) {
            let message = format!("`{text}` is a name of another step of this graph");
            self.found.push(
                catalog::NAME_TWICE.at(name.span, message).related(*first, "the other").help("choose another name"),
            );
            return text;
        }
        walk.names.push((text.clone(), name.span));
        self.bind(name, ty)
    }

    fn graph_step(&mut self, step: &ast::GraphStep, walk: &mut Walk<'_>) -> Option<(GraphStep, End)> {
        let origin = Origin::at(step.span);
        let open = End::Open { judged: false };
        Some(match &step.verb {
            GraphVerb::Extract { prompt, items, max_items, model, who, needed } => {
                self.needed(who.as_ref(), *needed, walk);
                if !walk.items.is_empty() {
                    let message = "`extract` within `each` would be a call for every item";
                    self.found.push(catalog::BAD_VALUE.at(step.span, message).help("extract before `each`"));
                    return None;
                }
                let role = model.as_ref().map_or(JUDGE, |model| model.value.as_str()).into();
                let fields = items.iter().map(|(name, kind)| (name.value.as_str().into(), *kind)).collect();
                let items = Items { fields, max: *max_items };
                let prompt = self.template(prompt);
                let into = self.name_in_graph(step.label.as_ref()?, items.list(), walk);
                let (only, needed) = (who.as_ref().map(|who| who.value.as_str().into()), needed.is_some());
                (GraphStep::Extract { role, prompt, items, only, needed, into, origin }, open)
            }
            GraphVerb::Each { list, item, steps, batch, .. } => {
                if let Some(span) = batch {
                    self.batch(steps, *span, walk)?;
                }
                (self.each(list, item, steps, step, walk)?, open)
            }
            GraphVerb::Judge(judge) => {
                let scale = judge.scale.clone();
                self.skips(judge, walk.per_turn || !walk.items.is_empty());
                let judge = Box::new(self.judge(judge));
                let into = step.label.as_ref().map(|label| self.name_in_graph(label, Type::Verdict, walk));
                if let Some(name) = &into {
                    walk.scales.push((name.clone(), scale));
                }
                (GraphStep::Judge { judge, into, origin }, End::Open { judged: true })
            }
            GraphVerb::Set(pairs) => {
                let [(name, leaf)] = pairs.as_slice() else { return self.several(pairs, step, walk) };
                let (value, ty) = self.typed(leaf)?;
                let name = self.name_in_graph(name, ty.clone(), walk);
                (GraphStep::Set { name, ty, value, origin }, open)
            }
            GraphVerb::If { when, then, otherwise, .. } => self.fork(when, then, otherwise, origin, walk)?,
            GraphVerb::Score(leaf) => (self.scored(leaf, origin, walk)?, End::Scored),
        })
    }

    /// `set` of several names is one after the other; the steps are wrapped, so that one step stays one.
    fn several(
        &mut self,
        pairs: &[(Spanned<String>, Leaf)],
        step: &ast::GraphStep,
        walk: &mut Walk<'_>,
    ) -> Option<(GraphStep, End)> {
        let mut steps = Vec::new();
        for (name, leaf) in pairs {
            let (value, ty) = self.typed(leaf)?;
            let name = self.name_in_graph(name, ty.clone(), walk);
            steps.push(GraphStep::Set { name, ty, value, origin: Origin::at(step.span) });
        }
        Some((GraphStep::Several(steps), End::Open { judged: false }))
    }

    fn fork(
        &mut self,
        when: &Leaf,
        then: &[ast::GraphStep],
        otherwise: &[ast::GraphStep],
        origin: Origin,
        walk: &mut Walk<'_>,
    ) -> Option<(GraphStep, End)> {
        let when = self.condition(when);
        let (then, first) = self.graph_steps(then, walk);
        let (otherwise, second) = self.graph_steps(otherwise, walk);
        let end = match (first, second) {
            (End::Scored, End::Scored) => End::Scored,
            (End::Open { judged }, End::Scored) | (End::Scored, End::Open { judged }) => End::Open { judged },
            (End::Open { judged: a }, End::Open { judged: b }) => End::Open { judged: a && b },
        };
        Some((GraphStep::If { when: when?, then, otherwise, origin }, end))
    }

    /// Reports constants that the score can come to and that are not on the scale.
    fn off_scale(&mut self, leaf: &Leaf, score: &Expr, scale: &Scale) {
        let mut possible = Vec::new();
        constants(score, &mut possible);
        for (part, value) in possible.into_iter().filter(|(_, value)| scale.number(value).is_none()) {
            let shown = value.as_str().map_or_else(|| value.to_json(), |text| format!("'{text}'"));
            let help = match scale {
                Scale::Boolean => "write `true` or `false`".to_owned(),
                Scale::Range(low, high) => {
                    format!("write a whole number from {low} to {high}, or give the graph a `scale`")
                }
                Scale::Unit => "write a number from 0 to 1, or give the graph a `scale`".to_owned(),
                Scale::Labels(labels) => {
                    let seen = value.as_str().unwrap_or_default();
                    diagnostic::suggest(seen, labels.iter().map(|(label, _)| &**label)).unwrap_or_default()
                }
            };
            let message =
                format!("the score {shown} is not on the scale {scale}, so every verdict with it would be invalid");
            let at = leaf.locate(self.sources, part.at.range());
            self.found.push(catalog::SCORE_OFF_SCALE.at(at, message).help(help));
        }
    }

    /// What is asked once for all items is one judge's question, outside of any other `each`.
    fn batch(&mut self, steps: &[ast::GraphStep], span: Span, walk: &Walk<'_>) -> Option<()> {
        let one = match steps {
            [ast::GraphStep { verb: GraphVerb::Judge(judge), .. }] => judge.panel.is_empty() && walk.items.is_empty(),
            _ => false,
        };
        if !one {
            let message = "`batch` asks one judge once for all items, and there is more to do for each";
            let help = "remove `batch`, or leave one `judge` with one role as the only step";
            self.found.push(catalog::BAD_VALUE.at(span, message).help(help));
        }
        one.then_some(())
    }

    fn each(
        &mut self,
        list: &Leaf,
        item: &Spanned<String>,
        steps: &[ast::GraphStep],
        step: &ast::GraphStep,
        walk: &mut Walk<'_>,
    ) -> Option<GraphStep> {
        let batch = matches!(&step.verb, GraphVerb::Each { batch: Some(_), .. });
        let (of_turns, about) = match &step.verb {
            GraphVerb::Each { per_turn, about, .. } => (*per_turn, about.as_ref()),
            _ => (None, None),
        };
        let about = about.map(|about| self.template(about));
        let (expr, ty) = self.typed(list)?;
        let item_ty = match ty {
            Type::List(item) => *item,
            Type::Any => Type::Any,
            other => {
                let message = format!("`each` goes through a list, and this is of type {other}");
                let help = "name a list: of `extract`, a field, `turns()` or `judged_turns()`";
                self.found.push(catalog::WRONG_TYPE.at(list.locate(self.sources, expr.at.range()), message).help(help));
                return None;
            }
        };
        if let Some(at) = of_turns {
            self.values_of_turns(at, &item_ty, judges(steps), walk);
        }
        let names = self.names.clone();
        let name = self.name_in_graph(item, item_ty.clone(), walk);
        walk.items.push((judges(steps), None));
        let (mut typed, end) = self.graph_steps(steps, walk);
        match end {
            End::Open { judged: true } if !walk.damaged => {
                typed.push(GraphStep::Score { value: Scored::Last, origin: Origin::at(step.span) });
            }
            End::Open { .. } if !walk.damaged => self.no_score(steps, step.span, walk),
            End::Scored | End::Open { .. } => {}
        }
        let (verdicts, gives) = walk.items.pop().unwrap_or((false, None));
        self.names = names;
        let gives = if verdicts { Type::Verdict } else { gives.unwrap_or(Type::Any) };
        let into = self.name_in_graph(step.label.as_ref()?, Type::List(Box::new(gives.clone())), walk);
        if let Some(scale) = scale_of(steps).filter(|_| verdicts) {
            walk.scales.push((into.clone(), scale));
        }
        let origin = Origin::at(step.span);
        Some(GraphStep::Each(Box::new(Each {
            list: expr,
            item: name,
            item_ty,
            steps: typed,
            gives,
            into,
            batch,
            about,
            per_turn: of_turns.is_some(),
            origin,
        })))
    }

    /// Whether a scorer applies must not depend on what the assistant said; a turn may be left out by whatever is in it.
    fn needed(&mut self, who: Option<&Spanned<String>>, needed: Option<Span>, walk: &mut Walk<'_>) {
        let of_user = who.is_some_and(|who| who.value == USER);
        let Some(at) = needed.filter(|_| !of_user && !walk.per_turn) else { return };
        let message = "whether the scorer applies would depend on what the assistant said";
        let help = "show it the user's side alone: `who: user`, or remove `needed`";
        self.found.push(catalog::NEEDS_USER_SIDE.at(at, message).help(help));
        walk.damaged = true;
    }

    /// The items are numbers of turns, whose values the verdicts are: outside of any other repetition.
    fn values_of_turns(&mut self, at: Span, item: &Type, judged: bool, walk: &mut Walk<'_>) {
        let (message, help) = if !item.fits(&Type::Int) {
            ("`per: turn` needs a list of numbers of turns", "write `in: judged_turns()` or `in: turns()`")
        } else if !judged {
            ("`per: turn` gives verdicts of turns, and no judge is asked here", "remove `per`, or ask a judge")
        } else if walk.per_turn || !walk.items.is_empty() {
            ("`per: turn` stands in what is done for each turn already", "remove `per`")
        } else {
            return;
        };
        self.found.push(catalog::BAD_VALUE.at(at, message).help(help));
        walk.damaged = true;
    }

    fn scored(&mut self, leaf: &Leaf, origin: Origin, walk: &mut Walk<'_>) -> Option<GraphStep> {
        let (value, ty) = self.typed(leaf)?;
        let at = || leaf.locate(self.sources, value.at.range());
        match walk.items.last_mut() {
            // An item of anything, where no judge is asked for it.
            Some((false, gives)) => {
                *gives = Some(gives.as_ref().map_or_else(|| ty.clone(), |known| known.join(&ty)));
            }
            _ => {
                let list = Type::List(Box::new(Type::Verdict));
                let of_verdicts = ty == Type::Verdict || (ty == list && walk.items.is_empty());
                let named = match &value.kind {
                    aigo_ir::expr::Kind::Name(name) => walk.scales.iter().find(|(known, _)| known == name),
                    _ => None,
                };
                let counted = ty == list && walk.counts;
                let differs = |scale: &Scale| of_verdicts && !counted && scale != walk.scale;
                if let Some((name, scale)) = named.filter(|(_, scale)| differs(scale)) {
                    let message = format!("`{name}` is on the scale {scale}, and the graph scores on {}", walk.scale);
                    let help = format!(
                        "write `graph: {{scale: {scale}, steps: […]}}`, or compute a value of the graph's scale"
                    );
                    self.found.push(catalog::BAD_VALUE.at(at(), message).help(help));
                    return None;
                }
                if !of_verdicts && !fits(&ty, walk.scale) {
                    let message = format!("the score is of type {ty}, and the scale is {}", walk.scale);
                    let help = "a score is a value of the scale, a verdict, or a list of verdicts, joined by `over`";
                    self.found.push(catalog::WRONG_TYPE.at(at(), message).help(help));
                    return None;
                }
                self.off_scale(leaf, &value, walk.scale);
            }
        }
        Some(GraphStep::Score { value: Scored::Value(value, ty), origin })
    }
}

/// The constants that an expression can come to.
fn constants<'e>(expr: &'e Expr, found: &mut Vec<(&'e Expr, &'e Value)>) {
    match &expr.kind {
        Kind::Literal(value) => found.push((expr, value)),
        Kind::If(_, yes, no) => {
            constants(yes, found);
            constants(no, found);
        }
        _ => {}
    }
}

/// Whether values of a type can be on a scale.
fn fits(ty: &Type, scale: &Scale) -> bool {
    match scale {
        Scale::Boolean => matches!(ty, Type::Bool | Type::Any),
        Scale::Range(..) | Scale::Unit => matches!(ty, Type::Int | Type::Number | Type::Any),
        Scale::Labels(_) => matches!(ty, Type::Str | Type::Any),
    }
}

/// Whether every path has a score.
fn scores(steps: &[ast::GraphStep]) -> bool {
    steps.iter().any(|step| match &step.verb {
        GraphVerb::Score(_) => true,
        GraphVerb::If { then, otherwise, .. } => scores(then) && scores(otherwise),
        _ => false,
    })
}

/// Whether a judge is asked for an item.
fn judges(steps: &[ast::GraphStep]) -> bool {
    steps.iter().any(|step| match &step.verb {
        GraphVerb::Judge(_) => true,
        GraphVerb::If { then, otherwise, .. } => judges(then) || judges(otherwise),
        _ => false,
    })
}

/// The scale of the judges that are asked for an item, where there is one.
fn scale_of(steps: &[ast::GraphStep]) -> Option<Scale> {
    steps.iter().find_map(|step| match &step.verb {
        GraphVerb::Judge(judge) => Some(judge.scale.clone()),
        GraphVerb::If { then, otherwise, .. } => scale_of(then).or_else(|| scale_of(otherwise)),
        _ => None,
    })
}
