//! The names of templates as most are: printed paths, and conditions that compare paths with each other and with constants.
//! Of all others the syntax tree tells. Templates are asked for their names far more often than anything else.

use std::sync::Arc;

/// The longest tag and the most tags that are read here; what has more may be refused by the parser.
const MOST_TAGS: usize = 100;
const LONGEST_TAG: usize = 300;
/// The most conditions inside each other.
const MOST_DEPTH: usize = 16;

/// The names that a template takes from outside, each once, in the order in which they appear. `None` where the template has
/// anything else, or may be wrong.
pub(super) fn simple(source: &str) -> Option<Vec<Arc<str>>> {
    let bytes = source.as_bytes();
    let mut reader = Reader { source, at: 0, names: Vec::new() };
    // Of each condition that is open, whether its `else` has come.
    let mut open: Vec<bool> = Vec::new();
    for _ in 0..MOST_TAGS {
        let Some(start) = super::tag_at(source, reader.at) else {
            return open.is_empty().then_some(reader.names);
        };
        reader.at = start + 2;
        reader.eat(b'-');
        let close = match bytes.get(start + 1)? {
            b'{' => {
                reader.expression()?;
                b'}'
            }
            b'%' => {
                reader.statement(&mut open)?;
                b'%'
            }
            _ => return None,
        };
        reader.eat(b'-');
        if !(reader.eat(close) && reader.eat(b'}')) || reader.at - start > LONGEST_TAG || open.len() > MOST_DEPTH {
            return None;
        }
    }
    None
}

struct Reader<'s> {
    source: &'s str,
    at: usize,
    names: Vec<Arc<str>>,
}

impl<'s> Reader<'s> {
    fn next(&self) -> u8 {
        self.source.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let is_there = self.next() == byte;
        self.at += usize::from(is_there);
        is_there
    }

    fn skip_blanks(&mut self) {
        while matches!(self.next(), b' ' | b'\n' | b'\t') {
            self.at += 1;
        }
    }

    /// The bytes from here on of which `holds` is true.
    fn run(&mut self, holds: impl Fn(u8) -> bool) -> &'s str {
        let start = self.at;
        while holds(self.next()) {
            self.at += 1;
        }
        self.source.get(start..self.at).unwrap_or_default()
    }

    /// A word that begins with a letter; empty where there is none.
    fn word(&mut self) -> &'s str {
        let is_word = self.next().is_ascii_alphabetic() || self.next() == b'_';
        if is_word { self.run(|byte| byte.is_ascii_alphanumeric() || byte == b'_') } else { "" }
    }

    fn statement(&mut self, open: &mut Vec<bool>) -> Option<()> {
        self.skip_blanks();
        match self.word() {
            "if" => {
                open.push(false);
                self.expression()
            }
            "elif" => (!*open.last()?).then(|| self.expression())?,
            "else" => {
                let had = std::mem::replace(open.last_mut()?, true);
                self.skip_blanks();
                (!had).then_some(())
            }
            "endif" => {
                open.pop()?;
                self.skip_blanks();
                Some(())
            }
            _ => None,
        }
    }

    /// Operands with operators between, up to the end of the tag.
    fn expression(&mut self) -> Option<()> {
        loop {
            self.operand()?;
            self.skip_blanks();
            match self.next() {
                b'}' | b'%' | b'-' => return Some(()),
                b'=' | b'!' => {
                    self.at += 1;
                    self.eat(b'=').then_some(())?;
                }
                b'<' | b'>' => {
                    self.at += 1;
                    self.eat(b'=');
                }
                _ => matches!(self.word(), "and" | "or").then_some(())?,
            }
        }
    }

    fn operand(&mut self) -> Option<()> {
        self.skip_blanks();
        match self.next() {
            quote @ (b'\'' | b'"') => {
                self.at += 1;
                self.run(|byte| byte != quote && byte != b'\\' && byte != 0);
                self.eat(quote).then_some(())
            }
            b'0'..=b'9' => {
                let digits = self.run(|byte| byte.is_ascii_digit());
                let goes_on = self.next().is_ascii_alphabetic() || matches!(self.next(), b'_' | b'.');
                (digits.len() < 10 && !goes_on).then_some(())
            }
            _ => self.path(),
        }
    }

    fn path(&mut self) -> Option<()> {
        let name = self.word();
        let is_value = matches!(name, "true" | "True" | "false" | "False" | "none" | "None");
        if matches!(name, "" | "and" | "or" | "not" | "in" | "is" | "if" | "else") {
            return None;
        }
        while self.eat(b'.') {
            if is_value || self.word().is_empty() {
                return None;
            }
        }
        if !is_value && !self.names.iter().any(|known| **known == *name) {
            self.names.push(name.into());
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{outer_names, tree};
    use super::simple;

    /// What is read here is what the tree says; what the tree refuses is not read here.
    fn agrees(source: &str) -> bool {
        let of_tree = tree(source).ok().map(|tree| outer_names(&tree));
        let found = simple(source);
        assert!(found.is_none() || found == of_tree, "{source}: {found:?}, {of_tree:?}");
        found.is_some()
    }

    #[test]
    fn common_templates_are_read() {
        for source in [
            "",
            "text { } }} %}",
            "{{ plan }} and {{goal.text}}, {{- plan -}}",
            "{% if plan == 'Free' and seats > 2 %}x{% elif a.b.c != \"}}\" or d %}{{ e }}{% else %}{{ f }}{% endif %}",
            "{% if a %}{% if b %}{{ c }}{% endif %}{% endif %}{{ true }}{{ a.if }}",
            "{% if slot.complaint %}\n\nNot used: {{ slot.complaint }}. Answer again.{% endif %}",
        ] {
            assert!(agrees(source), "{source}");
        }
    }

    #[test]
    fn what_may_be_wrong_or_is_rare_is_left_to_the_tree() {
        for source in [
            "{{ }}",
            "{{ a b }}",
            "{{ a | upper }}",
            "{{ a() }}",
            "{{ a[0] }}",
            "{{ a.0 }}",
            "{{ not a }}",
            "{{ a not in b }}",
            "{{ 'a' 'b' }}",
            "{{ 1.5 }}",
            "{{ a.b. }}",
            "{{ a",
            "{{ a }",
            "{{ a %}",
            "{{ a -b }}",
            "{{ 'a\\'' }}",
            "{# a #}",
            "{% if a %}",
            "{% else %}",
            "{% endif %}",
            "{% if a %}{% else %}{% else %}{% endif %}",
            "{% if a %}{% else %}{% elif b %}{% endif %}",
            "{% if %}{% endif %}",
            "{% if a % }{% endif %}",
            "{% for a in b %}{{ a }}{% endfor %}",
            "{% set a = b %}{{ a }}",
            "{% raw %}{{ a }}{% endraw %}",
        ] {
            assert!(!agrees(source), "{source}");
        }
    }

    #[test]
    fn what_pieces_make_agrees() {
        let pieces = [
            "{{", "}}", "{%", "%}", " ", "-", "a", "b.c", "if", "elif", "else", "endif", "'x'", "\"", "1", "==", "=",
            "<", ">=", "and", "or", "not", "in", "is", ".", "true", "é", "{#", "#}", "\n", "(", "|", "+", "for", "set",
            "{", "}", "_", "none",
        ];
        let mut state = 1_u64;
        let mut next = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % most
        };
        let mut read = 0;
        for _ in 0..20_000 {
            let mut source = String::new();
            for _ in 0..next(8) {
                let (open, close) =
                    [("{{ ", " }}"), ("{% ", " %}"), ("{{", "-}}"), ("", ""), ("{% if ", " %}{% endif %}")][next(5)];
                source.push_str(open);
                for _ in 0..next(5) {
                    source.push_str(pieces[next(pieces.len())]);
                    source.push_str(["", " "][next(2)]);
                }
                source.push_str(close);
            }
            read += usize::from(agrees(&source));
        }
        assert!(read > 1_500, "{read} are read");
    }
}
