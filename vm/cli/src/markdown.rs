//! A page of the manual as plain text: what our pages are made of, which is headings, paragraphs, lists, tables, links and
//! blocks of code.

use std::fmt::Write as _;

/// The text of a page, its paragraphs wrapped at `width` columns.
pub(crate) fn plain(page: &str, width: usize) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```") {
            in_code = !in_code;
            if let Some(caption) = caption(info).filter(|_| in_code) {
                let _ = writeln!(out, "{caption}:\n");
            }
        } else if in_code {
            let _ = writeln!(out, "{}", format!("    {line}").trim_end());
        } else if let Some(title) = line.strip_prefix('#') {
            let title = prose(title.trim_start_matches('#').trim());
            let rule = if line.starts_with("# ") { "=" } else { "-" };
            let _ = writeln!(out, "{title}\n{}", rule.repeat(title.chars().count()));
        } else if line.starts_with('|') {
            let _ = writeln!(out, "{}", prose(line));
        } else {
            wrapped(&prose(line), width, &mut out);
        }
    }
    out
}

/// A page in Markdown that stands alone: its links to other pages are their texts.
pub(crate) fn alone(page: &str) -> String {
    let mut in_code = false;
    let lines = page.lines().map(|line| {
        in_code ^= line.starts_with("```");
        if in_code { format!("{line}\n") } else { prose(line) + "\n" }
    });
    lines.collect()
}

/// What a block is: the words behind its fence say what the tests do with it.
fn caption(info: &str) -> Option<&str> {
    let mut words = info.split_whitespace().skip(1);
    words.find_map(|word| match word {
        "fails" => Some("Fails"),
        "fixed" => Some("Fixed"),
        file if file.contains('.') => Some(file),
        _ => None,
    })
}

/// A line without the marks of links: `[text](target)` is its text, and its target where that is on the web.
fn prose(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, text, target, after)) = link(rest) {
        out.push_str(before);
        out.push_str(text);
        if target.contains("://") {
            let _ = write!(out, " <{target}>");
        }
        rest = after;
    }
    out + rest
}

/// The first link of a text: what stands before it, its text, its target, and what comes after.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let middle = text.find("](")?;
    let (before, rest) = text.split_at_checked(middle)?;
    let open = before.rfind('[')?;
    let (target, after) = rest.get(2..)?.split_once(')')?;
    Some((before.get(..open)?, before.get(open + 1..)?, target, after))
}

/// Greedily; what is behind a mark of a list stands under its text.
fn wrapped(line: &str, width: usize, out: &mut String) {
    let indent = line.len() - line.trim_start().len();
    let hang = if line.trim_start().starts_with("- ") { indent + 2 } else { indent };
    let mut column = 0;
    for word in line.split_whitespace() {
        let length = word.chars().count();
        if column == 0 {
            let _ = write!(out, "{:indent$}{word}", "");
            column = indent + length;
        } else if column + 1 + length > width {
            let _ = write!(out, "\n{:hang$}{word}", "");
            column = hang + length;
        } else {
            let _ = write!(out, " {word}");
            column += 1 + length;
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_page_is_text() {
        let page = "# E1: a [thing](x.md)\n\nOne two [three four](y.md#z) <- `a[0](b` five.\n\n- a list of three things\n\n```yaml fails step\n- x\n\n  y\n```\n";
        let wanted = "E1: a thing\n===========\n\nOne two three four\n<- `a[0](b` five.\n\n- a list of three\n  things\n\nFails:\n\n    - x\n\n      y\n";
        assert_eq!(plain(page, 18), wanted);
        assert_eq!(super::alone("a [b](c)\n```\n[d](e)\n```\n"), "a b\n```\n[d](e)\n```\n");
        assert_eq!(plain("See [it](https://x.y/z).", 80), "See it <https://x.y/z>.\n");
    }
}
