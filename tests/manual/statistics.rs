//! What `spec/statistics.md` shows is what the commands say.

use super::lock::shows;
use super::page::Page;
use crate::harness;

#[test]
fn comparisons_calibrations_and_noise_are_those_of_the_page() {
    let page = Page::of("spec/statistics.md");
    let folder = harness::folder("manual-statistics");
    for block in page.blocks.iter().filter(|block| block.is("jsonl") && block.is_file()) {
        std::fs::write(folder.join(&block.words[1]), &block.text).expect("the file can be written");
    }
    let cases: [(&str, &[&str], i32); 3] = [
        ("compare", &["compare", "before.jsonl", "after.jsonl"], 5),
        ("calibrate", &["calibrate", "--labels", "labels.jsonl", "--verdicts", "verdicts.jsonl"], 0),
        ("noise", &["noise", "before.jsonl"], 0),
    ];
    for (name, arguments, code) in cases {
        let ran = harness::run(&folder, arguments);
        assert_eq!(ran.code, code, "{ran:?}");
        // With `BLESS=1` each block is written into the page as it is by then.
        shows(&Page::of("spec/statistics.md"), name, &ran.out);
    }
    // A baseline of a baseline is the same: the form that the page shows is the one that is written.
    let saved = harness::run(&folder, &["baseline", "save", "before.jsonl", "-o", "again.jsonl"]);
    assert_eq!(saved.code, 0, "{saved:?}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the file is there");
    assert_eq!(read("again.jsonl"), read("before.jsonl"));
}
