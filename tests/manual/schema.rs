//! The schema is printed from the table of keys, stands in `spec/`, and agrees with the compiler: what the compiler accepts, the
//! schema accepts, so what the schema rejects, the compiler rejects. Of what is wrong with the shape of a file, keys, kinds and
//! verbs, the schema finds nearly all.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use aigo_compiler::{Compiled, Sources, known, schema};
use aigo_ir::span::FileId;
use aigo_ir::value::Value;
use jsonschema::Validator;

use super::mutation::{Change, changed, generic, places};
use super::page::{Page, pages};
use super::surroundings;
use crate::harness::{self, root};

/// The codes of what a schema can see: unknown and missing keys, wrong kinds, verbs.
const OF_SHAPE: [&str; 5] = ["E0201", "E0202", "E0204", "E0205", "E0206"];
/// One path is tried so often with each change.
const MOST_OF_ONE_PATH: usize = 3;

fn json(value: &Value) -> serde_json::Value {
    serde_json::from_str(&value.to_json()).expect("a value is JSON")
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft7::new(&json(schema)).expect("a draft-07 schema")
}

/// What a file of YAML holds, with aliases and merge keys resolved as editors resolve them; none where it is not YAML.
fn value_of(text: &str) -> Option<Value> {
    let parsed = aigo_source::parse(text, FileId::default());
    let whole = parsed.diagnostics.iter().all(|one| one.row.severity != aigo_ir::diagnostic::Severity::Error);
    parsed.tree.root().to_value().ok().filter(|_| whole)
}

/// The value as it can be written again: nothing behind `generate:` is an empty map, and no `null`.
fn written(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::list(items.iter().map(written).collect()),
        Value::Map(map) => Value::map(map.iter().map(|(key, inner)| {
            let is_bare = &**key == "generate" && *inner == Value::Null;
            (key.clone(), if is_bare { Value::map::<&str>([]) } else { written(inner) })
        })),
        other => other.clone(),
    }
}

/// What the schema says against a value.
fn complaints(validator: &Validator, value: &Value) -> String {
    let value = json(value);
    let complaints: Vec<String> =
        validator.iter_errors(&value).map(|error| format!("  {}: {error}", error.instance_path())).collect();
    complaints.join("\n")
}

fn accepts(compiled: &Compiled) -> bool {
    compiled.program.is_some() || compiled.is_library
}

/// The tasks of a folder of the project, files of definitions included.
fn files_of(folder: &str) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "yaml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The files beside a task.
struct Beside(PathBuf);

impl Sources for Beside {
    fn open(&self, path: &str) -> std::io::Result<Box<dyn std::io::BufRead + Send>> {
        Ok(Box::new(std::io::BufReader::new(std::fs::File::open(self.0.join(path))?)))
    }

    fn list(&self, pattern: &str) -> std::io::Result<Vec<String>> {
        let paths = std::fs::read_dir(self.0.join(aigo_compiler::glob::folder(pattern)))?;
        let names = paths.filter_map(|entry| {
            let path = entry.ok()?.path();
            Some(path.strip_prefix(&self.0).ok()?.to_str()?.to_owned())
        });
        Ok(names.filter(|name| aigo_compiler::glob::matches(pattern, name)).collect())
    }

    fn env_is_set(&self, _: &str) -> bool {
        true
    }
}

#[test]
fn the_schema_in_spec_is_the_one_that_is_printed() {
    let printed = harness::run(root(), &["schema"]);
    assert_eq!(printed.code, 0, "{}", printed.err);
    let path = root().join("spec/task.schema.json");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &printed.out).expect("it can be written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == printed.out, "spec/task.schema.json is not what `aigo schema` prints: `BLESS=1 cargo test schema`");
    let schema: serde_json::Value = serde_json::from_str(&printed.out).expect("JSON");
    assert!(jsonschema::draft7::meta::is_valid(&schema), "it is no schema of draft-07");
}

/// Every default of the table is a value that its own key takes.
#[test]
fn the_defaults_of_the_schema_are_valid() {
    let schema = json(&schema::schema(None));
    let (mut open, mut count) = (vec![&schema], 0);
    while let Some(value) = open.pop() {
        if let Some(default) = value.get("default").filter(|_| value.get("markdownDescription").is_some()) {
            let mut own = value.clone();
            own["definitions"] = schema["definitions"].clone();
            let own = jsonschema::draft7::new(&own).expect("a schema");
            assert!(own.is_valid(default), "{default} is not possible for {value}");
            count += 1;
        }
        match value {
            serde_json::Value::Object(map) => open.extend(map.values()),
            serde_json::Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    assert!(count > 30, "{count} defaults");
}

#[test]
fn what_the_compiler_accepts_passes_the_schema() {
    let general = validator(&schema::schema(None));
    let (mut accepted, mut wrong) = (0, String::new());
    let mut hold = |place: &str, text: &str, compiled: &Compiled, world: &dyn Sources| {
        if !accepts(compiled) {
            return;
        }
        accepted += 1;
        let value = value_of(text).expect("the compiler has read it");
        let own = validator(&schema::schema(known("task.yaml", text.as_bytes(), world).as_ref()));
        for (which, validator) in [("the schema", &general), ("its own schema", &own)] {
            let complaints = complaints(validator, &value);
            if !complaints.is_empty() {
                let _ = writeln!(wrong, "{place}: against {which}:\n{complaints}");
            }
        }
    };
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.is("yaml")) {
            let text = task_of(block);
            hold(
                &block.place(&page),
                &text,
                &surroundings::compiled(text.as_bytes(), &page),
                &surroundings::files(&page),
            );
        }
    }
    for path in ["tasks", "tests/fixtures", "tests/broken"].iter().flat_map(|folder| files_of(folder)) {
        let text = std::fs::read_to_string(&path).expect("a task");
        let world = Beside(path.parent().map(Path::to_owned).unwrap_or_default());
        let compiled = aigo_compiler::compile("task.yaml", text.as_bytes(), &world);
        hold(&path.display().to_string(), &text, &compiled, &world);
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(accepted > 100, "only {accepted} tasks are accepted");
}

/// The task of a block: the whole of it, or with its surroundings.
fn task_of(block: &super::page::Block) -> String {
    let plain = |word: &&String| !["fails", "fixed"].contains(&word.as_str());
    match block.words.iter().skip(1).find(plain).map_or("task", String::as_str) {
        name if name.contains('.') => block.text.clone(),
        kind => surroundings::task(kind, &block.text),
    }
}

/// Over every example of the manual, with each key and value renamed, removed, altered and of another kind.
#[test]
fn what_the_schema_rejects_the_compiler_rejects() {
    let validator = validator(&schema::schema(None));
    let (mut tried, mut counts, mut wrong) = (BTreeMap::<String, usize>::new(), [0_usize; 3], String::new());
    let mut unseen = BTreeSet::new();
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.is("yaml") && !block.is_file()) {
            let Some(task) = value_of(&task_of(block)).as_ref().map(written) else { continue };
            let mut all = Vec::new();
            places(&task, &mut Vec::new(), &mut all);
            for at in all {
                for change in [Change::Rename, Change::Remove, Change::Alter, Change::Retype] {
                    let path = format!("{} {change:?}", generic(&at));
                    let seen = tried.entry(path.clone()).or_default();
                    let Some(mutant) = changed(&task, &at, change).filter(|_| *seen < MOST_OF_ONE_PATH) else {
                        continue;
                    };
                    *seen += 1;
                    let found = findings(&mutant, &page);
                    counts[0] += 1;
                    let rejects = !validator.is_valid(&json(&mutant));
                    if rejects && found.is_none() {
                        let complaints = complaints(&validator, &mutant);
                        let _ =
                            writeln!(wrong, "{}: {path}: the compiler accepts it:\n{complaints}", block.place(&page));
                    }
                    if found.is_some_and(|codes| codes.iter().any(|code| OF_SHAPE.contains(code))) {
                        counts[1] += 1;
                        counts[2] += usize::from(rejects);
                        if !rejects {
                            unseen.insert(path);
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    let [all, of_shape, seen] = counts;
    assert!(all > 2_000 && of_shape > 600, "only {all} changes, {of_shape} of them of shape");
    let unseen: Vec<String> = unseen.into_iter().collect();
    assert!(
        seen * 100 >= of_shape * 99,
        "the schema sees {seen} of {of_shape} changes of shape; not:\n{}",
        unseen.join("\n")
    );
}

/// The codes of what the compiler finds; none where it accepts the task.
fn findings(task: &Value, page: &Page) -> Option<Vec<&'static str>> {
    let compiled = surroundings::compiled(task.to_json().as_bytes(), page);
    (!accepts(&compiled)).then(|| compiled.diagnostics.iter().map(|one| one.row.code).collect())
}
