//! Choices of samples by their tags.

/// What is wrong with a choice of tags: words, `and`, `or`, `not` and parentheses.
pub fn selection_error(text: &str) -> Option<String> {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let (mut depth, mut wants_tag) = (0_u32, true);
    for word in spaced.split_whitespace() {
        match (word, wants_tag) {
            ("(", true) => depth += 1,
            (")", false) if depth > 0 => depth -= 1,
            ("not", true) => {}
            ("and" | "or", false) => wants_tag = true,
            ("and" | "or" | "not" | "(" | ")", _) => return Some(format!("`{word}` cannot stand there in the tags")),
            (tag, true) if tag.chars().all(|c| c.is_alphanumeric() || "_-.:/".contains(c)) => wants_tag = false,
            (tag, true) => return Some(format!("`{tag}` is no tag")),
            (tag, false) => return Some(format!("`{tag}` follows a tag without `and` or `or`")),
        }
    }
    if wants_tag {
        return Some("a tag is missing".to_owned());
    }
    (depth > 0).then(|| "`(` without `)`".to_owned())
}
