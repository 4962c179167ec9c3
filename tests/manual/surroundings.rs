//! The fixed task around a fragment, and the compiler around a task.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor};

use aigo_compiler::lock::{LOCK_FILE, Locking};
use aigo_compiler::{Compiled, Session, Sources, check_in, compile, compile_in};

use super::page::Page;

const ROLES: [(&str, &str); 3] = [
    ("assistant", "{scripted: [{say: Certainly.}]}"),
    ("user", "{scripted: [{say: And then?}]}"),
    ("judge", "{scripted: [{verdict: {evidence: [], reason: It is well., score: 5}}]}"),
];

/// How the task around a fragment begins.
const HEAD: &str = "aigo: 1\nname: example\n";

/// The fields that fragments may read; two samples, of which only one has `note`.
const SAMPLES: &str = "  samples:
    - {id: one, tags: [p0], plan: Pro, goal: add seats, persona: terse, seats: 3, limit: 2.5, names: [Ada, Alan], note: hurried}
    - {id: two, tags: [p1, slow], plan: Team, goal: see the invoice, persona: confused, seats: 5, limit: 4, names: [Grace]}
";

/// The state that fragments of scorers may look at.
const WORLD: &str = "world: {state: {orders: {A1: {status: paid, seats: 2}}}}\n";

/// A whole task around a fragment of a kind.
pub(super) fn task(kind: &str, text: &str) -> String {
    if kind == "task" {
        return text.to_owned();
    }
    let part = |name: &str, usual: &str| if kind == name { indented(text) } else { usual.to_owned() };
    let models = if kind == "rule" {
        format!("  assistant:\n    scripted:\n{}", indented(&indented(&indented(text))))
    } else {
        part("model", "")
    };
    let rest = ROLES.iter().filter(|(role, _)| !models.lines().any(|line| line.starts_with(&format!("  {role}:"))));
    let roles = rest.map(|(role, player)| format!("  {role}: {player}\n")).collect::<Vec<_>>().concat();
    let steps = part("step", "  - generate\n");
    let scorers = part("scorer", "");
    let gates = if kind == "gate" { format!("gates:\n{}", indented(text)) } else { String::new() };
    let top = if kind == "top" { text } else { "" };
    // Checks may look at the state.
    let world = if kind == "scorer" { WORLD } else { "" };
    format!(
        "{HEAD}{top}{world}models:\n{models}{roles}dataset:\n{}solvers:\n  - user: Hello\n{steps}scorers:\n{scorers}  \
         - {{name: polite, check: {{not_contains: nonsense}}}}\n  - {{name: helpful, judge: {{rubric: It helps.}}}}\n{gates}",
        part("dataset", SAMPLES)
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("  {line}\n") }).collect()
}

/// The files that a page has, by name.
pub(super) struct Files(BTreeMap<String, String>);

impl Sources for Files {
    fn open(&self, path: &str) -> io::Result<Box<dyn BufRead + Send>> {
        let text = self.0.get(path).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no such file"))?;
        Ok(Box::new(Cursor::new(text.clone().into_bytes())))
    }

    fn list(&self, pattern: &str) -> io::Result<Vec<String>> {
        Ok(self.0.keys().filter(|path| aigo_compiler::glob::matches(pattern, path)).cloned().collect())
    }

    /// One name is never set, for the page that shows it.
    fn env_is_set(&self, name: &str) -> bool {
        name != "NOT_SET"
    }
}

/// A finding: its code, its line and the whole of it.
pub(super) struct Finding {
    pub(super) code: &'static str,
    pub(super) line: Option<usize>,
    text: String,
}

/// The files of a page.
pub(super) fn files(page: &Page) -> Files {
    let named = page.blocks.iter().filter(|block| block.is_file());
    let files = named.filter_map(|block| Some((block.words.get(1)?.clone(), block.text.clone()))).collect();
    Files(files)
}

pub(super) fn compiled(bytes: &[u8], page: &Page) -> Compiled {
    let compiled = compile("task.yaml", bytes, &files(page));
    let checked = check_in(&Session::default(), "task.yaml", bytes, &files(page));
    assert_eq!(checked.diagnostics, compiled.diagnostics, "a check finds what compiling finds");
    compiled
}

/// The page's first task beside a lock with this text; what it lacks is an error where the lock is required.
pub(super) fn findings_beside(lock: &str, required: bool, page: &Page) -> Vec<Finding> {
    let task = page.blocks.iter().find(|block| block.is("yaml")).expect("a page about locks has a task");
    let mut files = files(page);
    files.0.insert(LOCK_FILE.to_owned(), lock.to_owned());
    let session = Session::with_lock(if required { Locking::Required } else { Locking::Told });
    findings_of(&compile_in(&session, "task.yaml", task.text.as_bytes(), &files))
}

pub(super) fn findings_of(compiled: &Compiled) -> Vec<Finding> {
    let all = compiled.diagnostics.iter();
    all.map(|found| Finding {
        code: found.row.code,
        line: found.span.map(|span| compiled.sources.position(span).line),
        text: found.concise(&compiled.sources),
    })
    .collect()
}

/// The findings of a task of a page. An example shows one thing and need not please the lints, but on pages that are about
/// them and in what a newcomer copies. Nor does it need a lock, or to be short enough for its limits, but on the pages of these.
pub(super) fn findings(task: &str, page: &Page) -> Vec<Finding> {
    let name = page.name();
    let name = name.strip_prefix("spec/diagnostics/").unwrap_or(&name);
    let about = ["README.md", "spec/check.md", "spec/book/", "W060", "W061", "W062", "W063"];
    let is_whole = !task.starts_with(HEAD);
    let of_lints = is_whole && about.iter().any(|start| name.starts_with(start));
    let mut found = findings_of(&compiled(task.as_bytes(), page));
    found.retain(|one| match &one.code[..4] {
        "W060" | "W061" | "W062" | "W063" => of_lints,
        start @ ("W064" | "W065") => name.starts_with(start),
        _ => true,
    });
    found
}

pub(super) fn shown(found: &[Finding]) -> String {
    found.iter().map(|finding| finding.text.clone()).collect::<Vec<_>>().join("\n")
}
