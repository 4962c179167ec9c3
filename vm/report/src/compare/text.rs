//! A comparison for people: the transcripts of what got worse, a table, and what it comes to last.

use std::fmt::Write as _;

use aigo_ir::bounds::plural;
use aigo_ir::text::{excerpt, number};

use super::{Change, Compared, Comparison, SHOWN, Verdict};
use crate::look::Look;
use crate::text::{around, short};
use crate::{FEW_CLUSTERS, LEAST_CLUSTERS, TrialReport};

/// How many names of a list are shown.
const NAMED: usize = 5;
/// How much of a text is shown.
const WIDTH: usize = 160;

/// The comparison. `trial` finds what a trial of the second run came to, where there is its log.
pub fn text(comparison: &Comparison, exit: i32, trial: &dyn Fn(&str, u32) -> Option<TrialReport>) -> String {
    let mut out = String::new();
    let worst = comparison.scorers.iter().filter(|one| one.verdict == Verdict::Worse);
    let mut shown: Vec<(&Compared, &Change)> =
        worst.flat_map(|one| one.worse.iter().take(SHOWN).map(move |change| (one, change))).collect();
    shown.truncate(SHOWN);
    for (compared, change) in shown {
        transcript(compared, change, trial, &mut out);
    }
    table(comparison, &mut out);
    lists(comparison, &mut out);
    let worse = comparison.scorers.iter().filter(|one| one.verdict == Verdict::Worse).count();
    let word = match exit {
        5 => "WORSE",
        4 => "UNDECIDED",
        _ => "NOT WORSE",
    };
    let _ = writeln!(
        out,
        "{word}  {}   {worse} of {} worse beyond chance   {} → {}   exit {exit}",
        excerpt(&comparison.task, WIDTH),
        plural(comparison.scorers.len() as u64, "scorer"),
        comparison.runs.0,
        comparison.runs.1,
    );
    out
}

/// The first epoch of a scenario that got worse in which the scorer fails, or its first one.
fn transcript(
    compared: &Compared,
    change: &Change,
    trial: &dyn Fn(&str, u32) -> Option<TrialReport>,
    out: &mut String,
) {
    let edited = if change.edited { "   the scenario was edited" } else { "" };
    let _ = writeln!(
        out,
        "✗ {}   {} {} → {}{edited}",
        excerpt(&change.key, WIDTH),
        compared.scorer,
        short(change.before, 4),
        short(change.after, 4)
    );
    let trials: Vec<TrialReport> = change.epochs.iter().filter_map(|epoch| trial(&change.key, *epoch)).collect();
    let verdict = |trial: &TrialReport| {
        let own = trial.scores.iter().find(|row| row.turn.is_none() && row.scorer == compared.place);
        own.map(|row| row.verdict.clone())
    };
    let failing = trials.iter().find(|trial| verdict(trial).is_some_and(|verdict| verdict.pass == Some(false)));
    if let Some((trial, verdict)) = failing.or(trials.first()).and_then(|trial| Some((trial, verdict(trial)?))) {
        if !verdict.reason.is_empty() {
            let _ = writeln!(out, "  epoch {}   why: {}", trial.epoch, excerpt(&verdict.reason, WIDTH));
        }
        around(trial, &verdict, &Look::PLAIN, out);
    }
    out.push('\n');
}

fn table(comparison: &Comparison, out: &mut String) {
    let width = comparison.scorers.iter().map(|one| one.scorer.chars().count()).max().unwrap_or(0).max(6);
    let _ = writeln!(
        out,
        "{:<width$}  {:>6}  {:>6}  {:>10}  {:<20}  {:>6}  {:<18}  verdict",
        "scorer", "before", "after", "difference", "95% interval", "chance", "scenarios"
    );
    for one in &comparison.scorers {
        let show = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), |x| short(x, 3));
        let interval = one.paired.and_then(|paired| paired.interval).map_or_else(
            || "too few clusters".to_owned(),
            |interval| {
                let about = if interval.clusters < FEW_CLUSTERS { "about " } else { "" };
                format!("{about}{} to {}", short(interval.low, 3), short(interval.high, 3))
            },
        );
        let paired = one.paired.map_or(0, |paired| paired.scenarios) as usize;
        let same = paired.saturating_sub(one.worse.len() + one.better.len());
        let scenarios = format!("{}− {}+ {same}=", one.worse.len(), one.better.len());
        let _ = writeln!(
            out,
            "{:<width$}  {:>6}  {:>6}  {:>10}  {interval:<20}  {:>6}  {scenarios:<18}  {}",
            one.scorer,
            show(one.before),
            show(one.after),
            show(one.paired.map(|paired| paired.difference)),
            short(one.p_adjusted, 2),
            one.verdict.word()
        );
        notes(one, out);
    }
    out.push('\n');
}

/// What stands below a scorer's line.
fn notes(one: &Compared, out: &mut String) {
    let mut note = |text: String| {
        let _ = writeln!(out, "  {text}");
    };
    if let Some((worse, better, p)) = one.flipped.filter(|(worse, better, _)| worse + better > 0) {
        note(format!("{worse} pass no more, {better} pass now: McNemar's mid-p {}", short(p, 2)));
    }
    if let Some(detectable) = one.paired.and_then(|paired| paired.detectable) {
        note(format!("four of five such comparisons would find a change of {}", short(detectable, 3)));
    }
    if one.verdict == Verdict::Undecided {
        let (clusters, can_tell) = one.paired.map_or((0, false), |paired| (paired.clusters, paired.can_tell()));
        if clusters < LEAST_CLUSTERS {
            note(format!("{clusters} clusters are paired, and it needs {LEAST_CLUSTERS}"));
        } else if can_tell && one.missing == (0, 0) {
            note(
                "it changed, and in too few clusters to be told from chance: add scenarios, or run more epochs"
                    .to_owned(),
            );
        }
    }
    if one.missing != (0, 0) {
        note(format!("missing: {} before, {} after", one.missing.0, one.missing.1));
    }
    if !one.moved.is_empty() {
        note(format!("it applies to these in one of both only: {}", named(&one.moved)));
    }
}

fn named(keys: &[std::sync::Arc<str>]) -> String {
    let mut shown: Vec<String> = keys.iter().take(NAMED).map(|key| excerpt(key, 60)).collect();
    if keys.len() > NAMED {
        shown.push(format!("{} more", number((keys.len() - NAMED) as f64)));
    }
    shown.join(", ")
}

fn lists(comparison: &Comparison, out: &mut String) {
    let few = |one: &Compared| one.paired.is_some_and(|paired| !paired.can_tell());
    if comparison.scorers.iter().any(few) {
        out.push_str(" of a matrix the first field is the cluster, unless the dataset names another: `cluster`\n");
    }
    for (scorer, run) in &comparison.alone {
        let _ = writeln!(out, " {scorer} is in {run} alone");
    }
    let lists = [
        ("edited, and compared all the same", &comparison.edited),
        ("left out, only in the first", &comparison.only_before),
        ("left out, only in the second", &comparison.only_after),
    ];
    for (what, keys) in lists.into_iter().filter(|(_, keys)| !keys.is_empty()) {
        let _ = writeln!(out, " {} {what}: {}", keys.len(), named(keys));
    }
    let _ = writeln!(
        out,
        " scenarios are paired by id, each with the mean of its epochs; intervals are for other scenarios like these; \
         chances are of flipped signs, over all scorers (Holm)"
    );
}
