//! Asks and answers from the text of a line, which is gone through once: of these most of a log is made.

use std::fmt;
use std::sync::Arc;

use aigo_ir::value::Value;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, Visitor};

use crate::record::{Ask, At, Got, Record, Site, Usage, present, stop};

/// An [`Ask`] as it stands on its line. What no record keeps is here so that it does not stand there twice.
#[derive(serde::Deserialize)]
pub(crate) struct AskLine {
    n: u64,
    #[expect(dead_code, reason = "it stands there once")]
    e: IgnoredAny,
    #[expect(dead_code, reason = "it stands there once")]
    upto: Option<IgnoredAny>,
    s: u64,
    p: Place,
    g: Option<Arc<str>>,
    role: Option<Arc<str>>,
    #[serde(default)]
    i: Vec<u32>,
    k: String,
    #[serde(default)]
    retry: bool,
    most: Option<u64>,
}

/// The number of a place, or the path of its node.
enum Place {
    Row(u32),
    Node(Arc<str>),
}

impl<'de> Deserialize<'de> for Place {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = Place;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of a place or the path of a node")
            }

            fn visit_u64<E: Error>(self, n: u64) -> Result<Place, E> {
                u32::try_from(n).map(Place::Row).map_err(|_| E::custom("the number of a place is above 4294967295"))
            }

            fn visit_str<E>(self, path: &str) -> Result<Place, E> {
                Ok(Place::Node(path.into()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

impl TryFrom<AskLine> for Ask {
    type Error = &'static str;

    fn try_from(line: AskLine) -> Result<Self, Self::Error> {
        let at = match (line.p, line.g, line.role) {
            (Place::Row(row), None, None) => At::Row(row),
            (Place::Node(node), Some(graph), Some(role)) => At::Site(Site { graph, node, role }),
            _ => return Err("a place is a number `p`, or a path `p` with `g` and `role`"),
        };
        Ok(Self { trial: line.s, at, index: line.i, content: line.k, retry: line.retry, most: line.most })
    }
}

/// A [`Got`] as it stands on its line.
#[derive(serde::Deserialize)]
pub(crate) struct GotLine {
    n: u64,
    #[expect(dead_code, reason = "it stands there once")]
    e: IgnoredAny,
    #[expect(dead_code, reason = "it stands there once")]
    upto: Option<IgnoredAny>,
    s: u64,
    a: u64,
    text: String,
    #[serde(default)]
    calls: Vec<Value>,
    #[serde(default = "stop")]
    stop: String,
    r#in: Option<u64>,
    out: Option<u64>,
    cached: Option<u64>,
    think: Option<u64>,
    /// The four before, as older logs have them.
    usage: Option<Usage>,
    model: Option<String>,
    fault: Option<String>,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default, deserialize_with = "present")]
    context: Option<Value>,
    #[serde(default)]
    lossy: bool,
    ms: Option<u64>,
    from: Option<u64>,
}

impl From<GotLine> for Got {
    fn from(line: GotLine) -> Self {
        let own = Usage { input: line.r#in, output: line.out, cached: line.cached, reasoning: line.think };
        Self {
            trial: line.s,
            ask: line.a,
            text: line.text,
            calls: line.calls,
            stop: line.stop,
            usage: line.usage.unwrap_or(own),
            model: line.model,
            fault: line.fault,
            read: line.read,
            context: line.context,
            lossy: line.lossy,
            ms: line.ms,
            from: line.from,
        }
    }
}

/// The number and the record of a line that begins as this project writes them; none where another way has to say what is
/// wrong with it.
pub(crate) fn quick(text: &str) -> Option<(u64, Record)> {
    let rest = text.get(16..)?.strip_prefix("\"n\":")?.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest =
        rest.strip_prefix(",\"upto\":").map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    if rest.starts_with(",\"e\":\"ask\",") {
        let line: AskLine = serde_json::from_str(text).ok()?;
        Some((line.n, Record::Ask(line.try_into().ok()?)))
    } else if rest.starts_with(",\"e\":\"got\",") {
        let line: GotLine = serde_json::from_str(text).ok()?;
        Some((line.n, Record::Got(line.into())))
    } else {
        None
    }
}
