//! `aigo explain`: every page is in the binary.

use crate::harness::{folder, root, run};

#[test]
fn every_code_is_listed_and_has_its_page() {
    let folder = folder("explain");
    let list = run(&folder, &["explain"]);
    assert_eq!((list.code, list.err.as_str()), (0, ""));
    let codes: Vec<&str> = list.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let pages = std::fs::read_dir(root().join("spec/diagnostics")).unwrap().count() - 1;
    assert!(codes.len() == pages && codes.is_sorted(), "{pages} pages: {codes:?}");
    assert!(list.out.contains("E0302  error    a name or attribute that is not defined\n"), "{}", list.out);
    let all = run(&folder, &[&["explain", "--format", "md"], codes.as_slice()].concat());
    let texts =
        codes.iter().map(|code| std::fs::read_to_string(root().join(format!("spec/diagnostics/{code}.md"))).unwrap());
    assert_eq!((all.code, all.out), (0, texts.collect::<Vec<_>>().join("\n")));
}

#[test]
fn a_page_is_text_for_terminals() {
    let folder = folder("explain_text");
    let ran = run(&folder, &["explain", "e0201"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let head = "E0201: an unknown key\n=====================\n\nA key is not one of its construct.";
    assert!(ran.out.starts_with(head), "{}", ran.out);
    assert!(ran.out.contains("\nFails:\n\n    - generate\n    - simulate_user: {goal:"), "{}", ran.out);
    assert!(!ran.out.contains("](") && !ran.out.contains("```"), "{}", ran.out);
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100 || line.starts_with("    ")), "{}", ran.out);
}

#[test]
fn an_unknown_code_is_2_and_the_others_are_explained() {
    let folder = folder("explain_unknown");
    let ran = run(&folder, &["explain", "E302", "W0101"]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.err, "error: there is no code `E302`\n  help: did you mean E0302?\n");
    assert!(ran.out.starts_with("W0101: "), "{}", ran.out);
    let far = run(&folder, &["explain", "nothing\u{1b}[2J"]);
    assert!(far.code == 2 && far.err.contains("`aigo explain` lists all codes") && !far.err.contains('\u{1b}'));
}
