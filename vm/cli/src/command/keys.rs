//! `aigo check --keys`: one cheap call per endpoint of the tasks that were checked.

use std::fmt::Write as _;
use std::path::PathBuf;

use aigo_ir::diagnostic::Diagnostic;
use aigo_ir::program::{Player, Role};
use aigo_ir::span::SourceMap;
use aigo_vm::{Probes, Verdict};

use crate::args::Findings;
use crate::collect::Collector;
use crate::terminal::Look;
use crate::{show, task, world};

/// A task without errors, whose roles are asked.
pub(crate) struct Asked {
    pub(crate) path: PathBuf,
    pub(crate) roles: Vec<Role>,
    pub(crate) sources: SourceMap,
}

/// A row of the table.
struct Line {
    task: String,
    role: String,
    endpoint: String,
    key: String,
    result: String,
}

/// Asks the endpoints side by side. What they refuse are findings at the roles' places; who does not answer is a fault.
pub(crate) fn check(asked: &[Asked], collector: &mut Collector, format: Findings, look: Look) {
    let mut probes = Probes::default();
    let mut places = Vec::new();
    for task in asked {
        let root = task::folder(&task.path);
        let secrets = world::secrets(&root);
        let added = task.roles.iter().map(|role| (role, probes.add(role, &secrets))).collect::<Vec<_>>();
        places.push((task, added));
    }
    let verdicts = match probes.ask() {
        Ok(verdicts) => verdicts,
        Err(error) => return collector.fault(error.diagnostic().message),
    };
    let mut lines = Vec::new();
    let mut silent: Vec<String> = Vec::new();
    for (task, added) in places {
        let name = task.path.display().to_string();
        let mut found = Vec::new();
        for (role, place) in added {
            let result = match place {
                Ok(None) => continue,
                Ok(Some(at)) => match verdicts.get(at) {
                    Some(verdict) => of_verdict(role, verdict, &mut found, &mut silent),
                    None => continue,
                },
                Err(errors) => {
                    found.extend(errors.iter().map(|error| at_role(role, error.diagnostic())));
                    "not asked".to_owned()
                }
            };
            lines.push(line(&name, role, result));
        }
        if !found.is_empty() {
            collector.more(show::findings(&name, &found, &task.sources, format, look));
        }
    }
    collector.table(&table(&lines));
    for fault in silent {
        collector.fault(fault);
    }
}

/// What the table says; what is to be done goes to the findings and faults.
fn of_verdict(role: &Role, verdict: &Verdict, found: &mut Vec<Diagnostic>, silent: &mut Vec<String>) -> String {
    let Player::Chat(model) = &role.player else { return String::new() };
    match verdict {
        Verdict::Accepted(seen) => format!("accepted: {seen}"),
        Verdict::Refused(row, said) => {
            let message = format!("the role `{}`: {}: {said}", role.name, address(&model.base_url));
            let help = match (row.code, &model.api_key) {
                ("R0130", Some(name)) => format!("look at the value of {name}, in the environment and in `.env`"),
                ("R0130", None) => "name its key: `api_key: {env: NAME}`".to_owned(),
                ("R0131", _) => format!("look at the model's name, `{}`, and at the address", model.model),
                ("R0132", _) => "look at the account's balance and limits".to_owned(),
                _ => "look at what the endpoint says".to_owned(),
            };
            found.push(at_role(role, row.nowhere(message).help(help)));
            "refused".to_owned()
        }
        Verdict::Unreachable(said) => {
            let fault = format!("{} does not answer: {said}", address(&model.base_url));
            if !silent.contains(&fault) {
                silent.push(fault);
            }
            "no answer".to_owned()
        }
    }
}

fn at_role(role: &Role, mut diagnostic: Diagnostic) -> Diagnostic {
    diagnostic.span = role.origin.0;
    diagnostic
}

/// An address without its query.
fn address(base_url: &str) -> &str {
    base_url.split('?').next().unwrap_or_default()
}

fn line(task: &str, role: &Role, result: String) -> Line {
    let (endpoint, key) = match &role.player {
        Player::Chat(model) => {
            let key = model.api_key.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            (format!("{} {}", address(&model.base_url), model.model), key)
        }
        _ => (String::new(), String::new()),
    };
    Line { task: task.to_owned(), role: role.name.to_string(), endpoint, key, result }
}

/// The lines below each other, in columns as wide as they need.
fn table(lines: &[Line]) -> String {
    let wide = |part: fn(&Line) -> &str| lines.iter().map(|line| part(line).chars().count()).max().unwrap_or(0);
    let (task, role) = (wide(|line| &line.task), wide(|line| &line.role));
    let (endpoint, key) = (wide(|line| &line.endpoint), wide(|line| &line.key));
    let mut out = String::new();
    for line in lines {
        let Line { task: of, role: name, endpoint: at, key: secret, result } = line;
        let _ = writeln!(out, "{of:task$}  {name:role$}  {at:endpoint$}  {secret:key$}  {result}");
    }
    out
}
