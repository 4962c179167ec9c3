//! Any bytes: read as YAML and walked, each scalar located, and read as rows of
//! every format and as conversations. Nothing may panic, hang or disagree
//! with the file, nor the two readers of YAML with each other.
#![no_main]

use aigo_ir::message::Conversation;
use aigo_ir::span::FileId;
use aigo_source::transcript::conversations;
use aigo_source::{Format, Kind, NodeRef, Style, Take, decode, parse, parse_by_events, rows};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for (_, format) in Format::WORDS {
        for row in rows(format, bytes, &[], Take::Rows) {
            match row {
                Ok(row) => assert!(row.value.as_map().is_some()),
                Err(error) => assert!(error.line > 0 && error.column > 0 && !error.message.is_empty()),
            }
        }
        let rows = rows(format, bytes, &[], Take::Records);
        for found in conversations(rows, |error| error).flatten() {
            let record = found.conversation.record();
            assert_eq!(Conversation::of_record(&record).as_ref(), Some(&found.conversation));
        }
    }
    let text = match decode(bytes, FileId(0)) {
        Ok(text) => text,
        Err(found) => {
            assert!(found.span.is_some_and(|span| span.end as usize <= bytes.len()));
            return;
        }
    };
    let parsed = parse(text, FileId(0));
    assert_eq!(parsed, parse_by_events(text, FileId(0)));
    for found in &parsed.diagnostics {
        let spans = found.span.into_iter().chain(found.related.iter().map(|(span, _)| *span));
        let spans = spans.chain(found.fix.as_ref().map(|fix| fix.span));
        for span in spans {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{found:?}");
        }
    }
    let root = parsed.tree.root();
    let mut left = 20_000;
    walk(text, root, &mut left);
    let _ = root.to_value();
});

/// Aliases are followed, so the walk has a budget.
fn walk(text: &str, node: NodeRef<'_>, left: &mut usize) {
    *left = left.saturating_sub(1);
    if *left == 0 {
        return;
    }
    for span in [node.span(), node.site()] {
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{node:?}");
    }
    assert_eq!(node.raw(), &text[node.span().start as usize..node.span().end as usize]);
    match node.kind() {
        Kind::List(items) => items.for_each(|item| walk(text, item, left)),
        Kind::Map(entries) => {
            for entry in entries {
                assert!(node.get(entry.key.value).is_some());
                locate(text, entry.key_node);
                walk(text, entry.value, left);
            }
        }
        Kind::Scalar(_) => locate(text, node),
        Kind::Null | Kind::Error => {}
    }
}

/// Characters that stand for themselves are found as themselves; the first thousand of each scalar are tried at a few places.
fn locate(text: &str, node: NodeRef<'_>) {
    let (Some(source), Some(decoded)) = (node.scalar_source(), node.scalar_text()) else { return };
    for (at, c) in decoded.char_indices().take(1000).step_by(7) {
        let span = source.locate(text, decoded, at..at + c.len_utf8());
        let found = text.get(span.start as usize..span.end as usize);
        assert!(found.is_some());
        // The parser reads over a comment on a tab-indented line of a plain scalar; the answer is then the whole scalar.
        let commented = source.style() == Style::Plain && node.raw().contains('#');
        let exact = !commented && c.is_alphanumeric() && source.style() != Style::Double && node.raw().len() > 1;
        assert!(!exact || found.is_some_and(|found| found.chars().eq([c])), "{c:?} in {decoded:?} is {found:?}");
    }
}
