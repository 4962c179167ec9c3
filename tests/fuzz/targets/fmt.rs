//! Any text that is read without errors: laid out, it says the same, has the
//! same comments, and twice is once. Its short forms written out leave text
//! that is read, and of a task the same program. A layout may refuse, where
//! the reader takes what no person writes; it may not panic, and it may not
//! give another text than it has looked at.
#![no_main]

use aigo_compiler::{NoSources, compile, expand};
use aigo_ir::diagnostic::Severity;
use aigo_ir::span::FileId;
use aigo_source::{Parsed, decode, layout, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = decode(bytes, FileId(0)) else { return };
    let parsed = parse(text, FileId(0));
    if !is_sound(&parsed) {
        return;
    }
    let value = parsed.tree.root().to_value().ok();
    let once = match layout::formatted(&parsed) {
        Ok(once) => once,
        Err(fault) => {
            assert!(is_odd(text), "{}", fault.what);
            return;
        }
    };
    let again = parse(&once, FileId(0));
    assert_eq!(format!("{value:?}"), format!("{:?}", again.tree.root().to_value().ok()));
    assert_eq!(layout::formatted(&again).ok().as_deref(), Some(once.as_str()), "twice is not once");
    let Some((program, _)) = compile("t", bytes, &NoSources).program else { return };
    let long = expand::expanded(&parsed, |text| parse(text, FileId(0)));
    let Some((longer, _)) = compile("t", long.as_bytes(), &NoSources).program else { panic!("{long}") };
    assert_eq!(program.hash(), longer.hash(), "{long}");
});

fn is_sound(parsed: &Parsed) -> bool {
    parsed.diagnostics.iter().all(|one| one.row.severity != Severity::Error)
}

/// Whether a text has what YAML allows and the layout may refuse: tabs, and directives and markers of documents.
fn is_odd(text: &str) -> bool {
    text.contains(['\t', '%', '?']) || text.contains("---") || text.contains("...")
}
