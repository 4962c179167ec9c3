//! `aigo log show`: a run's conversations, one of them whole, and what a verdict comes from.

use std::fmt::Write as _;
use std::sync::Arc;

use aigo_ir::bounds::plural;
use aigo_ir::message::Conversation;
use aigo_ir::text::excerpt;
use aigo_ir::value::Map;
use aigo_log::{Log, Score, Trial};
use aigo_machine::{Linked, Outcome};
use aigo_report::Answered;
use aigo_report::conversation::{self, Named, Told, shown, verdict_id};
use aigo_vm::{Retold, Retraced, RunError, retrace};

use crate::args::LogShowArgs;
use crate::command::drive;
use crate::{exit, measured, out, runs};

/// How wide a sample's key is in the list.
const KEY: usize = 40;

pub(super) fn show(args: &LogShowArgs) -> u8 {
    let log = match runs::open(&args.run, &args.runs) {
        Ok(log) => log,
        Err(code) => return code,
    };
    let Some(sample) = &args.sample else { return list(&log) };
    let (linked, trials) = match found(&log, sample) {
        Ok(found) => found,
        Err(code) => return code,
    };
    for (at, trial) in trials.iter().enumerate() {
        let retraced = retrace(&linked, trial);
        let gap = if at == 0 { "" } else { "\n" };
        match &args.verdict {
            None => out::text(&format!("{gap}{}", whole(trial, &retraced))),
            Some(id) => match behind(&linked, &retraced, id) {
                Ok(text) => out::text(&format!("{gap}{}   epoch {}\n{text}", trial.open.key, trial.open.epoch)),
                Err(message) => {
                    out::error(&message);
                    return exit::USAGE;
                }
            },
        }
    }
    exit::PASSED
}

/// The trials of a sample, or one of its epochs, and the program ready to go through them. A failure is told.
pub(super) fn found(log: &Log, named: &str) -> Result<(Arc<Linked>, Vec<Trial>), u8> {
    let told = |error| drive::fail(&RunError::Log(error));
    let mut trials = of_sample(log, named, None).map_err(told)?;
    // A key can have a stroke in it, so the whole name is looked for first.
    if trials.is_empty()
        && let Some((key, epoch)) = named.rsplit_once('/')
        && let Ok(epoch) = epoch.parse()
    {
        trials = of_sample(log, key, Some(epoch)).map_err(told)?;
    }
    if trials.is_empty() {
        out::error(&format!("the run has no sample `{named}`: `aigo log show {}` lists them", log.header().id));
        return Err(exit::USAGE);
    }
    let linked = aigo_vm::linked(log).map_err(|error| drive::fail(&error))?;
    Ok((linked, trials))
}

fn of_sample(log: &Log, key: &str, epoch: Option<u32>) -> Result<Vec<Trial>, aigo_log::LogError> {
    let trials = log.of_sample(key)?.into_iter().map(|number| log.trial(number));
    let trials: Vec<Trial> = trials.collect::<Result<_, _>>()?;
    Ok(trials.into_iter().filter(|trial| epoch.is_none_or(|epoch| trial.open.epoch == epoch)).collect())
}

/// Every conversation of a run on a line: its sample, how it ended, and the conversation's scores.
fn list(log: &Log) -> u8 {
    let mut output = out::Output::new();
    for trial in log.trials() {
        let trial = match trial {
            Ok(trial) => trial,
            Err(error) => return drive::fail(&RunError::Log(error)),
        };
        let epoch = format!("/{}", trial.open.epoch);
        let ending = trial.close.as_ref().map_or_else(|| "open".to_owned(), |close| close.ending.replace('_', " "));
        let scores = trial.close.iter().flat_map(|close| &close.scores).filter(|score| score.turn.is_none());
        let scores: Vec<String> = scores.map(score).collect();
        let key = excerpt(&trial.open.key, KEY);
        let line = format!("{:<width$}  {ending}   {}", key + &epoch, scores.join("   "), width = 24);
        output.write(&(aigo_ir::text::printable(line.trim_end()) + "\n"));
    }
    output.flush();
    match output.failure() {
        None => exit::PASSED,
        Some(why) => {
            out::error(&why);
            exit::USAGE
        }
    }
}

/// A score in a few words.
pub(super) fn score(score: &Score) -> String {
    let said = score.value.as_ref().map_or_else(|| score.outcome.replace('_', " "), shown);
    let mark = match score.pass {
        Some(true) => " ✓",
        Some(false) => " ✗",
        None => "",
    };
    format!("{} {said}{mark}", excerpt(&verdict_id(&score.scorer, score.turn), KEY))
}

/// What is shown of a trial: its verdicts with their reasons, which no log has, and its conversation.
pub(super) struct Parts {
    row: Map,
    scores: Vec<Named>,
    ending: Option<&'static str>,
    fault: Option<String>,
    conversation: Arc<Conversation>,
    calls: Vec<Answered>,
}

impl Parts {
    pub(super) fn of(trial: &Trial, retraced: &Retraced) -> Self {
        let outcome = retraced.outcome.as_ref();
        Self {
            row: trial.open.row.as_map().cloned().unwrap_or_default(),
            scores: outcome.map(named).unwrap_or_default(),
            ending: outcome.map(|outcome| outcome.ending.word()),
            fault: outcome.map_or_else(|| retraced.why.clone(), |outcome| outcome.fault.clone()),
            conversation: Arc::clone(&retraced.conversation),
            calls: retraced.answered(),
        }
    }

    pub(super) fn told<'t>(&'t self, trial: &'t Trial) -> Told<'t> {
        Told {
            key: &trial.open.key,
            epoch: trial.open.epoch,
            graph: &trial.open.graph,
            ending: self.ending,
            fault: self.fault.as_deref(),
            row: &self.row,
            conversation: &self.conversation,
            scores: &self.scores,
            calls: &self.calls,
        }
    }
}

fn named(outcome: &Outcome) -> Vec<Named> {
    let rows = outcome.scores.iter();
    rows.map(|row| Named { scorer: row.scorer.clone(), turn: row.turn, verdict: row.verdict.clone() }).collect()
}

/// A conversation whole.
fn whole(trial: &Trial, retraced: &Retraced) -> String {
    let parts = Parts::of(trial, retraced);
    let mut out = conversation::conversation(&parts.told(trial));
    let lost = trial.calls.iter().filter(|call| call.got.is_none()).count();
    let answered = trial.calls.len() - lost;
    let usage = trial.calls.iter().filter_map(|call| call.got.as_ref()).map(|got| &got.usage);
    let (input, output) = usage.fold((0_u64, 0_u64), |(input, output), usage| {
        (input.saturating_add(usage.input.unwrap_or(0)), output.saturating_add(usage.output.unwrap_or(0)))
    });
    let _ = writeln!(out, "calls answered: {answered}   without an answer: {lost}   tokens: {input} in, {output} out");
    out
}

/// What a verdict comes from: each call's prompt as it was sent, and its reply as it came.
fn behind(linked: &Linked, retraced: &Retraced, id: &str) -> Result<String, String> {
    let (scorer, turn) = match id.rsplit_once(':').map(|(scorer, turn)| (scorer, turn.parse().ok())) {
        Some((scorer, Some(turn))) => (scorer, Some(turn)),
        _ => (id, None),
    };
    if linked.program.scorer(scorer).is_none() {
        return Err(measured::no_scorer(scorer, linked.program.scorers.iter().map(|scorer| &*scorer.name)));
    }
    let calls = retraced.calls_of(scorer, turn);
    if calls.is_empty() {
        let of = turn.map_or_else(String::new, |turn| format!(" of turn {turn}"));
        let turns = retraced.outcome.as_ref().map(|outcome| outcome.conversation.turn());
        let why = match turn.zip(turns) {
            Some((turn, most)) if turn > most => format!("the conversation has {}", plural(most.into(), "turn")),
            _ => "its scorer asked nobody".to_owned(),
        };
        return Err(format!("no call was made for the verdict{of} of `{scorer}`: {why}"));
    }
    let mut out = String::new();
    for call in calls {
        asked(call, &mut out);
    }
    Ok(out)
}

fn asked(call: &Retold, out: &mut String) {
    let position = &call.ask.position;
    let index: Vec<String> = position.index.iter().map(ToString::to_string).collect();
    let index = if index.is_empty() { String::new() } else { format!(" [{}]", index.join(", ")) };
    let request = &call.ask.request;
    let _ = writeln!(out, "\n=== {} at {}{index}, asked of `{}`", position.graph, position.node, request.role);
    for message in &request.messages {
        let _ = writeln!(out, "--- {}\n{}", message.role.word(), message.text);
        for made in &message.calls {
            let _ = writeln!(out, "calls {}: {}", made.tool, made.arguments);
        }
    }
    if let Some((name, schema)) = &request.schema {
        let _ = writeln!(out, "--- an object is wanted: {name}\n{}", schema.to_json());
    }
    match &call.answer {
        None => out.push_str("--- no answer is in the log\n"),
        Some(answer) => {
            let fault = answer.fault.as_ref().map_or_else(String::new, |fault| format!(", fault {fault}"));
            let _ = writeln!(out, "--- reply (stopped by `{}`{fault})\n{}", answer.stop, answer.text);
            for made in &answer.calls {
                let _ = writeln!(out, "calls {}: {}", made.tool, made.arguments);
            }
        }
    }
}
