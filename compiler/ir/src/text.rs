//! Text that other people wrote, made safe to print.

use std::fmt::Write as _;

/// Whether a terminal could act on this character, or an eye be misled by it: control characters, the line separators and
/// bidirectional controls.
pub fn is_dangerous(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' | '\u{61c}' | '\u{feff}')
}

/// The text with every dangerous character but a newline written as `\u{..}`.
pub fn printable(text: &str) -> String {
    if !text.chars().any(|c| is_dangerous(c) && c != '\n') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_dangerous(c) && c != '\n' {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        } else {
            out.push(c);
        }
    }
    out
}

/// The text on one line, at most `width` characters, cut at the end with `…`.
pub fn excerpt(text: &str, width: usize) -> String {
    let line = printable(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if line.chars().count() <= width {
        return line;
    }
    let mut cut: String = line.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// The bytes at which [`json_string`] must look: what JSON escapes, and the first bytes of every character that could drive a
/// terminal (U+0080 to U+00BF, U+0600 to U+063F, U+2000 to U+2FFF, U+F000 to U+FFFF).
const LOOK: [bool; 256] = {
    let mut look = [false; 256];
    let mut byte = u8::MIN;
    loop {
        look[byte as usize] = matches!(byte, 0..0x20 | b'"' | b'\\' | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef);
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    look
};

/// Writes `text` as a JSON string in which no character can drive a terminal. What needs no look is copied as a whole: this is
/// most of what a run writes, to the log and to providers.
pub fn json_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| LOOK.get(usize::from(byte)).is_some_and(|look| *look)) {
        let (plain, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(plain);
        let mut chars = from.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(c) if is_dangerous(c) => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            Some(c) => out.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// A number for people: six significant digits at most, no trailing zeros, `-0` as `0`.
pub fn number(x: f64) -> String {
    if !x.is_finite() {
        return x.to_string();
    }
    let text = format!("{x:.5e}");
    let rounded: f64 = text.parse().unwrap_or(x);
    let rounded = if rounded == 0.0 { 0.0 } else { rounded };
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_significant_digits() {
        let shown = [1.0 / 3.0, 600.000_000_000_1, -0.0, 1_234_567.0, 0.98].map(number);
        assert_eq!(shown, ["0.333333", "600", "0", "1234570", "0.98"]);
    }

    #[test]
    fn json_strings_cannot_drive_a_terminal_and_read_back() {
        let text = "a\u{1b}[2J\u{202e}\u{85}\u{7f}\"\\\n値😀";
        let mut out = String::new();
        json_string(text, &mut out);
        assert!(!out.chars().any(is_dangerous));
        // Every character, between others: the bytes that are looked at must not miss one.
        for c in '\0'..=char::MAX {
            let mut out = String::new();
            json_string(&format!("a{c}é{c}{c}"), &mut out);
            assert!(!out.chars().any(is_dangerous), "{c:?}");
            assert_eq!(out.contains(c), !is_dangerous(c) || c == 'a', "{c:?} {out}");
        }
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        assert_eq!(printable("x\u{1b}y"), "x\\u{1b}y");
    }
}
