//! The file of a log as lines, read in blocks. The lines of a trial stand among those of others that were in flight with it,
//! so that whoever goes through the trials in order comes to each block many times, and reads it once.

use std::io::{self, Read as _, SeekFrom};
use std::sync::{Mutex, PoisonError};

use crate::read::Source;

/// The length of a block: that of a few trials, since sealing comes to them in another order than that of the file.
const BLOCK: u64 = 32 << 10;

/// So many blocks are kept: the lines of thousands of calls in flight.
const KEPT: usize = 256;

/// A file, and the blocks of it that were read last.
pub(crate) struct Blocks(Mutex<Reader>);

struct Reader {
    source: Box<dyn Source>,
    /// By number; the one that was used last is the last.
    kept: Vec<(u64, Vec<u8>)>,
}

impl Blocks {
    pub(crate) const fn new(source: Box<dyn Source>) -> Self {
        Self(Mutex::new(Reader { source, kept: Vec::new() }))
    }

    /// Appends ranges of the file, each a start and a length. What lies behind its end is left out.
    pub(crate) fn copy(&self, ranges: impl Iterator<Item = (u64, u64)>, out: &mut Vec<u8>) -> io::Result<()> {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (start, length) in ranges {
            let (mut at, end) = (start, start.saturating_add(length));
            while at < end {
                let (number, within) = (at / BLOCK, at % BLOCK);
                let block = reader.block(number)?;
                let to = (end - number * BLOCK).min(block.len() as u64);
                let range = usize::try_from(within).unwrap_or(usize::MAX)..usize::try_from(to).unwrap_or(usize::MAX);
                let Some(part) = block.get(range).filter(|part| !part.is_empty()) else { break };
                out.extend_from_slice(part);
                at += part.len() as u64;
            }
        }
        Ok(())
    }
}

impl Reader {
    fn block(&mut self, number: u64) -> io::Result<&[u8]> {
        match self.kept.iter().rposition(|(known, _)| *known == number) {
            Some(place) => self.kept.get_mut(place..).into_iter().for_each(|kept| kept.rotate_left(1)),
            None => {
                let mut block = if self.kept.len() < KEPT { Vec::new() } else { self.kept.remove(0).1 };
                block.clear();
                self.source.seek(SeekFrom::Start(number.saturating_mul(BLOCK)))?;
                (&mut *self.source).take(BLOCK).read_to_end(&mut block)?;
                self.kept.push((number, block));
            }
        }
        Ok(self.kept.last().map_or(&[], |(_, block)| block))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn ranges_come_whole_wherever_they_lie() {
        let file: Vec<u8> = (0..u32::try_from(BLOCK).unwrap() * 70).flat_map(u32::to_le_bytes).collect();
        let blocks = Blocks::new(Box::new(Cursor::new(file.clone())));
        let end = file.len() as u64;
        let ranges = [
            (0, 9),
            (BLOCK - 3, 7),
            (3 * BLOCK, BLOCK),
            (BLOCK / 2, 270 * BLOCK),
            (70 * BLOCK + 1, 2 * BLOCK),
            (0, 0),
            (end - 5, 5),
        ];
        for (at, length) in ranges {
            let mut out = vec![7];
            blocks.copy([(at, length)].into_iter(), &mut out).unwrap();
            let expected = &file[usize::try_from(at).unwrap()..usize::try_from(at + length).unwrap()];
            assert!(out[1..] == *expected, "{length} bytes from {at}");
        }
        let mut out = Vec::new();
        blocks.copy([(end - 2, 9), (end + 5, 9), (u64::MAX, 9), (1, 2)].into_iter(), &mut out).unwrap();
        assert_eq!(out, [&file[file.len() - 2..], &file[1..3]].concat());
    }
}
