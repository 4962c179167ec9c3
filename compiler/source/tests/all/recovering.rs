//! Broken files and hostile ones: something is said, what is healthy is kept, and nothing takes long.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use aigo_ir::diagnostic::{Diagnostic, Severity};
use aigo_ir::span::FileId;
use aigo_source::{Kind, NodeRef, Parsed, jsonl, parse};

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

fn broken(parsed: &Parsed) -> bool {
    parsed.diagnostics.iter().any(|d| d.row.severity == Severity::Error)
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

fn lines(range: std::ops::Range<usize>, line: impl Fn(usize) -> String) -> String {
    range.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn hostile_files_end_quickly() {
    let bomb: String = (1..30).fold("a0: &a0 [x, x]\n".to_owned(), |text, n| {
        text + &format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1)
    });
    let chain: String = (1..2000).fold("- &a0 [x]\n".to_owned(), |text, n| text + &format!("- &a{n} [*a{}]\n", n - 1));
    let merges: String = (1..3000)
        .fold("a0: &a0 {k0: 1}\n".to_owned(), |text, n| text + &format!("a{n}: &a{n} {{<<: *a{}, k{n}: 1}}\n", n - 1));
    for (name, text, fine) in [
        ("billion laughs", bomb.clone(), true),
        ("chain of aliases", chain, false),
        ("chain of merges", merges, false),
        ("list of merges", format!("a: &a {{k: 1}}\nb: {{<<: [{}]}}\n", "*a, ".repeat(200_000)), false),
        ("deep maps", "{a: ".repeat(100_000), false),
        ("deep lists", "[".repeat(100_000), false),
        ("dashes", "- ".repeat(50_000), false),
        ("deep keys", lines(0..500, |n| format!("{}a:", " ".repeat(n))), false),
        ("mixed depth", format!("{}{}", "- ".repeat(60), "[".repeat(60)), false),
        ("comments", format!("a:\n{}  - b\n", "# c\n".repeat(1_000_000)), true),
        ("one large scalar", format!("a: {}\n", "x".repeat(4 << 20)), true),
        ("many small ones", "- a\n".repeat(400_000), true),
        ("too many small ones", "- a\n".repeat(600_000), false),
        ("blank lines", "\n".repeat(8 << 20), true),
        ("unknown aliases", "- *a\n".repeat(100_000), false),
        ("anchors", format!("{}{}", "- &a x\n".repeat(50_000), "- *b\n".repeat(50_000)), false),
        ("keys", lines(0..200_000, |n| format!("k{n}: 1")), true),
        ("open quote", format!("{}\n", "a: \"x\n".repeat(100_000)), false),
        ("too large", "x".repeat((8 << 20) + 1), false),
        ("staircase", lines(0..900, |n| format!("{}}}", " ".repeat(900 - n))), false),
        ("colons", "a: ".repeat(100_000), false),
    ] {
        let parsed = read(&text);
        assert_eq!(!broken(&parsed), fine, "{name} {:#?}", parsed.diagnostics.first());
        let mut found = 0;
        if name != "billion laughs" {
            count(parsed.tree.root(), &mut found);
        }
        let _ = parsed.tree.root().to_value();
    }
    let parsed = read(&bomb);
    assert_eq!(parsed.tree.root().to_value().unwrap_err().row.code, "E0116");
}

fn count(node: NodeRef<'_>, found: &mut usize) {
    *found += 1;
    node.items().for_each(|item| count(item, found));
    node.entries().for_each(|entry| count(entry.value, found));
}

#[test]
fn rows_of_a_hostile_file_are_errors() {
    let deep = "[".repeat(100_000);
    let wide = lines(0..400_000, |n| format!("\"k{n}\":1")).replace('\n', ",");
    let long = "x".repeat((8 << 20) + 1);
    let text = format!("{{\"a\": {deep}\n{{\"a\": 1}}\n{long}\n{{{wide}}}\n{{\"b\": \"{}\"}}", "\\\":".repeat(50_000));
    let rows: Vec<bool> = jsonl(text.as_bytes()).map(|row| row.is_ok()).collect();
    assert_eq!(rows, [false, true, false, false, true]);
}
