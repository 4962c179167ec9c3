//! Secrets are taken out of whatever comes back, before anything else sees it: servers echo headers, models say what they were
//! told, tools print their environment, and refusals quote keys. This is done on whole decoded texts, so it does not matter in
//! which pieces they came.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Reply;
use crate::fault::Fault;

/// A shorter secret could be a word, and taking it out would change what was said.
const LEAST: usize = 12;
/// And one that is shorter than this could be a part of any word.
const LEAST_OF_ALL: usize = 4;
/// One of letters alone is a word or some, unless it is longer than this.
const LEAST_LETTERS: usize = 24;
/// Of a secret at whose end a text is cut off, so many characters tell that it is one.
const PART: usize = 8;

/// A form of a secret that is looked for: each of its characters as it is, or escaped as addresses, JSON and programs do it.
#[derive(Clone, Debug)]
struct Form {
    chars: Vec<char>,
    /// What is put in its place.
    name: Arc<str>,
    /// Whether large and small letters are the same.
    any_case: bool,
    /// Whether it is only taken out of what went wrong, and not of what was said.
    faults_only: bool,
}

/// The forms of secrets that are looked for, and what is put in their place.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    /// The longest first: a secret that is a part of another must not hide that one.
    forms: Vec<Form>,
    /// The names of those that could be words.
    weak: Vec<String>,
}

impl Redactor {
    /// Of secrets, each with the name of its variable.
    pub(crate) fn new(secrets: impl Iterator<Item = (String, String)>) -> Self {
        let mut redactor = Self::default();
        for (secret, variable) in secrets.filter(|(secret, _)| secret.len() >= LEAST_OF_ALL) {
            let name: Arc<str> = format!("{{{{secret:{variable}}}}}").into();
            let faults_only = is_weak(&secret);
            if faults_only && !redactor.weak.contains(&variable) {
                redactor.weak.push(variable);
            }
            let encoded = (0..3).flat_map(|offset| {
                let plain = base64(secret.as_bytes(), offset);
                let for_addresses = plain.replace('+', "-").replace('/', "_");
                [plain, for_addresses]
            });
            let mut hex = String::new();
            for byte in secret.bytes() {
                let _ = write!(hex, "{byte:02x}");
            }
            let forms = std::iter::once((secret.clone(), false)).chain(encoded.map(|form| (form, false)));
            for (form, any_case) in forms.chain([(hex, true)]) {
                let chars: Vec<char> = form.chars().collect();
                // A short form of a short secret stands in many texts by chance.
                let is_form = chars.len() >= LEAST || form == secret;
                if is_form && !redactor.forms.iter().any(|known| known.chars == chars) {
                    redactor.forms.push(Form { chars, name: Arc::clone(&name), any_case, faults_only });
                }
            }
        }
        redactor.forms.sort_by_key(|form| std::cmp::Reverse(form.chars.len()));
        redactor
    }

    /// The names of the secrets that could be words: they are not taken out of what is said.
    pub(crate) fn weak(&self) -> &[String] {
        &self.weak
    }

    /// Takes them out of a reply or a fault.
    pub(crate) fn clean(&self, outcome: &mut Result<Reply, Fault>) {
        if self.forms.is_empty() {
            return;
        }
        let shared = |text: &mut Arc<str>| {
            if let Some(clean) = self.without(text, false) {
                *text = clean.into();
            }
        };
        match outcome {
            Ok(reply) => {
                shared(&mut reply.answer.text);
                reply.answer.context.iter_mut().for_each(shared);
                for call in &mut reply.answer.calls {
                    [&mut call.id, &mut call.tool, &mut call.arguments].into_iter().for_each(shared);
                }
                reply.answer.fault.iter_mut().for_each(shared);
                if let Some(clean) = reply.model.as_deref().and_then(|model| self.without(model, false)) {
                    reply.model = Some(clean);
                }
            }
            Err(fault) => {
                if let Some(clean) = self.cleaned(&fault.message) {
                    fault.message = clean;
                }
            }
        }
    }

    /// What went wrong, without secrets; none where it had none.
    pub(crate) fn cleaned(&self, text: &str) -> Option<String> {
        self.without(text, true)
    }

    /// The text without secrets; none where it had none.
    fn without(&self, text: &str, is_fault: bool) -> Option<String> {
        let forms: Vec<&Form> = self.forms.iter().filter(|form| is_fault || !form.faults_only).collect();
        let mut begins = [false; 256];
        let mut mark = |byte: u8| {
            if let Some(begins) = begins.get_mut(usize::from(byte)) {
                *begins = true;
            }
        };
        b"%\\".iter().copied().for_each(&mut mark);
        for first in forms.iter().filter_map(|form| form.chars.first()) {
            let mut bytes = [0; 4];
            let byte = first.encode_utf8(&mut bytes).as_bytes().first().copied().unwrap_or_default();
            [byte, byte.to_ascii_uppercase(), byte.to_ascii_lowercase()].into_iter().for_each(&mut mark);
        }
        let mut clean: Option<String> = None;
        let (mut at, mut done) = (0, 0);
        while let Some(&byte) = text.as_bytes().get(at) {
            let may = begins.get(usize::from(byte)).is_some_and(|begins| *begins);
            let found = if may { forms.iter().find_map(|form| Some((form.at(text, at)?, &form.name))) } else { None };
            let Some((end, name)) = found else {
                at += 1;
                continue;
            };
            let clean = clean.get_or_insert_default();
            clean.push_str(text.get(done..at).unwrap_or_default());
            clean.push_str(name);
            (at, done) = (end, end);
        }
        clean.map(|clean| clean + text.get(done..).unwrap_or_default())
    }
}

/// Whether a secret could be a word, or be in a text by chance.
fn is_weak(secret: &str) -> bool {
    let mut letters: Vec<char> = secret.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    let is_words = secret.chars().all(|c| c.is_alphabetic() || matches!(c, ' ' | '-' | '_' | '.'));
    secret.len() < LEAST || letters.len() < 5 || (is_words && secret.len() < LEAST_LETTERS)
}

impl Form {
    /// Where the form ends, if it stands at a place of a text. A text that was cut off within it has it as well.
    fn at(&self, text: &str, at: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        // An escaped backslash can be read in two ways, so there may be several places.
        let (mut places, mut next) = (vec![at], Vec::new());
        for (count, &c) in self.chars.iter().enumerate() {
            next.clear();
            for &place in &places {
                let rest = bytes.get(place..).unwrap_or_default();
                if count >= PART && (rest.is_empty() || rest == "…".as_bytes()) {
                    return Some(place);
                }
                self.steps(c, bytes, place, &mut next);
            }
            if next.len() > 1 {
                next.sort_unstable();
                next.dedup();
            }
            std::mem::swap(&mut places, &mut next);
            if places.is_empty() {
                return None;
            }
        }
        // Escapes are of ASCII, and a raw character is taken as a whole: the end is between characters.
        places.into_iter().max().filter(|end| text.is_char_boundary(*end))
    }

    /// The places behind a character that stands at a place, raw or escaped.
    fn steps(&self, c: char, text: &[u8], at: usize, ends: &mut Vec<usize>) {
        let mut buffer = [0; 4];
        let raw = c.encode_utf8(&mut buffer).as_bytes();
        let here = text.get(at..at + raw.len());
        if here.is_some_and(|here| here == raw || (self.any_case && here.eq_ignore_ascii_case(raw))) {
            ends.push(at + raw.len());
        }
        match text.get(at) {
            Some(b'%') => ends.extend(percented(raw, text, at)),
            Some(b'\\') => {
                let escapes = text.iter().skip(at).take_while(|byte| **byte == b'\\').count();
                let behind = at + escapes;
                let number = |digits: usize| number(text.get(behind + 1..behind + 1 + digits)?);
                match text.get(behind) {
                    Some(b'u' | b'U') if number(4) == Some(c as u32) => ends.push(behind + 5),
                    Some(b'x') if number(2) == Some(c as u32) => ends.push(behind + 3),
                    Some(&byte) if raw == [byte] && matches!(c, '"' | '/' | '\'') => ends.push(behind + 1),
                    _ => {}
                }
                if c == '\\' {
                    ends.extend([2, 4, 8].into_iter().filter(|n| *n <= escapes).map(|n| at + n));
                }
            }
            _ => {}
        }
    }
}

/// Behind the bytes of a character as an address has them, also where the address was put into another one.
fn percented(raw: &[u8], text: &[u8], at: usize) -> Option<usize> {
    let mut at = at;
    for &byte in raw {
        if text.get(at) != Some(&b'%') {
            return None;
        }
        at += 1;
        while byte != b'%' && text.get(at..).is_some_and(|rest| rest.starts_with(b"25")) {
            at += 2;
        }
        if number(text.get(at..at + 2)?) != Some(u32::from(byte)) {
            return None;
        }
        at += 2;
    }
    Some(at)
}

/// The number of hexadecimal digits.
fn number(digits: &[u8]) -> Option<u32> {
    u32::from_str_radix(std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'))?, 16).ok()
}

/// As it stands in an address.
pub(super) fn percent(secret: &str) -> String {
    let mut out = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The characters that a secret has in the base64 of any text in which so many bytes, modulo three, stand before it: those
/// that depend on nothing but the secret.
fn base64(secret: &[u8], before: usize) -> String {
    let bytes: Vec<u8> = std::iter::repeat_n(0, before).chain(secret.iter().copied()).collect();
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let number =
            three.iter().fold(0_u32, |number, byte| (number << 8) | u32::from(*byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let six = (number >> (18 - 6 * at)) & 63;
            out.push(char::from(ALPHABET.get(six as usize).copied().unwrap_or(b'=')));
        }
    }
    let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    out.get(first..last).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use aigo_machine::Answer;

    use super::*;
    use crate::fault::Class;
    use crate::rates::Rates;

    fn of(secret: &str) -> Redactor {
        Redactor::new([(secret.to_owned(), "KEY".to_owned())].into_iter())
    }

    #[test]
    fn a_secret_is_found_in_every_form() {
        let redactor = of("sk-abc/123+def~456");
        // `x:`, `xy:` and `:` before it, encoded by hand; and what stands before and after it stays.
        for (told, clean) in [
            ("it is sk-abc/123+def~456.", "it is {{secret:KEY}}."),
            ("?k=sk-abc%2F123%2Bdef~456&x", "?k={{secret:KEY}}&x"),
            ("?k=sk-abc%2f123%2bdef%7e456", "?k={{secret:KEY}}"),
            ("?u=%253Fk%253Dsk-abc%252F123%252Bdef%257E456", "?u=%253Fk%253D{{secret:KEY}}"),
            (r#"{"k":"sk-abc\/123+def~456"}"#, r#"{"k":"{{secret:KEY}}"}"#),
            (r#""{\"k\":\"sk-abc\\/123\u002bdef\\u007E456\"}""#, r#""{\"k\":\"{{secret:KEY}}\"}""#),
            (r"\x73\x6b-abc/123+def~456", "{{secret:KEY}}"),
            ("c2stYWJjLzEyMytkZWZ+NDU2", "{{secret:KEY}}"),
            ("c2stYWJjLzEyMytkZWZ%2BNDU2", "{{secret:KEY}}"),
            // The last character holds four bits of the secret, and four that are not of it.
            ("eDpzay1hYmMvMTIzK2RlZn40NTY=", "eDp{{secret:KEY}}Y="),
            ("736B2D6162632f3132332b6465667E343536!", "{{secret:KEY}}!"),
            ("sk-abc/123+def~456sk-abc/123+def~456", "{{secret:KEY}}{{secret:KEY}}"),
            ("é sk-abc/123+def~456 é", "é {{secret:KEY}} é"),
        ] {
            assert_eq!(redactor.cleaned(told).as_deref(), Some(clean), "{told}");
        }
        for told in ["eHk6c2stYWJjLzEyMytkZWZ-NDU2", "OnNrLWFiYy8xMjMrZGVmfjQ1Ng=="] {
            assert!(redactor.cleaned(told).is_some_and(|clean| clean.contains("{{secret:KEY}}")), "{told}");
        }
        for told in ["nothing of it", "sk-abc/123+def~457", "sk-abc", "%", "\\", "%2", "\\u", "\\u00", "é%é\\é"] {
            assert_eq!(redactor.cleaned(told), None, "{told}");
        }
    }

    #[test]
    fn what_is_cut_off_within_a_secret_keeps_no_part_of_it() {
        let redactor = of("sk-abc/123+def~456");
        for (told, clean) in [
            ("Key: sk-abc/123", "Key: {{secret:KEY}}"),
            ("Key: sk-abc/123+def…", "Key: {{secret:KEY}}…"),
            ("Key: sk-abc%2F1", "Key: {{secret:KEY}}"),
        ] {
            assert_eq!(redactor.cleaned(told).as_deref(), Some(clean));
        }
        assert_eq!(redactor.cleaned("Key: sk-abc/"), None);
    }

    #[test]
    fn escapes_of_escapes_are_read_in_every_way() {
        let redactor = of(r#"a\\"b%c/d-0123456"#);
        for told in [r#"a\\"b%c/d-0123456"#, r#"a\\\\\"b%c/d-0123456"#, "a%5C%5C%22b%25c%2Fd-0123456"] {
            assert_eq!(redactor.cleaned(told).as_deref(), Some("{{secret:KEY}}"), "{told}");
        }
    }

    #[test]
    fn a_word_is_taken_out_of_what_went_wrong_alone() {
        for word in ["password", "open sesame now", "aaaaaaaaaaaaaaaa"] {
            let redactor = of(word);
            assert_eq!(redactor.weak(), ["KEY"]);
            let mut said = Ok(Reply {
                answer: Answer { text: format!("my {word}").into(), ..Answer::default() },
                model: None,
                lossy: false,
                rates: Rates::default(),
            });
            redactor.clean(&mut said);
            assert_eq!(said.unwrap().answer.text.as_ref(), format!("my {word}"));
            let mut fault = Err(Fault::new(Class::Auth, format!("the key {word} is wrong")));
            redactor.clean(&mut fault);
            assert_eq!(fault.unwrap_err().message, "the key {{secret:KEY}} is wrong");
        }
        assert!(of("sk-abc/123+def~456").weak().is_empty());
    }
}
