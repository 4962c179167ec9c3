//! Locks: what is pinned and what is not, what is said when it moves, and their text.

use aigo_compiler::lock::{Kind, Lock, LockFile, Pin, moved};
use aigo_compiler::{Compiled, NoSources, compile};
use aigo_ir::diagnostic::Diagnostics;
use aigo_ir::span::{FileId, Origin, SourceMap};
use aigo_ir::value::Value;
use proptest::prelude::*;

/// A task in which everything that can be pinned is there.
const TASK: &str = r#"
aigo: 1
name: support
description: How it helps.
tags: [p0]
models:
  assistant: {model: openai/gpt-5-mini-2025-08-07, max_tokens: 400}
  user: {model: openai/gpt-5-mini-2025-08-07, max_tokens: 300}
  judge: {model: openai/gpt-5.2-2025-12-11, max_tokens: 800, timeout: 60s, price: {input: 1, output: 2}}
  second: {http: {url: "http://localhost:1/judge", body: {text: "{{ message }}"}}, version: v1}
  clerk: {scripted: [{say: done}]}
define:
  personas:
    terse: {text: You answer in three words., must: [a short answer]}
    confused: {text: You mix up plans and seats.}
dataset:
  - samples: [{id: one, plan: Pro, persona: terse}, {id: two, plan: Team, persona: confused}]
scenarios:
  - id: price
    with: {plan: Pro, persona: terse}
    solvers: [user: What does it cost?, generate, {judge: {rubric: No price is named.}, as: checkpoint}]
world: {state: {seats: 2}}
tools:
  - name: add
    description: Adds seats.
    params: {n: integer}
    require: n > 0
    set: {seats: state.seats + n}
solvers:
  - system: You are Acme's support assistant.
  - loop:
      max_turns: 8
      solvers:
        - simulate_user: {goal: "Two seats on {{ plan }}.", persona: "{{ persona }}", min_turns: 3, stop: the seats are there}
        - generate
        - generate: {role: clerk}
scorers:
  - name: kept
    judge:
      rubric: It keeps the plan in mind.
      scale: 1..5
      anchors: {1: It forgets., 5: It does not.}
      examples: [{conversation: [{user: I am on Pro.}], score: 5, reason: It was kept.}]
      panel: [judge, second]
  - {name: no_price, check: {not_contains: $}}
gates: [mean(kept) >= 4]
limits: {sample: {turns: 20}}
"#;

fn shown(compiled: &Compiled) -> String {
    let all = compiled.diagnostics.iter().map(|found| found.concise(&compiled.sources));
    all.collect::<Vec<_>>().join("\n")
}

fn lock(task: &str) -> Lock {
    let compiled = compile("task.yaml", task.as_bytes(), &NoSources);
    let text = shown(&compiled);
    let (program, dataset) = compiled.program.unwrap_or_else(|| panic!("{task}\n{text}"));
    Lock::of(&program, &dataset)
}

/// What is said to have moved after the text was changed.
fn after(from: &str, to: &str) -> Vec<String> {
    assert!(TASK.contains(from), "the task has no `{from}`");
    moved(&lock(TASK), &lock(&TASK.replace(from, to))).into_iter().map(|one| one.what).collect()
}

#[test]
fn everything_that_can_be_pinned_is_pinned() {
    let lock = lock(TASK);
    let mut kinds: Vec<Kind> = lock.pins.iter().map(|pin| pin.kind).collect();
    kinds.dedup();
    assert_eq!(kinds, Kind::ALL, "in this order");
    let of =
        |kind: Kind| -> Vec<&str> { lock.pins.iter().filter(|pin| pin.kind == kind).map(|pin| &*pin.name).collect() };
    assert_eq!(of(Kind::Model), ["clerk", "judge", "second", "user"]);
    assert_eq!(of(Kind::Rubric), ["checkpoint", "kept"]);
    assert_eq!(of(Kind::Persona), ["confused", "terse"]);
    assert_eq!(of(Kind::Simulator), ["main"]);
}

#[test]
fn what_is_under_test_and_what_changes_no_answer_is_not_pinned() {
    for (from, to) in [
        ("name: support", "name: other # with a comment"),
        ("How it helps.", "Otherwise."),
        ("tags: [p0]", "tags: [p1, slow]"),
        ("assistant: {model: openai/gpt-5-mini-2025-08-07, max_tokens: 400}", "assistant: {scripted: [Certainly.]}"),
        ("You are Acme's support assistant.", "You are somebody else."),
        ("timeout: 60s, price: {input: 1, output: 2}", "price: {input: 3, output: 5}"),
        ("Adds seats.", "Puts seats in."),
        ("{name: no_price, check: {not_contains: $}}", "{name: no_euro, check: {not_contains: €}}"),
        ("mean(kept) >= 4", "mean(kept) >= 3"),
        (
            "[{id: one, plan: Pro, persona: terse}, {id: two, plan: Team, persona: confused}]",
            "[{id: two, plan: Team, persona: confused}, {id: one, plan: Pro, persona: terse, tags: [x]}]",
        ),
    ] {
        assert_eq!(after(from, to), Vec::<String>::new(), "`{from}` to `{to}`");
    }
}

#[test]
fn what_moves_is_told_by_its_name_and_alone() {
    for (from, to, what) in [
        ("plan: Team", "plan: Free", "the dataset changed"),
        ("[{id: one", "[{id: nil, plan: Pro, persona: terse}, {id: one", "the dataset changed (samples 3 → 4)"),
        ("What does it cost?", "How much is it?", "what the task's own steps say as the user changed"),
        (
            "gpt-5.2-2025-12-11, max",
            "gpt-5.3-2026-04-01, max",
            "the model of the role `judge` changed (model `openai/gpt-5.2-2025-12-11` → `openai/gpt-5.3-2026-04-01`)",
        ),
        (
            "max_tokens: 800",
            "max_tokens: 900, seed: 7",
            "the model of the role `judge` changed (max_completion_tokens 800 → 900, seed not set → 7)",
        ),
        (
            "max_tokens: 300",
            "reasoning_effort: low",
            "the model of the role `user` changed (reasoning_effort not set → `low`, max_completion_tokens 300 → not set)",
        ),
        ("version: v1", "version: v2", "the model of the role `second` changed (version `v1` → `v2`)"),
        ("say: done", "say: not yet", "the model of the role `clerk` changed"),
        ("It keeps the plan in mind.", "It keeps the plan.", "the rubric of `kept` changed"),
        ("No price is named.", "No price is told.", "the rubric of `checkpoint` changed"),
        ("1: It forgets.", "1: It does forget.", "the anchors of `kept` changed"),
        ("It was kept.", "It is kept.", "the examples of `kept` changed"),
        ("panel: [judge, second]", "panel: [second, judge]", "how `kept` comes to its verdict changed"),
        ("Two seats on", "Three seats on", "what the simulated user of `main` is told changed"),
        ("stop: the seats are there", "stop: the seats are free", "the stop rule of `main` changed"),
        ("min_turns: 3", "min_turns: 2", "the stop rule of `main` changed"),
        ("max_turns: 8", "max_turns: 9", "the stop rule of `main` changed"),
        ("in three words", "in four words", "the persona `terse` changed"),
        ("a short answer", "a long answer", "the persona `terse` changed"),
        ("turns: 20", "turns: 21", "the limits of a sample changed (turns 20 → 21)"),
        ("seats: 2}", "seats: 3}", "the world's first state changed"),
        ("require: n > 0", "require: n > 1", "how the tool `add` answers changed"),
    ] {
        assert_eq!(after(from, to), [what], "`{from}` to `{to}`");
    }
}

#[test]
fn a_scorer_or_a_role_that_comes_or_goes_is_told_once() {
    let scorer = "  - {name: polite, judge: {rubric: It is polite., scale: boolean, anchors: {'true': It is.}}}\n";
    let with = TASK.replace("gates:", &format!("{scorer}gates:"));
    let said = |from: &str, to: &str| -> Vec<String> {
        moved(&lock(from), &lock(to)).into_iter().map(|one| one.what).collect()
    };
    assert_eq!(said(TASK, &with), ["the judged scorer `polite` is new"]);
    assert_eq!(said(&with, TASK), ["the judged scorer `polite` is gone"]);
    let alone = TASK.replace("panel: [judge, second]", "model: judge");
    let gone = ["how `kept` comes to its verdict changed", "no score depends on the role `second` any more"];
    assert_eq!(said(TASK, &alone), gone);
    let scale = TASK.replace("scale: 1..5", "scale: 1..7").replace("5: It does not.", "7: It does not.");
    let said = said(TASK, &scale);
    assert_eq!(said[0], "the scale of `kept` changed (scale `1..5` → `1..7`, pass 4.0 → 6.0)", "{said:?}");
}

#[test]
fn what_moved_has_its_place_in_the_task() {
    let changed = TASK.replace("It keeps the plan in mind.", "It keeps the plan.");
    let compiled = compile("task.yaml", changed.as_bytes(), &NoSources);
    let (program, dataset) = compiled.program.unwrap();
    let moves = moved(&lock(TASK), &Lock::of(&program, &dataset));
    let place = moves[0].origin.0.map(|span| compiled.sources.slice(span).to_owned());
    assert_eq!(place.as_deref(), Some("It keeps the plan."));
}

/// A text of a lock, and what is found in it.
fn read(text: &str) -> (LockFile, Vec<String>) {
    let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
    let file = sources.add("aigo.lock", text);
    let lock = LockFile::read(text, file, &mut found);
    (lock, found.finish().iter().map(|one| one.concise(&sources)).collect())
}

#[test]
fn every_line_that_cannot_be_read_is_told_at_its_place() {
    let text = "aigo-lock 1\ndataset \"a\" hash=0\ntask \"t\"\r\nrubrik \"a\" hash=0\nrubric a\n# fine\n\nrubric \"a\"\n\
                rubric \"b\" hash=f0\nrubric \"b\" hash=f0\nscale \"b\" pass=x\nscale \"c\" { }\nscale \"d\" pass=@\nrubric \"c\" hash=1f";
    let (lock, found) = read(text);
    let said = |line: usize, what: &str| format!("aigo.lock:{line}:1: error[E0650]: {what}");
    assert_eq!(
        found,
        [
            said(2, "this stands before any task: `task \"FILE\"` is expected first"),
            said(4, "`rubrik` is nothing that is pinned; did you mean `rubric`?"),
            said(5, "a line is `KIND \"NAME\" KEY=VALUE …`"),
            said(8, "`rubric \"a\"` pins nothing: `hash=…` or the like is expected"),
            said(10, "`rubric \"b\"` stands twice in this task"),
            said(11, "`pass=x`: a whole number, a text in quotes or a value after `@` is expected"),
            said(12, "a lock has no blocks in braces"),
            said(13, "this line cannot be read: a value is missing"),
        ]
    );
    assert_eq!(lock.tasks["t"].pins.len(), 2, "the others are read");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::Int),
        any::<String>().prop_map(Value::str),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(|n| Value::float(f64::from(n) / 8.0).unwrap()),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        let pairs = prop::collection::btree_map(any::<String>(), inner.clone(), 0..3);
        prop_oneof![prop::collection::vec(inner, 0..3).prop_map(Value::list), pairs.prop_map(Value::map)]
    })
}

fn lock_file() -> impl Strategy<Value = LockFile> {
    let facts = prop::collection::btree_map("[a-z_]{1,6}|hash", value(), 1..4);
    let pins = prop::collection::btree_map((0..Kind::ALL.len(), any::<String>()), facts, 0..5);
    let lock = pins.prop_map(|pins| Lock {
        pins: pins
            .into_iter()
            .map(|((kind, name), facts)| Pin {
                kind: Kind::ALL[kind],
                name: name.into(),
                facts: facts.into_iter().map(|(key, value)| (key.into(), value)).collect(),
                origin: Origin::default(),
            })
            .collect(),
    });
    prop::collection::btree_map(any::<String>(), lock, 0..4).prop_map(|tasks| LockFile { tasks })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_lock_comes_back_from_its_text(lock in lock_file()) {
        let text = lock.print();
        let (again, found) = read(&text);
        prop_assert!(found.is_empty(), "{found:?}\n{text}");
        prop_assert_eq!(&again, &lock, "{}", text);
        let lines = 2 + lock.tasks.values().map(|lock| 2 + lock.pins.len()).sum::<usize>();
        prop_assert_eq!(text.lines().count(), lines, "one thing a line: {}", text);
        for task in lock.tasks.values() {
            prop_assert!(moved(task, task).is_empty());
        }
    }

    /// Whatever is in a file, reading it ends with a lock or with findings, and what was read can be written and read again.
    #[test]
    fn any_text_is_read_or_told(lock in lock_file(), at in any::<prop::sample::Index>(), with in "\\PC{0,3}|\n|\"|@|=|<<<<<<<|\\{") {
        let text = lock.print();
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let at = *at.get(&places);
        let (read_back, _) = read(&format!("{}{with}{}", &text[..at], &text[at..]));
        let (again, found) = read(&read_back.print());
        prop_assert!(found.is_empty(), "{found:?}");
        prop_assert_eq!(again, read_back);
    }
}

#[test]
fn a_number_of_a_file_is_not_used() {
    // A lock is of one file, so that its findings point into it.
    let mut found = Diagnostics::default();
    LockFile::read("nothing", FileId(7), &mut found);
    assert_eq!(found.finish()[0].span.map(|span| span.file), Some(FileId(7)));
}
