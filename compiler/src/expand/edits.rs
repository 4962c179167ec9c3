//! Edits of a text that write a value out, beside what stands around it.

use aigo_source::{Entry, Kind, NodeRef, Style};

/// Insertions and replacements that do not overlap.
pub(super) struct Edits<'t> {
    text: &'t str,
    /// From where to where, and what is written there. Those at one place are in the order in which they were made.
    made: Vec<(usize, usize, String)>,
    /// What closes a value that was wrapped, by where the value ends; the innermost last.
    closing: Vec<(usize, String)>,
}

impl<'t> Edits<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, made: Vec::new(), closing: Vec::new() }
    }

    pub(super) fn insert(&mut self, at: usize, text: &str) {
        self.made.push((at, at, text.to_owned()));
    }

    /// The text with all edits.
    pub(super) fn applied(mut self) -> String {
        self.made.sort_by_key(|(start, ..)| *start);
        let (mut out, mut done) = (String::with_capacity(self.text.len() * 2), 0);
        for (start, end, text) in &self.made {
            out.push_str(self.text.get(done..*start).unwrap_or_default());
            out.push_str(text);
            done = done.max(*end);
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        out
    }

    /// Whether an anchor or a tag stands between the mark of a value, from a place on, and the value.
    pub(super) fn has_property(&self, from: usize, node: NodeRef<'_>) -> bool {
        let between = self.text.get(from..node.span().start as usize).unwrap_or_default();
        between.lines().any(|line| line.split(" #").next().is_some_and(|code| code.contains(['&', '!'])))
    }

    fn line_start(&self, at: usize) -> usize {
        self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
    }

    /// Where a value begins: a block scalar with its header.
    fn begin(&self, node: NodeRef<'_>, from: usize) -> usize {
        let start = node.span().start as usize;
        let is_block =
            node.scalar_source().is_some_and(|source| matches!(source.style(), Style::Literal | Style::Folded));
        let header = self.text.get(from..start).and_then(|between| between.find(['|', '>']));
        header.filter(|_| is_block).map_or(start, |header| from + header)
    }

    /// Puts a value under a key, `key: `, or into a list, `- `. In brackets, and where the value stays on its line, brackets are
    /// put around it; else it becomes a block, all of its lines indented further.
    pub(super) fn wrap(
        &mut self,
        node: NodeRef<'_>,
        from: usize,
        entry: Option<&Entry<'_>>,
        in_flow: bool,
        mark: &str,
        more: &str,
    ) {
        let (begin, end) = (self.begin(node, from), node.span().end as usize);
        let raw = self.text.get(begin..end).unwrap_or_default();
        let is_block = matches!(node.kind(), Kind::List(_) | Kind::Map(_)) && !raw.starts_with(['[', '{']);
        if in_flow || (!is_block && !raw.contains('\n') && is_safe(raw)) {
            let (open, close) = if mark == "- " { ("[", "]") } else { ("{", "}") };
            self.insert(begin, &format!("{open}{}", mark.trim_start_matches("- ")));
            let more = if more.is_empty() { String::new() } else { format!(", {more}") };
            self.closing.push((end, format!("{more}{close}")));
            return;
        }
        let line = self.line_start(begin);
        let is_first = self.text.get(line..begin).is_some_and(|before| before.trim_matches(' ').is_empty());
        let column = entry.map_or(begin - line, |entry| {
            let key = entry.key.span.start as usize;
            key - self.line_start(key) + 2
        });
        let pad = " ".repeat(column);
        let more = if more.is_empty() { String::new() } else { format!("{more}\n{pad}") };
        match entry {
            Some(_) if is_first && mark == "- " => self.insert(begin, mark),
            Some(_) if is_first => {
                self.insert(line, &format!("{pad}{more}{}\n", mark.trim_end()));
                self.insert(line, "  ");
            }
            Some(_) => self.insert(begin, &format!("\n{pad}{more}{mark}")),
            None => self.insert(begin, &format!("{more}{mark}")),
        }
        self.shift(begin, end);
    }

    /// Indents the lines that begin within a value.
    fn shift(&mut self, begin: usize, end: usize) {
        let newlines = self.text.get(begin..end).unwrap_or_default().match_indices('\n').map(|(at, _)| begin + at + 1);
        let has_text = |at: &usize| *at < end && !self.text.get(*at..).unwrap_or_default().starts_with(['\n', '\r']);
        let lines: Vec<usize> = newlines.filter(has_text).collect();
        for at in lines {
            self.insert(at, "  ");
        }
    }

    /// Closes what was put around a value, once everything in it is written out.
    pub(super) fn close(&mut self, node: NodeRef<'_>) {
        let end = node.span().end as usize;
        if let Some((_, text)) = self.closing.pop_if(|(at, _)| *at == end) {
            self.insert(end, &text);
        }
    }

    /// Moves entries of a verb's value beside the verb.
    pub(super) fn beside(&mut self, value: NodeRef<'_>, verb: &Entry<'_>, in_flow: bool, moves: impl Fn(&str) -> bool) {
        let (start, end) = (value.span().start as usize, value.span().end as usize);
        let raw = self.text.get(start..end).unwrap_or_default();
        let key = verb.key.span.start as usize;
        let column = key - self.line_start(key);
        if raw.starts_with('{') {
            if raw.contains(" #") {
                return;
            }
            let texts = |moved: bool| -> Vec<&str> {
                let entries = value.entries().filter(|entry| moves(entry.key.value) == moved);
                entries
                    .filter_map(|entry| self.text.get(entry.key.span.start as usize..entry.value.site().end as usize))
                    .collect()
            };
            let between = if in_flow { ", ".to_owned() } else { format!("\n{}", " ".repeat(column)) };
            let moved: String = texts(true).iter().flat_map(|text| [between.as_str(), *text]).collect();
            let text = format!("{{{}}}{moved}", texts(false).join(", "));
            self.made.push((start, end, text));
            return;
        }
        let first = self.line_start(start);
        let deeper = (start - first).saturating_sub(column);
        // To the end of the last line, so that a comment on it comes along.
        let last = self
            .text
            .get(end.saturating_sub(1)..)
            .and_then(|rest| rest.find('\n'))
            .map_or(self.text.len(), |at| end + at);
        let begins: Vec<usize> = value.entries().map(|entry| self.line_start(entry.key.span.start as usize)).collect();
        let ends = begins.iter().skip(1).copied().chain([last]);
        let (mut kept, mut moved) = (String::new(), String::new());
        for ((from, to), entry) in begins.iter().zip(ends).zip(value.entries()) {
            let lines = self.text.get(*from..to).unwrap_or_default();
            if moves(entry.key.value) {
                let dedented = |line: &str| {
                    let blanks = line.bytes().take(deeper).take_while(|byte| *byte == b' ').count();
                    line.get(blanks..).unwrap_or_default().to_owned()
                };
                moved.extend(lines.split_inclusive('\n').map(dedented));
            } else {
                kept.push_str(lines);
            }
        }
        if kept.is_empty() {
            let colon = verb.key.span.end as usize;
            let at = self.text.get(colon..).and_then(|rest| rest.find(':')).map_or(colon, |at| colon + at + 1);
            self.insert(at, " {}");
        } else if !kept.ends_with('\n') {
            kept.push('\n');
        }
        self.made.push((first, last, kept + &moved));
    }
}

/// Whether a text on one line means the same in brackets.
fn is_safe(raw: &str) -> bool {
    raw.starts_with(['"', '\'', '[', '{']) || !(raw.starts_with(['|', '>']) || raw.contains([',', '[', ']', '{', '}']))
}
