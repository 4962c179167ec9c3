//! `tests/fixtures/std/*.txt`: conversations, what the judge answers, and what the scorer must come to. Each is run twice:
//! here, where evidence and prompts can be seen, and by the binary.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, Cursor};
use std::sync::Arc;

use aigo_compiler::{Sources, compile};
use aigo_ir::verdict::Verdict;
use aigo_machine::{Answer, Linked, Outcome, Trial};
use serde_json::{Value, json};

use crate::golden::compare;
use crate::harness::{folder, only_run, root, run, trials};

/// A conversation, and what is said of it.
pub(super) struct Case {
    pub(super) scorer: String,
    pub(super) title: String,
    /// The keys beside `use`, as YAML.
    with: Vec<String>,
    record: Value,
    /// What the judge answers, by the turn that is judged; 0 is the whole.
    replies: BTreeMap<u32, String>,
    calls: Option<usize>,
    /// What stands in a prompt, `\n` for a line break.
    shows: Vec<String>,
    /// Lines of what it comes to.
    wants: Vec<String>,
}

/// One message of a record: `1u text`, `1a text`, `1t tool {arguments} -> result`.
fn messages(line: &str, into: &mut Vec<Value>, count: &mut usize) {
    let (label, text) = line.split_once(' ').unwrap_or((line, ""));
    match label.trim_start_matches(|c: char| c.is_ascii_digit()) {
        "u" => into.push(json!({"author": "user", "text": text})),
        "a" => into.push(json!({"author": "assistant", "text": text})),
        "t" => {
            let (tool, rest) = text.split_once(' ').expect("a tool and its arguments");
            let (arguments, result) = rest.split_once(" -> ").expect("arguments and a result");
            *count += 1;
            let id = format!("c{count}");
            into.push(json!({"author": "assistant", "call": {"id": id, "tool": tool, "arguments": arguments}}));
            into.push(json!({"author": tool, "result": {"id": id, "tool": tool}, "text": result}));
        }
        other => panic!("`{other}` begins no line of a case"),
    }
}

impl Case {
    pub(super) fn of(text: &str) -> Self {
        let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
        let (scorer, title) = lines.next().and_then(|head| head.split_once(": ")).expect("a case has a head");
        let (mut with, mut said, mut wants, mut shows, mut count) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), 0);
        let (mut replies, mut calls, mut context) = (BTreeMap::new(), None, None::<Vec<Value>>);
        for line in lines {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "key" => with.push(rest.to_owned()),
                "says" => {
                    let (turn, reply) = match rest.split_once(' ') {
                        Some((turn, reply)) if turn.parse::<u32>().is_ok() => (turn.parse().unwrap(), reply),
                        _ => (0, rest),
                    };
                    replies.insert(turn, reply.to_owned());
                }
                "calls" => calls = Some(rest.parse().expect("a number of calls")),
                "context" => {
                    let chunks = rest.split(" | ").filter(|chunk| !chunk.is_empty()).map(|chunk| json!(chunk));
                    context.get_or_insert_default().push(chunks.collect());
                }
                "shows" => shows.push(rest.replace("\\n", "\n")),
                "=>" => wants.push(rest.to_owned()),
                _ => messages(line, &mut said, &mut count),
            }
        }
        let most = replies.keys().max().copied().unwrap_or(0);
        let list: Vec<&str> = (0..=most).map(|turn| replies.get(&turn).map_or("", String::as_str)).collect();
        let mut record = json!({"id": "case", "replies": list, "messages": said});
        if let Some(context) = context {
            record["searches"] = json!(context);
        }
        Self { scorer: scorer.to_owned(), title: title.to_owned(), with, record, replies, calls, shows, wants }
    }

    fn task(&self) -> String {
        let keys = self.with.iter().map(|line| format!("    {line}\n")).collect::<Vec<_>>().concat();
        format!(
            "aigo: 1\nname: case\nmodels:\n  judge: {{scripted: [{{say: \"{{{{ replies[judged] }}}}\"}}]}}\n\
             dataset: {{transcripts: case.jsonl}}\nscorers:\n  - use: {}\n{keys}",
            self.scorer
        )
    }

    /// Runs it here: what it came to, and the prompts in the order of the calls.
    pub(super) fn run(&self) -> (Outcome, Vec<String>) {
        let record = OneFile(self.record.to_string());
        let compiled = compile("task.yaml", self.task().as_bytes(), &record);
        let errors: Vec<String> = compiled.diagnostics.iter().map(|one| one.concise(&compiled.sources)).collect();
        let (program, dataset) =
            compiled.program.unwrap_or_else(|| panic!("{}: {errors:#?}\n{}", self.title, self.task()));
        let row = dataset.rows(&record).next().expect("a row").expect("a good one");
        let sample = super::sample(row);
        let linked = Linked::new(program).map_err(|found| format!("{}: {}", self.title, found[0]));
        let (mut trial, mut pending) = Trial::start(Arc::new(linked.expect("it is sound")), Arc::new(sample));
        let mut prompts = Vec::new();
        while !pending.is_empty() {
            let next = pending.remove(0);
            let request = &next.ask.request;
            let texts: Vec<&str> = request.messages.iter().map(|message| &*message.text).collect();
            prompts.push(texts.join("\n\n"));
            let scope = request.scope.as_ref().expect("a scripted role has a scope");
            let judged = scope.get("judged").and_then(|turn| turn.as_int());
            let reply = self.replies.get(&judged.unwrap_or(0).try_into().unwrap()).map_or("", String::as_str);
            let answer = Answer { text: reply.into(), stop: "stop".into(), ..Answer::default() };
            pending.extend(trial.answer(next.lane, answer));
        }
        (trial.outcome().expect("it has ended"), prompts)
    }
}

/// A verdict as a line: `1 fail 2u "moved to Team" 3a "Pro"`.
fn line(turn: Option<u32>, verdict: &Verdict) -> String {
    let mut out = turn.map_or_else(String::new, |turn| format!("turn {turn}: "));
    let said = match &verdict.value {
        Some(value) => value.to_json(),
        None => format!("{} ({})", verdict.outcome.word(), verdict.reason),
    };
    out.push_str(&said);
    out.push_str(match verdict.pass {
        Some(true) => " pass",
        Some(false) => " fail",
        None => "",
    });
    if &*verdict.reason == "nothing at stake" && verdict.value.is_some() {
        out.push_str(" (nothing at stake)");
    }
    for evidence in &verdict.evidence {
        let _ = write!(out, " {} \"{}\"", evidence.turn, evidence.quote);
    }
    out
}

/// The one file that a case reads.
struct OneFile(String);

impl Sources for OneFile {
    fn open(&self, path: &str) -> std::io::Result<Box<dyn BufRead + Send>> {
        if path != "case.jsonl" {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        Ok(Box::new(Cursor::new(self.0.clone().into_bytes())))
    }
}

/// All cases of a file.
pub(super) fn cases(file: &str) -> Vec<Case> {
    let path = root().join("tests/fixtures/std").join(file);
    let text = std::fs::read_to_string(&path).expect("the cases are there");
    format!("\n{text}").split("\n== ").skip(1).map(Case::of).collect()
}

pub(super) fn lines(outcome: &Outcome) -> Vec<String> {
    outcome.scores.iter().map(|row| line(row.turn, &row.verdict)).collect()
}

#[test]
fn every_scorer_gives_the_right_verdict_at_the_right_turn_with_the_right_evidence() {
    let mut wrong = String::new();
    for case in cases("cases.txt") {
        let (outcome, prompts) = case.run();
        let lines = lines(&outcome);
        let calls = case.calls.unwrap_or(prompts.len());
        if lines != case.wants || calls != prompts.len() {
            let wants = case.wants.join("\n     ");
            let _ = write!(wrong, "{}: {}\n  is ", case.scorer, case.title);
            let _ = writeln!(wrong, "{}\n  not {wants}\n  {} calls, not {calls}", lines.join("\n     "), prompts.len());
        }
        for text in case.shows.iter().filter(|text| !prompts.iter().any(|prompt| prompt.contains(*text))) {
            let _ = writeln!(wrong, "{}: {}\n  no prompt shows {text:?}", case.scorer, case.title);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// What judges are asked, once for each scorer: to be read by people.
#[test]
fn the_prompts_are_the_golden_ones() {
    let mut seen = Vec::new();
    for case in cases("cases.txt") {
        if seen.contains(&case.scorer) {
            continue;
        }
        let (_, prompts) = case.run();
        seen.push(case.scorer.clone());
        let mut text = String::new();
        let first = |at: usize| prompts.iter().position(|other| *other == prompts[at]) == Some(at);
        // A judge that is asked again is asked the same.
        for (at, prompt) in prompts.iter().enumerate().filter(|(at, _)| first(*at)) {
            let _ = writeln!(text, "==== call {}\n{prompt}\n", at + 1);
        }
        if !text.is_empty() {
            compare(&format!("std/{}.txt", case.scorer), &text);
        }
    }
    let judged = aigo_compiler::standard::scorers().filter(|name| {
        let file = aigo_compiler::standard::of_scorer(name, None).expect("it is there");
        aigo_compiler::standard::page(file, name).expect("it has a page").calls.is_some_and(|calls| calls != "0")
    });
    let missing: Vec<&str> = judged.filter(|name| !seen.iter().any(|seen| seen == name)).collect();
    assert!(missing.is_empty(), "no case shows what the judge is asked by {missing:?}");
}

/// The same by the binary: outcomes, values and turns in the log are those of the cases.
#[test]
fn the_binary_comes_to_the_same() {
    let place = folder("std_cases");
    for (at, case) in cases("cases.txt").iter().enumerate() {
        let own = place.join(at.to_string());
        std::fs::create_dir_all(&own).expect("a folder can be made");
        std::fs::write(own.join("task.yaml"), case.task()).expect("the task can be written");
        std::fs::write(own.join("case.jsonl"), case.record.to_string()).expect("the record can be written");
        let ran = run(&own, &["run", "task.yaml"]);
        assert!([0, 4].contains(&ran.code), "{}: {}{}", case.title, ran.out, ran.err);
        let close = trials(&only_run(&own)).remove(0).close.expect("the trial has ended");
        let (outcome, _) = case.run();
        let here: Vec<_> = outcome
            .scores
            .iter()
            .map(|row| (row.turn, row.verdict.outcome.word().to_owned(), row.verdict.value.clone(), row.verdict.pass))
            .collect();
        let there: Vec<_> =
            close.scores.into_iter().map(|score| (score.turn, score.outcome, score.value, score.pass)).collect();
        assert_eq!(there, here, "{}", case.title);
    }
}
