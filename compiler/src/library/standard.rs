//! The standard library: files of definitions in the binary, in the task language itself. A file is read once per process,
//! and only where something of it is used by name.

use aigo_ir::diagnostic::{self, Diagnostics};
use aigo_ir::span::{FileId, SourceFile};

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, PoisonError};

pub use super::page::{Page, page};
use super::{FIRST_FILE, Imported, Loader, Parsed};
use crate::ast::{self, Define, Leaf, Method, Step, Tree, Verb};
use crate::define::Scope;
use crate::lint::allow::Allowances;
use crate::lint::users;
use crate::parse;

/// What the slots of its definitions begin with, where those of other files have their path.
pub(super) const PATH: &str = "std";

/// A file of the standard library.
pub struct File {
    /// Its path, as findings show it.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// What it defines: scorers, in the order of the file.
    pub scorers: &'static [&'static str],
    /// And personas.
    pub personas: &'static [&'static str],
    /// The version of all of them.
    pub version: u32,
}

macro_rules! file {
    ($path:literal, $version:literal, scorers: $scorers:expr, personas: $personas:expr) => {
        File {
            path: concat!("std/", $path),
            text: include_str!(concat!("../../../tasks/std/", $path)),
            scorers: &$scorers,
            personas: &$personas,
            version: $version,
        }
    };
    ($path:literal, $version:literal, $scorer:literal) => {
        file!($path, $version, scorers: [$scorer], personas: [])
    };
}

/// Every file, the newest of a name first. A release that changes what a definition scores adds a file with the next
/// version, and takes none away.
pub static FILES: &[File] = &[
    file!("task_completion.yaml", 1, "task_completion"),
    file!("goal_accuracy.yaml", 1, "goal_accuracy"),
    file!("goal_abandonment.yaml", 1, "goal_abandonment"),
    file!("conversation_completeness.yaml", 1, "conversation_completeness"),
    file!("turn_relevancy.yaml", 1, "turn_relevancy"),
    file!("clarification.yaml", 1, "clarification"),
    file!("knowledge_retention.yaml", 1, "knowledge_retention"),
    file!("repetition.yaml", 1, "repetition"),
    file!("recovery.yaml", 1, "recovery"),
    file!("role_adherence.yaml", 1, "role_adherence"),
    file!("policy_adherence.yaml", 1, "policy_adherence"),
    file!("instruction_drift.yaml", 1, "instruction_drift"),
    file!("topic_adherence.yaml", 1, "topic_adherence"),
    file!("tool_use.yaml", 1, "tool_use"),
    file!("faithfulness.yaml", 1, "faithfulness"),
    file!("context_precision.yaml", 1, "context_precision"),
    file!("context_recall.yaml", 1, "context_recall"),
    file!("context_relevancy.yaml", 1, "context_relevancy"),
    file!("simulator_fidelity.yaml", 1, scorers: ["simulator_fidelity", "persona_played"], personas: []),
    file!("text.yaml", 1, scorers: ["exact", "includes", "pattern", "f1", "choice", "numeric"], personas: []),
    file!(
        "personas.yaml",
        1,
        scorers: [],
        personas: ["terse", "confused", "mind_changer", "under_specifier", "topic_jumper", "adversary", "frustrated"]
    ),
];

/// The names of all scorers, each once.
pub fn scorers<'n>() -> impl Iterator<Item = &'n str> {
    FILES.iter().flat_map(|file| file.scorers).map(|name| *name as &'n str)
}

/// The names of all personas, each once.
pub fn personas<'n>() -> impl Iterator<Item = &'n str> {
    FILES.iter().flat_map(|file| file.personas).map(|name| *name as &'n str)
}

/// The file that defines a scorer, the newest one or the one of a version.
pub fn of_scorer(name: &str, version: Option<u32>) -> Option<&'static File> {
    FILES.iter().find(|file| file.scorers.contains(&name) && version.is_none_or(|version| version == file.version))
}

/// The file that defines a persona.
pub fn of_persona(name: &str) -> Option<&'static File> {
    FILES.iter().find(|file| file.personas.contains(&name))
}

/// The versions of a scorer, newest first.
pub(crate) fn versions(name: &str) -> Vec<u32> {
    FILES.iter().filter(|file| file.scorers.contains(&name)).map(|file| file.version).collect()
}

/// What is used by name, as far as it may be of the standard library.
#[derive(Default)]
struct Used<'u> {
    scorers: Vec<&'u ast::Use>,
    /// How simulated users are, of the task's own steps or of definitions.
    users: Vec<&'u Leaf>,
}

impl<'u> Used<'u> {
    fn scorer(&mut self, scorer: &'u ast::Scorer) {
        if let Method::Use(used) = &scorer.method {
            self.scorers.push(used);
            let personas = used.with.iter().filter(|argument| argument.name.value == "persona");
            self.users.extend(personas.filter_map(|argument| match &argument.value {
                Tree::Text(leaf) => Some(leaf),
                _ => None,
            }));
        }
    }

    fn steps(&mut self, steps: &'u [Step]) {
        for step in steps {
            match &step.verb {
                Verb::SimulateUser(simulate) => self.users.extend(&simulate.persona),
                Verb::Loop { steps, .. } | Verb::ForEach { steps, .. } => self.steps(steps),
                Verb::If { then, otherwise, .. } => {
                    self.steps(then);
                    self.steps(otherwise);
                }
                _ => {}
            }
        }
    }

    fn define(&mut self, define: &'u Define) {
        define.scorers.iter().filter_map(|one| one.body.as_ref()).for_each(|scorer| self.scorer(scorer));
        define.solvers.iter().for_each(|one| self.steps(&one.body));
    }
}

/// The words by which users are played that may be names of personas; none where a file or a parameter may name any.
fn played<'u>(users: &[&'u Leaf], task: Option<&'u ast::Task>) -> Option<Vec<&'u str>> {
    let mut found = Vec::new();
    for user in users {
        let text = user.text.trim();
        if !(text.contains("{{") || text.contains("{%")) {
            found.push(text);
            continue;
        }
        let values = users::values_of(task?, users::name_in(text)?)?;
        found.extend(values.into_iter().map(|value| value.value));
    }
    Some(found)
}

impl Loader<'_> {
    /// What a file of definitions uses of the standard library; what it and its imports define themselves goes before.
    pub(super) fn standard(&self, define: &Define, known: &Scope) -> (Scope, Vec<Arc<Imported>>) {
        let mut used = Used::default();
        used.define(define);
        let played = played(&used.users, None);
        self.standard_of(&used, played.as_deref(), define, known)
    }

    /// The same of a task.
    pub(crate) fn standard_of_task(&self, task: &ast::Task, known: &Scope) -> (Scope, Vec<Arc<Imported>>) {
        let mut used = Used::default();
        used.define(&task.define);
        let of_definitions = played(&used.users, None);
        used.users.clear();
        task.scorers.iter().for_each(|scorer| used.scorer(scorer));
        used.steps(&task.solvers);
        task.scenarios.iter().filter_map(|one| one.solvers.as_deref()).for_each(|steps| used.steps(steps));
        let played = of_definitions.zip(played(&used.users, Some(task))).map(|(a, b)| [a, b].concat());
        self.standard_of(&used, played.as_deref(), &task.define, known)
    }

    fn standard_of(
        &self,
        used: &Used<'_>,
        played: Option<&[&str]>,
        define: &Define,
        known: &Scope,
    ) -> (Scope, Vec<Arc<Imported>>) {
        let (mut scope, mut files) = (Scope::default(), Vec::new());
        let mut seen = BTreeSet::new();
        let mut load = |file: &'static File| {
            let imported = self.standard_file(file);
            if seen.insert(file.path) {
                files.push(Arc::clone(&imported));
            }
            imported
        };
        for used in &used.scorers {
            let name = &used.name.value;
            let own = known.scorers.contains_key(name) || define.scorers.iter().any(|one| one.name.value == *name);
            let Some(file) = of_scorer(name, used.version).filter(|_| !own) else { continue };
            if let Some(defined) = load(file).own.scorers.get(name) {
                scope.scorers.insert(used.key(), Arc::clone(defined));
            }
        }
        for file in FILES {
            for name in file.personas {
                let own =
                    known.personas.contains_key(*name) || define.personas.iter().any(|one| one.name.value == *name);
                // A word that is nearly its name was meant as it, which the checker says.
                let meant = |word: &&str| *word == *name || diagnostic::nearest(word, [*name]).is_some();
                if own || !played.is_none_or(|words| words.iter().any(meant)) {
                    continue;
                }
                if let Some(persona) = load(file).own.personas.get(*name) {
                    scope.personas.insert((*name).to_owned(), Arc::clone(persona));
                }
            }
        }
        (scope, files)
    }

    /// A file of the standard library, read and checked once per process.
    fn standard_file(&self, file: &'static File) -> Arc<Imported> {
        let cell = {
            let mut known = self.session.parsed.lock().unwrap_or_else(PoisonError::into_inner);
            // No path of a system has a colon before it.
            Arc::clone(known.entry(format!(":{}", file.path)).or_insert_with(|| Arc::new(OnceLock::new())))
        };
        let parsed = Arc::clone(cell.get_or_init(|| Arc::new(self.parse_standard(file))));
        self.checked(PATH, &parsed)
    }

    fn parse_standard(&self, file: &'static File) -> Parsed {
        let id = {
            let mut count = self.session.files.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            FileId(FIRST_FILE + *count)
        };
        let source = Arc::new(SourceFile::new(file.path, file.text));
        let tree = aigo_source::parse(file.text, id);
        let mut found = Diagnostics::default();
        found.extend(tree.diagnostics);
        let read = parse::parse_definitions(&tree.tree, &mut found);
        let found = found.finish();
        let errors = found.into_iter().filter(|one| one.row.severity == diagnostic::Severity::Error);
        Parsed {
            file: id,
            source,
            imports: read.imports,
            define: read.define,
            damaged: read.damaged,
            found: errors.collect(),
            allowances: Allowances::default(),
            standard: true,
        }
    }
}
