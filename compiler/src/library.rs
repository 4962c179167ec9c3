//! Files of definitions: each is read and parsed once per process, whoever imports it.
//!
//! What is shared depends on nothing but the files, so a finding in one is the same for every task that imports it.

mod page;
pub mod standard;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use aigo_ir::diagnostic::{self, Diagnostic, Diagnostics};
use aigo_ir::span::{FileId, SourceFile, SourceMap, Spanned};
use aigo_source::MAX_FILE_BYTES;

use crate::ast::Define;
use crate::catalog;
use crate::define::{self, Scope};
use crate::lint::allow::Allowances;
use crate::lock::Locking;
use crate::sources::Sources;
use crate::{lint, parse};

/// The most files that one file may import, those that its imports import included.
const MOST_FILES: usize = 1_000;
/// Imported files have numbers of their own, which are the same for all tasks of a process.
const FIRST_FILE: u32 = 1 << 24;

/// What the tasks of one process share.
#[derive(Default)]
pub struct Session {
    /// What each of them says of the lock beside it.
    pub(crate) locking: Locking,
    parsed: Mutex<BTreeMap<String, Arc<OnceLock<Arc<Parsed>>>>>,
    checked: Mutex<BTreeMap<String, Arc<Imported>>>,
    files: Mutex<u32>,
}

impl Session {
    /// A session whose tasks say this of their locks.
    pub fn with_lock(locking: Locking) -> Self {
        Self { locking, ..Self::default() }
    }
}

/// A file of definitions, parsed.
struct Parsed {
    file: FileId,
    source: Arc<SourceFile>,
    imports: Vec<Spanned<String>>,
    define: Define,
    damaged: bool,
    found: Vec<Diagnostic>,
    allowances: Allowances,
    /// Whether it is of the standard library: of that nobody is told how it could be better.
    standard: bool,
}

/// A file of definitions, checked.
pub(crate) struct Imported {
    /// Which file it is.
    pub(crate) file: FileId,
    source: Arc<SourceFile>,
    /// What it defines.
    pub(crate) own: Scope,
    /// What it imports.
    imports: Vec<Arc<Imported>>,
    found: Vec<Diagnostic>,
}

/// One compilation's way to its imports.
pub(crate) struct Loader<'l> {
    /// What is shared.
    pub(crate) session: &'l Session,
    /// The door.
    pub(crate) world: &'l dyn Sources,
}

/// Why a file cannot be imported.
struct Unreadable {
    message: String,
    help: &'static str,
}

impl Loader<'_> {
    /// The definitions that a file's imports bring into scope. `from` is the path of the file that imports; its own path
    /// begins the name of what it imports.
    pub(crate) fn imports(
        &self,
        from: &str,
        imports: &[Spanned<String>],
        found: &mut Diagnostics,
    ) -> Vec<Arc<Imported>> {
        let mut loaded: Vec<Arc<Imported>> = Vec::new();
        for import in imports {
            match self.import(from, import) {
                Ok(one) => loaded.push(one),
                Err(diagnostic) => found.push(*diagnostic),
            }
        }
        loaded
    }

    fn import(&self, from: &str, import: &Spanned<String>) -> Result<Arc<Imported>, Box<Diagnostic>> {
        let unreadable = |why: Unreadable| {
            let message = format!("`{}` cannot be imported: {}", import.value, why.message);
            Box::new(catalog::BAD_IMPORT.at(import.span, message).help(why.help))
        };
        let path = beside(from, &import.value).ok_or_else(|| {
            unreadable(Unreadable {
                message: "it is outside of the task's folder".to_owned(),
                help: "files of a task stay under its folder: move it there, or move the task up",
            })
        })?;
        let parsed = self.parsed(&path).map_err(unreadable)?;
        if let Some(way) = self.way_back(&path, &parsed, from) {
            let message = format!("`{}` imports this file, which imports it: {way}", import.value);
            let help = "move what both need into a third file, and import that from both";
            return Err(Box::new(catalog::BAD_IMPORT.at(import.span, message).help(help)));
        }
        Ok(self.checked(&path, &parsed))
    }

    /// A file, parsed once per process.
    fn parsed(&self, path: &str) -> Result<Arc<Parsed>, Unreadable> {
        let help = "the path is relative to the file that imports it";
        let fail = |error: std::io::Error| Unreadable { message: error.to_string(), help };
        let key = self.world.identity(path).map_err(fail)?;
        let cell = {
            let mut known = self.session.parsed.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(key).or_default())
        };
        if let Some(parsed) = cell.get() {
            return Ok(Arc::clone(parsed));
        }
        let mut bytes = Vec::new();
        let reader = self.world.open(path).map_err(fail)?;
        reader.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(fail)?;
        // Two threads may read the file; one of them parses it.
        Ok(Arc::clone(cell.get_or_init(|| Arc::new(self.parse(path, &bytes)))))
    }

    fn parse(&self, path: &str, bytes: &[u8]) -> Parsed {
        let file = {
            let mut count = self.session.files.lock().unwrap_or_else(PoisonError::into_inner);
            *count += 1;
            FileId(FIRST_FILE + *count)
        };
        let name = self.world.name(path);
        let source = Arc::new(SourceFile::new(name, String::from_utf8_lossy(bytes).into_owned()));
        let mut found = Diagnostics::default();
        let mut parsed = Parsed {
            file,
            source,
            imports: Vec::new(),
            define: Define::default(),
            damaged: true,
            found: Vec::new(),
            allowances: Allowances::default(),
            standard: false,
        };
        match aigo_source::decode(bytes, file) {
            Err(diagnostic) => found.push(*diagnostic),
            Ok(text) => {
                let tree = aigo_source::parse(text, file);
                found.extend(tree.diagnostics);
                parsed.allowances = Allowances::of(&tree.tree);
                let root = tree.tree.root();
                if root.get("define").is_none()
                    && let Some(entry) = root.entries().find(|entry| ["models", "solvers"].contains(&entry.key.value))
                {
                    let message = "this is a task, and only files of definitions can be imported";
                    let help = "move what both need into a file that has `define`, and import that";
                    found.push(catalog::BAD_IMPORT.at(entry.key.span, message).help(help));
                    return Parsed { found: found.finish(), ..parsed };
                }
                let read = parse::parse_definitions(&tree.tree, &mut found);
                parsed = Parsed { imports: read.imports, define: read.define, damaged: read.damaged, ..parsed };
                if !found.has_errors() {
                    lint::text(&tree.tree, &mut found);
                }
            }
        }
        Parsed { found: found.finish(), ..parsed }
    }

    /// A file, checked: its findings are the same whoever comes first, because nothing but files goes in.
    fn checked(&self, path: &str, parsed: &Parsed) -> Arc<Imported> {
        let key = parsed.file.0.to_string();
        let known = |session: &Session| {
            session.checked.lock().unwrap_or_else(PoisonError::into_inner).get(&key).map(Arc::clone)
        };
        if let Some(known) = known(self.session) {
            return known;
        }
        let mut found = Diagnostics::default();
        found.extend(parsed.found.iter().cloned());
        let imports = self.imports(path, &parsed.imports, &mut found);
        let mut sources = SourceMap::default();
        sources.adopt(parsed.file, Arc::clone(&parsed.source));
        let whole = parsed.damaged || imports.iter().any(|import| import.is_damaged());
        let mut scope = Scope::of(imports.iter().map(|import| &import.own));
        let mut all = imports;
        if !parsed.standard {
            let (standard, files) = self.standard(&parsed.define, &scope);
            scope.add(&standard);
            all.extend(files);
        }
        let own = define::check(&parsed.define, path, &scope, (whole, parsed.standard), None, &sources, &mut found);
        let is_sound = !found.has_errors();
        if is_sound && !parsed.standard {
            lint::definitions(&parsed.define, &sources, &mut found);
        }
        let mut found = found.finish();
        parsed.allowances.clone().apply(&mut found, is_sound);
        let (file, source) = (parsed.file, Arc::clone(&parsed.source));
        let imported = Arc::new(Imported { file, source, own, imports: all, found });
        let mut checked = self.session.checked.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(checked.entry(key).or_insert(imported))
    }

    /// The way from a file back to the one that imports it, as the paths in between.
    fn way_back(&self, path: &str, parsed: &Parsed, target: &str) -> Option<String> {
        if path == target {
            return Some(format!("`{path}`"));
        }
        let mut seen = vec![path.to_owned()];
        let mut ways: Vec<(String, Vec<Spanned<String>>, String)> =
            vec![(path.to_owned(), parsed.imports.clone(), format!("`{path}`"))];
        while let Some((at, imports, way)) = ways.pop() {
            for import in &imports {
                let Some(next) = beside(&at, &import.value) else { continue };
                if next == target {
                    return Some(format!("{way} → `{next}`"));
                }
                if seen.contains(&next) || seen.len() >= MOST_FILES {
                    continue;
                }
                seen.push(next.clone());
                let Ok(parsed) = self.parsed(&next) else { continue };
                let longer = format!("{way} → `{next}`");
                ways.push((next, parsed.imports.clone(), longer));
            }
        }
        None
    }
}

impl Imported {
    /// Whether a part of it could not be read.
    pub(crate) fn is_damaged(&self) -> bool {
        self.found.iter().any(|one| one.row.severity == diagnostic::Severity::Error)
    }

    /// Adds its text and its findings, and those of all that it imports, once.
    pub(crate) fn tell(&self, sources: &mut SourceMap, found: &mut Diagnostics) {
        if sources.get(self.file).is_some() {
            return;
        }
        sources.adopt(self.file, Arc::clone(&self.source));
        found.extend(self.found.iter().cloned());
        for import in &self.imports {
            import.tell(sources, found);
        }
    }
}

/// A path as the file `from` writes it, relative to the task's folder; none where it leads out of it.
fn beside(from: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '\\']) || path.contains(':') {
        return None;
    }
    let mut parts: Vec<&str> = from.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    parts.pop();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Reports names that a file defines and imports, or imports twice.
pub(crate) fn clashes(scope: &Scope, own: &Scope, found: &mut Diagnostics) {
    for (kind, name, span, first) in scope.clashes(own) {
        let message = format!("{kind} `{name}` is defined here, and an import brings another of that name");
        let diagnostic = catalog::NAME_TWICE.at(span, message).related(first, "the imported one");
        found.push(diagnostic.help("give it another name"));
    }
}
