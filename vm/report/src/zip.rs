//! An archive of files that are not compressed: all that a log for Inspect needs.

use std::io::{self, Write};

/// Archives of more files, or of more bytes, have another form.
pub const MOST_FILES: usize = 65_000;
const MOST_BYTES: u64 = u32::MAX as u64;

/// CRC-32 of the bytes that begin with each byte (ISO 3309: polynomial 04C11DB7, reflected).
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut at: u32 = 0;
    while at < 256 {
        let mut sum = at;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
            bit += 1;
        }
        table[at as usize] = sum;
        at += 1;
    }
    table
};

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, byte| {
        let [low, ..] = sum.to_le_bytes();
        sum >> 8 ^ TABLE.get(usize::from(low ^ byte)).copied().unwrap_or_default()
    })
}

/// An archive that is being written.
#[derive(Debug)]
pub struct Zip<W> {
    out: W,
    at: u64,
    files: usize,
    directory: Vec<u8>,
}

impl<W: Write> Zip<W> {
    /// An empty archive.
    pub const fn new(out: W) -> Self {
        Self { out, at: 0, files: 0, directory: Vec::new() }
    }

    /// Adds a file.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let end = self.at + 30 + name.len() as u64 + bytes.len() as u64;
        if self.files >= MOST_FILES || end + self.directory.len() as u64 + 200 > MOST_BYTES {
            return Err(io::Error::other("such an archive holds at most 65,000 files and 4 GiB"));
        }
        let (sum, size) = (crc32(bytes).to_le_bytes(), le32(bytes.len() as u64));
        let length = u16::try_from(name.len()).map_err(io::Error::other)?.to_le_bytes();
        // Version 2.0, UTF-8 names, stored, and the earliest day that there is: an archive of one log is always the same.
        let head = [&[20, 0, 0, 8, 0, 0, 0, 0, 0x21, 0], &sum[..], &size, &size, &length, &[0, 0]].concat();
        let parts = [b"PK\x03\x04", head.as_slice(), name.as_bytes(), bytes];
        parts.iter().try_for_each(|part| self.out.write_all(part))?;
        let rest = [&[0; 10][..], &le32(self.at)].concat();
        self.directory.extend([b"PK\x01\x02\x14\x00", head.as_slice(), rest.as_slice(), name.as_bytes()].concat());
        (self.at, self.files) = (end, self.files + 1);
        Ok(())
    }

    /// Writes the directory, and gives what was written to.
    pub fn finish(mut self) -> io::Result<W> {
        let count = u16::try_from(self.files).map_err(io::Error::other)?.to_le_bytes();
        self.out.write_all(&self.directory)?;
        let (size, start) = (le32(self.directory.len() as u64), le32(self.at));
        let end = [&b"PK\x05\x06\0\0\0\0"[..], &count, &count, &size, &start, &[0, 0]].concat();
        self.out.write_all(&end)?;
        Ok(self.out)
    }
}

/// A number that was held below 2^32.
fn le32(n: u64) -> [u8; 4] {
    u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_what_the_format_says() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let mut zip = Zip::new(Vec::new());
        zip.add("a.txt", b"hello").unwrap();
        zip.add("b/é.txt", b"").unwrap();
        let bytes = zip.finish().unwrap();
        assert!(bytes.starts_with(b"PK\x03\x04\x14\x00\x00\x08\x00\x00"));
        assert_eq!(&bytes[30..40], b"a.txthello");
        let end = bytes.len() - 22;
        assert_eq!(&bytes[end..end + 12], b"PK\x05\x06\0\0\0\0\x02\0\x02\0");
        let start = u32::from_le_bytes(bytes[end + 16..end + 20].try_into().unwrap()) as usize;
        assert_eq!(&bytes[start..start + 4], b"PK\x01\x02");
        assert_eq!(start, 30 + 5 + 5 + 30 + 8);
        assert_eq!(end - start, 46 + 5 + 46 + 8);
    }
}
