//! Why the parser stopped, in words that point to the cause: it often notices a missing end only at the end of the text.

use minijinja::machinery::{self, Token};
use minijinja::syntax::SyntaxConfig;

use super::{SyntaxError, syntax_error};
use crate::diagnostic;
use crate::expr::At;
use crate::expr_parse::at_of;

const STATEMENTS: [&str; 11] =
    ["if", "elif", "else", "endif", "for", "endfor", "set", "break", "continue", "raw", "endraw"];

/// The parser's error in our words.
pub(super) fn explain(error: &minijinja::Error, source: &str) -> SyntaxError {
    let plain = syntax_error(error, source);
    if let Some(name) = plain.message.strip_prefix("unknown statement ") {
        if STATEMENTS.contains(&name) {
            return stray(name, source, &plain);
        }
        let help = match name {
            "elseif" | "elsif" => "write `{% elif … %}`".to_owned(),
            "end" => "write `{% endif %}` or `{% endfor %}`".to_owned(),
            "include" | "import" | "extends" | "block" | "from" => {
                "a template stands for itself: templates have `if`, `for` and `set`".to_owned()
            }
            _ => diagnostic::nearest(name, STATEMENTS).map_or_else(
                || "templates have `if`, `for` and `set`".to_owned(),
                |near| format!("did you mean `{{% {near} %}}`?"),
            ),
        };
        return SyntaxError { message: format!("unknown statement `{name}`"), ..plain }.help(help);
    }
    if let Some((at, end)) = else_if(source) {
        let message = "`{% else if … %}` is one word in templates";
        return SyntaxError::new(at..end, source, message).help("write `{% elif … %}`");
    }
    if let Some(unclosed) = unclosed(source) {
        return unclosed;
    }
    let help = if plain.message.contains("unexpected `=`") || plain.message.contains("unexpected assignment") {
        "equality is written `==`"
    } else if plain.message.contains("reserved variable name") {
        "choose another name"
    } else if plain.message.contains("maximum recursion") {
        return SyntaxError { message: "a template that nests too deep".to_owned(), ..plain }
            .help("split it into several steps");
    } else if source.contains("&&") || source.contains("||") {
        "write `and`, `or`"
    } else {
        "a template has `{{ … }}`, `{% if %}`, `{% for %}`, `{% set %}` and `{# … #}`"
    };
    let message = format!("the template cannot be read: {}", plain.message);
    SyntaxError { message, ..plain }.help(help)
}

/// Where `else if` begins a statement, and where those two words end.
fn else_if(source: &str) -> Option<(usize, usize)> {
    source.match_indices("{%").find_map(|(tag, _)| {
        let inner = source.get(tag + 2..)?;
        let words = inner.trim_start_matches(['-', '+']).trim_start();
        let at = source.len() - words.len();
        let rest = words.strip_prefix("else")?;
        let second = rest.trim_start();
        let is_if =
            second.len() < rest.len() && second.strip_prefix("if").is_some_and(|rest| rest.starts_with([' ', '\n']));
        is_if.then(|| (at, source.len() - second.len() + 2))
    })
}

/// `{% endfor %}` and the like where nothing or another statement is open.
fn stray(name: &str, source: &str, plain: &SyntaxError) -> SyntaxError {
    let before = source.get(..plain.range.start).unwrap_or_default();
    let before = before.trim_end().trim_end_matches(['-', '+']).strip_suffix("{%").unwrap_or(before);
    let range = plain.range.clone();
    match unclosed(before)
        .and_then(|open| before.get(open.range).map(|text| text.replace(['{', '%', '-', '+', ' '], "")))
    {
        Some(open) => SyntaxError::new(range, source, format!("`{{% {name} %}}` while `{{% {open} %}}` is open"))
            .help(format!("write `{{% end{open} %}}` before it")),
        None => SyntaxError::new(range, source, format!("`{{% {name} %}}` where nothing is open"))
            .help("remove it, or write the statement that it ends"),
    }
}

/// A tag, a string or a statement that has no end: the innermost statement, or the last tag.
fn unclosed(source: &str) -> Option<SyntaxError> {
    let mut open: Vec<(At, &str)> = Vec::new();
    let (mut tag, mut end) = (None, 0);
    let mut tokens = machinery::tokenize(source, false, SyntaxConfig::default()).peekable();
    while let Some(token) = tokens.next() {
        let Ok((token, span)) = token else {
            return broken(source, tag, end);
        };
        let at = at_of(span);
        end = at.1;
        match token {
            Token::VariableStart => tag = Some((at, "{{", "}}")),
            Token::VariableEnd | Token::BlockEnd => tag = None,
            Token::BlockStart => {
                tag = Some((at, "{%", "%}"));
                if let Some(Ok((Token::Ident(name), span))) = tokens.peek() {
                    let at = At(at.0, at_of(*span).1);
                    match *name {
                        "if" | "for" => open.push((at, name)),
                        "endif" | "endfor" if !ends(&mut open, name) => return None,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    if let Some((at, open, close)) = tag {
        let error = SyntaxError::new(at.range(), source, format!("`{open}` is not closed"));
        return Some(error.help(format!("write `{close}` behind it")));
    }
    let (at, name) = open.pop()?;
    let error = SyntaxError::new(at.range(), source, format!("`{{% {name} %}}` is not closed"));
    Some(error.help(format!("write `{{% end{name} %}}` where it ends")))
}

/// Whether the statement that is open ends here.
fn ends(open: &mut Vec<(At, &str)>, name: &str) -> bool {
    open.pop().is_some_and(|(_, opener)| name.strip_prefix("end") == Some(opener))
}

/// What follows `end` is no token: a string without its end, or a character that means nothing.
fn broken(source: &str, tag: Option<(At, &str, &str)>, end: u32) -> Option<SyntaxError> {
    let rest = source.get(end as usize..)?;
    let start = end as usize + (rest.len() - rest.trim_start().len());
    let first = rest.trim_start().chars().next();
    if tag.is_none() {
        let open = rest.rfind("{#").or_else(|| rest.rfind("{%"))?;
        let at = end as usize + open;
        let comment = rest.get(open..)?.starts_with("{#");
        let (what, help) = if comment {
            ("`{#` is not closed", "write `#}` where the comment ends")
        } else {
            ("`{% raw %}` is not closed", "write `{% endraw %}` where it ends")
        };
        return Some(SyntaxError::new(at..at + 2, source, what).help(help));
    }
    match first {
        Some(quote @ ('\'' | '"')) => {
            let error = SyntaxError::new(start..start + 1, source, "a string that is not closed");
            Some(error.help(format!("write `{quote}` where it ends")))
        }
        Some(other) => {
            let shown = crate::text::printable(&other.to_string());
            let error =
                SyntaxError::new(start..start + other.len_utf8(), source, format!("`{shown}` has no meaning here"));
            Some(error.help(match other {
                '&' => "write `and`",
                '!' => "write `not`",
                '?' => "write `a if condition else b`",
                _ => "names have letters, digits and `_`, and begin with no digit; text stands in quotes",
            }))
        }
        None => {
            let (at, open, close) = tag?;
            Some(
                SyntaxError::new(at.range(), source, format!("`{open}` is not closed"))
                    .help(format!("write `{close}` behind it")),
            )
        }
    }
}
