//! JSON of servers, which is not always text, nor always what it is said to be.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

/// A value, and whether bytes that are no text were replaced in it.
pub(super) struct Parsed<T> {
    pub(super) value: T,
    pub(super) is_lossy: bool,
}

/// Reads JSON. Bytes that are no UTF-8 and halves of characters become U+FFFD.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<Parsed<T>, serde_json::Error> {
    let error = match serde_json::from_slice(bytes) {
        Ok(value) => return Ok(Parsed { value, is_lossy: false }),
        Err(error) => error,
    };
    let text = String::from_utf8_lossy(bytes);
    let is_lossy = matches!(text, std::borrow::Cow::Owned(_));
    match mend_surrogates(&text) {
        Some(mended) => serde_json::from_str(&mended).map(|value| Parsed { value, is_lossy: true }),
        None if is_lossy => serde_json::from_str(&text).map(|value| Parsed { value, is_lossy: true }),
        None => Err(error),
    }
}

/// Escapes of half a character (`\ud83d` alone) become U+FFFD; JSON readers refuse them, and models write them.
fn mend_surrogates(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut mended) = (text, false);
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let unit = |text: &str| {
            text.strip_prefix("\\u").and_then(|hex| hex.get(..4)).and_then(|hex| u16::from_str_radix(hex, 16).ok())
        };
        let taken = match unit(from) {
            Some(0xd800..=0xdbff) => {
                let low = from.get(6..).and_then(unit).filter(|low| (0xdc00..=0xdfff).contains(low));
                if low.is_some() { 12 } else { 0 }
            }
            Some(0xdc00..=0xdfff) => 0,
            Some(_) => 6,
            // Any other escape is two characters; the second may be a backslash.
            None => 1 + from.chars().nth(1).map_or(0, char::len_utf8),
        };
        if taken == 0 {
            mended = true;
            out.push_str("\\ufffd");
            rest = from.get(6..).unwrap_or_default();
        } else {
            out.push_str(from.get(..taken).unwrap_or(from));
            rest = from.get(taken..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    mended.then_some(out)
}

/// A count of tokens; whatever else stands in its place is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(serde_json::from_str(Box::<RawValue>::deserialize(deserializer)?.get()).ok()))
    }
}

/// What stands beside an answer and cannot be read is as if it were not there: the answer has been paid.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}

/// The text of a message: a text, or parts of which those of type `text` count.
#[derive(Clone, Debug, Default)]
pub(super) struct Text(pub(super) String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

#[derive(Deserialize)]
struct Part {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text, or a list of parts")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        Ok(Text(text.to_owned()))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Text, E> {
        Ok(Text(text))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Text, E> {
        Ok(Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Text, A::Error> {
        let mut text = String::new();
        while let Some(part) = parts.next_element::<Part>()? {
            if part.kind.as_deref().is_none_or(|kind| kind == "text" || kind == "output_text") {
                text.push_str(part.text.as_deref().unwrap_or_default());
            }
        }
        Ok(Text(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::default())
    }
}

/// The arguments of a tool call as text: JSON within a string, as it should be, or JSON as it is.
pub(super) fn arguments(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw.map(RawValue::get).filter(|raw| *raw != "null") else { return String::new() };
    serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_become_replacements_and_whole_ones_stay() {
        let read = |text: &str| {
            let parsed = parse::<String>(format!("\"{text}\"").as_bytes()).unwrap();
            (parsed.value, parsed.is_lossy)
        };
        assert_eq!(read(r"a\ud83d b"), ("a\u{fffd} b".to_owned(), true));
        assert_eq!(read(r"\udc00\\ud83d"), ("\u{fffd}\\ud83d".to_owned(), true));
        assert_eq!(read(r"\ud83d\ude00"), ("😀".to_owned(), false));
        let cut = parse::<String>(b"\"a\xff\"").unwrap();
        assert_eq!((cut.value.as_str(), cut.is_lossy), ("a\u{fffd}", true));
    }

    #[test]
    fn a_text_may_come_in_parts() {
        let read = |text: &str| parse::<Text>(text.as_bytes()).unwrap().value.0;
        assert_eq!(read(r#"[{"type":"thinking","thinking":[]},{"type":"text","text":"a"},{"text":"b"}]"#), "ab");
        assert_eq!((read("null"), read("\"x\""), read("{\"a\":[1]}")), (String::new(), "x".into(), String::new()));
    }
}
