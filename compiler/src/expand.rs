//! Short forms written out, as edits of the text. Which there are is one table ([`SHORT_FORMS`]); where they may stand is the
//! other (`INSIDE`). Comments, anchors and everything else stay where they are.

mod edits;

use aigo_source::{Entry, Kind, NodeRef, Parsed, Tree};

use edits::Edits;

/// A short form and what it stands for.
#[derive(Debug)]
pub struct ShortForm {
    /// As the table of the manual shows it.
    pub written: &'static str,
    /// What it stands for.
    pub long: &'static str,
    place: Place,
    when: When,
    how: How,
}

/// What may stand at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Task,
    Import,
    Models,
    Role,
    Rules,
    Rule,
    Choices,
    Choice,
    Http,
    Reply,
    Session,
    Dataset,
    Scenarios,
    Steps,
    Step,
    Generate,
    Expect,
    WithSteps,
    Fork,
    Define,
    DefinedSolvers,
    DefinedList,
    DefinedScorers,
    DefinedScorer,
    Personas,
    Persona,
    Said,
    Tools,
    Tool,
    Params,
    Param,
    Gates,
    Gate,
}

/// Which values at the place are short.
#[derive(Clone, Copy, Debug)]
enum When {
    Is(&'static str),
    Text,
    List,
    Map,
}

/// What is written in its place.
#[derive(Clone, Copy, Debug)]
enum How {
    /// A verb with nothing in it.
    Verb,
    /// A map with the value under this key, and more after it.
    Under(&'static str, &'static str),
    /// A list with the value as its item.
    InList,
    /// The keys that belong to the step stand beside the verb.
    Beside,
}

const fn short(written: &'static str, long: &'static str, place: Place, when: When, how: How) -> ShortForm {
    ShortForm { written, long, place, when, how }
}

/// Every short form, as the manual lists them.
pub static SHORT_FORMS: [ShortForm; 16] = [
    short("`- generate`", "`- generate: {}` with nothing in it", Place::Step, When::Is("generate"), How::Verb),
    short("`- stop`", "`- stop: {}`", Place::Step, When::Is("stop"), How::Verb),
    short(
        "`generate: {as, expect, on_fail}`",
        "the same keys beside `generate`",
        Place::Generate,
        When::Map,
        How::Beside,
    ),
    short("`expect: {…}`", "`expect: [{…}]`", Place::Expect, When::Map, How::InList),
    short("`import: path`", "`import: [path]`", Place::Import, When::Text, How::InList),
    short(
        "`NAME: [steps]` under `define: {solvers}`",
        "`NAME: {solvers: [steps]}`",
        Place::DefinedList,
        When::List,
        How::Under("solvers", ""),
    ),
    short(
        "`NAME: some text` under `define: {personas}`",
        "`NAME: {text: some text}`",
        Place::Persona,
        When::Text,
        How::Under("text", ""),
    ),
    short("`NAME: string` under `params`", "`NAME: {type: string}`", Place::Param, When::Text, How::Under("type", "")),
    short("`dataset: {…}`", "`dataset: [{…}]`", Place::Dataset, When::Map, How::InList),
    short(
        "`assistant: openai/NAME` as a role",
        "`assistant: {model: openai/NAME}`",
        Place::Role,
        When::Text,
        How::Under("model", ""),
    ),
    short("`- some text` as a rule", "`- {say: some text}`", Place::Rule, When::Text, How::Under("say", "")),
    short("`reply: a.b` of an application", "`reply: {text: a.b}`", Place::Reply, When::Text, How::Under("text", "")),
    short(
        "`session: sticky`",
        "`session: {kind: sticky, created_by: client}`",
        Place::Session,
        When::Is("sticky"),
        How::Under("kind", "created_by: client"),
    ),
    short(
        "`session: stateless`",
        "`session: {kind: stateless}`",
        Place::Session,
        When::Is("stateless"),
        How::Under("kind", ""),
    ),
    short(
        "`- some text` in `any_of`",
        "`- {say: some text, weight: 1}`",
        Place::Choice,
        When::Text,
        How::Under("say", "weight: 1"),
    ),
    short("`- rate(x) >= 1` as a gate", "`- {gate: rate(x) >= 1}`", Place::Gate, When::Text, How::Under("gate", "")),
];

/// What stands in a place, by its key; `*` is any key, `-` an item.
const INSIDE: [(Place, &str, Place); 45] = [
    (Place::Task, "import", Place::Import),
    (Place::Task, "models", Place::Models),
    (Place::Task, "dataset", Place::Dataset),
    (Place::Task, "scenarios", Place::Scenarios),
    (Place::Task, "define", Place::Define),
    (Place::Task, "tools", Place::Tools),
    (Place::Task, "solvers", Place::Steps),
    (Place::Task, "gates", Place::Gates),
    (Place::Models, "*", Place::Role),
    (Place::Role, "scripted", Place::Rules),
    (Place::Role, "http", Place::Http),
    (Place::Http, "reply", Place::Reply),
    (Place::Http, "session", Place::Session),
    (Place::Rules, "-", Place::Rule),
    (Place::Rule, "any_of", Place::Choices),
    (Place::Choices, "-", Place::Choice),
    (Place::Scenarios, "-", Place::WithSteps),
    (Place::WithSteps, "solvers", Place::Steps),
    (Place::Steps, "-", Place::Step),
    (Place::Step, "generate", Place::Generate),
    (Place::Step, "expect", Place::Expect),
    (Place::Generate, "expect", Place::Expect),
    (Place::Step, "loop", Place::WithSteps),
    (Place::Step, "for_each", Place::WithSteps),
    (Place::Step, "if", Place::Fork),
    (Place::Step, "system", Place::Said),
    (Place::Step, "user", Place::Said),
    (Place::Step, "assistant", Place::Said),
    (Place::Said, "any_of", Place::Choices),
    (Place::Fork, "then", Place::Steps),
    (Place::Fork, "else", Place::Steps),
    (Place::Define, "solvers", Place::DefinedSolvers),
    (Place::DefinedSolvers, "*", Place::DefinedList),
    (Place::DefinedList, "-", Place::Step),
    (Place::DefinedList, "solvers", Place::Steps),
    (Place::DefinedList, "params", Place::Params),
    (Place::Define, "scorers", Place::DefinedScorers),
    (Place::DefinedScorers, "*", Place::DefinedScorer),
    (Place::DefinedScorer, "params", Place::Params),
    (Place::Params, "*", Place::Param),
    (Place::Define, "personas", Place::Personas),
    (Place::Personas, "*", Place::Persona),
    (Place::Tools, "-", Place::Tool),
    (Place::Tool, "params", Place::Params),
    (Place::Gates, "-", Place::Gate),
];

/// The text of a task or a file of definitions with its short forms written out. It is not laid out: what is written anew is
/// indented so far that it means the same. Values behind aliases and anchors, and entries that a merge key brings, stay as they are.
///
/// `parsed` has no errors. `again` reads a text.
pub fn expanded(parsed: &Parsed, again: impl Fn(&str) -> Parsed) -> String {
    // What moves beside a verb may have short forms itself, so it moves first.
    let moved = applied(&parsed.tree, |how| matches!(how, How::Beside));
    let parsed = again(&moved);
    applied(&parsed.tree, |how| !matches!(how, How::Beside))
}

fn applied(tree: &Tree, is_wanted: fn(How) -> bool) -> String {
    let mut walk = Walk { edits: Edits::new(tree.text()), is_wanted };
    walk.inside(tree.root(), Place::Task, false);
    walk.edits.applied()
}

struct Walk<'t> {
    edits: Edits<'t>,
    is_wanted: fn(How) -> bool,
}

impl<'t> Walk<'t> {
    /// Goes through a value. The recursion is as deep as the tree, of which the reader refuses deep ones.
    fn inside(&mut self, node: NodeRef<'t>, place: Place, in_flow: bool) {
        let in_flow = in_flow || node.raw().starts_with(['[', '{']);
        let next =
            |key: &str| INSIDE.iter().find(|(at, name, _)| *at == place && *name == key).map(|(_, _, next)| *next);
        if let Kind::List(items) = node.kind() {
            let Some(next) = next("-") else { return };
            let mut from = node.span().start as usize;
            for item in items {
                self.value(item, from, None, next, in_flow);
                from = item.site().end as usize;
            }
            return;
        }
        for entry in node.entries().filter(|entry| !entry.merged) {
            if let Some(next) = next(entry.key.value).or_else(|| next("*")) {
                if next == Place::Generate {
                    self.generate(node, &entry, in_flow);
                }
                self.value(entry.value, entry.key.span.end as usize, Some(&entry), next, in_flow);
            }
        }
    }

    /// A value whose mark, a dash or a colon, stands at or behind `from`.
    fn value(&mut self, node: NodeRef<'t>, from: usize, entry: Option<&Entry<'t>>, place: Place, in_flow: bool) {
        if node.is_alias() || node.is_error() || node.is_implicit() {
            return;
        }
        let text = node.as_str();
        let is = |when: When| match when {
            When::Is(word) => text == Some(word),
            When::Text => text.is_some(),
            When::List => matches!(node.kind(), Kind::List(_)),
            When::Map => matches!(node.kind(), Kind::Map(_)),
        };
        let form = SHORT_FORMS.iter().find(|form| form.place == place && is(form.when));
        let form = form.filter(|form| (self.is_wanted)(form.how) && !self.edits.has_property(from, node));
        match form.map(|form| form.how) {
            Some(How::Verb) => self.edits.insert(node.span().end as usize, ": {}"),
            Some(How::Under(key, more)) => self.edits.wrap(node, from, entry, in_flow, &format!("{key}: "), more),
            Some(How::InList) => self.edits.wrap(node, from, entry, in_flow, "- ", ""),
            Some(How::Beside) | None => {}
        }
        self.inside(node, place, in_flow);
        self.edits.close(node);
    }

    /// The keys of the step that stand within its `generate`.
    fn generate(&mut self, step: NodeRef<'t>, entry: &Entry<'t>, in_flow: bool) {
        const OF_THE_STEP: [&str; 3] = ["as", "expect", "on_fail"];
        let value = entry.value;
        let is_odd = value.entries().any(|inner| inner.merged || inner.value.is_alias());
        let is_twice = OF_THE_STEP.iter().any(|key| value.get(key).is_some() && step.get(key).is_some());
        let moves = |key: &str| OF_THE_STEP.contains(&key);
        let is_short = value.entries().any(|inner| moves(inner.key.value));
        let from = entry.key.span.end as usize;
        if !(self.is_wanted)(How::Beside)
            || !is_short
            || is_odd
            || is_twice
            || value.is_alias()
            || self.edits.has_property(from, value)
        {
            return;
        }
        self.edits.beside(value, entry, in_flow, moves);
    }
}
