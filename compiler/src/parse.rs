//! Stage 1: YAML tree to [`ast::Task`]. Keys and kinds are checked here; names and expressions are not looked into.

mod models;
mod scorers;
mod steps;

use aigo_ir::diagnostic::{self, Diagnostic, Diagnostics};
use aigo_ir::span::{Span, Spanned};
use aigo_ir::value::Value;
use aigo_source::{Kind as NodeKind, NodeRef, Tree};

use crate::ast::{Leaf, Source, Task};
use crate::catalog;
use crate::shape::{self, Construct, Kind};

/// Reads a task. What cannot be read is reported and left out.
pub(crate) fn parse(tree: &Tree, diagnostics: &mut Diagnostics) -> Task {
    let mut reader = Reader { found: diagnostics };
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
    task.roles = models.into_iter().flat_map(NodeRef::entries).map(|entry| entry.key.value.to_owned()).collect();
    let before = reader.found.len();
    if let Some(node) = reader.required(&fields, "dataset") {
        task.dataset_span = Some(node.site());
        task.dataset = reader.dataset(node);
    }
    task.dataset_damaged = reader.found.len() > before;
    task.solvers = fields.get("solvers").map(|node| reader.steps(node, "solvers")).unwrap_or_default();
    let before = reader.found.len();
    task.scorers = fields.get("scorers").map(|node| reader.scorers(node)).unwrap_or_default();
    task.scorers_damaged = reader.found.len() > before;
    task.gates = fields.get("gates").map(|node| reader.gates(node)).unwrap_or_default();
    task.epochs = fields.get("epochs").and_then(|node| reader.count(node, "epochs", 1..=1000));
    task.seed = fields.get("seed").and_then(|node| reader.whole(node, "seed", 0, i64::MAX)).map(i64::unsigned_abs);
    if let Some(node) = fields.get("limits") {
        task.limits = reader.limits(node);
    }
    if let Some(node) = fields.get("description") {
        reader.text(node, "description");
    }
    task
}

fn first_line(span: Span) -> Span {
    Span { end: span.start, ..span }
}

/// The entries of a map whose keys were checked.
#[derive(Clone)]
pub(crate) struct Fields<'t> {
    node: NodeRef<'t>,
    construct: &'static Construct,
}

impl<'t> Fields<'t> {
    /// The value of a key; none where it could not be read.
    pub(crate) fn get(&self, key: &str) -> Option<NodeRef<'t>> {
        debug_assert!(self.construct.key(key).is_some(), "{key} is not in the table of {}", self.construct.name);
        self.node.get(key).filter(|node| !node.is_error())
    }

    /// The key as it stands in the file.
    pub(crate) fn key_span(&self, key: &str) -> Span {
        self.node.entries().find(|entry| entry.key.value == key).map_or(self.node.site(), |entry| entry.key.span)
    }
}

/// Reads nodes, reports what they should have been.
pub(crate) struct Reader<'d> {
    found: &'d mut Diagnostics,
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
        self.report(catalog::WRONG_KIND.at(node.site(), format!("{what} must be {wanted}, and {seen}")));
    }

    /// A map of a construct, its keys checked.
    pub(crate) fn map<'t>(&mut self, node: NodeRef<'t>, construct: &'static Construct) -> Option<Fields<'t>> {
        if !matches!(node.kind(), NodeKind::Map(_)) {
            let keys: Vec<_> = construct.names().take(4).map(|name| format!("`{name}`")).collect();
            self.wrong_kind(node, construct.name, &format!("a map with keys such as {}", keys.join(", ")));
            return None;
        }
        for entry in node.entries() {
            let name = entry.key.value;
            match construct.key(name) {
                Some(key) if key.kind == Kind::Planned => {
                    let message = format!(
                        "`{name}` of {} is part of the language, and this version of aigo does not have it yet",
                        construct.name
                    );
                    self.report(
                        catalog::NOT_YET.at(entry.key.span, message).help("remove it, or use a version that has it"),
                    );
                }
                Some(_) => {}
                // The rest of a line that was broken off, or what took in the lines of the entry behind it.
                None if entry.key_node.is_next_to_damage() || entry.value.is_next_to_damage() => {}
                None => {
                    let message = format!("`{name}` is not a key of {}", construct.name);
                    let mut diagnostic = catalog::UNKNOWN_KEY.at(entry.key.span, message);
                    if let Some(near) = diagnostic::nearest(name, construct.names()) {
                        diagnostic = diagnostic.help(format!("did you mean `{near}`?")).fix(
                            format!("write `{near}`"),
                            entry.key.span,
                            near,
                        );
                    } else {
                        diagnostic = diagnostic.maybe_help(diagnostic::suggest(name, construct.names()));
                    }
                    self.report(diagnostic);
                }
            }
        }
        Some(Fields { node, construct })
    }

    /// The one verb of a step, scorer, check or rule.
    pub(crate) fn verb<'t>(&mut self, fields: &Fields<'t>) -> Option<(Spanned<&'static str>, NodeRef<'t>)> {
        let construct = fields.construct;
        let mut verbs = fields.node.entries().filter_map(|entry| {
            let verb = construct.verbs().find(|verb| *verb == entry.key.value)?;
            Some((Spanned::new(verb, entry.key.span), entry.value))
        });
        let first = verbs.next();
        if let (Some((one, _)), Some((two, _))) = (&first, verbs.next()) {
            let message = format!("{} has one verb, and this has `{}` and `{}`", construct.name, one.value, two.value);
            let help = format!("write them as two: `- {}: …` and `- {}: …`", one.value, two.value);
            self.report(catalog::TWO_VERBS.at(two.span, message).related(one.span, "the first").help(help));
        }
        if first.is_none() && !fields.node.is_incomplete() {
            // An unknown or planned key has been reported, and was probably meant as the verb.
            let known = |name: &str| construct.key(name).is_some_and(|key| key.kind != Kind::Planned);
            if fields.node.entries().all(|entry| known(entry.key.value)) {
                let verbs: Vec<_> = construct.verbs().map(|verb| format!("`{verb}`")).collect();
                let message = format!("{} needs one verb of {}", construct.name, verbs.join(", "));
                self.report(catalog::NO_VERB.at(first_key(fields.node), message));
            }
        }
        first.filter(|(_, node)| !node.is_error())
    }

    /// The value of a key that must be there.
    pub(crate) fn required<'t>(&mut self, fields: &Fields<'t>, key: &str) -> Option<NodeRef<'t>> {
        if fields.node.get(key).is_none() && !fields.node.is_incomplete() {
            let doc = fields.construct.key(key).map_or("", |key| key.doc);
            let message = format!("{} needs `{key}`", fields.construct.name);
            self.report(catalog::MISSING_KEY.at(first_key(fields.node), message).help(doc));
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
        let help = "a name begins with a letter and has letters, digits and `_`";
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
                self.report(catalog::BAD_VALUE.at(node.site(), format!("`{what}` is {n}, and must be {wanted}")));
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
            let near = diagnostic::nearest(&text.value, known).map(|near| format!("did you mean `{near}`?"));
            self.report(catalog::BAD_VALUE.at(text.span, message).maybe_help(near));
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
        if let Some(version) = self.whole(node, "aigo", 0, i64::MAX)
            && version != 1
        {
            let message = format!("`aigo: {version}` is a version of the language that this build does not read");
            self.report(catalog::BAD_VALUE.at(node.site(), message).help("write `aigo: 1`"));
        }
    }

    fn limits(&mut self, node: NodeRef<'_>) -> aigo_ir::program::Limits {
        let mut limits = aigo_ir::program::Limits::default();
        let Some(fields) = self.map(node, &shape::LIMITS) else { return limits };
        let calls = fields.get("calls").and_then(|node| self.whole(node, "calls", 1, i64::MAX));
        limits.calls = calls.map(i64::unsigned_abs);
        limits.time_s = fields.get("time").and_then(|node| self.duration(node, "time"));
        limits
    }

    /// `90s`, `60m`, `2h`, in seconds.
    fn duration(&mut self, node: NodeRef<'_>, what: &str) -> Option<u64> {
        let text = self.text(node, what)?;
        let split = text.value.len() - text.value.chars().next_back().map_or(0, char::len_utf8);
        let (number, unit) = text.value.split_at(split);
        let scale = [("s", 1), ("m", 60), ("h", 3600)].into_iter().find(|(name, _)| *name == unit).map(|(_, s)| s);
        let seconds = scale.and_then(|scale| number.parse::<u64>().ok()?.checked_mul(scale)).filter(|s| *s > 0);
        if seconds.is_none() {
            let message = format!("`{what}` is `{}`, and must be a duration such as `90s`, `60m`, `2h`", text.value);
            self.report(catalog::BAD_VALUE.at(text.span, message));
        }
        seconds
    }

    fn dataset(&mut self, node: NodeRef<'_>) -> Vec<Source> {
        match node.kind() {
            NodeKind::List(items) => {
                items.filter(|item| !item.is_error()).filter_map(|item| self.source(item)).collect()
            }
            _ => self.source(node).into_iter().collect(),
        }
    }

    fn source(&mut self, node: NodeRef<'_>) -> Option<Source> {
        let fields = self.map(node, &shape::DATASET)?;
        let (verb, value) = self.verb(&fields)?;
        match verb.value {
            "samples" => {
                let mut rows = Vec::new();
                for item in self.items(value, "samples", "maps") {
                    if !matches!(item.kind(), NodeKind::Map(_)) {
                        self.wrong_kind(item, "a sample", "a map of its fields");
                    } else if let Some(row) = self.value(item) {
                        rows.push(Spanned::new(row, item.site()));
                    }
                }
                Some(Source::Samples(rows))
            }
            "file" => self.text(value, "file").map(Source::File),
            _ => {
                if !matches!(value.kind(), NodeKind::Map(_)) {
                    self.wrong_kind(value, "`matrix`", "a map of fields to lists of values");
                }
                let mut columns = Vec::new();
                for entry in value.entries() {
                    let items = self.items(entry.value, entry.key.value, "values");
                    let values = items.into_iter().filter_map(|item| self.value(item)).collect();
                    columns.push((entry.key.value.to_owned(), values));
                }
                Some(Source::Matrix(columns, value.site()))
            }
        }
    }
}

/// A key stands in backquotes, words do not.
fn named(what: &str) -> String {
    if what.contains(' ') { what.to_owned() } else { format!("`{what}`") }
}

/// The first key of a map: where a finding about the whole map is shown.
fn first_key(node: NodeRef<'_>) -> Span {
    node.entries().next().map_or(node.site(), |entry| entry.key.span)
}
