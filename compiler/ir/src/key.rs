//! Identity: hashes over typed, length-prefixed encodings. There is no canonical JSON anywhere.

use std::fmt;

use crate::value::Value;

/// A BLAKE3 hash, 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 32]);

impl Key {
    /// The first `n` bytes in lower-case hexadecimal.
    pub fn hex(&self, n: usize) -> String {
        use fmt::Write as _;
        self.0.iter().take(n).fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    }

    /// The other way, of all 32 bytes.
    pub fn from_hex(text: &str) -> Option<Self> {
        let mut key = Self([0; 32]);
        let pairs = text.as_bytes().chunks(2);
        if text.len() != 64 || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return None;
        }
        for (byte, pair) in key.0.iter_mut().zip(pairs) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(key)
    }

    /// The first eight bytes as a number, for seeded choices.
    pub fn number(&self) -> u64 {
        self.0.iter().take(8).fold(0, |n, &byte| n << 8 | u64::from(byte))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex(32))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex(6))
    }
}

/// Feeds typed data into one hash. Every item begins with a byte for its type; texts, lists and maps carry their length;
/// so no two different sequences of calls give the same bytes.
pub struct KeyWriter(blake3::Hasher);

impl KeyWriter {
    /// A hash for one purpose: `domain` keeps equal data of different purposes apart.
    pub fn new(domain: &str) -> Self {
        let mut writer = Self(blake3::Hasher::new());
        writer.str(domain);
        writer
    }

    fn tagged(&mut self, tag: u8, length: usize) {
        self.0.update(&[tag]);
        self.0.update(&(length as u64).to_le_bytes());
    }

    /// A text.
    pub fn str(&mut self, text: &str) -> &mut Self {
        self.tagged(b's', text.len());
        self.0.update(text.as_bytes());
        self
    }

    /// A text or nothing.
    pub fn maybe_str(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.str(text),
            None => self.value(&Value::Null),
        }
    }

    /// A number.
    pub fn u64(&mut self, n: u64) -> &mut Self {
        self.0.update(b"u");
        self.0.update(&n.to_le_bytes());
        self
    }

    /// Another hash.
    pub fn key(&mut self, key: &Key) -> &mut Self {
        self.0.update(b"k");
        self.0.update(&key.0);
        self
    }

    /// The length of a list whose items follow.
    pub fn list(&mut self, length: usize) -> &mut Self {
        self.tagged(b'l', length);
        self
    }

    /// A value. A whole float and the equal integer differ; maps hash in their order.
    pub fn value(&mut self, value: &Value) -> &mut Self {
        match value {
            Value::Null => {
                self.0.update(b"n");
            }
            Value::Bool(b) => {
                self.0.update(if *b { b"t" } else { b"f" });
            }
            Value::Int(n) => {
                self.0.update(b"i");
                self.0.update(&n.to_le_bytes());
            }
            Value::Float(x) => {
                self.0.update(b"d");
                self.0.update(&x.to_bits().to_le_bytes());
            }
            Value::Str(text) => {
                self.str(text);
            }
            Value::List(items) => {
                self.list(items.len());
                for item in items.iter() {
                    self.value(item);
                }
            }
            Value::Map(map) => {
                self.tagged(b'm', map.len());
                for (key, value) in map.iter() {
                    self.str(key).value(value);
                }
            }
        }
        self
    }

    /// The hash.
    pub fn finish(&self) -> Key {
        Key(*self.0.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_do_not_run_together() {
        let of = |parts: &[&str]| {
            let mut w = KeyWriter::new("t");
            for part in parts {
                w.str(part);
            }
            w.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        assert_ne!(of(&["a"]), of(&["a", ""]));
        let one = KeyWriter::new("t").value(&Value::Int(1)).finish();
        assert_ne!(one, KeyWriter::new("t").value(&Value::Float(1.0)).finish());
    }
}
