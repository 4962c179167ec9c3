//! `aigo calibrate`: a judge held against people. Its verdicts come from a run, or from a file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use aigo_compiler::glob;
use aigo_ir::diagnostic::nearest;
use aigo_ir::program::Scorer;
use aigo_ir::text::excerpt;
use aigo_ir::verdict::Scale;
use aigo_report::Sheet;
use aigo_report::calibrate::{self, Answer, BAD_LABELS, Line, Vote};
use aigo_vm::RunError;

use super::drive;
use crate::args::{CalibrateArgs, Format};
use crate::measured::{self, Measured};
use crate::read::{self, Unread};
use crate::{exit, out};

/// The largest file of labels that is read, in bytes.
const MOST_BYTES: usize = 512 << 20;

pub(crate) fn calibrate(args: &CalibrateArgs) -> u8 {
    let people = match lines(&args.labels, "person", args.by.as_deref()) {
        Ok(lines) => lines,
        Err(code) => return code,
    };
    if people.is_empty() {
        let files: Vec<String> = args.labels.iter().map(|path| read::shown(path)).collect();
        return refuse(format!("there is no label in {}", files.join(", ")));
    }
    if let Some(by) = args.by.as_deref().filter(|_| people.iter().all(|line| line.vote.group.is_none())) {
        return refuse(format!("no label has the key `{by}` that `--by` names"));
    }
    let patterns = &args.raters;
    let is_asked = |line: &Line| patterns.is_empty() || patterns.iter().any(|one| glob::matches(one, &line.vote.rater));
    let people: Vec<Line> = people.into_iter().filter(is_asked).collect();
    if people.is_empty() {
        out::error("there is no label of these raters");
        return exit::USAGE;
    }
    let votes = match &args.run {
        Some(run) => of_run(args, run, people),
        None => lines(&args.verdicts, "judge", args.by.as_deref()).and_then(|judge| of_files(args, judge, people)),
    };
    let (judge, people) = match votes {
        Ok(votes) => votes,
        Err(code) => return code,
    };
    match calibrate::calibrate(&judge, &people) {
        Ok(calibration) => {
            match args.format {
                Format::Json => out::line(&calibrate::json(&calibration)),
                Format::Text => out::text(&calibrate::text(&calibration)),
            }
            exit::PASSED
        }
        Err(why) => refuse(why),
    }
}

fn refuse(why: impl Into<String>) -> u8 {
    drive::fail(&RunError::Told(Box::new(BAD_LABELS.nowhere(why.into()))));
    exit::USAGE
}

/// The lines of files.
fn lines(paths: &[PathBuf], rater: &str, by: Option<&str>) -> Result<Vec<Line>, u8> {
    let mut all = Vec::new();
    for path in paths {
        let bytes = read::file(path, MOST_BYTES).map_err(|unread| {
            match unread {
                Unread::Refused(why) => out::error(&why),
                Unread::TooLarge => out::error(&format!("{}: it has more than {MOST_BYTES} bytes", read::shown(path))),
            }
            exit::USAGE
        })?;
        let text = String::from_utf8_lossy(&bytes);
        let lines = calibrate::lines(&read::shown(path), &text, rater, by).map_err(|diagnostic| {
            drive::fail(&RunError::Told(diagnostic));
            exit::USAGE
        })?;
        all.extend(lines);
    }
    Ok(all)
}

type Votes = (Vec<Vote>, Vec<Vote>);

/// Verdicts and labels of one scorer, where lines name any.
fn of_files(args: &CalibrateArgs, judge: Vec<Line>, people: Vec<Line>) -> Result<Votes, u8> {
    let mut named: Vec<Arc<str>> = judge.iter().chain(&people).filter_map(|line| line.scorer.clone()).collect();
    named.sort();
    named.dedup();
    if let (None, [first, second, ..]) = (&args.scorer, named.as_slice()) {
        return Err(refuse(format!(
            "the labels are of several scorers, `{first}` and `{second}` among them: `--scorer`"
        )));
    }
    let is_wanted = |line: &Line| match (&args.scorer, &line.scorer) {
        (Some(wanted), Some(named)) => **wanted == **named,
        _ => true,
    };
    let votes = |lines: Vec<Line>| lines.into_iter().filter(is_wanted).map(|line| line.vote).collect::<Vec<Vote>>();
    Ok((votes(judge), votes(people)))
}

/// The verdicts of a run's scorer, and the labels of its trials.
fn of_run(args: &CalibrateArgs, run: &str, people: Vec<Line>) -> Result<Votes, u8> {
    let measured = Measured::load(run, &args.runs)?;
    let Some(program) = &measured.program else {
        out::error("a baseline does not say on which scale its scores are: name the run");
        return Err(exit::USAGE);
    };
    let scorer = scorer_of(args, &program.scorers, &people)?;
    let people: Vec<Line> =
        people.into_iter().filter(|line| line.scorer.as_ref().is_none_or(|name| *name == scorer.name)).collect();
    if people.is_empty() {
        return Err(refuse(format!("no label is of the scorer `{}`", scorer.name)));
    }
    let clusters = clusters(&measured.sheet);
    strangers(&clusters, &people)?;
    let mut labels = Vec::new();
    for line in people {
        let Some(sample) = line.sample else {
            return Err(refuse(format!(
                "{}: a label of a run's conversation names its `sample`, and this has only an `item`: write `{{\"sample\": \"ID\", \"value\": …}}`",
                line.place
            )));
        };
        let Some(answer) = scorer.scale.number(&line.value).map(|number| answer(scorer, number)) else {
            let value = line.value.to_json();
            return Err(refuse(format!(
                "{}: the label of `{}` is {value}, and `{}` is on the scale {}",
                line.place, sample.0, scorer.name, scorer.scale
            )));
        };
        let cluster = clusters.get(&sample).cloned().unwrap_or_else(|| sample.0.clone());
        labels.push(Vote { item: format!("{}#{}", sample.0, sample.1).into(), answer, cluster, ..line.vote });
    }
    Ok((verdicts(&measured.sheet, scorer, &labels), labels))
}

/// How many labels that belong to nothing are named.
const MOST_NAMED: usize = 3;

/// Tells of labels whose conversations the run does not have; where it has none of them, that is an error.
fn strangers(known: &BTreeMap<(Arc<str>, u32), Arc<str>>, people: &[Line]) -> Result<(), u8> {
    let own = |line: &&Line| line.sample.as_ref().is_some_and(|sample| !known.contains_key(sample));
    let strange: Vec<&Line> = people.iter().filter(own).collect();
    if strange.is_empty() {
        return Ok(());
    }
    let named = strange.iter().take(MOST_NAMED).filter_map(|line| {
        let (sample, epoch) = line.sample.as_ref()?;
        let has_sample = known.keys().any(|(key, _)| key == sample);
        let near = nearest(sample, known.keys().map(|(key, _)| &**key)).filter(|_| !has_sample);
        let near = near.map_or_else(String::new, |near| format!(", did you mean `{}`", excerpt(near, 60)));
        let epoch = if has_sample { format!(", epoch {epoch}") } else { String::new() };
        Some(format!("\n  {}: `{}`{epoch}{near}", line.place, excerpt(sample, 60)))
    });
    let rest = strange.len().saturating_sub(MOST_NAMED);
    let rest = if rest > 0 { format!("\n  and {rest} more") } else { String::new() };
    let named: String = named.chain([rest]).collect();
    if strange.len() == people.len() {
        return Err(refuse(format!("the run has none of the labelled conversations:{named}")));
    }
    out::note(&format!(
        "warning: {} of {} labels are of conversations that the run does not have:{named}",
        strange.len(),
        people.len()
    ));
    Ok(())
}

/// The scorer that is asked for, that the labels name, or the only one there is.
fn scorer_of<'s>(args: &CalibrateArgs, scorers: &'s [Scorer], people: &[Line]) -> Result<&'s Scorer, u8> {
    let mut named: Vec<&str> = people.iter().filter_map(|line| line.scorer.as_deref()).collect();
    named.sort_unstable();
    named.dedup();
    let name = match (&args.scorer, named.as_slice(), scorers) {
        (Some(name), ..) => name.as_str(),
        (None, [one], _) => one,
        (None, [], [one]) => &one.name,
        _ => {
            let names: Vec<String> = scorers.iter().map(|scorer| format!("`{}`", scorer.name)).collect();
            out::error(&format!("say which scorer is held against people, with `--scorer`: {}", names.join(", ")));
            return Err(exit::USAGE);
        }
    };
    scorers.iter().find(|scorer| *scorer.name == *name).ok_or_else(|| {
        out::error(&measured::no_scorer(name, scorers.iter().map(|scorer| &*scorer.name)));
        exit::USAGE
    })
}

fn answer(scorer: &Scorer, number: f64) -> Answer {
    if scorer.scale == Scale::Boolean { Answer::Bool(number >= 1.0) } else { Answer::Number(number) }
}

fn clusters(sheet: &Sheet) -> BTreeMap<(Arc<str>, u32), Arc<str>> {
    sheet.trials.iter().map(|trial| ((trial.key.clone(), trial.epoch), trial.cluster.clone())).collect()
}

/// The verdicts of the trials that have a label; how many others there are says nothing of the judge.
fn verdicts(sheet: &Sheet, scorer: &Scorer, labels: &[Vote]) -> Vec<Vote> {
    let labelled: BTreeMap<&str, &Vote> = labels.iter().map(|vote| (&*vote.item, vote)).collect();
    let Some(place) = sheet.measures.iter().position(|measure| measure.name == scorer.name) else { return Vec::new() };
    let verdict = |trial: &aigo_report::SheetTrial| {
        let item = format!("{}#{}", trial.key, trial.epoch);
        let label = labelled.get(&*item)?;
        let number = trial.marks.get(place)?.number?;
        Some(Vote {
            item: item.into(),
            rater: "judge".into(),
            answer: answer(scorer, number),
            cluster: trial.cluster.clone(),
            group: label.group.clone(),
            is_swapped: false,
        })
    };
    sheet.trials.iter().filter_map(verdict).collect()
}
