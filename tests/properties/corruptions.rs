//! Tasks with one wrong character: whatever it is, something is said about it, and little else.

use std::collections::BTreeMap;

use aigo_compiler::{NoSources, compile};
use aigo_ir::diagnostic::{Diagnostic, Severity};

use crate::harness::root;

const WRONG: &[&str] =
    &["", "{", "}", "[", "]", ":", "\"", "'", "-", "#", "&", "*", "!", "|", "%", "@", "\t", "\n", " ", ",", "é"];

/// A text with the character at each place replaced by some of the wrong ones, in turn.
fn corrupted(text: &str) -> impl Iterator<Item = String> {
    text.char_indices().enumerate().filter(|(nth, _)| nth % 4 == 0).flat_map(move |(nth, (at, c))| {
        [nth / 4, nth / 4 + 7].map(|draw| {
            let wrong = WRONG[draw % WRONG.len()];
            format!("{}{wrong}{}", &text[..at], &text[at + c.len_utf8()..])
        })
    })
}

fn errors(text: &str) -> Vec<Diagnostic> {
    let compiled = compile("task.yaml", text.as_bytes(), &NoSources);
    let errors: Vec<_> = compiled.diagnostics.into_iter().filter(|d| d.row.severity == Severity::Error).collect();
    for one in &errors {
        let spans = one.span.into_iter().chain(one.related.iter().map(|(span, _)| *span));
        for span in spans.chain(one.fix.as_ref().map(|fix| fix.span)) {
            assert!(text.get(span.start as usize..span.end as usize).is_some(), "{one:?} of {text}");
        }
    }
    errors
}

/// After a syntax error the rest is read, and what is missing only because of the damage is not told as a mistake of its own:
/// nine of ten damaged files have one error, and none has one about names, fields or types.
#[test]
fn one_wrong_character_is_one_mistake() {
    let files = ["tests/fixtures/quickstart/task.yaml", "tests/fixtures/generated.yaml"];
    let (mut damaged, mut alone, mut others) = (0, 0, BTreeMap::new());
    for file in files {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        assert_eq!(errors(&text), [], "{file}");
        for text in corrupted(&text) {
            let found = errors(&text);
            if !found.iter().any(|one| one.row.code == "E0103") {
                continue;
            }
            damaged += 1;
            alone += usize::from(found.len() == 1);
            for one in found {
                if matches!(one.row.code.as_bytes(), [b'E', b'0', b'3' | b'5', ..]) {
                    others.insert(one.row.code, (one.message, text.clone()));
                }
            }
        }
    }
    assert!(others.is_empty(), "{others:#?}");
    assert!(damaged > 500 && alone * 10 > damaged * 9, "{alone} of {damaged}");
}
