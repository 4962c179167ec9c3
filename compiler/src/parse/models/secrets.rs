//! Secrets that stand in a task: found by their looks, told without being repeated.

use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::span::Span;
use aigo_source::NodeRef;

use super::super::Reader;
use crate::catalog;

/// How keys of known services begin, and how long they are at least.
const STARTS: [(&str, usize); 17] = [
    ("sk-", 10),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("hf_", 20),
    ("gsk_", 20),
    ("xai-", 20),
    ("AKIA", 20),
    ("AIza", 30),
    ("eyJ", 40),
];

/// The length of the shortest of those.
const SHORTEST: usize = 10;

/// Parameters of addresses that hold secrets.
const QUERY: [&str; 10] =
    ["api_key", "apikey", "api-key", "key", "token", "access_token", "secret", "password", "sig", "auth"];

impl Reader<'_> {
    /// Reads a part of a task in which no secret may stand. Where one does, it is told at its place, nothing that would repeat
    /// it is, and the part is left out.
    pub(in crate::parse) fn without_secrets<T>(
        &mut self,
        node: NodeRef<'_>,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let mut secrets = Vec::new();
        secrets_in(node, &mut secrets);
        if secrets.is_empty() {
            return read(self);
        }
        let before = std::mem::take(self.found);
        let _ = read(self);
        let own: Diagnostics = std::mem::replace(self.found, before);
        let repeats = |span: Option<Span>, said: &str| {
            secrets.iter().any(|(place, text)| {
                said.contains(text) || span.is_some_and(|span| span.start < place.end && place.start < span.end)
            })
        };
        for diagnostic in own.finish() {
            let said = format!("{} {}", diagnostic.message, diagnostic.help.as_deref().unwrap_or_default());
            if !repeats(diagnostic.span, &said) {
                self.report(diagnostic);
            }
        }
        let help = "write `{env: NAME}` in its place, set NAME in the environment or in `.env`, and change the secret if \
                    others have seen the file";
        for (place, _) in &secrets {
            let message = "a secret stands here, and a secret must not stand in a task";
            self.report(catalog::SECRET_IN_TASK.at(*place, message).help(help).secret());
        }
        None
    }
}

/// The scalars that look like secrets. What a scripted role says is a conversation, in which one may be played.
fn secrets_in(node: NodeRef<'_>, found: &mut Vec<(Span, String)>) {
    if let Some(text) = node.scalar_text()
        && is_secret(text)
        && !found.iter().any(|(span, _)| *span == node.span())
    {
        found.push((node.span(), text.to_owned()));
    }
    for item in node.items() {
        secrets_in(item, found);
    }
    for entry in node.entries().filter(|entry| entry.key.value != "scripted") {
        secrets_in(entry.value, found);
    }
}

/// Whether a text has the looks of a key, a credential or an address with one.
fn is_secret(text: &str) -> bool {
    let is_mark = |c: char| {
        matches!(
            c,
            '"' | '\'' | '`' | ',' | ';' | ':' | '(' | ')' | '<' | '>' | '{' | '}' | '[' | ']' | '=' | '&' | '?' | '/'
        )
    };
    let apart = |c: char| is_mark(c) || c.is_whitespace();
    let has_address = || text.contains("://") && text.split_whitespace().any(is_address_with_secret);
    (text.len() >= SHORTEST && ((may_have_key(text) && text.split(apart).any(is_key)) || is_credential(text)))
        || has_address()
}

/// Whether a key may begin somewhere in a text: most texts need not be taken apart.
fn may_have_key(text: &str) -> bool {
    let mut before = b' ';
    text.bytes().enumerate().any(|(at, byte)| {
        // A key begins behind a mark or a blank, of which some are no ASCII.
        let begins = !before.is_ascii_alphanumeric() && matches!(byte, b's' | b'r' | b'g' | b'x' | b'h' | b'A' | b'e');
        before = byte;
        begins && text.get(at..).is_some_and(|rest| STARTS.iter().any(|(start, _)| rest.starts_with(start)))
    })
}

fn is_key(word: &str) -> bool {
    let plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    // Most words are shorter than the shortest key.
    word.len() >= SHORTEST
        && STARTS.iter().any(|(start, least)| word.len() >= *least && word.starts_with(start))
        && plain(word)
}

/// Whether a word that stands anywhere has the looks of a key: it begins as keys of a service do, and goes on as nothing that
/// people write does, without a break, in letters and digits.
pub(crate) fn is_long_key(word: &str) -> bool {
    const UNBROKEN: usize = 16;
    let Some((start, _)) = STARTS.iter().find(|(start, least)| word.starts_with(start) && word.len() >= *least) else {
        return false;
    };
    let is_random = |part: &str| {
        part.len() >= UNBROKEN
            && part.bytes().any(|byte| byte.is_ascii_digit())
            && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    word.get(start.len()..).unwrap_or_default().split(['-', '_']).any(is_random)
}

/// `Bearer …` and `Basic …`, as headers have them, written out.
fn is_credential(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next();
    let scheme =
        first.is_some_and(|word| ["bearer", "basic", "token"].iter().any(|one| word.eq_ignore_ascii_case(one)));
    if !scheme {
        return false;
    }
    let (second, rest) = (words.next(), words.next());
    let literal =
        |word: &str| word.len() >= 8 && !word.contains("{{") && word.bytes().any(|byte| byte.is_ascii_digit());
    rest.is_none() && second.is_some_and(|word| literal(word) || (word.len() >= 16 && !word.contains("{{")))
}

fn is_address_with_secret(word: &str) -> bool {
    let Some((_, rest)) = word.split_once("://") else { return false };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    if !user.is_empty() && !user.contains("{{") {
        return true;
    }
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    query.split('&').filter_map(|pair| pair.split_once('=')).any(|(name, value)| {
        QUERY.contains(&name.to_ascii_lowercase().as_str()) && value.len() >= 8 && !value.contains("{{")
    })
}

#[cfg(test)]
mod tests {
    use super::{is_long_key, is_secret};

    #[test]
    fn keys_are_known_by_their_looks() {
        let secrets = [
            "sk-proj-abc123def456",
            "Bearer abcdef123456",
            "basic dXNlcjpwYXNzd29yZA==",
            "https://user:pass@localhost/chat",
            "https://localhost/chat?api_key=abcdef123456",
            "key=ghp_0123456789abcdefghij",
            "AKIA0123456789ABCDEF",
        ];
        assert_eq!(secrets.map(is_secret), [true; 7]);
        let others = [
            "Bearer ",
            "Bearer {{ setup.login.token }}",
            "https://localhost/chat?key={{ sample.id }}",
            "a bearer of bad news",
            "Basic questions come first",
            "ask-me-anything-else",
            "https://localhost:8080/a@b",
            "openai/gpt-5-mini-2025-08-07",
            "risk-averse-customers",
        ];
        assert_eq!(others.map(is_secret), [false; 9]);
    }

    #[test]
    fn a_key_is_known_anywhere_by_its_unbroken_part() {
        let keys = [
            "sk-proj-a1b2c3d4e5f6a7b8c9d0",
            "AKIA0123456789ABCDEF",
            "hf_a1b2c3d4e5f6a7b8c9d0",
            "ghp_0123456789abcdefghij",
        ];
        assert_eq!(keys.map(is_long_key), [true; 4]);
        let words =
            ["sk-learn-pipelines-of-2024-and-later", "sk-xxxxxxxxxxxxxxxxxxxx", "sk-test", "task-a1b2c3d4e5f6a7b8c9d0"];
        assert_eq!(words.map(is_long_key), [false; 4]);
    }
}
