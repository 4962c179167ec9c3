//! Stage 1: YAML tree to [`ast::Task`]. Keys and kinds are checked here; names and expressions are not looked into.

mod data;
mod define;
mod fields;
mod misspelt;
mod models;
mod scorers;
mod steps;
mod world;

use aigo_ir::diagnostic::{self, Diagnostic, Diagnostics};
use aigo_ir::span::{Span, Spanned};
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef, Tree};

pub(crate) use data::is_reserved;
pub(crate) use models::is_long_key;

use crate::ast::{Define, Leaf, Samples, Scenario, ScenarioSample, Source, Task};
use crate::catalog;
use crate::shape::{self, Construct, Required};

/// Reads a task. What cannot be read is reported and left out.
pub(crate) fn parse(tree: &Tree, diagnostics: &mut Diagnostics) -> Task {
    let mut reader = Reader { found: diagnostics, lost: Vec::new() };
    let root = tree.root();
    let mut task = Task { span: first_line(root.span()), damaged: root.is_incomplete(), ..Task::default() };
    let Some(fields) = reader.map(root, &shape::TASK) else {
        task.damaged = true;
        return task;
    };
    reader.version(&fields);
    task.name = reader.required(&fields, "name").and_then(|node| reader.text(node, "name"));
    let models = reader.required(&fields, "models");
    task.models = models.map(|node| reader.models(node)).unwrap_or_default();
    task.models_damaged = models.is_some_and(|node| !matches!(node.kind(), NodeKind::Map(_)));
    task.roles = models.into_iter().flat_map(NodeRef::entries).map(|entry| entry.key.value.to_owned()).collect();
    let before = reader.found.len();
    task.fields = fields.get("fields").map(|node| reader.declared(node)).unwrap_or_default();
    if !fields.has("scenarios") {
        reader.required(&fields, "dataset");
    }
    if let Some(node) = fields.get("dataset") {
        task.dataset_span = Some(node.site());
        task.dataset = reader.dataset(node);
    }
    if let Some(node) = fields.get("scenarios") {
        let before = reader.found.len();
        task.scenarios = reader.scenarios(node);
        task.steps_mistaken = reader.found.len() - before;
        task.dataset_span = task.dataset_span.or(Some(node.site()));
        task.dataset.push(Source::new(Samples::Scenarios(samples_of(&task.scenarios)), node.site()));
    }
    task.dataset_damaged = reader.found.len() > before;
    task.imports = fields.get("import").map(|node| reader.imports(node)).unwrap_or_default();
    task.define = fields.get("define").map(|node| reader.define(node)).unwrap_or_default();
    task.state = fields.get("world").and_then(|node| reader.world(node));
    task.tools = fields.get("tools").map(|node| reader.tools(node)).unwrap_or_default();
    task.suites = fields.get("suites").map(|node| reader.suites(node)).unwrap_or_default();
    task.language = fields.get("language").and_then(|node| reader.leaf(node, "language"));
    task.tags = fields.get("tags").map(|node| reader.tags(node)).unwrap_or_default();
    for source in &mut task.dataset {
        source.tags.extend(task.tags.iter().map(|tag| tag.value.clone()));
    }
    let before = reader.found.len();
    task.solvers = fields.get("solvers").map(|node| reader.steps(node, "solvers")).unwrap_or_default();
    task.solvers_span = fields.has("solvers").then(|| fields.key_span("solvers"));
    // Steps beside the samples are told there: that there are none at the top is no second mistake.
    let astray = fields.get("dataset").into_iter().flat_map(|node| node.items().chain([node]));
    let astray = astray.flat_map(NodeRef::entries).find(|entry| entry.key.value == "solvers");
    task.solvers_span = task.solvers_span.or(astray.map(|entry| entry.key.span));
    task.steps_mistaken += reader.found.len() - before;
    let before = reader.found.len();
    task.scorers = fields.get("scorers").map(|node| reader.scorers(node)).unwrap_or_default();
    // A scorer that was no YAML is told already, and is none of these.
    let written = fields.get("scorers").map_or(0, |node| node.items().count());
    task.scorers_damaged = reader.found.len() > before || task.scorers.len() < written;
    task.gates = fields.get("gates").map(|node| reader.gates(node)).unwrap_or_default();
    let epochs = fields.get("epochs");
    task.epochs = epochs.and_then(|node| Some(Spanned::new(reader.count(node, "epochs", 1..=1000)?, node.site())));
    task.seed = fields.get("seed").and_then(|node| reader.whole(node, "seed", 0, i64::MAX)).map(i64::unsigned_abs);
    if let Some(node) = fields.get("limits") {
        task.limits = reader.limits(node);
    }
    task.setup = fields.get("setup").map(|node| reader.calls(node, "setup")).unwrap_or_default();
    task.teardown = fields.get("teardown").map(|node| reader.calls(node, "teardown")).unwrap_or_default();
    if let Some(node) = fields.get("description") {
        reader.text(node, "description");
    }
    task.lost = reader.lost;
    task
}

/// The samples that scenarios are.
fn samples_of(scenarios: &[Scenario]) -> Vec<ScenarioSample> {
    let one = |scenario: &Scenario| ScenarioSample {
        id: scenario.id.clone(),
        tags: scenario.tags.iter().map(|tag| tag.value.clone()).collect(),
        cluster: scenario.cluster.as_ref().map(|cluster| cluster.value.clone()),
        fields: scenario.fields.clone(),
        span: scenario.span,
    };
    scenarios.iter().map(one).collect()
}

/// A file of definitions.
pub(crate) struct Definitions {
    /// `import`
    pub(crate) imports: Vec<Spanned<String>>,
    /// `define`
    pub(crate) define: Define,
    /// Whether a part could not be read, so that what is missing may have been written.
    pub(crate) damaged: bool,
}

/// Reads a file of definitions.
pub(crate) fn parse_definitions(tree: &Tree, diagnostics: &mut Diagnostics) -> Definitions {
    let before = diagnostics.len();
    let mut reader = Reader { found: diagnostics, lost: Vec::new() };
    let root = tree.root();
    let mut read = Definitions { imports: Vec::new(), define: Define::default(), damaged: true };
    let Some(fields) = reader.map(root, &shape::LIBRARY) else { return read };
    reader.version(&fields);
    if let Some(node) = fields.get("description") {
        reader.text(node, "description");
    }
    read.imports = fields.get("import").map(|node| reader.imports(node)).unwrap_or_default();
    read.define = reader.required(&fields, "define").map(|node| reader.define(node)).unwrap_or_default();
    read.damaged = root.is_incomplete() || diagnostics.len() > before;
    read
}

fn first_line(span: Span) -> Span {
    Span { end: span.start, ..span }
}

/// The entries of a map whose keys were checked.
#[derive(Clone)]
pub(crate) struct Fields<'t> {
    node: NodeRef<'t>,
    construct: &'static Construct,
    /// Keys that are none, each with the key that was meant and is not there.
    meant: Vec<(&'static str, Span, NodeRef<'t>)>,
}

impl<'t> Fields<'t> {
    fn new(node: NodeRef<'t>, construct: &'static Construct) -> Self {
        let unknown = node.entries().filter(|entry| construct.key(entry.key.value).is_none());
        let meant = unknown.take(misspelt::SLIPS).filter_map(|entry| {
            let key = misspelt::meant(entry.key.value, construct).filter(|key| node.get(key).is_none())?;
            Some((key, entry.key.span, entry.value))
        });
        Self { node, construct, meant: meant.collect() }
    }

    /// The value that stands under a key, or under one that was surely meant for it.
    fn written(&self, key: &str) -> Option<NodeRef<'t>> {
        let meant = || self.meant.iter().find(|(meant, ..)| *meant == key).map(|(_, _, node)| *node);
        self.node.get(key).or_else(meant)
    }

    /// Whether the key is there, also where its value could not be read.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.written(key).is_some()
    }

    /// The value of a key; none where it could not be read.
    pub(crate) fn get(&self, key: &str) -> Option<NodeRef<'t>> {
        debug_assert!(self.construct.key(key).is_some(), "{key} is not in the table of {}", self.construct.name);
        self.written(key).filter(|node| !node.is_error())
    }

    /// Whether a key that is there means nothing beside the verb.
    pub(crate) fn is_idle(&self, key: &str, verb: &str) -> bool {
        self.node.get(key).is_some() && self.construct.key(key).is_some_and(|key| !key.goes_with(verb))
    }

    /// The key as it stands in the file.
    pub(crate) fn key_span(&self, key: &str) -> Span {
        let meant = || self.meant.iter().find(|(meant, ..)| *meant == key).map(|(_, span, _)| *span);
        let own = self.node.entries().find(|entry| entry.key.value == key).map(|entry| entry.key.span);
        own.or_else(meant).unwrap_or_else(|| self.node.site())
    }
}

/// Reads nodes, reports what they should have been.
pub(crate) struct Reader<'d> {
    found: &'d mut Diagnostics,
    /// Names that steps bind which cannot be read.
    lost: Vec<String>,
}

impl Reader<'_> {
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// A value of another kind than the language wants.
    pub(crate) fn wrong_kind(&mut self, node: NodeRef<'_>, what: &str, wanted: &str) {
        // What is left of a value that was damaged can be of any kind.
        if node.is_error() || node.is_incomplete() {
            return;
        }
        let seen = if node.is_implicit() {
            "nothing is written here".to_owned()
        } else {
            format!("this is {}", node.kind().name())
        };
        let found = catalog::WRONG_KIND.at(node.site(), format!("{what} must be {wanted}, and {seen}"));
        self.report(help_for_kind(found, node, wanted));
    }

    /// A map of a construct, its keys checked.
    pub(crate) fn map<'t>(&mut self, node: NodeRef<'t>, construct: &'static Construct) -> Option<Fields<'t>> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            let keys: Vec<_> = construct.names().take(4).map(|name| format!("`{name}`")).collect();
            self.wrong_kind(node, construct.name, &format!("a map with keys such as {}", keys.join(", ")));
            return None;
        }
        let mut unknown = 0;
        for entry in node.entries() {
            let name = entry.key.value;
            match construct.key(name) {
                Some(_) => {}
                // The rest of a line that was broken off, or what took in the lines of the entry behind it.
                None if entry.key_node.is_next_to_damage() || entry.value.is_next_to_damage() => {}
                None => {
                    unknown += 1;
                    self.report(misspelt::unknown(name, entry.key.span, node, construct, unknown <= misspelt::SLIPS));
                }
            }
        }
        Some(Fields::new(node, construct))
    }

    /// The one verb of a step, scorer, check or rule.
    pub(crate) fn verb<'t>(&mut self, fields: &Fields<'t>) -> Option<(Spanned<&'static str>, NodeRef<'t>)> {
        let construct = fields.construct;
        let mut verbs = fields.node.entries().filter_map(|entry| {
            let verb = construct.verbs().find(|verb| *verb == entry.key.value)?;
            Some((Spanned::new(verb, entry.key.span), entry.value))
        });
        let mut first = verbs.next();
        if let (Some((one, _)), Some((two, _))) = (&first, verbs.next()) {
            let message = format!("{} has one verb, and this has `{}` and `{}`", construct.name, one.value, two.value);
            let help = if construct.name == "a check" {
                "make them two checks: two items of `expect`, or two scorers".to_owned()
            } else {
                format!("write them as two: `- {}: …` and `- {}: …`", one.value, two.value)
            };
            self.report(catalog::TWO_VERBS.at(two.span, message).related(one.span, "the first").help(help));
        }
        if first.is_none() {
            let mut meant = fields.meant.iter();
            let verb = meant.find_map(|(key, span, node)| {
                let verb = construct.verbs().find(|verb| verb == key)?;
                Some((Spanned::new(verb, *span), *node))
            });
            first = verb;
        }
        if first.is_none() && !fields.node.is_incomplete() {
            // An unknown key has been reported, and was probably meant as the verb.
            if fields.node.entries().all(|entry| construct.key(entry.key.value).is_some()) {
                let verbs: Vec<_> = construct.verbs().map(|verb| format!("`{verb}`")).collect();
                let message = format!("{} needs one verb of {}", construct.name, verbs.join(", "));
                let help = format!("add what it is, such as `{}: …`", construct.verbs().next().unwrap_or_default());
                self.report(catalog::NO_VERB.at(first_key(fields.node), message).help(help));
            }
        }
        first.filter(|(_, node)| !node.is_error())
    }

    /// The value of a key that must be there.
    pub(crate) fn required<'t>(&mut self, fields: &Fields<'t>, key: &str) -> Option<NodeRef<'t>> {
        debug_assert!(
            fields.construct.key(key).is_some_and(|key| key.required != Required::No || key.name == "name"),
            "the table of {} says that {key} may be absent",
            fields.construct.name
        );
        if !fields.has(key) && !fields.node.is_incomplete() {
            let doc = fields.construct.key(key).map_or("", |key| key.doc).trim_end_matches(" Required.");
            let message = format!("{} needs `{key}`", fields.construct.name);
            let help = format!("add `{key}`. {doc}");
            self.report(catalog::MISSING_KEY.at(first_key(fields.node), message).help(help));
        }
        fields.get(key)
    }

    /// A string.
    pub(crate) fn text(&mut self, node: NodeRef<'_>, what: &str) -> Option<Spanned<String>> {
        if node.as_str().is_none() {
            self.wrong_kind(node, &named(what), "text");
        }
        node.as_str().map(|text| Spanned::new(text.to_owned(), node.site()))
    }

    /// A name: of a role, a scorer, a label. It becomes part of positions and expressions.
    pub(crate) fn name(&mut self, node: NodeRef<'_>, what: &str) -> Option<Spanned<String>> {
        let text = self.text(node, what)?;
        let first = text.value.chars().next();
        if first.is_some_and(|c| c.is_ascii_alphabetic())
            && text.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        {
            return Some(text);
        }
        let message = format!("`{}` is not possible as {}", text.value, named(what));
        let help = if text.value.contains('/') && ["model", "role", "panel"].contains(&what) {
            "name a role here, such as `judge`; which model plays it stands in `models`"
        } else {
            "a name begins with a letter and has letters, digits and `_`"
        };
        self.report(catalog::BAD_VALUE.at(text.span, message).help(help));
        None
    }

    /// Text that will be read further. Numbers and booleans are taken as they are written.
    pub(crate) fn leaf(&mut self, node: NodeRef<'_>, what: &str) -> Option<Leaf> {
        if let (NodeKind::Scalar(_), Some(text), Some(source)) = (node.kind(), node.scalar_text(), node.scalar_source())
        {
            return Some(Leaf { text: text.to_owned(), span: node.span(), source });
        }
        self.wrong_kind(node, &format!("`{what}`"), "text");
        None
    }

    /// A whole number in a range.
    pub(crate) fn whole(&mut self, node: NodeRef<'_>, what: &str, least: i64, most: i64) -> Option<i64> {
        match node.value() {
            Some(Value::Int(n)) if (least..=most).contains(&n) => Some(n),
            Some(Value::Int(n)) => {
                let most = if most == i64::MAX { String::new() } else { format!(" to {most}") };
                let wanted = if most.is_empty() { format!("at least {least}") } else { format!("{least}{most}") };
                let found = catalog::BAD_VALUE.at(node.site(), format!("`{what}` is {n}, and must be {wanted}"));
                self.report(found.help("write a number in this range"));
                None
            }
            _ => {
                self.wrong_kind(node, &format!("`{what}`"), "a whole number");
                None
            }
        }
    }

    /// A count in a range.
    pub(crate) fn count(&mut self, node: NodeRef<'_>, what: &str, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
        let found = self.whole(node, what, i64::from(*range.start()), i64::from(*range.end()))?;
        u32::try_from(found).ok()
    }

    /// A number.
    pub(crate) fn number(&mut self, node: NodeRef<'_>, what: &str) -> Option<f64> {
        let found = node.value().as_ref().and_then(Value::as_f64);
        if found.is_none() {
            self.wrong_kind(node, &format!("`{what}`"), "a number");
        }
        found
    }

    /// One of several words.
    pub(crate) fn one_of<T: Copy>(&mut self, node: NodeRef<'_>, what: &str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(node, what)?;
        let found = words.iter().find(|(word, _)| *word == text.value).map(|(_, value)| *value);
        if found.is_none() {
            let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let list: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
            let message = format!("`{what}` is `{}`, and must be one of {}", text.value, list.join(", "));
            let found = catalog::BAD_VALUE.at(text.span, message);
            self.report(match diagnostic::nearest(&text.value, known) {
                Some(near) => {
                    found.help(format!("did you mean `{near}`?")).fix(format!("write `{near}`"), text.span, near)
                }
                None => found.help("write one of these words"),
            });
        }
        found
    }

    /// The items of a list.
    pub(crate) fn items<'t>(&mut self, node: NodeRef<'t>, what: &str, of: &str) -> Vec<NodeRef<'t>> {
        if !matches!(node.kind(), NodeKind::List(_)) {
            self.wrong_kind(node, &format!("`{what}`"), &format!("a list of {of}"));
        }
        node.items().filter(|item| !item.is_error()).collect()
    }

    /// The value of a whole subtree.
    pub(crate) fn value(&mut self, node: NodeRef<'_>) -> Option<Value> {
        match node.to_value() {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.report(*diagnostic);
                None
            }
        }
    }

    fn version(&mut self, fields: &Fields<'_>) {
        let Some(node) = self.required(fields, "aigo") else { return };
        let is_one =
            node.value() == Value::float(1.0) || node.as_str().is_some_and(|text| ["1", "v1", "1.0"].contains(&text));
        if is_one {
            let found = catalog::WRONG_KIND.at(node.site(), "the version of the language is a whole number");
            self.report(found.help("write `aigo: 1`").fix("write `1`", node.site(), "1"));
            return;
        }
        if let Some(version) = self.whole(node, "aigo", 0, i64::MAX)
            && version != 1
        {
            let message = format!("`aigo: {version}` is a version of the language that this build does not read");
            self.report(catalog::BAD_VALUE.at(node.site(), message).help("write `aigo: 1`"));
        }
    }
}

/// What to write where another kind of value is wanted.
fn help_for_kind(found: Diagnostic, node: NodeRef<'_>, wanted: &str) -> Diagnostic {
    let number = |text: &str| text.trim().parse::<f64>().is_ok();
    if wanted.starts_with("text") {
        return match node.kind() {
            NodeKind::Scalar(_) if !node.is_implicit() => found.help("put it in quotes"),
            NodeKind::Map(_) => found.help("if it is text with a `: ` in it, put it in quotes"),
            NodeKind::List(_) => found.help("write one text, not a list"),
            _ => found.help("write a text behind the colon"),
        };
    }
    if wanted.contains("number") {
        let help = if node.as_str().is_some_and(number) {
            "remove the quotes"
        } else {
            match wanted {
                "a whole number" => "write it in digits: `5`",
                _ => "write it in digits: `5`, `0.5`",
            }
        };
        return found.help(help);
    }
    if wanted.starts_with("a list") {
        return found.help("begin each entry with `- `, or write `[one, two]`");
    }
    if wanted.starts_with("a map") {
        return found.help("write its keys below it, indented, or `{key: value}`");
    }
    found.help(format!("write {wanted}"))
}

/// A key stands in backquotes, words do not.
fn named(what: &str) -> String {
    if what.contains(' ') { what.to_owned() } else { format!("`{what}`") }
}

/// The first key of a map: where a finding about the whole map is shown.
fn first_key(node: NodeRef<'_>) -> Span {
    node.entries().next().map_or(node.site(), |entry| entry.key.span)
}
