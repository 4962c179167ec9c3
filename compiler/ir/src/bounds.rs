//! What a run can come to at most, before it is run. Three figures with three words:
//!
//! - *calls*: the exact upper bound of answered calls, tools and repairs included, per role, per sample and in all;
//! - *attempts*: calls times what a call may be tried, which is the driver's to know;
//! - *tokens and money*: an estimate of the worst case under assumptions that are given with it.
//!
//! The method is affine transfer on (lengths of histories, tokens, turns, calls, 1): `walk` multiplies the maps of nodes along
//! sequences, takes the greater coefficients where ways meet, and powers of loops. `spec/plan.md` says why that is never too low.

mod affine;
mod crude;
mod effects;
mod facts;
mod least;
mod samples;
mod show;
mod size;
mod walk;

use std::collections::BTreeMap;
use std::sync::Arc;

use affine::{Affine, MANY};
use effects::{Known, Most, Of, Scoring};
use facts::{Facts, Variables};
use walk::{End, Talk};

pub use crude::{crude, crude_beside};
pub use facts::Longest;
pub use least::least;
pub use samples::Samples;
pub use show::{dollars, grouped, plural};

use crate::graph::Graph;
use crate::program::{Player, Price, Program};

/// How many bytes of text are a token.
pub const TOKEN_BYTES: u64 = 3;
/// What a message adds to a prompt beside its text, in tokens.
pub const MESSAGE_TOKENS: u64 = 4;
/// What a message adds to a transcript beside its text: its label and its author, and the label in the answer's schema.
pub const LABEL_TOKENS: u64 = 10;
/// The marks around a transcript, in tokens.
pub const FENCE_TOKENS: u64 = 40;
/// The longest answer of a role of which nothing says it, in tokens.
pub const ANSWER_TOKENS: u64 = 1024;
/// What a judge is told of its last answer at most, in bytes.
pub const COMPLAINT_BYTES: u64 = 240;
/// How many tools a reply calls, for estimates.
pub const CALLS_OF_A_REPLY: u64 = 4;

/// How many tokens so many bytes are.
pub const fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(TOKEN_BYTES)
}

/// A figure; none where there is no bound.
pub type Count = Option<u64>;

/// What a run can come to at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// The program's name.
    pub name: Arc<str>,
    /// How many samples.
    pub samples: u64,
    /// How often each is run.
    pub epochs: u32,
    /// Each role that is asked, in the program's order.
    pub roles: Vec<OfRole>,
    /// All roles together, whose most need not be in one conversation.
    pub calls: Figure,
    /// Each solve graph that samples run, then each scorer.
    pub graphs: Vec<OfGraph>,
    /// Requests of `setup` and `teardown` around each sample, which are no calls of roles.
    pub around: u64,
    /// What the run costs at most, in USD, as far as prices are known.
    pub cost_usd: Option<f64>,
    /// The models without a price.
    pub unpriced: Vec<Arc<str>>,
    /// Whether the counts of calls can be reached, and are not only above all that can.
    pub exact: bool,
    /// What the estimate of tokens and money takes for granted, in sentences.
    pub assumptions: Vec<String>,
}

/// A count for one sample, the one with the most, and for all with their epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figure {
    /// In one conversation.
    pub a_sample: Count,
    /// In the run.
    pub in_all: Count,
}

/// What a role comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct OfRole {
    /// Its name.
    pub name: Arc<str>,
    /// Who plays it: the model, or the word.
    pub player: String,
    /// Its calls.
    pub calls: Figure,
    /// The tokens of its prompts.
    pub prompts: Figure,
    /// The tokens of its answers.
    pub answers: Figure,
    /// Its longest answer in tokens, and where that comes from.
    pub longest: (u64, Longest),
    /// What its model costs, where that is said.
    pub price: Option<Price>,
    /// What it costs at most in all, in USD; none without a price or a bound.
    pub cost_usd: Option<f64>,
}

/// What one graph comes to in one conversation, the one with the most.
#[derive(Clone, Debug, PartialEq)]
pub struct OfGraph {
    /// Whether it scores.
    pub scores: bool,
    /// Its name.
    pub name: Arc<str>,
    /// How many samples run it.
    pub samples: u64,
    /// The calls of each role that it asks.
    pub calls: Vec<(Arc<str>, Count)>,
    /// The calls of all.
    pub all: Count,
    /// Of a solve graph: the turns of the conversation.
    pub turns: Count,
}

const fn count(n: u64) -> Count {
    if n == MANY { None } else { Some(n) }
}

/// A score graph's map.
#[derive(Clone)]
struct Scored {
    map: Affine,
    exact: bool,
    looked: bool,
    least_cap: u64,
}

struct Bounder<'p> {
    program: &'p Program,
    facts: Facts<'p>,
    scored: BTreeMap<usize, Scored>,
    exact: bool,
    of_calls: bool,
    /// The greatest end of a conversation over all kinds of samples: what score graphs are shown with.
    ends: Vec<u64>,
    solves: BTreeMap<Arc<str>, OfGraph>,
}

/// What a run of the program over these samples can come to at most.
pub fn bound(program: &Program, samples: &Samples) -> Bounds {
    let mut bounder = Bounder {
        program,
        facts: Facts::new(program, samples.fields.clone()),
        scored: BTreeMap::new(),
        exact: !samples.joined,
        of_calls: false,
        ends: Vec::new(),
        solves: BTreeMap::new(),
    };
    let size = bounder.facts.variables.count();
    let (mut sum, mut most) = (vec![0; size], vec![0; size]);
    for ((graph, talk, _), kind) in &samples.kinds {
        let Some(graph) = program.solve(graph) else { continue };
        let (of_all, of_one) = bounder.kind(graph, *talk, kind);
        add(&mut sum, &of_all);
        greatest(&mut most, &of_one);
    }
    bounder.finish(samples, &sum, &most)
}

fn add(sum: &mut [u64], more: &[u64]) {
    sum.iter_mut().zip(more).for_each(|(sum, n)| *sum = sum.saturating_add(*n));
}

fn greatest(most: &mut Vec<u64>, more: &[u64]) {
    most.resize(most.len().max(more.len()), 0);
    most.iter_mut().zip(more).for_each(|(most, n)| *most = (*most).max(*n));
}

impl Bounder<'_> {
    /// The variables at the end: summed over the samples of a kind, and of one of them the greatest.
    fn kind(&mut self, graph: &Graph, talk: Talk, kind: &samples::Kind) -> (Vec<u64>, Vec<u64>) {
        let known = Known::of(&mut self.facts, graph, &kind.lists);
        let (ends, of) = walk::walk(graph, Of::solve(&mut self.facts, graph, &kind.lists, known, &[]), talk);
        self.of_calls |= of.calls_counted;
        let known = of.known;
        let plain = either(&ends).apply(&kind.most);
        let value = |variable: u16| plain.get(usize::from(variable)).copied().unwrap_or(0);
        let most = Most { judged: value(Variables::JUDGED), turns: value(Variables::TURNS) };
        greatest(&mut self.ends, &plain);
        self.solve(graph, kind.count, &plain);
        let (scored, scoring) = self.scorers(&kind.lists, most);
        let (ends, of) = walk::walk(graph, Of::solve(&mut self.facts, graph, &kind.lists, known, &scoring), talk);
        self.exact &= of.exact;
        let scored = ends.get(&End::Scored).map(|map| map.clone().then(&scored));
        let whole = match (scored, ends.get(&End::Unscored)) {
            (Some(scored), Some(unscored)) => scored.either(unscored),
            (scored, unscored) => scored.or_else(|| unscored.cloned()).unwrap_or_default(),
        };
        let mut start = (kind.sum.clone(), kind.most.clone());
        for values in [&mut start.0, &mut start.1] {
            self.score_recorded(values, &scoring);
        }
        (whole.apply(&start.0), whole.apply(&start.1))
    }

    /// The turns that a conversation begins with are scored like those that are added.
    fn score_recorded(&self, values: &mut [u64], scoring: &[Scoring]) {
        let value = |values: &[u64], variable: u16| values.get(usize::from(variable)).copied().unwrap_or(0);
        let (judged, turns) = (value(values, Variables::JUDGED), value(values, Variables::TURNS));
        for (role, scoring) in (0_u16..).zip(scoring) {
            let n = judged.saturating_mul(scoring.judged).saturating_add(turns.saturating_mul(scoring.turns));
            if let Some(place) = values.get_mut(usize::from(self.facts.variables.calls_with_scores(role))) {
                *place = place.saturating_add(n);
            }
        }
    }

    /// The maps of all scorers together, and what they add to the calls of each role.
    fn scorers(&mut self, lists: &BTreeMap<Arc<str>, size::Size>, most: Most) -> (Affine, Vec<Scoring>) {
        let variables = self.facts.variables;
        let (mut all, mut scoring) = (Affine::default(), vec![Scoring::default(); usize::from(variables.all()) + 1]);
        for (at, scorer) in self.program.scorers.iter().enumerate() {
            let Some(graph) = &scorer.graph else { continue };
            let scored = self.scorer(at, graph, lists, most);
            self.exact &= scored.exact && (most.judged.max(most.turns) <= scored.least_cap);
            for (role, sum) in (0_u16..).zip(&mut scoring) {
                let row = scored.map.row(variables.calls(role));
                let of = |variable| affine::of(&row, variable);
                sum.once = sum.once.saturating_add(of(Variables::ONE));
                sum.judged = sum.judged.saturating_add(of(Variables::JUDGED));
                sum.turns = sum.turns.saturating_add(of(Variables::TURNS));
            }
            all = all.then(&scored.map);
        }
        for role in 0..=variables.all() {
            // The calls are counted where they are known exactly: along the conversation.
            all.set(variables.calls_with_scores(role), vec![(variables.calls_with_scores(role), 1)]);
        }
        (all, scoring)
    }

    fn scorer(&mut self, at: usize, graph: &Graph, lists: &BTreeMap<Arc<str>, size::Size>, most: Most) -> Scored {
        if let Some(known) = self.scored.get(&at) {
            return known.clone();
        }
        let known = Known::of(&mut self.facts, graph, lists);
        let (ends, of) = walk::walk(graph, Of::score(&mut self.facts, graph, lists, known, most), Talk::Before);
        let scored = Scored { map: either(&ends), exact: of.exact, looked: of.looked, least_cap: of.least_cap };
        let reads_lists = !lists.is_empty();
        if !scored.looked && !reads_lists {
            self.scored.insert(at, scored.clone());
        }
        scored
    }

    fn solve(&mut self, graph: &Graph, samples: u64, ends: &[u64]) {
        let of = self.graph(graph, false, samples, ends);
        let known = self.solves.entry(graph.name.clone()).or_insert_with(|| OfGraph { samples: 0, ..of.clone() });
        known.samples += samples;
        let more = |a: Count, b: Count| a.zip(b).map(|(a, b)| a.max(b));
        known.all = more(known.all, of.all);
        known.turns = more(known.turns, of.turns);
        for (role, n) in of.calls {
            match known.calls.iter_mut().find(|(name, _)| *name == role) {
                Some((_, known)) => *known = more(*known, n),
                None => known.calls.push((role, n)),
            }
        }
    }

    /// What a graph comes to, of the variables after it.
    fn graph(&self, graph: &Graph, scores: bool, samples: u64, values: &[u64]) -> OfGraph {
        let variables = self.facts.variables;
        let value = |variable: u16| values.get(usize::from(variable)).copied().unwrap_or(0);
        let of_roles =
            (0_u16..).zip(&self.program.roles).map(|(at, role)| (role.name.clone(), value(variables.calls(at))));
        OfGraph {
            scores,
            name: graph.name.clone(),
            samples,
            calls: of_roles.filter(|(_, n)| *n > 0).map(|(role, n)| (role, count(n))).collect(),
            all: count(value(variables.calls(variables.all()))),
            turns: count(value(Variables::TURNS)).filter(|_| !scores),
        }
    }

    fn finish(mut self, samples: &Samples, sum: &[u64], most: &[u64]) -> Bounds {
        let variables = self.facts.variables;
        let epochs = u64::from(self.program.epochs);
        let value = |values: &[u64], variable: u16| values.get(usize::from(variable)).copied().unwrap_or(0);
        let figure = |variable: u16| Figure {
            a_sample: count(value(most, variable)),
            in_all: count(value(sum, variable).saturating_mul(epochs)),
        };
        let mut graphs: Vec<OfGraph> = std::mem::take(&mut self.solves).into_values().collect();
        graphs.sort_by_key(|of| self.program.solves.iter().position(|graph| graph.name == of.name));
        graphs.extend(self.score_graphs(samples));
        let mut roles = Vec::new();
        for (at, role) in (0_u16..).zip(&self.program.roles) {
            let calls = figure(variables.calls_with_scores(at));
            let longest = self.facts.answers.get(usize::from(at)).copied().unwrap_or((ANSWER_TOKENS, Longest::Assumed));
            let times = |n: Count| n.and_then(|n| n.checked_mul(longest.0));
            let answers = Figure { a_sample: times(calls.a_sample), in_all: times(calls.in_all) };
            let prompts = figure(variables.prompts(at));
            let (player, price) = played(&role.player);
            let cost_usd = price.and_then(|price| cost(&price, prompts.in_all?, answers.in_all?));
            if calls.in_all != Some(0) {
                roles.push(OfRole {
                    name: role.name.clone(),
                    player,
                    calls,
                    prompts,
                    answers,
                    longest,
                    price,
                    cost_usd,
                });
            }
        }
        let is_model =
            |role: &&OfRole| self.program.role(&role.name).is_some_and(|role| matches!(role.player, Player::Chat(_)));
        let unpriced =
            roles.iter().filter(is_model).filter(|role| role.price.is_none()).map(|role| role.name.clone()).collect();
        let mut priced = roles.iter().filter(|role| role.price.is_some()).map(|role| role.cost_usd).peekable();
        let cost_usd = priced.peek().is_some().then(|| priced.sum::<Option<f64>>()).flatten();
        let assumptions = show::assumptions(&roles, self.facts.guessed, self.of_calls);
        Bounds {
            name: self.program.name.clone(),
            samples: samples.count(),
            epochs: self.program.epochs,
            calls: figure(variables.calls_with_scores(variables.all())),
            graphs,
            around: (self.program.setup.len() + self.program.teardown.len()) as u64,
            cost_usd,
            unpriced,
            exact: self.exact,
            assumptions,
            roles,
        }
    }

    /// What each scorer comes to on the longest conversation.
    fn score_graphs(&mut self, samples: &Samples) -> Vec<OfGraph> {
        let value = |variable: u16| self.ends.get(usize::from(variable)).copied().unwrap_or(0);
        let most = Most { judged: value(Variables::JUDGED), turns: value(Variables::TURNS) };
        let mut ends = self.ends.clone();
        for role in 0..=self.facts.variables.all() {
            if let Some(place) = ends.get_mut(usize::from(self.facts.variables.calls(role))) {
                *place = 0;
            }
        }
        let lists = samples.fields.clone();
        let mut graphs = Vec::new();
        for (at, scorer) in self.program.scorers.iter().enumerate() {
            let Some(graph) = &scorer.graph else { continue };
            let scored = self.scorer(at, graph, &lists, most);
            graphs.push(self.graph(graph, true, samples.count(), &scored.map.apply(&ends)));
        }
        graphs
    }
}

/// The map that is above all ends.
fn either(ends: &BTreeMap<End, Affine>) -> Affine {
    ends.values().cloned().reduce(|a, b| a.either(&b)).unwrap_or_default()
}

fn played(player: &Player) -> (String, Option<Price>) {
    match player {
        Player::Chat(model) => (model.model.to_string(), model.price),
        Player::Http(_) => ("http".to_owned(), None),
        Player::Command(_) => ("command".to_owned(), None),
        Player::Scripted(_) => ("scripted".to_owned(), None),
    }
}

/// USD for so many tokens.
fn cost(price: &Price, prompts: u64, answers: u64) -> Option<f64> {
    let cost = (prompts as f64 * price.input + answers as f64 * price.output) / 1e6;
    cost.is_finite().then_some(cost)
}
