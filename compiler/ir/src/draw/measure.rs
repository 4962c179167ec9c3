//! How wide texts are, at least as wide as any usual font has them, and how they are broken into lines.

/// The width of a letter in thousandths of the font's size: that of a wide sans-serif, or more.
fn letter(c: char) -> u32 {
    match c {
        'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | '|' | '!' => 340,
        ' ' | 'I' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '\\' | '-' => 420,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' => 1010,
        'A'..='Z' | '=' | '+' | '<' | '>' | '#' | '~' | '&' => 850,
        '\u{0}'..='\u{7f}' => 650,
        // Marks that stand on other letters need no place; counting them is on the safe side.
        '\u{80}'..='\u{2fff}' => 900,
        _ => 1100,
    }
}

/// The width of a text in pixels at a size in pixels, rounded up.
pub(super) fn width(text: &str, size: u32) -> i64 {
    let thousandths: u64 = text.chars().map(|c| u64::from(letter(c))).sum();
    i64::try_from((thousandths * u64::from(size)).div_ceil(1000)).unwrap_or(i64::MAX / 4)
}

/// The text as at most so many lines, none of them wider than `most` pixels; the last ends in `…` where there is more.
pub(super) fn lines(text: &str, size: u32, most: i64, count: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split_whitespace().peekable();
    let mut rest: Option<String> = None;
    while let Some(word) = rest.take().or_else(|| words.next().map(str::to_owned)) {
        let joined = if line.is_empty() { word.clone() } else { format!("{line} {word}") };
        if width(&joined, size) <= most {
            line = joined;
            continue;
        }
        if line.is_empty() {
            // A word that is wider than a line is broken.
            let fits = fitting(&word, size, most).max(1);
            let at = word.char_indices().nth(fits).map_or(word.len(), |(at, _)| at);
            let (head, tail) = word.split_at_checked(at).unwrap_or((&word, ""));
            out.push(head.to_owned());
            rest = (!tail.is_empty()).then(|| tail.to_owned());
        } else {
            out.push(std::mem::take(&mut line));
            rest = Some(word);
        }
        if out.len() == count {
            cut(&mut out, size, most);
            return out;
        }
    }
    if !line.is_empty() {
        out.push(line);
    }
    out
}

/// How many letters of a text fit.
fn fitting(text: &str, size: u32, most: i64) -> usize {
    let mut seen = String::new();
    text.chars()
        .take_while(|c| {
            seen.push(*c);
            width(&seen, size) <= most
        })
        .count()
}

/// Says in the last line that there is more.
fn cut(lines: &mut [String], size: u32, most: i64) {
    let Some(last) = lines.last_mut() else { return };
    last.push('…');
    while width(last, size) > most && last.chars().count() > 1 {
        last.pop();
        last.pop();
        last.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        for text in
            ["a few words that go on and on", "Donaudampfschifffahrtsgesellschaftskapitän", "値値値値値値値値値", ""]
        {
            for most in [40, 90, 300] {
                let broken = lines(text, 12, most, 3);
                assert!(broken.len() <= 3 && broken.iter().all(|line| width(line, 12) <= most), "{broken:?}");
            }
        }
        assert_eq!(lines("one two three", 12, 60, 2), ["one two", "three"]);
        assert_eq!(lines("one two three four five six", 12, 70, 1), ["one two…"]);
    }
}
