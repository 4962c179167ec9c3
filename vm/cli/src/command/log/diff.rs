//! `aigo log show RUN --diff OTHER`: what differs between two runs, conversation by conversation, or message by message.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aigo_ir::text::excerpt;
use aigo_log::{Close, Log, LogError};
use aigo_vm::{RunError, retrace};

use super::show::{found, score};
use crate::args::LogShowArgs;
use crate::command::drive;
use crate::{exit, out, runs};

/// How much of a message is shown.
const WIDTH: usize = 400;

/// The conversations of a run, by sample and epoch, as they ended.
type Ends = BTreeMap<(String, u32), Option<Close>>;

pub(super) fn diff(args: &LogShowArgs, other: &str) -> u8 {
    let (one, two) = match (runs::open(&args.run, &args.runs), runs::open(other, &args.runs)) {
        (Ok(one), Ok(two)) => (one, two),
        (Err(code), _) | (_, Err(code)) => return code,
    };
    let shown = match &args.sample {
        Some(sample) => of_sample(&one, &two, sample),
        None => of_runs(&one, &two).map_err(|error| drive::fail(&RunError::Log(error))),
    };
    match shown {
        Ok((text, is_equal)) => {
            out::text(&text);
            if is_equal { exit::PASSED } else { exit::DIFFERS }
        }
        Err(code) => code,
    }
}

fn ends(log: &Log) -> Result<Ends, LogError> {
    let mut ends = Ends::new();
    for trial in log.trials() {
        let trial = trial?;
        let end = ends.entry((trial.open.key, trial.open.epoch)).or_default();
        // A trial that began anew has one end.
        *end = end.take().or(trial.close);
    }
    Ok(ends)
}

/// Two runs: programs, datasets, digests, and each conversation that came to something else.
fn of_runs(one: &Log, two: &Log) -> Result<(String, bool), LogError> {
    let mut out = String::new();
    let _ = writeln!(out, "a  run {}\nb  run {}", one.header().id, two.header().id);
    let mut pair = |what: &str, a: String, b: String| {
        let same = a == b;
        let _ =
            if same { writeln!(out, "{what}: the same") } else { writeln!(out, "{what} differs\n  a  {a}\n  b  {b}") };
        same
    };
    pair("program", one.header().hash.to_string(), two.header().hash.to_string());
    pair("dataset", one.header().dataset.clone(), two.header().dataset.clone());
    let digest =
        |log: &Log| log.end().map_or_else(|| "none: it has not ended".to_owned(), |end| end.digest.to_string());
    pair("digest", digest(one), digest(two));
    let (a, b) = (ends(one)?, ends(two)?);
    let mut keys: Vec<&(String, u32)> = a.keys().chain(b.keys()).collect();
    keys.sort();
    keys.dedup();
    let mut same = 0_u64;
    for key in &keys {
        let what = match (a.get(*key), b.get(*key)) {
            (Some(a), Some(b)) => differs(a.as_ref(), b.as_ref()),
            (Some(_), None) => vec!["only in a".to_owned()],
            _ => vec!["only in b".to_owned()],
        };
        if what.is_empty() {
            same += 1;
            continue;
        }
        let _ = writeln!(out, "{}/{}: {}", excerpt(&key.0, 60), key.1, what.join("; "));
    }
    let _ = writeln!(out, "conversations: {same} of {} the same", keys.len());
    Ok((out, same == keys.len() as u64))
}

/// How two ends of a conversation differ.
fn differs(a: Option<&Close>, b: Option<&Close>) -> Vec<String> {
    let (Some(a), Some(b)) = (a, b) else {
        return match (a, b) {
            (None, None) => Vec::new(),
            (Some(_), _) => vec!["open in b".to_owned()],
            _ => vec!["open in a".to_owned()],
        };
    };
    if a.leaf == b.leaf {
        return Vec::new();
    }
    let mut what = Vec::new();
    if a.ending != b.ending {
        what.push(format!("ended {} in a, {} in b", a.ending.replace('_', " "), b.ending.replace('_', " ")));
    }
    for known in &a.scores {
        match b.scores.iter().find(|other| (&other.scorer, other.turn) == (&known.scorer, known.turn)) {
            Some(other) if other == known => {}
            Some(other) => what.push(format!("{} in a, {} in b", score(known), score(other))),
            None => what.push(format!("{} only in a", score(known))),
        }
    }
    let is_new =
        |other: &&aigo_log::Score| !a.scores.iter().any(|s| (&s.scorer, s.turn) == (&other.scorer, other.turn));
    what.extend(b.scores.iter().filter(is_new).map(|other| format!("{} only in b", score(other))));
    if what.is_empty() {
        what.push("the same scores from other prompts, answers or reasons".to_owned());
    }
    what
}

/// A sample in two runs, message by message, up to the first that differs in each epoch.
fn of_sample(one: &Log, two: &Log, sample: &str) -> Result<(String, bool), u8> {
    let ((linked_a, a), (linked_b, b)) = (found(one, sample)?, found(two, sample)?);
    let (mut out, mut is_equal) = (String::new(), true);
    for trial in &a {
        let _ = writeln!(out, "{}   epoch {}", excerpt(&trial.open.key, 60), trial.open.epoch);
        let Some(other) = b.iter().find(|other| other.open.epoch == trial.open.epoch) else {
            out.push_str("  only in a\n");
            is_equal = false;
            continue;
        };
        let (told, retold) = (retrace(&linked_a, trial), retrace(&linked_b, other));
        let (left, right) = (told.conversation.messages(), retold.conversation.messages());
        let equal = left.iter().zip(right).take_while(|(a, b)| a == b).count();
        let _ = writeln!(out, "  the first {equal} messages are the same");
        if (left.get(equal), right.get(equal)) != (None, None) {
            is_equal = false;
            for (name, messages) in [("a", left), ("b", right)] {
                let said = messages.get(equal).map_or_else(
                    || "the conversation is over".to_owned(),
                    |message| format!("turn {}, {}: {}", message.turn, message.author, excerpt(&message.text, WIDTH)),
                );
                let _ = writeln!(out, "  {name}  {said}");
            }
        }
        let what = differs(trial.close.as_ref(), other.close.as_ref());
        is_equal &= what.is_empty();
        for line in what {
            let _ = writeln!(out, "  {line}");
        }
    }
    Ok((out, is_equal))
}
