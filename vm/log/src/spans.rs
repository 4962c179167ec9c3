//! Where the lines of one trial are, in a few bytes for each: a large run has millions of lines, and its reader keeps this
//! and not their text.

/// Byte ranges in rising order, each as its distance from the end of the one before and its length, in groups of seven bits.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    bytes: Vec<u8>,
    end: u64,
}

impl Spans {
    /// Adds a range that lies behind all others.
    pub(crate) fn push(&mut self, at: u64, length: u64) {
        put(&mut self.bytes, at.saturating_sub(self.end));
        put(&mut self.bytes, length);
        self.end = at.saturating_add(length);
    }

    /// The ranges: where each begins, and its length.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut bytes = self.bytes.iter().copied();
        let mut end = 0_u64;
        std::iter::from_fn(move || {
            let at = end + take(&mut bytes)?;
            let length = take(&mut bytes)?;
            end = at + length;
            Some((at, length))
        })
    }
}

/// Writes a number in groups of seven bits, the lowest first; each but the last has its high bit set.
pub(crate) fn put(out: &mut Vec<u8>, mut n: u64) {
    loop {
        let [low, ..] = n.to_le_bytes();
        n >>= 7;
        if n == 0 {
            return out.push(low & 0x7f);
        }
        out.push(low | 0x80);
    }
}

/// Reads such a number; none where the bytes end within it, or it is beyond 64 bits.
pub(crate) fn take(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let (mut n, mut shift) = (0_u64, 0);
    loop {
        let byte = bytes.next()?;
        let low = u64::from(byte & 0x7f);
        if shift > 63 || (low << shift) >> shift != low {
            return None;
        }
        n |= low << shift;
        if byte < 0x80 {
            return Some(n);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::Spans;

    #[test]
    fn ranges_come_back() {
        let ranges = [(0, 1), (1, 127), (128, 128), (300, 1 << 26), (1 << 40, 16_384), (1 << 60, 5)];
        let mut spans = Spans::default();
        for (at, length) in ranges {
            spans.push(at, length);
        }
        assert_eq!(spans.iter().collect::<Vec<_>>(), ranges);
    }
}
