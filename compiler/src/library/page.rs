//! What is told of a definition of the standard library: its page, made of the definition itself.

use std::fmt::Write as _;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::reduce::Reducer;
use aigo_ir::span::FileId;
use aigo_ir::ty::Type;
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Scale};
use aigo_source::NodeRef;

use super::standard::File;
use crate::ast::{Define, Graph, GraphStep, GraphVerb, Method, Scorer};
use crate::parse;

/// What is told of a definition.
#[derive(Debug, Default)]
pub struct Page {
    /// Its name.
    pub name: String,
    /// `scorer` or `persona`.
    pub kind: &'static str,
    /// Its version.
    pub version: u32,
    /// What it is for.
    pub description: String,
    /// Lines of what it gives: scale, `pass`, `over`, `confirm`, evidence.
    pub gives: Vec<(&'static str, String)>,
    /// What it takes: the name, its type and default, what it means.
    pub inputs: Vec<(String, String, String)>,
    /// Calls of a judge for a sample, as a formula in n, the number of answers; none of a persona.
    pub calls: Option<String>,
    /// A conversation that fails.
    pub fails: String,
    /// What it does not see.
    pub limits: String,
    /// The text of the definition, as it stands in its file.
    pub source: String,
    /// The file.
    pub path: &'static str,
}

/// The page of a definition of a file; none where the file has none of that name.
pub fn page(file: &'static File, name: &str) -> Option<Page> {
    let tree = aigo_source::parse(file.text, FileId(0));
    let define = parse::parse_definitions(&tree.tree, &mut Diagnostics::default()).define;
    let root = tree.tree.root();
    let kind = if file.scorers.contains(&name) { "scorer" } else { "persona" };
    let node = root.get("define")?.get(if kind == "scorer" { "scorers" } else { "personas" })?.get(name)?;
    let text = |key: &str| node.get(key).and_then(|node| node.as_str().map(|text| text.trim_end().to_owned()));
    let mut page = Page {
        name: name.to_owned(),
        kind,
        version: file.version,
        description: text("description").unwrap_or_default(),
        fails: text("fails").unwrap_or_default(),
        limits: text("limits").unwrap_or_default(),
        source: source(file.text, name),
        path: file.path,
        ..Page::default()
    };
    match kind {
        "scorer" => of_scorer(&mut page, &define, node),
        _ => of_persona(&mut page, node),
    }
    Some(page)
}

fn of_scorer(page: &mut Page, define: &Define, node: NodeRef<'_>) {
    let Some(defined) = define.scorers.iter().find(|one| one.name.value == page.name) else { return };
    for param in &defined.params {
        let told = node.get("params").and_then(|params| params.get(&param.name.value)?.get("description")?.as_str());
        let is_persona = param.ty == Type::persona();
        let shown = |default: &Value| if is_persona { "none".to_owned() } else { default.to_json() };
        let default = param.default.as_ref().map(|default| format!(", {} unless given", shown(&default.value)));
        let ty = if is_persona { "persona".to_owned() } else { param.ty.to_string() };
        let ty = format!("{ty}{}", default.unwrap_or_default());
        page.inputs.push((param.name.value.clone(), ty, told.unwrap_or_default().to_owned()));
    }
    let Some(scorer) = &defined.body else { return };
    let scale = scorer.method.scale().cloned().unwrap_or(Scale::Boolean);
    let unit = if scorer.method.has_turns() { "each turn, and the conversation" } else { "the conversation" };
    page.gives.push(("of", unit.to_owned()));
    page.gives.push(("scale", scale.to_string()));
    let pass = match &scorer.pass {
        Some(pass) => pass.value.as_str().map_or_else(|| pass.value.to_json(), str::to_owned),
        None => match &scale {
            Scale::Boolean => "true".to_owned(),
            Scale::Labels(_) => scale.end(false).as_str().unwrap_or_default().to_owned(),
            _ => scale.default_pass().to_string(),
        },
    };
    page.gives.push(("pass", pass));
    let is_graph = matches!(scorer.method, Method::Graph(_));
    if scorer.method.has_turns() || is_graph {
        let over = scorer.over.as_ref().map_or_else(|| Reducer::default_of(&scale), |over| over.value);
        page.gives.push(("over", over.word().to_owned()));
    }
    if let Some(confirm) = &scorer.confirm {
        page.gives.push(("confirm", confirm.value.to_string()));
    }
    page.gives.push(("evidence", evidence(scorer).word().to_owned()));
    if let Some(voids) = &scorer.voids {
        page.gives.push(("voids where it fails", voids.text.trim().to_owned()));
    }
    page.calls = Some(calls(scorer));
}

fn of_persona(page: &mut Page, node: NodeRef<'_>) {
    let list = |key: &str| {
        let items = node.get(key).into_iter().flat_map(aigo_source::NodeRef::items);
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect::<Vec<_>>().join("; ")
    };
    page.gives = vec![("must", list("must")), ("probes", list("probes"))];
}

/// The rule of the judge that gives verdicts.
fn evidence(scorer: &Scorer) -> EvidenceRule {
    fn of(steps: &[GraphStep]) -> Option<EvidenceRule> {
        steps.iter().find_map(|step| match &step.verb {
            GraphVerb::Judge(judge) => Some(judge.evidence),
            GraphVerb::Each { steps, .. } => of(steps),
            GraphVerb::If { then, otherwise, .. } => of(then).or_else(|| of(otherwise)),
            _ => None,
        })
    }
    match &scorer.method {
        Method::Judge(judge) => judge.evidence,
        Method::Graph(graph) => of(&graph.steps).unwrap_or(EvidenceRule::None),
        Method::Check(_) | Method::Use(_) => EvidenceRule::None,
    }
}

/// The calls of a sample, repairs and `runs` left out: n is the number of the assistant's answers. Of a list that is empty
/// nothing is asked.
fn calls(scorer: &Scorer) -> String {
    let mut text = match &scorer.method {
        Method::Check(_) | Method::Use(_) => "0".to_owned(),
        Method::Judge(judge) => {
            let each = judge.panel.len().max(1);
            match (judge.per_turn, each) {
                (true, 1) => "n".to_owned(),
                (true, each) => format!("{each}n"),
                (false, each) => each.to_string(),
            }
        }
        Method::Graph(graph) => of_graph(graph),
    };
    if let Some(confirm) = &scorer.confirm {
        let of = if scorer.method.has_turns() { "failing turn" } else { "failing verdict" };
        let _ = write!(text, ", and {} more for each {of}", confirm.value.saturating_sub(1));
    }
    text
}

/// How many calls some steps make: at least, at most, and the lists of which each item makes one.
#[derive(Default)]
struct Count {
    least: usize,
    most: usize,
    lists: Vec<String>,
}

fn of_graph(graph: &Graph) -> String {
    let mut count = Count::default();
    count.steps(&graph.steps);
    let number = |n: usize| match (n, graph.per_turn) {
        (0, _) => "0".to_owned(),
        (1, true) => "n".to_owned(),
        (n, true) => format!("{n}n"),
        (n, false) => n.to_string(),
    };
    let mut text = number(count.most);
    if count.least < count.most {
        text = format!("{} or {text}", number(count.least));
    }
    for list in count.lists {
        let _ = write!(text, " + 1 for each of `{list}`");
    }
    text
}

impl Count {
    fn steps(&mut self, steps: &[GraphStep]) {
        for step in steps {
            match &step.verb {
                GraphVerb::Extract { .. } => self.add(1),
                GraphVerb::Judge(judge) => self.add(judge.panel.len().max(1)),
                GraphVerb::Each { steps, batch, list, .. } => {
                    let asks = steps.iter().any(|step| matches!(step.verb, GraphVerb::Judge(_) | GraphVerb::If { .. }));
                    match (asks, batch) {
                        (true, Some(_)) => self.add(1),
                        (true, None) => self.lists.push(list.text.clone()),
                        (false, _) => {}
                    }
                }
                GraphVerb::If { then, otherwise, .. } => {
                    let [mut a, mut b] = [Self::default(), Self::default()];
                    a.steps(then);
                    b.steps(otherwise);
                    self.least += a.least.min(b.least);
                    self.most += a.most.max(b.most);
                    self.lists.extend(a.lists.into_iter().chain(b.lists));
                }
                GraphVerb::Set(_) | GraphVerb::Score(_) => {}
            }
        }
    }

    const fn add(&mut self, n: usize) {
        self.least += n;
        self.most += n;
    }
}

/// A definition as it stands in its file: its line, and those that are indented further.
fn source(text: &str, name: &str) -> String {
    let mut out = String::new();
    let head = format!("    {name}:");
    for line in text.lines().skip_while(|line| !line.starts_with(&head)) {
        let is_next = line.starts_with("    ") && !line.starts_with("     ") && !out.is_empty();
        if is_next {
            break;
        }
        let _ = writeln!(out, "{}", line.strip_prefix("    ").unwrap_or(line));
    }
    out
}
