//! Any bytes as a task, through the whole front end: nothing panics, what is said is in order, once, and about places in the
//! text; and where a program comes out, it is sound and its text form gives it back.
#![no_main]

use aigo_compiler::{Compiled, NoSources, compile};
use aigo_ir::span::{FileId, SourceMap, Span};
use aigo_ir::{print, read, verify};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let compiled = compile("task.yaml", bytes, &NoSources);
    // Of a file that is not UTF-8 the text is a mended copy, so a place in it may end inside of a character.
    let exact = std::str::from_utf8(bytes).is_ok();
    if exact && compiled.sources.get(FileId(0)).is_some() {
        places(&compiled);
    }
    order(&compiled);
    for found in &compiled.diagnostics {
        // The front end lowers only what it has checked, so a program that is not sound is its own fault.
        assert_ne!(found.row.code, "E0507", "{}", found.message);
        assert!(!found.message.is_empty());
        let line = found.concise(&compiled.sources);
        assert!(!line.chars().any(aigo_ir::text::is_dangerous), "{line:?}");
    }
    let failed = compiled.diagnostics.iter().any(|found| found.row.code.starts_with('E'));
    assert_eq!(compiled.program.is_none(), failed, "{:?}", compiled.diagnostics);
    if let Some((program, _)) = &compiled.program {
        let violations = verify::verify(program);
        assert!(violations.is_empty(), "{violations:?}");
        let printed = print::print(program);
        assert_eq!(read::read(&printed).as_ref(), Ok(program), "{printed}");
    }
});

/// Every span and every fix lies in its text, on characters.
fn places(compiled: &Compiled) {
    for found in &compiled.diagnostics {
        let spans = found.span.into_iter().chain(found.related.iter().map(|(span, _)| *span));
        for span in spans.chain(found.fix.as_ref().map(|fix| fix.span)) {
            assert!(text(&compiled.sources, span).is_some(), "{found:?}");
        }
    }
}

fn text(sources: &SourceMap, span: Span) -> Option<&str> {
    sources.get(span.file)?.text.get(span.start as usize..span.end as usize)
}

/// In the order of the text, nothing twice.
fn order(compiled: &Compiled) {
    for pair in compiled.diagnostics.windows(2) {
        let [one, two] = pair else { continue };
        assert!(one.span <= two.span, "{one:?} {two:?}");
    }
    for (at, one) in compiled.diagnostics.iter().enumerate().take(200) {
        let again = |two: &&aigo_ir::diagnostic::Diagnostic| {
            (two.span, two.row.code, &two.message) == (one.span, one.row.code, &one.message)
        };
        assert!(!compiled.diagnostics[at + 1..].iter().any(|two| again(&two)), "{one:?}");
    }
}
