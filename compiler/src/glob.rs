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

/// Whether a path matches: `*` is any text and `?` any character within one part, `[a-z]` one character of a set, `[!a-z]` one
/// that is not of it, and `**` as a part is any number of folders. A part that begins with a dot is matched only by one that
/// does so too.
pub fn matches(pattern: &str, path: &str) -> bool {
    let parts = |text: &str| text.split('/').filter(|part| !matches!(*part, "" | ".")).map(str::to_owned).collect();
    let (pattern, path): (Vec<String>, Vec<String>) = (parts(pattern), parts(path));
    // Which parts of the path a beginning of the pattern can end at: no pattern takes exponential time.
    let mut ends = vec![true];
    ends.resize(path.len() + 1, false);
    for part in &pattern {
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
            for (at, name) in path.iter().enumerate() {
                if ends.get(at) == Some(&true)
                    && part_matches(part, name)
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

fn part_matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let name: Vec<char> = name.chars().collect();
    let mut ends = vec![false; name.len() + 1];
    if let Some(first) = ends.first_mut() {
        *first = true;
    }
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let mut next = vec![false; name.len() + 1];
        let set = if c == '[' { set(rest) } else { None };
        for (at, end) in ends.iter().enumerate().filter(|(_, end)| **end) {
            if c == '*' {
                next.iter_mut().skip(at).for_each(|slot| *slot = *end);
                continue;
            }
            let Some(&seen) = name.get(at) else { continue };
            let fits = match (&set, c) {
                (Some(set), _) => set.ranges.iter().any(|(from, to)| (*from..=*to).contains(&seen)) != set.negated,
                (None, '?') => true,
                (None, c) => c == seen,
            };
            if fits && let Some(slot) = next.get_mut(at + 1) {
                *slot = true;
            }
        }
        let used = set.map_or(c.len_utf8(), |set| set.length);
        rest = rest.get(used..).unwrap_or_default();
        ends = next;
    }
    ends.last() == Some(&true)
}

/// A set of characters, as `[!a-z]`.
struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
    /// Its length in bytes.
    length: usize,
}

/// The set of characters at the beginning of a text.
fn set(text: &str) -> Option<Set> {
    let close = text.char_indices().skip(2).find(|(_, c)| *c == ']')?.0;
    let inner = text.get(1..close)?;
    let (negated, inner) = inner.strip_prefix('!').map_or((false, inner), |inner| (true, inner));
    let chars: Vec<char> = inner.chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&from) = chars.get(at) {
        if let (Some('-'), Some(&to)) = (chars.get(at + 1), chars.get(at + 2)) {
            ranges.push((from, to));
            at += 3;
        } else {
            ranges.push((from, from));
            at += 1;
        }
    }
    Some(Set { negated, ranges, length: close + 1 })
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
            ("a*b*c", "a-b-b-d", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
        assert_eq!((folder("data/x/*.json"), folder("*.json"), folder("a/b?c/d")), ("data/x", "", "a"));
        let hostile = "*a".repeat(200);
        assert!(!matches(&hostile, &"a".repeat(199)));
    }
}
