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

/// Writes `text` as a JSON string in which no character can drive a terminal.
pub fn json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_dangerous(c) => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
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
        assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        assert_eq!(printable("x\u{1b}y"), "x\\u{1b}y");
    }
}
