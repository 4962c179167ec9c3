//! The lock file as text: one pinned thing a line, in a fixed order, so that a diff says what moved and merges go line by line.
//!
//! Lines are statements of the [layer](aigo_ir::lines) below the text form of programs, each on one line.

use std::fmt::Write as _;
use std::sync::Arc;

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::lines::{self, Item, Statement};
use aigo_ir::span::{FileId, Origin, Span};
use aigo_ir::text::json_string;
use aigo_ir::value::Value;

use super::{Kind, Lock, LockFile, Pin};
use crate::catalog;

/// The version of the form.
const VERSION: &str = "1";

/// The fact that is a hash.
const HASH: &str = "hash";

/// What git and others write around the two sides of a conflict.
const MARKS: [&str; 4] = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"];

impl LockFile {
    /// The file's text.
    pub fn print(&self) -> String {
        let mut out = format!(
            "# What scores must share to be compared. Written by `aigo lock`, held to by `aigo check --locked`.\naigo-lock {VERSION}\n"
        );
        for (task, lock) in &self.tasks {
            out.push_str("\ntask ");
            json_string(task, &mut out);
            out.push('\n');
            for pin in &lock.pins {
                line(pin, &mut out);
            }
        }
        out
    }

    /// Reads a file's text. What cannot be read is reported, each line by itself, and left out.
    pub fn read(text: &str, file: FileId, found: &mut Diagnostics) -> Self {
        let before = found.len();
        let mut reader = Reader { lock: Self::default(), task: None, has_head: false, found };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches(['\n', '\r']);
            let span = Span::new(file, at, at + content.len());
            at += line.len();
            if MARKS.iter().any(|mark| content.starts_with(mark)) {
                let message = "this file has the marks of a merge conflict in it";
                let help = "take either side whole, as with `git checkout --ours aigo.lock`, then run `aigo lock`";
                reader.found.push(catalog::BAD_LOCK.at(span, message).help(help));
                break;
            }
            if !reader.line(content, span) {
                break;
            }
        }
        if !reader.has_head && reader.found.len() == before {
            reader.fail(Span::new(file, 0, 0), "the file is empty: `aigo-lock 1` is expected");
        }
        reader.lock
    }
}

/// A pin as a line.
fn line(pin: &Pin, out: &mut String) {
    out.push_str(pin.kind.word());
    out.push(' ');
    json_string(&pin.name, out);
    for (key, value) in &pin.facts {
        let _ = write!(out, " {key}=");
        match value {
            Value::Str(hash) if is_hash(key, hash) => out.push_str(hash),
            Value::Str(text) => json_string(text, out),
            Value::Int(n) if **key != *HASH => {
                let _ = write!(out, "{n}");
            }
            other => {
                let _ = write!(out, "@{}", other.to_json());
            }
        }
    }
    out.push('\n');
}

/// Whether a fact is a hash, which is written without quotes.
fn is_hash(key: &str, text: &str) -> bool {
    key == HASH && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

struct Reader<'r> {
    lock: LockFile,
    /// The task whose pins are read.
    task: Option<String>,
    has_head: bool,
    found: &'r mut Diagnostics,
}

impl Reader<'_> {
    fn fail(&mut self, span: Span, message: impl Into<String>) {
        let help = "the file is written by `aigo lock` alone: restore it, or delete it and lock again";
        self.found.push(catalog::BAD_LOCK.at(span, message).help(help));
    }

    /// Reads a line. Says whether the next one can be read.
    fn line(&mut self, content: &str, span: Span) -> bool {
        let statement = match lines::read(content) {
            Ok(statements) => match <[Statement; 1]>::try_from(statements) {
                Ok([statement]) => statement,
                // A blank line, or a comment. A line has at most one statement.
                Err(_) => return true,
            },
            Err(error) => {
                self.fail(span, format!("this line cannot be read: {}", error.message));
                return true;
            }
        };
        if !self.has_head {
            return self.head(&statement, span);
        }
        match self.entry(statement) {
            Ok(()) => {}
            Err(message) => self.fail(span, message),
        }
        true
    }

    fn head(&mut self, statement: &Statement, span: Span) -> bool {
        self.has_head = true;
        match statement.items.as_slice() {
            [Item::Word(word), Item::Word(version)] if word == "aigo-lock" && statement.pairs.is_empty() => {
                if version != VERSION {
                    let message = format!("this is a lock of version {version}, and this aigo reads version {VERSION}");
                    let help = "use the aigo that wrote it, or delete it and lock again";
                    self.found.push(catalog::BAD_LOCK.at(span, message).help(help));
                }
                version == VERSION
            }
            _ => {
                self.fail(span, "the first line of a lock is `aigo-lock 1`");
                false
            }
        }
    }

    fn entry(&mut self, statement: Statement) -> Result<(), String> {
        if statement.block.is_some() {
            return Err("a lock has no blocks in braces".to_owned());
        }
        let [Item::Word(word), Item::Text(name)] = statement.items.as_slice() else {
            return Err("a line is `KIND \"NAME\" KEY=VALUE …`".to_owned());
        };
        if word == "task" {
            if !statement.pairs.is_empty() {
                return Err("`task` takes a name alone".to_owned());
            }
            self.task = Some(name.clone());
            let is_new = self.lock.tasks.insert(name.clone(), Lock::default()).is_none();
            return if is_new { Ok(()) } else { Err(format!("the task `{name}` stands here twice")) };
        }
        let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.word() == word) else {
            let help = aigo_ir::diagnostic::nearest(word, Kind::ALL.map(Kind::word));
            let help = help.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!("`{word}` is nothing that is pinned{help}"));
        };
        let facts = statement.pairs.into_iter().map(fact).collect::<Result<Vec<_>, _>>()?;
        if facts.is_empty() {
            return Err(format!("`{word} \"{name}\"` pins nothing: `hash=…` or the like is expected"));
        }
        let pin = Pin { kind, name: name.as_str().into(), facts, origin: Origin::default() };
        let Some(lock) = self.task.as_ref().and_then(|task| self.lock.tasks.get_mut(task)) else {
            return Err("this stands before any task: `task \"FILE\"` is expected first".to_owned());
        };
        if lock.pins.iter().any(|known| (known.kind, &known.name) == (pin.kind, &pin.name)) {
            return Err(format!("`{word} \"{name}\"` stands twice in this task"));
        }
        lock.pins.push(pin);
        Ok(())
    }
}

fn fact((key, item): (String, Item)) -> Result<(Arc<str>, Value), String> {
    let value = match item {
        Item::Word(word) if is_hash(&key, &word) => Value::str(word),
        Item::Word(word) => match word.parse() {
            Ok(n) => Value::Int(n),
            Err(_) => {
                return Err(format!(
                    "`{key}={word}`: a whole number, a text in quotes or a value after `@` is expected"
                ));
            }
        },
        Item::Text(text) => Value::str(text),
        Item::Value(value) => value,
    };
    Ok((key.into(), value))
}
