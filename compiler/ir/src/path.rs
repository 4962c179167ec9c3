//! Paths into a JSON reply: `a.b[0].c`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::text::json_string;
use crate::value::Value;

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// The value of a key.
    Key(Arc<str>),
    /// An item of a list, from 0.
    Index(u32),
}

/// Where in a value something stands: keys and indices from the outside in. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path(Vec<PathStep>);

/// Why a path cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathError {
    /// Where, in bytes of the text.
    pub range: Range<usize>,
    /// What was seen and expected.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// What to put in place of the range, where that is certain.
    pub fix: Option<String>,
}

const LONGEST: usize = 1000;

impl Path {
    /// Reads a path: keys with points between them, indices and other keys in brackets, `a.b[0]["odd key"]`.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let mut reader = Reader { text, at: 0 };
        if text.is_empty() || text.len() > LONGEST {
            return Err(reader.error(0..text.len(), format!("a path has 1 to {LONGEST} characters")));
        }
        if text.starts_with('$') {
            let range = 0..if text.starts_with("$.") { 2 } else { 1 };
            let error = reader.error(range, "a path begins with a key, not with `$`");
            let certain = text.len() > error.range.end;
            let help = Some("leave `$` out: `choices[0].text`".to_owned());
            return Err(PathError { help, fix: certain.then(String::new), ..error });
        }
        let mut steps = Vec::new();
        while reader.at < text.len() {
            steps.push(reader.step(steps.is_empty())?);
        }
        Ok(Self(steps))
    }

    /// The steps, from the outside in.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    /// What stands there in a value; `None` where a key or an item is missing.
    pub fn get<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, step| match step {
            PathStep::Key(key) => value.get(key),
            PathStep::Index(at) => value.as_list()?.get(usize::try_from(*at).ok()?),
        })
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[expect(clippy::unused_self, reason = "beside the other ways to end")]
    fn error(&self, range: Range<usize>, message: impl Into<String>) -> PathError {
        PathError { range, message: message.into(), help: None, fix: None }
    }

    /// An error at the next character, or at the end.
    fn here(&self, message: impl Into<String>) -> PathError {
        let end = self.at + self.rest().chars().next().map_or(0, char::len_utf8);
        self.error(self.at..end, message)
    }

    fn step(&mut self, first: bool) -> Result<PathStep, PathError> {
        if self.rest().starts_with('[') {
            return self.bracket();
        }
        if !first {
            if !self.rest().starts_with('.') {
                return Err(self.here("`.` or `[` is expected here"));
            }
            self.at += 1;
        }
        self.key()
    }

    fn key(&mut self) -> Result<PathStep, PathError> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(rest.len());
        let key: Arc<str> = rest.get(..end).unwrap_or_default().into();
        if key.is_empty() {
            let error =
                self.here(if rest.is_empty() { "a key is missing at the end" } else { "a key is expected here" });
            let help = Some("a key with other characters stands in brackets: `a[\"odd key\"]`".to_owned());
            return Err(PathError { help, ..error });
        }
        self.at += end;
        Ok(PathStep::Key(key))
    }

    fn bracket(&mut self) -> Result<PathStep, PathError> {
        let open = self.at;
        self.at += 1;
        let step = if self.rest().starts_with('"') { self.quoted(open)? } else { self.index(open)? };
        if !self.rest().starts_with(']') {
            return Err(self.error(open..self.at, "the bracket is not closed"));
        }
        self.at += 1;
        Ok(step)
    }

    fn index(&mut self, open: usize) -> Result<PathStep, PathError> {
        let rest = self.rest();
        let end = rest.find(']').unwrap_or(rest.len());
        let inner = rest.get(..end).unwrap_or_default();
        let Ok(index) = inner.parse::<u32>() else {
            let what =
                if inner.is_empty() { "an index is missing".to_owned() } else { format!("`{inner}` is no index") };
            let error = self.error(open..self.at + end, format!("{what}: items are counted from 0"));
            let help = Some("name one item, `a[0]`, or a key in double quotes, `a[\"odd key\"]`".to_owned());
            return Err(PathError { help, ..error });
        };
        self.at += end;
        Ok(PathStep::Index(index))
    }

    fn quoted(&mut self, open: usize) -> Result<PathStep, PathError> {
        let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
        let read = stream.next();
        let passed = stream.byte_offset();
        match read {
            Some(Ok(key)) => {
                self.at += passed;
                Ok(PathStep::Key(key.into()))
            }
            _ => Err(self.error(open..self.text.len(), "a key in double quotes that is not closed")),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Index(index) => write!(f, "[{index}]")?,
                PathStep::Key(key) if is_plain(key) => write!(f, "{}{key}", if at == 0 { "" } else { "." })?,
                PathStep::Key(key) => {
                    let mut quoted = String::new();
                    json_string(key, &mut quoted);
                    write!(f, "[{quoted}]")?;
                }
            }
        }
        Ok(())
    }
}

fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_printed_and_followed() {
        let value = Value::map([("a", Value::list(vec![Value::map([("odd key", Value::Int(7))])]))]);
        for text in ["a", "a.b[0].c-d", "[0].x", "a[0][\"odd key\"]", "größe.値"] {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Path::parse("a[0][\"odd key\"]").unwrap().get(&value), Some(&Value::Int(7)));
        assert_eq!(Path::parse("a[1]").unwrap().get(&value), None);
    }

    #[test]
    fn a_path_that_cannot_be_read_says_where() {
        let place = |text: &str| Path::parse(text).unwrap_err().range;
        assert_eq!(place("$.a"), 0..2);
        assert_eq!(place("a..b"), 2..3);
        assert_eq!(place("a."), 2..2);
        assert_eq!(place("a[*].b"), 1..3);
        assert_eq!(place("a[0"), 1..3);
        assert_eq!(place("a b"), 1..2);
        assert_eq!(place("a[\"x"), 1..4);
        assert_eq!(place(""), 0..0);
    }
}
