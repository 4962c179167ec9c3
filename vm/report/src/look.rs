//! How text for people is laid out: its width, and one colour for what is red and one for what is undecided.

/// The width and the colours of a report. Without colours the words carry everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether it is coloured.
    pub colour: bool,
    /// In columns.
    pub width: usize,
}

impl Look {
    /// Without colours, as wide as the logs of CI are read.
    pub const PLAIN: Self = Self { colour: false, width: 100 };

    /// What is red.
    pub(crate) fn red(&self, text: &str) -> String {
        self.painted("31;1", text)
    }

    /// What is undecided.
    pub(crate) fn open(&self, text: &str) -> String {
        self.painted("33", text)
    }

    /// What the eye is to find.
    pub(crate) fn strong(&self, text: &str) -> String {
        self.painted("1", text)
    }

    fn painted(&self, how: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\u{1b}[{how}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// The text in lines of at most the width, those after the first indented. Words longer than a line are cut into
    /// pieces.
    pub(crate) fn wrapped(&self, first: &str, text: &str, indent: usize) -> String {
        let mut out = first.to_owned();
        let mut at = columns(first);
        let room = self.width.saturating_sub(indent).max(20);
        let mut is_first = true;
        for word in text.split(' ').flat_map(|word| pieces(word, room)) {
            let wide = columns(word);
            if !is_first && at + 1 + wide > self.width.max(indent + 20) {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                at = indent;
            } else if !is_first {
                out.push(' ');
                at += 1;
            }
            out.push_str(word);
            at += wide;
            is_first = false;
        }
        out.push('\n');
        out
    }
}

/// A word in pieces of at most so many characters.
fn pieces(word: &str, room: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while let Some((at, _)) = rest.char_indices().nth(room) {
        let (piece, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Marks that combine with the letter before them, and what joins letters: they take no column.
const NARROW: [(char, char); 16] = [
    ('\u{300}', '\u{36f}'),
    ('\u{483}', '\u{489}'),
    ('\u{591}', '\u{5bd}'),
    ('\u{610}', '\u{61a}'),
    ('\u{64b}', '\u{65f}'),
    ('\u{93c}', '\u{93c}'),
    ('\u{941}', '\u{948}'),
    ('\u{94d}', '\u{94d}'),
    ('\u{e31}', '\u{e31}'),
    ('\u{e34}', '\u{e3a}'),
    ('\u{e47}', '\u{e4e}'),
    ('\u{200b}', '\u{200d}'),
    ('\u{20d0}', '\u{20ff}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{fe20}', '\u{fe2f}'),
    ('\u{1f3fb}', '\u{1f3ff}'),
];

/// The large ranges of Unicode's wide letters, and most pictures: two columns.
const WIDE: [(char, char); 11] = [
    ('\u{1100}', '\u{115f}'),
    ('\u{2e80}', '\u{303e}'),
    ('\u{3041}', '\u{4dbf}'),
    ('\u{4e00}', '\u{a4cf}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{fe30}', '\u{fe6f}'),
    ('\u{ff00}', '\u{ff60}'),
    ('\u{ffe0}', '\u{ffe6}'),
    ('\u{1f300}', '\u{1faff}'),
    ('\u{20000}', '\u{3fffd}'),
];

/// How many columns of a terminal a text takes. What only colours takes none.
pub(crate) fn columns(text: &str) -> usize {
    let within = |c: char, ranges: &[(char, char)]| ranges.iter().any(|(first, last)| (first..=last).contains(&&c));
    let (mut wide, mut is_colour) = (0, false);
    for c in text.chars() {
        if is_colour {
            is_colour = c != 'm';
        } else if c == '\u{1b}' {
            is_colour = true;
        } else if c.is_ascii() {
            wide += 1;
        } else if !within(c, &NARROW) {
            wide += if within(c, &WIDE) { 2 } else { 1 };
        }
    }
    wide
}

/// The text, filled with blanks to so many columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// The text behind so many blanks that it ends at a column.
pub(crate) fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_wide_as_is_asked_for() {
        let look = Look { colour: false, width: 30 };
        let text = look.wrapped("  > 1u  ", "The plan that you named is the one we keep in mind, 東京の天気", 8);
        assert_eq!(
            text,
            "  > 1u  The plan that you\n        named is the one we\n        keep in mind,\n        東京の天気\n"
        );
        assert!(look.wrapped("", &"x".repeat(100), 4).lines().all(|line| line.len() <= 30));
        assert_eq!(
            (look.red("x"), Look { colour: true, ..look }.red("x")),
            ("x".into(), "\u{1b}[31;1mx\u{1b}[0m".into())
        );
        assert_eq!((columns("天気é"), padded("天", 4), right("4/9", 5)), (5, "天  ".into(), "  4/9".into()));
    }
}
