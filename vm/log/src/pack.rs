//! Compression: the only file that knows zstd.

use std::io::{self, Read as _};

/// How hard the packer tries: beyond this each percent of size costs twice the time, and this is still faster than a run writes.
const LEVEL: i32 = 12;

/// The bytes with which a zstd frame begins.
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Makes frames.
pub(crate) struct Packer(zstd::bulk::Compressor<'static>);

impl Packer {
    /// A packer whose frames carry the length of their text and a checksum, so that every tool notices a changed byte.
    pub(crate) fn new() -> io::Result<Self> {
        let mut packer = zstd::bulk::Compressor::new(LEVEL)?;
        packer.include_checksum(true)?;
        packer.include_contentsize(true)?;
        Ok(Self(packer))
    }

    /// The frame of a text.
    pub(crate) fn pack(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        self.0.compress(text)
    }
}

/// The text of a frame, which has to be of this length. Memory grows with what comes out, and not with what is claimed.
pub(crate) fn unpack(frame: &[u8], length: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(frame)?.single_frame();
    decoder.take(length.saturating_add(1)).read_to_end(&mut text)?;
    if text.len() as u64 == length {
        return Ok(text);
    }
    let what = format!("it holds {} bytes of text or more, and the index says {length}", text.len());
    Err(io::Error::new(io::ErrorKind::InvalidData, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_and_a_wrong_length_does_not() {
        let text = "one line\n".repeat(10_000).into_bytes();
        let frame = Packer::new().unwrap().pack(&text).unwrap();
        assert!(frame.starts_with(&MAGIC) && frame.len() < text.len() / 20);
        assert_eq!(unpack(&frame, text.len() as u64).unwrap(), text);
        for wrong in [0, text.len() as u64 - 1, text.len() as u64 + 1, u64::MAX] {
            assert!(unpack(&frame, wrong).is_err());
        }
        assert!(unpack(&frame[..frame.len() - 1], text.len() as u64).is_err());
    }
}
