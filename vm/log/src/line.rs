//! A line: `{"c":"xxxxxxxx","n":17,…}` and a newline. `c` is the CRC32C of the bytes after its comma up to the newline.

use std::borrow::Cow;
use std::fmt;
use std::io::Write as _;

use aigo_ir::text::excerpt;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::digest::KNOWN_FLAGS;
use crate::encode::{self, MAX_DEPTH};
use crate::error::LogError;
use crate::parse;
use crate::record::{FORMAT, Record, Run, Site, hex_digit};

/// The longest line, its newline included: 64 MiB. It bounds the memory of every reader.
pub const MAX_LINE: usize = 64 << 20;

const HEAD: &[u8] = b"{\"c\":\"";
const MIDDLE: &[u8] = b"\",";
/// What stands on a line beside the record's body: 16 bytes up to the checksum's comma, `"n":` and `"upto":` with twenty
/// digits and a comma each, the newline.
const AROUND: usize = 16 + (4 + 20 + 1) + (7 + 20 + 1) + 1;

/// Why bytes are no line of a log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The file ends within the line.
    #[error("the file ends within it")]
    Cut,
    /// Longer than [`MAX_LINE`].
    #[error("it is longer than 64 MiB")]
    TooLong,
    /// Something else.
    #[error("it does not begin with a checksum, but with `{0}`")]
    Frame(String),
    /// The bytes have changed.
    #[error("its checksum says {stated:08x} and its bytes give {found:08x}")]
    Checksum {
        /// What the line says.
        stated: u32,
        /// What its bytes give.
        found: u32,
    },
    /// Not UTF-8 behind a right checksum.
    #[error("it is not UTF-8")]
    Utf8,
    /// Not a JSON object with `n` and `e` behind a right checksum.
    #[error("it is not a record: {0}")]
    Json(String),
    /// A line is missing, or stands twice.
    #[error("it says that it is number {found}")]
    Number {
        /// What the line says.
        found: u64,
    },
    /// A kind of record of another version.
    #[error("{0}")]
    Unknown(String),
    /// A known kind without its fields.
    #[error("a record `{kind}` does not have the fields it should: {why}")]
    Fields {
        /// The kind.
        kind: String,
        /// What is wrong.
        why: String,
    },
}

/// The line of a record, its newline included.
pub fn encode(n: u64, record: &Record) -> Result<String, LogError> {
    let mut out = Vec::new();
    frame(n, None, &body(record, &[])?, &mut out);
    // The parts are texts, so this takes the bytes as they are.
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// The line of a record that says, beside it, that all lines up to `upto` are on the disk.
pub fn marked(n: u64, upto: u64, record: &Record) -> Result<String, LogError> {
    let mut out = Vec::new();
    frame(n, Some(upto), &body(record, &[])?, &mut out);
    Ok(String::from_utf8(out).unwrap_or_default())
}

/// The number of the line that a line, given without its newline, says to be on the disk with all before it.
pub fn upto(line: &[u8]) -> Option<u64> {
    Head::read(line).ok()?.durable()
}

/// The number and the record of a line, given without its newline.
pub fn decode(line: &[u8]) -> Result<(u64, Record), Flaw> {
    let text = check(line)?;
    if let Some(found) = parse::quick(text) {
        return Ok(found);
    }
    let head = Head::of(text)?;
    let fields = |error: serde_json::Error| Flaw::Fields { kind: head.kind.to_string(), why: error.to_string() };
    let record = match &*head.kind {
        "run" => Record::Run(serde_json::from_str(text).map_err(fields)?),
        "open" => Record::Open(serde_json::from_str(text).map_err(fields)?),
        "ask" => Record::Ask(serde_json::from_str(text).map_err(fields)?),
        "got" => Record::Got(serde_json::from_str(text).map_err(fields)?),
        "close" => Record::Close(serde_json::from_str(text).map_err(fields)?),
        "durable" => Record::Durable(serde_json::from_str(text).map_err(fields)?),
        "resumed" => Record::Resumed(serde_json::from_str(text).map_err(fields)?),
        "end" => Record::End(serde_json::from_str(text).map_err(fields)?),
        other => return Err(unknown(other)),
    };
    Ok((head.n, record))
}

/// A record's body, with the header's places, if a reader would take the line that it gives.
pub(crate) fn body(record: &Record, sites: &[Site]) -> Result<String, LogError> {
    let unwritable = |why: String| LogError::Unwritable { record: record.name(), why };
    let body = encode::body(record, sites)
        .map_err(|_| unwritable(format!("a value in it nests lists and maps deeper than {MAX_DEPTH} levels")))?;
    if body.len() > MAX_LINE - AROUND {
        return Err(unwritable(format!("its line would be longer than 64 MiB ({} bytes)", body.len())));
    }
    Ok(body)
}

/// Appends a line to `out`. `upto` is the number of a line that is on the disk with all before it.
pub(crate) fn frame(n: u64, upto: Option<u64>, body: &str, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(b"{\"c\":\"00000000\",");
    let summed = out.len();
    // Writing to a vector cannot fail.
    let _ = write!(out, "\"n\":{n},");
    if let Some(upto) = upto {
        let _ = write!(out, "\"upto\":{upto},");
    }
    out.extend_from_slice(body.as_bytes());
    let sum = crc32c::crc32c(out.get(summed..).unwrap_or_default());
    if let Some(mut digits) = out.get_mut(start + HEAD.len()..) {
        let _ = write!(digits, "{sum:08x}");
    }
    out.push(b'\n');
}

/// The text of a line whose checksum is right.
pub(crate) fn check(line: &[u8]) -> Result<&str, Flaw> {
    let framed = || {
        let (digits, rest) = line.strip_prefix(HEAD)?.split_at_checked(8)?;
        let stated = digits.iter().try_fold(0, |sum, &byte| Some(sum << 4 | u32::from(hex_digit(byte)?)))?;
        Some((stated, rest.strip_prefix(MIDDLE)?))
    };
    let Some((stated, summed)) = framed() else {
        let start = line.get(..32).unwrap_or(line);
        return Err(Flaw::Frame(excerpt(&String::from_utf8_lossy(start), 24)));
    };
    let found = crc32c::crc32c(summed);
    if stated != found {
        return Err(Flaw::Checksum { stated, found });
    }
    std::str::from_utf8(line).map_err(|_| Flaw::Utf8)
}

/// What a scan needs of a line.
#[derive(Debug, Deserialize)]
pub(crate) struct Head<'a> {
    /// The line's number.
    pub(crate) n: u64,
    /// The kind of its record.
    #[serde(rename = "e", borrow)]
    pub(crate) kind: Cow<'a, str>,
    /// The trial, for the records of one.
    #[serde(rename = "s", default, deserialize_with = "count")]
    pub(crate) trial: Option<u64>,
    /// All lines up to this number were on the disk.
    #[serde(default, deserialize_with = "count")]
    upto: Option<u64>,
    /// For `run`.
    #[serde(default, deserialize_with = "count")]
    format: Option<u64>,
}

impl<'a> Head<'a> {
    /// The head of a line, given without its newline.
    pub(crate) fn read(line: &'a [u8]) -> Result<Self, Flaw> {
        Self::of(check(line)?)
    }

    fn of(text: &'a str) -> Result<Self, Flaw> {
        serde_json::from_str(text).map_err(|error| Flaw::Json(error.to_string()))
    }

    /// What is unknown about the record, if this version cannot read it.
    pub(crate) fn unknown(&self) -> Option<Flaw> {
        if !is_known(&self.kind) {
            return Some(unknown(&self.kind));
        }
        if self.kind != "run" || self.format == Some(u64::from(FORMAT)) {
            return None;
        }
        let seen = self.format.map_or_else(|| "one that is no number".to_owned(), |n| n.to_string());
        Some(Flaw::Unknown(format!("the log's format is {seen}, and this version reads format {FORMAT}")))
    }

    /// The last line that this one says to be on the disk, if that can be true.
    pub(crate) fn durable(&self) -> Option<u64> {
        self.upto.filter(|upto| *upto < self.n)
    }

    /// Whether the record has what its kind must have for a scan.
    pub(crate) fn complete(&self) -> Result<(), Flaw> {
        let missing = match &*self.kind {
            "open" | "ask" | "got" | "close" if self.trial.is_none() => "`s`",
            "durable" if self.durable().is_none() => "`upto` below its own number",
            _ => return Ok(()),
        };
        Err(Flaw::Json(format!("a record `{}` without {missing}", self.kind)))
    }
}

/// A count, or nothing for JSON of any other type: a record of another kind or version may have a field of this name.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct Count;
    impl<'de> Visitor<'de> for Count {
        type Value = Option<u64>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any JSON")
        }

        fn visit_u64<E>(self, n: u64) -> Result<Option<u64>, E> {
            Ok(Some(n))
        }

        fn visit_i64<E>(self, _: i64) -> Result<Option<u64>, E> {
            Ok(None)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Option<u64>, E> {
            Ok(None)
        }

        fn visit_bool<E>(self, _: bool) -> Result<Option<u64>, E> {
            Ok(None)
        }

        fn visit_str<E>(self, _: &str) -> Result<Option<u64>, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Option<u64>, E> {
            Ok(None)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Option<u64>, A::Error> {
            IgnoredAny.visit_seq(seq).map(|_| None)
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Option<u64>, A::Error> {
            IgnoredAny.visit_map(map).map(|_| None)
        }
    }
    deserializer.deserialize_any(Count)
}

fn is_known(kind: &str) -> bool {
    matches!(kind, "run" | "open" | "ask" | "got" | "close" | "durable" | "resumed" | "end")
}

/// What is unknown of how a run behaves, if this version cannot do the same.
pub(crate) fn unknown_flag(run: &Run) -> Option<Flaw> {
    let flag = run.flags.iter().find(|flag| !KNOWN_FLAGS.contains(flag))?;
    Some(Flaw::Unknown(format!("the run has the flag {flag}, a change of behaviour that this version does not know")))
}

fn unknown(kind: &str) -> Flaw {
    Flaw::Unknown(format!("records of the kind `{}` are not known", excerpt(kind, 40)))
}
