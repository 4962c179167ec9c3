//! Broken files: something is said, and what is healthy is kept.
#![expect(clippy::disallowed_methods, reason = "a test of the project's files")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::span::FileId;
use aigo_source::{Kind, NodeRef, Parsed, parse};

const TASK: &str = r#"aigo: 1
name: support-copilot   # é
models:
  assistant: {model: anthropic/claude-sonnet-4-5, max_tokens: 600, price: {input: 3, output: 15}}
  judge: {model: openai/gpt-5.2, max_tokens: 800}
dataset:
  - matrix:
      goal: {file: data/goals.yaml}
      persona: [terse, confused]
    tags: [simulated]
solvers:
  - system: |
      You are Acme's support assistant.
      {% if plan is defined %}The account is on {{ plan }}.{% endif %}
  - loop:
      max_turns: 14
      solvers:
        - simulate_user: {goal: "{{ goal }}", persona: "{{ persona }}"}
        - generate
scenarios:
  - id: changes-the-number
    solvers:
      - user: Make it three seats.
      - generate:
          expect:
            - {not_matches: '\$\s?\d'}
            - {within: 3s}
scorers:
  - judge:
      rubric: >
        The assistant asks for nothing
        that was said already.
    name: asks_once
gates:
  - mean(task_completion) >= 4
  - rate(asks_once) >= 0.9
"#;

fn read(text: &str) -> Parsed {
    parse(text, FileId(0))
}

/// The scalars of a tree, with the path that leads to each.
fn scalars(node: NodeRef<'_>, path: &str, out: &mut BTreeSet<String>) {
    match node.kind() {
        Kind::List(items) => items.for_each(|item| scalars(item, &format!("{path}/-"), out)),
        Kind::Map(entries) => {
            for entry in entries {
                scalars(entry.value, &format!("{path}/{}", entry.key.value), out);
            }
        }
        Kind::Scalar(value) => {
            out.insert(format!("{path}={value}"));
        }
        Kind::Null | Kind::Error => {}
    }
}

fn of(parsed: &Parsed) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    scalars(parsed.tree.root(), "", &mut out);
    out
}

/// A fix may be applied without asking, so it must leave fewer findings than there were.
fn check_fix(text: &str, parsed: &Parsed, d: &Diagnostic) -> bool {
    let Some(fix) = &d.fix else { return false };
    let (before, after) = (&text[..fix.span.start as usize], &text[fix.span.end as usize..]);
    let mended = read(&format!("{before}{}{after}", fix.text));
    assert!(mended.diagnostics.len() < parsed.diagnostics.len(), "{d:?} {:?}", mended.diagnostics);
    true
}

#[test]
fn one_wrong_character_does_not_lose_the_file() {
    let healthy = read(TASK);
    assert!(healthy.diagnostics.is_empty(), "{:#?}", healthy.diagnostics);
    let all = of(&healthy);
    let mut fixes = 0;
    let (mut syntax, mut kept, mut lost) = (0, 0.0, Vec::new());
    let places: Vec<usize> = TASK.char_indices().map(|(at, _)| at).collect();
    for &at in &places {
        let (before, rest) = TASK.split_at(at);
        let c = rest.chars().next().unwrap();
        let after = &rest[c.len_utf8()..];
        for with in
            ["", "{", "}", "[", "]", ":", "\"", "'", "-", "#", "&", "*", "!", "|", "%", "@", "\t", "\n", " ", ",", "é"]
        {
            let text = format!("{before}{with}{after}");
            let parsed = read(&text);
            if !parsed.diagnostics.iter().any(|d| d.row.code == "E0103") {
                continue;
            }
            syntax += 1;
            let found = of(&parsed);
            let share = f64::from(u32::try_from(found.intersection(&all).count()).unwrap())
                / f64::from(u32::try_from(all.len()).unwrap());
            kept += share;
            if share == 0.0 || parsed.tree.root().is_error() || parsed.diagnostics.iter().any(|d| d.row.code == "E0118")
            {
                lost.push((
                    share,
                    at,
                    with,
                    text.lines().nth(before.matches('\n').count()).unwrap_or_default().to_owned(),
                ));
            }
            for d in &parsed.diagnostics {
                let span = d.span.unwrap();
                assert!(text.get(span.start as usize..span.end as usize).is_some(), "{d:?}");
                fixes += usize::from(check_fix(&text, &parsed, d));
            }
        }
    }
    let mean = kept / f64::from(syntax);
    assert!(fixes > 200, "{fixes}");
    assert!(syntax > 3000 && mean > 0.76 && lost.is_empty(), "{syntax} {mean} {lost:#?}");
}

/// The same of whole files, at some places only: on average nearly all of the file is kept, and never nothing.
#[test]
fn one_wrong_character_does_not_lose_a_whole_task() {
    for file in ["tests/fixtures/quickstart/task.yaml", "tests/fixtures/generated.yaml"] {
        let text = std::fs::read_to_string(format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        let all = of(&read(&text));
        let (mut broken, mut kept, mut least) = (0_u32, 0.0, 1.0_f64);
        for (nth, (at, c)) in text.char_indices().enumerate().filter(|(nth, _)| nth % 3 == 0) {
            let with = ["{", "\"", ":", "\n", "*", "", "'", "-", "[", "é", "!"][nth / 3 % 11];
            let parsed = read(&format!("{}{with}{}", &text[..at], &text[at + c.len_utf8()..]));
            if parsed.diagnostics.iter().any(|d| d.row.code == "E0103") {
                let found = of(&parsed);
                let counted = |n: usize| f64::from(u32::try_from(n).unwrap());
                let share = counted(found.intersection(&all).count()) / counted(all.len());
                broken += 1;
                kept += share;
                least = least.min(share);
            }
        }
        let mean = kept / f64::from(broken);
        assert!(broken > 150 && mean > 0.8 && least > 0.0, "{file}: {broken} {mean} {least}");
    }
}

/// Found by the fuzzer: an error inside what is one character in the file and two spaces in the masked text.
#[test]
fn an_error_in_a_masked_part_has_a_place_in_the_file() {
    let text = "a<<: *: |1\n\n\u{5e3}$ y\\O\\\n\0\0\0 z\"b\n\0  \"\\ud83d\\ude0\"0x\n\u{1b}@\n";
    for d in read(text).diagnostics {
        let span = d.span.unwrap();
        assert!(text.get(span.start as usize..span.end as usize).is_some(), "{d:?}");
    }
}

#[test]
fn each_of_many_errors_is_found() {
    let mut text = String::new();
    for n in 0..200 {
        let _ = write!(text, "key{n}:\n  - {TASK_LINE}\n");
        if n % 10 == 5 {
            let _ = writeln!(text, "wrong{n}: a: b");
        }
    }
    let parsed = read(&text);
    assert_eq!(parsed.diagnostics.iter().filter(|d| d.row.code == "E0103").count(), 20);
    assert_eq!(parsed.tree.root().entries().len(), 220);
    let parsed = read(&"a: b: c\n".repeat(500));
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.row.code).collect();
    assert!(codes.contains(&"E0118") && codes.iter().filter(|&&c| c == "E0103").count() >= 60, "{codes:?}");
    assert!(parsed.tree.root().is_incomplete());
}

const TASK_LINE: &str = "{model: anthropic/claude-sonnet-4-5, max_tokens: 600}";
