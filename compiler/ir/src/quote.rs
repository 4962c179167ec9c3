//! Whether a quote is really in a text.

use unicode_normalization::UnicodeNormalization;

/// The text as quotes are compared: NFKC, case folded, without Markdown marks and what no eye sees, dashes and quotation marks
/// unified, white space as single blanks.
pub fn normalise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.nfkc().for_each(|c| fold(c, &mut out));
    out.trim().to_owned()
}

/// Writes a character as it is compared.
fn fold(c: char, out: &mut String) {
    for c in c.to_lowercase() {
        match c {
            // Marks of Markdown; then soft hyphens, joiners, marks of direction, selectors of variants.
            '*'
            | '_'
            | '`'
            | '#'
            | '~'
            | '>'
            | '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2060}'
            | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}' => {}
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' | '\u{2039}' | '\u{203a}' | '\u{2032}' => out.push('\''),
            '\u{201c}'..='\u{201f}' | '\u{ab}' | '\u{bb}' | '\u{2033}' | '\u{300c}'..='\u{300f}' => out.push('"'),
            // The letters whose lower case is not what upper case comes from.
            'ß' => out.push_str("ss"),
            'ς' => out.push('σ'),
            // The Turkish letters: upper and lower case are paired otherwise there.
            'ı' => out.push('i'),
            '\u{307}' if out.ends_with('i') => {}
            c if c.is_whitespace() => {
                if !out.ends_with(' ') {
                    out.push(' ');
                }
            }
            c => out.push(c),
        }
    }
}

/// The parts of a quote, normalised: an ellipsis stands for words that are left out.
fn fragments(quote: &str) -> Vec<String> {
    let quote = quote.replace('…', "...");
    let parts = quote.split("...").map(|part| normalise(part).trim_matches(['"', ' ']).to_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

/// Whether the quote occurs in the text, both normalised. An ellipsis splits the quote into fragments, which must occur in
/// order; a fragment of fewer than eight characters must match whole words.
pub fn occurs(quote: &str, text: &str) -> bool {
    let text = normalise(text);
    let fragments = fragments(quote);
    let mut rest: &str = &text;
    for fragment in &fragments {
        let Some(end) = find(fragment, rest) else { return false };
        rest = rest.get(end..).unwrap_or_default();
    }
    !fragments.is_empty()
}

/// Where the fragments of a quote stand in the text, as ranges of its bytes; empty where it does not occur, or stands there in
/// a form whose place cannot be told.
pub fn places(quote: &str, text: &str) -> Vec<(usize, usize)> {
    // Characters are decomposed one by one, so that each knows where it comes from.
    let (mut flat, mut from) = (String::new(), Vec::new());
    for (at, c) in text.char_indices() {
        std::iter::once(c).nfkd().for_each(|c| fold(c, &mut flat));
        from.resize(flat.len(), (at, at + c.len_utf8()));
    }
    let mut places = Vec::new();
    let mut start = 0;
    for fragment in fragments(quote) {
        let fragment: String = fragment.nfd().collect();
        let Some(end) = flat.get(start..).and_then(|rest| find(&fragment, rest)).map(|end| start + end) else {
            return Vec::new();
        };
        let first = from.get(end - fragment.len()).map(|(at, _)| *at);
        let last = end.checked_sub(1).and_then(|last| from.get(last)).map(|(_, end)| *end);
        places.extend(first.zip(last));
        start = end;
    }
    places
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
        && !matches!(c, '\u{e00}'..='\u{eff}' | '\u{f00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3ffff}')
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
            "twelve\u{a0}bucks",
            "twe\u{ad}lve bucks",
            "Gro\u{308}ße",
        ] {
            assert!(occurs(good, text), "{good}");
        }
        for bad in ["bout", "twelve dollars", "roughly … Sorry", "", "…", "ucks", "\"\""] {
            assert!(!occurs(bad, text), "{bad}");
        }
    }

    /// A judge quotes with other marks, breaks, widths and cases than the text has; what was not said is not found.
    #[test]
    fn quotes_are_verified_in_many_scripts() {
        let cases = [
            ("Die Straße kostet **zwölf** Euro – ungefähr.", "zwölf Euro - UNGEFÄHR", "zwölf Dollar"),
            ("Le prix est d’environ 12 € par siège.", "d'environ 12\u{202f}€ par siège", "13 € par siège"),
            ("Η τιμή είναι δώδεκα ευρώ ανά ΘΈΣΗΣ.", "δώδεκα ευρώ ανά θέσης", "δεκατρία ευρώ"),
            ("Место стоит около «двенадцати» долларов.", "около \"двенадцати\" долларов", "тринадцати долларов"),
            ("השימוש עולה בערך שנים עשר דולר לכיסא.", "שנים עשר \u{200f}דולר", "שלושה עשר דולר"),
            ("السعر حوالي اثني عشر دولارًا للمقعد.", "حوالي اثني عشر", "ثلاثة عشر"),
            ("कीमत लगभग बारह डॉलर प्रति सीट है।", "लगभग बारह डॉलर", "लगभग तेरह डॉलर"),
            ("ราคาประมาณสิบสองดอลลาร์ต่อที่นั่ง", "สิบสอง", "สิบสาม"),
            ("价格大约是每个席位１２美元。「大约」", "大约是每个席位12美元", "每个席位13美元"),
            ("料金は１席あたり約１２ドルです。", "約12ドル", "約13ドル"),
            ("가격은 좌석당 약 12달러입니다.", "좌석당 약 12달러", "약 13달러"),
            ("Fiyat koltuk başına yaklaşık on iki dolar.", "KOLTUK BAŞINA … on iki", "on üç dolar"),
            ("តម្លៃប្រហែលដប់ពីរដុល្លារ", "ដប់ពីរ", "ដប់បី"),
        ];
        for (text, good, bad) in cases {
            assert!(occurs(good, text), "{good} in {text}");
            assert!(!occurs(bad, text), "{bad} in {text}");
            assert!(!places(good, text).is_empty(), "{good} has a place in {text}");
            assert_eq!(places(bad, text), []);
        }
    }

    #[test]
    fn the_places_are_those_of_the_text_as_it_was_said() {
        let text = "Sorry — it's **about** twelve bucks\na seat. Größe: １２ ドル";
        let said = |quote: &str| places(quote, text).into_iter().map(|(from, to)| &text[from..to]).collect::<Vec<_>>();
        assert_eq!(said("it’s about twelve"), ["it's **about** twelve"]);
        assert_eq!(said("bucks a SEAT … GRÖSSE"), ["bucks\na seat", "Größe"]);
        assert_eq!(said("12 ドル"), ["１２ ドル"]);
        assert_eq!(said("thirteen"), Vec::<&str>::new());
    }
}
