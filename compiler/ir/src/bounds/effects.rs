//! What each node does to the variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::affine::{Affine, MANY, of};
use super::facts::{Facts, Variables};
use super::size::{Size, Sizes};
use super::walk::{Effects, End, Passes, Talk, UNBOUNDED};
use super::{CALLS_OF_A_REPLY, FENCE_TOKENS, LABEL_TOKENS, MESSAGE_TOKENS, tokens};
use crate::expr::{Expr, Kind};
use crate::graph::Graph;
use crate::message::{ASSISTANT, USER};
use crate::node::{Bound, Ending, Node, Said, View};
use crate::schema::{self, Schema};
use crate::template::Template;

/// The most recorded messages of one step that are counted.
const MOST_RECORDED: u64 = 1_000;

/// What scoring a conversation adds to the calls of a role: once, for each turn in which the assistant spoke, for each turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Scoring {
    pub(super) once: u64,
    pub(super) judged: u64,
    pub(super) turns: u64,
}

/// The most that a conversation comes to: by these a score graph's passes are counted where they depend on it twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Most {
    pub(super) judged: u64,
    pub(super) turns: u64,
}

/// What is known of a graph's texts, whatever else is asked of it.
pub(super) struct Known {
    slots: BTreeMap<Arc<str>, Size>,
    /// The lengths of its templates that have been looked at, in tokens.
    rendered: BTreeMap<Arc<str>, u64>,
}

impl Known {
    pub(super) fn of(facts: &mut Facts<'_>, graph: &Graph, lists: &BTreeMap<Arc<str>, Size>) -> Self {
        Self { slots: facts.slots(graph, lists), rendered: BTreeMap::new() }
    }
}

/// The effects of the nodes of one graph.
pub(super) struct Of<'f, 'p> {
    facts: &'f mut Facts<'p>,
    graph: &'f Graph,
    pub(super) known: Known,
    lists: &'f BTreeMap<Arc<str>, Size>,
    /// Of a solve graph: what the scorers add, by role, then for all.
    scoring: Option<&'f [Scoring]>,
    most: Most,
    /// Whether the counts are what can happen, and not only above it.
    pub(super) exact: bool,
    /// Whether the most of a conversation was looked at.
    pub(super) looked: bool,
    /// Whether the tool calls of a reply were counted.
    pub(super) calls_counted: bool,
    /// The least number of turns that a region over turns takes.
    pub(super) least_cap: u64,
}

impl<'f, 'p> Of<'f, 'p> {
    pub(super) fn solve(
        facts: &'f mut Facts<'p>,
        graph: &'f Graph,
        lists: &'f BTreeMap<Arc<str>, Size>,
        known: Known,
        scoring: &'f [Scoring],
    ) -> Self {
        let mut of = Self::score(facts, graph, lists, known, Most::default());
        of.scoring = Some(scoring);
        of
    }

    pub(super) fn score(
        facts: &'f mut Facts<'p>,
        graph: &'f Graph,
        lists: &'f BTreeMap<Arc<str>, Size>,
        known: Known,
        most: Most,
    ) -> Self {
        let scoring = None;
        Self {
            facts,
            graph,
            known,
            lists,
            scoring,
            most,
            exact: true,
            looked: false,
            calls_counted: false,
            least_cap: MANY,
        }
    }

    /// Whether a conversation is scored in the graph.
    const fn scores(&self) -> bool {
        self.scoring.is_none()
    }

    fn sized<T>(&mut self, f: impl FnOnce(&mut Sizes<'_>) -> T) -> T {
        let known = vec![&self.known.slots, self.lists, &self.facts.fields];
        let mut sizes = Sizes { known, long: self.facts.long, guessed: false };
        let found = f(&mut sizes);
        let guessed = sizes.guessed;
        self.facts.guessed |= guessed;
        found
    }

    fn rendered(&mut self, template: &Template) -> u64 {
        if let Some(known) = self.known.rendered.get(&template.source) {
            return *known;
        }
        let length = tokens(self.sized(|sizes| sizes.template(template)));
        self.known.rendered.insert(template.source.clone(), length);
        length
    }

    /// Counts a call; in a role of none, of all together.
    fn call(&self, map: &mut Affine, role: u16, n: u64) {
        let variables = self.facts.variables;
        map.add(variables.calls(role), Variables::ONE, n);
        map.add(variables.calls_with_scores(role), Variables::ONE, n);
    }

    /// Counts what scoring will cost for what has just happened.
    fn will_score(&self, map: &mut Affine, what: impl Fn(&Scoring) -> u64) {
        for (role, scoring) in (0_u16..).zip(self.scoring.into_iter().flatten()) {
            let n = what(scoring);
            if n > 0 {
                map.add(self.facts.variables.calls_with_scores(role), Variables::ONE, n);
            }
        }
    }

    /// What one says is in the history of all.
    fn spoken(&self, map: &mut Affine, length: u64, messages: u64) {
        let variables = self.facts.variables;
        let history = length.saturating_add(MESSAGE_TOKENS.saturating_mul(messages));
        for role in 0..variables.all() {
            map.add(variables.history(role), Variables::ONE, history);
        }
        let labelled = length.saturating_add(LABEL_TOKENS.saturating_mul(messages));
        map.add(Variables::TRANSCRIPT, Variables::ONE, labelled);
    }

    /// Something is said: the turn it is in, and the state after it.
    fn say(&self, author: &str, state: Talk, length: u64, messages: u64) -> (Talk, Affine) {
        let mut map = Affine::default();
        let mut after = state;
        if author == USER {
            if state == Talk::Answered {
                map.add(Variables::PREFIXES, Variables::TRANSCRIPT, 1);
            }
            map.add(Variables::TURNS, Variables::ONE, 1);
            self.will_score(&mut map, |scoring| scoring.turns);
            after = if matches!(state, Talk::Before | Talk::Unanswered) { Talk::Unanswered } else { Talk::Pending };
        } else if author == ASSISTANT && matches!(state, Talk::Unanswered | Talk::Pending) {
            map.add(Variables::JUDGED, Variables::ONE, 1);
            self.will_score(&mut map, |scoring| scoring.judged);
            after = Talk::Answered;
        }
        self.spoken(&mut map, length, messages);
        (after, map)
    }

    fn instruct(&self, audience: &str, length: u64) -> Affine {
        let mut map = Affine::default();
        if let Some(role) = self.facts.role(audience) {
            let variable = self.facts.variables.history(role);
            map.add(variable, Variables::ONE, length.saturating_add(MESSAGE_TOKENS));
        }
        map.add(Variables::INSTRUCTIONS, Variables::ONE, length.saturating_add(LABEL_TOKENS));
        map
    }

    fn append(&mut self, author: &str, audience: Option<&str>, said: &Said, state: Talk) -> Vec<(Talk, Affine)> {
        let length = match said {
            Said::Template(template) => self.rendered(template),
            Said::AnyOf(choices) => choices.iter().map(|(text, _)| self.rendered(text)).max().unwrap_or(0),
            Said::Text(expr) => tokens(self.sized(|sizes| sizes.expr(expr, &[])).bytes),
            Said::Reply(slot) => return self.reply(author, slot, state),
            Said::History(list) => return self.history(list, state),
        };
        match audience {
            Some(audience) => vec![(state, self.instruct(audience, length))],
            None => vec![self.say(author, state, length, 1)],
        }
    }

    /// A reply: its text, and its tool calls, which are within its length.
    fn reply(&self, author: &str, slot: &str, state: Talk) -> Vec<(Talk, Affine)> {
        let reply = self.known.slots.get(slot).and_then(|reply| reply.keys.get("text"));
        let length = tokens(reply.map_or(self.facts.long, |text| text.bytes));
        let calls = self
            .graph
            .nodes()
            .any(|(_, placed)| matches!(&placed.node, Node::Generate { tools: true, into, .. } if **into == *slot));
        if !calls {
            return vec![self.say(author, state, length, 1)];
        }
        let said = self.say(author, state, length, 1 + CALLS_OF_A_REPLY);
        let mut silent = Affine::default();
        self.spoken(&mut silent, length, 1 + CALLS_OF_A_REPLY);
        if said.0 == state { vec![said] } else { vec![said, (state, silent)] }
    }

    /// Recorded messages, each by whomever.
    fn history(&mut self, list: &Expr, state: Talk) -> Vec<(Talk, Affine)> {
        let list = self.sized(|sizes| sizes.expr(list, &[]));
        let n = match list.items {
            Some(Passes::Exactly(n) | Passes::AtMost(n)) => n,
            _ => MANY,
        };
        let length = tokens(list.part.map_or(self.facts.long, |part| part.bytes));
        let mut block = BTreeMap::from([(state, Affine::default())]);
        // Beyond so many the estimate would say nothing; four messages come to every state.
        for _ in 0..if n > MOST_RECORDED { 4 } else { n } {
            let mut next = block.clone();
            for (state, before) in &block {
                let one = [USER, ASSISTANT].map(|author| self.say(author, *state, length, 1));
                let system = (*state, self.instruct(ASSISTANT, length));
                for (after, map) in one.into_iter().chain([system]) {
                    let map = before.clone().then(&map);
                    let merged = next.get(&after).map_or_else(|| map.clone(), |known| known.either(&map));
                    next.insert(after, merged);
                }
            }
            block = next;
        }
        if n > MOST_RECORDED {
            self.exact = false;
            for map in block.values_mut() {
                *map = without_bound(map);
            }
        }
        block.into_iter().collect()
    }

    fn generate(&mut self, node: &Node) -> Affine {
        let Node::Generate { role, view, schema: wanted, tools, .. } = node else { return Affine::default() };
        let mut map = Affine::default();
        let Some(number) = self.facts.role(role) else { return map };
        let variables = self.facts.variables;
        self.call(&mut map, number, 1);
        self.call(&mut map, variables.all(), 1);
        let prompts = variables.prompts(number);
        let mut fixed = if *tools { self.facts.offered } else { 0 };
        fixed = fixed.saturating_add(wanted.as_ref().map_or(0, |wanted| self.schema(wanted)));
        let message = |of: &mut Self, text: &Template| of.rendered(text).saturating_add(MESSAGE_TOKENS);
        match view {
            View::Chat { system, opening } => {
                map.add(prompts, variables.history(number), 1);
                for text in system.iter().chain(opening) {
                    fixed = fixed.saturating_add(message(self, text));
                }
            }
            View::Text { system, question, up_to, sees_system, .. } => {
                let shown = match up_to {
                    Some(Expr { kind: Kind::Name(turn), .. }) if self.is_of_turns(turn) => Variables::PREFIX,
                    _ => Variables::TRANSCRIPT,
                };
                map.add(prompts, shown, 1);
                if *sees_system {
                    map.add(prompts, Variables::INSTRUCTIONS, 1);
                }
                for text in system.iter().chain([question]) {
                    fixed = fixed.saturating_add(message(self, text));
                }
                fixed = fixed.saturating_add(FENCE_TOKENS);
            }
        }
        map.add(prompts, Variables::ONE, fixed);
        map
    }

    /// Whether a slot is the turn of a map over turns, in a graph that scores.
    fn is_of_turns(&self, slot: &str) -> bool {
        self.scores()
            && self.graph.nodes().any(|(_, placed)| match &placed.node {
                Node::Map { list: Expr { kind: Kind::Call(function, none), .. }, item, .. } => {
                    **item == *slot && none.is_empty() && !function.is_filter()
                }
                _ => false,
            })
    }

    fn schema(&self, wanted: &Schema) -> u64 {
        let scorer = |name: &str| self.facts.program.scorer(name);
        let shape = match wanted {
            Schema::UserTurn => schema::user_turn_schema(),
            Schema::Verdict(name) => match scorer(name) {
                Some(scorer) => schema::verdict_schema(&scorer.scale, scorer.evidence, scorer.skips, &[]),
                None => return 0,
            },
            Schema::Judged(judged) | Schema::Verdicts(_, judged) => {
                schema::verdict_schema(&judged.scale, judged.rule, judged.skips, &[])
            }
            Schema::Items(items) => schema::items_schema(items, &[]),
        };
        tokens(shape.to_json().len() as u64)
    }

    /// A tool's call, by whichever tool it is.
    fn tool(&self) -> Affine {
        let (variables, mut map) = (self.facts.variables, Affine::default());
        let callers: Vec<u16> = (0..variables.all()).filter(|role| self.offers(*role)).collect();
        let arguments = callers.iter().map(|role| self.facts.answer(*role)).max().unwrap_or(0);
        let mut result = tokens(self.facts.long);
        for role in &self.facts.tool_roles {
            self.call(&mut map, *role, 1);
            map.add(variables.prompts(*role), Variables::ONE, arguments.saturating_add(MESSAGE_TOKENS));
            result = result.max(self.facts.answer(*role));
        }
        if !self.facts.tool_roles.is_empty() {
            self.call(&mut map, variables.all(), 1);
        }
        for role in callers {
            map.add(variables.history(role), Variables::ONE, result.saturating_add(MESSAGE_TOKENS));
        }
        map.add(Variables::TRANSCRIPT, Variables::ONE, result.saturating_add(LABEL_TOKENS));
        map
    }

    fn offers(&self, role: u16) -> bool {
        let name = self.facts.program.roles.get(usize::from(role)).map(|role| &role.name);
        let asks = |node: &Node| matches!(node, Node::Generate { role, tools: true, .. } if Some(role) == name);
        self.graph.nodes().any(|(_, placed)| asks(&placed.node))
    }
}

impl Effects for Of<'_, '_> {
    fn effect(&mut self, node: &Node, state: Talk) -> Vec<(Talk, Affine)> {
        match node {
            Node::Append { author, audience, said } => self.append(author, audience.as_deref(), said, state),
            Node::Generate { .. } => vec![(state, self.generate(node))],
            Node::Tool { .. } => vec![(state, self.tool())],
            _ => vec![(state, Affine::default())],
        }
    }

    fn exit(&mut self, node: &Node, state: Talk) -> (End, Affine) {
        let mut map = Affine::default();
        if self.scores() {
            return (End::Scored, map);
        }
        if state == Talk::Answered {
            map.add(Variables::PREFIXES, Variables::TRANSCRIPT, 1);
        }
        let Node::Exit { ending } = node else { return (End::Unscored, map) };
        let answered = matches!(state, Talk::Answered | Talk::Pending) || *ending == Ending::Recorded;
        if ending.is_void() || !answered {
            // What was counted for turns is not asked: the map must not have it.
            for role in 0..=self.facts.variables.all() {
                let calls = self.facts.variables.calls(role);
                map.set(self.facts.variables.calls_with_scores(role), vec![(calls, 1)]);
            }
            return (End::Unscored, map);
        }
        self.will_score(&mut map, |scoring| scoring.once);
        (End::Scored, map)
    }

    fn passes(&mut self, node: &Node) -> Passes {
        let (list, cap) = match node {
            Node::Loop { bound: Bound::Times(n), .. } => return Passes::Exactly(u64::from(*n)),
            Node::Loop { bound: Bound::Items { list, cap, .. }, .. } | Node::Map { list, cap, .. } => (list, *cap),
            _ => return Passes::Exactly(0),
        };
        let cap = u64::from(cap);
        let items = self.sized(|sizes| sizes.expr(list, &[])).items.unwrap_or(UNBOUNDED);
        match items {
            // More items than are taken are a fault of the task, which ends the graph.
            Passes::Exactly(n) if n > cap => Passes::AtMost(cap),
            Passes::Exactly(n) => Passes::Exactly(n),
            Passes::AtMost(n) => {
                self.exact &= n != MANY;
                Passes::AtMost(if n == MANY { n } else { n.min(cap) })
            }
            Passes::OfCalls => {
                self.calls_counted = true;
                Passes::OfCalls
            }
            turns @ (Passes::OfJudged | Passes::OfTurns) => {
                self.exact &= self.scores();
                self.least_cap = self.least_cap.min(cap);
                if self.scores() { turns } else { Passes::AtMost(cap) }
            }
        }
    }

    fn of_turns(&mut self, body: &Affine, passes: Passes) -> Affine {
        let variables = self.facts.variables;
        let (times, most) = match passes {
            Passes::OfJudged => (Variables::JUDGED, self.most.judged),
            _ => (Variables::TURNS, self.most.turns),
        };
        let mut out = Affine::default();
        for variable in body.changed() {
            let mut grown = 0;
            for (term, factor) in body.row(variable) {
                // What it was before stays once; the rest is added in every pass.
                let factor = if term == variable { factor.saturating_sub(1) } else { factor };
                if factor == 0 {
                    continue;
                }
                match term {
                    Variables::ONE => out.add(variable, times, factor),
                    Variables::PREFIX if times == Variables::JUDGED => out.add(variable, Variables::PREFIXES, factor),
                    Variables::PREFIX => out.add(variable, Variables::TRANSCRIPT, factor.saturating_mul(most)),
                    term => {
                        out.add(variable, term, factor.saturating_mul(most));
                        grown += 1;
                    }
                }
            }
            self.looked |= grown > 0;
            self.exact &= grown == 0 || !variables.counts(variable);
        }
        out
    }

    fn left_early(&mut self, way: &Affine) {
        self.exact &= !way.changed().any(|variable| self.facts.variables.counts(variable));
    }

    fn counted(&mut self, pass: &Affine) -> Vec<u16> {
        let variables = self.facts.variables;
        let grown: Vec<u16> = pass
            .changed()
            .filter(|variable| variables.counts(*variable) && of(&pass.row(*variable), Variables::ONE) > 0)
            .collect();
        self.exact &= grown.is_empty();
        grown
    }

    fn calls_of_a_reply(&mut self) -> u64 {
        CALLS_OF_A_REPLY
    }

    fn meet(&mut self, a: &Affine, b: &Affine) -> Affine {
        let met = a.either(b);
        // Two ways of which neither is the greater one: for a number of turns each can be, and both together are above them.
        for variable in met.changed().filter(|variable| self.facts.variables.counts(*variable)) {
            let row = met.row(variable);
            self.exact &= row == a.row(variable) || row == b.row(variable);
        }
        met
    }
}

/// The same without a bound.
fn without_bound(map: &Affine) -> Affine {
    let mut out = map.clone();
    for variable in map.changed() {
        out.add(variable, Variables::ONE, MANY);
    }
    out
}
