//! Identity: hashes over typed, length-prefixed encodings. There is no canonical JSON anywhere.

use std::fmt;

use crate::value::Value;

/// A BLAKE3 hash, 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub [u8; 32]);

/// What six bits are written as.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Key {
    /// The first `n` bytes in lower-case hexadecimal.
    pub fn hex(&self, n: usize) -> String {
        let digit = |half: u8| char::from_digit(u32::from(half), 16).unwrap_or_default();
        let mut out = String::with_capacity(2 * n);
        for byte in self.0.iter().take(n) {
            out.extend([digit(byte >> 4), digit(byte & 15)]);
        }
        out
    }

    /// The first `n` bytes in base64 as URLs have it, without padding (RFC 4648, section 5).
    pub fn base64(&self, n: usize) -> String {
        let mut out = String::with_capacity(n.div_ceil(3) * 4);
        let (mut bits, mut waiting) = (0_u32, 0);
        let mut digit = |bits: u32| out.extend(DIGITS.get(bits as usize & 63).copied().map(char::from));
        for byte in self.0.iter().take(n) {
            bits = bits << 8 | u32::from(*byte);
            waiting += 8;
            while waiting >= 6 {
                waiting -= 6;
                digit(bits >> waiting);
            }
        }
        if waiting > 0 {
            digit(bits << (6 - waiting));
        }
        out
    }

    /// The other way, of all 32 bytes.
    pub fn from_base64(text: &str) -> Option<Self> {
        let (mut bytes, mut bits, mut waiting) = (Vec::with_capacity(32), 0_u32, 0);
        for byte in text.bytes() {
            bits = bits << 6 | u32::try_from(DIGITS.iter().position(|digit| *digit == byte)?).ok()?;
            waiting += 6;
            if waiting >= 8 {
                waiting -= 8;
                let [.., low] = (bits >> waiting).to_be_bytes();
                bytes.push(low);
            }
        }
        // The bits behind the last byte are no part of it, and there is one way to write them.
        if bits & ((1 << waiting) - 1) != 0 || text.len() != 43 {
            return None;
        }
        bytes.try_into().ok().map(Self)
    }

    /// A hash of all 32 bytes in hexadecimal.
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
pub struct KeyWriter {
    /// What was written and not hashed yet. Most keys are of little data, which is cheaper to hash at once.
    buffer: Vec<u8>,
    hasher: Option<Box<blake3::Hasher>>,
}

/// How much is hashed at once.
const PIECE: usize = 4096;

impl KeyWriter {
    /// A hash for one purpose: `domain` keeps equal data of different purposes apart.
    pub fn new(domain: &str) -> Self {
        let mut writer = Self { buffer: Vec::with_capacity(256), hasher: None };
        writer.str(domain);
        writer
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > PIECE {
            let hasher = self.hasher.get_or_insert_default();
            hasher.update(&self.buffer);
            self.buffer.clear();
            if bytes.len() > PIECE {
                hasher.update(bytes);
                return;
            }
        }
        self.buffer.extend_from_slice(bytes);
    }

    fn tagged(&mut self, tag: u8, length: usize) {
        self.buffer.push(tag);
        self.bytes(&(length as u64).to_le_bytes());
    }

    /// A text.
    pub fn str(&mut self, text: &str) -> &mut Self {
        self.tagged(b's', text.len());
        self.bytes(text.as_bytes());
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
        self.bytes(b"u");
        self.bytes(&n.to_le_bytes());
        self
    }

    /// Another hash.
    pub fn key(&mut self, key: &Key) -> &mut Self {
        self.bytes(b"k");
        self.bytes(&key.0);
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
                self.bytes(b"n");
            }
            Value::Bool(b) => {
                self.bytes(if *b { b"t" } else { b"f" });
            }
            Value::Int(n) => {
                self.bytes(b"i");
                self.bytes(&n.to_le_bytes());
            }
            Value::Float(x) => {
                self.bytes(b"d");
                self.bytes(&x.to_bits().to_le_bytes());
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
        let hash = match &self.hasher {
            None => blake3::hash(&self.buffer),
            Some(hasher) => hasher.clone().update(&self.buffer).finalize(),
        };
        Key(*hash.as_bytes())
    }

    /// The hash at any length, BLAKE3's extended output: its first 32 bytes are those of [`Self::finish`].
    pub fn fill(&self, bytes: &mut [u8]) {
        let mut hasher = self.hasher.as_deref().cloned().unwrap_or_default();
        hasher.update(&self.buffer).finalize_xof().fill(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_urls_and_comes_back() {
        let mut bytes = [0; 32];
        bytes[..9].copy_from_slice(b"\xfb\xff\xbfMan\x00\x10\x83");
        // RFC 4648: `Man` is `TWFu`; 62 and 63 are `-` and `_`.
        let cut = [9, 8, 7].map(|n| Key(bytes).base64(n));
        assert_eq!(cut, ["-_-_TWFuABCD", "-_-_TWFuABA", "-_-_TWFuAA"]);
        for n in 0..100 {
            let key = KeyWriter::new("t").u64(n).finish();
            assert_eq!(Key::from_base64(&key.base64(32)), Some(key));
        }
        let whole = Key([255; 32]).base64(32);
        assert_eq!(whole.len(), 43);
        for wrong in ["", &whole[1..], &format!("{whole}_"), &whole.replacen('_', "+", 1), &whole.replace('8', "9")] {
            assert_eq!(Key::from_base64(wrong), None, "{wrong}");
        }
    }

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

    #[test]
    fn in_whatever_pieces_it_is_hashed_the_hash_is_of_all_bytes() {
        for length in [0, 1, 240, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let (mut writer, mut bytes) = (KeyWriter::new("t"), b"s\x01\0\0\0\0\0\0\0t".to_vec());
            for text in ["x".repeat(length), "y".repeat(7)] {
                writer.str(&text).u64(3);
                bytes.push(b's');
                bytes.extend((text.len() as u64).to_le_bytes());
                bytes.extend(text.as_bytes());
                bytes.extend(b"u\x03\0\0\0\0\0\0\0");
            }
            assert_eq!(writer.finish().0, *blake3::hash(&bytes).as_bytes(), "{length}");
            let mut long = [0; 100];
            writer.fill(&mut long);
            assert_eq!(long[..32], writer.finish().0);
        }
    }
}
