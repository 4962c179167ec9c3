//! Layouts: every task and file of definitions there is, written in random ways and as it stands, is laid out without
//! another meaning, twice as once, with every comment.

use std::fmt::Write as _;

use aigo_compiler::{NoSources, compile, expand};
use aigo_ir::diagnostic::Severity;
use aigo_ir::span::FileId;
use aigo_ir::value::Value;
use aigo_source::{Parsed, layout, parse};

use super::dice::Dice;
use crate::harness::root;

fn read(text: &str) -> Option<Parsed> {
    let parsed = parse(text, FileId(0));
    parsed.diagnostics.iter().all(|one| one.row.severity != Severity::Error).then_some(parsed)
}

fn laid_out(what: &str, text: &str) -> String {
    let form = |text: &str| {
        let parsed = read(text).unwrap_or_else(|| panic!("{what}: it cannot be read:\n{text}"));
        layout::formatted(&parsed).unwrap_or_else(|fault| panic!("{what}: {}:\n{text}", fault.what))
    };
    let once = form(text);
    assert_eq!(form(&once), once, "{what}: twice is not once, of\n{text}");
    // That the tree is the same, the layout has looked at itself; this looks from outside.
    let value = |text: &str| read(text).and_then(|parsed| parsed.tree.root().to_value().ok());
    assert_eq!(format!("{:?}", value(text)), format!("{:?}", value(&once)), "{what}");
    let comments = |text: &str| -> Vec<String> {
        let comments = read(text).map(|parsed| parsed.tree.comments().to_vec()).unwrap_or_default();
        comments.into_iter().map(|comment| comment.text.trim().to_owned()).collect()
    };
    assert_eq!(comments(text), comments(&once), "{what}");
    once
}

/// The program's hash, where the text is a task without files and without errors.
fn hash(text: &str) -> Option<String> {
    let program = compile("task.yaml", text.as_bytes(), &NoSources).program?.0;
    Some(program.hash().hex(32))
}

/// Every YAML text of the project that can be read: the manual's blocks, tasks, fixtures, broken tasks.
fn corpus() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders =
        vec![root().join("spec"), root().join("tasks"), root().join("tests/fixtures"), root().join("tests/broken")];
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let name = path.strip_prefix(root()).unwrap().display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(text) = path.extension().and_then(|_| std::fs::read_to_string(&path).ok()) {
                if std::path::Path::new(&name).extension().is_some_and(|end| end == "yaml") {
                    found.push((name, text));
                } else if std::path::Path::new(&name).extension().is_some_and(|end| end == "md") {
                    let blocks = text.split("\n```").skip(1).step_by(2);
                    let yaml =
                        blocks.filter(|block| block.starts_with("yaml")).filter_map(|block| block.split_once('\n'));
                    found.extend(
                        yaml.enumerate().map(|(at, (_, block))| (format!("{name}, block {at}"), format!("{block}\n"))),
                    );
                }
            }
        }
    }
    found.retain(|(_, text)| read(text).is_some());
    found
}

#[test]
fn every_file_there_is_keeps_its_meaning() {
    let (corpus, mut programs) = (corpus(), 0);
    assert!(corpus.len() > 250, "{} texts are found", corpus.len());
    for (name, text) in &corpus {
        let once = laid_out(name, text);
        let before = hash(text);
        assert_eq!(before, hash(&once), "{name}");
        programs += usize::from(before.is_some());
        // With other line ends and indentation it comes to the same.
        let windows = format!("\u{feff}{}", text.replace('\n', "\r\n"));
        if read(&windows).is_some() {
            assert_eq!(laid_out(name, &windows), once, "{name}");
        }
    }
    assert!(programs > 40, "{programs} programs are compared");
}

#[test]
fn every_task_there_is_keeps_its_program_when_it_is_expanded() {
    let (mut programs, mut longer) = (0, 0);
    for (name, text) in corpus() {
        let Some(before) = hash(&text) else { continue };
        let expand = |text: &str| {
            let long = expand::expanded(&read(text).unwrap(), |text| parse(text, FileId(0)));
            assert!(read(&long).is_some(), "{name}: it cannot be read when it is expanded:\n{long}");
            laid_out(&name, &long)
        };
        let long = expand(&text);
        assert_eq!(Some(before), hash(&long), "{name}:\n{long}");
        assert_eq!(expand(&long), long, "{name}: twice is not once");
        programs += 1;
        longer += usize::from(long != laid_out(&name, &text));
    }
    assert!(programs > 40 && longer > 20, "{programs} programs, of which {longer} have short forms");
}

#[test]
fn random_layouts_of_a_text_keep_what_it_says() {
    let corpus = corpus();
    for seed in 0..1500 {
        let mut dice = Dice::new(seed);
        let (name, text) = dice.pick(&corpus);
        let Some(value) = read(text).and_then(|parsed| parsed.tree.root().to_value().ok()) else { continue };
        let mut writer = Scribe { dice, out: String::new(), comments: 0 };
        writer.comment_lines(0);
        writer.block(&value, 0);
        let written = writer.out;
        // The scribe writes what the reader reads back as the same value, or the case says nothing.
        let again = read(&written)
            .unwrap_or_else(|| panic!("seed {seed}, {name}: {:?}\n{written}", parse(&written, FileId(0)).diagnostics));
        assert_eq!(format!("{value:?}"), format!("{:?}", again.tree.root().to_value().unwrap()), "seed {seed}, {name}");
        let once = laid_out(&format!("seed {seed}, {name}"), &written);
        assert_eq!(hash(&written), hash(&once), "seed {seed}, {name}");
    }
}

/// Writes values as YAML, in ways that chance chooses.
struct Scribe {
    dice: Dice,
    out: String,
    comments: usize,
}

impl Scribe {
    fn blanks(&mut self) {
        let count = if self.dice.one_in(4) { 1 + self.dice.below(4) } else { 1 };
        (0..count).for_each(|_| self.out.push(' '));
    }

    fn pad(&mut self, indent: usize) {
        (0..indent).for_each(|_| self.out.push(' '));
    }

    /// Some empty lines and comments; the line before has ended.
    fn comment_lines(&mut self, indent: usize) {
        while self.dice.one_in(6) {
            if self.dice.one_in(2) {
                self.out.push('\n');
            } else {
                let column = if self.dice.one_in(3) { self.dice.below(indent + 4) } else { indent };
                self.pad(column);
                self.comment();
            }
        }
    }

    fn comment(&mut self) {
        self.comments += 1;
        let blank = *self.dice.pick(&["", " ", "   ", "# ", "! "]);
        let _ = writeln!(self.out, "#{blank}comment {} {{[: -", self.comments);
    }

    fn end_of_line(&mut self) {
        if self.dice.one_in(8) {
            self.blanks();
            self.comment();
        } else {
            if self.dice.one_in(9) {
                self.blanks();
            }
            self.out.push('\n');
        }
    }

    /// A value whose line has been begun as far as its mark; ends the line.
    fn after_mark(&mut self, value: &Value, indent: usize, is_item: bool) {
        let is_collection = matches!(value, Value::List(items) if !items.is_empty())
            || matches!(value, Value::Map(map) if !map.is_empty());
        if !is_collection || self.dice.one_in(3) {
            return self.inline(value, indent);
        }
        let step = 1 + self.dice.below(4);
        let is_list = matches!(value, Value::List(_));
        if is_item && self.dice.one_in(2) {
            // On the line of the dash.
            let blanks = 1 + self.dice.below(3);
            self.pad(blanks);
            return self.entries(value, indent + 1 + blanks, true);
        }
        self.end_of_line();
        let deeper = if is_list && !is_item && self.dice.one_in(3) { indent } else { indent + step };
        self.comment_lines(deeper);
        self.entries(value, deeper, false);
    }

    fn block(&mut self, value: &Value, indent: usize) {
        match value {
            Value::Map(map) if !map.is_empty() => self.entries(value, indent, false),
            Value::List(items) if !items.is_empty() => self.entries(value, indent, false),
            _ => self.inline(value, indent),
        }
    }

    fn entries(&mut self, value: &Value, indent: usize, mut is_begun: bool) {
        let mut begin = |this: &mut Self| {
            if !std::mem::take(&mut is_begun) {
                this.comment_lines(indent);
                this.pad(indent);
            }
        };
        match value {
            Value::List(items) => {
                for item in items.iter() {
                    begin(self);
                    self.out.push('-');
                    self.after_mark(item, indent, true);
                }
            }
            Value::Map(map) => {
                for (key, value) in map.iter() {
                    begin(self);
                    self.text(key);
                    self.out.push(':');
                    self.after_mark(value, indent, false);
                }
            }
            _ => {}
        }
    }

    /// A scalar, or a collection in brackets; ends the line.
    fn inline(&mut self, value: &Value, indent: usize) {
        self.blanks();
        match value {
            Value::Str(text) if is_blockable(text) && self.dice.one_in(2) => self.literal(text, indent),
            _ => {
                self.flow(value, indent + 1);
                self.end_of_line();
            }
        }
    }

    fn literal(&mut self, text: &str, indent: usize) {
        // Deeper than any comment that follows.
        let deeper = indent + 5 + self.dice.below(3);
        let end = if text.ends_with('\n') { "" } else { "-" };
        let _ = writeln!(self.out, "|{end}");
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                self.pad(deeper);
            }
            let _ = writeln!(self.out, "{line}");
        }
    }

    fn flow(&mut self, value: &Value, indent: usize) {
        match value {
            Value::List(items) => {
                self.out.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.between(at, indent);
                    self.flow(item, indent);
                }
                self.close(']', indent);
            }
            Value::Map(map) => {
                self.out.push('{');
                for (at, (key, value)) in map.iter().enumerate() {
                    self.between(at, indent);
                    self.text(key);
                    self.out.push(':');
                    self.blanks();
                    self.flow(value, indent);
                }
                self.close('}', indent);
            }
            Value::Str(text) => self.text(text),
            other => {
                let json = other.to_json();
                self.out.push_str(&json);
            }
        }
    }

    fn between(&mut self, at: usize, indent: usize) {
        if at > 0 {
            self.out.push(',');
        }
        if self.dice.one_in(8) {
            self.end_of_line();
            let more = self.dice.below(4);
            self.pad(indent + more);
        } else if self.dice.one_in(3) {
            self.blanks();
        }
    }

    fn close(&mut self, bracket: char, indent: usize) {
        if self.dice.one_in(9) {
            self.out.push('\n');
            self.pad(indent);
        }
        self.out.push(bracket);
    }

    /// A text, plain or quoted.
    fn text(&mut self, text: &str) {
        if is_plain(text) && !self.dice.one_in(4) {
            self.out.push_str(text);
        } else if !text.contains(|c: char| c.is_control() || "\u{85}\u{2028}\u{2029}\u{feff}".contains(c))
            && self.dice.one_in(2)
        {
            let _ = write!(self.out, "'{}'", text.replace('\'', "''"));
        } else {
            let json = Value::str(text).to_json();
            self.out.push_str(&json);
        }
    }
}

/// Whether a text needs no quotes anywhere.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./ ".contains(c))
        && !text.ends_with(' ')
        && !["true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL"].contains(&text)
}

/// Whether a text can stand as lines below a `|` without a number.
fn is_blockable(text: &str) -> bool {
    let first = text.split('\n').find(|line| !line.is_empty()).unwrap_or_default();
    !first.is_empty()
        && !first.starts_with([' ', '\t'])
        && !text.starts_with('\n')
        && !text.ends_with("\n\n")
        && !text.contains(|c: char| (c.is_control() && c != '\n') || "\u{85}\u{2028}\u{2029}\u{feff}".contains(c))
        && !text.split('\n').any(|line| !line.is_empty() && line.trim().is_empty())
}
