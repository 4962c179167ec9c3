//! Flow collections on lines that are too long become blocks, where that is certain to say the same.

use super::tokens::{Sort, Token, tokens};
use super::{Fault, STEP, WIDTH};

/// The text with each outermost flow collection on a line that is too long as a block; none where there is nothing to do.
/// The text is laid out.
pub(super) fn wrapped(text: &str) -> Result<Option<String>, Fault> {
    if !text.lines().any(|line| line.len() > WIDTH) {
        return Ok(None);
    }
    let tokens = tokens(text)?;
    let mut out = String::new();
    let (mut done, mut at) = (0, 0);
    while let Some(token) = tokens.get(at) {
        at += 1;
        if token.sort != Sort::Open {
            continue;
        }
        let Some(length) = tokens.get(at - 1..).and_then(matching) else { break };
        let inner = tokens.get(at..at - 1 + length).unwrap_or_default();
        let behind = tokens.get(at + length);
        let before = tokens.get(..at - 1).unwrap_or_default();
        if is_long(text, token.start)
            && behind.is_none_or(Token::is_first)
            && let Some(block) = block(text, before, *token, inner)
        {
            out.push_str(text.get(done..token.start).unwrap_or_default().trim_end_matches(' '));
            out.push_str(&block);
            done = tokens.get(at - 1 + length).map_or(text.len(), |close| close.end);
        }
        at += length;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Ok((done > 0).then_some(out))
}

/// How far behind its opening bracket the closing one is.
fn matching(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|token| {
        match token.sort {
            Sort::Open => depth += 1,
            Sort::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

fn is_long(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or_default();
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    before.chars().count() + after.chars().count() > WIDTH
}

/// The block that a collection becomes: the value of a key or an item of a list, on one line, without comments, each part
/// of a map with its colon.
fn block(text: &str, before: &[Token], open: Token, inner: &[Token]) -> Option<String> {
    let is_plain = |token: &Token| !token.is_first() && !matches!(token.sort, Sort::Question | Sort::Comment);
    let one_line = |token: &Token| text.get(token.start..token.end).is_some_and(|raw| !raw.contains('\n'));
    if inner.is_empty() || !inner.iter().all(|token| is_plain(token) && one_line(token)) {
        return None;
    }
    let is_map = text.as_bytes().get(open.start) == Some(&b'{');
    let parts = parts(inner);
    let has_colon = |part: &[Token]| {
        let mut depth = 0_i32;
        part.iter().any(|token| {
            depth += i32::from(token.sort == Sort::Open) - i32::from(token.sort == Sort::Close);
            depth == 0 && token.sort == Sort::Colon
        })
    };
    let is_sound =
        |part: &&[Token]| !part.is_empty() && (!is_map || (has_colon(part) && part.first().is_some_and(is_key)));
    if !parts.iter().all(is_sound) {
        return None;
    }
    let (entry, is_item) = entry(before)?;
    let column = text.get(..entry.start)?.rsplit('\n').next()?.chars().count() + STEP;
    let indent = format!("\n{}", " ".repeat(column));
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let raw = text.get(part.first()?.start..part.last()?.end)?;
        out.push_str(if at == 0 && is_item { " " } else { &indent });
        out.push_str(if is_map { "" } else { "- " });
        out.push_str(raw);
    }
    Some(out)
}

fn is_key(token: &Token) -> bool {
    matches!(token.sort, Sort::Scalar(_))
}

/// What stands between the commas of a collection; a comma at its end closes the last part.
fn parts(inner: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0_i32;
    let mut parts: Vec<&[Token]> = inner
        .split(|token| {
            depth += i32::from(token.sort == Sort::Open) - i32::from(token.sort == Sort::Close);
            depth == 0 && token.sort == Sort::Comma
        })
        .collect();
    if parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}

/// The first token of the entry whose value comes next, on the same line, and whether it is an item of a list.
fn entry(before: &[Token]) -> Option<(Token, bool)> {
    match before {
        [.., dash] if dash.sort == Sort::Dash => Some((*dash, true)),
        [.., key, colon] if colon.sort == Sort::Colon && !colon.is_first() && is_key(key) => Some((*key, false)),
        _ => None,
    }
}
