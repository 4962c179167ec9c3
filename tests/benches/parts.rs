//! The parts of the pipeline, each by itself: `cargo bench -p aigo-tests`, and a part of a name behind it for some of them.
//! Whole processes beside those of others are measured by the scripts in `tests/bench`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aigo_compiler::{NoSources, compile};
use aigo_ir::key::Key;
use aigo_ir::message::Conversation;
use aigo_ir::program::Program;
use aigo_ir::span::FileId;
use aigo_ir::value::Value;
use aigo_log::{Digest, SUMMED};
use aigo_machine::{Answer, Linked, Outcome, Sample, Trial};
use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};

const TURNS: usize = 8;
const LEAVES: u32 = 10_000;

fn main() {
    divan::main();
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// A conversation of eight turns, a check of each and a judge of all.
fn task() -> String {
    let turns: Vec<String> = (1..=TURNS)
        .map(|turn| format!("      - \"Turn {turn}: we are on {{{{ plan }}}}, how many seats?\"\n"))
        .collect();
    format!(
        "aigo: 1\nname: parts\nmodels: {{assistant: {{scripted: [Yes.]}}, judge: {{scripted: [No.]}}}}\n\
         dataset: {{samples: [{{id: a, plan: Pro}}]}}\nsolvers:\n  - system: \"Keep in mind that they are on {{{{ plan }}}}.\"\n  \
         - script:\n{}scorers:\n  - {{name: short, check: {{words: 1..40}}}}\n  \
         - {{name: kept, judge: {{rubric: It keeps the plan in mind., scale: 1..5, evidence: none}}}}\n",
        turns.concat()
    )
}

fn program() -> Option<Program> {
    compile("task.yaml", task().as_bytes(), &NoSources).program.map(|(program, _)| program)
}

#[divan::bench]
fn yaml(bencher: Bencher<'_, '_>) {
    let text = read("tasks/support/task.yaml");
    bencher.counter(BytesCount::of_str(&text)).bench(|| aigo_source::parse(black_box(&text), FileId::default()));
}

#[divan::bench]
fn front_end(bencher: Bencher<'_, '_>) {
    let text = task();
    bencher.counter(BytesCount::of_str(&text)).bench(|| compile("task.yaml", black_box(text.as_bytes()), &NoSources));
}

#[divan::bench]
fn program_from_its_text(bencher: Bencher<'_, '_>) {
    let text = program().map(|program| aigo_ir::print::print(&program)).unwrap_or_default();
    bencher.counter(BytesCount::of_str(&text)).bench(|| aigo_ir::read::read(black_box(&text)));
}

/// The machine alone: what is asked, hashed, appended, rendered and scored; nobody is waited for.
fn conversation(linked: &Arc<Linked>) -> Option<Outcome> {
    let mut row = aigo_ir::value::Map::default();
    row.set("plan", Value::str("Pro"));
    let sample = Sample {
        key: "a".into(),
        epoch: 1,
        graph: linked.program.solves.first().map(|graph| graph.name.clone())?,
        row: Arc::new(row),
        conversation: Arc::new(Conversation::default()),
        tags: Arc::default(),
        cluster: None,
    };
    let (mut trial, mut pending) = Trial::start(Arc::clone(linked), Arc::new(sample));
    while let Some(next) = pending.pop() {
        let text = if &*next.ask.request.role == "judge" {
            r#"{"evidence": [], "reason": "It does.", "score": 5}"#
        } else {
            "On Pro you can add three more seats; each is billed from the day it is added."
        };
        let answer = Answer { text: text.into(), stop: "stop".into(), ..Answer::default() };
        pending.extend(trial.answer(next.lane, answer));
    }
    trial.outcome()
}

#[divan::bench]
fn machine(bencher: Bencher<'_, '_>) {
    let Some(linked) = program().and_then(|program| Linked::new(program).ok()).map(Arc::new) else { return };
    bencher.counter(ItemsCount::new(TURNS + 1)).bench(|| conversation(black_box(&linked)));
}

#[divan::bench]
fn log_lines_read(bencher: Bencher<'_, '_>) {
    let log = read("tests/golden/quickstart.jsonl");
    let lines: Vec<&str> = log.lines().collect();
    bencher
        .counter(ItemsCount::new(lines.len()))
        .bench(|| lines.iter().filter(|line| aigo_log::decode(black_box(line.as_bytes())).is_ok()).count());
}

#[divan::bench]
fn log_lines_written(bencher: Bencher<'_, '_>) {
    let log = read("tests/golden/quickstart.jsonl");
    let records: Vec<_> = log.lines().filter_map(|line| aigo_log::decode(line.as_bytes()).ok()).collect();
    bencher
        .counter(ItemsCount::new(records.len()))
        .bench(|| records.iter().filter(|(n, record)| aigo_log::encode(*n, black_box(record)).is_ok()).count());
}

#[divan::bench]
fn digest(bencher: Bencher<'_, '_>) {
    let keys: Vec<String> = (0..LEAVES).map(|n| format!("s{n:05}")).collect();
    bencher.counter(ItemsCount::new(keys.len())).bench(|| {
        let mut digest = Digest::new(&[SUMMED], Key([1; 32]), Key([2; 32]));
        for sample in &keys {
            digest.add(black_box(sample), 1, &Key([8; 32]), &Key([7; 32]));
        }
        digest.finish()
    });
}

/// A quote that stands at the end of a long answer.
#[divan::bench]
fn quote(bencher: Bencher<'_, '_>) {
    let answer = "You can add three more seats – each is billed monthly, from the day it’s added. ".repeat(50);
    bencher
        .counter(BytesCount::of_str(&answer))
        .bench(|| aigo_ir::quote::occurs(black_box("On the **Free** plan there are none"), black_box(&answer)));
}
