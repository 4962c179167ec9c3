//! Lock files: whatever is read can be written and read again, and nothing in a file is a panic.
#![no_main]

use aigo_compiler::lock::{Lock, LockFile, moved};
use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::span::SourceMap;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
    let file = sources.add("aigo.lock", text);
    let lock = LockFile::read(text, file, &mut found);
    for one in found.finish() {
        let _ = one.concise(&sources);
    }
    let mut again = Diagnostics::default();
    let printed = lock.print();
    assert_eq!(LockFile::read(&printed, file, &mut again), lock, "{printed}");
    assert!(again.is_empty(), "{printed}");
    for one in lock.tasks.values() {
        assert!(moved(one, one).is_empty());
        let _ = moved(one, &Lock::default());
        let _ = moved(&Lock::default(), one);
    }
});
