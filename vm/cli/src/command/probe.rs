//! `aigo run --probe`: one conversation of two turns with the application, which is told something in the first and asked for it
//! in the second. An application that forgets is found before a run is paid.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aigo_ir::diagnostic::{Diagnostic, Row};
use aigo_ir::key::KeyWriter;
use aigo_ir::message::{ASSISTANT, Conversation};
use aigo_ir::program::{Limits, Player, Program, Role, Session};
use aigo_ir::text::excerpt;
use aigo_log::{Digest, Got, Journal, Log};
use aigo_machine::Sample;
use aigo_vm::{Planned, Progress, RunError, Settings, StopReason, error};

use super::{drive, run};
use crate::args::RunArgs;
use crate::task::Task;
use crate::world::Folder;
use crate::{exit, out, runs, show, trust};

/// A program with the probe's conversation and nothing else; `CODE` is what has to be remembered.
const TEXT: &str = r#"aigo-ir 1

program "probe" {
  seed 0
  epochs 1
}

role "assistant" scripted {
  rule say=""
}

solve "the probe" {
  slot "_reply" type="reply"
  n0 "told" append author="user" say="My code is CODE. Please keep it in mind." next=n1
  n1 "first" generate role="assistant" view=chat into="_reply" ok=n3 bad=n2
  n2 "first/failed" exit application_failure
  n3 "first/append" append author="assistant" reply="_reply" next=n4
  n4 "asked" append author="user" say="What is my code?" next=n5
  n5 "second" generate role="assistant" view=chat into="_reply" ok=n7 bad=n6
  n6 "second/failed" exit application_failure
  n7 "second/append" append author="assistant" reply="_reply" next=n8
  n8 "end" exit completed
}
"#;

/// Probes a task's application, and says what came of it.
pub(crate) fn probe(task: &Task, args: &RunArgs) -> u8 {
    let id = runs::new_id();
    let code = format!("K{:06}", KeyWriter::new("aigo.probe").str(&id).finish().number() % 1_000_000);
    let Some(role) = task.program.role(ASSISTANT).cloned() else {
        return told(task, None, &error::NOT_PROBED, "the task has no role `assistant`".to_owned(), "name one");
    };
    if matches!(role.player, Player::Scripted(_)) {
        let message = "the role `assistant` is played by rules of the task, which need no probe".to_owned();
        return told(task, Some(&role), &error::NOT_PROBED, message, "let an application or a model play it");
    }
    let folder = std::env::temp_dir().join(format!("aigo-probe-{id}"));
    let asked = ask(task, args, &code, &id, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let (answers, why) = match asked {
        Ok(asked) => asked,
        Err(code) => return code,
    };
    match answers.as_slice() {
        [_, second] if second.fault.is_none() && second.text.contains(&code) => {
            out::line(&format!(
                "the role `assistant` remembers: asked for {code}, it says `{}`",
                excerpt(&second.text, 200)
            ));
            exit::PASSED
        }
        [first, second] if first.fault.is_none() && second.fault.is_none() => {
            let message = format!(
                "the application forgets: it was told the code {code}, and asked for it, it says `{}`",
                excerpt(&second.text, 200)
            );
            told(task, Some(&role), &error::FORGETS, message, help(&role))
        }
        answers => {
            let fault = answers.iter().find_map(|got| Some(format!("{}: {}", got.fault.as_ref()?, got.text)));
            let why = fault.or(why).unwrap_or_else(|| "it gave no answer".to_owned());
            let message = format!("the application cannot be probed: {}", excerpt(&why, 300));
            told(task, Some(&role), &error::NOT_PROBED, message, "mend what it says, and probe again")
        }
    }
}

/// What mostly is wrong, by how the application is asked.
fn help(role: &Role) -> &'static str {
    let reads = |name: &str| role.player.names().iter().any(|known| **known == *name);
    match &role.player {
        Player::Http(http) if matches!(http.session, Session::Stateless) && !reads("chat") && !reads("messages") => {
            "its body has nothing of what was said before: put `chat` or `messages` into it, or say that it remembers: `session: sticky`"
        }
        Player::Http(http) if http.session.is_sticky() && !reads("session") => {
            "it is not sent the id of its session: put `{{ session }}` into its address, a header or the body"
        }
        Player::Http(http) if http.session.is_sticky() => {
            "it is sent the id of its session: see whether it looks a conversation up by that"
        }
        _ => "it is sent the whole conversation each time: see whether it reads more than the last message",
    }
}

fn told(task: &Task, role: Option<&Role>, row: &'static Row, message: String, help: &str) -> u8 {
    let found: Diagnostic = match role.and_then(|role| role.origin.0) {
        Some(span) => row.at(span, message),
        None => row.nowhere(message),
    };
    out::note(show::plain(&task.path.display().to_string(), &[found.help(help)], &task.sources).trim_end());
    // What was asked for does not hold, as with a gate that is red; who cannot be asked leaves it open.
    if *row == error::FORGETS { 1 } else { exit::TASK }
}

/// The task's program with the probe's conversation in the place of its own, and nothing that scores it.
fn program(task: &Program, code: &str) -> Result<Program, u8> {
    let probe = aigo_ir::read::read(&TEXT.replace("CODE", code)).map_err(|error| {
        out::error(&error.to_string());
        exit::FAULT
    })?;
    let limits = Limits { cost_usd: task.limits.cost_usd, ..Limits::default() };
    let (gates, scorers, personas) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Program { solves: probe.solves, gates, scorers, personas, limits, epochs: 1, ..task.clone() })
}

/// The answers of the application, and why there are no more where the run stopped.
fn ask(task: &Task, args: &RunArgs, code: &str, id: &str, folder: &Path) -> Result<(Vec<Got>, Option<String>), u8> {
    let trusted = trust::check(task, args.driving.allow_commands)?;
    let task = &task.with(program(&task.program, code)?);
    let (linked, players) = trusted.with(run::ready(task, 1)?);
    let header = run::header(task, &linked, id);
    let durability = aigo_log::Durability::Process;
    let failed = |error: aigo_log::LogError| drive::fail(&RunError::Log(error));
    let journal = Arc::new(Journal::create(folder, &header, durability).map_err(failed)?);
    let world = Folder::new(&task.root);
    // The first row is the one whose fields the templates of the request read.
    let planned = run::planned(task, &world).take(1).map(|planned| {
        let planned = planned?;
        let sample = Sample {
            graph: "the probe".into(),
            conversation: Arc::new(Conversation::default()),
            ..(*planned.sample).clone()
        };
        Ok(Planned::new(Arc::new(sample)))
    });
    let digest = Digest::of(&header, linked.hash);
    let settings = Settings {
        run: id.to_owned(),
        concurrency: 1,
        digest,
        conversations: 1,
        next_trial: 1,
        calls_made: 0,
        spent: 0,
    };
    let watch = (Duration::from_hours(1), |_: &Progress| {});
    let finished = aigo_vm::run(linked, players, Arc::clone(&journal), planned, settings, drive::interrupted, watch);
    let finished = finished.map_err(|error| drive::fail(&error))?;
    finished.seal(&journal, 0).map_err(|error| drive::fail(&error))?;
    let log = Log::open(folder).map_err(failed)?;
    let mut answers = Vec::new();
    for trial in log.trials() {
        let calls = trial.map_err(failed)?.calls;
        answers.extend(calls.into_iter().filter(|call| &*call.site.role == ASSISTANT).filter_map(|call| call.got));
    }
    let why = match finished.stopped {
        Some(StopReason::Endpoint(message) | StopReason::Limit(message)) => Some(message),
        _ => finished.open_reason,
    };
    Ok((answers, why))
}
