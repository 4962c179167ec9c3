//! Patterns of paths, expanded by us: shells of Windows do not, and a quoted pattern should mean the same everywhere.
//!
//! `*` and `?` stand for characters of one name, `[a-z]` and `[!a-z]` for one character, and `**` for any number of folders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use crate::find::{entries, is_left_out};

/// Whether a path as it was typed is a pattern.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The paths that a pattern matches, in the order of their names. Names that begin with a dot are matched by patterns that
/// begin with one; `**` goes neither into them, nor into folders that are not searched, nor through links.
pub(crate) fn expand(pattern: &str) -> Vec<PathBuf> {
    let is_separator = |c: char| c == '/' || c == MAIN_SEPARATOR;
    let mut parts: Vec<&str> = pattern.split(is_separator).filter(|part| !part.is_empty() && *part != ".").collect();
    parts.dedup_by(|a, b| *a == "**" && *b == "**");
    let base = if pattern.starts_with(is_separator) { PathBuf::from("/") } else { PathBuf::new() };
    let mut expansion = Expansion { seen: BTreeSet::new(), found: Vec::new() };
    expansion.step(&base, &parts);
    expansion.found
}

struct Expansion {
    /// Folder and number of parts left: `**` reaches some in several ways.
    seen: BTreeSet<(PathBuf, usize)>,
    found: Vec<PathBuf>,
}

impl Expansion {
    fn step(&mut self, base: &Path, parts: &[&str]) {
        let Some((part, rest)) = parts.split_first() else {
            self.found.push(base.to_owned());
            return;
        };
        if !self.seen.insert((base.to_owned(), parts.len())) {
            return;
        }
        if !is_pattern(part) {
            let path = base.join(part);
            if fs::symlink_metadata(&path).is_ok() {
                self.step(&path, rest);
            }
            return;
        }
        // What cannot be read matches nothing.
        let entries = entries(base).unwrap_or_default();
        if *part == "**" {
            // At the end it stands for everything below, which is what a folder stands for.
            self.step(base, rest);
            for entry in entries.iter().filter(|entry| !rest.is_empty() && entry.is_folder && !is_left_out(&entry.name))
            {
                self.step(&base.join(&entry.name), parts);
            }
            return;
        }
        let tokens = compiled(part);
        for entry in entries {
            let name = entry.name.to_string_lossy();
            let hidden = name.starts_with('.') && !part.starts_with('.');
            if !hidden && matches(&tokens, &name) {
                self.step(&base.join(&entry.name), rest);
            }
        }
    }
}

#[derive(Debug)]
enum Token {
    Star,
    Any,
    Char(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Star => false,
            Self::Any => true,
            Self::Char(own) => *own == c,
            Self::Set { negated, ranges } => ranges.iter().any(|(from, to)| (*from..=*to).contains(&c)) != *negated,
        }
    }
}

fn compiled(part: &str) -> Vec<Token> {
    let chars: Vec<char> = part.chars().collect();
    let mut tokens = Vec::new();
    let mut rest = chars.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        tokens.push(match first {
            '*' => Token::Star,
            '?' => Token::Any,
            '[' => match set(after) {
                Some((token, behind)) => {
                    rest = behind;
                    token
                }
                None => Token::Char('['),
            },
            c => Token::Char(*c),
        });
    }
    tokens
}

/// The set behind a `[`, and what comes after it; none where it is not closed. A `]` that stands first is a member.
fn set(chars: &[char]) -> Option<(Token, &[char])> {
    let negated = matches!(chars.first(), Some('!' | '^'));
    let chars = chars.get(usize::from(negated)..)?;
    let end = 1 + chars.iter().skip(1).position(|c| *c == ']')?;
    let mut ranges = Vec::new();
    let mut members = chars.get(..end)?;
    while let Some((first, after)) = members.split_first() {
        members = after;
        if let ['-', last, behind @ ..] = after {
            ranges.push((*first, *last));
            members = behind;
        } else {
            ranges.push((*first, *first));
        }
    }
    Some((Token::Set { negated, ranges }, chars.get(end + 1..)?))
}

/// Whether a pattern takes a whole name. A star takes as little as it can and is widened when what follows does not fit;
/// only the last one has to be, so this takes at most length times length.
fn matches(tokens: &[Token], name: &str) -> bool {
    let chars: Vec<char> = name.chars().collect();
    let (mut at, mut token, mut star) = (0, 0, None);
    while let Some(c) = chars.get(at) {
        match (tokens.get(token), star) {
            (Some(Token::Star), _) => {
                star = Some((token, at));
                token += 1;
            }
            (Some(one), _) if one.takes(*c) => {
                at += 1;
                token += 1;
            }
            (_, Some((widened, from))) => {
                star = Some((widened, from + 1));
                (token, at) = (widened + 1, from + 1);
            }
            (_, None) => return false,
        }
    }
    tokens.get(token..).unwrap_or_default().iter().all(|left| matches!(left, Token::Star))
}

#[cfg(test)]
mod tests {
    use super::{compiled, matches};

    #[test]
    fn a_pattern_takes_whole_names() {
        for (pattern, name, wanted) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", ".yaml", true),
            ("*.yaml", "a.yml", false),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "aXbYb", false),
            ("?", "値", true),
            ("?", "", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[]x]", "]", true),
            ("[x", "[x", true),
            ("**", "anything", true),
        ] {
            assert_eq!(matches(&compiled(pattern), name), wanted, "{pattern} {name}");
        }
        let hostile = "a*".repeat(200) + "b";
        assert!(!matches(&compiled(&hostile), &"a".repeat(10_000)));
    }
}
