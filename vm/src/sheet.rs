//! The scores that a log recorded, side by side: nothing is asked and nothing is computed again.

use std::collections::BTreeMap;
use std::sync::Arc;

use aigo_ir::graph::Graph;
use aigo_ir::key::{Key, KeyWriter};
use aigo_ir::message::{Conversation, USER};
use aigo_ir::node::{Node, Said};
use aigo_ir::program::{Program, Scorer};
use aigo_ir::schema::{Contract, read_verdict};
use aigo_ir::value::Value;
use aigo_ir::verdict::{EvidenceRule, Outcome, Verdict};
use aigo_log::{Log, Score, Trial};
use aigo_report::{Mark, Measure, Sheet, SheetTrial, TrialReport};

use crate::again::counted;
use crate::error::RunError;
use crate::recorded::recorded_trial;
use crate::{outcome, replay};

/// How many bytes of a scenario's hash are kept.
const SHOWN: usize = 8;

/// A log's program, and its scores; what is pinned is left for whoever knows the lock.
pub fn sheet(log: &Log) -> Result<(Program, Sheet), RunError> {
    let linked = replay::linked(log)?;
    let program = &linked.program;
    let scripts: BTreeMap<Arc<str>, Key> =
        program.solves.iter().map(|graph| (graph.name.clone(), script(graph))).collect();
    let mut trials = Vec::new();
    for trial in counted(program, log)? {
        trials.push(sheet_trial(program, &scripts, &trial?));
    }
    trials.sort_by(|a, b| (&a.key, a.epoch).cmp(&(&b.key, b.epoch)));
    let header = log.header();
    let recorded = trials.iter().map(|trial| trial.epoch).max().unwrap_or(1);
    let sheet = Sheet {
        task: program.name.to_string(),
        run: header.id.clone(),
        dataset: header.dataset.clone(),
        epochs: program.epochs.max(recorded),
        measures: program.scorers.iter().map(Measure::of).collect(),
        pins: Vec::new(),
        open: header.trials.unwrap_or_default().saturating_sub(trials.len() as u64),
        trials,
    };
    Ok((program.clone(), sheet))
}

fn sheet_trial(program: &Program, scripts: &BTreeMap<Arc<str>, Key>, trial: &Trial) -> SheetTrial {
    let open = &trial.open;
    let mut content = KeyWriter::new("aigo.scenario.1");
    content.value(&open.row).value(open.messages.as_ref().unwrap_or(&Value::Null));
    if let Some(script) = scripts.get(open.graph.as_str()) {
        content.key(script);
    }
    let marks = program.scorers.iter().map(|scorer| {
        let own = |score: &&Score| score.scorer == *scorer.name && score.turn.is_none();
        let score = trial.close.as_ref().and_then(|close| close.scores.iter().find(own));
        let verdict = score.and_then(|score| {
            let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.word() == score.outcome)?;
            Some(Verdict { value: score.value.clone(), pass: score.pass, ..Verdict::without_value(outcome, "") })
        });
        verdict.map_or(Mark::OPEN, |verdict| Mark::of(scorer, &verdict))
    });
    SheetTrial {
        key: open.key.as_str().into(),
        epoch: open.epoch,
        content: content.finish().hex(SHOWN).into(),
        cluster: open.cluster.as_deref().unwrap_or(&open.key).into(),
        ending: trial.close.as_ref().map_or("open", |close| close.ending.as_str()).into(),
        marks: marks.collect(),
    }
}

/// What a graph's own steps say as the user: part of what its scenarios are.
fn script(graph: &Graph) -> Key {
    let mut writer = KeyWriter::new("aigo.script.1");
    for (_, placed) in graph.nodes() {
        let Node::Append { author, audience: None, said, .. } = &placed.node else { continue };
        match said {
            Said::Template(text) if **author == *USER => {
                writer.str(&text.source);
            }
            Said::AnyOf(choices) if **author == *USER => {
                for (text, weight) in choices {
                    writer.u64(u64::from(*weight)).str(&text.source);
                }
            }
            _ => {}
        }
    }
    writer.finish()
}

/// The numbers that a judge gave one conversation, of each trial and each scorer that asks it several times (`runs`), by the
/// scorer's place. A draw that broke the contract is left out; of a panel nothing is told, since its judges differ.
pub fn draws(log: &Log) -> Result<BTreeMap<usize, Vec<Vec<f64>>>, RunError> {
    let linked = replay::linked(log)?;
    let drawn = |scorer: &&Scorer| {
        let nodes = scorer.graph.iter().flat_map(Graph::nodes);
        nodes.into_iter().any(|(_, placed)| matches!(placed.node, Node::Map { .. }) && &*placed.path == RUNS)
            && Measure::of(scorer).judges.len() == 1
    };
    let scorers: Vec<(usize, &Scorer)> =
        linked.program.scorers.iter().enumerate().filter(|(_, scorer)| drawn(scorer)).collect();
    let mut found: BTreeMap<usize, Vec<Vec<f64>>> = BTreeMap::new();
    if scorers.is_empty() {
        return Ok(found);
    }
    for trial in counted(&linked.program, log)? {
        let trial = trial?;
        for (place, scorer) in &scorers {
            let numbers = draws_of(scorer, &trial);
            if numbers.len() > 1 {
                found.entry(*place).or_default().push(numbers);
            }
        }
    }
    Ok(found)
}

/// The path of the map over a judge's draws.
const RUNS: &str = "runs";

fn draws_of(scorer: &Scorer, trial: &Trial) -> Vec<f64> {
    let conversation = Conversation::default();
    // What a verdict quotes was looked up when it was given; here its number is wanted.
    let contract = Contract {
        scale: &scorer.scale,
        pass: scorer.pass,
        rule: EvidenceRule::None,
        skips: scorer.skips,
        conversation: &conversation,
    };
    let mut numbers: BTreeMap<u32, f64> = BTreeMap::new();
    let own = |call: &&aigo_log::Call| {
        call.site.graph.strip_prefix("score/") == Some(&*scorer.name) && call.site.node.split('/').next() == Some(RUNS)
    };
    for call in trial.calls.iter().filter(own) {
        let (Some(draw), Some(got)) = (call.ask.index.first(), &call.got) else { continue };
        let verdict = read_verdict(&got.text, &contract);
        // A repaired answer stands behind the one that it repairs.
        numbers
            .extend(verdict.value.as_ref().and_then(|value| scorer.scale.number(value)).map(|number| (*draw, number)));
    }
    numbers.into_values().collect()
}

/// What some trials of a log came to, with their conversations and verdicts: of these alone the answers are replayed. A trial
/// that cannot be replayed is left out; `aigo replay` says why.
pub fn retold(log: &Log, wanted: impl Fn(&str, u32) -> bool) -> Result<BTreeMap<(String, u32), TrialReport>, RunError> {
    let linked = replay::linked(log)?;
    let mut told = BTreeMap::new();
    for trial in counted(&linked.program, log)? {
        let trial = trial?;
        if !wanted(&trial.open.key, trial.open.epoch) {
            continue;
        }
        let (sample, recorded) = recorded_trial(&trial);
        let close = trial.close.as_ref();
        if let Some(Ok((found, leaf))) = close.map(|close| replay::closed(&linked, &sample, &recorded, close)) {
            let report = outcome::report(&linked.program, &found, leaf);
            told.insert((trial.open.key.clone(), trial.open.epoch), report);
        }
    }
    Ok(told)
}
