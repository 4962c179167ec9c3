//! Reading XML and Graphviz's language back, strictly, without the writers.

/// An element, or the text between elements.
#[derive(Debug)]
pub(crate) enum Part {
    Open(String, Vec<(String, String)>),
    Close,
    Text(String),
}

impl Part {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let Self::Open(_, attributes) = self else { return None };
        attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// An attribute that is a whole number.
    pub(crate) fn number(&self, name: &str) -> i64 {
        let value = self.attribute(name).unwrap_or_else(|| panic!("no `{name}` in {self:?}"));
        value.parse().unwrap_or_else(|_| panic!("`{name}` is {value}"))
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let end = rest[at..].find(';').unwrap_or_else(|| panic!("an open entity in {rest}")) + at;
        out.push(match &rest[at + 1..end] {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            "#10" => '\n',
            other => panic!("the entity {other}"),
        });
        rest = &rest[end + 1..];
    }
    out + rest
}

/// The parts of a document; it fails on what is not well formed.
pub(crate) fn parse(text: &str) -> Vec<Part> {
    let legal = |c: char| c == '\n' || (!aigo_ir::text::is_dangerous(c) && !matches!(c, '\u{fffe}' | '\u{ffff}'));
    assert!(text.chars().all(legal), "a character that XML or a terminal cannot take");
    let (mut parts, mut open, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>') || rest[..at].contains("sans-serif"), "a bare `>` in {}", &rest[..at]);
        parts.push(Part::Text(unescaped(&rest[..at])));
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("the end of a tag");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "elements close in order");
            parts.push(Part::Close);
            continue;
        }
        let (tag, alone) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "the element {name}");
        let mut found: Vec<(String, String)> = Vec::new();
        while !attributes.trim().is_empty() {
            let (key, after) = attributes.split_once("=\"").unwrap_or_else(|| panic!("attributes: {attributes}"));
            let (value, after) = after.split_once('"').unwrap_or_else(|| panic!("an open attribute: {after}"));
            assert!(!found.iter().any(|(known, _)| known == key.trim()), "{key} twice");
            found.push((key.trim().to_owned(), unescaped(value)));
            attributes = after;
        }
        parts.push(Part::Open(name.to_owned(), found));
        if alone {
            parts.push(Part::Close);
        } else {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "open at the end: {open:?}");
    parts
}

/// The strings of a text in Graphviz's language, which has to be balanced outside of them.
pub(crate) fn dot_strings(text: &str) -> Vec<String> {
    let (mut strings, mut depth) = (Vec::new(), 0_i64);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            '"' => {
                let mut string = String::new();
                loop {
                    match chars.next().expect("the end of a string") {
                        '"' => break,
                        '\\' => match chars.next().expect("what is escaped") {
                            'l' => string.push('\n'),
                            c @ ('"' | '\\') => string.push(c),
                            other => panic!("the escape {other}"),
                        },
                        '\n' => panic!("a string over two lines"),
                        c => string.push(c),
                    }
                }
                strings.push(string);
            }
            c => assert!(c.is_ascii(), "{c} outside of a string"),
        }
        assert!(depth >= 0, "a brace too many");
    }
    assert_eq!(depth, 0, "open braces");
    strings
}
