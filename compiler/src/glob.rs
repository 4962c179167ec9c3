//! Patterns of paths: `data/*.jsonl`, `runs/**/*.json`, `part-[0-9].csv`.

/// Whether a text has a character that makes it a pattern.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The folder in which every match of a pattern lies: what stands before its first part that is a pattern.
pub fn folder(pattern: &str) -> &str {
    let wild = pattern.find(['*', '?', '[']).unwrap_or(pattern.len());
    pattern.get(..wild).and_then(|before| before.rfind('/')).and_then(|slash| pattern.get(..slash)).unwrap_or("")
}

/// Whether a path matches. `**` as a part is any number of folders; the other parts are each a [`Name`].
pub fn matches(pattern: &str, path: &str) -> bool {
    let parts = |text: &'_ str| -> Vec<String> {
        text.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect()
    };
    let path = parts(path);
    // Which parts of the path a beginning of the pattern can end at: no pattern takes exponential time.
    let mut ends = vec![true];
    ends.resize(path.len() + 1, false);
    for part in parts(pattern) {
        let mut next = vec![false; path.len() + 1];
        if part == "**" {
            let mut open = false;
            for (at, end) in ends.iter().enumerate() {
                open |= *end;
                let hidden = at.checked_sub(1).and_then(|before| path.get(before)).is_some_and(|p| p.starts_with('.'));
                open &= !hidden || *end;
                if let Some(slot) = next.get_mut(at) {
                    *slot = open;
                }
            }
        } else {
            let part = Name::parse(&part);
            for (at, name) in path.iter().enumerate() {
                if ends.get(at) == Some(&true)
                    && part.takes(name)
                    && let Some(slot) = next.get_mut(at + 1)
                {
                    *slot = true;
                }
            }
        }
        ends = next;
    }
    ends.last() == Some(&true)
}

/// The pattern of one name, a part of a path: `*` is any text, `?` any character, `[a-z]` one character of a set, `[!a-z]` and
/// `[^a-z]` one that is not of it. A `]` that stands first in a set is of it, and a `[` that nothing closes is itself. A name that
/// begins with a dot is taken only by a pattern that does so too.
#[derive(Debug)]
pub struct Name {
    tokens: Vec<Token>,
    is_hidden: bool,
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

impl Name {
    /// Reads a pattern. Every text is one.
    pub fn parse(part: &str) -> Self {
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
        Self { tokens, is_hidden: part.starts_with('.') }
    }

    /// Whether it takes a whole name. A star takes as little as it can and is widened when what follows does not fit; only the
    /// last one has to be, so this takes at most length times length.
    pub fn takes(&self, name: &str) -> bool {
        if name.starts_with('.') && !self.is_hidden {
            return false;
        }
        let chars: Vec<char> = name.chars().collect();
        let (mut at, mut token, mut star) = (0, 0, None);
        while let Some(c) = chars.get(at) {
            match (self.tokens.get(token), star) {
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
        self.tokens.get(token..).unwrap_or_default().iter().all(|left| matches!(left, Token::Star))
    }
}

/// The set behind a `[`, and what comes after it; none where it is not closed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths() {
        for (pattern, path, expected) in [
            ("data/*.jsonl", "data/a.jsonl", true),
            ("data/*.jsonl", "data/x/a.jsonl", false),
            ("./data/*", "data/.hidden", false),
            ("**/*.json", "a.json", true),
            ("**/*.json", "x/y/a.json", true),
            ("**/*.json", "x/.git/a.json", false),
            ("part-[0-9]?.csv", "part-7x.csv", true),
            ("part-[!0-9].csv", "part-7.csv", false),
            ("part-[^0-9].csv", "part-x.csv", true),
            ("part-[^0-9].csv", "part-7.csv", false),
            ("data/[]x]", "data/]", true),
            ("data/[!]x]", "data/]", false),
            ("data/[!]x]", "data/y", true),
            ("data/[a-]", "data/-", true),
            ("data/[x", "data/[x", true),
            ("data/[]", "data/[]", true),
            ("a*b*c", "a-b-b-d", false),
            ("a*b*c", "aXbYbc", true),
            ("?", "値", true),
            ("?", "", false),
            ("*.yaml", ".yaml", false),
            (".*", ".hidden", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
        assert_eq!((folder("data/x/*.json"), folder("*.json"), folder("a/b?c/d")), ("data/x", "", "a"));
        let hostile = "*a".repeat(200);
        assert!(!matches(&hostile, &"a".repeat(199)));
        assert!(!matches(&("a*".repeat(200) + "b"), &"a".repeat(10_000)));
    }
}
