//! Server-sent events, from bytes as they come in: parts of characters, of line ends and of events at both ends of each.

/// Decodes a stream. Only the data of events counts: the dialects say in it what kind of event it is.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line so far.
    line: Vec<u8>,
    /// The data of the event so far; none where it had none.
    data: Option<Vec<u8>>,
    /// The last byte was a carriage return; a line feed after it ends no further line.
    after_return: bool,
    /// Whole lines so far: comments, which say that the server is alive, among them.
    lines: u64,
}

impl Events {
    /// Takes the next bytes, and gives the data of each event that they complete.
    pub(super) fn push<E>(&mut self, bytes: &[u8], mut event: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut rest = bytes;
        if !rest.is_empty() && std::mem::take(&mut self.after_return) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (part, from) = rest.split_at(at);
            self.line.extend_from_slice(part);
            #[expect(clippy::match_same_arms, reason = "the order of the arms decides")]
            let after = match from {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            rest = after;
            self.end_of_line(&mut event)?;
        }
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// The stream is over. An event whose blank line was lost with the connection is given all the same: whether it is whole,
    /// its data says.
    pub(super) fn finish<E>(&mut self, mut event: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if !self.line.is_empty() {
            self.end_of_line(&mut event)?;
        }
        self.data.take().filter(|data| !data.is_empty()).map_or(Ok(()), |data| event(&data))
    }

    /// Whole lines so far.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    fn end_of_line<E>(&mut self, event: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.lines += 1;
        let is_first = self.lines == 1;
        let line = if is_first { self.line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.line) } else { &self.line };
        let mut done = None;
        if line.is_empty() {
            // An event without data is none.
            done = self.data.take().filter(|data| !data.is_empty());
        } else {
            let colon = line.iter().position(|byte| *byte == b':');
            let (name, value) = match colon {
                Some(at) => (line.get(..at).unwrap_or_default(), line.get(at + 1..).unwrap_or_default()),
                None => (line, &[][..]),
            };
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match (name, &mut self.data) {
                (b"data", Some(data)) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                (b"data", none) => *none = Some(value.to_vec()),
                // Some releases of llama.cpp write their errors as fields of that name.
                (b"error", none) => *none = Some([&b"{\"error\":"[..], value, &b"}"[..]].concat()),
                _ => {}
            }
        }
        self.line.clear();
        done.map_or(Ok(()), |data| event(&data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(parts: &[&[u8]]) -> Vec<String> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        let mut take = |data: &[u8]| {
            found.push(String::from_utf8(data.to_vec()).map_err(|error| error.to_string())?);
            Ok::<(), String>(())
        };
        for part in parts {
            events.push(part, &mut take).unwrap();
        }
        events.finish(&mut take).unwrap();
        found
    }

    #[test]
    fn a_stream_means_the_same_however_it_is_cut() {
        let text =
            "\u{feff}data: a\r\n\r\n: alive\n\ndata: {\"é\":\ndata: \"😀\"}\nid: 7\n\nevent: x\r\rdata\r\rdata:last";
        let whole = decoded(&[text.as_bytes()]);
        assert_eq!(whole, ["a", "{\"é\":\n\"😀\"}", "last"]);
        for size in 1..text.len() {
            let parts: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(decoded(&parts), whole, "in parts of {size} bytes");
        }
    }

    #[test]
    fn a_line_feed_after_a_return_ends_nothing_more() {
        assert_eq!(decoded(&[b"data: a\r", b"", b"\n", b"data: b\r", b"\r"]), ["a\nb"]);
        assert_eq!(decoded(&[b"data: a\r", b"\r\n", b"data: b\n\n"]), ["a", "b"]);
    }
}
