//! The index of a sealed log: which group of trials stands where. It is the last thing in the file, in a skippable frame, so
//! that `zstd -dc` passes over it. `spec/log.md` has the bytes.

use std::io::{self, Read, Seek, SeekFrom};

use crate::spans::{put, take};

/// The first four bytes of the skippable frame: the eleventh of the sixteen that zstd leaves to others.
const SKIPPED: [u8; 4] = [0x5a, 0x2a, 0x4d, 0x18];
/// The last eight bytes of a sealed log.
const NAME: [u8; 8] = *b"aigo.ix1";
/// The frame's own head: its first bytes and the length of what follows.
const HEAD: u64 = 8;
/// What ends the frame: the checksum of the table, the length of the frame's content, the name.
const FOOT: u64 = 16;
/// The most text that a group may have: what a reader has in memory at once.
pub(crate) const MOST_TEXT: u64 = 256 << 20;

/// A frame of the file, and what is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Group {
    /// Where the frame begins.
    pub(crate) at: u64,
    /// The length of the frame.
    pub(crate) packed: u64,
    /// The length of its text.
    pub(crate) text: u64,
    /// The CRC32C of the frame.
    pub(crate) sum: u32,
    /// The key of its first trial; empty where it has none.
    pub(crate) first: String,
    /// The trials in it, in the order of their text: the number of each, and the length of its lines.
    pub(crate) trials: Vec<(u64, u64)>,
}

/// What is in a sealed log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// The number of the last line of the log that was sealed.
    pub(crate) lines: u64,
    /// The frames, from the start of the file on, without gaps.
    pub(crate) groups: Vec<Group>,
}

impl Index {
    /// The skippable frame.
    pub(crate) fn frame(&self) -> io::Result<Vec<u8>> {
        let mut table = Vec::new();
        put(&mut table, self.lines);
        put(&mut table, self.groups.len() as u64);
        for group in &self.groups {
            for n in [group.packed, group.text, u64::from(group.sum), group.first.len() as u64] {
                put(&mut table, n);
            }
            table.extend_from_slice(group.first.as_bytes());
            put(&mut table, group.trials.len() as u64);
            for (number, length) in &group.trials {
                put(&mut table, *number);
                put(&mut table, *length);
            }
        }
        let too_long = |_| io::Error::new(io::ErrorKind::FileTooLarge, "the index is longer than 4 GiB");
        let content = u32::try_from(table.len() as u64 + FOOT).map_err(too_long)?;
        let sum = crc32c::crc32c(&table);
        let mut frame = [SKIPPED, content.to_le_bytes()].concat();
        frame.append(&mut table);
        frame.extend_from_slice(&sum.to_le_bytes());
        frame.extend_from_slice(&content.to_le_bytes());
        frame.extend_from_slice(&NAME);
        Ok(frame)
    }

    /// Reads the index at the end of a file. The inner error says what is wrong with it, and from which byte on.
    pub(crate) fn read(file: &mut (impl Read + Seek)) -> io::Result<Result<Self, (u64, String)>> {
        let size = file.seek(SeekFrom::End(0))?;
        let cut = |why: &str| Ok(Err((size, why.to_owned())));
        if size < HEAD + FOOT {
            return cut("it is too short to have an index: its end is missing");
        }
        file.seek(SeekFrom::Start(size - FOOT))?;
        let mut foot = [0; 16];
        file.read_exact(&mut foot)?;
        let number = |at: usize| foot.get(at..).and_then(<[u8]>::first_chunk).copied().map_or(0, u32::from_le_bytes);
        let (sum, content) = (number(0), number(4));
        if !foot.ends_with(&NAME) {
            return cut("it does not end with an index: its end is missing, or has changed");
        }
        let Some(start) = size.checked_sub(HEAD + u64::from(content)).filter(|_| u64::from(content) >= FOOT) else {
            return cut("its index is longer than the file");
        };
        file.seek(SeekFrom::Start(start))?;
        let mut frame = Vec::new();
        file.take(size - start - FOOT).read_to_end(&mut frame)?;
        let wrong = |why: &str| Ok(Err((start, why.to_owned())));
        let Some(table) = frame.strip_prefix(&SKIPPED).and_then(|rest| rest.strip_prefix(&content.to_le_bytes()))
        else {
            return wrong("the head of its index has changed");
        };
        if crc32c::crc32c(table) != sum {
            return wrong("the checksum of its index does not hold");
        }
        match Self::of_table(table) {
            Some(index) if index.size() == Some(start) => Ok(Ok(index)),
            Some(_) => wrong("its index tells of another length than the frames before it have"),
            None => wrong("its index is no table of frames"),
        }
    }

    /// How long the frames are together; none where nothing is that long.
    fn size(&self) -> Option<u64> {
        self.groups.last().map_or(Some(0), |last| last.at.checked_add(last.packed))
    }

    fn of_table(table: &[u8]) -> Option<Self> {
        let mut rest = table.iter().copied();
        let lines = take(&mut rest)?;
        let count = take(&mut rest)?;
        let (mut groups, mut at) = (Vec::new(), 0_u64);
        for _ in 0..count {
            let (packed, text) = (take(&mut rest)?, take(&mut rest)?);
            let sum = u32::try_from(take(&mut rest)?).ok()?;
            let length = usize::try_from(take(&mut rest)?).ok()?;
            let key: Vec<u8> = rest.by_ref().take(length).collect();
            let first = String::from_utf8(key).ok().filter(|key| key.len() == length)?;
            let count = take(&mut rest)?;
            let mut trials = Vec::new();
            for _ in 0..count {
                trials.push((take(&mut rest)?, take(&mut rest)?));
            }
            let all = trials.iter().try_fold(0_u64, |sum, (_, length)| sum.checked_add(*length))?;
            if text > MOST_TEXT || (!trials.is_empty() && all != text) {
                return None;
            }
            groups.push(Group { at, packed, text, sum, first, trials });
            at = at.checked_add(packed)?;
        }
        rest.next().is_none().then_some(Self { lines, groups })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn index() -> Index {
        let group = |at, first: &str, trials: Vec<(u64, u64)>| Group {
            at,
            packed: 100,
            text: trials.iter().map(|(_, length)| length).sum(),
            sum: u32::MAX,
            first: first.to_owned(),
            trials,
        };
        let groups =
            vec![group(0, "", vec![]), group(100, "a", vec![(7, 300), (2, 1 << 20)]), group(200, "é", vec![(3, 1)])];
        Index { lines: 9, groups }
    }

    #[test]
    fn it_comes_back_and_no_bit_of_it_changes_unseen() {
        let mut file = vec![1; 300];
        file.extend_from_slice(&index().frame().unwrap());
        assert_eq!(Index::read(&mut Cursor::new(file.clone())).unwrap().unwrap(), index());
        for bit in 300 * 8..file.len() * 8 {
            let mut changed = file.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(Index::read(&mut Cursor::new(changed)).unwrap().is_err(), "bit {bit}");
        }
        for length in 0..file.len() {
            assert!(Index::read(&mut Cursor::new(file[..length].to_vec())).unwrap().is_err(), "cut at {length}");
        }
        file.insert(0, 1);
        assert!(Index::read(&mut Cursor::new(file)).unwrap().is_err());
    }
}
