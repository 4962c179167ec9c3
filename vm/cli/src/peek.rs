//! What a file says of itself before it is compiled: whether it is a task, and which tags it has.

use std::path::Path;

use aigo_ir::span::FileId;
use aigo_source::{Kind, NodeRef};

use crate::read::{self, Unread};

/// The key that makes a file a task.
const KEY: &[u8] = b"aigo";
/// How much of a file that is too large is looked at.
const HEAD: usize = 64 << 10;

/// Whether a file that a search came upon is a task: one with the key `aigo` at its top, or one that is called like a task.
pub(crate) fn is_task(path: &Path, read: &Result<Vec<u8>, Unread>) -> bool {
    if path.file_stem().is_some_and(|stem| stem == "task") {
        return true;
    }
    match read {
        Ok(bytes) => has_key(bytes),
        Err(Unread::TooLarge) => has_line(&read::head(path, HEAD)),
        // What it is cannot be known, so it is told that it was not read.
        Err(Unread::Refused(_)) => true,
    }
}

/// Whether a file holds definitions, which tasks import.
pub(crate) fn defines(read: &Result<Vec<u8>, Unread>) -> bool {
    let text = read.as_ref().ok().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let text = text.filter(|text| text.contains("define"));
    text.is_some_and(|text| aigo_source::parse(text, FileId(0)).tree.root().get("define").is_some())
}

fn has_key(bytes: &[u8]) -> bool {
    if has_line(bytes) {
        return true;
    }
    // UTF-16 is told to its author, who would otherwise wonder why the task is not seen.
    let wide: Vec<u8> = KEY.iter().flat_map(|byte| [*byte, 0]).collect();
    if bytes.windows(wide.len()).any(|part| part == wide) {
        return true;
    }
    // The key may stand in quotes or braces; the parser knows.
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.contains("aigo"));
    text.is_some_and(|text| aigo_source::parse(text, FileId(0)).tree.root().get("aigo").is_some())
}

/// Whether a line begins with the key.
fn has_line(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').any(|line| {
        line.strip_prefix(KEY).is_some_and(|rest| rest.trim_ascii_start().first().is_some_and(|byte| *byte == b':'))
    })
}

/// What a selection is about: the task's tags, its name, and its file's name without the end. None where the file cannot be
/// read so far: what is not known is not left out.
pub(crate) fn tags(path: &Path, bytes: &[u8]) -> Option<Vec<String>> {
    let parsed = aigo_source::parse(std::str::from_utf8(bytes).ok()?, FileId(0));
    let root = parsed.tree.root();
    if !matches!(root.kind(), Kind::Map(_)) || root.is_incomplete() {
        return None;
    }
    let mut found: Vec<String> = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).into_iter().collect();
    let own = root.get("tags").into_iter().flat_map(|tags| tags.items().chain(std::iter::once(tags)));
    let texts = root.get("name").into_iter().chain(own).filter_map(NodeRef::scalar_text);
    found.extend(texts.map(str::to_owned));
    Some(found)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{has_key, tags};

    #[test]
    fn a_task_has_the_key_at_its_top() {
        for (text, wanted) in [
            ("aigo: 1\n", true),
            ("# a comment\n\u{feff}\nname: x\naigo : 1", true),
            ("\u{feff}aigo: 1", true),
            ("\"aigo\": 1", true),
            ("{name: x, aigo: 1}", true),
            ("a\0i\0g\0o\0:\0", true),
            ("name: aigo\n", false),
            ("x:\n  aigo: 1\n", false),
            ("aigorithm: 1\n", false),
            ("", false),
        ] {
            assert_eq!(has_key(text.as_bytes()), wanted, "{text}");
        }
    }

    #[test]
    fn tags_are_those_of_the_task_and_its_names() {
        let of = |text: &str| tags(Path::new("a/b.yaml"), text.as_bytes());
        assert_eq!(of("name: n\ntags: [p0, 3]").unwrap(), ["b", "n", "p0", "3"]);
        assert_eq!(of("tags: slow").unwrap(), ["b", "slow"]);
        assert_eq!((of("- a"), of("name: [\n")), (None, None));
    }
}
