//! `aigo verify`: a score card that others can check: every byte is what was written, and this build comes from the recorded
//! answers to the recorded end.

use std::fmt::Write as _;

use aigo_ir::value::Value;
use aigo_log::Log;
use aigo_vm::{Replayed, RunError};

use super::drive;
use crate::args::{Format, VerifyArgs};
use crate::{exit, out, runs};

/// How many differences are shown.
const SHOWN: usize = 10;

/// One thing that was looked at.
struct Checked {
    what: &'static str,
    holds: bool,
    said: String,
}

pub(crate) fn verify(args: &VerifyArgs) -> u8 {
    let log = match runs::open(&args.run, &args.runs) {
        Ok(log) => log,
        Err(code) => return code,
    };
    let replayed = log.verify().map_err(RunError::Log).and_then(|()| aigo_vm::replay(&log));
    let replayed = match replayed {
        Ok(replayed) => replayed,
        Err(error) => return drive::fail(&error),
    };
    let checks = checks(&log, &replayed);
    let (word, code) = if checks.iter().any(|check| !check.holds) {
        ("DIFFERS", exit::DIFFERS)
    } else if log.end().is_none() || replayed.open > 0 {
        ("INCOMPLETE", exit::INCOMPLETE)
    } else {
        ("VERIFIED", exit::PASSED)
    };
    match args.format {
        Format::Json => out::line(&json(&log, &replayed, &checks, word)),
        Format::Text => out::text(&text(&log, &replayed, &checks, word)),
    }
    for divergence in replayed.divergences.iter().take(SHOWN) {
        out::error(&format!("[{}] {divergence}", aigo_vm::error::DIVERGED.code));
    }
    if replayed.divergences.len() > SHOWN {
        out::error(&format!("… and {} more differences", replayed.divergences.len() - SHOWN));
    }
    code
}

fn checks(log: &Log, replayed: &Replayed) -> Vec<Checked> {
    let is_torn = log.warning().is_some();
    let lines = format!(
        "{} lines are as they were written{}{}",
        log.lines(),
        if log.is_sealed() { ", sealed" } else { "" },
        if is_torn { "; behind them is a torn end, which nobody was told of" } else { "" }
    );
    let differences = replayed.divergences.len();
    let answers = match differences {
        0 => "each answer is to what this build asks, and each end is what it comes to".to_owned(),
        n => format!("{n} conversations come to something else than was recorded"),
    };
    let mut checks = vec![
        Checked { what: "checksums", holds: true, said: lines },
        Checked { what: "replay", holds: differences == 0, said: answers },
    ];
    let Some(end) = log.end() else { return checks };
    let digest = replayed.digest.to_string();
    let holds = end.digest == replayed.digest;
    let said =
        if holds { format!("{digest}, as recorded") } else { format!("{digest}, and the log says {}", end.digest) };
    checks.push(Checked { what: "digest", holds, said });
    // Codes of results follow from the results; those of interruptions and faults do not.
    let (now, then) = (replayed.report.finish().exit, end.exit);
    let holds = now == then || !(0..=4).contains(&then);
    let said = if now == then {
        format!("{then}, as recorded")
    } else if holds {
        format!("{then}: the command was ended, and the results alone give {now}")
    } else {
        format!("{now}, and the log says {then}")
    };
    checks.push(Checked { what: "exit code", holds, said });
    checks
}

fn text(log: &Log, replayed: &Replayed, checks: &[Checked], word: &str) -> String {
    let header = log.header();
    let task = header.task.as_deref().unwrap_or("a task without a path");
    let engines: Vec<String> = header.engines.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let mut out = format!("{word}  run {}   {task}   aigo {}\n", header.id, header.aigo);
    for check in checks {
        let mark = if check.holds { "ok" } else { "no" };
        let _ = writeln!(out, " {mark}  {:<9}  {}", check.what, check.said);
    }
    let (ended, open) = (replayed.ended, replayed.open);
    let _ =
        writeln!(out, " conversations: {ended} ended, {open} open   calls without an answer: {}", replayed.unanswered);
    let _ = writeln!(out, " program {}   dataset {}", header.hash, header.dataset);
    let _ = writeln!(out, " engines: {}   seed {}", engines.join(" · "), header.seed);
    out
}

fn json(log: &Log, replayed: &Replayed, checks: &[Checked], word: &str) -> String {
    let header = log.header();
    let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
    let checks = checks.iter().map(|check| {
        let pairs = [("holds", Value::Bool(check.holds)), ("said", Value::str(check.said.as_str()))];
        (check.what.replace(' ', "_"), Value::map(pairs))
    });
    let engines = header.engines.iter().map(|(name, version)| (name.as_str(), Value::str(version.as_str())));
    Value::map([
        ("run", Value::str(header.id.as_str())),
        ("result", Value::str(word.to_lowercase())),
        ("checks", Value::map(checks)),
        ("digest", Value::str(replayed.digest.to_string())),
        ("program", Value::str(header.hash.to_string())),
        ("dataset", Value::str(header.dataset.as_str())),
        ("ended", count(replayed.ended)),
        ("open", count(replayed.open)),
        ("unanswered", count(replayed.unanswered as u64)),
        ("sealed", Value::Bool(log.is_sealed())),
        ("aigo", Value::str(header.aigo.as_str())),
        ("engines", Value::map(engines)),
    ])
    .to_json()
}
